//! Drives the real `heirloom` in a project of its own, as a script would.

use heirloom_testkit::{ScriptedAgent, TempProject};
use serde_json::Value;
use std::io::{Read, Write};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// A call that takes longer than this hangs.
const PATIENCE: Duration = Duration::from_secs(300);

/// A project with memory switched on, and a home folder of its own.
pub(crate) struct Desk {
    pub(crate) project: TempProject,
    home: TempProject,
}

/// How one call of the program ended.
pub(crate) struct Ran {
    /// The exit code; 128 and the signal if a signal ended it.
    pub(crate) code: i32,
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: String,
    pub(crate) took: Duration,
    /// The most memory that it held, kilobytes; sampled.
    pub(crate) peak_kb: u64,
}

impl Ran {
    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.stdout).into_owned()
    }

    /// Standard output as one JSON value.
    pub(crate) fn json(&self) -> Value {
        let text = self.text();
        serde_json::from_str(&text)
            .unwrap_or_else(|error| panic!("{error} in {text}\n{}", self.stderr))
    }

    /// Standard output as JSON, one value a line.
    pub(crate) fn events(&self) -> Vec<Value> {
        let read = |line: &str| {
            serde_json::from_str(line).unwrap_or_else(|error| panic!("{error} in {line}"))
        };
        self.text().lines().map(read).collect()
    }

    /// The events with this name.
    pub(crate) fn named(&self, name: &str) -> Vec<Value> {
        let mut events = self.events();
        events.retain(|event| event["event"] == name);
        events
    }

    /// The last event: how the run ended.
    pub(crate) fn ending(&self) -> Value {
        let ended = self.named("ended").pop();
        ended.unwrap_or_else(|| panic!("no end: {} {}", self.text(), self.stderr))
    }

    /// Fails with everything that was printed unless it ended with this code.
    #[track_caller]
    pub(crate) fn expect(self, code: i32) -> Self {
        let end = |text: &str| {
            text.chars()
                .skip(text.chars().count().saturating_sub(4_000))
                .collect::<String>()
        };
        assert_eq!(
            self.code,
            code,
            "\n{}\n{}",
            end(&self.text()),
            end(&self.stderr)
        );
        self
    }
}

impl Desk {
    /// A project that is no git repository.
    pub(crate) fn plain() -> Self {
        Self::over(TempProject::plain().unwrap())
    }

    /// A project in a git repository with one commit.
    pub(crate) fn git() -> Self {
        Self::over(TempProject::git().unwrap())
    }

    /// A folder without Heirloom.
    pub(crate) fn bare() -> Self {
        Self {
            project: TempProject::plain().unwrap(),
            home: TempProject::plain().unwrap(),
        }
    }

    fn over(project: TempProject) -> Self {
        let desk = Self {
            project,
            home: TempProject::plain().unwrap(),
        };
        desk.call(&["init"]).expect(0);
        desk
    }

    pub(crate) fn root(&self) -> &Path {
        self.project.path()
    }

    /// A folder outside of the project, for what an agent notes.
    pub(crate) fn aside(&self, name: &str) -> PathBuf {
        self.home.path().join(name)
    }

    /// What an agent noted outside of the project.
    pub(crate) fn noted(&self, name: &str) -> String {
        std::fs::read_to_string(self.aside(name)).unwrap_or_default()
    }

    /// The program, in the project, with nothing of this machine's settings.
    pub(crate) fn heirloom(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_heirloom"));
        for (name, _) in std::env::vars_os() {
            if name.to_string_lossy().starts_with("HEIRLOOM_") {
                command.env_remove(name);
            }
        }
        command
            .args(args)
            .current_dir(self.root())
            .env("HOME", self.home.path())
            .env("XDG_CONFIG_HOME", self.home.path().join("config"))
            .env("XDG_DATA_HOME", self.home.path().join("data"))
            // A run that is killed leaves its agent's files behind.
            .env("TMPDIR", self.home.path())
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_SYSTEM", "/dev/null")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    /// One call to its end.
    pub(crate) fn call(&self, args: &[&str]) -> Ran {
        finish(self.heirloom(args), |_| {})
    }

    /// One call that reads `input`.
    pub(crate) fn feed(&self, args: &[&str], input: &[u8]) -> Ran {
        let input = input.to_owned();
        let mut command = self.heirloom(args);
        command.stdin(Stdio::piped());
        finish(command, move |mut pipe| drop(pipe.write_all(&input)))
    }

    /// `heirloom run --json OPTIONS -- AGENT ACTIONS` to its end.
    pub(crate) fn run(&self, options: &[&str], actions: &[&str]) -> Ran {
        finish(
            self.runner(&[&["--json"], options].concat(), actions),
            |_| {},
        )
    }

    /// The command `heirloom run OPTIONS -- AGENT ACTIONS`.
    pub(crate) fn runner(&self, options: &[&str], actions: &[&str]) -> Command {
        let agent = ScriptedAgent::path();
        let agent = agent.to_str().unwrap();
        self.heirloom(&[&["run"], options, &["--", agent], actions].concat())
    }

    /// What the mirror says.
    pub(crate) fn mirror(&self) -> Value {
        let text = self.project.read(".heirloom/memory.json").unwrap();
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error} in {text}"))
    }

