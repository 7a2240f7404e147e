//! The scripted agent: a small real program for tests of the run loop.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The scripted agent, a POSIX shell script in this crate.
///
/// Its arguments define what it does; the head of the script lists the actions:
///
/// ```text
/// testkit-agent.sh --count runs --if 'in auth.rs' --say 'I know where' --on 3 --exit 1 -p 'Fix it'
/// ```
///
/// It is a script and not a binary of this crate, because cargo builds a package's binaries
/// only for that package's own tests, so `cargo nextest run -p other` on a
/// fresh clone would not find it. It is checked in rather than written at run
/// time because a file that was just written may still be open in a process
/// that another test is starting, and then cannot be executed.
#[derive(Clone, Copy, Debug)]
pub struct ScriptedAgent;

impl ScriptedAgent {
    /// Returns the program's absolute path; it is executable.
    #[must_use]
    pub fn path() -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("agent/testkit-agent.sh")
    }

    /// Returns a command with the actions and without input.
    pub fn command<A: AsRef<OsStr>>(actions: impl IntoIterator<Item = A>) -> Command {
        let mut command = Command::new(ScriptedAgent::path());
        command.args(actions).stdin(Stdio::null());
        command
    }

    /// Links the agent as `name` (`claude`, `codex`, …) in `folder`, for
    /// a test that puts the folder at the front of `PATH`; returns the path.
    #[cfg(unix)]
    pub fn link_as(folder: &Path, name: &str) -> std::io::Result<PathBuf> {
        std::fs::create_dir_all(folder)?;
        let link = folder.join(name);
        std::os::unix::fs::symlink(ScriptedAgent::path(), &link)?;
        Ok(link)
    }
}
