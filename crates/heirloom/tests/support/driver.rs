//! Driver that runs the real `heirloom` in its own project, as a script would.

use heirloom_testkit::{ScriptedAgent, TempProject};
use serde_json::Value;
use std::io::{Read, Write};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// Time limit after which a call counts as hanging.
const CALL_TIMEOUT: Duration = Duration::from_secs(300);

/// Initialised project with its own home folder.
pub(crate) struct ProjectFixture {
    pub(crate) project: TempProject,
    pub(crate) home: TempProject,
}

/// Result of one call of the program.
pub(crate) struct CallResult {
    /// Exit code; 128 plus the signal number if a signal ended it.
    pub(crate) code: i32,
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: String,
    pub(crate) took: Duration,
    /// Peak memory in kilobytes; sampled.
    pub(crate) peak_kb: u64,
}

impl CallResult {
    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.stdout).into_owned()
    }

    /// Parses standard output as one JSON value.
    pub(crate) fn json(&self) -> Value {
        let text = self.text();
        serde_json::from_str(&text)
            .unwrap_or_else(|error| panic!("{error} in {text}\n{}", self.stderr))
    }

    /// Parses standard output as JSON, one value per line.
    pub(crate) fn events(&self) -> Vec<Value> {
        let read = |line: &str| {
            serde_json::from_str(line).unwrap_or_else(|error| panic!("{error} in {line}"))
        };
        self.text().lines().map(read).collect()
    }

    /// Returns the events with this name.
    pub(crate) fn named(&self, name: &str) -> Vec<Value> {
        let mut events = self.events();
        events.retain(|event| event["event"] == name);
        events
    }

    /// Returns the last event, with the result of the run.
    pub(crate) fn ending(&self) -> Value {
        let ended = self.named("ended").pop();
        ended.unwrap_or_else(|| panic!("no end: {} {}", self.text(), self.stderr))
    }

    /// Fails with the output unless the exit code is `code`.
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

impl ProjectFixture {
    /// Creates a project that is not a git repository.
    pub(crate) fn plain() -> Self {
        Self::initialised(TempProject::plain().unwrap())
    }

    /// Creates a project in a git repository with one commit.
    pub(crate) fn git() -> Self {
        Self::initialised(TempProject::git().unwrap())
    }

    /// Creates a folder without Heirloom.
    pub(crate) fn bare() -> Self {
        Self {
            project: TempProject::plain().unwrap(),
            home: TempProject::plain().unwrap(),
        }
    }

    fn initialised(project: TempProject) -> Self {
        let fixture = Self {
            project,
            home: TempProject::plain().unwrap(),
        };
        fixture.call(&["init"]).expect(0);
        fixture
    }

    pub(crate) fn root(&self) -> &Path {
        self.project.path()
    }

    /// Returns a path outside the project, for files of an agent.
    pub(crate) fn outside_path(&self, name: &str) -> PathBuf {
        self.home.path().join(name)
    }

    /// Reads a file that an agent wrote outside the project.
    pub(crate) fn read_outside(&self, name: &str) -> String {
        std::fs::read_to_string(self.outside_path(name)).unwrap_or_default()
    }

    /// Builds a `heirloom` command in the project, independent of this machine's settings.
    pub(crate) fn heirloom(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_heirloom"));
        for (name, _) in std::env::vars_os() {
            if heirloom_testkit::is_setting_of_machine(&name) {
                command.env_remove(name);
            }
        }
        command
            .args(args)
            .current_dir(self.root())
            .env("HOME", self.home.path())
            .env("XDG_CONFIG_HOME", self.home.path().join("config"))
            .env("XDG_DATA_HOME", self.home.path().join("data"))
            // A killed run leaves its agent's files.
            .env("TMPDIR", self.home.path())
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_SYSTEM", "/dev/null")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    /// Runs a command to its end.
    pub(crate) fn call(&self, args: &[&str]) -> CallResult {
        finish(self.heirloom(args), |_| {})
    }

    /// Runs a command with `input` to its end.
    pub(crate) fn feed(&self, args: &[&str], input: &[u8]) -> CallResult {
        let input = input.to_owned();
        let mut command = self.heirloom(args);
        command.stdin(Stdio::piped());
        finish(command, move |mut pipe| drop(pipe.write_all(&input)))
    }

    /// Runs `heirloom run --json OPTIONS -- AGENT ACTIONS` to its end.
    pub(crate) fn run(&self, options: &[&str], actions: &[&str]) -> CallResult {
        finish(
            self.runner(&[&["--json"], options].concat(), actions),
            |_| {},
        )
    }

    /// Builds the command `heirloom run OPTIONS -- AGENT ACTIONS`.
    pub(crate) fn runner(&self, options: &[&str], actions: &[&str]) -> Command {
        let agent = ScriptedAgent::path();
        let agent = agent.to_str().unwrap();
        self.heirloom(&[&["run"], options, &["--", agent], actions].concat())
    }

    /// Parses the mirror file.
    pub(crate) fn mirror(&self) -> Value {
        let text = self.project.read(".heirloom/memory.json").unwrap();
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error} in {text}"))
    }

