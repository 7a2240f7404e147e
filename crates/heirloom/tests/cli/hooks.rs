//! The command `hook`: injected memory, learned signals, and that no event ever fails an agent program.
#![expect(
    clippy::disallowed_methods,
    reason = "files as other programs write them, also broken ones"
)]

use crate::project::{Answer, Project, string};
use heirloom_model::limits;
use serde_json::{Value, json};
use std::os::unix::fs::PermissionsExt;
use std::process::Stdio;
use std::time::Instant;

pub(crate) const CLAUDE: &str = "claude-code";

/// Calls a hook, which exits 0 whatever its input is.
#[track_caller]
pub(crate) fn call_raw(project: &Project, host: &str, event: &str, input: &[u8]) -> Answer {
    let answer = project.input(&["hook", host, event], input);
    assert_eq!(answer.code, 0, "{answer:?}");
    answer
}

/// Returns an event with the fields that every event has.
pub(crate) fn event(project: &Project, session: &str, mut more: Value) -> Vec<u8> {
    more["session_id"] = json!(session);
    more["cwd"] = json!(project.path().to_str().unwrap());
    more["from_tomorrow"] = json!({"new": [1, null]});
    more.to_string().into_bytes()
}

/// Calls a hook and returns its answer; `null` if it printed nothing.
#[track_caller]
pub(crate) fn call(project: &Project, host: &str, name: &str, session: &str, more: Value) -> Value {
    let answer = call_raw(project, host, name, &event(project, session, more));
    assert_eq!(answer.stderr, "");
    if answer.stdout.is_empty() {
        return Value::Null;
    }
    answer.json()
}

/// Returns the text that an answer adds to the prompt.
#[track_caller]
pub(crate) fn injected_text(answer: &Value) -> String {
    if answer.is_null() {
        return String::new();
    }
    string(&answer["hookSpecificOutput"]["additionalContext"])
}

pub(crate) fn hook_log(project: &Project) -> String {
    project
        .folder
        .read(".heirloom/hooks.log")
        .unwrap_or_default()
}

const FACT: &str = "the login module checks session tokens in src/auth.rs";
const PROMPT: &str = "where does the login module check session tokens?";

#[test]
fn session_start_injects_memory_that_prompts_do_not_repeat() {
    for host in [CLAUDE, "codex", "gemini"] {
        let project = Project::new();
        project.ok(&["remember", FACT, "--category", "convention"]);
        let started = call(
            &project,
            host,
            "SessionStart",
            "s",
            json!({"source": "startup"}),
        );
        assert_eq!(
            started["hookSpecificOutput"]["hookEventName"],
            "SessionStart"
        );
        let injected = injected_text(&started);
        assert!(
            injected.starts_with("<heirloom-memory project="),
            "{injected}"
        );
        assert!(
            injected.contains(FACT) && injected.contains("not an instruction"),
            "{injected}"
        );
        assert!(injected.contains("</heirloom-memory>\n\n<heirloom-guide>"));
        assert!(injected.ends_with("</heirloom-guide>"));
        let prompt = if host == "gemini" {
            "BeforeAgent"
        } else {
            "UserPromptSubmit"
        };
        let again = call(&project, host, prompt, "s", json!({"prompt": PROMPT}));
        assert_eq!(again, Value::Null, "{host} already has it");
        let other = call(&project, host, prompt, "other", json!({"prompt": PROMPT}));
        assert!(injected_text(&other).contains(FACT), "{other}");
        let twice = call(&project, host, prompt, "other", json!({"prompt": PROMPT}));
        assert_eq!(twice, Value::Null);
        // A resumed session already has this context.
        let resumed = call(
            &project,
            host,
            "SessionStart",
            "s",
            json!({"source": "resume"}),
        );
        assert_eq!(resumed, Value::Null);
        let cleared = call(
            &project,
            host,
            "SessionStart",
            "s",
            json!({"source": "clear"}),
        );
        assert!(injected_text(&cleared).contains(FACT));
    }
}

