//! Lessons of sessions: from imported transcripts, from hooks, and with `heirloom learn`.

use crate::hooks::{CLAUDE, call};
use crate::project::{Project, string};
use crate::transcript_fixture::{TranscriptFixture, session_messages};
use serde_json::{Value, json};
use std::path::PathBuf;

/// Rule that a person states in the fixtures.
const RULE: &str = "Always use pnpm, never npm, in this repository.";

/// Returns a conversation with a rule by a person, a failure with its fix, and a plan.
fn teaching_transcript(project: &Project, session: &str) -> TranscriptFixture {
    let mut transcript = TranscriptFixture::new(session, project.path());
    transcript.add_user_message("Make the login tests pass");
    add_failure_and_fix(&mut transcript, project);
    transcript.add_user_message(RULE).add_assistant_message(
        "Understood. The login tests pass now, and I use pnpm from here on.",
    );
    transcript
}

fn add_failure_and_fix(transcript: &mut TranscriptFixture, project: &Project) {
    let edit = json!({
        "file_path": project.file("config/test.yaml"),
        "old_string": "port: 5432",
        "new_string": "port: 5432\nsession_secret: from-env",
    });
    let failure = "Exit code 1\nError: session_secret is not configured\n";
    transcript
        .add_command("c1", "pnpm test login", failure, true)
        .add_assistant_message(
            "The problem is that the test configuration has no `session_secret`.",
        )
        .add_tool_call("c2", "Edit", &edit)
        .add_tool_result("c2", "The file was updated", false)
        .add_command("c3", "pnpm test login", "12 passed", false);
}

fn texts(project: &Project, kind: &str) -> Vec<String> {
    let list = project.list(kind);
    list.iter().map(|record| string(&record["text"])).collect()
}

fn rules(project: &Project) -> Vec<Value> {
    let mut list = project.list("knowledge");
    list.retain(|record| string(&record["text"]).contains("pnpm, never npm"));
    list
}

fn errors(project: &Project) -> Vec<Value> {
    let mut list = project.list("error");
    list.retain(|record| string(&record["text"]).contains("session_secret"));
    list
}

/// Returns every text of every record, with its attributes.
fn everything(project: &Project) -> String {
    project.ok(&["export", "--all"]).stdout
}

#[test]
fn import_stores_rule_of_person_and_error_with_its_change() {
    let project = Project::new();
    teaching_transcript(&project, "s1").write_file(&project);
    let report = project.json(&["import", "claude"]);
    assert!(report["lessons"].as_u64() >= Some(2), "{report}");

    let rules = rules(&project);
    assert_eq!(rules.len(), 1, "{rules:?}");
    assert_eq!(rules[0]["source"], "user", "{rules:?}");
    assert_eq!(rules[0]["proposal"], Value::Null, "{rules:?}");
    assert_eq!(rules[0]["session"], "s1");
    let errors = errors(&project);
    assert_eq!(errors.len(), 1, "{errors:?}");
    assert_eq!(errors[0]["state"], "resolved");
    assert_eq!(errors[0]["source"], CLAUDE);
    assert!(
        string(&errors[0]["resolution"]).contains("session_secret"),
        "{errors:?}"
    );
    let source = project
        .ok(&["show", "--source", &string(&errors[0]["id"])])
        .stdout;
    assert!(
        source.contains("session_secret is not configured"),
        "{source}"
    );

    let before = everything(&project);
    let again = project.json(&["import", "claude"]);
    assert_eq!(
        (&again["created"], &again["lessons"]),
        (&json!(0), &json!(0))
    );
    assert_eq!(everything(&project), before);
}

#[test]
fn undo_of_import_takes_lessons_back_and_redo_restores_them() {
    let project = Project::new();
    teaching_transcript(&project, "s1").write_file(&project);
    let report = project.json(&["import", "claude"]);
    let batch = string(&report["import"]);
    project.ok(&["undo", &batch]);
    assert!(rules(&project).is_empty() && errors(&project).is_empty());
    project.ok(&["undo", &batch]);
    assert_eq!((rules(&project).len(), errors(&project).len()), (1, 1));
}

