//! Project with hostile files at the names that Heirloom reads, and calls of the program that must end.

use flate2::Compression;
use flate2::write::GzEncoder;
use heirloom_testkit::{TempProject, sh};
use std::fs::{self, File};
use std::io::{Read, Write};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// Time limit of a call on a busy machine; most calls take a few milliseconds.
const CALL_TIMEOUT: Duration = Duration::from_secs(10);
/// Exit codes in the contract.
const DOCUMENTED_CODES: [i32; 5] = [0, 1, 2, 3, 4];

/// Names below the project's folder that Heirloom reads, one per reader.
pub(crate) const PROJECT_NAMES: &[&str] = &[
    ".heirloom/memory.json",
    ".heirloom/tokens.json",
    ".heirloom/.gitignore",
    ".heirloom/hooks.log",
    ".heirloom/hooks/calls",
    ".heirloom/hooks/calls.1",
    ".heirloom/hooks/claude-code-s.json",
    ".heirloom/hooks/claude-code-s.lock",
    ".heirloom/inbox/a.json",
    ".heirloom/commands/evil.toml",
    ".heirloom/shared/convention.md",
    ".heirloom/groups/main/CLAUDE.md",
    ".heirloom/groups/main/AGENT.md",
    ".heirloom/groups/main/MEMORY.md",
    ".heirloom/groups/main/summary.md",
    ".heirloom/workspace/SOUL.md",
    ".heirloom/workspace/TOOLS.md",
    ".heirloom/workspace/AGENTS.md",
    ".heirloom/workspace/MEMORY.md",
    ".heirloom/workspace/memory/2026-11-23.md",
    ".heirloom/workspace/.learnings/LEARNINGS.md",
    ".heirloom/workspace/.learnings/ERRORS.md",
    ".heirloom/workspace/.learnings/FEATURE_REQUESTS.md",
    ".heirloom/working/0123456789abcdef-agent.json",
    "AGENTS.md",
    "CLAUDE.md",
    "GEMINI.md",
    ".cursorrules",
    ".agentium/memory.json",
    ".agentium.yaml",
    ".radium/commands/evil.toml",
    ".radium/_internals/sessions/s/history.json",
    "radium/now/P/memory/a.json",
    "shared-context/page.md",
    "docs/architecture.md",
    ".aider.chat.history.md",
    ".aider.conf.yml",
    ".claude/settings.json",
    ".claude/settings.local.json",
    ".codex/hooks.json",
    ".codex/config.toml",
    ".gemini/settings.json",
    "input.md",
    "src/lib.rs",
];

/// Names below the user's home folder that Heirloom reads.
pub(crate) const HOME_NAMES: &[&str] = &[
    ".config/heirloom/commands/evil.toml",
    ".local/share/heirloom/login.json",
    ".claude/settings.json",
    ".claude/projects/p/t.jsonl",
    ".codex/hooks.json",
    ".codex/sessions/2026/rollout-1.jsonl",
    ".gemini/settings.json",
    ".gemini/tmp/x/chats/session-1.json",
    ".agent/workspace/MEMORY.md",
];

/// Kind of hostile file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Hostile {
    /// A named pipe without a writer.
    Pipe,
    /// A link to a device without an end.
    Endless,
    /// A character device without an end; only root can create it.
    Device,
    /// A sparse file of ten gigabytes.
    Sparse,
    /// A folder.
    Folder,
    /// A link to a file outside the project.
    LinkOut,
    /// A link to itself.
    Loop,
    /// A gzip file that unpacks to several gigabytes.
    Bomb,
    /// Forty megabytes of text in one line.
    Huge,
}

impl Hostile {
    /// Creates the file at `path`, with its parent folders.
    pub(crate) fn put(self, path: &Path) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        if path.symlink_metadata().is_ok() {
            fs::remove_file(path).unwrap();
        }
        match self {
            Self::Pipe => run_helper(Command::new("mkfifo").arg(path)),
            Self::Endless => symlink("/dev/zero", path).unwrap(),
            Self::Device => run_helper(Command::new("mknod").arg(path).args(["c", "1", "5"])),
            Self::Sparse => File::create_new(path).unwrap().set_len(10 << 30).unwrap(),
            Self::Folder => fs::create_dir(path).unwrap(),
            Self::LinkOut => symlink("/etc/passwd", path).unwrap(),
            Self::Loop => symlink(path.file_name().unwrap(), path).unwrap(),
            Self::Bomb => put(path, &gzip_bomb()),
            Self::Huge => put(path, "x ".repeat(20 << 20).as_bytes()),
        }
    }
}

fn run_helper(command: &mut Command) {
    let result = command.output().unwrap();
    assert!(result.status.success(), "{command:?}: {result:?}");
}

pub(crate) fn put(path: &Path, bytes: &[u8]) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    File::create_new(path).unwrap().write_all(bytes).unwrap();
}

