//! Commands that each adapter plans.
#![expect(
    clippy::disallowed_methods,
    reason = "the files of a test are thrown away"
)]
#![expect(clippy::unwrap_used, reason = "a helper of a test may fail it")]

use heirloom_agents::adapters::{Arg, Launch, PromptInput, find_pr, signal_instructions};
use heirloom_agents::{AgentProgram, StreamFormat};
use heirloom_model::{ErrorKind, Fault, limits};
use std::path::{Path, PathBuf};

const CONTEXT: &str = "## Session Memory\n- a fact\n";

fn memory() -> PromptInput {
    PromptInput {
        rules: String::new(),
        context: CONTEXT.to_owned(),
        iteration: 2,
        task: Some("42".to_owned()),
        phase: Some("TEST".to_owned()),
        signal_instructions: Some("Teach.".to_owned()),
        cwd: PathBuf::from("/project"),
        in_git: true,
    }
}

/// Returns the whole prompt for a person's prompt.
fn full_prompt(own: &str) -> String {
    let line = "This is iteration 2. Continue from where you left off.";
    let own = if own.is_empty() {
        String::new()
    } else {
        format!("{own}\n\n")
    };
    format!("## Session Memory\n- a fact\n\n{line}\n\n{own}Teach.")
}

fn words(line: &str) -> Vec<String> {
    // `|` separates words that contain blanks.
    let separator = if line.contains('|') { '|' } else { ' ' };
    let words = line.split(separator).filter(|word| !word.is_empty());
    words.map(str::to_owned).collect()
}

fn plan(adapter: AgentProgram, command: &str, memory: &PromptInput) -> Result<Launch, Fault> {
    adapter.plan(&words(command), memory)
}

/// Returns a launch's command in one line, with `PROMPT` for the whole prompt.
fn line(launch: &Launch) -> String {
    let args = launch.args_in(Path::new("/tmp/x"));
    let args = args
        .iter()
        .map(|arg| arg.to_str().unwrap().replace(&launch.prompt, "PROMPT"));
    let mut line: Vec<String> = vec![launch.program.clone()];
    line.extend(args);
    line.join(if line.iter().any(|word| word.contains(' ')) {
        "|"
    } else {
        " "
    })
}

#[track_caller]
fn check_with(
    adapter: AgentProgram,
    command: &str,
    memory: &PromptInput,
    own: &str,
    expected: &str,
) {
    let launch = plan(adapter, command, memory).unwrap();
    assert_eq!(line(&launch), expected, "{command}");
    assert_eq!(launch.prompt, full_prompt(own), "{command}");
    assert_eq!(launch.stdin, None, "{command}");
}

#[track_caller]
fn check_fault(adapter: AgentProgram, command: &str, kind: ErrorKind, part: &str) {
    let fault = plan(adapter, command, &memory()).unwrap_err();
    assert_eq!(fault.kind, kind, "{command}: {fault}");
    assert!(fault.message.contains(part), "{command}: {fault}");
    assert!(
        fault.hint.is_some() || kind != ErrorKind::Usage,
        "{command}: {fault}"
    );
}

/// Returns an input whose prompt is too long for an argument.
fn oversized_input() -> PromptInput {
    PromptInput {
        context: "x".repeat(limits::PROMPT_ARG_BYTES_MAX),
        ..memory()
    }
}

#[track_caller]
fn check_stdin(adapter: AgentProgram, command: &str, memory: &PromptInput, expected: &str) {
    let launch = plan(adapter, command, memory).unwrap();
    assert_eq!(line(&launch), expected, "{command}");
    let stdin = launch.stdin.as_deref();
    assert_eq!(stdin, Some(launch.prompt.as_bytes()), "{command}");
}