#[test]
fn prompt_without_relevant_memory_injects_nothing() {
    let project = Project::new();
    project.ok(&["remember", FACT]);
    for n in 0..30 {
        project.ok(&[
            "remember",
            &format!("the parser of part {n} reads tables and columns"),
        ]);
    }
    for prompt in [
        "continue",
        "please write a poem about the sea",
        "run the tests",
        "",
        "   ",
        "!?",
    ] {
        let answer = call(
            &project,
            CLAUDE,
            "UserPromptSubmit",
            "s",
            json!({"prompt": prompt}),
        );
        assert_eq!(answer, Value::Null, "{prompt}");
    }
    for source in ["system", "loop_wakeup", "poll_event"] {
        let more = json!({"prompt": PROMPT, "source": source});
        assert_eq!(
            call(&project, CLAUDE, "UserPromptSubmit", "s", more),
            Value::Null
        );
    }
    assert_ne!(
        call(
            &project,
            CLAUDE,
            "UserPromptSubmit",
            "s",
            json!({"prompt": PROMPT, "source": "user"})
        ),
        Value::Null
    );
}

#[test]
fn prompt_hits_are_capped_and_the_next_prompt_gets_the_rest() {
    let project = Project::new();
    let tails = [
        "in src/auth.rs before anything else runs",
        "against redis, whose keys expire nightly",
        "twice since the march incident with proxies",
        "with ed25519 signatures from vault servers",
        "only for browsers, never for robots or cron",
    ];
    for tail in tails {
        project.ok(&[
            "remember",
            &format!("the login module checks session tokens {tail}"),
        ]);
    }
    let count = || {
        let answer = call(
            &project,
            CLAUDE,
            "UserPromptSubmit",
            "s",
            json!({"prompt": PROMPT}),
        );
        injected_text(&answer).matches("heirloom show").count()
    };
    assert_eq!(count(), limits::HOOK_HITS_MAX);
    assert_eq!(count(), tails.len() - limits::HOOK_HITS_MAX);
    assert_eq!(count(), 0);
}

#[test]
fn session_start_after_compaction_injects_goal_and_changed_files() {
    let project = Project::new();
    project.ok(&["remember", FACT, "--category", "convention"]);
    let send_hook = |name: &str, more| call(&project, CLAUDE, name, "s", more);
    send_hook("SessionStart", json!({"source": "startup"}));
    send_hook(
        "UserPromptSubmit",
        json!({"prompt": "make the export faster"}),
    );
    send_hook("UserPromptSubmit", json!({"prompt": "and mind the tests"}));
    let file = project.file("src/export.rs");
    send_hook(
        "PostToolUse",
        json!({"tool_name": "Edit", "tool_input": {"file_path": file}, "tool_response": {}}),
    );
    assert_eq!(
        send_hook("PreCompact", json!({"trigger": "auto"})),
        Value::Null
    );
    let injected = injected_text(&send_hook("SessionStart", json!({"source": "compact"})));
    for part in [
        "The session began with: make the export faster",
        "Asked last: and mind the tests",
        "Files changed so far: src/export.rs",
        FACT,
    ] {
        assert!(injected.contains(part), "{part} in {injected}");
    }
    let artifacts = project.json(&["artifact", "list"]);
    assert_eq!(artifacts["artifacts"][0]["path"], "src/export.rs");
    assert_eq!(artifacts["artifacts"][0]["session"], "s");
}

