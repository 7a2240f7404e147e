//! `install` and `uninstall`: what is written, and that nothing else is.
#![expect(
    clippy::disallowed_methods,
    reason = "files as others lay them, also broken ones"
)]

use crate::project::{Project, string};
use heirloom_model::limits;
use serde_json::Value;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::PathBuf;

fn settings(project: &Project, agent: &str) -> PathBuf {
    let name = match agent {
        "claude-code" => ".claude/settings.json",
        "codex" => ".codex/hooks.json",
        _ => ".gemini/settings.json",
    };
    project.home.path().join(name)
}

fn put(path: &PathBuf, text: &str) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

fn commands(text: &str) -> Vec<String> {
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
fn an_installation_comes_once_and_goes_without_a_trace() {
    let project = Project::new();
    for agent in ["claude-code", "codex", "gemini"] {
        let file = settings(&project, agent);
        let mine = "{\n    \"mine\": [1, 2.50],\n    \"hooks\": {\n        \"SessionStart\": [{\"hooks\": [{\"type\": \"command\", \"command\": \"mine\"}]}]\n    }\n}\n";
        put(&file, mine);
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o644)).unwrap();
        let shown = project.ok(&["install", agent, "--dry-run"]);
        assert!(
            shown.stdout.contains(&format!("+ {}", " ".repeat(3))),
            "{}",
            shown.stdout
        );
        assert_eq!(std::fs::read_to_string(&file).unwrap(), mine);
        // Nobody is there to say yes.
        let answer = project.expect(&["install", agent], 4);
        assert!(
            answer.stdout.contains("+++ "),
            "the change is shown all the same"
        );
        assert_eq!(std::fs::read_to_string(&file).unwrap(), mine);
        let said = project.json(&["install", agent, "--yes"]);
        assert_eq!(said["outcome"], "installed");
        let backup = string(&said["backup"]);
        assert_eq!(std::fs::read_to_string(&backup).unwrap(), mine);
        let with = std::fs::read_to_string(&file).unwrap();
        let commands = commands(&with);
        assert!(commands.contains(&"mine".to_owned()));
        assert!(commands.contains(&format!("heirloom hook {agent} SessionStart")));
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
        let said = project.json(&["uninstall", agent, "--yes"]);
        assert_eq!(said["outcome"], "removed");
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
fn a_file_that_is_only_ours_comes_and_goes() {
    let project = Project::new();
    for agent in ["claude-code", "codex", "gemini"] {
        let file = settings(&project, agent);
        project.ok(&["install", agent, "--yes"]);
        assert!(!commands(&std::fs::read_to_string(&file).unwrap()).is_empty());
        project.ok(&["uninstall", agent, "--yes"]);
        assert!(!file.exists());
    }
    let said = project.ok(&["install", "codex", "--dry-run"]);
    assert!(said.stderr.contains("/hooks"), "{}", said.stderr);
}

#[test]
fn a_project_has_settings_of_its_own() {
    let project = Project::git();
    std::fs::create_dir(project.file("sub")).unwrap();
    let mut command = project.command(&["install", "claude-code", "--scope", "project", "--yes"]);
    let answer = crate::project::answer(command.current_dir(project.file("sub")));
    assert_eq!(answer.code, 0, "{answer:?}");
    assert!(project.file(".claude/settings.json").is_file());
    assert!(!settings(&project, "claude-code").exists());
    let status = project.json(&["status"]);
    assert_eq!(status["hooks"]["installed"][0]["scope"], "project");
}

#[test]
fn a_file_with_something_wrong_is_named_with_its_line_and_left_alone() {
    let project = Project::new();
    let long = format!(
        "{{\"x\": \"{}\"}}",
        "x".repeat(limits::HOST_SETTINGS_BYTES_MAX as usize)
    );
    for (agent, text, said) in [
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
        let file = settings(&project, agent);
        put(&file, text);
        for command in ["install", "uninstall"] {
            let answer = project.expect(&[command, agent, "--yes"], 4);
            assert!(answer.stderr.contains(said), "{}", answer.stderr);
            assert!(answer.stderr.contains("nothing was written"));
        }
        assert_eq!(std::fs::read_to_string(&file).unwrap(), text);
        assert_eq!(
            std::fs::read_dir(file.parent().unwrap()).unwrap().count(),
            1
        );
    }
    let fits = &long[..long.len() - 30];
    put(&settings(&project, "claude-code"), &format!("{fits}\"}}"));
    project.ok(&["install", "claude-code", "--yes"]);
    let file = settings(&project, "codex");
    std::fs::write(&file, b"{\n\"a\": \"\xff\"}").unwrap();
    let answer = project.expect(&["install", "codex", "--yes"], 4);
    assert!(answer.stderr.contains("line 2"), "{}", answer.stderr);
}

#[test]
fn comments_and_links_stay() {
    let project = Project::new();
    let real = project.home.path().join("dotfiles.json");
    let mine = "// mine\n{\n  \"a\": 1 // one\n}\n";
    std::fs::write(&real, mine).unwrap();
    let file = settings(&project, "gemini");
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
    let file = settings(&project, "codex");
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    symlink("/nowhere/at/all", &file).unwrap();
    project.expect(&["install", "codex", "--yes"], 4);
}

#[test]
fn codex_hooks_in_its_config_stay_there() {
    let project = Project::new();
    let config = project.home.path().join(".codex/config.toml");
    let mine = "# mine\nmodel = \"x\"\n\n[[hooks.Stop]]\n[[hooks.Stop.hooks]]\ntype = \"command\"\ncommand = \"mine\"\n";
    put(&config, mine);
    project.ok(&["install", "codex", "--yes"]);
    assert!(!settings(&project, "codex").exists());
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
    assert!(settings(&project, "codex").is_file());
    assert_eq!(std::fs::read_to_string(&config).unwrap(), "model = \"x\"\n");
}

#[test]
fn where_nothing_can_be_written_it_says_so() {
    let project = Project::new();
    // A file in the place of the folder: also for who may write everywhere.
    std::fs::write(project.home.path().join(".claude"), "in the way").unwrap();
    let answer = project.expect(&["install", "claude-code", "--yes"], 1);
    assert!(answer.stderr.contains(".claude"), "{}", answer.stderr);
    let home = project.home.path();
    std::fs::set_permissions(home, std::fs::Permissions::from_mode(0o500)).unwrap();
    let answer = project.run(&["install", "codex", "--yes"]);
    std::fs::set_permissions(home, std::fs::Permissions::from_mode(0o700)).unwrap();
    // Whoever may do everything writes there all the same.
    let is_written = settings(&project, "codex").is_file();
    assert_eq!(answer.code == 0, is_written, "{answer:?}");
    assert!(is_written || answer.stderr.contains("hint"), "{answer:?}");
    let mut command = project.command(&["install", "gemini", "--yes"]);
    let answer = crate::project::answer(command.env_remove("HOME"));
    assert_eq!(answer.code, 1, "{answer:?}");
    project.expect(&["install", "cursor"], 2);
}