/// Calls the hook of an event of a session whose transcript was written.
fn send_hook(project: &Project, session: &str, event: &str, path: &PathBuf) {
    let more = json!({"transcript_path": path, "reason": "other"});
    assert_eq!(call(project, CLAUDE, event, session, more), Value::Null);
}

#[test]
fn hooks_learn_at_the_end_of_each_turn_as_import_does_at_once() {
    let project = Project::new();
    let mut transcript = TranscriptFixture::new("live", project.path());
    transcript.add_user_message("Make the login tests pass");
    let path = transcript.write_file(&project);
    send_hook(&project, "live", "Stop", &path);
    assert!(errors(&project).is_empty());
    add_failure_and_fix(&mut transcript, &project);
    transcript.write_file(&project);
    send_hook(&project, "live", "PreCompact", &path);
    assert_eq!(errors(&project).len(), 1);
    assert!(rules(&project).is_empty());
    transcript.add_user_message(RULE).add_assistant_message(
        "Understood. The login tests pass now, and I use pnpm from here on.",
    );
    transcript.write_file(&project);
    send_hook(&project, "live", "Stop", &path);
    assert_eq!(rules(&project).len(), 1);
    assert_eq!(session_messages(&project, "live").len(), 9);
    let live = all_texts(&project);
    send_hook(&project, "live", "SessionEnd", &path);
    assert_eq!(all_texts(&project), live, "the end adds nothing");

    let at_once = Project::new();
    teaching_transcript(&at_once, "live").write_file(&at_once);
    at_once.ok(&["import", "claude"]);
    assert_eq!(all_texts(&at_once), live);
}

fn all_texts(project: &Project) -> Vec<String> {
    let mut all = Vec::new();
    for kind in ["knowledge", "error", "episode", "step"] {
        for record in project.list(kind) {
            let field = |name: &str| record.get(name).cloned().unwrap_or_default();
            all.push(format!(
                "{kind} {} {} {} {}",
                field("text"),
                field("state"),
                field("resolution"),
                field("source")
            ));
        }
    }
    all.sort();
    all
}

#[test]
fn lesson_that_was_taken_back_is_not_learned_again() {
    let project = Project::new();
    let mut transcript = teaching_transcript(&project, "live");
    let path = transcript.write_file(&project);
    send_hook(&project, "live", "Stop", &path);
    let rule = string(&rules(&project)[0]["id"]);
    project.ok(&["forget", &rule]);
    transcript.add_user_message("From now on, run the linter before you commit.");
    transcript.write_file(&project);
    send_hook(&project, "live", "Stop", &path);
    assert!(rules(&project).is_empty(), "{:?}", rules(&project));
    assert!(
        texts(&project, "knowledge")
            .iter()
            .any(|text| text.contains("linter")),
        "new lessons are learned"
    );
    // A person can ask for it.
    project.ok(&["learn", "live"]);
    assert_eq!(rules(&project).len(), 1);
}

#[test]
fn lessons_that_were_undone_are_stored_again_by_the_first_learn() {
    let project = Project::new();
    let path = teaching_transcript(&project, "live").write_file(&project);
    send_hook(&project, "live", "Stop", &path);
    let shown = project.json(&["session", "show", "live"]);
    let before = all_texts(&project);
    project.ok(&[
        "undo",
        &string(&shown["attrs"]["lessons"]["ledger"]["batch"]),
    ]);
    assert!(rules(&project).is_empty());
    project.ok(&["learn", "live"]);
    assert_eq!(all_texts(&project), before);
}