#[test]
fn pre_tool_hook_warns_once_of_an_earlier_failure_with_its_fix() {
    let project = Project::new();
    let command = json!({"command": "cargo test -p parser"});
    let failed = |session: &str| {
        let more = json!({"tool_name": "Bash", "tool_input": command, "error": "Exit code 101\nerror[E0502]: cannot borrow"});
        call(&project, CLAUDE, "PostToolUseFailure", session, more)
    };
    let before = |session: &str| {
        let more = json!({"tool_name": "Bash", "tool_input": command});
        injected_text(&call(&project, CLAUDE, "PreToolUse", session, more))
    };
    assert_eq!(before("one"), "");
    assert_eq!(failed("one"), Value::Null);
    assert_eq!(before("one"), "", "this session has seen the failure");
    let injected = before("two");
    assert!(
        injected.contains("`cargo test -p parser` failed") && injected.contains("E0502"),
        "{injected}"
    );
    assert_eq!(before("two"), "", "one warning per session");
    let changed = json!({"tool_name": "Bash", "tool_input": {"command": "cargo add memchr"}, "tool_response": {}});
    call(&project, CLAUDE, "PostToolUse", "one", changed);
    let worked =
        json!({"tool_name": "Bash", "tool_input": command, "tool_response": {"stdout": "ok"}});
    call(&project, CLAUDE, "PostToolUse", "one", worked);
    let errors = project.list("error");
    assert_eq!(errors.len(), 1, "{errors:?}");
    assert_eq!(errors[0]["state"], "resolved");
    assert_eq!(
        errors[0]["resolution"],
        "ran `cargo add memchr`, then it passed"
    );
    assert!(before("three").contains("What helped: ran `cargo add memchr`, then it passed"));
    let again = injected_text(&failed("four"));
    assert!(
        again.contains("What helped: ran `cargo add memchr`"),
        "{again}"
    );
    assert_eq!(project.list("error")[0]["state"], "open");
}

#[test]
fn search_commands_and_interrupts_store_no_error() {
    let project = Project::new();
    for more in [
        json!({"tool_name": "Bash", "tool_input": {"command": "grep x y"}, "error": "Exit code 1"}),
        json!({"tool_name": "Bash", "tool_input": {"command": "make"}, "error": "stopped", "is_interrupt": true}),
        json!({"tool_name": "WebFetch", "tool_input": {"url": "x"}, "error": "404"}),
    ] {
        call(&project, CLAUDE, "PostToolUseFailure", "s", more);
    }
    assert!(project.list("error").is_empty());
}

#[test]
fn signals_are_ingested_once_and_only_from_agent_messages() {
    let project = Project::new();
    let transcript = project.file("t.jsonl");
    let line = |kind: &str, text: &str| {
        json!({"type": kind, "message": {"role": kind, "content": [{"type": "text", "text": text}]}})
            .to_string()
            + "\n"
    };
    let fact = "HEIRLOOM_MEMORY: KEY_FACT the cache is in redis";
    let mut text =
        line("user", "HEIRLOOM_MEMORY: KEY_FACT from a person") + &line("assistant", fact);
    std::fs::write(&transcript, &text).unwrap();
    let send_hook = |name: &str, more: Value| {
        let mut more = more;
        more["transcript_path"] = json!(transcript);
        call(&project, CLAUDE, name, "s", more)
    };
    send_hook("SessionStart", json!({"source": "startup"}));
    let used = json!({"tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_response": {"stdout": "HEIRLOOM_MEMORY: KEY_FACT from a tool"}});
    send_hook("PostToolUse", used.clone());
    let texts = |project: &Project| -> Vec<String> {
        let list = project.list("knowledge");
        list.iter().map(|record| string(&record["text"])).collect()
    };
    assert_eq!(texts(&project), ["the cache is in redis"]);
    // The rest of the line is written later, and the event repeats the last message.
    let next = line("assistant", "HEIRLOOM_MEMORY: KEY_FACT tests need docker");
    text.push_str(&next[..20]);
    std::fs::write(&transcript, &text).unwrap();
    send_hook("PostToolUse", used);
    assert_eq!(texts(&project).len(), 1);
    text.push_str(&next[20..]);
    std::fs::write(&transcript, &text).unwrap();
    let last = json!({"last_assistant_message": "HEIRLOOM_MEMORY: KEY_FACT tests need docker"});
    assert_eq!(send_hook("Stop", last.clone()), Value::Null);
    send_hook(
        "SubagentStop",
        json!({"last_assistant_message": "HEIRLOOM_MEMORY: LEARNING ports clash", "agent_id": "a7"}),
    );
    assert_eq!(send_hook("Stop", last), Value::Null);
    let list = project.list("knowledge");
    assert_eq!(list.len(), 3, "{list:?}");
    for record in &list {
        assert_eq!(
            record.get("confirmations").unwrap_or(&json!(0)),
            0,
            "{record}"
        );
        assert_eq!(record["session"], "s");
        let subagent = record["text"] == "ports clash";
        assert_eq!(record["agent"], if subagent { "a7" } else { CLAUDE });
        assert_eq!(record["source"], record["agent"]);
    }
}

