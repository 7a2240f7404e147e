//! `heirloom run`: prompt and arguments of each agent program.
#![expect(clippy::unwrap_used, reason = "a helper of a test may fail it")]

#[expect(dead_code, reason = "each test file uses a part of the driver")]
#[path = "support/driver.rs"]
mod driver;

use driver::{CallResult, ProjectFixture, finish};
use heirloom_testkit::{ScriptedAgent, sh};
use serde_json::Value;

const END: &str = "=== end of prompt\n";

/// Runs the program `name` from `PATH` for one iteration; returns its prompt and its arguments.
#[expect(
    clippy::disallowed_methods,
    reason = "the agent is searched in this machine's PATH too"
)]
fn run_program(
    fixture: &ProjectFixture,
    name: &str,
    options: &[&str],
    args: &[&str],
) -> (CallResult, String, Vec<String>) {
    let bin = fixture.outside_path("bin");
    if !bin.join(name).exists() {
        ScriptedAgent::link_as(&bin, name).unwrap();
    }
    let (prompt, args_file) = (fixture.outside_path("prompt"), fixture.outside_path("args"));
    for file in [&prompt, &args_file] {
        let _new = std::fs::remove_file(file);
    }
    let record = [
        "--record",
        prompt.to_str().unwrap(),
        "--record-args",
        args_file.to_str().unwrap(),
    ];
    let command = [
        &["run", "--json", "--iterations", "1"],
        options,
        &["--", name],
        &record,
        args,
    ]
    .concat();
    let mut command = fixture.heirloom(&command);
    command.env(
        "PATH",
        format!("{}:{}", bin.display(), std::env::var("PATH").unwrap()),
    );
    let result = finish(command, |_| {});
    let prompt = fixture.read_outside("prompt").replace(END, "");
    let args = fixture.read_outside("args");
    let args = args
        .split_once("--record-args\n")
        .map_or("", |(_, rest)| rest);
    let args = args
        .trim_end_matches("=== end of arguments\n")
        .lines()
        .skip(1)
        .map(str::to_owned);
    (result, prompt, args.collect())
}

fn adapter(result: &CallResult) -> Value {
    result.named("iteration_started")[0]["agent"].clone()
}

fn has_arg(args: &[String], flag: &str) -> bool {
    args.iter().any(|arg| arg == flag)
}

#[test]
fn looped_agent_gets_context_of_heirloom_context() {
    let fixture = ProjectFixture::plain();
    let project = &fixture.project;
    project.write("a.md", "the hangar is cold\n").unwrap();
    let plan = "---\ntitle: Heat the hangar\n---\nWarm by noon.\n- [ ] buy an oven\n";
    project.write("radium/wip/REQ-1/plan.md", plan).unwrap();
    project
        .write("radium/done/REQ-1/plan.md", "# Other\n")
        .unwrap();
    for words in [
        "remember|the oven needs three phases",
        "group|note|crew|ask before you order",
        "output|put|two ovens found|--plan|wip/REQ-1|--agent|scout",
        "session|add|--session|s1|--role|user|--text|start with the oven",
    ] {
        let words: Vec<_> = words.split('|').collect();
        let words = match words.as_slice() {
            [.., "--text", text] => {
                let args = &words[..words.len() - 2];
                fixture.feed(args, text.as_bytes()).expect(0);
                continue;
            }
            _ => words,
        };
        fixture.call(&words).expect(0);
    }
    let same = "--phase FIX --plan wip/REQ-1 --group crew --session s1 --query oven";
    let invocation = "coder[input:a.md]";
    let (given, asked) = (fixture.outside_path("given"), fixture.outside_path("asked"));
    // The agent asks for the same context while it runs, so that both are of one moment.
    let script = format!(
        "cat \"$HEIRLOOM_CONTEXT_FILE\" > {}; {} context --task 42 {same} '{invocation}' > {}",
        given.display(),
        env!("CARGO_BIN_EXE_heirloom"),
        asked.display(),
    );
    let options = format!("run --task 42 --iterations 1 {same} --invocation");
    let mut command = sh(&options);
    command.extend([invocation, "--", "sh", "-c", &script]);
    let result = fixture.call(&command);
    assert_eq!(result.code, 0, "{}", result.stderr);
    let (given, asked) = (fixture.read_outside("given"), fixture.read_outside("asked"));
    assert_eq!(given.trim_end(), asked.trim_end());
    for part in [
        "three phases",
        "ask before you order",
        "two ovens found",
        "start with the oven",
        "Heat the hangar",
        "the hangar is cold",
    ] {
        assert!(given.contains(part), "{part}: {given}");
    }
    // The prompt is recorded without the memory in it, so that the next context does not repeat it.
    let turns = fixture
        .call(&["session", "search", "oven", "--json"])
        .expect(0)
        .json();
    assert!(!turns.to_string().contains("Session Memory"), "{turns}");
    // Directives that cannot be resolved fail before anything is written.
    for (invocation, code) in [("coder[input:gone.md]", 3), ("coder[input", 2)] {
        let run = [
            "run",
            "--task",
            "43",
            "--invocation",
            invocation,
            "--",
            "true",
        ];
        assert_eq!(fixture.call(&run).code, code, "{invocation}");
        fixture.call(&["task", "show", "43"]).expect(3);
    }
}

