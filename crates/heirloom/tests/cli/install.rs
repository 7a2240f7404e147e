//! The commands `install` and `uninstall`: which settings they change, and that nothing else changes.
#![expect(
    clippy::disallowed_methods,
    reason = "files as other programs write them, also broken ones"
)]

use crate::project::{Project, string};
use heirloom_model::limits;
use heirloom_testkit::sh;
use serde_json::Value;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::PathBuf;

fn settings_file(project: &Project, agent: &str) -> PathBuf {
    let name = match agent {
        "claude-code" => ".claude/settings.json",
        "codex" => ".codex/hooks.json",
        _ => ".gemini/settings.json",
    };
    project.home.path().join(name)
}

fn write_file(path: &PathBuf, text: &str) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

fn hook_commands(text: &str) -> Vec<String> {
    let value: Value = serde_json::from_str(text).unwrap();
    let mut all = Vec::new();
    for groups in value["hooks"].as_object().into_iter().flatten() {
        for group in groups.1.as_array().unwrap() {
            for hook in group["hooks"].as_array().unwrap() {
                all.push(string(&hook["command"]));
            }
        }
    }
    all
}

#[test]
fn install_is_idempotent_and_uninstall_restores_the_file() {
    let project = Project::new();
    for agent in ["claude-code", "codex", "gemini"] {
        let file = settings_file(&project, agent);
        let mine = "{\n    \"mine\": [1, 2.50],\n    \"hooks\": {\n        \"SessionStart\": [{\"hooks\": [{\"type\": \"command\", \"command\": \"mine\"}]}]\n    }\n}\n";
        write_file(&file, mine);
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o644)).unwrap();
        let shown = project.ok(&["install", agent, "--dry-run"]);
        assert!(
            shown.stdout.contains(&format!("+ {}", " ".repeat(3))),
            "{}",
            shown.stdout
        );
        assert_eq!(std::fs::read_to_string(&file).unwrap(), mine);
        // There is no terminal for a confirmation.
        let answer = project.expect(&["install", agent], 4);
        assert!(
            answer.stdout.contains("+++ "),
            "the change is shown all the same"
        );
        assert_eq!(std::fs::read_to_string(&file).unwrap(), mine);
        let output = project.json(&["install", agent, "--yes"]);
        assert_eq!(output["outcome"], "installed");
        let backup = string(&output["backup"]);
        assert_eq!(std::fs::read_to_string(&backup).unwrap(), mine);
        let with = std::fs::read_to_string(&file).unwrap();
        let hook_commands = hook_commands(&with);
        assert!(hook_commands.contains(&"mine".to_owned()));
        let ours = format!("heirloom hook {agent} SessionStart");
        assert!(hook_commands.iter().any(|command| command.contains(&ours)));
        assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o644);
        let again = project.json(&["install", agent, "--yes"]);
        assert_eq!(
            (&again["outcome"], &again["backup"]),
            (&"unchanged".into(), &Value::Null)
        );
        assert_eq!(std::fs::read_to_string(&file).unwrap(), with);
        let status = project.json(&["status"]);
        assert_eq!(status["hooks"]["installed"][0]["agent"], agent);
        assert_eq!(status["hooks"]["installed"][0]["whole"], true);
        let output = project.json(&["uninstall", agent, "--yes"]);
        assert_eq!(output["outcome"], "removed");
        assert_eq!(std::fs::read_to_string(&file).unwrap(), mine);
        assert_eq!(
            project.json(&["uninstall", agent, "--yes"])["outcome"],
            "unchanged"
        );
        assert_eq!(
            project.json(&["status"])["hooks"]["installed"],
            serde_json::json!([])
        );
    }
}

#[test]
fn uninstall_deletes_a_settings_file_that_install_created() {
    let project = Project::new();
    for agent in ["claude-code", "codex", "gemini"] {
        let file = settings_file(&project, agent);
        project.ok(&["install", agent, "--yes"]);
        assert!(!hook_commands(&std::fs::read_to_string(&file).unwrap()).is_empty());
        project.ok(&["uninstall", agent, "--yes"]);
        assert!(!file.exists());
    }
    let output = project.ok(&["install", "codex", "--dry-run"]);
    assert!(output.stderr.contains("/hooks"), "{}", output.stderr);
}