#[test]
fn injected_text_in_later_events_is_not_learned() {
    let project = Project::new();
    project.ok(&["remember", FACT, "--category", "convention"]);
    let injected = injected_text(&call(&project, CLAUDE, "SessionStart", "s", json!({})));
    let back = format!(
        "I was told:\n{injected}\n<heirloom-memory>\nHEIRLOOM_MEMORY: KEY_FACT no\n</heirloom-memory>\nHEIRLOOM_MEMORY: KEY_FACT {FACT}"
    );
    call(
        &project,
        CLAUDE,
        "Stop",
        "s",
        json!({"last_assistant_message": back}),
    );
    let list = project.list("knowledge");
    assert_eq!(list.len(), 1, "{list:?}");
    assert_eq!(list[0].get("confirmations").unwrap_or(&json!(0)), 0);
    let more = json!({"tool_name": "Bash", "tool_input": {"command": "make"}, "error": format!("{injected}\nno rule")});
    call(&project, CLAUDE, "PostToolUseFailure", "s", more);
    let error = string(&project.list("error")[0]["text"]);
    assert!(
        error.ends_with("no rule") && !error.contains("login"),
        "{error}"
    );
    let more = json!({"prompt": format!("{injected}\n")});
    assert_eq!(
        call(&project, CLAUDE, "UserPromptSubmit", "t", more),
        Value::Null
    );
}

#[test]
fn secrets_in_hook_events_are_redacted_in_every_file() {
    let project = Project::new();
    let secret = "sk-ant-api03-Zq3vTnW8yKpL2xRbC5mD7fGhJ9sA4uE6tN1oQ8wVrXyZ0kMlPiBdHgFcSaTeUjOnRvYw-QAbCdEfGhAA";
    let send_hook = |name: &str, more| call(&project, CLAUDE, name, "s", more);
    send_hook(
        "UserPromptSubmit",
        json!({"prompt": format!("use ANTHROPIC_API_KEY={secret}")}),
    );
    send_hook(
        "PostToolUseFailure",
        json!({"tool_name": "Bash", "tool_input": {"command": format!("curl -H 'x-api-key: {secret}' x")}, "error": format!("denied {secret}")}),
    );
    send_hook(
        "Stop",
        json!({"last_assistant_message": format!("HEIRLOOM_MEMORY: KEY_FACT the key is {secret}")}),
    );
    send_hook("SessionEnd", json!({"reason": format!("{secret}")}));
    call_raw(
        &project,
        CLAUDE,
        "Stop",
        format!("{{\"session_id\": {secret}").as_bytes(),
    );
    assert!(!project.list("error").is_empty());
    for entry in files(&project) {
        let bytes = std::fs::read(&entry).unwrap();
        let found = bytes
            .windows(secret.len())
            .any(|part| part == secret.as_bytes());
        assert!(!found, "{}", entry.display());
    }
}

fn files(project: &Project) -> Vec<std::path::PathBuf> {
    let mut all = Vec::new();
    let mut folders = vec![project.file(".heirloom")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                all.push(path);
            }
        }
    }
    all
}

