//! Which files of a git repository an iteration changed.
//!
//! Runs `git`, so only inside a run that somebody asked for. Every failure (no git, no repository, a
//! repository too big to look at in time) reads as "nothing known".

use super::child::{Chunk, LaunchSpec, PumpLimits, spawn};
use heirloom_model::{limits, text};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::time::{Duration, SystemTime};

/// How long one call of git may take.
const TIMEOUT: Duration = Duration::from_secs(20);
/// Longest answer of git that is read, bytes.
const ANSWER_BYTES_MAX: usize = 32 << 20;
/// Our own folder, whose changes are no work of the agent.
const OWN_FOLDER: &str = ".heirloom";

/// What `git status` says of a folder, and what its changed files look like.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GitState {
    root: PathBuf,
    /// The commit that is checked out; `None` before the first one.
    head: Option<String>,
    branch: Option<String>,
    /// Files that differ from the commit, relative to `root`.
    dirty: BTreeMap<String, Option<Print>>,
}

/// What tells that a file was written again, without reading it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Print {
    size: u64,
    modified: Option<SystemTime>,
}

impl GitState {
    /// The state of the work tree below `root`; `None` if there is none or git is not there.
    ///
    /// `.heirloom/` and ignored files are left out. Takes no lock in the repository.
    pub fn read(root: &Path) -> Option<Self> {
        let prefix = git(root, &["rev-parse", "--show-prefix"])?;
        let prefix = String::from_utf8_lossy(&prefix)
            .trim_end_matches('\n')
            .to_owned();
        let said = git(
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
        let said = String::from_utf8_lossy(&said);
        let mut state = Self {
            root: root.to_owned(),
            head: None,
            branch: None,
            dirty: BTreeMap::new(),
        };
        for line in said.split('\0') {
            state.take(line, &prefix);
        }
        Some(state)
    }

    /// The branch that is checked out; `None` when no branch is.
    pub fn branch(&self) -> Option<&str> {
        self.branch.as_deref()
    }

    /// Takes one line of `git status --porcelain=v2 --branch -z`.
    fn take(&mut self, line: &str, prefix: &str) {
        if let Some(head) = line.strip_prefix("# branch.oid ") {
            self.head = (head != "(initial)").then(|| head.to_owned());
        } else if let Some(branch) = line.strip_prefix("# branch.head ") {
            self.branch = (branch != "(detached)").then(|| branch.to_owned());
        } else if let Some(path) = path_of(line).and_then(|path| below(path, prefix)) {
            let print = print_of(&self.root.join(path));
            self.dirty.insert(path.to_owned(), print);
        }
    }
}

/// The files that were changed between two states of one folder, sorted, relative to it, with `/`.
///
/// Counts files changed in the work tree, files that were dirty before and were written again, and
/// files committed in between; a file that was merely committed as it was does not count. Called
/// soon after `after` was read.
pub fn changed_between(before: &GitState, after: &GitState) -> Vec<String> {
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
            None => print_of(&after.root.join(name)),
        };
        // A file that was clean before and is named now has changed.
        before.dirty.get(*name).is_none_or(|then| *then != now())
    });
    changed.cloned().collect()
}

/// The branch that is checked out below `root`; `None` without git, repository or branch.
pub fn current_branch(root: &Path) -> Option<String> {
    let said = git(root, &["symbolic-ref", "--quiet", "--short", "HEAD"])?;
    let branch = String::from_utf8_lossy(&said).trim().to_owned();
    (!branch.is_empty()).then_some(branch)
}

/// The branch that is checked out where `folder` is, by git's files: for whoever has no time to ask git.
pub fn branch_in(folder: &Path) -> Option<String> {
    const BYTES_MAX: u64 = 4_096;
    let read = |path: &Path| -> Option<String> {
        let found = path.metadata().ok()?;
        let is_small = found.is_file() && found.len() <= BYTES_MAX;
        is_small.then(|| std::fs::read_to_string(path).ok())?
    };
    let mut above = folder.ancestors();
    let (folder, git) = above.find_map(|folder| {
        let git = folder.join(".git");
        git.exists().then_some((folder, git))
    })?;
    let git = match git.is_dir() {
        true => git,
        // A linked worktree's names the folder.
        false => folder.join(read(&git)?.strip_prefix("gitdir:")?.trim()),
    };
    let head = read(&git.join("HEAD"))?;
    let branch = head.trim().strip_prefix("ref: refs/heads/")?;
    (!branch.is_empty()).then(|| text::excerpt(branch, limits::NAME_BYTES_MAX))
}

/// The files that differ between the commits of two states.
fn committed_between(before: &GitState, after: &GitState) -> Vec<String> {
    let Some(head) = &after.head else {
        return Vec::new();
    };
    if before.head.as_ref() == Some(head) {
        return Vec::new();
    }
    let paths = ["--", ".", ":(exclude).heirloom"];
    let said = match &before.head {
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
            git(&after.root, &[range.as_slice(), &paths].concat())
        }
        // Everything is new in a repository's first commit.
        None => git(&after.root, &["ls-tree", "-r", "--name-only", "-z", head]),
    };
    let said = said.unwrap_or_default();
    let said = String::from_utf8_lossy(&said);
    let names = said.split('\0').filter_map(|path| below(path, ""));
    names.map(str::to_owned).collect()
}

/// The path in one line of porcelain v2; `None` for headers and ignored files.
fn path_of(line: &str) -> Option<&str> {
    // `1 XY sub mH mI mW hH hI path`, `u XY sub m1 m2 m3 mW h1 h2 h3 path`, `? path`.
    let fields_before = match line.as_bytes().first()? {
        b'1' => 8,
        b'u' => 10,
        b'?' => 1,
        _ => return None,
    };
    line.splitn(fields_before + 1, ' ').nth(fields_before)
}

/// The path relative to the folder with this prefix, unless it is ours or outside.
fn below<'a>(path: &'a str, prefix: &str) -> Option<&'a str> {
    // A repository inside the repository is listed as a folder.
    let path = path.strip_prefix(prefix)?.trim_end_matches('/');
    let first = path.split('/').next().unwrap_or_default();
    (!path.is_empty() && first != OWN_FOLDER).then_some(path)
}

/// What the file looks like now; `None` if it is not there.
fn print_of(path: &Path) -> Option<Print> {
    let found = fs::symlink_metadata(path).ok()?;
    Some(Print {
        size: found.len(),
        modified: found.modified().ok(),
    })
}

/// What one call of git prints; `None` if it fails, takes too long or prints too much.
fn git(root: &Path, args: &[&str]) -> Option<Vec<u8>> {
    let spec = LaunchSpec {
        program: "git".into(),
        // The file system monitor may be a program of the repository's choice.
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
