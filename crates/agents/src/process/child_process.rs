//! A child process in its own process group, whose output is read while it runs and which is certain to end.
//!
//! One thread for each pipe reads output into a bounded channel, so a flood of output slows the child down instead of
//! filling memory. Another thread waits for the exit without reaping the child. Until it is reaped, its process id
//! and group id cannot be reused, so a signal to the group never reaches another process.

mod process_group;
mod spawn;
mod version;

pub use spawn::{LaunchSpec, spawn};
pub use version::program_version;

use heirloom_model::limits;
use process_group::ProcessGroup;
use std::process::ExitStatus;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Size of one read from a pipe.
const CHUNK_BYTES: usize = 64 << 10;
/// Capacity of the channel between readers and sink, chunks.
const QUEUED_CHUNKS_MAX: usize = 16;
/// Most bytes read after a group was killed: more than all pipes and chunks can hold.
const REMAINING_BYTES_MAX: usize = 8 << 20;

/// Event of a running child.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Chunk<'a> {
    /// Bytes of standard output, cut anywhere.
    Stdout(&'a [u8]),
    /// Bytes of standard error, cut anywhere.
    Stderr(&'a [u8]),
    /// No output arrived for a while.
    Tick,
}

/// Limits after which a child is terminated.
#[derive(Debug, Clone)]
pub struct PumpLimits {
    /// Maximum run time.
    pub timeout: Option<Duration>,
    /// Set by another thread to interrupt the child.
    pub interrupt: Arc<AtomicBool>,
    /// Time between the termination signal and the kill of the group.
    pub terminate_grace: Duration,
    /// Time for which its pipes may stay open after its exit.
    pub drain_grace: Duration,
    /// Time without output after which the sink gets a [`Chunk::Tick`] and the interrupt flag is checked.
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

/// Reason for the end of a child.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EndStatus {
    /// The child exited with this code.
    Exit(i32),
    /// A signal that we did not send ended the child.
    Signal(i32),
    /// The child exceeded its time limit and was terminated.
    TimedOut,
    /// The child was interrupted and terminated.
    Interrupted,
}

impl EndStatus {
    /// Returns true if the child exited by itself with code 0.
    pub fn is_success(self) -> bool {
        self == Self::Exit(0)
    }
}

/// Result of a child's run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChildExit {
    /// Reason for the end.
    pub status: EndStatus,
    /// Milliseconds from start to exit.
    pub duration_ms: u64,
    /// True if remaining processes of the group kept its pipes open and were killed.
    pub cut_off: bool,
}

/// Message from a thread of a child.
#[derive(Debug)]
enum ChildReport {
    Stdout(Vec<u8>),
    Stderr(Vec<u8>),
    /// One of the two pipes is closed.
    Eof,
    /// The child exited at this time; it is not reaped yet.
    Exited(Instant),
}

/// A running child. Dropping it kills its group.
#[derive(Debug)]
pub struct RunningChild {
    group: ProcessGroup,
    started: Instant,
    reports: Receiver<ChildReport>,
    /// Dropped to allow the waiting thread to reap the child.
    release: Option<SyncSender<()>>,
    waiter: Option<JoinHandle<Option<ExitStatus>>>,
    open_pipes: u8,
    exited_at: Option<Instant>,
}

/// State of the pump.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    RunningChild,
    /// The termination signal was sent; the group is killed at this time.
    Terminating(Instant),
    /// The child exited; its pipes may stay open until this time.
    Draining(Instant),
    /// The group was killed. The rest in the pipes is finite unless a process escaped from the group. A slow sink
    /// must receive all of it, so this state ends after a quiet period and not at a fixed time.
    Killed {
        quiet_until: Instant,
        bytes_left: usize,
    },
}

impl RunningChild {
    /// Returns the child's process id, which is also its group id.
    pub fn pid(&self) -> i32 {
        self.group.id()
    }

