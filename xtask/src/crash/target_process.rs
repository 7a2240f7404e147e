//! Process under test, which is killed with its descendants.

use crate::sandbox::Sandbox;
use crate::unix_files::end_signal;
use std::io::{Read, Write};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// Command line and input of the process that is killed.
#[derive(Debug, Clone, Default)]
pub(super) struct Victim {
    /// The arguments of `heirloom`.
    pub(super) args: Vec<String>,
    /// Input in chunks, each after a pause.
    pub(super) input: Vec<(Duration, String)>,
}

/// Output and exit status.
#[derive(Debug)]
pub(super) struct ProcessOutput {
    /// Standard output.
    pub(super) stdout: String,
    /// Standard error.
    pub(super) stderr: String,
    /// Exit status.
    pub(super) status: ExitStatus,
    /// Run time.
    pub(super) took: Duration,
}

impl ProcessOutput {
    /// True if it was killed before it ended.
    pub(super) fn was_killed(&self) -> bool {
        const SIGKILL: i32 = 9;
        end_signal(self.status) == Some(SIGKILL)
    }

    /// Returns the complete output lines as JSON; text after the last newline is incomplete.
    pub(super) fn lines(&self) -> Vec<serde_json::Value> {
        let whole = self
            .stdout
            .rfind('\n')
            .map_or("", |end| &self.stdout[..end]);
        (whole.lines())
            .filter_map(|line| serde_json::from_str(line).ok())
            .collect()
    }
}

impl Victim {
    /// Creates a process without input.
    pub(super) fn without_input(args: &[&str]) -> Self {
        Self {
            args: args.iter().map(|arg| (*arg).to_owned()).collect(),
            input: Vec::new(),
        }
    }

    /// Starts it in the project of `desk` and kills it `after` that time, if given; returns when it
    /// and its descendants have exited.
    pub(super) fn run(
        &self,
        desk: &Sandbox,
        after: Option<Duration>,
    ) -> Result<ProcessOutput, String> {
        let args: Vec<&str> = self.args.iter().map(String::as_str).collect();
        let mut command = desk.in_session(&args);
        if !self.input.is_empty() {
            command.stdin(Stdio::piped());
        }
        let started = Instant::now();
        let mut child =
            (command.spawn()).map_err(|error| format!("cannot start setsid: {error}"))?;
        let (stdin, stdout, stderr) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let session = child.id();
        thread::scope(|scope| {
            if let Some(mut pipe) = stdin {
                scope.spawn(move || {
                    for (pause, piece) in &self.input {
                        thread::sleep(*pause);
                        // A killed process reads no more.
                        if pipe.write_all(piece.as_bytes()).is_err() {
                            break;
                        }
                    }
                });
            }
            let out = scope.spawn(move || read(stdout));
            let err = scope.spawn(move || read(stderr));
            let status = end(&mut child, started, after)?;
            let took = started.elapsed();
            kill_session(session)?;
            let text =
                |thread: thread::ScopedJoinHandle<'_, String>| thread.join().unwrap_or_default();
            Ok(ProcessOutput {
                stdout: text(out),
                stderr: text(err),
                status,
                took,
            })
        })
    }

    /// Runs it to its end, which must be successful.
    pub(super) fn run_to_end(&self, desk: &Sandbox) -> Result<ProcessOutput, String> {
        let output = self.run(desk, None)?;
        if output.status.success() {
            return Ok(output);
        }
        Err(format!(
            "`heirloom {}` ended with {}: {}",
            self.args.join(" "),
            output.status,
            crate::sandbox::excerpt(output.stderr.as_bytes())
        ))
    }
}

fn end(child: &mut Child, started: Instant, after: Option<Duration>) -> Result<ExitStatus, String> {
    if let Some(after) = after {
        thread::sleep(after.saturating_sub(started.elapsed()));
        child
            .kill()
            .map_err(|error| format!("cannot kill: {error}"))?;
    }
    child
        .wait()
        .map_err(|error| format!("cannot wait: {error}"))
}

fn read(pipe: Option<impl Read>) -> String {
    let mut bytes = Vec::new();
    // Output before a broken pipe counts.
    pipe.map_or(Ok(0), |mut pipe| pipe.read_to_end(&mut bytes))
        .unwrap_or_default();
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Kills the remaining processes of a session. An agent has its own process group.
fn kill_session(session: u32) -> Result<(), String> {
    const ROUNDS_MAX: usize = 500;
    for _ in 0..ROUNDS_MAX {
        let left = session_members(session);
        if left.is_empty() {
            return Ok(());
        }
        let mut kill = Command::new("kill");
        kill.arg("-KILL").args(&left).stderr(Stdio::null());
        // The process may have exited already.
        kill.status()
            .map_err(|error| format!("cannot start kill: {error}"))?;
        thread::sleep(Duration::from_millis(2));
    }
    Err(format!("processes of the session {session} do not die"))
}

/// The live processes of a session.
fn session_members(session: u32) -> Vec<String> {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    entries
        .filter_map(|entry| {
            let pid = entry.file_name().into_string().ok()?;
            pid.parse::<u32>().ok()?;
            let stat = std::fs::read_to_string(entry.path().join("stat")).ok()?;
            is_member(&stat, session).then_some(pid)
        })
        .collect()
}

/// True if `stat`, a line of /proc, describes a live process of the session.
fn is_member(stat: &str, session: u32) -> bool {
    // The name in brackets may contain any character.
    let after = stat.rsplit(')').next().unwrap_or_default();
    let mut fields = after.split_whitespace();
    let state = fields.next();
    state != Some("Z") && fields.nth(2).and_then(|id| id.parse().ok()) == Some(session)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::process::ExitStatusExt;

    #[test]
    fn member_of_session_is_recognised_by_stat_line() {
        let stat = "12 (a b) c) S 1 12 77 0 -1 4194560 1";
        assert!(is_member(stat, 77));
        assert!(!is_member(stat, 12));
        assert!(!is_member("12 (x) Z 1 12 77 0", 77));
        assert!(!is_member("", 77));
    }

    #[test]
    fn incomplete_last_line_is_ignored() {
        let output = ProcessOutput {
            stdout: "{\"id\": 1}\n{\"id\": 2}\n{\"id\": 3}".to_owned(),
            stderr: String::new(),
            status: ExitStatus::from_raw(9),
            took: Duration::ZERO,
        };
        assert!(output.was_killed());
        assert_eq!(output.lines().len(), 2);
    }
}
