//! Settings files of many forms: `uninstall` restores the bytes from before `install`.
#![expect(
    clippy::disallowed_methods,
    reason = "files as other programs write them, also odd ones"
)]

use crate::project::{Project, string};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

const JSON: [&str; 14] = [
    "",
    "\n",
    "{}",
    "{}\n",
    "{ }",
    "{\n}\n",
    "\u{feff}{}\n",
    "{\"hooks\": {}}\n",
    "{\"hooks\": {\"SessionStart\": []}}",
    "{\"hooks\": {\"SessionStart\": [], \"Other\": []}, \"z\": 1.50}",
    "{\n\t\"hooks\": {\n\t\t\"SessionEnd\": [\n\t\t]\n\t}\n}",
    "{\"hooks\":{\"SessionStart\":[{\"hooks\":[]}]}}",
    "{\r\n  \"a\": 1,\r\n  \"hooks\": {\r\n    \"SessionStart\": []\r\n  }\r\n}\r\n",
    "{\"hooks\": {\"SessionStart\": [{\"hooks\": [{\"type\": \"command\", \"command\": \"mine\"}]}]}}",
];
const JSONC: [&str; 7] = [
    "{\n  \"a\": 1,\n}\n",
    "{\"a\": 1,}",
    "{\"a\": [1, 2,], // one\n}",
    "// only a comment\n{\n  // nothing\n}\n",
    "{ /* one */ \"hooks\": { /* two */ }, /* three */ }",
    "{\"hooks\": {\"SessionStart\": [ /* none */ ], }, }",
    "{\"hooks\": {\"SessionStart\": [{\"hooks\": [{\"type\": \"command\", \"command\": \"mine\",},],},],},}",
];
const TOML: [&str; 5] = [
    "hooks.Stop = []\n",
    "[hooks]\nStop = [] # none yet\nSessionStart = []\n",
    "# mine\r\nmodel = \"x\"\r\n\r\n[hooks]\r\nSessionEnd = [ ]\r\n",
    "hooks.Stop = [{ hooks = [{ type = \"command\", command = \"mine\" }] }]",
    "[[hooks.Stop]]\n[[hooks.Stop.hooks]]\ntype = \"command\"\ncommand = \"mine\" # kept\n\n[profiles.a]\nmodel = \"y\"\n",
];

