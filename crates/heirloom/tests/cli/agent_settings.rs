//! Installation in programs with several files: hooks, MCP server and instructions. What is written matches the schemas
//! in `tests/fixtures/agent_settings`, which name their sources; other content stays byte for byte.
#![expect(
    clippy::disallowed_methods,
    reason = "files as other programs write them, also broken ones"
)]

use crate::hooks::{call, call_raw, hook_log};
use crate::project::{Project, string};
use heirloom_testkit::SchemaSet;
use serde_json::{Value, json};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

static SCHEMAS: LazyLock<SchemaSet> = LazyLock::new(|| {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/agent_settings");
    SchemaSet::read(&folder).unwrap()
});

/// Files of an installation: program, scope, part, file below the home folder or the project, schema.
const FILES: &[(&str, &str, &str, &str, Option<&str>)] = &[
    (
        "copilot",
        "user",
        "hooks",
        ".copilot/hooks/heirloom.json",
        Some("copilot-hooks.json"),
    ),
    (
        "copilot",
        "user",
        "mcp",
        ".copilot/mcp-config.json",
        Some("copilot-mcp.json"),
    ),
    (
        "copilot",
        "project",
        "hooks",
        ".github/hooks/heirloom.json",
        Some("copilot-hooks.json"),
    ),
    (
        "copilot",
        "project",
        "mcp",
        ".github/mcp.json",
        Some("copilot-mcp.json"),
    ),
    (
        "vscode",
        "user",
        "hooks",
        ".copilot/hooks/heirloom.json",
        Some("vscode-hooks.json"),
    ),
    (
        "vscode",
        "user",
        "mcp",
        VSCODE_USER,
        Some("vscode-mcp.json"),
    ),
    (
        "vscode",
        "project",
        "hooks",
        ".github/hooks/heirloom.json",
        Some("vscode-hooks.json"),
    ),
    (
        "vscode",
        "project",
        "mcp",
        ".vscode/mcp.json",
        Some("vscode-mcp.json"),
    ),
    (
        "vscode",
        "project",
        "instructions",
        ".github/instructions/heirloom.instructions.md",
        None,
    ),
    (
        "cursor",
        "user",
        "hooks",
        ".cursor/hooks.json",
        Some("cursor-hooks.json"),
    ),
    (
        "cursor",
        "user",
        "mcp",
        ".cursor/mcp.json",
        Some("cursor-mcp.json"),
    ),
    (
        "cursor",
        "project",
        "hooks",
        ".cursor/hooks.json",
        Some("cursor-hooks.json"),
    ),
    (
        "cursor",
        "project",
        "mcp",
        ".cursor/mcp.json",
        Some("cursor-mcp.json"),
    ),
    (
        "cursor",
        "project",
        "instructions",
        ".cursor/rules/heirloom.mdc",
        None,
    ),
    (
        "windsurf",
        "user",
        "hooks",
        ".codeium/windsurf/hooks.json",
        Some("windsurf-hooks.json"),
    ),
    (
        "windsurf",
        "user",
        "mcp",
        ".codeium/windsurf/mcp_config.json",
        Some("windsurf-mcp.json"),
    ),
    (
        "windsurf",
        "project",
        "hooks",
        ".windsurf/hooks.json",
        Some("windsurf-hooks.json"),
    ),
    (
        "windsurf",
        "project",
        "instructions",
        ".windsurf/rules/heirloom.md",
        None,
    ),
    (
        "opencode",
        "user",
        "mcp",
        ".config/opencode/opencode.json",
        Some("opencode-mcp.json"),
    ),
    (
        "opencode",
        "project",
        "mcp",
        "opencode.json",
        Some("opencode-mcp.json"),
    ),
];

const VSCODE_USER: &str = if cfg!(target_os = "macos") {
    "Library/Application Support/Code/User/mcp.json"
} else {
    ".config/Code/User/mcp.json"
};