#[test]
fn plan_claude_code() {
    let check = |command: &str, own: &str, expected: &str| {
        check_with(AgentProgram::ClaudeCode, command, &memory(), own, expected);
    };
    let json = "--output-format stream-json --verbose";
    check("claude -p fix", "fix", &format!("claude -p PROMPT {json}"));
    check("claude fix", "fix", &format!("claude -p PROMPT {json}"));
    check(
        "claude --print fix",
        "fix",
        &format!("claude --print PROMPT {json}"),
    );
    check(
        "claude|-p|fix the tests",
        "fix the tests",
        &format!("claude -p PROMPT {json}"),
    );
    check("claude", "", &format!("claude -p PROMPT {json}"));
    check("claude -p", "", &format!("claude -p PROMPT {json}"));
    check(
        "claude --model x -p --allowedTools Bash Edit",
        "",
        &format!("claude --model x -p PROMPT --allowedTools Bash Edit {json}"),
    );
    check(
        "claude -p --model x fix --allowedTools Bash Edit",
        "fix",
        &format!("claude -p --model x PROMPT --allowedTools Bash Edit {json}"),
    );
    check(
        "claude -pc fix",
        "fix",
        &format!("claude -pc PROMPT {json}"),
    );
    check(
        "claude -c fix",
        "fix",
        &format!("claude -p -c PROMPT {json}"),
    );
    check(
        "claude -p --resume 0a1b fix",
        "fix",
        &format!("claude -p --resume 0a1b PROMPT {json}"),
    );
    // The word after an unknown flag may be its value.
    check(
        "claude --new-flag value",
        "",
        &format!("claude -p PROMPT --new-flag value {json}"),
    );
    check(
        "claude --new-flag value -p fix",
        "fix",
        &format!("claude --new-flag value -p PROMPT {json}"),
    );
    check(
        "claude --new=value fix",
        "fix",
        &format!("claude -p --new=value PROMPT {json}"),
    );
    check(
        "claude -p -- fix",
        "fix",
        &format!("claude -p {json} -- PROMPT"),
    );
    // Existing flags are not repeated or changed.
    let full = "claude -p fix --output-format stream-json --verbose";
    check(full, "fix", &full.replace("fix", "PROMPT"));
    check(
        "claude --output-format=stream-json -p fix",
        "fix",
        "claude --output-format=stream-json -p PROMPT --verbose",
    );
    check(
        "claude -p fix --output-format text",
        "fix",
        "claude -p PROMPT --output-format text",
    );
    check_fault(
        AgentProgram::ClaudeCode,
        "claude -p --input-format stream-json",
        ErrorKind::Usage,
        "conversation",
    );
    check_fault(
        AgentProgram::ClaudeCode,
        "claude --append-system-prompt {prompt} -p fix",
        ErrorKind::Usage,
        "system prompt",
    );
}

#[test]
fn plan_claude_code_rules_go_into_system_prompt() {
    const RULES: &str = "<heirloom-rules project=\"p\">\nSay {prompt}.\n</heirloom-rules>";
    let ruled = |rules: &str| PromptInput {
        rules: rules.to_owned(),
        ..memory()
    };
    let flag = Arg::Text("--append-system-prompt".to_owned());
    for command in [
        "claude -p fix",
        "claude fix",
        "claude -p -- fix",
        "claude -p {prompt}",
    ] {
        let launch = plan(AgentProgram::ClaudeCode, command, &ruled(RULES)).unwrap();
        let at = launch.args.iter().position(|arg| *arg == flag).unwrap();
        assert_eq!(launch.args[at + 1], Arg::Rules, "{command}");
        let end = launch
            .args
            .iter()
            .position(|arg| *arg == Arg::Text("--".to_owned()));
        assert!(end.is_none_or(|end| at < end), "{command}");
        let args = launch.args_in(Path::new("/files"));
        assert_eq!(
            args[at + 1],
            RULES,
            "a placeholder in rules stays: {command}"
        );
        assert!(!launch.prompt.contains("heirloom-rules"), "{command}");
        // The file for other programs has everything.
        assert_eq!(launch.context, format!("{RULES}\n\n{}", CONTEXT.trim_end()));
    }
    // A command with such a flag keeps it, and rules over the limit do not fit an argument.
    let most = limits::PROMPT_ARG_BYTES_MAX;
    let of_length = |bytes: usize| format!("<{}>", "x".repeat(bytes - 2));
    for (command, rules, is_argument) in [
        ("claude -p fix", of_length(most), true),
        ("claude -p fix", of_length(most + 1), false),
        (
            "claude -p fix --append-system-prompt own",
            RULES.to_owned(),
            false,
        ),
        (
            "claude -p fix --append-system-prompt=own",
            RULES.to_owned(),
            false,
        ),
        (
            "claude -p fix --append-system-prompt-file own",
            RULES.to_owned(),
            false,
        ),
    ] {
        let launch = plan(AgentProgram::ClaudeCode, command, &ruled(&rules)).unwrap();
        assert_eq!(launch.args.contains(&Arg::Rules), is_argument, "{command}");
        let head = format!("{rules}\n\n## Session Memory");
        assert_eq!(launch.prompt.starts_with(&head), !is_argument, "{command}");
    }
    let none = plan(AgentProgram::ClaudeCode, "claude -p fix", &memory()).unwrap();
    assert!(!none.args.contains(&flag));
}