/// Returns the settings file of each agent program, with the contents to test.
fn settings_cases() -> Vec<(&'static str, &'static str, Vec<Option<&'static str>>)> {
    let some = |texts: &[&'static str]| texts.iter().map(|text| Some(*text)).collect::<Vec<_>>();
    let json = [some(&JSON), vec![None], some(&JSON[2..4]), vec![None]].concat();
    vec![
        ("claude-code", ".claude/settings.json", json.clone()),
        ("codex", ".codex/hooks.json", json.clone()),
        (
            "gemini",
            ".gemini/settings.json",
            [json, some(&JSONC)].concat(),
        ),
        ("codex", ".codex/config.toml", some(&TOML)),
    ]
}

fn write_or_remove(file: &Path, text: Option<&str>) {
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    match text {
        Some(text) => std::fs::write(file, text).unwrap(),
        None => drop(std::fs::remove_file(file)),
    }
}

fn content(file: &Path) -> Option<String> {
    std::fs::read_to_string(file).ok()
}

/// Returns the backups of a file.
fn backups(file: &Path) -> Vec<PathBuf> {
    let name = file.file_name().unwrap().to_str().unwrap();
    let entries = std::fs::read_dir(file.parent().unwrap()).unwrap();
    let paths = entries.map(|entry| entry.unwrap().path());
    let is_backup = |path: &PathBuf| {
        let file_name = path.file_name().unwrap().to_str().unwrap();
        file_name.starts_with(&format!("{name}.before-heirloom-"))
    };
    paths.filter(is_backup).collect()
}

#[test]
fn uninstall_after_installs_restores_every_byte() {
    let mut project = Project::new();
    // All within one second and in one folder: no backup replaces another.
    project.set_clock("2026-05-01T10:00:00Z");
    for (agent, name, originals) in settings_cases() {
        let file = project.home.path().join(name);
        for original in originals {
            let case = format!("{name} {original:?}");
            write_or_remove(&file, original);
            let before = backups(&file).len();
            let report = project.json(&["install", agent, "--yes"]);
            assert_eq!(report["outcome"], "installed", "{case}");
            assert_eq!(report["file"], file.to_str().unwrap(), "{case}");
            let with = content(&file);
            let again = project.json(&["install", agent, "--yes"]);
            assert_eq!(again["outcome"], "unchanged", "{case}");
            assert_eq!(content(&file), with, "{case}");
            let removed = project.json(&["uninstall", agent, "--yes"]);
            assert_eq!(removed["outcome"], "removed", "{case}");
            assert_eq!(content(&file).as_deref(), original, "{case}");
            if let Some(original) = original {
                let backup = content(Path::new(&string(&report["backup"])));
                assert_eq!(backup.as_deref(), Some(original), "{case}");
            }
            assert_eq!(
                content(Path::new(&string(&removed["backup"]))),
                with,
                "{case}"
            );
            let made = 1 + usize::from(original.is_some());
            assert_eq!(backups(&file).len(), before + made, "{case}");
            assert_eq!(
                project.json(&["uninstall", agent, "--yes"])["outcome"],
                "unchanged"
            );
            assert_eq!(content(&file).as_deref(), original, "{case}");
        }
        write_or_remove(&file, None);
    }
}

#[test]
fn uninstall_keeps_edits_made_after_install() {
    let mut project = Project::new();
    project.set_clock("2026-05-01T10:00:00Z");
    for (agent, name, originals) in settings_cases().into_iter().take(3) {
        let file = project.home.path().join(name);
        for original in originals {
            let case = format!("{name} {original:?}");
            let text = original.unwrap_or("{}").trim_start_matches('\u{feff}');
            let text = if text.trim().is_empty() { "{}" } else { text };
            // Texts with comments are tested below.
            let Ok(mut expected) = serde_json::from_str::<Value>(text) else {
                continue;
            };
            write_or_remove(&file, original);
            project.ok(&["install", agent, "--yes"]);
            let with = content(&file).unwrap();
            write_or_remove(
                &file,
                Some(&with.replacen('{', "{\"edited\": [1, 2.50],", 1)),
            );
            project.ok(&["uninstall", agent, "--yes"]);
            let remaining = content(&file).unwrap();
            expected["edited"] = json!([1, 2.50]);
            let remaining = remaining.trim_start_matches('\u{feff}');
            assert_eq!(
                serde_json::from_str::<Value>(remaining).unwrap(),
                expected,
                "{case}"
            );
            assert!(
                remaining.contains("{\"edited\": [1, 2.50],") || remaining.contains("2.50]"),
                "{case}"
            );
        }
        write_or_remove(&file, None);
    }
    let file = project.home.path().join(".gemini/settings.json");
    write_or_remove(&file, Some("{\n  // mine\n  \"a\": 1,\n}\n"));
    project.ok(&["install", "gemini", "--yes"]);
    let with = content(&file).unwrap();
    write_or_remove(&file, Some(&with.replace("\"a\": 1", "\"a\": 2")));
    project.ok(&["uninstall", "gemini", "--yes"]);
    assert_eq!(
        content(&file).as_deref(),
        Some("{\n  // mine\n  \"a\": 2,\n}\n")
    );
}

#[test]
fn uninstall_removes_hooks_from_both_files_of_codex() {
    let project = Project::new();
    let folder = project.home.path().join(".codex");
    project.ok(&["install", "codex", "--yes"]);
    let mine = "[[hooks.Stop]]\n[[hooks.Stop.hooks]]\ntype = \"command\"\ncommand = \"mine\"\n";
    write_or_remove(&folder.join("config.toml"), Some(mine));
    assert_eq!(
        project.json(&["uninstall", "codex", "--yes"])["outcome"],
        "removed"
    );
    assert_eq!(content(&folder.join("hooks.json")), None);
    assert_eq!(content(&folder.join("config.toml")).as_deref(), Some(mine));
}
