//! `heirloom run`: how each agent program gets its prompt, and what it is started with.
#![expect(clippy::unwrap_used, reason = "a helper of a test may fail it")]

#[expect(dead_code, reason = "each test file uses a part of the driver")]
#[path = "support/driver.rs"]
mod driver;

use driver::{Desk, Ran, finish};
use heirloom_testkit::ScriptedAgent;
use serde_json::Value;

const END: &str = "=== end of prompt\n";

/// Runs the program `name` from `PATH` for one iteration; what it got as prompt and arguments.
#[expect(
    clippy::disallowed_methods,
    reason = "the agent is looked up where this machine's programs are, too"
)]
fn start(desk: &Desk, name: &str, options: &[&str], args: &[&str]) -> (Ran, String, Vec<String>) {
    let bin = desk.aside("bin");
    if !bin.join(name).exists() {
        ScriptedAgent::link_as(&bin, name).unwrap();
    }
    let (prompt, noted) = (desk.aside("prompt"), desk.aside("args"));
    for file in [&prompt, &noted] {
        let _new = std::fs::remove_file(file);
    }
    let record = [
        "--record",
        prompt.to_str().unwrap(),
        "--record-args",
        noted.to_str().unwrap(),
    ];
    let command = [
        &["run", "--json", "--iterations", "1"],
        options,
        &["--", name],
        &record,
        args,
    ]
    .concat();
    let mut command = desk.heirloom(&command);
    command.env(
        "PATH",
        format!("{}:{}", bin.display(), std::env::var("PATH").unwrap()),
    );
    let ran = finish(command, |_| {});
    let prompt = desk.noted("prompt").replace(END, "");
    let args = desk.noted("args");
    let args = args
        .split_once("--record-args\n")
        .map_or("", |(_, rest)| rest);
    let args = args
        .trim_end_matches("=== end of arguments\n")
        .lines()
        .skip(1)
        .map(str::to_owned);
    (ran, prompt, args.collect())
}

fn adapter(ran: &Ran) -> Value {
    ran.named("iteration_started")[0]["agent"].clone()
}

fn has(args: &[String], flag: &str) -> bool {
    args.iter().any(|arg| arg == flag)
}