#[test]
fn session_whose_transcript_is_gone_keeps_its_lessons() {
    let project = Project::new();
    let path = teaching_transcript(&project, "s1").write_file(&project);
    project.ok(&["import", "claude"]);
    let before = all_texts(&project);
    assert_eq!(errors(&project).len(), 1);
    std::fs::remove_file(path).unwrap();
    let learned = project.json(&["learn", "s1"]);
    assert_eq!(
        (&learned["created"], &learned["changed"]),
        (&json!(0), &json!(0))
    );
    assert_eq!(learned["lacks_transcript"], true);
    assert_eq!(all_texts(&project), before);

    // Stored turns restore what was reverted, and nothing else.
    project.ok(&["forget", &string(&rules(&project)[0]["id"])]);
    project.ok(&["learn", "s1"]);
    assert_eq!(all_texts(&project), before);
    let printed = project.ok(&["learn", "s1"]).stderr;
    assert!(printed.contains("is not found"), "{printed}");
}

#[test]
fn items_of_an_ended_to_do_list_are_history() {
    let project = Project::new();
    let mut transcript = teaching_transcript(&project, "s1");
    let todos = json!({"todos": [
        {"content": "Write the migration of the accounts", "status": "completed"},
        {"content": "Deploy the new login page", "status": "pending"}]});
    transcript
        .add_tool_call("plan", "TodoWrite", &todos)
        .add_tool_result("plan", "Todos have been modified", false);
    transcript.write_file(&project);
    project.ok(&["import", "claude"]);
    let done = ["Write the migration of the accounts"];
    assert_eq!(texts(&project, "step"), done);
    project.ok(&["learn", "s1"]);
    assert_eq!(texts(&project, "step"), done);
}

#[test]
fn undo_of_the_lessons_of_a_session_restores_what_hooks_recorded() {
    let project = Project::new();
    let mut transcript = TranscriptFixture::new("live", project.path());
    transcript.add_user_message("Make the login tests pass");
    let failure = "Exit code 1\nError: session_secret is not configured\n";
    let more = json!({"tool_name": "Bash", "tool_input": {"command": "pnpm test login"}, "error": failure});
    call(&project, CLAUDE, "PostToolUseFailure", "live", more);
    assert_eq!(errors(&project)[0]["state"], "open");
    add_failure_and_fix(&mut transcript, &project);
    let path = transcript.write_file(&project);
    send_hook(&project, "live", "Stop", &path);
    let learned = errors(&project);
    assert_eq!(
        (learned.len(), &learned[0]["state"]),
        (1, &json!("resolved"))
    );
    let shown = project.json(&["session", "show", "live"]);
    let batch = string(&shown["attrs"]["lessons"]["ledger"]["batch"]);
    project.ok(&["undo", &batch]);
    let restored = errors(&project);
    assert_eq!((restored.len(), &restored[0]["state"]), (1, &json!("open")));
    send_hook(&project, "live", "Stop", &path);
    assert_eq!(errors(&project)[0]["state"], "open");
}

#[test]
fn learn_dry_run_shows_lessons_and_changes_nothing() {
    let project = Project::new();
    let path = teaching_transcript(&project, "s1").write_file(&project);
    project.ok(&["--set", "hooks.learn=false", "import", "claude"]);
    assert!(rules(&project).is_empty());
    assert_eq!(session_messages(&project, "s1").len(), 9);
    let before = everything(&project);
    let shown = project.json(&["learn", "s1", "--dry-run", "--explain"]);
    let lessons = shown["lessons"].as_array().unwrap();
    let rule = lessons
        .iter()
        .find(|lesson| {
            string(&lesson["text"]).contains("never npm") && lesson["speaker"] == "person"
        })
        .unwrap();
    assert_eq!(
        (&rule["kept"], &rule["outcome"], &rule["speaker"]),
        (&json!(true), &json!("new"), &json!("person"))
    );
    assert!(string(&rule["evidence"][0]["line"]).contains("pnpm"));
    assert_eq!(everything(&project), before);

    // From the stored turns, when the transcript is gone.
    std::fs::remove_file(path).unwrap();
    let stored = project.json(&["learn", "s1"]);
    assert!(stored["created"].as_u64() >= Some(1), "{stored}");
    assert_eq!(rules(&project).len(), 1);
    let again = project.json(&["learn", "s1"]);
    assert_eq!(again["created"], 0, "{again}");
}

