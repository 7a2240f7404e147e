//! Process tree of Windows, ended by `taskkill`.
//!
//! There is no request to terminate that every program receives, so a tree is ended without one. `taskkill` finds the
//! processes by their parents: those whose parent has exited are not found and go on running.

use crate::process::child_process::EndStatus;
use heirloom_fs::program_file;
use std::ffi::{OsStr, OsString};
use std::os::windows::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};

/// Ctrl-C of the console does not reach the child (`CREATE_NEW_PROCESS_GROUP`).
const NEW_PROCESS_GROUP: u32 = 0x0000_0200;
/// No console window opens (`CREATE_NO_WINDOW`).
const NO_WINDOW: u32 = 0x0800_0000;
/// Exit code of a process that `taskkill` ended.
const KILLED: i32 = 1;
/// Error code of a file that is not a program (`ERROR_BAD_EXE_FORMAT`).
const BAD_EXE_FORMAT: i32 = 193;

/// A child whose process handle is open, so that its id cannot be reused, and its descendants.
#[derive(Debug, Clone, Copy)]
pub(in super::super) struct ProcessGroup(i32);

impl ProcessGroup {
    /// Lets the command start in a group of its own.
    pub(in super::super) fn prepare(command: &mut Command) {
        command.creation_flags(NEW_PROCESS_GROUP);
    }

    /// Returns the group of a child that was started so.
    pub(in super::super) fn of_child(child: &Child) -> Option<Self> {
        i32::try_from(child.id()).ok().map(Self)
    }

    /// Returns the id of the child.
    pub(in super::super) fn id(self) -> i32 {
        self.0
    }

    /// Waits until the child has exited; its handle remains open.
    pub(in super::super) fn wait_for_exit(self, child: &mut Child) {
        let waited = child.wait();
        drop(waited);
    }

    /// Ends the tree.
    pub(in super::super) fn terminate(self) {
        self.kill();
    }

    /// Ends the tree; if that fails, the child alone.
    pub(in super::super) fn kill(self) {
        // Both fail if the child has exited already.
        let _is_ended = self.taskkill(&["/T", "/F"]) || self.taskkill(&["/F"]);
    }

    fn taskkill(self, options: &[&str]) -> bool {
        let mut command = Command::new("taskkill");
        command
            .args(options)
            .arg("/PID")
            .arg(self.0.to_string())
            .creation_flags(NO_WINDOW)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        command.status().is_ok_and(|status| status.success())
    }
}

/// Returns the reason for the end of a child that ended by itself.
pub(in super::super) fn end_status(status: ExitStatus) -> EndStatus {
    EndStatus::Exit(status.code().unwrap_or(KILLED))
}

/// Returns the reason for the end of a child that was killed and is not reaped.
pub(in super::super) fn killed_status() -> EndStatus {
    EndStatus::Exit(KILLED)
}

/// Returns true for the error code of a file that is not a program.
pub(in super::super) fn is_no_program(code: i32) -> bool {
    code == BAD_EXE_FORMAT
}

/// Returns the file of a program: without an ending the system finds only `.exe`.
pub(in super::super) fn find_program(program: &OsStr, cwd: &Path) -> OsString {
    let path = Path::new(program);
    if path.components().count() > 1 {
        let found = program_file(&cwd.join(path));
        return found.map_or_else(|| program.to_owned(), PathBuf::into_os_string);
    }
    let folders = search_path();
    let mut found = std::env::split_paths(&folders).filter_map(|at| program_file(&at.join(path)));
    found
        .next()
        .map_or_else(|| program.to_owned(), PathBuf::into_os_string)
}

#[expect(
    clippy::disallowed_methods,
    reason = "the system searches the same variable for programs that end in `.exe`"
)]
fn search_path() -> OsString {
    std::env::var_os("PATH").unwrap_or_default()
}