    /// The current records of a kind, oldest first.
    pub(crate) fn records(&self, kind: &str) -> Vec<Value> {
        let listed = self
            .call(&["list", "--json", "--kind", kind])
            .expect(0)
            .json();
        let mut records = listed["records"].as_array().unwrap().clone();
        records.reverse();
        records
    }

    /// The texts of the current records of a kind, oldest first.
    pub(crate) fn texts(&self, kind: &str) -> Vec<String> {
        let text = |record: &Value| record["text"].as_str().unwrap().to_owned();
        self.records(kind).iter().map(text).collect()
    }

    /// Fails unless the store is healthy.
    #[track_caller]
    pub(crate) fn healthy(&self) {
        let status = self.call(&["status", "--json"]).expect(0).json();
        assert_eq!(status["health"], "ok", "{status}");
    }
}

/// Runs a command to its end; `write` gets its standard input, if that is a pipe.
pub(crate) fn finish(
    mut command: Command,
    write: impl FnOnce(std::process::ChildStdin) + Send + 'static,
) -> Ran {
    let mut child = command.spawn().unwrap();
    if let Some(pipe) = child.stdin.take() {
        thread::spawn(move || write(pipe));
    }
    wait(child)
}

/// Reads a child to its end.
pub(crate) fn wait(mut child: Child) -> Ran {
    let started = Instant::now();
    let stdout = child.stdout.take().map(slurp);
    let stderr = child.stderr.take().map(slurp);
    let mut peak_kb = 0;
    let status = loop {
        peak_kb = peak_kb.max(held_kb(child.id()));
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        if started.elapsed() > PATIENCE {
            child.kill().unwrap();
            panic!("it hangs");
        }
        thread::sleep(Duration::from_millis(5));
    };
    let read = |pipe: Option<thread::JoinHandle<Vec<u8>>>| pipe.map(|p| p.join().unwrap());
    Ran {
        code: status
            .code()
            .unwrap_or_else(|| 128 + status.signal().unwrap_or(0)),
        stdout: read(stdout).unwrap_or_default(),
        stderr: String::from_utf8_lossy(&read(stderr).unwrap_or_default()).into_owned(),
        took: started.elapsed(),
        peak_kb,
    }
}

fn slurp(mut pipe: impl Read + Send + 'static) -> thread::JoinHandle<Vec<u8>> {
    thread::spawn(move || {
        let mut all = Vec::new();
        pipe.read_to_end(&mut all).unwrap();
        all
    })
}

/// The most memory that a process has held so far; 0 where the system does not say.
fn held_kb(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let number = line.and_then(|line| line.split_whitespace().next()?.parse().ok());
    number.unwrap_or(0)
}

/// Sends a signal by name (`INT`, `TERM`, `KILL`) to a process, or with `-` before the id to its group.
pub(crate) fn send(signal: &str, pid: i64) {
    let mut kill = Command::new("sh");
    kill.args(["-c", &format!("kill -s {signal} -- {pid}")]);
    let said = kill.output().unwrap();
    let said = String::from_utf8_lossy(&said.stderr).to_lowercase();
    // A process that is gone is none to worry about; a signal that was never sent is.
    assert!(
        said.is_empty() || said.contains("no such process"),
        "{said}"
    );
}

/// Waits until `done` says yes; fails after a while.
#[track_caller]
pub(crate) fn until(what: &str, mut done: impl FnMut() -> bool) {
    let started = Instant::now();
    while !done() {
        assert!(
            started.elapsed() < Duration::from_secs(30),
            "waited too long: {what}"
        );
        thread::sleep(Duration::from_millis(10));
    }
}

/// Whether a process is there and no zombie.
pub(crate) fn lives(pid: i64) -> bool {
    std::fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|stat| {
        !stat
            .rsplit(')')
            .next()
            .unwrap_or("")
            .trim()
            .starts_with('Z')
    })
}

/// The strings of a JSON list.
pub(crate) fn strings(list: &Value) -> Vec<&str> {
    let items = list.as_array().unwrap_or_else(|| panic!("no list: {list}"));
    items.iter().map(|item| item.as_str().unwrap()).collect()
}
