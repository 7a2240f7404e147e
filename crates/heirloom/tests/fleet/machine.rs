//! Machines and their database for tests.

use crate::answer_validation::assert_described;
use serde_json::Value;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use tempfile::TempDir;

/// Variable with the URL of the server.
const URL_VARIABLE: &str = "HEIRLOOM_TEST_POSTGRES";

/// Database of one test: a schema of its own, which is dropped with the value.
pub(crate) struct Database {
    url: String,
    schema: String,
}

impl Database {
    /// Creates a database; `None` without a server.
    pub(crate) fn new() -> Option<Self> {
        static MADE: AtomicUsize = AtomicUsize::new(0);
        let url = std::env::var(URL_VARIABLE).ok()?;
        let number = MADE.fetch_add(1, Ordering::Relaxed);
        let schema = format!("fleet_{}_{number}", std::process::id());
        psql(&url, &format!("CREATE SCHEMA {schema}"));
        Some(Self { url, schema })
    }

    /// Returns the address with its password.
    pub(crate) fn url(&self) -> String {
        let separator = if self.url.contains('?') { '&' } else { '?' };
        format!(
            "{}{separator}options=-csearch_path%3D{}",
            self.url, self.schema
        )
    }

    /// Returns the password of the address, and the address without it.
    pub(crate) fn secret(&self) -> (String, String) {
        let url = self.url();
        let (start, rest) = url.split_once("://").unwrap();
        let (login, host) = rest.split_once('@').unwrap();
        let (user, password) = login.split_once(':').unwrap_or((login, ""));
        (password.to_owned(), format!("{start}://{user}@{host}"))
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        psql(&self.url, &format!("DROP SCHEMA {} CASCADE", self.schema));
    }
}

/// Executes a statement with the program that comes with the server.
pub(crate) fn psql(url: &str, sql: &str) {
    let done = Command::new("psql")
        .args(["--quiet", "--no-psqlrc", "--command", sql, url])
        .stderr(Stdio::null())
        .status()
        .unwrap();
    assert!(done.success(), "{sql}");
}

/// A machine: a home folder, and a clone of a project.
pub(crate) struct Machine {
    folder: TempDir,
    store: String,
}

impl Machine {
    /// Creates a machine with a clone of `remote`.
    pub(crate) fn new(store: &str, remote: &str) -> Self {
        let machine = Self {
            folder: tempfile::tempdir().unwrap(),
            store: store.to_owned(),
        };
        let root = machine.root();
        fs::create_dir_all(&root).unwrap();
        fs::create_dir_all(machine.home()).unwrap();
        let git = |args: &[&str]| {
            let done = Command::new("git").args(args).current_dir(&root).status();
            assert!(done.unwrap().success());
        };
        git(&["init", "-q"]);
        git(&["remote", "add", "origin", remote]);
        machine
    }

    /// Returns the folder of the project.
    pub(crate) fn root(&self) -> PathBuf {
        self.folder.path().join("shop")
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.folder.path().join("home")
    }

    /// Creates a command with the store in the environment.
    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = self.plain_command(args);
        command.env("HEIRLOOM_STORE", &self.store);
        command
    }

    /// Creates a command that names no store.
    pub(crate) fn plain_command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(Path::new(env!("CARGO_BIN_EXE_heirloom")));
        command
            .args(args)
            .current_dir(self.root())
            .env_clear()
            .env("PATH", std::env::var("PATH").unwrap())
            .env("HOME", self.home())
            .stdin(Stdio::null());
        command
    }

    /// Runs a command that succeeds and returns what it printed.
    pub(crate) fn run(&self, args: &[&str]) -> String {
        let done = self.command(args).output().unwrap();
        assert!(done.status.success(), "{args:?}\n{}", text(&done));
        String::from_utf8(done.stdout).unwrap()
    }

    /// Runs a command that prints JSON.
    pub(crate) fn json(&self, args: &[&str]) -> Value {
        let mut args = args.to_vec();
        args.push("--json");
        let printed = self.run(&args);
        let args: Vec<String> = args.into_iter().map(str::to_owned).collect();
        assert_described(&args, &printed, "");
        serde_json::from_str(&printed).unwrap()
    }

    /// Runs a command with this text as its input.
    pub(crate) fn run_with_input(&self, command: &mut Command, input: &str) -> Output {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut stdin = child.stdin.take().unwrap();
        stdin.write_all(input.as_bytes()).unwrap();
        drop(stdin);
        child.wait_with_output().unwrap()
    }
}

/// Returns everything that a command printed.
pub(crate) fn text(output: &Output) -> String {
    let parts = [&output.stdout, &output.stderr];
    parts.map(|part| String::from_utf8_lossy(part)).concat()
}