fn path_of(project: &Project, scope: &str, file: &str) -> PathBuf {
    match scope {
        "user" => project.home.path().join(file),
        _ => project.file(file),
    }
}

fn write_file(path: &Path, text: &str) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

fn read_file(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{path:?}: {error}"))
}

/// Returns the programs and scopes of the table.
fn targets() -> Vec<(&'static str, &'static str)> {
    let mut all: Vec<_> = FILES.iter().map(|row| (row.0, row.1)).collect();
    all.dedup();
    all
}

#[test]
fn installed_files_match_the_documented_schemas() {
    for (agent, scope) in targets() {
        let project = Project::new();
        let install = ["install", agent, "--scope", scope, "--yes"];
        let report = project.json(&install);
        assert_eq!(report["outcome"], "installed", "{agent} {scope}");
        let rows = FILES.iter().filter(|row| (row.0, row.1) == (agent, scope));
        for (_, _, part, file, schema) in rows {
            let path = path_of(&project, scope, file);
            let text = read_file(&path);
            let files = report["files"].as_array().unwrap();
            let listed = files.iter().find(|one| one["part"] == *part).unwrap();
            assert!(string(&listed["file"]).ends_with(file), "{listed}");
            if let Some(schema) = schema {
                let value: Value = serde_json::from_str(&text).unwrap();
                let found = SCHEMAS.violations(schema, &value);
                assert_eq!(found, Vec::<String>::new(), "{file}");
            } else {
                assert!(
                    text.starts_with("---\n") && text.contains("`recall`"),
                    "{text}"
                );
            }
        }
        let again = project.json(&install);
        assert_eq!(again["outcome"], "unchanged", "{agent} {scope}");
        let output = project.json(&["uninstall", agent, "--scope", scope, "--yes"]);
        assert_eq!(output["outcome"], "removed");
        for (_, _, _, file, _) in FILES.iter().filter(|row| (row.0, row.1) == (agent, scope)) {
            assert!(!path_of(&project, scope, file).exists(), "{file}");
        }
    }
}

/// Returns a file of other people for a part, with comments if the program accepts them.
fn foreign_text(agent: &str, part: &str) -> &'static str {
    match (agent, part) {
        (_, "instructions") => "",
        ("vscode", "mcp") => {
            "// mine\n{\n\t\"servers\": {\n\t\t\"other\": {\"type\": \"stdio\", \"command\": \"x\"}, // one\n\t},\n\t\"inputs\": [],\n}\n"
        }
        ("opencode", "mcp") => "{\"theme\": \"x\", /* two */ \"mcp\": {}}",
        (_, "mcp") => {
            "{\r\n  \"mcpServers\": {\r\n    \"other\": {\"command\": \"x\", \"n\": 1.50}\r\n  }\r\n}\r\n"
        }
        ("copilot" | "vscode", _) => {
            "{\"version\":1,\"hooks\":{\"Stop\":[{\"type\":\"command\",\"command\":\"mine\"}]}}"
        }
        _ => {
            "{\n    \"version\": 1,\n    \"hooks\": {\n        \"stop\": [{\"command\": \"mine\"}],\n        \"sessionStart\": []\n    }\n}"
        }
    }
}