#[test]
fn session_with_changes_or_failures_creates_one_episode() {
    let project = Project::new();
    let send_hook = |session: &str, name: &str, more| call(&project, "codex", name, session, more);
    send_hook(
        "idle",
        "UserPromptSubmit",
        json!({"prompt": "what is this?"}),
    );
    send_hook("idle", "SessionEnd", json!({"reason": "other"}));
    send_hook(
        "busy",
        "UserPromptSubmit",
        json!({"prompt": "fix the login"}),
    );
    let patch = "*** Begin Patch\n*** Update File: src/a.rs\n@@\n-a\n+b\n*** End Patch";
    send_hook(
        "busy",
        "PostToolUse",
        json!({"tool_name": "apply_patch", "tool_input": {"command": patch}, "tool_response": "Exit code: 0\nOutput:\nDone"}),
    );
    send_hook(
        "busy",
        "PostToolUse",
        json!({"tool_name": "Bash", "tool_input": {"command": "make"}, "tool_response": "Exit code: 2\nOutput:\nno rule"}),
    );
    assert_eq!(
        send_hook("busy", "SessionEnd", json!({"reason": "other"})),
        Value::Null
    );
    send_hook("busy", "SessionEnd", json!({"reason": "other"}));
    let list = project.json(&["episode", "list"]);
    let list = list["episodes"].as_array().unwrap();
    assert_eq!(list.len(), 1, "{list:?}");
    assert_eq!(list[0]["approach"], "fix the login");
    assert_eq!(list[0]["action"], "attempted");
    let text = string(&project.list("episode")[0]["text"]);
    assert_eq!(
        text,
        "Asked: fix the login\nDid: edited src/a.rs\nFailed: `make` failed: no rule"
    );
    assert!(string(&project.list("error")[0]["text"]).contains("`make` failed"));
}

#[test]
fn long_tool_output_is_shortened_only_when_configured() {
    let project = Project::new();
    let whole = "a line of output\n".repeat(1_000);
    let more = json!({"tool_name": "Bash", "tool_input": {"command": "make"}, "tool_response": {"stdout": whole, "stderr": "", "interrupted": false}});
    assert_eq!(
        call(&project, CLAUDE, "PostToolUse", "s", more.clone()),
        Value::Null
    );
    project.configure("[hooks]\nshorten_outputs = true\n");
    let answer = call(&project, CLAUDE, "PostToolUse", "s", more.clone());
    let output = &answer["hookSpecificOutput"]["updatedToolOutput"];
    assert_eq!(
        (&output["stderr"], &output["interrupted"]),
        (&json!(""), &json!(false))
    );
    let short = string(&output["stdout"]);
    assert!(
        short.len() < 3_000 && short.starts_with("a line of output\n"),
        "{short}"
    );
    let id = short.split("heirloom expand ").nth(1).unwrap();
    let id = id.split('`').next().unwrap();
    assert_eq!(project.ok(&["expand", id]).stdout, whole);
    assert_eq!(
        call(&project, "codex", "PostToolUse", "s", more),
        Value::Null
    );
    let more = json!({"tool_name": "run_shell_command", "tool_input": {}, "tool_response": {"llmContent": whole}});
    let answer = call(&project, "gemini", "AfterTool", "s", more);
    assert_eq!(answer["decision"], "deny");
    assert!(string(&answer["reason"]).contains(id));
}

#[test]
fn malformed_events_exit_0_and_leave_the_store_healthy() {
    let project = Project::new();
    project.ok(&["remember", FACT]);
    let path = project.path().to_str().unwrap().to_owned();
    let here = format!("\"cwd\":\"{path}\"");
    let names = [
        "SessionStart",
        "UserPromptSubmit",
        "PreToolUse",
        "PostToolUse",
        "PostToolUseFailure",
        "PreCompact",
        "Stop",
        "SubagentStart",
        "SubagentStop",
        "SessionEnd",
        "BeforeAgent",
        "AfterTool",
        "Notification",
        "",
        "--json",
        "../x",
    ];
    let inputs = [
        String::new(),
        "nonsense".to_owned(),
        "[]".to_owned(),
        "null".to_owned(),
        format!("{{{here}}}"),
        format!(
            "{{{here},\"session_id\":[],\"prompt\":{{}},\"tool_name\":7,\"tool_input\":\"x\",\"tool_response\":null,\"source\":3,\"transcript_path\":false}}"
        ),
        format!(
            "{{{here},\"session_id\":\"../../x\\u0000\",\"agent_id\":\"{}\",\"tool_name\":\"Bash\",\"tool_input\":{{\"command\":\"\"}},\"transcript_path\":\"/dev/zero\"}}",
            "a".repeat(1_000)
        ),
        format!(
            "{{{here},\"session_id\":\"s\",\"transcript_path\":\"{path}\",\"prompt\":\"\\ud800\"}}"
        ),
        format!("{{{here},\"tool_response\":{}", "[".repeat(5_000)),
    ];
    for host in [CLAUDE, "codex", "gemini", "cursor", ""] {
        for name in names {
            for input in &inputs {
                let answer = call_raw(&project, host, name, input.as_bytes());
                if !answer.stdout.is_empty() {
                    answer.json();
                }
            }
        }
    }
    call_raw(
        &project,
        CLAUDE,
        "SessionStart",
        b"{\"session_id\":\"\xff\xfe\",\"prompt\":\"\xc3\"}",
    );
    let wrong = [
        &["hook"][..],
        &["hook", "--help-me", "-x"],
        &["hook", CLAUDE, "Stop", "more", "--set"],
    ];
    for args in wrong {
        assert_eq!(project.input(args, b"{}").code, 0, "{args:?}");
    }
    assert!(hook_log(&project).contains("cannot be read"));
    assert!(project.json(&["status"])["health"] == "ok");
}