#[test]
fn plan_rules_are_head_of_prompt_of_other_programs() {
    let ruled = PromptInput {
        rules: "<heirloom-rules>\nBe kind.\n</heirloom-rules>".to_owned(),
        ..memory()
    };
    for (adapter, command) in [
        (AgentProgram::Codex, "codex exec fix"),
        (AgentProgram::Gemini, "gemini -p fix"),
        (AgentProgram::Opencode, "opencode run fix"),
        (AgentProgram::Aider, "aider -m fix"),
        (AgentProgram::Command, "agent {prompt}"),
    ] {
        let launch = plan(adapter, command, &ruled).unwrap();
        let head = "<heirloom-rules>\nBe kind.\n</heirloom-rules>\n\n## Session Memory\n";
        assert!(
            launch.prompt.starts_with(head),
            "{command}: {}",
            launch.prompt
        );
        assert!(!launch.args.contains(&Arg::Rules), "{command}");
    }
}

#[test]
fn user_prompt_is_known_to_adapter() {
    for (adapter, command, expected) in [
        (
            AgentProgram::ClaudeCode,
            "claude|-p|fix the bug",
            Some("fix the bug"),
        ),
        (
            AgentProgram::ClaudeCode,
            "npx|claude|-p|fix it|--model|opus",
            Some("fix it"),
        ),
        (
            AgentProgram::ClaudeCode,
            "claude|-p|{prompt} Be brief.",
            Some("Be brief."),
        ),
        (AgentProgram::ClaudeCode, "claude|-p|{prompt}", None),
        (AgentProgram::Codex, "codex|exec|fix it", Some("fix it")),
        (AgentProgram::Gemini, "gemini|-p|fix it", Some("fix it")),
        (
            AgentProgram::Opencode,
            "opencode|run|fix|it",
            Some("fix it"),
        ),
        (
            AgentProgram::Aider,
            "aider|--message|fix it",
            Some("fix it"),
        ),
        (AgentProgram::Aider, "aider|-f|gone.md", None),
        (AgentProgram::Command, "./agent.sh|fix it", None),
        (AgentProgram::Command, "./agent.sh", None),
    ] {
        let found = adapter.user_prompt(&words(command), Path::new("/project"));
        assert_eq!(found.as_deref().map(str::trim), expected, "{command}");
    }
    assert_eq!(AgentProgram::Command.user_prompt(&[], Path::new("/")), None);
}

#[test]
fn plan_claude_code_long_prompt_uses_stdin() {
    let check = |command: &str, expected: &str| {
        check_stdin(
            AgentProgram::ClaudeCode,
            command,
            &oversized_input(),
            expected,
        )
    };
    let json = "--output-format stream-json --verbose";
    check("claude -p fix", &format!("claude -p {json}"));
    check("claude -p {prompt}", &format!("claude -p {json}"));
    check("claude --model x", &format!("claude -p --model x {json}"));
}

#[test]
fn plan_prompt_at_limit_stays_argument() {
    let json = "--output-format stream-json --verbose";
    let of_length = |bytes: usize| {
        let around = plan(AgentProgram::ClaudeCode, "claude -p fix", &memory()).unwrap();
        let own = bytes - (around.prompt.len() - CONTEXT.trim_end().len());
        PromptInput {
            context: "x".repeat(own),
            ..memory()
        }
    };
    let most = limits::PROMPT_ARG_BYTES_MAX;
    let launch = plan(AgentProgram::ClaudeCode, "claude -p fix", &of_length(most)).unwrap();
    assert_eq!(launch.prompt.len(), most);
    let expected = format!("claude -p PROMPT {json}");
    assert_eq!((line(&launch), launch.stdin), (expected, None));
    let expected = format!("claude -p {json}");
    check_stdin(
        AgentProgram::ClaudeCode,
        "claude -p fix",
        &of_length(most + 1),
        &expected,
    );
    // Without an alternative the prompt is rejected.
    let fault = plan(
        AgentProgram::Command,
        "agent --do {prompt}",
        &oversized_input(),
    )
    .unwrap_err();
    assert_eq!(fault.kind, ErrorKind::Usage);
    assert!(fault.message.contains(&most.to_string()), "{fault}");
}