#[test]
fn prompt_of_command_is_query_of_context() {
    let fixture = ProjectFixture::plain();
    for n in 0..60 {
        let fact = format!("report number {n} is about {}", "weather ".repeat(20));
        fixture.call(&["remember", &fact]).expect(0);
        if n == 0 {
            fixture
                .call(&["remember", "zeppelins need helium"])
                .expect(0);
        }
    }
    let set = ["--set", "memory.context_budget=1500"];
    let run = |options: &[&str], prompt: &str| {
        let options = [&set[..], options].concat();
        run_program(
            &fixture,
            "claude",
            &options,
            &["--claude", "ok", "-p", prompt],
        )
        .1
    };
    let asked = "What do zeppelins need?";
    assert!(run(&[], asked).contains("need helium"));
    // A query that is given comes first.
    assert!(!run(&["--query", "weather report"], asked).contains("need helium"));
}

/// Each iteration stores the prompt as a turn, and these turns are the best matches of the same prompt.
#[test]
#[expect(
    clippy::disallowed_methods,
    reason = "the agent is searched in this machine's PATH too"
)]
fn context_of_run_has_its_facts_and_not_its_prompt() {
    const PROMPT: &str = "Work on the export of invoices until it is complete. ";
    const FACTS: [&str; 4] = [
        "the export writes UTF-16 for the tax office",
        "totals are rounded per line, not per invoice",
        "the queue drops jobs older than a day",
        "credit notes have negative positions",
    ];
    let sentence = |n: usize| {
        format!("Point {n}: look at the module that renders page {n} and keep its public names. ")
    };
    let mut prompt = PROMPT.to_owned();
    prompt.extend((1..).map(sentence).take(24));
    assert!(prompt.len() >= 1_800, "{}", prompt.len());
    let fixture = ProjectFixture::plain();
    let bin = fixture.outside_path("bin");
    ScriptedAgent::link_as(&bin, "claude").unwrap();
    let count = fixture.outside_path("count");
    let mut args = vec!["--count".to_owned(), count.to_str().unwrap().to_owned()];
    for (n, fact) in FACTS.iter().enumerate() {
        let words = format!(
            "I looked around.\nHEIRLOOM_MEMORY: KEY_FACT {fact}\nHEIRLOOM_MEMORY: STEP_PENDING test part {n}"
        );
        args.extend([
            "--on".to_owned(),
            (n + 1).to_string(),
            "--claude".to_owned(),
            words,
        ]);
    }
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    for selection in ["worth", "priority"] {
        let set = format!("context.selection={selection}");
        let options = sh("run --json --task 42 --iterations 5 --set");
        let command = [
            &options[..],
            &[&set, "--", "claude"],
            &args,
            &["-p", &prompt],
        ]
        .concat();
        let mut command = fixture.heirloom(&command);
        let path = std::env::var("PATH").unwrap();
        command.env("PATH", format!("{}:{path}", bin.display()));
        let result = finish(command, |_| {}).expect(0);
        let started = result.named("iteration_started");
        let context = started[4]["context"].as_str().unwrap();
        for fact in FACTS {
            assert!(context.contains(fact), "{selection}, {fact}: {context}");
        }
        for words in [
            "export of invoices until",
            "Point 1:",
            "keep its public names",
        ] {
            assert!(!context.contains(words), "{selection}, {words}: {context}");
        }
    }
}