#[test]
fn claude_is_known_by_its_name() {
    let desk = Desk::plain();
    desk.call(&["remember", "tests need Redis"]).expect(0);
    let (ran, prompt, args) = start(
        &desk,
        "claude",
        &[],
        &["--claude", "ok", "--model", "opus", "-p", "Fix the login"],
    );
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert_eq!(adapter(&ran), "claude-code");
    assert!(prompt.starts_with("## Session Memory"), "{prompt}");
    assert!(
        prompt.contains("tests need Redis") && prompt.contains("\n\nFix the login\n\n"),
        "{prompt}"
    );
    assert!(
        has(&args, "stream-json") && has(&args, "--verbose"),
        "{args:?}"
    );
    assert!(
        !args.iter().any(|arg| arg.contains("system-prompt")),
        "{args:?}"
    );
    assert_eq!(ran.named("agent_session")[0]["id"], "s-1");
    let ended = &ran.named("iteration_ended")[0];
    assert_eq!(
        (&ended["tokens"]["input"], &ended["tokens"]["output"]),
        (&100.into(), &20.into())
    );
    // What is there already is not doubled.
    let (_, _, args) = start(
        &desk,
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
fn codex_gets_exec_and_json() {
    let desk = Desk::plain();
    let (ran, prompt, args) = start(&desk, "codex", &[], &["--codex", "ok", "Fix the login"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert_eq!(adapter(&ran), "codex");
    assert!(prompt.contains("Fix the login"), "{prompt}");
    let noted = desk.noted("args");
    assert!(
        noted.contains("exec\n")
            && noted.contains("--json\n")
            && noted.contains("--skip-git-repo-check\n"),
        "{noted} {args:?}"
    );
    let git = Desk::git();
    start(&git, "codex", &[], &["--codex", "ok", "Fix the login"]);
    assert!(!git.noted("args").contains("--skip-git-repo-check"));
}

#[test]
fn gemini_gets_stream_json() {
    let desk = Desk::plain();
    let (ran, prompt, _) = start(
        &desk,
        "gemini",
        &[],
        &[
            "--gemini",
            "HEIRLOOM_MEMORY: KEY_FACT a fact that comes in several deltas",
            "-p",
            "Fix the login",
        ],
    );
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert_eq!(adapter(&ran), "gemini");
    assert!(prompt.contains("Fix the login"), "{prompt}");
    assert!(
        desk.noted("args")
            .contains("--output-format\nstream-json\n"),
        "{}",
        desk.noted("args")
    );
    assert_eq!(
        desk.texts("knowledge"),
        ["a fact that comes in several deltas"]
    );
}

#[test]
fn aider_gets_a_message_file() {
    let desk = Desk::plain();
    let (ran, prompt, _) = start(
        &desk,
        "aider",
        &[],
        &[
            "--say",
            "HEIRLOOM_MEMORY: KEY_FACT x",
            "--message",
            "Fix the login",
        ],
    );
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert_eq!(adapter(&ran), "aider");
    assert!(prompt.contains("Fix the login"), "{prompt}");
    let noted = desk.noted("args");
    assert!(
        noted.contains("--message-file\n") && noted.contains("--yes-always\n"),
        "{noted}"
    );
    assert!(!noted.contains("Fix the login"), "{noted}");
    assert_eq!(desk.texts("knowledge"), ["x"]);
}

#[test]
fn agent_names_the_adapter_when_the_program_has_another_name() {
    let desk = Desk::plain();
    let (ran, _, args) = start(
        &desk,
        "my-wrapper",
        &["--agent", "claude-code"],
        &["--claude", "ok", "-p", "Fix"],
    );
    assert_eq!(adapter(&ran), "claude-code");
    assert!(has(&args, "stream-json"), "{args:?}");
    let (ran, prompt, args) = start(
        &desk,
        "claude",
        &["--agent", "command"],
        &["--say", "ok", "-p", "{prompt}"],
    );
    assert_eq!(adapter(&ran), "command");
    assert!(
        prompt.contains("## Session Memory") && !has(&args, "stream-json"),
        "{args:?}"
    );
}

#[test]
fn a_generic_command_gets_the_prompt_on_standard_input() {
    let desk = Desk::plain();
    desk.call(&["remember", "tests need Redis"]).expect(0);
    let ran = desk
        .call(&["run", "--iterations", "1", "--", "cat"])
        .expect(0);
    assert!(
        ran.text().starts_with("## Session Memory\n"),
        "{}",
        ran.text()
    );
    assert!(ran.text().contains("- tests need Redis\n"));
}

#[test]
fn a_generic_command_gets_the_prompt_in_its_arguments() {
    let desk = Desk::plain();
    desk.call(&[
        "remember",
        "a 'quoted' fact; $(touch run) `touch run` && \"x\"",
    ])
    .expect(0);
    let ran = desk
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
    let text = ran.text();
    assert!(text.starts_with("a## Session Memory\n"), "{text}");
    assert_eq!(
        text.matches("$(touch run) `touch run`").count(),
        2,
        "{text}"
    );
    assert_eq!(text.matches('|').count(), 2);
    // With the mark, standard input is empty: `cat` ended at once and printed nothing.
    assert!(text.ends_with('|'), "{text}");
    assert!(!desk.root().join("run").exists());
    // Memory is no shell code.
    let refused = desk.call(&["run", "--", "sh", "-c", "echo {prompt}"]);
    assert_eq!(refused.code, 2);
    assert!(
        refused.stderr.contains("HEIRLOOM_PROMPT_FILE"),
        "{}",
        refused.stderr
    );
}

#[test]
fn every_agent_finds_files_and_coordinates_in_its_environment() {
    let desk = Desk::plain();
    desk.call(&["remember", "tests need Redis"]).expect(0);
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
    desk.call(&run).expect(0);
    let ran = desk.call(&run).expect(0);
    let text = ran.text();
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
    let folder = desk.project.read("folder").unwrap();
    assert!(
        !std::path::Path::new(folder.trim()).exists(),
        "the iteration's files are gone"
    );
}

#[test]
fn the_agent_starts_in_the_project() {
    let desk = Desk::plain();
    std::fs::create_dir(desk.root().join("deep")).unwrap();
    let mut command = desk.heirloom(&["run", "--iterations", "1", "--", "pwd"]);
    command.current_dir(desk.root().join("deep"));
    let ran = finish(command, |_| {}).expect(0);
    assert_eq!(ran.text().trim(), desk.root().to_str().unwrap());
}

#[test]
fn a_prompt_too_long_for_an_argument_goes_another_way() {
    let desk = Desk::plain();
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
    desk.feed(&["remember", "--stdin"], lines.as_bytes())
        .expect(0);
    let budget = ["--set", "memory.context_budget=200000"];
    let ran = desk
        .call(&[&["run", "--iterations", "1"], &budget[..], &["--", "cat"]].concat())
        .expect(0);
    assert!(ran.stdout.len() > 100_000, "{}", ran.stdout.len());
    let ran = desk
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
        ran.stderr.contains("an argument may have"),
        "{}",
        ran.stderr
    );
}

#[test]
fn a_word_that_looks_like_an_option_is_the_agents() {
    let desk = Desk::plain();
    let ran = desk
        .call(&[
            "run",
            "--iterations",
            "1",
            "--",
            "echo",
            "--json",
            "--help",
            "-n",
        ])
        .expect(0);
    assert_eq!(ran.text(), "--json --help -n\n");
}