/// Returns a gzip file with the beginning of a conversation and 4 GB of zeros.
fn gzip_bomb() -> Vec<u8> {
    let pack = |bytes: &[u8]| {
        let mut out = GzEncoder::new(Vec::new(), Compression::best());
        out.write_all(bytes).unwrap();
        out.finish().unwrap()
    };
    let head = "{\"type\":\"user\",\"sessionId\":\"s\",\"cwd\":\"/\",\"uuid\":\"u\",\
                \"timestamp\":\"2026-01-01T00:00:00Z\",\"message\":{\"role\":\"user\",\"content\":\"hello\"}}\n";
    let mut all = pack(head.as_bytes());
    let zeros = pack(&vec![0; 16 << 20]);
    (0..256).for_each(|_| all.extend_from_slice(&zeros));
    all
}

/// Initialised project with a home folder, and records from before the hostile files.
pub(crate) struct Repository {
    project: TempProject,
    pub(crate) home: TempProject,
    /// An existing record.
    pub(crate) id: String,
}

/// Result of one call.
#[derive(Debug)]
pub(crate) struct CallResult {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Repository {
    pub(crate) fn new() -> Self {
        let mut repository = Self {
            project: TempProject::plain().unwrap(),
            home: TempProject::plain().unwrap(),
            id: String::new(),
        };
        repository.call(&["init"]);
        let result = repository.call(&["remember", "the deploy needs a VPN", "--json"]);
        let value: serde_json::Value = serde_json::from_str(&result.stdout).unwrap();
        repository.id = value["id"].as_str().unwrap().to_owned();
        repository.call(&sh("task set 7 --type issue"));
        repository
    }

    pub(crate) fn root(&self) -> &Path {
        self.project.path()
    }

    pub(crate) fn at(&self, name: &str) -> PathBuf {
        self.root().join(name)
    }

    /// Puts a hostile file at every name that is read.
    pub(crate) fn fill(&self, what: Hostile) {
        for name in PROJECT_NAMES {
            what.put(&self.at(name));
        }
        for name in HOME_NAMES {
            what.put(&self.home.path().join(name));
        }
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_heirloom"));
        command
            .args(args)
            .current_dir(self.root())
            .env_clear()
            .env("PATH", "/usr/local/bin:/usr/bin:/bin")
            .env("HOME", self.home.path())
            .env("TMPDIR", self.home.path())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    /// Runs the program to its end. Fails if it exceeds the time limit, panics, ends with an undocumented exit code,
    /// or prints terminal control characters.
    #[track_caller]
    pub(crate) fn call(&self, args: &[&str]) -> CallResult {
        let child = self.command(args).spawn().unwrap();
        wait_for_end(child, args, CALL_TIMEOUT)
    }

    /// Runs a server for a while, interrupts it, and checks as [`Self::call`] does.
    #[track_caller]
    pub(crate) fn serve(&self, args: &[&str]) -> CallResult {
        let mut child = self.command(args).spawn().unwrap();
        let began = Instant::now();
        while child.try_wait().unwrap().is_none() && began.elapsed() < Duration::from_secs(1) {
            thread::sleep(Duration::from_millis(10));
        }
        run_helper(Command::new("sh").args(["-c", &format!("kill -s INT {} || :", child.id())]));
        wait_for_end(child, args, CALL_TIMEOUT)
    }
}

#[track_caller]
fn wait_for_end(mut child: Child, args: &[&str], limit: Duration) -> CallResult {
    let read_in_background = |mut pipe: Box<dyn Read + Send>| {
        thread::spawn(move || {
            let mut all = Vec::new();
            pipe.read_to_end(&mut all).unwrap();
            String::from_utf8_lossy(&all).into_owned()
        })
    };
    let stdout = read_in_background(Box::new(child.stdout.take().unwrap()));
    let stderr = read_in_background(Box::new(child.stderr.take().unwrap()));
    let began = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        if began.elapsed() > limit {
            child.kill().unwrap();
            child.wait().unwrap();
            panic!("it does not end: {args:?}");
        }
        thread::sleep(Duration::from_millis(2));
    };
    let result = CallResult {
        code: status.code().unwrap_or(-1),
        stdout: stdout.join().unwrap(),
        stderr: stderr.join().unwrap(),
    };
    let is_served = status.code().is_some_and(|code| code == 130);
    assert!(
        DOCUMENTED_CODES.contains(&result.code) || is_served,
        "{args:?}: {status} {result:?}"
    );
    for text in [&result.stdout, &result.stderr] {
        let steers = |c: char| c.is_control() && !matches!(c, '\n' | '\t');
        assert!(!text.contains(steers), "{args:?}: {result:?}");
        assert!(!text.contains("panicked at"), "{args:?}: {result:?}");
    }
    result
}