#[test]
fn explain_lists_what_the_limit_left_out() {
    let project = Project::new();
    let mut transcript = TranscriptFixture::new("s1", project.path());
    for part in ["invoice", "ledger", "mailer", "gateway", "sidebar"] {
        transcript
            .add_user_message(&format!(
                "Never call the {part} service in tests. Always run `make {part}-check` before a commit. Please write the \
                 {part} docs in British English from now on."
            ))
            .add_assistant_message(&format!(
                "The root cause is that `{part}_start` needs `{part}_token` in `config/{part}.toml`, because the {part} \
                 service reads it."
            ));
    }
    transcript.write_file(&project);
    project.ok(&["import", "claude"]);
    let printed = project.ok(&["learn", "s1", "--dry-run"]);
    assert!(
        printed
            .stderr
            .contains("candidates were left out: heirloom learn s1 --dry-run --explain"),
        "{printed:?}"
    );
    let explained = project.json(&["learn", "s1", "--dry-run", "--explain"]);
    let lessons = explained["lessons"].as_array().unwrap();
    let is_record = |lesson: &&Value| lesson["kept"] == true && lesson["what"] != "episode";
    assert_eq!(lessons.iter().filter(is_record).count(), 12);
    let left_out = || lessons.iter().filter(|lesson| lesson["kept"] == false);
    assert!(left_out().count() >= 5, "{explained}");
    for lesson in left_out() {
        assert!(lesson["worth"].as_f64() > Some(0.0), "{lesson}");
        assert!(lesson["opinion"].is_null(), "{lesson}");
        let reasons = [
            ("limit", "beyond limit"),
            ("source_share", "beyond share"),
            ("low_worth", "low worth"),
            ("duplicate", "duplicate"),
        ];
        let reason = (lesson["reason"].as_str(), lesson["outcome"].as_str());
        let known = reasons.map(|(name, words)| (Some(name), Some(words)));
        assert!(known.contains(&reason), "{lesson}");
    }
    for reason in ["source_share", "duplicate"] {
        assert!(
            left_out().any(|lesson| lesson["reason"] == reason),
            "{reason}"
        );
    }
    let text = project
        .ok(&["learn", "s1", "--dry-run", "--explain"])
        .stdout;
    assert!(text.contains("beyond share     "), "{text}");
    assert!(text.contains("  person rule, worth 0."), "{text}");
}

#[test]
fn recalled_lesson_hides_the_turn_that_it_was_taken_from() {
    let project = Project::new();
    teaching_transcript(&project, "s1").write_file(&project);
    project.ok(&["--set", "hooks.learn=false", "import", "claude"]);
    let ask = || {
        project.json(&[
            "recall",
            "--conversations",
            "pnpm or npm in this repository",
        ])
    };
    let has_rule = |list: &Value| {
        let texts = list.as_array().unwrap().iter();
        texts
            .map(|hit| string(&hit["text"]))
            .any(|text| text == RULE)
    };
    let before = ask();
    assert!(has_rule(&before["conversations"]), "{before}");
    project.ok(&["learn", "s1"]);
    let after = ask();
    assert!(has_rule(&after["hits"]), "{after}");
    assert!(!has_rule(&after["conversations"]), "{after}");
    let as_hits = project.json(&["recall", "kind:message pnpm or npm in this repository"]);
    assert!(has_rule(&as_hits["hits"]), "{as_hits}");
}

