//! Files of a git repository that an iteration changed.
//!
//! Starts `git`, therefore only inside a run that a person started. Every failure (no git, no repository, a
//! repository too large for the time limit) counts as "nothing known".

use super::child_process::{Chunk, LaunchSpec, PumpLimits, spawn};
use heirloom_fs::durable::regular_file::{self, LinkPolicy};
use heirloom_model::{limits, text};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::time::{Duration, SystemTime};

/// Time limit for one git call.
const TIMEOUT: Duration = Duration::from_secs(20);
/// Most bytes of git's output that are read.
const ANSWER_BYTES_MAX: usize = 32 << 20;
/// Our own folder; changes in it are not work of the agent.
const OWN_FOLDER: &str = ".heirloom";

/// State of a work tree: the checked-out commit, and fingerprints of the changed files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GitState {
    root: PathBuf,
    /// The checked-out commit; `None` before the first one.
    head: Option<String>,
    branch: Option<String>,
    /// Files that differ from the commit, relative to `root`.
    dirty: BTreeMap<String, Option<FileFingerprint>>,
}

/// Size and modification time, to detect a new write without reading the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct FileFingerprint {
    size: u64,
    modified: Option<SystemTime>,
}

impl GitState {
    /// Reads the state of the work tree below `root`; `None` without a work tree or git.
    ///
    /// Ignores `.heirloom/` and files ignored by git. Takes no lock in the repository.
    pub fn read(root: &Path) -> Option<Self> {
        let prefix = git_output(root, &["rev-parse", "--show-prefix"])?;
        let prefix = String::from_utf8_lossy(&prefix)
            .trim_end_matches('\n')
            .to_owned();
        let output = git_output(
            root,
            &[
                "status",
                "--porcelain=v2",
                "--branch",
                "-z",
                "--untracked-files=all",
                "--no-renames",
                "--ignore-submodules=dirty",
                "--",
                ".",
                ":(exclude).heirloom",
            ],
        )?;
        let output = String::from_utf8_lossy(&output);
        let mut state = Self {
            root: root.to_owned(),
            head: None,
            branch: None,
            dirty: BTreeMap::new(),
        };
        for line in output.split('\0') {
            state.read_status_line(line, &prefix);
        }
        Some(state)
    }

    /// Returns the checked-out branch; `None` for a detached head.
    pub fn branch(&self) -> Option<&str> {
        self.branch.as_deref()
    }

    /// Reads one line of `git status --porcelain=v2 --branch -z`.
    fn read_status_line(&mut self, line: &str, prefix: &str) {
        if let Some(head) = line.strip_prefix("# branch.oid ") {
            self.head = (head != "(initial)").then(|| head.to_owned());
        } else if let Some(branch) = line.strip_prefix("# branch.head ") {
            self.branch = (branch != "(detached)").then(|| branch.to_owned());
        } else if let Some(path) = status_path(line).and_then(|path| path_below(path, prefix)) {
            let print = file_fingerprint(&self.root.join(path));
            self.dirty.insert(path.to_owned(), print);
        }
    }
}

/// Returns the files that changed between two states of one folder: sorted, relative to it, with `/`.
///
/// Includes files changed in the work tree, files that were dirty and were written again, and files committed in
/// between, but not files that were committed without a change. Call it soon after `after` was read.
pub fn changed_files_between(before: &GitState, after: &GitState) -> Vec<String> {
    let committed = committed_between(before, after);
    let names: BTreeSet<&String> = before
        .dirty
        .keys()
        .chain(after.dirty.keys())
        .chain(&committed)
        .collect();
    let changed = names.into_iter().filter(|name| {
        let now = || match after.dirty.get(*name) {
            Some(print) => *print,
            None => file_fingerprint(&after.root.join(name)),
        };
        // A file that was clean before and is listed now has changed.
        before.dirty.get(*name).is_none_or(|then| *then != now())
    });
    changed.cloned().collect()
}

/// Asks git for the checked-out branch below `root`; `None` without git, repository or branch.
pub fn current_branch(root: &Path) -> Option<String> {
    let output = git_output(root, &["symbolic-ref", "--quiet", "--short", "HEAD"])?;
    let branch = String::from_utf8_lossy(&output).trim().to_owned();
    (!branch.is_empty()).then_some(branch)
}