#[test]
fn uninstall_restores_files_with_other_content_byte_for_byte() {
    for (agent, scope) in targets() {
        let project = Project::new();
        let rows: Vec<_> = FILES
            .iter()
            .filter(|row| (row.0, row.1) == (agent, scope))
            .collect();
        let mine: Vec<_> = (rows.iter())
            .map(|row| (path_of(&project, scope, row.3), foreign_text(agent, row.2)))
            .filter(|(_, text)| !text.is_empty())
            .collect();
        for (path, text) in &mine {
            write_file(path, text);
        }
        let dry = project.json(&["install", agent, "--scope", scope, "--dry-run"]);
        assert_eq!(dry["outcome"], "dry-run");
        for (path, text) in &mine {
            assert_eq!(&read_file(path), text);
        }
        let report = project.json(&["install", agent, "--scope", scope, "--yes"]);
        for (path, text) in &mine {
            let with = read_file(path);
            assert!(with != *text && with.contains("heirloom"), "{with}");
            for part in ["mine", "\"other\"", "1.50", "// one", "/* two */"] {
                assert_eq!(with.contains(part), text.contains(part), "{part}: {with}");
            }
            let files = report["files"].as_array().unwrap();
            let is_it = |one: &&Value| Path::new(&string(&one["file"])) == path.as_path();
            let backup = string(&files.iter().find(is_it).unwrap()["backup"]);
            assert_eq!(&read_file(Path::new(&backup)), text);
        }
        project.ok(&["uninstall", agent, "--scope", scope, "--yes"]);
        for (path, text) in &mine {
            assert_eq!(&read_file(path), text, "{agent} {scope}");
        }
        // Without a backup, only our entries are removed.
        project.ok(&["install", agent, "--scope", scope, "--yes"]);
        for (path, text) in &mine {
            let folder = path.parent().unwrap();
            for entry in std::fs::read_dir(folder).unwrap().flatten() {
                if entry
                    .file_name()
                    .to_string_lossy()
                    .contains(".before-heirloom-")
                {
                    std::fs::remove_file(entry.path()).unwrap();
                }
            }
            let with = read_file(path);
            write_file(path, &with.replace("\"mine\"", "\"mine2\""));
            assert!(with.len() > text.len());
        }
        project.ok(&["uninstall", agent, "--scope", scope, "--yes"]);
        for (path, _) in &mine {
            let left = read_file(path);
            assert!(!left.contains("heirloom"), "{left}");
            assert!(left.contains("mine2") || left.contains("other") || left.contains("theme"));
        }
    }
}

#[test]
fn server_of_a_person_is_kept_and_not_doubled() {
    let project = Project::new();
    let file = path_of(&project, "user", ".cursor/mcp.json");
    for own in [
        r#"{"mcpServers": {"memory": {"command": "/opt/bin/heirloom", "args": ["mcp"]}}}"#,
        r#"{"mcpServers": {"heirloom": {"command": "heirloom", "args": ["mcp", "--project", "x"]}}}"#,
    ] {
        write_file(&file, own);
        project.ok(&["install", "cursor", "--yes"]);
        assert_eq!(read_file(&file), own);
        project.ok(&["uninstall", "cursor", "--yes"]);
        assert_eq!(read_file(&file), own);
    }
    let other = r#"{"mcpServers": {"heirloom": {"command": "another"}}}"#;
    write_file(&file, other);
    let answer = project.expect(&["install", "cursor", "--yes"], 4);
    assert!(
        answer.stderr.contains("line 1: another server"),
        "{}",
        answer.stderr
    );
    assert_eq!(read_file(&file), other);
    // No file was written, also not those before it.
    assert!(!path_of(&project, "user", ".cursor/hooks.json").exists());
    for (text, message) in [
        ("{\"mcpServers\": []}", "`mcpServers` is not an object"),
        ("{\n// mine\n}", "line 2: a comment"),
        ("[]", "not an object"),
    ] {
        write_file(&file, text);
        let answer = project.expect(&["install", "cursor", "--yes"], 4);
        assert!(answer.stderr.contains(message), "{}", answer.stderr);
    }
}

#[test]
fn symbolic_links_to_settings_stay_links() {
    let project = Project::new();
    for (agent, _, part, file, _) in FILES.iter().filter(|row| row.1 == "user") {
        let text = foreign_text(agent, part);
        let real = project
            .home
            .path()
            .join(format!("dotfiles-{agent}-{part}.json"));
        let path = path_of(&project, "user", file);
        if path.exists() {
            continue;
        }
        write_file(&real, text);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        symlink(&real, &path).unwrap();
        project.ok(&["install", agent, "--yes"]);
        assert!(
            path.is_symlink() && read_file(&real).contains("heirloom"),
            "{file}"
        );
        project.ok(&["uninstall", agent, "--yes"]);
        assert!(path.is_symlink(), "{file}");
        assert_eq!(read_file(&real), text, "{file}");
        std::fs::remove_file(&path).unwrap();
    }
}

