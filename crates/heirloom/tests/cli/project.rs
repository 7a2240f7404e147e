//! One project, and the program run on it with nothing of the machine's own settings.

use heirloom_testkit::TempProject;
use serde_json::Value;
use std::ffi::OsStr;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A project folder and a home of its own.
pub(crate) struct Project {
    /// The folder.
    pub(crate) folder: TempProject,
    /// The person's home, with config and data below it.
    pub(crate) home: TempProject,
    now: Option<String>,
}

/// What the program answered.
#[derive(Debug)]
pub(crate) struct Answer {
    /// The exit code.
    pub(crate) code: i32,
    /// Standard output.
    pub(crate) stdout: String,
    /// Standard error.
    pub(crate) stderr: String,
}

impl Answer {
    /// Standard output as one JSON value.
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.stdout)
            .unwrap_or_else(|error| panic!("no JSON ({error}): {self:?}"))
    }

    /// Standard output as one JSON value a line.
    pub(crate) fn lines(&self) -> Vec<Value> {
        let lines = self.stdout.lines();
        lines
            .map(|line| serde_json::from_str(line).unwrap_or_else(|e| panic!("{e}: {line}")))
            .collect()
    }

    /// The error that `--json` printed.
    pub(crate) fn error(&self) -> Value {
        let last = self.stderr.lines().last().unwrap_or_default();
        let value: Value =
            serde_json::from_str(last).unwrap_or_else(|e| panic!("no JSON ({e}): {self:?}"));
        value["error"].clone()
    }
}

impl Project {
    /// A folder outside git where `init` has run.
    pub(crate) fn new() -> Self {
        let project = Self::uninitialised();
        project.ok(&["init"]);
        project
    }

    /// A git repository where `init` has run.
    pub(crate) fn git() -> Self {
        let project = Self::of(TempProject::git().unwrap());
        project.ok(&["init"]);
        project
    }

    /// A folder outside git, without memory.
    pub(crate) fn uninitialised() -> Self {
        Self::of(TempProject::plain().unwrap())
    }

    /// A project in this folder, without memory.
    pub(crate) fn of(folder: TempProject) -> Self {
        Self {
            folder,
            home: TempProject::plain().unwrap(),
            now: None,
        }
    }

    /// From now on the clock stands at `now`.
    pub(crate) fn at(&mut self, now: &str) -> &mut Self {
        self.now = Some(now.to_owned());
        self
    }

    /// The folder.
    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// A file below the folder.
    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.path().join(name)
    }

    /// The program with these arguments, in the folder.
    pub(crate) fn command<A: AsRef<OsStr>>(&self, args: &[A]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_heirloom"));
        command
            .args(args)
            .current_dir(self.path())
            .env_clear()
            .env("PATH", "/usr/local/bin:/usr/bin:/bin")
            .env("HOME", self.home.path())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        if let Some(now) = &self.now {
            command.env("HEIRLOOM_NOW", now);
        }
        command
    }

    /// Runs the program.
    pub(crate) fn run<A: AsRef<OsStr>>(&self, args: &[A]) -> Answer {
        answer(&mut self.command(args))
    }

    /// Runs the program, which must succeed.
    #[track_caller]
    pub(crate) fn ok<A: AsRef<OsStr>>(&self, args: &[A]) -> Answer {
        self.expect(args, 0)
    }

    /// Runs the program, which must end with this code.
    #[track_caller]
    pub(crate) fn expect<A: AsRef<OsStr>>(&self, args: &[A], code: i32) -> Answer {
        let answer = self.run(args);
        assert_eq!(answer.code, code, "{answer:?}");
        answer
    }

    /// Runs the program with `--json`, which must succeed, and reads the value.
    #[track_caller]
    pub(crate) fn json(&self, args: &[&str]) -> Value {
        self.ok(&[args, &["--json"]].concat()).json()
    }

    /// Runs the program with this on standard input.
    pub(crate) fn input<A: AsRef<OsStr>>(&self, args: &[A], input: &[u8]) -> Answer {
        let mut child = self.command(args).stdin(Stdio::piped()).spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        let input = input.to_vec();
        let writer = std::thread::spawn(move || {
            // A program that does not read to the end is the test's to judge.
            let _ = stdin.write_all(&input);
        });
        let output = child.wait_with_output().unwrap();
        writer.join().unwrap();
        of(&output)
    }

    /// Remembers a text with these options; its id.
    #[track_caller]
    pub(crate) fn remember(&self, text: &str, options: &[&str]) -> String {
        let value = self.json(&[&["remember", text], options].concat());
        string(&value["id"])
    }

    /// The current records of a kind, newest first.
    #[track_caller]
    pub(crate) fn list(&self, kind: &str) -> Vec<Value> {
        let value = self.json(&["list", "--kind", kind]);
        value["records"].as_array().unwrap().clone()
    }

    /// Lays this text behind the project's config.
    pub(crate) fn configure(&self, text: &str) {
        let config = self.folder.read(".heirloom/config.toml").unwrap();
        self.folder
            .write(".heirloom/config.toml", config + text)
            .unwrap();
    }
}

/// Runs a command to its end.
pub(crate) fn answer(command: &mut Command) -> Answer {
    of(&command.output().unwrap())
}

fn of(output: &std::process::Output) -> Answer {
    Answer {
        code: output.status.code().unwrap_or(-1),
        stdout: String::from_utf8(output.stdout.clone()).unwrap(),
        stderr: String::from_utf8(output.stderr.clone()).unwrap(),
    }
}

/// A JSON text.
#[track_caller]
pub(crate) fn string(value: &Value) -> String {
    value
        .as_str()
        .unwrap_or_else(|| panic!("no text: {value}"))
        .to_owned()
}

/// The texts of records, in their order.
pub(crate) fn texts(records: &Value) -> Vec<String> {
    let records = records.as_array().unwrap();
    records.iter().map(|r| string(&r["text"])).collect()
}

/// The permissions of a file.
pub(crate) fn mode(path: &Path) -> u32 {
    path.symlink_metadata().unwrap().permissions().mode() & 0o777
}
