//! One child process: started in a group of its own, read while it runs, ended for sure.
//!
//! Output is read by a thread per pipe into a bounded channel, so a child that floods is slowed down
//! instead of filling memory. Another thread waits for the end without reaping the child: until the
//! child is reaped its process id, and with it its group, cannot belong to anybody else, so a signal
//! to the group never reaches a stranger.

mod spawn;
mod version;

pub use spawn::{LaunchSpec, spawn};
pub use version::version_of;

use heirloom_model::limits;
use rustix::process::{Pid, Signal, kill_process_group};
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Bytes that are read from a pipe at once.
const CHUNK_BYTES: usize = 64 << 10;
/// Chunks that wait between the readers and the sink.
const CHUNKS_WAITING_MAX: usize = 16;
/// Most bytes that are still taken after a group was killed: more than all pipes and chunks hold.
const LEFT_OVER_BYTES_MAX: usize = 8 << 20;

/// Something that happened while a child ran.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Chunk<'a> {
    /// Bytes of standard output, cut anywhere.
    Stdout(&'a [u8]),
    /// Bytes of standard error, cut anywhere.
    Stderr(&'a [u8]),
    /// Time passed and nothing happened.
    Tick,
}

/// When a child is ended, and how patiently.
#[derive(Debug, Clone)]
pub struct PumpLimits {
    /// How long it may run.
    pub timeout: Option<Duration>,
    /// Set by somebody who wants it to end now.
    pub interrupt: Arc<AtomicBool>,
    /// Time between asking its group to end and killing it.
    pub terminate_grace: Duration,
    /// Time that its pipes may stay open after it has ended.
    pub drain_grace: Duration,
    /// Time without output after which the sink gets a [`Chunk::Tick`] and the interrupt is looked at.
    pub tick: Duration,
}

impl Default for PumpLimits {
    fn default() -> Self {
        Self {
            timeout: None,
            interrupt: Arc::default(),
            terminate_grace: Duration::from_millis(limits::TERMINATE_GRACE_MS),
            drain_grace: Duration::from_millis(limits::DRAIN_GRACE_MS),
            tick: Duration::from_millis(100),
        }
    }
}

/// Why a child is no longer running.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EndStatus {
    /// It ended with this code.
    Exit(i32),
    /// This signal ended it, and it was not ours.
    Signal(i32),
    /// It ran too long and was ended.
    TimedOut,
    /// Somebody wanted it to end, and it was ended.
    Interrupted,
}

impl EndStatus {
    /// Whether it ended by itself with code 0.
    pub fn is_success(self) -> bool {
        self == Self::Exit(0)
    }
}

/// How a child ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ended {
    /// Why it is no longer running.
    pub status: EndStatus,
    /// Milliseconds from its start to its end.
    pub duration_ms: u64,
    /// Whether processes that it left behind held its pipes open and were cut off.
    pub cut_off: bool,
}

/// What the threads of a child report.
#[derive(Debug)]
enum Report {
    Stdout(Vec<u8>),
    Stderr(Vec<u8>),
    /// One of the two pipes is closed.
    Eof,
    /// The child has ended at this moment; it is not reaped yet.
    Exited(Instant),
}

/// A child that runs. Dropping it kills its group.
#[derive(Debug)]
pub struct Running {
    pid: Pid,
    started: Instant,
    reports: Receiver<Report>,
    /// Dropped to let the waiting thread reap the child.
    release: Option<SyncSender<()>>,
    waiter: Option<JoinHandle<Option<ExitStatus>>>,
    open_pipes: u8,
    exited_at: Option<Instant>,
}

/// What the pump does about the child just now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    Running,
    /// Asked to end, until this moment.
    Terminating(Instant),
    /// Ended by itself, its pipes may stay open until this moment.
    Draining(Instant),
    /// Killed. What is left in the pipes is finite unless somebody escaped from the group; a slow
    /// sink must get all of it, so it ends when it is quiet rather than at a fixed moment.
    Killed {
        quiet_until: Instant,
        bytes_left: usize,
    },
}

impl Running {
    /// The child's process id, which is also its group's.
    pub fn pid(&self) -> i32 {
        self.pid.as_raw_nonzero().get()
    }