#[test]
fn opencode_server_goes_to_the_commented_file_if_only_it_exists() {
    let project = Project::new();
    let file = project.file("opencode.jsonc");
    let mine = "{\n  // mine\n  \"model\": \"x\",\n}\n";
    write_file(&file, mine);
    project.ok(&["install", "opencode", "--scope", "project", "--yes"]);
    assert!(read_file(&file).contains("\"heirloom\""));
    assert!(!project.file("opencode.json").exists());
    project.ok(&["uninstall", "opencode", "--scope", "project", "--yes"]);
    assert_eq!(read_file(&file), mine);
}

#[test]
fn hooks_that_two_programs_share_are_removed_with_the_second() {
    for (first, second) in [("copilot", "vscode"), ("vscode", "copilot")] {
        let project = Project::new();
        let hooks = path_of(&project, "user", ".copilot/hooks/heirloom.json");
        project.ok(&["install", first, "--yes"]);
        let text = read_file(&hooks);
        project.ok(&["install", second, "--yes"]);
        assert_eq!(read_file(&hooks), text);
        let output = project.ok(&["uninstall", first, "--yes"]);
        let message = format!("{second} reads them too");
        assert!(output.stdout.contains(&message), "{}", output.stdout);
        assert_eq!(read_file(&hooks), text);
        let status = project.json(&["status"]);
        assert_eq!(status["hooks"]["installed"][0]["agent"], second);
        project.ok(&["uninstall", second, "--yes"]);
        assert!(!hooks.exists());
    }
}

const FACT: &str = "the login module checks session tokens in src/auth.rs";

/// Returns the text that an answer injects.
fn context_of<'a>(agent: &str, answer: &'a Value) -> &'a str {
    let field = match agent {
        "cursor" => &answer["additional_context"],
        _ => &answer["hookSpecificOutput"]["additionalContext"],
    };
    field.as_str().unwrap_or_default()
}

#[test]
fn answers_at_session_start_match_the_documented_schemas() {
    for (agent, event, input, schema) in [
        (
            "copilot",
            "SessionStart",
            json!({"hook_event_name": "SessionStart", "source": "new"}),
            "vscode-answer.json",
        ),
        (
            "copilot",
            "SessionStart",
            json!({"hookEventName": "SessionStart", "sessionId": "v", "source": "new"}),
            "vscode-answer.json",
        ),
        (
            "cursor",
            "sessionStart",
            json!({"conversation_id": "s", "composer_mode": "agent"}),
            "cursor-answer.json",
        ),
    ] {
        let project = Project::new();
        project.ok(&["remember", FACT, "--category", "convention"]);
        let answer = call(&project, agent, event, "s", input);
        assert!(context_of(agent, &answer).contains(FACT), "{answer}");
        assert_eq!(SCHEMAS.violations(schema, &answer), Vec::<String>::new());
        assert_eq!(hook_log(&project), "");
    }
}

#[test]
fn prompts_are_not_answered_where_no_program_reads_the_answer() {
    let prompt = "where does the login module check session tokens?";
    for (agent, event, input) in [
        (
            "cursor",
            "beforeSubmitPrompt",
            json!({"conversation_id": "s", "prompt": prompt}),
        ),
        (
            "copilot",
            "UserPromptSubmit",
            json!({"hookEventName": "UserPromptSubmit", "prompt": prompt}),
        ),
        (
            "windsurf",
            "pre_user_prompt",
            json!({"trajectory_id": "s", "tool_info": {"user_prompt": prompt}}),
        ),
    ] {
        let project = Project::new();
        project.ok(&["remember", FACT]);
        assert_eq!(
            call(&project, agent, event, "s", input),
            Value::Null,
            "{agent}"
        );
    }
    let project = Project::new();
    project.ok(&["remember", FACT]);
    let input = json!({"hook_event_name": "UserPromptSubmit", "prompt": prompt});
    let answer = call(&project, "copilot", "UserPromptSubmit", "s", input);
    assert!(context_of("copilot", &answer).contains(FACT), "{answer}");
}

