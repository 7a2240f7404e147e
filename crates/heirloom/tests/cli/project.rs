//! Test project: a folder, a home folder, and runs of the program without settings of the machine.

use crate::answer_validation;
use heirloom_testkit::TempProject;
use serde_json::Value;
use std::ffi::OsStr;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Project folder with its own home folder.
pub(crate) struct Project {
    /// The folder.
    pub(crate) folder: TempProject,
    /// The user's home folder, which contains config and data.
    pub(crate) home: TempProject,
    now: Option<String>,
}

/// Result of one run of the program.
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
    /// Parses standard output as one JSON value.
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.stdout)
            .unwrap_or_else(|error| panic!("no JSON ({error}): {self:?}"))
    }

    /// Parses standard output as one JSON value per line.
    pub(crate) fn lines(&self) -> Vec<Value> {
        let lines = self.stdout.lines();
        lines
            .map(|line| serde_json::from_str(line).unwrap_or_else(|e| panic!("{e}: {line}")))
            .collect()
    }

    /// Returns the error object that `--json` printed.
    pub(crate) fn error(&self) -> Value {
        let last = self.stderr.lines().last().unwrap_or_default();
        let value: Value =
            serde_json::from_str(last).unwrap_or_else(|e| panic!("no JSON ({e}): {self:?}"));
        value["error"].clone()
    }
}

impl Project {
    /// Creates a folder outside git and runs `init` in it.
    pub(crate) fn new() -> Self {
        let project = Self::uninitialised();
        project.ok(&["init"]);
        project
    }

    /// Creates a git repository and runs `init` in it.
    pub(crate) fn git() -> Self {
        let project = Self::in_folder(TempProject::git().unwrap());
        project.ok(&["init"]);
        project
    }

    /// Creates a folder outside git, without memory.
    pub(crate) fn uninitialised() -> Self {
        Self::in_folder(TempProject::plain().unwrap())
    }

    /// Creates a project in this folder, without memory.
    pub(crate) fn in_folder(folder: TempProject) -> Self {
        Self {
            folder,
            home: TempProject::plain().unwrap(),
            now: None,
        }
    }

    /// Sets the clock of later runs to `now`.
    pub(crate) fn set_clock(&mut self, now: &str) -> &mut Self {
        self.now = Some(now.to_owned());
        self
    }

    /// Returns the project folder.
    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Returns the path of a file in the project folder.
    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.path().join(name)
    }

    /// Builds the command line of a run in the project folder.
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

    /// Runs the program. An answer with `--json` has to match its schema.
    #[track_caller]
    pub(crate) fn run<A: AsRef<OsStr>>(&self, args: &[A]) -> Answer {
        described(args, answer(&mut self.command(args)))
    }

    /// Runs the program, which must succeed.
    #[track_caller]
    pub(crate) fn ok<A: AsRef<OsStr>>(&self, args: &[A]) -> Answer {
        self.expect(args, 0)
    }

    /// Runs the program, which must end with this exit code.
    #[track_caller]
    pub(crate) fn expect<A: AsRef<OsStr>>(&self, args: &[A], code: i32) -> Answer {
        let answer = self.run(args);
        assert_eq!(answer.code, code, "{answer:?}");
        answer
    }

    /// Runs the program with `--json`, which must succeed, and parses its output.
    #[track_caller]
    pub(crate) fn json(&self, args: &[&str]) -> Value {
        self.ok(&[args, &["--json"]].concat()).json()
    }

    /// Runs the program with this standard input.
    #[track_caller]
    pub(crate) fn input<A: AsRef<OsStr>>(&self, args: &[A], input: &[u8]) -> Answer {
        let mut child = self.command(args).stdin(Stdio::piped()).spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        let input = input.to_vec();
        let writer = std::thread::spawn(move || {
            // The program may close its input early; the test judges the result.
            let _ = stdin.write_all(&input);
        });
        let output = child.wait_with_output().unwrap();
        writer.join().unwrap();
        described(args, answer_from(&output))
    }

    /// Remembers a text with these options and returns its id.
    #[track_caller]
    pub(crate) fn remember(&self, text: &str, options: &[&str]) -> String {
        let value = self.json(&[&["remember", text], options].concat());
        string(&value["id"])
    }

    /// Returns the current records of a kind, newest first.
    #[track_caller]
    pub(crate) fn list(&self, kind: &str) -> Vec<Value> {
        let value = self.json(&["list", "--kind", kind]);
        value["records"].as_array().unwrap().clone()
    }

    /// Appends this text to the project's config.
    pub(crate) fn configure(&self, text: &str) {
        let config = self.folder.read(".heirloom/config.toml").unwrap();
        self.folder
            .write(".heirloom/config.toml", config + text)
            .unwrap();
    }
}

/// Returns the answer if it matches its schema.
#[track_caller]
fn described<A: AsRef<OsStr>>(args: &[A], answer: Answer) -> Answer {
    let text = |arg: &A| arg.as_ref().to_string_lossy().into_owned();
    let args: Vec<String> = args.iter().map(text).collect();
    answer_validation::assert_described(&args, &answer.stdout, &answer.stderr);
    answer
}

/// Runs a command to its end.
pub(crate) fn answer(command: &mut Command) -> Answer {
    answer_from(&command.output().unwrap())
}

fn answer_from(output: &std::process::Output) -> Answer {
    Answer {
        code: output.status.code().unwrap_or(-1),
        stdout: String::from_utf8(output.stdout.clone()).unwrap(),
        stderr: String::from_utf8(output.stderr.clone()).unwrap(),
    }
}

/// Returns a JSON value as text.
#[track_caller]
pub(crate) fn string(value: &Value) -> String {
    value
        .as_str()
        .unwrap_or_else(|| panic!("no text: {value}"))
        .to_owned()
}

/// Returns the texts of records, in their order.
pub(crate) fn texts(records: &Value) -> Vec<String> {
    let records = records.as_array().unwrap();
    records.iter().map(|r| string(&r["text"])).collect()
}

/// Returns the permission bits of a file.
pub(crate) fn mode(path: &Path) -> u32 {
    path.symlink_metadata().unwrap().permissions().mode() & 0o777
}