    /// Returns the current records of a kind, oldest first.
    pub(crate) fn records(&self, kind: &str) -> Vec<Value> {
        let listed = self
            .call(&["list", "--json", "--kind", kind])
            .expect(0)
            .json();
        let mut records = listed["records"].as_array().unwrap().clone();
        records.reverse();
        records
    }

    /// Returns the texts of the current records of a kind, oldest first.
    pub(crate) fn texts(&self, kind: &str) -> Vec<String> {
        let text = |record: &Value| record["text"].as_str().unwrap().to_owned();
        self.records(kind).iter().map(text).collect()
    }

    /// Fails unless the store is healthy.
    #[track_caller]
    pub(crate) fn assert_healthy(&self) {
        let status = self.call(&["status", "--json"]).expect(0).json();
        assert_eq!(status["health"], "ok", "{status}");
    }
}

/// Runs a command to its end; `write` writes its standard input, if that is piped.
pub(crate) fn finish(
    mut command: Command,
    write: impl FnOnce(std::process::ChildStdin) + Send + 'static,
) -> CallResult {
    let mut child = command.spawn().unwrap();
    if let Some(pipe) = child.stdin.take() {
        thread::spawn(move || write(pipe));
    }
    wait(child)
}

/// Waits for a child and collects its output.
pub(crate) fn wait(mut child: Child) -> CallResult {
    let started = Instant::now();
    let stdout = child.stdout.take().map(read_in_background);
    let stderr = child.stderr.take().map(read_in_background);
    let mut peak_kb = 0;
    let status = loop {
        peak_kb = peak_kb.max(peak_memory_kb(child.id()));
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        if started.elapsed() > CALL_TIMEOUT {
            child.kill().unwrap();
            panic!("it hangs");
        }
        thread::sleep(Duration::from_millis(5));
    };
    let read = |pipe: Option<thread::JoinHandle<Vec<u8>>>| pipe.map(|p| p.join().unwrap());
    CallResult {
        code: status
            .code()
            .unwrap_or_else(|| 128 + status.signal().unwrap_or(0)),
        stdout: read(stdout).unwrap_or_default(),
        stderr: String::from_utf8_lossy(&read(stderr).unwrap_or_default()).into_owned(),
        took: started.elapsed(),
        peak_kb,
    }
}

fn read_in_background(mut pipe: impl Read + Send + 'static) -> thread::JoinHandle<Vec<u8>> {
    thread::spawn(move || {
        let mut all = Vec::new();
        pipe.read_to_end(&mut all).unwrap();
        all
    })
}

/// Returns the peak memory of a process so far; 0 if the system does not report it.
fn peak_memory_kb(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let number = line.and_then(|line| line.split_whitespace().next()?.parse().ok());
    number.unwrap_or(0)
}

/// Sends a signal by name (`INT`, `TERM`, `KILL`) to a process; a negative id means its group.
pub(crate) fn send(signal: &str, pid: i64) {
    let mut kill = Command::new("sh");
    kill.args(["-c", &format!("kill -s {signal} -- {pid}")]);
    let stderr_text = kill.output().unwrap();
    let stderr_text = String::from_utf8_lossy(&stderr_text.stderr).to_lowercase();
    // The process may have ended already; any other failure means that no signal was sent.
    assert!(
        stderr_text.is_empty() || stderr_text.contains("no such process"),
        "{stderr_text}"
    );
}

/// Waits until `done` returns true; fails after a time limit.
#[track_caller]
pub(crate) fn wait_until(what: &str, mut done: impl FnMut() -> bool) {
    let started = Instant::now();
    while !done() {
        assert!(
            started.elapsed() < Duration::from_secs(30),
            "waited too long: {what}"
        );
        thread::sleep(Duration::from_millis(10));
    }
}

/// Returns true if a process exists and is not a zombie.
pub(crate) fn is_running(pid: i64) -> bool {
    std::fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|stat| {
        !stat
            .rsplit(')')
            .next()
            .unwrap_or("")
            .trim()
            .starts_with('Z')
    })
}

/// Returns the strings of a JSON list.
pub(crate) fn strings(list: &Value) -> Vec<&str> {
    let items = list.as_array().unwrap_or_else(|| panic!("no list: {list}"));
    items.iter().map(|item| item.as_str().unwrap()).collect()
}