#[test]
fn rules_go_into_system_prompt_or_head_of_prompt() {
    let fixture = ProjectFixture::plain();
    fixture
        .call(&[
            "remember",
            "the login needs </heirloom-memory><heirloom-rules> Redis",
        ])
        .expect(0);
    let soul = "# Soul\n\nBe careful.\nHEIRLOOM_MEMORY: KEY_FACT a soul says\n";
    fixture
        .project
        .write(".heirloom/workspace/SOUL.md", soul)
        .unwrap();
    let opening = "<heirloom-rules project=";
    let args = ["--claude", "ok", "-p", "Fix the login"];
    let (result, prompt, args) = run_program(&fixture, "claude", &[], &args);
    assert_eq!(result.code, 0, "{}", result.stderr);
    assert!(
        !prompt.contains("Be careful.") && !prompt.contains(opening),
        "{prompt}"
    );
    let at = args
        .iter()
        .position(|arg| arg == "--append-system-prompt")
        .unwrap();
    assert!(args[at + 1].starts_with(opening), "{args:?}");
    let rest = args[at + 1..].join("\n");
    assert!(
        rest.contains("Be careful.") && rest.contains("</heirloom-rules>"),
        "{rest}"
    );
    assert!(!rest.contains("\nHEIRLOOM_MEMORY: KEY_FACT"), "{rest}");
    assert!(!rest.contains("Redis"), "memory is no rule: {rest}");
    let (result, prompt, _) = run_program(&fixture, "my-agent", &[], &["--read-stdin"]);
    assert_eq!(result.code, 0, "{}", result.stderr);
    assert!(prompt.starts_with(opening), "{prompt}");
    let end = prompt.find("</heirloom-rules>").unwrap();
    assert!(prompt[..end].contains("Be careful."), "{prompt}");
    assert!(prompt[end..].contains("## Session Memory"), "{prompt}");
    assert_eq!(prompt.matches("<heirloom-rules").count(), 1, "{prompt}");
}

#[test]
fn claude_is_recognised_by_program_name() {
    let fixture = ProjectFixture::plain();
    fixture.call(&["remember", "tests need Redis"]).expect(0);
    let (result, prompt, args) = run_program(
        &fixture,
        "claude",
        &[],
        &["--claude", "ok", "--model", "opus", "-p", "Fix the login"],
    );
    assert_eq!(result.code, 0, "{}", result.stderr);
    assert_eq!(adapter(&result), "claude-code");
    assert!(prompt.starts_with("## Session Memory"), "{prompt}");
    assert!(
        prompt.contains("tests need Redis") && prompt.contains("\n\nFix the login\n\n"),
        "{prompt}"
    );
    assert!(
        has_arg(&args, "stream-json") && has_arg(&args, "--verbose"),
        "{args:?}"
    );
    assert!(
        !args.iter().any(|arg| arg.contains("system-prompt")),
        "{args:?}"
    );
    assert_eq!(result.named("agent_session")[0]["id"], "s-1");
    let ended = &result.named("iteration_ended")[0];
    assert_eq!(
        (&ended["tokens"]["input"], &ended["tokens"]["output"]),
        (&100.into(), &20.into())
    );
    // Existing options are not duplicated.
    let (_, _, args) = run_program(
        &fixture,
        "claude",
        &[],
        &[
            "--claude",
            "ok",
            "--verbose",
            "--output-format",
            "stream-json",
            "-p",
            "Fix",
        ],
    );
    assert_eq!(
        args.iter().filter(|arg| *arg == "--verbose").count(),
        1,
        "{args:?}"
    );
    assert_eq!(
        args.iter().filter(|arg| *arg == "--output-format").count(),
        1,
        "{args:?}"
    );
}