#[test]
fn oversized_event_is_ignored_without_a_log_entry() {
    let project = Project::new();
    let mut input = event(
        &project,
        "s",
        json!({"tool_name": "Bash", "tool_input": {"command": "make"}}),
    );
    input.pop();
    input.extend_from_slice(b",\"tool_response\":{\"stdout\":\"");
    input.resize(50 << 20, b'x');
    input.extend_from_slice(b"\"}}");
    assert!(input.len() > limits::HOOK_INPUT_BYTES_MAX);
    let answer = call_raw(&project, CLAUDE, "PostToolUse", &input);
    assert_eq!(answer.stdout, "");
    assert_eq!(hook_log(&project), "", "an oversized event is no failure");
}

#[test]
fn hooks_without_project_or_with_memory_off_inject_nothing() {
    let project = Project::uninitialised();
    for name in ["SessionStart", "Stop", "UserPromptSubmit"] {
        let answer = call_raw(
            &project,
            CLAUDE,
            name,
            &event(&project, "s", json!({"prompt": PROMPT})),
        );
        assert_eq!((answer.stdout.as_str(), answer.stderr.as_str()), ("", ""));
        call_raw(&project, "codex", name, b"nonsense");
    }
    for folder in [project.path(), project.home.path()] {
        assert_eq!(std::fs::read_dir(folder).unwrap().count(), 0);
    }
    let project = Project::new();
    let before = files(&project).len();
    let off = project
        .folder
        .read(".heirloom/config.toml")
        .unwrap()
        .replace("enabled = true", "enabled = false");
    project.folder.write(".heirloom/config.toml", off).unwrap();
    assert_eq!(
        call(&project, CLAUDE, "SessionStart", "s", json!({})),
        Value::Null
    );
    // Only the log of calls is new.
    assert_eq!(files(&project).len(), before + 1);
}

#[test]
fn hooks_with_broken_config_files_or_database_exit_0() {
    let project = Project::new();
    project.ok(&["remember", FACT, "--category", "convention"]);
    project
        .folder
        .write(".heirloom/config.toml", "[memory\n")
        .unwrap();
    assert_eq!(
        call(&project, CLAUDE, "SessionStart", "s", json!({})),
        Value::Null
    );
    assert!(
        hook_log(&project).contains("SessionStart"),
        "{}",
        hook_log(&project)
    );
    project
        .folder
        .write(".heirloom/config.toml", "[memory]\nenabled = true\n")
        .unwrap();
    let memory = project.file(".heirloom");
    // A folder in place of the log, and a file in place of the folder of hooks.
    std::fs::remove_file(memory.join("hooks.log")).unwrap();
    std::fs::create_dir(memory.join("hooks.log")).unwrap();
    std::fs::remove_dir_all(memory.join("hooks")).unwrap();
    std::fs::write(memory.join("hooks"), "in the way").unwrap();
    let injected = injected_text(&call(&project, CLAUDE, "SessionStart", "s", json!({})));
    assert!(injected.contains(FACT), "{injected}");
    call_raw(&project, CLAUDE, "SessionStart", b"nonsense");
    let mode =
        |mode| std::fs::set_permissions(&memory, std::fs::Permissions::from_mode(mode)).unwrap();
    mode(0o500);
    call_raw(
        &project,
        CLAUDE,
        "Stop",
        &event(
            &project,
            "s",
            json!({"last_assistant_message": "HEIRLOOM_MEMORY: KEY_FACT x"}),
        ),
    );
    mode(0o700);
    std::fs::write(memory.join("heirloom.db"), "no database").unwrap();
    assert_eq!(
        call(&project, CLAUDE, "SessionStart", "s", json!({})),
        Value::Null
    );
}

