//! A project folder for one test.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A temporary project folder; deleted on drop.
#[derive(Debug)]
pub struct TempProject {
    folder: tempfile::TempDir,
    root: PathBuf,
}

impl TempProject {
    /// Creates an empty folder that is not a repository.
    ///
    /// Its path is canonical, so that it compares equal with what programs
    /// print (on some systems the temp folder is a symbolic link).
    pub fn plain() -> io::Result<TempProject> {
        let folder = tempfile::Builder::new().prefix("heirloom-").tempdir()?;
        TempProject::of(folder)
    }

    /// Creates a git repository on branch `main` with an identity and one commit.
    pub fn git() -> io::Result<TempProject> {
        let project = TempProject::plain()?;
        project.init_git()?;
        Ok(project)
    }

    /// As [`TempProject::git`], but inside `parent` (created if missing): for
    /// programs that refuse the system's temp folder.
    pub fn git_in(parent: &Path) -> io::Result<TempProject> {
        fs::create_dir_all(parent)?;
        let builder = tempfile::Builder::new()
            .prefix("project-")
            .tempdir_in(parent);
        let project = TempProject::of(builder?)?;
        project.init_git()?;
        Ok(project)
    }

    fn of(folder: tempfile::TempDir) -> io::Result<TempProject> {
        let root = folder.path().canonicalize()?;
        Ok(TempProject { folder, root })
    }

    /// Returns the project's root, absolute and canonical.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.root
    }

    /// Writes a file below the root, with its folders.
    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) -> io::Result<PathBuf> {
        let path = self.root.join(name);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent)?;
        }
        fs::write(&path, content)?;
        Ok(path)
    }

    /// Reads a text file below the root.
    pub fn read(&self, name: &str) -> io::Result<String> {
        fs::read_to_string(self.root.join(name))
    }

    /// Runs git in the project and returns its output; a failure is an error
    /// with git's standard error.
    pub fn run_git<A: AsRef<OsStr>>(&self, arguments: &[A]) -> io::Result<String> {
        let output = Command::new("git")
            .args(arguments)
            .current_dir(&self.root)
            // The machine's own git settings must not reach a test.
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_SYSTEM", "/dev/null")
            .output()?;
        if !output.status.success() {
            let words = String::from_utf8_lossy(&output.stderr).into_owned();
            return Err(io::Error::other(words));
        }
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }

    /// Keeps the folder after drop and returns its path: to look at a failure.
    #[must_use]
    pub fn keep(self) -> PathBuf {
        self.folder.keep()
    }

    fn init_git(&self) -> io::Result<()> {
        self.run_git(&["init", "--quiet", "--initial-branch", "main"])?;
        self.run_git(&["config", "user.name", "Test"])?;
        self.run_git(&["config", "user.email", "test@example.invalid"])?;
        self.run_git(&["config", "commit.gpgsign", "false"])?;
        self.write("README.md", "# Test project\n")?;
        self.run_git(&["add", "README.md"])?;
        self.run_git(&["commit", "--quiet", "--message", "start"])?;
        Ok(())
    }
}
