//! The commands of the guide, run one after the other in one project.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
#![expect(
    clippy::disallowed_methods,
    reason = "a project is laid out by hand; a child needs our PATH"
)]

use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use tempfile::TempDir;

/// Prefixes of commands that are not run: they do not end, or need a program that may be missing.
const SKIPPED_PREFIXES: [&str; 10] = [
    "heirloom run --task 42 --type",
    "heirloom run --task 42 -- codex",
    "heirloom run --task 42 -- aider",
    "heirloom run --task 42 -- gemini",
    "heirloom run --task 42 -- opencode",
    "heirloom serve",
    "heirloom ui",
    "heirloom watch",
    "heirloom reembed",
    "heirloom man run | man",
];

/// Commands that ask for confirmation, which get `--yes`.
const CONFIRMED_PREFIXES: [&str; 4] = [
    "heirloom install",
    "heirloom purge",
    "heirloom cmd trust",
    "heirloom init --import",
];

/// Commands that may exit with another code: no such program's data exists here, or findings are reported.
const OTHER_CODES: [(&str, i32); 6] = [
    ("heirloom import codex", 3),
    ("heirloom import gemini", 3),
    ("heirloom import aider", 3),
    ("heirloom import claude", 3),
    ("heirloom import agentium", 3),
    ("heirloom purge --session", 3),
];

/// Example id in the guide.
const ID: &str = "099a8057";

struct GuideProject {
    folder: TempDir,
    record_count: usize,
}

impl GuideProject {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let project = Self {
            folder,
            record_count: 0,
        };
        let root = project.root();
        for (path, text) in [
            (
                "docs/review.md",
                "# How we review\n\n- look at the tests first\n",
            ),
            ("docs/shared/db.md", "# Database\n\n- port: 5432\n"),
            ("src/lib.rs", &"//! A crate.\n".repeat(60)),
            ("auth/handler_test.go", "package auth\n"),
            ("AGENTS.md", "- use four spaces\n- run the tests\n"),
            (
                "my-agent.sh",
                "#!/bin/sh\necho 'HEIRLOOM_MEMORY: KEY_FACT it ran'\n",
            ),
            (
                "exported.json",
                include_str!("../../agents/tests/fixtures/opencode-export.json"),
            ),
            ("output.log", "HEIRLOOM_MEMORY: KEY_FACT it was observed\n"),
            ("build.log", "all is well\n"),
        ] {
            let path = root.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let workspace = project.folder.path().join("home/.agent/workspace");
        fs::create_dir_all(&workspace).unwrap();
        fs::write(
            workspace.join("MEMORY.md"),
            "- the API is slow before nine\n",
        )
        .unwrap();
        for folder in ["backups", ".local/share/bash-completion/completions"] {
            fs::create_dir_all(project.folder.path().join("home").join(folder)).unwrap();
        }
        project.run_shell("git init -q && git config user.email a@b.c && git config user.name ann && chmod +x my-agent.sh && git add -A && git commit -qm first && git branch -M main");
        project
    }

    fn root(&self) -> PathBuf {
        self.folder.path().join("my-project")
    }

    fn command(&self, line: &str) -> Output {
        let bin = Path::new(env!("CARGO_BIN_EXE_heirloom")).parent().unwrap();
        let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
        let home = self.folder.path().join("home");
        fs::create_dir_all(self.root()).unwrap();
        Command::new("sh")
            .args(["-c", line])
            .current_dir(self.root())
            .env_clear()
            .env("PATH", path)
            .env("HOME", home)
            .stdin(Stdio::null())
            .output()
            .unwrap()
    }

    fn run_shell(&self, line: &str) -> String {
        let done = self.command(line);
        assert!(done.status.success(), "{line}\n{done:?}");
        String::from_utf8(done.stdout).unwrap()
    }

    fn json(&self, line: &str) -> Value {
        serde_json::from_str(&self.run_shell(line)).unwrap()
    }