    /// Hands the child's output to `sink` until it has ended, or ends it.
    ///
    /// Chunks of one pipe arrive in order; between the two pipes there is no order. After a timeout
    /// or an interrupt its whole group is asked to end, then killed. When it ends by itself, what it
    /// left in its pipes is still delivered; if others hold them open longer than the drain grace,
    /// its group is killed. As long as `sink` returns, this returns within the sum of the graces
    /// after the child's end, its timeout or the interrupt.
    pub fn pump(mut self, limits: &PumpLimits, sink: &mut dyn FnMut(Chunk<'_>)) -> Ended {
        let deadline = limits
            .timeout
            .and_then(|after| self.started.checked_add(after));
        let mut stage = Stage::Running;
        let mut forced = None;
        let mut cut_off = false;
        loop {
            let now = Instant::now();
            let interrupted = limits.interrupt.load(Ordering::Relaxed);
            match stage {
                Stage::Running if self.exited_at.is_some() => {
                    stage = Stage::Draining(now + limits.drain_grace);
                }
                Stage::Running if interrupted || deadline.is_some_and(|at| now >= at) => {
                    let why = if interrupted {
                        EndStatus::Interrupted
                    } else {
                        EndStatus::TimedOut
                    };
                    forced = Some((why, now));
                    self.terminate();
                    stage = Stage::Terminating(now + limits.terminate_grace);
                }
                Stage::Terminating(until) if now >= until || self.is_over() => {
                    stage = self.kill(limits);
                }
                Stage::Draining(until) if !self.is_over() && (now >= until || interrupted) => {
                    cut_off = true;
                    stage = self.kill(limits);
                }
                Stage::Killed { quiet_until, .. } if now >= quiet_until => break,
                Stage::Killed { bytes_left: 0, .. } => break,
                Stage::Running
                | Stage::Terminating(_)
                | Stage::Draining(_)
                | Stage::Killed { .. } => {}
            }
            if self.is_over() && !matches!(stage, Stage::Terminating(_)) {
                break;
            }
            let bytes = self.step(wait_for(stage, deadline, now).min(limits.tick), sink);
            if let Stage::Killed {
                quiet_until,
                bytes_left,
            } = &mut stage
                && bytes > 0
            {
                *quiet_until = Instant::now() + limits.drain_grace;
                *bytes_left = bytes_left.saturating_sub(bytes);
            }
        }
        cut_off |= self.open_pipes > 0;
        self.end(forced, cut_off)
    }

    /// Whether the child has ended and both its pipes are closed.
    fn is_over(&self) -> bool {
        self.exited_at.is_some() && self.open_pipes == 0
    }

    /// Takes one report; how many bytes of output it was.
    fn step(&mut self, wait: Duration, sink: &mut dyn FnMut(Chunk<'_>)) -> usize {
        match self.reports.recv_timeout(wait) {
            Ok(Report::Stdout(bytes)) => {
                sink(Chunk::Stdout(&bytes));
                return bytes.len();
            }
            Ok(Report::Stderr(bytes)) => {
                sink(Chunk::Stderr(&bytes));
                return bytes.len();
            }
            Ok(Report::Eof) => self.open_pipes = self.open_pipes.saturating_sub(1),
            Ok(Report::Exited(at)) => self.exited_at = Some(at),
            Err(RecvTimeoutError::Timeout) => sink(Chunk::Tick),
            // Every thread is gone: nothing is left to wait for.
            Err(RecvTimeoutError::Disconnected) => {
                self.open_pipes = 0;
                self.exited_at.get_or_insert_with(Instant::now);
            }
        }
        0
    }

    /// Asks the group to end. A stopped process must go on to hear it.
    fn terminate(&self) {
        self.signal(Signal::TERM);
        self.signal(Signal::CONT);
    }

    /// Kills the group.
    fn kill(&self, limits: &PumpLimits) -> Stage {
        self.signal(Signal::KILL);
        Stage::Killed {
            quiet_until: Instant::now() + limits.drain_grace,
            bytes_left: LEFT_OVER_BYTES_MAX,
        }
    }

    /// Sends a signal to the group, which may be gone already.
    fn signal(&self, signal: Signal) {
        let _gone = kill_process_group(self.pid, signal);
    }

    /// Reaps the child and says how it ended.
    fn end(mut self, forced: Option<(EndStatus, Instant)>, cut_off: bool) -> Ended {
        let ended_at = self.exited_at;
        let status = self.reap();
        let by_itself = status.map(|status| match (status.code(), status.signal()) {
            (Some(code), _) => EndStatus::Exit(code),
            (None, Some(signal)) => EndStatus::Signal(signal),
            (None, None) => EndStatus::Exit(1),
        });
        // It may have ended before we asked it to, and the news came later.
        let forced = forced.filter(|(_, asked)| ended_at.is_none_or(|ended| ended > *asked));
        let forced = forced.map(|(why, _)| why);
        let ended_at = ended_at.unwrap_or_else(Instant::now);
        let duration = ended_at.duration_since(self.started);
        Ended {
            status: forced
                .or(by_itself)
                .unwrap_or(EndStatus::Signal(Signal::KILL.as_raw())),
            duration_ms: u64::try_from(duration.as_millis()).unwrap_or(u64::MAX),
            cut_off,
        }
    }

    /// Lets the waiting thread reap the child. Does not block: a child that even `SIGKILL` does not
    /// end (it hangs in the kernel) is reaped later by the thread.
    fn reap(&mut self) -> Option<ExitStatus> {
        drop(self.release.take());
        let waiter = self.waiter.take()?;
        self.exited_at?;
        waiter.join().ok().flatten()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // Unless it is reaped, the group is still the child's.
        if self.release.is_some() {
            self.signal(Signal::KILL);
            let _reaped = self.reap();
        }
    }
}

/// How long nothing needs to be looked at.
fn wait_for(stage: Stage, deadline: Option<Instant>, now: Instant) -> Duration {
    let until = match stage {
        Stage::Running => deadline,
        Stage::Terminating(until) | Stage::Draining(until) => Some(until),
        Stage::Killed { quiet_until, .. } => Some(quiet_until),
    };
    until.map_or(Duration::MAX, |until| until.saturating_duration_since(now))
}
