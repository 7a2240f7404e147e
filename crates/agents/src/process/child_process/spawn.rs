//! Start of a child and its threads.

use super::process_group::{ProcessGroup, find_program, is_no_program};
use super::{CHUNK_BYTES, ChildReport, QUEUED_CHUNKS_MAX, RunningChild};
use heirloom_model::Fault;
use heirloom_model::text::EscapedPath;
use std::ffi::OsString;
use std::io::{self, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;
use std::time::Instant;

/// Command to start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LaunchSpec {
    /// The program: a name to look up in `PATH`, or a path (a relative one is relative to `cwd`).
    pub program: OsString,
    /// Its arguments.
    pub args: Vec<OsString>,
    /// Working folder.
    pub cwd: PathBuf,
    /// Environment variables in addition to the inherited ones.
    pub env: Vec<(OsString, OsString)>,
    /// Content of standard input; `None` means `/dev/null`.
    pub stdin: Option<Vec<u8>>,
}

/// Starts a child in its own process group.
///
/// A thread writes standard input and closes it; a child that does not read it blocks nothing. `NotFound` if the
/// program or the folder does not exist, `Usage` if an argument cannot be passed (NUL, too long), `Failed` if the
/// program cannot be run.
pub fn spawn(spec: &LaunchSpec) -> Result<RunningChild, Fault> {
    let mut command = Command::new(find_program(&spec.program, &spec.cwd));
    command
        .args(&spec.args)
        .current_dir(&spec.cwd)
        .envs(spec.env.iter().map(|(name, value)| (name, value)))
        .stdin(if spec.stdin.is_some() {
            Stdio::piped()
        } else {
            Stdio::null()
        })
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    ProcessGroup::prepare(&mut command);
    let started = Instant::now();
    let child = command.spawn().map_err(|error| start_fault(spec, &error))?;
    start_threads(child, spec.stdin.clone(), started)
}

/// Starts the threads of a child.
fn start_threads(
    mut child: Child,
    input: Option<Vec<u8>>,
    started: Instant,
) -> Result<RunningChild, Fault> {
    let no_thread =
        |error: &io::Error| Fault::failed(format!("cannot watch the child process: {error}"));
    let Some(group) = ProcessGroup::of_child(&child) else {
        return Err(Fault::failed("the child process has no id"));
    };
    let pipes = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let (sender, reports) = sync_channel(QUEUED_CHUNKS_MAX);
    let (release, released) = sync_channel::<()>(0);
    let to_waiter = sender.clone();
    let waiter = spawn_named("child-wait", move || {
        wait(child, group, &to_waiter, &released)
    });
    // From now on dropping `running` ends the child.
    let mut running = RunningChild {
        group,
        started,
        reports,
        release: Some(release),
        waiter: Some(waiter.map_err(|error| no_thread(&error))?),
        open_pipes: 0,
        exited_at: None,
    };
    let (stdin, stdout, stderr) = pipes;
    if let Some(pipe) = stdout {
        let sender = sender.clone();
        spawn_named("child-stdout", move || {
            read(pipe, &sender, ChildReport::Stdout)
        })
        .map_err(|error| no_thread(&error))?;
        running.open_pipes += 1;
    }
    if let Some(pipe) = stderr {
        spawn_named("child-stderr", move || {
            read(pipe, &sender, ChildReport::Stderr)
        })
        .map_err(|error| no_thread(&error))?;
        running.open_pipes += 1;
    }
    if let (Some(mut pipe), Some(bytes)) = (stdin, input) {
        // The child may exit without reading its input.
        spawn_named("child-stdin", move || drop(pipe.write_all(&bytes)))
            .map_err(|error| no_thread(&error))?;
    }
    Ok(running)
}

fn spawn_named<T: Send + 'static>(
    name: &str,
    work: impl FnOnce() -> T + Send + 'static,
) -> io::Result<thread::JoinHandle<T>> {
    thread::Builder::new().name(name.to_owned()).spawn(work)
}

/// Reads a pipe to its end, or until the receiver is dropped.
fn read(
    mut pipe: impl Read,
    reports: &SyncSender<ChildReport>,
    report: fn(Vec<u8>) -> ChildReport,
) {
    let mut buffer = vec![0; CHUNK_BYTES];
    loop {
        match pipe.read(&mut buffer) {
            Ok(0) => break,
            Ok(length) => {
                if reports.send(report(buffer[..length].to_vec())).is_err() {
                    return;
                }
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(_) => break,
        }
    }
    let _nobody_listens = reports.send(ChildReport::Eof);
}

/// Reports the child's exit, and reaps it after the release.
fn wait(
    mut child: Child,
    group: ProcessGroup,
    reports: &SyncSender<ChildReport>,
    released: &Receiver<()>,
) -> Option<ExitStatus> {
    group.wait_for_exit(&mut child);
    let _nobody_listens = reports.send(ChildReport::Exited(Instant::now()));
    let _dropped = released.recv();
    child.wait().ok()
}

/// Explains why a program could not be started.
fn start_fault(spec: &LaunchSpec, error: &io::Error) -> Fault {
    let program = Path::new(&spec.program);
    let name = program.to_escaped();
    if !spec.cwd.is_dir() {
        return Fault::not_found(format!(
            "the folder {} does not exist",
            spec.cwd.to_escaped()
        ));
    }
    let by_path = program.components().count() > 1 || program.is_absolute();
    let file = spec.cwd.join(program);
    match (error.kind(), error.raw_os_error()) {
        (ErrorKind::NotFound, _) if by_path && file.exists() => Fault::not_found(format!(
            "`{name}` cannot be started: the interpreter that its first line names does not exist"
        ))
        .hint("correct the `#!` line, or install the interpreter"),
        (ErrorKind::NotFound, _) if by_path => {
            Fault::not_found(format!("the program `{name}` does not exist"))
                .hint(format!("looked for {}", file.to_escaped()))
        }
        (ErrorKind::NotFound, _) => {
            Fault::not_found(format!("the program `{name}` is not in PATH"))
                .hint("install it, or name it with its folder")
        }
        (ErrorKind::PermissionDenied, _) if file.is_dir() => {
            Fault::failed(format!("`{name}` is a folder, not a program"))
        }
        (ErrorKind::PermissionDenied, _) => {
            Fault::failed(format!("`{name}` may not be executed")).hint(format!("chmod +x {name}"))
        }
        (ErrorKind::ArgumentListTooLong, _) => Fault::usage(format!(
            "the arguments of `{name}` are too long for the system"
        ))
        .hint("request a smaller context, or let the program read standard input"),
        (ErrorKind::InvalidInput, _) => Fault::usage(format!(
            "an argument or variable for `{name}` contains a NUL character"
        )),
        (_, Some(code)) if is_no_program(code) => {
            Fault::failed(format!("`{name}` is not a program that the system can run"))
                .hint("a script needs a first line such as `#!/bin/sh`")
        }
        _ => Fault::failed(format!("`{name}` cannot be started: {error}")),
    }
}
