//! The commands of the guide, as they stand there, one after the other in one project.

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

/// What is not run, by what it begins with: it waits for ever, or wants a program that need not be here.
const NOT_RUN: [&str; 9] = [
    "heirloom run --task 42 --type",
    "heirloom run --task 42 -- codex",
    "heirloom run --task 42 -- aider",
    "heirloom run --task 42 -- gemini",
    "heirloom serve",
    "heirloom ui",
    "heirloom watch",
    "heirloom reembed",
    "heirloom man run | man",
];

/// Commands that ask a person first, and what answers for them.
const ASKING: [&str; 4] = [
    "heirloom install",
    "heirloom purge",
    "heirloom cmd trust",
    "heirloom init --import",
];

/// Where other codes than 0 are answers: nothing of such a program is here, something was found.
const OTHER_CODES: [(&str, i32); 6] = [
    ("heirloom import codex", 3),
    ("heirloom import gemini", 3),
    ("heirloom import aider", 3),
    ("heirloom import claude", 3),
    ("heirloom import agentium", 3),
    ("heirloom purge --session", 3),
];

/// An id as the guide writes one.
const ID: &str = "01890a5d";

struct Reader {
    folder: TempDir,
    fresh: usize,
}

impl Reader {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let reader = Self { folder, fresh: 0 };
        let root = reader.root();
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
            ("output.log", "HEIRLOOM_MEMORY: KEY_FACT it was observed\n"),
            ("build.log", "all is well\n"),
        ] {
            let path = root.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let workspace = reader.folder.path().join("home/.agent/workspace");
        fs::create_dir_all(&workspace).unwrap();
        fs::write(
            workspace.join("MEMORY.md"),
            "- the API is slow before nine\n",
        )
        .unwrap();
        for folder in ["backups", ".local/share/bash-completion/completions"] {
            fs::create_dir_all(reader.folder.path().join("home").join(folder)).unwrap();
        }
        reader.sh("git init -q && git config user.email a@b.c && git config user.name ann && chmod +x my-agent.sh && git add -A && git commit -qm first && git branch -M main");
        reader
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

    fn sh(&self, line: &str) -> String {
        let done = self.command(line);
        assert!(done.status.success(), "{line}\n{done:?}");
        String::from_utf8(done.stdout).unwrap()
    }

    fn json(&self, line: &str) -> Value {
        serde_json::from_str(&self.sh(line)).unwrap()
    }

    fn id(&self, line: &str) -> String {
        let said = self.json(line);
        said["id"].as_str().unwrap().to_owned()
    }

    /// The command with ids of records for which it means something.
    fn with_ids(&mut self, line: &str) -> String {
        self.fresh += 1;
        let n = self.fresh;
        let record = format!("heirloom remember 'record number {n}' --json");
        let has = |words: &str| line.contains(words);
        if has("resolve") {
            self.sh(&format!(
                "heirloom remember 'it is {n}' --key k{n} --source ann --confidence 0.9"
            ));
            self.command(&format!(
                "heirloom remember 'it is -{n}' --key k{n} --source bob --confidence 0.8"
            ));
            let open = self.json("heirloom conflicts --json");
            let conflict = &open["conflicts"][0];
            let kept = conflict["losers"][0]["id"].as_str().unwrap();
            let line = line.replace("01890b11", kept);
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
                self.sh(&format!("heirloom forget {id}"));
            }
            if has("unshare") {
                self.sh(&format!("heirloom share {id}"));
            }
            id
        };
        ["01890a5d", "01890a5e", "01890b11"]
            .iter()
            .fold(line.to_owned(), |line, known| line.replace(known, &id))
    }
}

/// The lines behind a prompt in the guide's consoles, each with its continuations.
fn commands(guide: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let (mut is_console, mut goes_on) = (false, false);
    for line in guide.lines() {
        if line.starts_with("```") {
            is_console = line == "```console";
            goes_on = false;
        } else if is_console {
            if let Some(command) = line.strip_prefix("$ ") {
                found.push(command.to_owned());
            } else if goes_on && let Some(last) = found.last_mut() {
                last.push('\n');
                last.push_str(line);
            } else {
                continue;
            }
            goes_on = line.ends_with('\\');
        }
    }
    found
}

#[test]
fn every_command_of_the_guide_does_what_it_says() {
    let guide = include_str!("../../../docs/guide.md");
    let all = commands(guide);
    assert!(all.len() > 100, "{}", all.len());
    for skipped in NOT_RUN {
        assert!(
            all.iter().any(|line| line.starts_with(skipped)),
            "{skipped}"
        );
    }
    let mut reader = Reader::new();
    let mut wrong = Vec::new();
    for line in all {
        let is_ours = line.contains("heirloom") && !line.contains("mcp add");
        if !is_ours || NOT_RUN.iter().any(|begins| line.starts_with(begins)) {
            continue;
        }
        let has_id = line.contains("01890") || line.contains("0190a");
        let mut command = match has_id {
            true => reader.with_ids(&line),
            false => line.clone(),
        };
        let asks = ASKING.iter().any(|begins| line.starts_with(begins));
        if asks && !line.contains("--dry-run") {
            command.push_str(" --yes");
        }
        let done = reader.command(&command);
        let code = done.status.code().unwrap();
        let may = OTHER_CODES
            .iter()
            .any(|(begins, other)| line.starts_with(begins) && code == *other);
        if code != 0 && !may {
            let said = String::from_utf8_lossy(&done.stderr).into_owned();
            wrong.push(format!("{code}: {command}\n   {said}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