    fn id(&self, line: &str) -> String {
        let value = self.json(line);
        value["id"].as_str().unwrap().to_owned()
    }

    /// Replaces the ids in a command by ids of records for which it works.
    fn with_ids(&mut self, line: &str) -> String {
        self.record_count += 1;
        let n = self.record_count;
        let record = format!("heirloom remember 'record number {n}' --json");
        let has = |words: &str| line.contains(words);
        if has("resolve") {
            self.run_shell(&format!(
                "heirloom remember 'it is {n}' --key k{n} --source ann --confidence 0.9"
            ));
            self.command(&format!(
                "heirloom remember 'it is -{n}' --key k{n} --source bob --confidence 0.8"
            ));
            let open = self.json("heirloom conflicts --json");
            let conflict = &open["conflicts"][0];
            let kept = conflict["losers"][0]["id"].as_str().unwrap();
            let line = line.replace("099b8a11", kept);
            return line.replace(ID, conflict["id"].as_str().unwrap());
        }
        if has("receipts diff") {
            let list = self.json("heirloom receipts list --json");
            let of = |n: usize| list["receipts"][n]["id"].as_str().unwrap().to_owned();
            return line.replace("0190a1", &of(0)).replace("0190a2", &of(1));
        }
        let id = if has("artifact remove") {
            self.id("heirloom artifact add auth/handler_test.go --task 42 --agent codex --type test --json")
        } else if has("accept") || has("reject") {
            self.id(&format!(
                "heirloom propose 'proposal {n}' --source claude --json"
            ))
        } else {
            let id = self.id(&record);
            if has("undo") {
                self.run_shell(&format!("heirloom forget {id}"));
            }
            if has("unshare") {
                self.run_shell(&format!("heirloom share {id}"));
            }
            id
        };
        ["099a8057", "099a8058", "099b8a11"]
            .iter()
            .fold(line.to_owned(), |line, known| line.replace(known, &id))
    }
}

/// Returns the commands after a prompt in the guide's consoles, with their continuation lines.
fn commands(guide: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let (mut is_console, mut is_continued) = (false, false);
    for line in guide.lines() {
        if line.starts_with("```") {
            is_console = line == "```console";
            is_continued = false;
        } else if is_console {
            if let Some(command) = line.strip_prefix("$ ") {
                found.push(command.to_owned());
            } else if is_continued && let Some(last) = found.last_mut() {
                last.push('\n');
                last.push_str(line);
            } else {
                continue;
            }
            is_continued = line.ends_with('\\');
        }
    }
    found
}

#[test]
fn guide_commands_succeed() {
    let guide = include_str!("../../../docs/guide.md");
    let all = commands(guide);
    assert!(all.len() > 100, "{}", all.len());
    for skipped in SKIPPED_PREFIXES {
        assert!(
            all.iter().any(|line| line.starts_with(skipped)),
            "{skipped}"
        );
    }
    let mut project = GuideProject::new();
    let mut failures = Vec::new();
    for line in all {
        let is_ours = line.contains("heirloom") && !line.contains("mcp add");
        if !is_ours
            || SKIPPED_PREFIXES
                .iter()
                .any(|begins| line.starts_with(begins))
        {
            continue;
        }
        let has_id = line.contains("099a8") || line.contains("099b8") || line.contains("0190a");
        let mut command = match has_id {
            true => project.with_ids(&line),
            false => line.clone(),
        };
        let needs_confirmation = CONFIRMED_PREFIXES
            .iter()
            .any(|begins| line.starts_with(begins));
        if needs_confirmation && !line.contains("--dry-run") {
            command.push_str(" --yes");
        }
        let done = project.command(&command);
        let code = done.status.code().unwrap();
        let is_accepted = OTHER_CODES
            .iter()
            .any(|(begins, other)| line.starts_with(begins) && code == *other);
        if code != 0 && !is_accepted {
            let stderr_text = String::from_utf8_lossy(&done.stderr).into_owned();
            failures.push(format!("{code}: {command}\n   {stderr_text}"));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}
