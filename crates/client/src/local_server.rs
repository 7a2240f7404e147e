//! A server on this machine that runs as long as a program needs it.

use crate::errors::Error;
use crate::memory::Memory;
use crate::settings::variable;
use serde_json::Value;
use std::ffi::OsString;
use std::fmt;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

/// Time for the start of a server.
const START: Duration = Duration::from_secs(30);

/// Time for the end of a server, after which it is killed.
const STOP: Duration = Duration::from_secs(10);

/// `heirloom serve` for the memory of a project on this machine, not started yet.
///
/// The program is the given one, else `HEIRLOOM_BIN`, else `heirloom` of the search path.
///
/// ```no_run
/// # fn main() -> Result<(), heirloom_client::Error> {
/// let server = heirloom_client::LocalServer::new(".").create(true).start()?;
/// println!("{:?}", server.memory().status()?.counts);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
#[must_use = "`start` starts it"]
pub struct LocalServer {
    project_dir: PathBuf,
    role: String,
    create: bool,
    program: Option<OsString>,
    variables: Vec<(OsString, OsString)>,
}

/// Running server, on a free port, with a token of its own. It is stopped, and the token revoked, when it is dropped.
#[must_use = "a dropped server is stopped"]
pub struct RunningServer {
    settings: LocalServer,
    child: Option<Child>,
    token_id: String,
    token: String,
    url: String,
    memory: Memory,
}

impl LocalServer {
    /// Describes a server for the project in this folder, with a token of the role orchestrator.
    pub fn new(project_dir: impl Into<PathBuf>) -> Self {
        Self {
            project_dir: project_dir.into(),
            role: "orchestrator".to_owned(),
            create: false,
            program: None,
            variables: Vec::new(),
        }
    }

    /// Sets the role of the token: agent, orchestrator, user or admin.
    pub fn role(mut self, role: impl Into<String>) -> Self {
        self.role = role.into();
        self
    }

    /// Creates the memory (`heirloom init`) if the project has none.
    pub fn create(mut self, create: bool) -> Self {
        self.create = create;
        self
    }

    /// Sets the path of the program.
    pub fn program(mut self, program: impl Into<OsString>) -> Self {
        self.program = Some(program.into());
        self
    }

    /// Sets a variable of the environment of the program.
    pub fn env(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        self.variables.push((name.into(), value.into()));
        self
    }

    /// Starts the server and waits until it listens.
    ///
    /// # Errors
    /// [`Error::ServerStart`] if the program is missing or fails.
    pub fn start(self) -> Result<RunningServer, Error> {
        if self.create {
            self.run(&["init", "--yes"])?;
        }
        let created = self.run(&["token", "create", "--role", &self.role])?;
        let text = |name: &str| created[name].as_str().unwrap_or_default().to_owned();
        let (token_id, token) = (text("id"), text("token"));
        let served = self.serve().and_then(|(child, url)| {
            let memory = Memory::builder().url(&url).token(&token).build()?;
            Ok((child, url, memory))
        });
        match served {
            Ok((child, url, memory)) => Ok(RunningServer {
                settings: self,
                child: Some(child),
                token_id,
                token,
                url,
                memory,
            }),
            Err(error) => {
                // The failed start is the error to report.
                drop(self.run(&["token", "revoke", &token_id]));
                Err(error)
            }
        }
    }

    fn command(&self, args: &[&str]) -> Command {
        let given = self.program.clone();
        let named = || variable("HEIRLOOM_BIN").map(OsString::from);
        let program = given.or_else(named).unwrap_or_else(|| "heirloom".into());
        let mut command = Command::new(program);
        command
            .arg("--project-dir")
            .arg(&self.project_dir)
            .arg("--json")
            .args(args)
            .envs(self.variables.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::null());
        command
    }

    fn run(&self, args: &[&str]) -> Result<Value, Error> {
        let shown = format!("`heirloom {}`", args.join(" "));
        let output = self
            .command(args)
            .output()
            .map_err(|error| Error::ServerStart(format!("{shown} cannot be run: {error}")))?;
        if !output.status.success() {
            let problem = String::from_utf8_lossy(&output.stderr);
            let problem = format!("{shown} failed: {}", problem.trim());
            return Err(Error::ServerStart(problem));
        }
        Ok(serde_json::from_slice(&output.stdout).unwrap_or_default())
    }

    /// Starts `heirloom serve` and returns the process and its address.
    fn serve(&self) -> Result<(Child, String), Error> {
        let failed = |text: String| Error::ServerStart(format!("`heirloom serve` {text}"));
        // Standard error remains that of the caller: it has the server's warnings.
        let mut child = self
            .command(&["serve", "--port", "0"])
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| failed(format!("cannot be run: {error}")))?;
        let (sender, lines) = mpsc::channel();
        let stdout = child.stdout.take();
        // A thread, because a read from a pipe has no time limit.
        thread::spawn(move || {
            let mut line = String::new();
            if let Some(stdout) = stdout {
                let mut stdout = BufReader::new(stdout);
                // The wait for the line reports a failure.
                drop(stdout.read_line(&mut line));
                drop(sender.send(line));
                // Later lines are read, so that the server never waits for its reader.
                drop(std::io::copy(&mut stdout, &mut std::io::sink()));
            }
        });
        let line = lines.recv_timeout(START).unwrap_or_default();
        let first: Value = serde_json::from_str(&line).unwrap_or_default();
        if let Some(url) = first["listening"].as_str() {
            return Ok((child, url.to_owned()));
        }
        let status = child.try_wait().ok().flatten();
        stop(&mut child);
        Err(failed(match status {
            Some(status) => format!("ended: {status}"),
            None => "did not listen in time".to_owned(),
        }))
    }
}

impl RunningServer {
    /// Returns a client of this server.
    #[must_use]
    pub fn memory(&self) -> &Memory {
        &self.memory
    }

    /// Returns the address.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Returns the token.
    #[must_use]
    pub fn token(&self) -> &str {
        &self.token
    }
}

impl Drop for RunningServer {
    fn drop(&mut self) {
        if let Some(mut child) = self.child.take() {
            stop(&mut child);
            // A destructor has no caller to report to; the token is of no use without a server.
            drop(self.settings.run(&["token", "revoke", &self.token_id]));
        }
    }
}

impl fmt::Debug for RunningServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RunningServer")
            .field("url", &self.url)
            .finish_non_exhaustive()
    }
}

/// Ends a process, at first with SIGTERM.
fn stop(child: &mut Child) {
    terminate(child);
    let started = Instant::now();
    while started.elapsed() < STOP {
        if !matches!(child.try_wait(), Ok(None)) {
            return;
        }
        thread::sleep(Duration::from_millis(5));
    }
    // It may have ended meanwhile.
    drop(child.kill());
    drop(child.wait());
}

#[cfg(unix)]
fn terminate(child: &Child) {
    use rustix::process::{Pid, Signal, kill_process};
    let id = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    if let Some(id) = id {
        // A process that has ended needs no signal.
        kill_process(id, Signal::TERM).ok();
    }
}

#[cfg(not(unix))]
fn terminate(child: &mut Child) {
    drop(child.kill());
}