#[test]
fn failures_messages_and_ends_of_sessions_are_recorded() {
    let command = "cargo test login";
    for (agent, failed, failure, message) in [
        (
            "cursor",
            "postToolUseFailure",
            json!({"tool_name": "Shell", "tool_input": {"command": command}, "error_message": "error: login broke", "failure_type": "error"}),
            Some((
                "afterAgentResponse",
                json!({"text": "HEIRLOOM_MEMORY: KEY_FACT the parser is lazy"}),
            )),
        ),
        (
            "cursor",
            "postToolUse",
            json!({"tool_name": "Shell", "tool_input": {"command": command}, "tool_output": "{\"exitCode\":101,\"stdout\":\"error: login broke\"}"}),
            None,
        ),
        (
            "copilot",
            "PostToolUse",
            json!({"tool_name": "Bash", "tool_input": {"command": command}, "tool_result": {"result_type": "success", "text_result_for_llm": "error: login broke\n<shellId: 0 completed with exit code 101>"}}),
            None,
        ),
        (
            "windsurf",
            "post_write_code",
            json!({"tool_info": {"file_path": "src/a.rs", "edits": []}}),
            Some((
                "post_cascade_response",
                json!({"tool_info": {"response": "HEIRLOOM_MEMORY: KEY_FACT the parser is lazy"}}),
            )),
        ),
    ] {
        let project = Project::new();
        call(&project, agent, failed, "s", failure);
        let errors = project.list("error");
        assert_eq!(
            errors.len(),
            usize::from(agent != "windsurf"),
            "{agent} {failed}: {errors:?}"
        );
        if let Some((event, input)) = message {
            assert_eq!(call(&project, agent, event, "s", input), Value::Null);
            let facts = project.list("knowledge");
            assert!(
                facts
                    .iter()
                    .any(|fact| fact["text"] == "the parser is lazy"),
                "{facts:?}"
            );
        }
        assert_eq!(hook_log(&project), "");
    }
    let project = Project::new();
    let start = json!({"conversation_id": "s"});
    call(&project, "cursor", "sessionStart", "s", start.clone());
    call(
        &project,
        "cursor",
        "sessionEnd",
        "s",
        json!({"reason": "completed"}),
    );
    let session = project.json(&["session", "show", "s"]);
    assert!(session["ended_at"].is_string(), "{session}");
}

#[test]
fn transcript_of_vscode_is_no_failure() {
    let project = Project::new();
    let transcript = project.file("transcript.json");
    write_file(&transcript, "{\"requests\": [{\"message\": \"x\"}]}\n");
    for event in ["Stop", "PreCompact"] {
        let input = json!({"hookEventName": event, "sessionId": "s", "cwd": project.path(), "transcript_path": transcript});
        call_raw(&project, "copilot", event, input.to_string().as_bytes());
    }
    assert_eq!(hook_log(&project), "");
}

#[test]
fn event_of_a_program_that_reads_settings_of_claude_code_is_answered_once() {
    for (agent, event) in [
        ("copilot", json!({"timestamp": "2026-11-27T10:00:00Z"})),
        ("cursor", json!({"conversation_id": "s"})),
    ] {
        let project = Project::new();
        project.ok(&["remember", FACT, "--category", "convention"]);
        let ask = |session: &str| {
            let answer = call(
                &project,
                "claude-code",
                "SessionStart",
                session,
                event.clone(),
            );
            context_of("claude-code", &answer).contains(FACT)
        };
        assert!(ask("first"), "{agent}");
        project.ok(&["install", agent, "--yes"]);
        assert!(!ask("second"), "{agent}");
        project.ok(&["uninstall", agent, "--yes"]);
        assert!(ask("third"), "{agent}");
    }
}