#[test]
fn learn_all_reads_conversations_without_lessons_as_one_batch() {
    let project = Project::new();
    teaching_transcript(&project, "s1").write_file(&project);
    let mut other = TranscriptFixture::new("s2", project.path());
    other
        .add_user_message("From now on, write commit messages in the imperative.")
        .add_assistant_message("I will.");
    other.write_file(&project);
    project.ok(&["--set", "hooks.learn=false", "import", "claude"]);
    let before = everything(&project);
    let dry = project.json(&["learn", "--all", "--dry-run"]);
    assert_eq!((&dry["sessions"], &dry["created"]), (&json!(2), &json!(0)));
    assert_eq!(everything(&project), before);
    let report = project.json(&["learn", "--all"]);
    assert_eq!(report["sessions"], 2);
    assert!(report["created"].as_u64() >= Some(2), "{report}");
    assert_eq!(rules(&project).len(), 1);
    let again = project.json(&["learn", "--all"]);
    assert_eq!(
        (&again["sessions"], &again["changes"], &again["created"]),
        (&json!(2), &json!([]), &json!(0))
    );
    project.ok(&["undo", &string(&report["batch"])]);
    assert!(rules(&project).is_empty());
}

/// A new version of the program may find that a conversation does not support a record.
#[test]
fn learn_all_retires_what_a_transcript_does_not_support() {
    let project = Project::new();
    let mut transcript = teaching_transcript(&project, "s1");
    let path = transcript.write_file(&project);
    send_hook(&project, "s1", "Stop", &path);
    assert_eq!(rules(&project).len(), 1);
    // As if a later version did not find the rule.
    transcript = TranscriptFixture::new("s1", project.path());
    transcript
        .add_user_message("What does the exporter do?")
        .add_assistant_message("It writes files.");
    transcript.write_file(&project);
    let dry = project.json(&["learn", "--all", "--dry-run"]);
    let retired = |report: &Value| {
        let changes = report["changes"].as_array().unwrap().clone();
        let is_retired = |change: &Value| change["effect"] == "retires" && change["text"] == RULE;
        changes.iter().any(is_retired)
    };
    assert!(retired(&dry), "{dry}");
    assert_eq!(rules(&project).len(), 1);
    let text = project.ok(&["learn", "--all"]).stdout;
    assert!(text.contains("heirloom undo"), "{text}");
    assert!(rules(&project).is_empty());
}

#[test]
fn hooks_learn_false_learns_nothing() {
    let project = Project::new();
    project.configure("\n[hooks]\nlearn = false\n");
    let path = teaching_transcript(&project, "s1").write_file(&project);
    send_hook(&project, "s1", "Stop", &path);
    send_hook(&project, "s1", "SessionEnd", &path);
    assert_eq!(session_messages(&project, "s1").len(), 9);
    assert!(rules(&project).is_empty());
}

#[test]
fn secrets_of_a_conversation_never_become_lessons() {
    let project = Project::new();
    let secret = format!("ghp_{}", "a1B2c3D4e5".repeat(4).get(..36).unwrap());
    let mut transcript = TranscriptFixture::new("s1", project.path());
    let edit = json!({
        "file_path": project.file("config/test.yaml"),
        "old_string": "port: 1",
        "new_string": format!("port: 1\ntoken: {secret}"),
    });
    transcript
        .add_user_message(&format!(
            "Always use the token {secret} for the registry, never another one."
        ))
        .add_command(
            "c1",
            "npm publish",
            "Exit code 1\nError: no token is configured",
            true,
        )
        .add_assistant_message(&format!(
            "The problem is that the registry needs the token {secret}."
        ))
        .add_tool_call("c2", "Edit", &edit)
        .add_tool_result("c2", "ok", false)
        .add_command("c3", "npm publish", "published", false)
        .add_assistant_message(&format!("Done: the token {secret} is configured."));
    transcript.write_file(&project);
    project.ok(&["import", "claude"]);
    assert!(!everything(&project).contains(&secret));
    let shown = project
        .ok(&["learn", "s1", "--dry-run", "--explain"])
        .stdout;
    assert!(!shown.contains(&secret), "{shown}");
    let session = project.ok(&["session", "show", "s1", "--json"]).stdout;
    assert!(!session.contains(&secret));
    let files = project.path().join(".heirloom");
    let stored = walk(&files);
    assert!(!stored.is_empty());
    for (path, bytes) in stored {
        let found = bytes
            .windows(secret.len())
            .any(|part| part == secret.as_bytes());
        assert!(!found, "{}", path.display());
    }
}