/// Reads the checked-out branch of `folder` from the files of its repository, which is faster than starting git.
pub fn read_branch(folder: &Path) -> Option<String> {
    const BYTES_MAX: u64 = 4_096;
    let read = |path: &Path| -> Option<String> {
        regular_file::read_text(path, LinkPolicy::Follow, BYTES_MAX).ok()
    };
    let mut above = folder.ancestors();
    let (folder, git) = above.find_map(|folder| {
        let git = folder.join(".git");
        git.exists().then_some((folder, git))
    })?;
    let git = match git.is_dir() {
        true => git,
        // In a linked worktree `.git` is a file that names the folder.
        false => folder.join(read(&git)?.strip_prefix("gitdir:")?.trim()),
    };
    let head = read(&git.join("HEAD"))?;
    let branch = head.trim().strip_prefix("ref: refs/heads/")?;
    (!branch.is_empty()).then(|| text::excerpt(branch, limits::NAME_BYTES_MAX))
}

/// Returns the files that differ between the commits of two states.
fn committed_between(before: &GitState, after: &GitState) -> Vec<String> {
    let Some(head) = &after.head else {
        return Vec::new();
    };
    if before.head.as_ref() == Some(head) {
        return Vec::new();
    }
    let paths = ["--", ".", ":(exclude).heirloom"];
    let output = match &before.head {
        Some(old) => {
            let range = [
                "diff",
                "--name-only",
                "--no-renames",
                "--relative",
                "-z",
                old,
                head,
            ];
            git_output(&after.root, &[range.as_slice(), &paths].concat())
        }
        // In the first commit of a repository every file is new.
        None => git_output(&after.root, &["ls-tree", "-r", "--name-only", "-z", head]),
    };
    let output = output.unwrap_or_default();
    let output = String::from_utf8_lossy(&output);
    let names = output.split('\0').filter_map(|path| path_below(path, ""));
    names.map(str::to_owned).collect()
}

/// Returns the path in one line of porcelain v2; `None` for headers and ignored files.
fn status_path(line: &str) -> Option<&str> {
    // `1 XY sub mH mI mW hH hI path`, `u XY sub m1 m2 m3 mW h1 h2 h3 path`, `? path`.
    let fields_before = match line.as_bytes().first()? {
        b'1' => 8,
        b'u' => 10,
        b'?' => 1,
        _ => return None,
    };
    line.splitn(fields_before + 1, ' ').nth(fields_before)
}

/// Returns the path relative to the folder with this prefix; `None` if it is outside or in our own folder.
fn path_below<'a>(path: &'a str, prefix: &str) -> Option<&'a str> {
    // A nested repository is listed as a folder with a trailing slash.
    let path = path.strip_prefix(prefix)?.trim_end_matches('/');
    let first = path.split('/').next().unwrap_or_default();
    (!path.is_empty() && first != OWN_FOLDER).then_some(path)
}

/// Returns the file's current fingerprint; `None` if it does not exist.
fn file_fingerprint(path: &Path) -> Option<FileFingerprint> {
    let found = fs::symlink_metadata(path).ok()?;
    Some(FileFingerprint {
        size: found.len(),
        modified: found.modified().ok(),
    })
}

/// Returns the output of one git call; `None` if it fails, takes too long or prints too much.
fn git_output(root: &Path, args: &[&str]) -> Option<Vec<u8>> {
    let spec = LaunchSpec {
        program: "git".into(),
        // The repository's configuration can name a program as file system monitor.
        args: ["--no-pager", "-c", "core.fsmonitor=false"]
            .iter()
            .chain(args)
            .map(Into::into)
            .collect(),
        cwd: root.to_owned(),
        env: [("GIT_OPTIONAL_LOCKS", "0"), ("LC_ALL", "C")]
            .map(|(name, value)| (name.into(), value.into()))
            .to_vec(),
        stdin: None,
    };
    let limits = PumpLimits {
        timeout: Some(TIMEOUT),
        terminate_grace: Duration::from_millis(500),
        drain_grace: Duration::from_millis(500),
        ..PumpLimits::default()
    };
    let mut answer = Vec::new();
    let ended = spawn(&spec).ok()?.pump(&limits, &mut |chunk| {
        if let Chunk::Stdout(bytes) = chunk {
            if answer.len() + bytes.len() > ANSWER_BYTES_MAX {
                limits.interrupt.store(true, Ordering::Relaxed);
            } else {
                answer.extend_from_slice(bytes);
            }
        }
    });
    ended.status.is_success().then_some(answer)
}