#[test]
fn hook_that_waits_for_a_lock_gives_up_at_its_deadline() {
    let project = Project::new();
    let lock = rusqlite::Connection::open(project.file(".heirloom/heirloom.db")).unwrap();
    lock.execute_batch("BEGIN EXCLUSIVE").unwrap();
    let started = Instant::now();
    let last = json!({"last_assistant_message": "HEIRLOOM_MEMORY: KEY_FACT x"});
    assert_eq!(call(&project, CLAUDE, "Stop", "s", last), Value::Null);
    // Other commands wait much longer for a lock.
    assert!(started.elapsed().as_millis() < u128::from(limits::BUSY_TIMEOUT_MS));
    let expected = format!("no answer within {} ms", limits::HOOK_DEADLINE_MS);
    assert!(
        hook_log(&project).contains(&expected),
        "{}",
        hook_log(&project)
    );
    let hooks = &project.json(&["doctor"])["checks"];
    assert!(hooks.to_string().contains("hooks"), "{hooks}");
}

#[test]
fn session_start_during_another_write_is_answered() {
    let project = Project::new();
    project.ok(&["remember", FACT, "--category", "convention"]);
    let lock = rusqlite::Connection::open(project.file(".heirloom/heirloom.db")).unwrap();
    lock.execute_batch("BEGIN IMMEDIATE").unwrap();
    let start_event = json!({"source": "startup"});
    let injected = injected_text(&call(
        &project,
        CLAUDE,
        "SessionStart",
        "s",
        start_event.clone(),
    ));
    assert!(injected.contains(FACT), "{injected}");
    assert!(
        hook_log(&project).contains("SessionStart: answered"),
        "{}",
        hook_log(&project)
    );
    project.expect(&["session", "show", "s"], 3);
    lock.execute_batch("ROLLBACK").unwrap();
    call(&project, CLAUDE, "SessionStart", "s", start_event);
    assert_eq!(project.json(&["session", "show", "s"])["agent"], CLAUDE);
    const { assert!(limits::HOOK_AFTER_ANSWER_MS < limits::HOOK_DEADLINE_MS) };
}

#[test]
fn twenty_concurrent_hooks_store_or_log_every_fact() {
    let project = Project::new();
    let children: Vec<_> = (0..20)
        .map(|n| {
            let more = json!({"last_assistant_message": format!("HEIRLOOM_MEMORY: KEY_FACT fact number {n}")});
            let input = event(&project, "s", more);
            let mut command = project.command(&["hook", CLAUDE, "Stop"]);
            let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
            std::io::Write::write_all(&mut child.stdin.take().unwrap(), &input).unwrap();
            child
        })
        .collect();
    for child in children {
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success() && output.stdout.is_empty());
    }
    let known = project.list("knowledge").len();
    // On a very slow machine some calls give up and log it.
    let lost = hook_log(&project).lines().count();
    assert!(
        known + lost >= 20 && known > 0,
        "{known} {}",
        hook_log(&project)
    );
    assert_eq!(project.json(&["status"])["hooks"]["calls"], 20);
}

/// Returns the number of processes that run in the project's folder.
fn processes(project: &Project) -> usize {
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    let places = entries.filter_map(|entry| std::fs::read_link(entry.path().join("cwd")).ok());
    places.filter(|place| place == project.path()).count()
}

