//! Process group of Unix.

use crate::process::child_process::EndStatus;
use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use std::ffi::{OsStr, OsString};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, Command, ExitStatus};

/// Group of a child that is not reaped yet; its id is that of the child.
#[derive(Debug, Clone, Copy)]
pub(in super::super) struct ProcessGroup(Pid);

impl ProcessGroup {
    /// Lets the command start in a group of its own.
    pub(in super::super) fn prepare(command: &mut Command) {
        command.process_group(0);
    }

    /// Returns the group of a child that was started so.
    pub(in super::super) fn of_child(child: &Child) -> Option<Self> {
        let raw = i32::try_from(child.id()).ok();
        raw.and_then(Pid::from_raw).map(Self)
    }

    /// Returns the id of the child and of the group.
    pub(in super::super) fn id(self) -> i32 {
        self.0.as_raw_nonzero().get()
    }

    /// Waits until the child has exited, without reaping it.
    pub(in super::super) fn wait_for_exit(self, _child: &mut Child) {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
        while waitid(WaitId::Pid(self.0), options).is_err_and(|error| error == Errno::INTR) {}
    }

    /// Asks the group to terminate. A stopped process handles the signal only after it continues.
    pub(in super::super) fn terminate(self) {
        self.signal(Signal::TERM);
        self.signal(Signal::CONT);
    }

    /// Kills the group.
    pub(in super::super) fn kill(self) {
        self.signal(Signal::KILL);
    }

    /// Sends a signal to the group, which may be gone already.
    fn signal(self, signal: Signal) {
        let _gone = kill_process_group(self.0, signal);
    }
}

/// Returns the reason for the end of a child that ended by itself.
pub(in super::super) fn end_status(status: ExitStatus) -> EndStatus {
    match (status.code(), status.signal()) {
        (Some(code), _) => EndStatus::Exit(code),
        (None, Some(signal)) => EndStatus::Signal(signal),
        (None, None) => EndStatus::Exit(1),
    }
}

/// Returns the reason for the end of a child that was killed and is not reaped.
pub(in super::super) fn killed_status() -> EndStatus {
    EndStatus::Signal(Signal::KILL.as_raw())
}

/// Returns true for the error code of a file that is not a program.
pub(in super::super) fn is_no_program(code: i32) -> bool {
    code == Errno::NOEXEC.raw_os_error()
}

/// Returns the program to start: the system finds it by its name.
pub(in super::super) fn find_program(program: &OsStr, _cwd: &Path) -> OsString {
    program.to_owned()
}