#[test]
fn install_with_project_scope_writes_the_project_settings() {
    let project = Project::git();
    std::fs::create_dir(project.file("sub")).unwrap();
    let mut command = project.command(&sh("install claude-code --scope project --yes"));
    let answer = crate::project::answer(command.current_dir(project.file("sub")));
    assert_eq!(answer.code, 0, "{answer:?}");
    assert!(project.file(".claude/settings.json").is_file());
    assert!(!settings_file(&project, "claude-code").exists());
    let status = project.json(&["status"]);
    assert_eq!(status["hooks"]["installed"][0]["scope"], "project");
}

#[test]
fn invalid_settings_file_is_reported_with_its_line_and_unchanged() {
    let project = Project::new();
    let long = format!(
        "{{\"x\": \"{}\"}}",
        "x".repeat(limits::HOST_SETTINGS_BYTES_MAX as usize)
    );
    for (agent, text, message) in [
        ("claude-code", "{\n  \"a\": 1,\n}\n", "line 3"),
        (
            "claude-code",
            "{\n  // mine\n  \"a\": 1\n}\n",
            "line 2: a comment",
        ),
        ("codex", "{\n\"a\" 1}", "line 2"),
        ("gemini", "[]", "line 1"),
        ("gemini", "{\"hooks\":\n3}", "line 2"),
        ("claude-code", &long, "bytes"),
    ] {
        let file = settings_file(&project, agent);
        write_file(&file, text);
        for command in ["install", "uninstall"] {
            let answer = project.expect(&[command, agent, "--yes"], 4);
            assert!(answer.stderr.contains(message), "{}", answer.stderr);
            assert!(answer.stderr.contains("nothing was written"));
        }
        assert_eq!(std::fs::read_to_string(&file).unwrap(), text);
        assert_eq!(
            std::fs::read_dir(file.parent().unwrap()).unwrap().count(),
            1
        );
    }
    let fits = &long[..long.len() - 30];
    write_file(
        &settings_file(&project, "claude-code"),
        &format!("{fits}\"}}"),
    );
    project.ok(&["install", "claude-code", "--yes"]);
    let file = settings_file(&project, "codex");
    std::fs::write(&file, b"{\n\"a\": \"\xff\"}").unwrap();
    let answer = project.expect(&["install", "codex", "--yes"], 4);
    assert!(answer.stderr.contains("line 2"), "{}", answer.stderr);
}

#[test]
fn install_keeps_comments_and_symbolic_links() {
    let project = Project::new();
    let real = project.home.path().join("dotfiles.json");
    let mine = "// mine\n{\n  \"a\": 1 // one\n}\n";
    std::fs::write(&real, mine).unwrap();
    let file = settings_file(&project, "gemini");
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    symlink(&real, &file).unwrap();
    project.ok(&["install", "gemini", "--yes"]);
    assert!(file.is_symlink());
    let text = std::fs::read_to_string(&real).unwrap();
    assert!(
        text.starts_with("// mine\n{\n  \"a\": 1, // one\n  \"hooks\": {"),
        "{text}"
    );
    project.ok(&["uninstall", "gemini", "--yes"]);
    assert_eq!(std::fs::read_to_string(&real).unwrap(), mine);
    let file = settings_file(&project, "codex");
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    symlink("/nowhere/at/all", &file).unwrap();
    project.expect(&["install", "codex", "--yes"], 4);
}

#[test]
fn codex_hooks_go_to_config_toml_if_it_already_has_hooks() {
    let project = Project::new();
    let config = project.home.path().join(".codex/config.toml");
    let mine = "# mine\nmodel = \"x\"\n\n[[hooks.Stop]]\n[[hooks.Stop.hooks]]\ntype = \"command\"\ncommand = \"mine\"\n";
    write_file(&config, mine);
    project.ok(&["install", "codex", "--yes"]);
    assert!(!settings_file(&project, "codex").exists());
    let with = std::fs::read_to_string(&config).unwrap();
    assert!(with.starts_with("# mine\n") && with.contains("heirloom hook codex SessionStart"));
    assert_eq!(
        project.json(&["install", "codex", "--yes"])["outcome"],
        "unchanged"
    );
    project.ok(&["uninstall", "codex", "--yes"]);
    assert_eq!(std::fs::read_to_string(&config).unwrap(), mine);
    std::fs::write(&config, "model = \"x\"\n").unwrap();
    project.ok(&["install", "codex", "--yes"]);
    assert!(settings_file(&project, "codex").is_file());
    assert_eq!(std::fs::read_to_string(&config).unwrap(), "model = \"x\"\n");
}