#[test]
fn plan_prompt_like_flag_uses_stdin() {
    let mut bare = memory();
    (bare.context, bare.iteration) = (String::new(), 1);
    let json = "--output-format stream-json";
    check_stdin(
        AgentProgram::ClaudeCode,
        "claude -p -- --fix",
        &bare,
        &format!("claude -p {json} --verbose --"),
    );
    check_stdin(
        AgentProgram::Codex,
        "codex exec -- --fix",
        &bare,
        "codex exec --json -- -",
    );
    check_stdin(
        AgentProgram::Gemini,
        "gemini -p=--fix",
        &bare,
        &format!("gemini {json}"),
    );
}

#[test]
fn plan_codex() {
    let check = |command: &str, own: &str, expected: &str| {
        check_with(AgentProgram::Codex, command, &memory(), own, expected)
    };
    check("codex exec fix", "fix", "codex exec --json PROMPT");
    check("codex e fix", "fix", "codex exec --json PROMPT");
    check("codex|exec|fix it", "fix it", "codex exec --json PROMPT");
    check("codex exec", "", "codex exec --json -- PROMPT");
    check("codex exec -", "", "codex exec --json PROMPT");
    check(
        "codex exec -i a.png",
        "",
        "codex exec --json -i a.png -- PROMPT",
    );
    check(
        "codex exec -m o3 fix --json",
        "fix",
        "codex exec -m o3 PROMPT --json",
    );
    check(
        "codex -m o3 exec fix",
        "fix",
        "codex -m o3 exec --json PROMPT",
    );
    check(
        "codex exec --new-flag value",
        "",
        "codex exec --json --new-flag value -- PROMPT",
    );
    // The interactive program cannot run in a loop.
    check("codex fix", "fix", "codex exec --json PROMPT");
    check("codex", "", "codex exec --json -- PROMPT");
    check(
        "codex -m o3 -a never fix",
        "fix",
        "codex -a never exec --json -m o3 PROMPT",
    );
    check("codex -- exec", "exec", "codex exec --json -- PROMPT");
    check(
        "codex resume --last fix",
        "fix",
        "codex exec --json resume --last PROMPT",
    );
    check(
        "codex exec resume 0a1b fix",
        "fix",
        "codex exec --json resume 0a1b PROMPT",
    );
    check(
        "codex exec resume 0a1b",
        "",
        "codex exec --json resume 0a1b -- PROMPT",
    );
    check(
        "codex exec resume --last",
        "",
        "codex exec --json resume --last -- PROMPT",
    );
    check(
        "codex exec review",
        "",
        "codex exec --json review -- PROMPT",
    );
    let outside = PromptInput {
        in_git: false,
        ..memory()
    };
    let skip = "codex exec --json --skip-git-repo-check PROMPT";
    check_with(AgentProgram::Codex, "codex exec fix", &outside, "fix", skip);
    let output = "codex exec --skip-git-repo-check --json fix";
    check_with(
        AgentProgram::Codex,
        output,
        &outside,
        "fix",
        &output.replace("fix", "PROMPT"),
    );
    let long = |command: &str, expected: &str| {
        check_stdin(AgentProgram::Codex, command, &oversized_input(), expected)
    };
    long("codex exec fix", "codex exec --json -");
    long("codex exec", "codex exec --json -- -");
    long("codex exec {prompt}", "codex exec --json -");
    check_fault(
        AgentProgram::Codex,
        "codex login",
        ErrorKind::Usage,
        "`codex login`",
    );
    check_fault(
        AgentProgram::Codex,
        "codex exec resume",
        ErrorKind::Usage,
        "no session for codex",
    );
}

#[test]
fn plan_opencode() {
    let check = |command: &str, own: &str, expected: &str| {
        let launch = plan(AgentProgram::Opencode, command, &memory()).unwrap();
        let prompt = memory().prompt(own);
        assert_eq!(launch.prompt, prompt, "{command}");
        // The prompt is in standard input, because arguments with blanks would get quotes.
        assert_eq!(launch.stdin, Some(prompt.into_bytes()), "{command}");
        let args = launch.args_in(Path::new("/x"));
        let args: Vec<_> = args.iter().map(|arg| arg.to_string_lossy()).collect();
        assert_eq!(args.join(" "), expected, "{command}");
    };
    let fixed = "run --format json";
    check("opencode run fix", "fix", fixed);
    check("opencode run fix it", "fix it", fixed);
    check("opencode fix", "fix", fixed);
    check("opencode run -m a/b fix", "fix", "run --format json -m a/b");
    check("opencode run -- --fix", "--fix", fixed);
    check("opencode run --format json fix", "fix", "run --format json");
    check(
        "opencode run --format default fix",
        "fix",
        "run --format default",
    );
    let text = "opencode run --format default fix";
    let launch = plan(AgentProgram::Opencode, text, &memory()).unwrap();
    assert_eq!(launch.format, StreamFormat::Text);
    for (command, part) in [
        ("opencode mcp list", "`opencode mcp`"),
        ("opencode run -i fix", "waits for a person"),
    ] {
        check_fault(AgentProgram::Opencode, command, ErrorKind::Usage, part);
    }
    let launch = plan(AgentProgram::Opencode, "opencode run {prompt}", &memory()).unwrap();
    assert_eq!(launch.stdin, None);
}