#[test]
fn three_hundred_hook_calls_leave_no_process_and_no_growing_file() {
    const SESSIONS: usize = 10;
    let project = Project::new();
    project.ok(&["remember", FACT]);
    let entry = r#"{"type":"user","uuid":"u","message":{"content":"mend it"}}"#;
    let transcript = project
        .home
        .write("talk.jsonl", format!("{entry}\n"))
        .unwrap();
    let bash = json!({"tool_name": "Bash", "tool_input": {"command": "make"}});
    let with = |name: &str, value: Value| {
        let mut more = bash.clone();
        more[name] = value;
        more
    };
    let calls = [
        ("SessionStart", json!({"source": "startup"})),
        ("UserPromptSubmit", json!({"prompt": PROMPT})),
        ("PreToolUse", bash.clone()),
        (
            "PostToolUse",
            with("tool_response", json!({"stdout": "ok"})),
        ),
        (
            "PostToolUse",
            json!({"tool_name": "Write", "tool_input": {"file_path": "a.rs"}, "tool_response": {}}),
        ),
        ("SubagentStart", json!({"agent_id": "a"})),
        (
            "SubagentStop",
            json!({"agent_id": "a", "agent_transcript_path": "/nonexistent"}),
        ),
        ("PreCompact", json!({"trigger": "auto"})),
        (
            "Stop",
            json!({"last_assistant_message": "HEIRLOOM_MEMORY: KEY_FACT ports clash"}),
        ),
        ("SessionStart", json!({"source": "compact"})),
    ];
    let mut sizes = Vec::new();
    for n in 0..300 {
        let session = format!("s{}", n / calls.len() % SESSIONS);
        let (name, more) = &calls[n % calls.len()];
        let mut more = more.clone();
        more["transcript_path"] = json!(transcript);
        match n % 50 {
            49 => drop(call_raw(&project, CLAUDE, name, b"nonsense")),
            _ => drop(call(&project, CLAUDE, name, &session, more)),
        }
        if matches!(n, 149 | 299) {
            let all = files(&project).into_iter();
            sizes.push(
                all.map(|path| (path.metadata().unwrap().len(), path))
                    .collect::<Vec<_>>(),
            );
        }
    }
    assert_eq!(processes(&project), 0);
    let [before, after] = sizes.as_slice() else {
        panic!("{sizes:?}")
    };
    let names = |all: &[(u64, std::path::PathBuf)]| -> Vec<_> {
        all.iter().map(|(_, path)| path.clone()).collect()
    };
    let (mut first, mut last) = (names(before), names(after));
    first.sort();
    last.sort();
    assert_eq!(first, last, "files after the first half");
    for (size, path) in after {
        let (known, _) = before.iter().find(|(_, other)| other == path).unwrap();
        let name = path.file_name().unwrap().to_string_lossy();
        let most = match name.as_ref() {
            "calls" | "hooks.log" => limits::HOOK_LOG_BYTES_MAX,
            // The database grows by receipts, whose cap is far away.
            "heirloom.db" => 512 << 10,
            // It grows until a process that ends checkpoints and removes it, so its length depends on the moment.
            "heirloom.db-wal" => {
                assert!(*size <= 2 << 20, "{size} bytes of log");
                continue;
            }
            _ if path.to_string_lossy().contains("/hooks/") => 16 << 10,
            _ => 0,
        };
        let grown = size.saturating_sub(*known);
        assert!(grown <= most, "{} has grown by {grown}", path.display());
    }
    let value = project.json(&["status"]);
    assert_eq!(value["hooks"]["calls"], 300);
    assert!(value["hooks"]["p50_ms"].as_f64().unwrap() > 0.0);
}

#[test]
fn purge_removes_the_text_from_files_of_hooks() {
    let project = Project::new();
    call(
        &project,
        CLAUDE,
        "UserPromptSubmit",
        "s",
        json!({"prompt": "about the zebra"}),
    );
    let has = |project: &Project| {
        files(project).iter().any(|path| {
            let bytes = std::fs::read(path).unwrap();
            bytes.windows(5).any(|part| part == b"zebra")
        })
    };
    assert!(has(&project));
    project.ok(&["purge", "--query", "zebra", "--yes"]);
    assert!(!has(&project));
}
