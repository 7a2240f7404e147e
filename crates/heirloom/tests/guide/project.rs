//! Project in which the commands of the documentation run.

use serde_json::Value;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use tempfile::TempDir;

/// Commands that ask for confirmation, which get `--yes`.
const CONFIRMED_PREFIXES: [&str; 5] = [
    "heirloom uninstall",
    "heirloom install",
    "heirloom purge",
    "heirloom cmd trust",
    "heirloom init --import",
];

/// Example id in the guide.
const ID: &str = "099a8057";

pub(crate) struct GuideProject {
    folder: TempDir,
    record_count: usize,
}

impl GuideProject {
    pub(crate) fn new() -> Self {
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
                include_str!("../../../agents/tests/fixtures/opencode-export.json"),
            ),
            (
                "memory.jsonl",
                "{\"type\":\"entity\",\"name\":\"Shop\",\"entityType\":\"Service\",\"observations\":[\"runs on 8080\"]}\n",
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
        project.printed("git init -q && git config user.email a@b.c && git config user.name ann && chmod +x my-agent.sh && git add -A && git commit -qm first && git branch -M main");
        project
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.folder.path().join("my-project")
    }

    pub(crate) fn command(&self, line: &str) -> Output {
        self.shell(line).output().unwrap()
    }

    fn shell(&self, line: &str) -> Command {
        let bin = Path::new(env!("CARGO_BIN_EXE_heirloom")).parent().unwrap();
        let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
        let home = self.folder.path().join("home");
        fs::create_dir_all(self.root()).unwrap();
        let mut shell = Command::new("sh");
        shell
            .args(["-c", line])
            .current_dir(self.root())
            .env_clear()
            .env("PATH", path)
            .env("HOME", home)
            .stdin(Stdio::null());
        shell
    }

    /// Runs a command that succeeds; returns what it printed.
    pub(crate) fn printed(&self, line: &str) -> String {
        let done = self.command(line);
        assert!(done.status.success(), "{line}\n{done:?}");
        String::from_utf8(done.stdout).unwrap()
    }

    pub(crate) fn json(&self, line: &str) -> Value {
        serde_json::from_str(&self.printed(line)).unwrap()
    }

    fn id(&self, line: &str) -> String {
        let value = self.json(line);
        value["id"].as_str().unwrap().to_owned()
    }

    /// Returns a command of a page as it is run: with ids of records here, and with a confirmation.
    pub(crate) fn prepared_command(&mut self, line: &str) -> String {
        let has_id = line.contains("099a8") || line.contains("099b8") || line.contains("0190a");
        let mut command = match has_id {
            true => self.with_ids(line),
            false => line.to_owned(),
        };
        let needs_confirmation = CONFIRMED_PREFIXES
            .iter()
            .any(|begins| line.starts_with(begins));
        if needs_confirmation && !line.contains("--dry-run") {
            // Before a comment of the line.
            let end = command.find("  #").unwrap_or(command.len());
            command.insert_str(end, " --yes");
        }
        command
    }

    /// Starts a command that serves until it is stopped; true if it prints an address of this machine.
    pub(crate) fn serves(&self, line: &str) -> bool {
        let mut child = self
            .shell(&format!("exec {line}"))
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut first = String::new();
        BufReader::new(child.stdout.take().unwrap())
            .read_line(&mut first)
            .unwrap();
        child.kill().unwrap();
        child.wait().unwrap();
        first.contains("http://127.0.0.1:")
    }

    /// Stores a conversation where Claude Code keeps its own, that of docs/session, and one where opencode's hooks do.
    pub(crate) fn add_conversations(&self) {
        let root = self.root();
        let root = root.to_str().unwrap();
        let folder = root.replace(|c: char| !c.is_ascii_alphanumeric(), "-");
        let folder = self
            .folder
            .path()
            .join("home/.claude/projects")
            .join(folder);
        fs::create_dir_all(&folder).unwrap();
        let text = include_str!("../../../../docs/session/conversation.jsonl");
        let name = "7c1f4a52-9d1e-4f0e-8a35-2f6f0f3f7a10.jsonl";
        fs::write(folder.join(name), text.replace("{project}", root)).unwrap();
        let folder = self
            .folder
            .path()
            .join("home/.local/share/opencode/heirloom");
        fs::create_dir_all(&folder).unwrap();
        let text = include_str!("../../../agents/tests/fixtures/opencode-export.json");
        fs::write(folder.join("ses_df6d36810ffe6MDCD1yJJEWW6z.json"), text).unwrap();
    }

    /// Replaces the ids in a command by ids of records for which it works.
    fn with_ids(&mut self, line: &str) -> String {
        self.record_count += 1;
        let n = self.record_count;
        let record = format!("heirloom remember 'record number {n}' --json");
        let has = |words: &str| line.contains(words);
        if has("resolve") {
            self.printed(&format!(
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
                self.printed(&format!("heirloom forget {id}"));
            }
            if has("unshare") {
                self.printed(&format!("heirloom share {id}"));
            }
            id
        };
        ["099a8057", "099a8058", "099b8a11"]
            .iter()
            .fold(line.to_owned(), |line, known| line.replace(known, &id))
    }
}