#[test]
fn plan_gemini() {
    let check = |command: &str, own: &str, expected: &str| {
        check_with(AgentProgram::Gemini, command, &memory(), own, expected)
    };
    let json = "--output-format stream-json";
    let fixed = format!("gemini -p PROMPT {json}");
    check("gemini -p fix", "fix", &fixed);
    check("gemini --prompt fix", "fix", &fixed);
    check("gemini --prompt=fix", "fix", &fixed);
    check("gemini -pfix", "fix", &fixed);
    check("gemini fix it", "fix it", &fixed);
    check("gemini", "", &fixed);
    check(
        "gemini --skip-trust -m flash -p fix --yolo",
        "fix",
        &format!("gemini -p PROMPT --skip-trust -m flash --yolo {json}"),
    );
    check("gemini -p fix -o text", "fix", "gemini -p PROMPT -o text");
    let long = |command: &str, expected: &str| {
        check_stdin(AgentProgram::Gemini, command, &oversized_input(), expected)
    };
    long("gemini -p fix -y", &format!("gemini -y {json}"));
    long("gemini fix it", &format!("gemini {json}"));
    check_fault(
        AgentProgram::Gemini,
        "gemini -i fix",
        ErrorKind::Usage,
        "waits for a person",
    );
    check_fault(
        AgentProgram::Gemini,
        "gemini mcp list",
        ErrorKind::Usage,
        "`gemini mcp`",
    );
}

const AIDER: &str = "--yes-always --no-pretty --stream --no-show-model-warnings \
                     --no-check-update --no-analytics --no-show-release-notes --no-detect-urls";

#[test]
fn plan_aider() {
    let check = |command: &str, own: &str, expected: &str| {
        check_with(AgentProgram::Aider, command, &memory(), own, expected)
    };
    let file = "--message-file /tmp/x/prompt.md";
    let plain = format!("aider {file} {AIDER}");
    check("aider -m fix", "fix", &plain);
    check("aider --message fix", "fix", &plain);
    check("aider --message=fix", "fix", &plain);
    check("aider --msg fix", "fix", &plain);
    check("aider -mfix", "fix", &plain);
    check("aider", "", &plain);
    check(
        "aider --model gpt a.rs -m fix --read b.md",
        "fix",
        &format!("{plain} --model gpt a.rs --read b.md"),
    );
    // Flags in the command are kept in any spelling.
    let output = "--yes --pretty --no-stream --show-model-warnings --check-update \
                --analytics-disable --no-show-release-notes --detect-urls";
    let command = format!("aider {output} -m fix");
    check(&command, "fix", &format!("aider {file} {output}"));
    let outside = PromptInput {
        in_git: false,
        ..memory()
    };
    check_with(
        AgentProgram::Aider,
        "aider -m fix",
        &outside,
        "fix",
        &format!("{plain} --no-git"),
    );
    let git = format!("{plain} --git");
    check_with(
        AgentProgram::Aider,
        "aider -m fix --git",
        &outside,
        "fix",
        &git,
    );
    // A prompt of any length goes through the file.
    let launch = plan(AgentProgram::Aider, "aider -m fix", &oversized_input()).unwrap();
    assert_eq!((line(&launch), &launch.stdin), (plain, &None));
}

#[test]
fn plan_aider_reads_users_prompt_file() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("todo.md"), "fix\nall\n").unwrap();
    let memory = PromptInput {
        cwd: folder.path().to_owned(),
        ..memory()
    };
    let file = format!("aider --message-file /tmp/x/prompt.md {AIDER}");
    for command in ["aider -f todo.md", "aider --message-file todo.md"] {
        check_with(AgentProgram::Aider, command, &memory, "fix\nall", &file);
    }
    let fault = plan(AgentProgram::Aider, "aider -f gone.md", &memory).unwrap_err();
    assert_eq!(fault.kind, ErrorKind::NotFound);
    assert!(fault.message.contains("gone.md"), "{fault}");
}