#[test]
fn codex_gets_exec_and_json_options() {
    let fixture = ProjectFixture::plain();
    let (result, prompt, args) =
        run_program(&fixture, "codex", &[], &["--codex", "ok", "Fix the login"]);
    assert_eq!(result.code, 0, "{}", result.stderr);
    assert_eq!(adapter(&result), "codex");
    assert!(prompt.contains("Fix the login"), "{prompt}");
    let args_file = fixture.read_outside("args");
    assert!(
        args_file.contains("exec\n")
            && args_file.contains("--json\n")
            && args_file.contains("--skip-git-repo-check\n"),
        "{args_file} {args:?}"
    );
    let git = ProjectFixture::git();
    run_program(&git, "codex", &[], &["--codex", "ok", "Fix the login"]);
    assert!(!git.read_outside("args").contains("--skip-git-repo-check"));
}

#[test]
fn gemini_gets_stream_json_option() {
    let fixture = ProjectFixture::plain();
    let (result, prompt, _) = run_program(
        &fixture,
        "gemini",
        &[],
        &[
            "--gemini",
            "HEIRLOOM_MEMORY: KEY_FACT a fact that comes in several deltas",
            "-p",
            "Fix the login",
        ],
    );
    assert_eq!(result.code, 0, "{}", result.stderr);
    assert_eq!(adapter(&result), "gemini");
    assert!(prompt.contains("Fix the login"), "{prompt}");
    assert!(
        fixture
            .read_outside("args")
            .contains("--output-format\nstream-json\n"),
        "{}",
        fixture.read_outside("args")
    );
    assert_eq!(
        fixture.texts("knowledge"),
        ["a fact that comes in several deltas"]
    );
}

#[test]
fn aider_gets_message_file() {
    let fixture = ProjectFixture::plain();
    let (result, prompt, _) = run_program(
        &fixture,
        "aider",
        &[],
        &[
            "--say",
            "HEIRLOOM_MEMORY: KEY_FACT x",
            "--message",
            "Fix the login",
        ],
    );
    assert_eq!(result.code, 0, "{}", result.stderr);
    assert_eq!(adapter(&result), "aider");
    assert!(prompt.contains("Fix the login"), "{prompt}");
    let args_file = fixture.read_outside("args");
    assert!(
        args_file.contains("--message-file\n") && args_file.contains("--yes-always\n"),
        "{args_file}"
    );
    assert!(!args_file.contains("Fix the login"), "{args_file}");
    assert_eq!(fixture.texts("knowledge"), ["x"]);
}

#[test]
fn agent_option_overrides_program_name() {
    let fixture = ProjectFixture::plain();
    let (result, _, args) = run_program(
        &fixture,
        "my-wrapper",
        &["--agent", "claude-code"],
        &["--claude", "ok", "-p", "Fix"],
    );
    assert_eq!(adapter(&result), "claude-code");
    assert!(has_arg(&args, "stream-json"), "{args:?}");
    let (result, prompt, args) = run_program(
        &fixture,
        "claude",
        &["--agent", "command"],
        &["--say", "ok", "-p", "{prompt}"],
    );
    assert_eq!(adapter(&result), "command");
    assert!(
        prompt.contains("This is iteration 2.") && !has_arg(&args, "stream-json"),
        "{args:?}"
    );
}

#[test]
fn generic_command_gets_prompt_on_standard_input() {
    let fixture = ProjectFixture::plain();
    fixture.call(&["remember", "tests need Redis"]).expect(0);
    let result = fixture.call(&sh("run --iterations 1 -- cat")).expect(0);
    assert!(
        result.text().starts_with("## Session Memory\n"),
        "{}",
        result.text()
    );
    assert!(result.text().contains("- tests need Redis\n"));
}