    /// Passes the child's output to `sink` until the child ends or is terminated.
    ///
    /// Chunks of one pipe arrive in order; the two pipes are not ordered. After a timeout or an interrupt the whole
    /// group gets a termination signal, then a kill. After an exit the rest of the pipes is still delivered; if other
    /// processes hold them open longer than the drain grace, the group is killed. If `sink` returns, this returns
    /// within the sum of the graces after the exit, the timeout or the interrupt.
    pub fn pump(mut self, limits: &PumpLimits, sink: &mut dyn FnMut(Chunk<'_>)) -> ChildExit {
        let deadline = limits
            .timeout
            .and_then(|after| self.started.checked_add(after));
        let mut stage = Stage::RunningChild;
        let mut forced = None;
        let mut cut_off = false;
        loop {
            let now = Instant::now();
            let interrupted = limits.interrupt.load(Ordering::Relaxed);
            match stage {
                Stage::RunningChild if self.exited_at.is_some() => {
                    stage = Stage::Draining(now + limits.drain_grace);
                }
                Stage::RunningChild if interrupted || deadline.is_some_and(|at| now >= at) => {
                    let why = if interrupted {
                        EndStatus::Interrupted
                    } else {
                        EndStatus::TimedOut
                    };
                    forced = Some((why, now));
                    self.group.terminate();
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
                Stage::RunningChild
                | Stage::Terminating(_)
                | Stage::Draining(_)
                | Stage::Killed { .. } => {}
            }
            if self.is_over() && !matches!(stage, Stage::Terminating(_)) {
                break;
            }
            let bytes = self.step(
                time_to_next_check(stage, deadline, now).min(limits.tick),
                sink,
            );
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

    /// Returns true if the child exited and both pipes are closed.
    fn is_over(&self) -> bool {
        self.exited_at.is_some() && self.open_pipes == 0
    }

    /// Handles one message; returns the number of its output bytes.
    fn step(&mut self, wait: Duration, sink: &mut dyn FnMut(Chunk<'_>)) -> usize {
        match self.reports.recv_timeout(wait) {
            Ok(ChildReport::Stdout(bytes)) => {
                sink(Chunk::Stdout(&bytes));
                return bytes.len();
            }
            Ok(ChildReport::Stderr(bytes)) => {
                sink(Chunk::Stderr(&bytes));
                return bytes.len();
            }
            Ok(ChildReport::Eof) => self.open_pipes = self.open_pipes.saturating_sub(1),
            Ok(ChildReport::Exited(at)) => self.exited_at = Some(at),
            Err(RecvTimeoutError::Timeout) => sink(Chunk::Tick),
            // Every thread has ended, so no more messages can arrive.
            Err(RecvTimeoutError::Disconnected) => {
                self.open_pipes = 0;
                self.exited_at.get_or_insert_with(Instant::now);
            }
        }
        0
    }

    /// Kills the group.
    fn kill(&self, limits: &PumpLimits) -> Stage {
        self.group.kill();
        Stage::Killed {
            quiet_until: Instant::now() + limits.drain_grace,
            bytes_left: REMAINING_BYTES_MAX,
        }
    }

    /// Reaps the child and returns its result.
    fn end(mut self, forced: Option<(EndStatus, Instant)>, cut_off: bool) -> ChildExit {
        let ended_at = self.exited_at;
        let status = self.reap();
        let by_itself = status.map(process_group::end_status);
        // The child may have exited before our signal, and the message arrived later.
        let forced =
            forced.filter(|(_, signalled_at)| ended_at.is_none_or(|ended| ended > *signalled_at));
        let forced = forced.map(|(why, _)| why);
        let ended_at = ended_at.unwrap_or_else(Instant::now);
        let duration = ended_at.duration_since(self.started);
        ChildExit {
            status: forced
                .or(by_itself)
                .unwrap_or_else(process_group::killed_status),
            duration_ms: u64::try_from(duration.as_millis()).unwrap_or(u64::MAX),
            cut_off,
        }
    }

    /// Lets the waiting thread reap the child. Does not block: a child that survives `SIGKILL` because it hangs in
    /// the kernel is reaped later by the thread.
    fn reap(&mut self) -> Option<ExitStatus> {
        drop(self.release.take());
        let waiter = self.waiter.take()?;
        self.exited_at?;
        waiter.join().ok().flatten()
    }
}

impl Drop for RunningChild {
    fn drop(&mut self) {
        // Until the child is reaped the group id cannot be reused.
        if self.release.is_some() {
            self.group.kill();
            let _reaped = self.reap();
        }
    }
}

/// Returns the time until the next deadline of the stage.
fn time_to_next_check(stage: Stage, deadline: Option<Instant>, now: Instant) -> Duration {
    let until = match stage {
        Stage::RunningChild => deadline,
        Stage::Terminating(until) | Stage::Draining(until) => Some(until),
        Stage::Killed { quiet_until, .. } => Some(quiet_until),
    };
    until.map_or(Duration::MAX, |until| until.saturating_duration_since(now))
}