#[test]
fn plan_aider_prompt_file_over_limit_is_rejected() {
    let folder = tempfile::tempdir().unwrap();
    let memory = PromptInput {
        cwd: folder.path().to_owned(),
        ..memory()
    };
    let most = limits::PROMPT_FILE_BYTES_MAX;
    for (bytes, fits) in [(most, true), (most + 1, false)] {
        std::fs::write(folder.path().join("todo.md"), "").unwrap();
        let file = std::fs::File::options()
            .write(true)
            .open(folder.path().join("todo.md"));
        file.unwrap().set_len(bytes as u64).unwrap();
        let planned = plan(AgentProgram::Aider, "aider -f todo.md", &memory);
        assert_eq!(planned.is_ok(), fits, "{bytes}");
        if let Err(fault) = planned {
            assert_eq!(fault.kind, ErrorKind::Usage);
            assert!(fault.message.contains(&most.to_string()), "{fault}");
        }
    }
}

#[test]
fn plan_aider_never_runs_context_as_command() {
    let mut evil = memory();
    evil.context = "!rm -rf .".to_owned();
    let launch = plan(AgentProgram::Aider, "aider -m fix", &evil).unwrap();
    assert!(launch.prompt.starts_with("\n!rm"), "{}", launch.prompt);
}

#[test]
fn plan_generic_command() {
    let stdin = |command: &str, expected: &str| {
        check_stdin(AgentProgram::Command, command, &memory(), expected);
        assert_eq!(
            plan(AgentProgram::Command, command, &memory())
                .unwrap()
                .prompt,
            full_prompt("")
        );
    };
    stdin("./agent.sh", "./agent.sh");
    stdin("./agent.sh --fast now", "./agent.sh --fast now");
    let check = |command: &str, expected: &str| {
        check_with(AgentProgram::Command, command, &memory(), "", expected)
    };
    check("agent {prompt}", "agent PROMPT");
    check(
        "agent|--do=please: {prompt}|now",
        "agent|--do=please: PROMPT|now",
    );
    check(
        "sh|-c|agent \"$1\"|sh|{prompt}",
        "sh|-c|agent \"$1\"|sh|PROMPT",
    );
    let fault = plan(AgentProgram::Command, "agent {prompt}", &oversized_input()).unwrap_err();
    assert_eq!(fault.kind, ErrorKind::Usage);
    assert!(fault.hint.is_some());
    // An empty prompt still closes standard input.
    let silent = PromptInput {
        context: String::new(),
        iteration: 1,
        signal_instructions: None,
        ..memory()
    };
    let launch = plan(AgentProgram::Command, "agent", &silent).unwrap();
    assert_eq!(launch.stdin.as_deref(), Some(&b""[..]));
    let fault = plan(AgentProgram::ClaudeCode, "claude", &silent).unwrap_err();
    assert_eq!(fault.kind, ErrorKind::Usage);
}

#[test]
fn plan_replaces_placeholder_in_every_adapter() {
    let check = |adapter, command: &str, expected: &str| {
        check_with(adapter, command, &memory(), "", expected);
    };
    let json = "--output-format stream-json";
    check(
        AgentProgram::ClaudeCode,
        "claude|-p|Do it. {prompt} Now.",
        "claude|-p|Do it. PROMPT Now.|--output-format|stream-json|--verbose",
    );
    check(
        AgentProgram::ClaudeCode,
        "claude -p {prompt}",
        &format!("claude -p PROMPT {json} --verbose"),
    );
    check(
        AgentProgram::Codex,
        "codex exec {prompt}",
        "codex exec --json PROMPT",
    );
    check(
        AgentProgram::Gemini,
        "gemini -p {prompt}",
        &format!("gemini -p PROMPT {json}"),
    );
    check(
        AgentProgram::Aider,
        "aider --message {prompt}",
        &format!("aider --message-file /tmp/x/prompt.md {AIDER}"),
    );
    check(
        AgentProgram::Aider,
        "aider --message=now:{prompt}",
        &format!("aider {AIDER} --message=now:PROMPT"),
    );
    // Text from memory is not searched for placeholders.
    let mut quoting = memory();
    quoting.context = "a {prompt} b".to_owned();
    let launch = plan(AgentProgram::Command, "agent {prompt}", &quoting).unwrap();
    assert_eq!(line(&launch), "agent PROMPT");
    assert!(launch.prompt.starts_with("a {prompt} b\n\n"));
}