#[test]
fn install_without_write_permission_fails_with_a_message() {
    let project = Project::new();
    // A file in place of the folder: it stops root too.
    std::fs::write(project.home.path().join(".claude"), "in the way").unwrap();
    let answer = project.expect(&["install", "claude-code", "--yes"], 1);
    assert!(answer.stderr.contains(".claude"), "{}", answer.stderr);
    let home = project.home.path();
    std::fs::set_permissions(home, std::fs::Permissions::from_mode(0o500)).unwrap();
    let answer = project.run(&["install", "codex", "--yes"]);
    std::fs::set_permissions(home, std::fs::Permissions::from_mode(0o700)).unwrap();
    // Root can write in spite of the mode.
    let is_written = settings_file(&project, "codex").is_file();
    assert_eq!(answer.code == 0, is_written, "{answer:?}");
    assert!(is_written || answer.stderr.contains("hint"), "{answer:?}");
    let mut command = project.command(&["install", "gemini", "--yes"]);
    let answer = crate::project::answer(command.env_remove("HOME"));
    assert_eq!(answer.code, 1, "{answer:?}");
    project.expect(&["install", "zed"], 2);
}

#[test]
fn install_opencode_writes_a_plugin_and_uninstall_removes_it() {
    let project = Project::new();
    let user = project
        .home
        .path()
        .join(".config/opencode/plugins/heirloom.js");
    let shared = project.path().join(".opencode/plugins/heirloom.js");
    for (file, scope) in [(&user, "user"), (&shared, "project")] {
        let install = ["install", "opencode", "--scope", scope];
        let command = |last: &'static str| [install.as_slice(), &[last]].concat();
        project.ok(&command("--dry-run"));
        assert!(!file.exists());
        project.ok(&command("--yes"));
        let plugin = std::fs::read_to_string(file).unwrap();
        assert!(plugin.contains("heirloom hook opencode"), "{plugin}");
        let again = project.ok(&command("--yes"));
        assert!(again.stdout.contains("already"), "{}", again.stdout);
        // An older version is replaced, another plugin of this name is not.
        write_file(
            file,
            "// Heirloom plugin for opencode, older\nexport const A = 1;\n",
        );
        project.ok(&command("--yes"));
        assert_eq!(std::fs::read_to_string(file).unwrap(), plugin);
        project.ok(&["uninstall", "opencode", "--scope", scope, "--yes"]);
        assert!(!file.exists());
        write_file(file, "export const Mine = async () => ({});\n");
        project.expect(&command("--yes"), 4);
        project.ok(&["uninstall", "opencode", "--scope", scope, "--yes"]);
        assert!(file.exists());
    }
}

#[test]
fn uninstall_opencode_removes_copies_of_killed_sessions_only() {
    let project = Project::new();
    let folder = project.home.path().join(".local/share/opencode/heirloom");
    let own = folder.join("ses_mine.json");
    let left = ["session-end-1", "session-end-2"].map(|name| folder.join(name));
    let count = left.len();
    for folder in &left {
        write_file(&folder.join("ses_1.json"), "{}");
    }
    write_file(&own, "{}");
    symlink(&folder, folder.join("session-end-link")).unwrap();
    project.ok(&["install", "opencode", "--yes"]);
    let uninstall = |last: &'static str| project.json(&["uninstall", "opencode", last]);
    for (last, outcome) in [("--dry-run", "would be"), ("--yes", "were")] {
        let note =
            format!("temporary copies of conversations in {count} folders {outcome} removed");
        assert_eq!(uninstall(last)["notes"], serde_json::json!([note]));
        for folder in &left {
            assert_eq!(folder.exists(), last == "--dry-run");
        }
    }
    assert!(own.is_file(), "a file of the person was removed");
    assert_eq!(uninstall("--yes")["notes"], serde_json::json!([]));
}