/// Returns all files below a folder.
fn walk(folder: &std::path::Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        match path.is_dir() {
            true => files.extend(walk(&path)),
            false => files.push((path.clone(), std::fs::read(&path).unwrap_or_default())),
        }
    }
    files
}

#[test]
fn codex_gemini_and_aider_teach_alike() {
    let project = Project::new();
    let folder = project.path().to_str().unwrap().to_owned();
    let line = |kind: &str, payload: Value| {
        format!(
            "{}\n",
            json!({"timestamp": "2026-04-01T10:00:00Z", "type": kind, "payload": payload})
        )
    };
    let shell = |call: &str, command: &str| {
        let arguments = json!({"command": ["bash", "-lc", command]}).to_string();
        line(
            "response_item",
            json!({"type": "function_call", "name": "shell", "call_id": call, "arguments": arguments}),
        )
    };
    let output = |call: &str, text: &str, code: i64| {
        let output = json!({"output": text, "metadata": {"exit_code": code}}).to_string();
        line(
            "response_item",
            json!({"type": "function_call_output", "call_id": call, "output": output}),
        )
    };
    let patch = "apply_patch <<'EOF'\n*** Begin Patch\n*** Update File: config.toml\n@@\n-port = 1\n+port = 1\n+session_secret = \"from-env\"\n*** End Patch\nEOF";
    let codex = [
        line(
            "session_meta",
            json!({"id": "codex-1", "timestamp": "2026-04-01T10:00:00Z", "cwd": folder}),
        ),
        line(
            "event_msg",
            json!({"type": "user_message", "message": RULE}),
        ),
        shell("1", "pnpm test"),
        output("1", "Error: session_secret is not configured", 1),
        shell("2", patch),
        output("2", "Success", 0),
        shell("3", "pnpm test"),
        output("3", "12 passed", 0),
    ]
    .concat();
    let path = "rollout-2026-04-01T10-00-00-codex-1.jsonl";
    project
        .home
        .write(&format!(".codex/sessions/2026/04/01/{path}"), codex)
        .unwrap();
    project.ok(&["import", "codex"]);
    assert_eq!(rules(&project).len(), 1);
    let found = errors(&project);
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(
        string(&found[0]["resolution"]).contains("session_secret"),
        "{found:?}"
    );
    assert_eq!(found[0]["source"], "codex");

    let aider = format!(
        "# aider chat started at 2026-04-02 10:00:00\n\n#### {RULE}\n\nI use pnpm.\n\n#### From now on, write tests first.\n\nI will.\n"
    );
    project
        .folder
        .write(".aider.chat.history.md", &aider)
        .unwrap();
    project.ok(&["import", "aider"]);
    // The rule that is known is confirmed and not stored again.
    assert_eq!(rules(&project).len(), 1, "{:?}", rules(&project));
    assert!(
        texts(&project, "knowledge")
            .iter()
            .any(|text| text.contains("tests first"))
    );

    let gemini = [
        json!({"sessionId": "gemini-1", "projectHash": "x", "startTime": "2026-04-03T10:00:00Z"}),
        json!({"id": "m1", "timestamp": "2026-04-03T10:00:00Z", "type": "user", "content": "Always run the formatter before you commit."}),
        json!({"id": "m2", "timestamp": "2026-04-03T10:00:01Z", "type": "gemini", "content": "I open one."}),
    ];
    let gemini: String = gemini.iter().map(|line| format!("{line}\n")).collect();
    let root = project.path().to_str().unwrap().to_owned();
    project
        .home
        .write(".gemini/tmp/n/.project_root", root)
        .unwrap();
    let file = ".gemini/tmp/n/chats/session-gemini-1.jsonl";
    project.home.write(file, gemini).unwrap();
    project.ok(&["import", "gemini"]);
    assert!(
        texts(&project, "knowledge")
            .iter()
            .any(|text| text.contains("formatter"))
    );
}