#[test]
fn plan_placeholder_inside_code_is_rejected() {
    for command in [
        "sh|-c|agent '{prompt}'",
        "bash|-lc|agent {prompt}",
        "/bin/sh|-ec|agent {prompt}",
        "env|A=b|bash|-c|{prompt}",
        "python3|-c|print('{prompt}')",
        "node|--eval|{prompt}",
        "perl|-e|{prompt}",
        "{prompt}",
    ] {
        let command = words(&format!("{command}|"));
        let fault = AgentProgram::Command.plan(&command, &memory()).unwrap_err();
        assert_eq!(fault.kind, ErrorKind::Usage, "{command:?}: {fault}");
    }
    assert!(plan(AgentProgram::Command, "", &memory()).is_err());
}

#[test]
fn from_command_detects_programs() {
    let check = |command: &str, expected| {
        assert_eq!(
            AgentProgram::from_command(&words(command)),
            expected,
            "{command}"
        );
    };
    check("claude -p x", AgentProgram::ClaudeCode);
    check("/opt/bin/claude.exe", AgentProgram::ClaudeCode);
    check(
        "npx -y @anthropic-ai/claude-code@2.1.197 -p x",
        AgentProgram::ClaudeCode,
    );
    check(
        "node node_modules/@anthropic-ai/claude-code/cli.js",
        AgentProgram::ClaudeCode,
    );
    check("codex exec x", AgentProgram::Codex);
    check("npx @openai/codex exec", AgentProgram::Codex);
    check("node ./codex.js", AgentProgram::Codex);
    check("python3 -m aider", AgentProgram::Aider);
    check("uvx --from aider-chat aider", AgentProgram::Aider);
    check("env A=b gemini", AgentProgram::Gemini);
    check("timeout 60 gemini -p x", AgentProgram::Gemini);
    check("npx @google/gemini-cli", AgentProgram::Gemini);
    check("npx opencode-ai run x", AgentProgram::Opencode);
    check("./agent.sh claude", AgentProgram::Command);
    check("echo codex", AgentProgram::Command);
    check("my-claude-wrapper", AgentProgram::Command);
    check("", AgentProgram::Command);
    for adapter in AgentProgram::ALL {
        assert_eq!(adapter.as_str().parse::<AgentProgram>(), Ok(adapter));
    }
    assert_eq!(
        " Claude ".parse::<AgentProgram>(),
        Ok(AgentProgram::ClaudeCode)
    );
    let fault = "cluade".parse::<AgentProgram>().unwrap_err();
    assert!(fault.message.contains("gemini"), "{fault}");
}

#[test]
fn plan_keeps_launchers_before_program() {
    let check = |adapter, command: &str, expected: &str| {
        check_with(adapter, command, &memory(), "fix", expected);
    };
    check(
        AgentProgram::Codex,
        "npx -y @openai/codex exec fix",
        "npx -y @openai/codex exec --json PROMPT",
    );
    check(
        AgentProgram::Aider,
        "uvx --from aider-chat aider -m fix",
        &format!("uvx --from aider-chat aider --message-file /tmp/x/prompt.md {AIDER}"),
    );
    // A wrapper that is configured as an adapter's program.
    check(
        AgentProgram::ClaudeCode,
        "./my-claude -p fix",
        "./my-claude -p PROMPT --output-format stream-json --verbose",
    );
}

#[test]
fn prompt_leaves_out_empty_parts() {
    let check =
        |context: &str, iteration, own: &str, signal_instructions: Option<&str>, expected: &str| {
            let memory = PromptInput {
                context: context.to_owned(),
                iteration,
                signal_instructions: signal_instructions.map(str::to_owned),
                ..memory()
            };
            assert_eq!(memory.prompt(own), expected);
        };
    let line = "This is iteration 3. Continue from where you left off.";
    check("", 1, "", None, "");
    check("", 1, "fix", None, "fix");
    check("## A\n\n", 1, "fix\n", Some("T"), "## A\n\nfix\n\nT");
    check("", 3, "fix", None, &format!("{line}\n\nfix"));
    check("## A", 3, "", Some(" "), &format!("## A\n\n{line}"));
    check("", 1, "  indented", None, "  indented");
    check("", 1, "a\0b", None, "a\u{fffd}b");
}

#[test]
fn signal_instructions_are_short_and_no_signal() {
    let text = signal_instructions("HEIRLOOM_MEMORY");
    assert!(text.chars().count() <= 500, "{}", text.chars().count());
    assert_eq!(text.lines().count(), 1);
    let opening = text.trim_start_matches(|c: char| !c.is_alphanumeric());
    assert!(!opening.starts_with("HEIRLOOM_MEMORY"));
    for verb in [
        "KEY_FACT",
        "DECISION",
        "BECAUSE",
        "STEP_DONE",
        "STEP_PENDING",
        "FILE_MODIFIED",
        "ERROR",
        "ERROR_RESOLVED",
    ] {
        assert!(text.contains(verb), "{verb}");
    }
}