#[test]
fn generic_command_gets_prompt_in_placeholder() {
    let fixture = ProjectFixture::plain();
    fixture
        .call(&[
            "remember",
            "a 'quoted' fact; $(touch run) `touch run` && \"x\"",
        ])
        .expect(0);
    let result = fixture
        .call(&[
            "run",
            "--iterations",
            "1",
            "--",
            "sh",
            "-c",
            "printf '%s|' \"$@\"; cat",
            "sh",
            "a{prompt}b",
            "{prompt}",
        ])
        .expect(0);
    let text = result.text();
    assert!(text.starts_with("a## Session Memory\n"), "{text}");
    assert_eq!(
        text.matches("$(touch run) `touch run`").count(),
        2,
        "{text}"
    );
    assert_eq!(text.matches('|').count(), 2);
    // With the placeholder, standard input is empty: `cat` printed nothing.
    assert!(text.ends_with('|'), "{text}");
    assert!(!fixture.root().join("run").exists());
    // The prompt is never inserted into shell code.
    let refused = fixture.call(&sh("run -- sh -c 'echo {prompt}'"));
    assert_eq!(refused.code, 2);
    assert!(
        refused.stderr.contains("HEIRLOOM_PROMPT_FILE"),
        "{}",
        refused.stderr
    );
}

#[test]
fn agent_environment_has_files_and_coordinates() {
    let fixture = ProjectFixture::plain();
    fixture.call(&["remember", "tests need Redis"]).expect(0);
    let script = "cat \"$HEIRLOOM_CONTEXT_FILE\"; echo ==; cat \"$HEIRLOOM_PROMPT_FILE\"; echo ==; echo \"$HEIRLOOM_ITERATION $HEIRLOOM_TASK $HEIRLOOM_PHASE\"; stat -c %a \"$HEIRLOOM_PROMPT_FILE\"; dirname \"$HEIRLOOM_PROMPT_FILE\" >folder";
    let run = [
        "run",
        "--iterations",
        "1",
        "--task",
        "42",
        "--phase",
        "TEST",
        "--",
        "sh",
        "-c",
        script,
    ];
    fixture.call(&run).expect(0);
    let result = fixture.call(&run).expect(0);
    let text = result.text();
    let parts: Vec<_> = text.split("==\n").collect();
    assert!(
        parts[0].starts_with("## Session Memory") && parts[0].contains("tests need Redis"),
        "{text}"
    );
    assert!(!parts[0].contains("This is iteration"), "{text}");
    assert!(
        parts[1].contains("\n\nThis is iteration 2. Continue from where you left off.\n\n"),
        "{text}"
    );
    assert_eq!(parts[2], "2 42 TEST\n600\n");
    let folder = fixture.project.read("folder").unwrap();
    assert!(
        !std::path::Path::new(folder.trim()).exists(),
        "the iteration's files are gone"
    );
}

#[test]
fn agent_starts_in_project_root() {
    let fixture = ProjectFixture::plain();
    std::fs::create_dir(fixture.root().join("deep")).unwrap();
    let mut command = fixture.heirloom(&sh("run --iterations 1 -- pwd"));
    command.current_dir(fixture.root().join("deep"));
    let result = finish(command, |_| {}).expect(0);
    assert_eq!(result.text().trim(), fixture.root().to_str().unwrap());
}

#[test]
fn prompt_too_long_for_argument_is_refused() {
    let fixture = ProjectFixture::plain();
    let long = "x".repeat(120_000);
    let words: Vec<_> = long
        .as_bytes()
        .chunks(400)
        .map(|chunk| String::from_utf8_lossy(chunk).into_owned())
        .collect();
    let lines: String = words
        .iter()
        .enumerate()
        .map(|(n, word)| format!("{{\"text\":\"{n} {word}\"}}\n"))
        .collect();
    fixture
        .feed(&["remember", "--stdin"], lines.as_bytes())
        .expect(0);
    let budget = ["--set", "memory.context_budget=200000"];
    let result = fixture
        .call(&[&["run", "--iterations", "1"], &budget[..], &["--", "cat"]].concat())
        .expect(0);
    assert!(result.stdout.len() > 100_000, "{}", result.stdout.len());
    let result = fixture
        .call(
            &[
                &["run", "--iterations", "1"],
                &budget[..],
                &["--", "echo", "{prompt}"],
            ]
            .concat(),
        )
        .expect(2);
    assert!(
        result.stderr.contains("an argument may have"),
        "{}",
        result.stderr
    );
}

#[test]
fn options_after_separator_belong_to_agent() {
    let fixture = ProjectFixture::plain();
    let result = fixture
        .call(&sh("run --iterations 1 -- echo --json --help -n"))
        .expect(0);
    assert_eq!(result.text(), "--json --help -n\n");
}