#[test]
fn launch_has_files_and_variables() {
    let launch = plan(AgentProgram::Command, "agent", &memory()).unwrap();
    let files = launch.files();
    assert_eq!(files[0], ("context.md", CONTEXT.as_bytes()));
    assert_eq!(files[1], ("prompt.md", full_prompt("").as_bytes()));
    let env = launch.env_in(Path::new("/tmp/x"));
    let expected = [
        ("HEIRLOOM_ITERATION", "2"),
        ("HEIRLOOM_TASK", "42"),
        ("HEIRLOOM_PHASE", "TEST"),
        ("HEIRLOOM_CONTEXT_FILE", "/tmp/x/context.md"),
        ("HEIRLOOM_PROMPT_FILE", "/tmp/x/prompt.md"),
    ];
    assert_eq!(
        env,
        expected.map(|(name, value)| (name.into(), value.into()))
    );
}

#[test]
fn adapters_have_formats_and_transcript_locations() {
    let format = |adapter, command| plan(adapter, command, &memory()).unwrap().format;
    assert_eq!(
        format(AgentProgram::ClaudeCode, "claude -p x"),
        StreamFormat::Events(AgentProgram::ClaudeCode)
    );
    let text = "claude -p x --output-format text";
    assert_eq!(format(AgentProgram::ClaudeCode, text), StreamFormat::Text);
    let json = "claude -p x --output-format json";
    assert_eq!(format(AgentProgram::ClaudeCode, json), StreamFormat::Auto);
    assert_eq!(
        format(AgentProgram::Codex, "codex exec x"),
        StreamFormat::Events(AgentProgram::Codex)
    );
    assert_eq!(
        format(AgentProgram::Gemini, "gemini -p x"),
        StreamFormat::Events(AgentProgram::Gemini)
    );
    assert_eq!(
        format(AgentProgram::Gemini, "gemini -p x -o=text"),
        StreamFormat::Text
    );
    assert_eq!(
        format(AgentProgram::Aider, "aider -m x"),
        StreamFormat::Text
    );
    assert_eq!(format(AgentProgram::Command, "x"), StreamFormat::Auto);
    assert!(
        AgentProgram::Codex
            .instruction_files()
            .contains(&"AGENTS.md")
    );
}

#[test]
fn find_pr_in_urls() {
    let check = |text: &str, expected: Option<u64>| {
        assert_eq!(find_pr(text, None), expected, "{text}");
    };
    check("opened https://github.com/o/n/pull/12.", Some(12));
    check("[PR](https://github.com/o/n/pull/12)", Some(12));
    check("<https://github.com/o/n/pull/12/files#diff>", Some(12));
    check("https://gitlab.com/a/b/c/-/merge_requests/7", Some(7));
    check("https://codeberg.org/o/n/pulls/3", Some(3));
    check("https://bitbucket.org/o/n/pull-requests/4", Some(4));
    check(
        "https://github.com/o/n/pull/1 then https://github.com/o/n/pull/2",
        Some(2),
    );
    check(r#"{"url":"https://github.com/o/n/pull/9"}"#, Some(9));
    check("https://github.com/o/n/pull/new/branch", None);
    check("https://github.com/o/n/issues/5", None);
    check("https://github.com/pull/5", None);
    check("github.com/o/n/pull/5", None);
    check("see /pull/5", None);
    check("https://github.com/o/n/pull/0", None);
    check("https://github.com/o/n/pull/99999999999999999999999", None);
    check("://://", None);
    let ours = |text: &str| find_pr(text, Some("github.com/O/n"));
    assert_eq!(ours("https://github.com/o/N/pull/1"), Some(1));
    assert_eq!(ours("https://u@github.com:443/o/n/pull/1"), Some(1));
    assert_eq!(ours("https://github.com/upstream/n/pull/4"), Some(4));
    assert_eq!(ours("https://github.com/rust-lang/rust/pull/123"), None);
    assert_eq!(ours("https://gitlab.com/O/n/-/merge_requests/7"), None);
    // A project not named after a repository does not filter URLs.
    for name in ["my project", "team/app", "/home/u/app/.git"] {
        let found = find_pr("https://github.com/o/n/pull/1", Some(name));
        assert_eq!(found, Some(1), "{name}");
    }
}
