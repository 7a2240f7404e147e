//! Steps of Git that take changes out of the working tree, or put another tree in its place.

use crate::bounded_text::bounded;
use crate::code_tokens::is_file_name;
use crate::shell_line::{SimpleCommand, read_shell_line};
use serde::{Deserialize, Serialize};

/// Greatest number of bytes of a path or branch.
const NAME_BYTES_MAX: usize = 140;
/// Greatest number of paths of one command.
const PATHS_MAX: usize = 4;
/// Greatest number of steps of one command line.
const STEPS_MAX: usize = 6;
/// Options of Git before its verb that have a value.
const GLOBAL_OPTIONS: [&str; 4] = ["-C", "-c", "--git-dir", "--work-tree"];

/// Step of Git that affects which changes are in the working tree.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum TreeStep {
    /// It undoes the edits of these files that are not committed; of all files if the list is empty.
    Undo(Vec<String>),
    /// It undoes commits.
    UndoCommits,
    /// It commits.
    Commit,
    /// It puts the edits aside, as `git stash` does.
    PutAside,
    /// It takes the edits back that were put aside.
    TakeBack,
    /// It discards the edits that were put aside.
    Discard,
    /// It checks out another branch or commit; `-` is the one before.
    CheckOut(String),
    /// It gives the present tree the name of a new branch.
    NameBranch(String),
}

impl TreeStep {
    /// Recognises a step.
    ///
    /// Examples: `git checkout -- a.rs`, `git restore src`, `git reset --hard`, `git stash pop`, `git switch main`.
    pub(crate) fn of_command(command: &SimpleCommand) -> Option<Self> {
        let mut words = command.words.iter().map(String::as_str);
        if words.next() != Some("git") {
            return None;
        }
        let mut verb = words.next()?;
        while verb.starts_with('-') {
            if GLOBAL_OPTIONS.contains(&verb) {
                words.next();
            }
            verb = words.next()?;
        }
        let rest: Vec<&str> = words.collect();
        let has = |options: &[&str]| rest.iter().any(|word| options.contains(word));
        let plain: Vec<&str> = (rest.iter().copied())
            .filter(|word| !word.starts_with('-') || *word == "-")
            .collect();
        match verb {
            "checkout" => Self::of_checkout(&rest, &plain),
            "switch" => {
                let name = bounded(plain.first()?, NAME_BYTES_MAX);
                let is_new = has(&["-c", "-C", "--create", "--force-create", "--orphan"]);
                Some(match is_new {
                    true => Self::NameBranch(name),
                    false => Self::CheckOut(name),
                })
            }
            "restore" => {
                let is_index_only = has(&["--staged", "-S"]) && !has(&["--worktree", "-W"]);
                let source = rest
                    .iter()
                    .position(|word| matches!(*word, "-s" | "--source"));
                let source = source.and_then(|at| rest.get(at + 1));
                let named = plain.iter().filter(|word| Some(*word) != source);
                let named: Vec<&str> = named.copied().collect();
                (!is_index_only && !named.is_empty()).then(|| Self::Undo(paths(&named)))
            }
            "reset" if has(&["--hard"]) => Some(match plain.first() {
                None | Some(&("HEAD" | "@")) => Self::Undo(Vec::new()),
                Some(_) => Self::UndoCommits,
            }),
            "revert" if !plain.is_empty() => Some(Self::UndoCommits),
            "commit" => (!has(&["--dry-run", "--help"])).then_some(Self::Commit),
            "stash" => match plain.first().copied() {
                None | Some("push" | "save" | "-u") => Some(Self::PutAside),
                Some("pop" | "apply" | "branch") => Some(Self::TakeBack),
                Some("drop" | "clear") => Some(Self::Discard),
                Some(_) => None,
            },
            _ => None,
        }
    }

    fn of_checkout(rest: &[&str], plain: &[&str]) -> Option<Self> {
        if rest
            .iter()
            .any(|word| matches!(*word, "-b" | "-B" | "--orphan"))
        {
            return Some(Self::NameBranch(bounded(plain.first()?, NAME_BYTES_MAX)));
        }
        if let Some(at) = rest.iter().position(|word| *word == "--") {
            let named: Vec<&str> = rest.iter().skip(at + 1).copied().collect();
            return (!named.is_empty()).then(|| Self::Undo(paths(&named)));
        }
        // Without `--` a name with the ending of a file is a path: `git checkout src/a.rs`.
        let files: Vec<&str> = (plain.iter().copied())
            .filter(|word| *word == "." || is_file_name(word))
            .collect();
        match (files.is_empty(), plain) {
            (false, _) => Some(Self::Undo(paths(&files))),
            (true, [name, ..]) => Some(Self::CheckOut(bounded(name, NAME_BYTES_MAX))),
            (true, []) => None,
        }
    }

    /// Returns true for a step after which a run shows something about another tree, or about fewer changes.
    pub(crate) fn is_undo(&self) -> bool {
        match self {
            Self::Undo(_)
            | Self::UndoCommits
            | Self::PutAside
            | Self::TakeBack
            | Self::Discard
            | Self::CheckOut(_) => true,
            Self::Commit | Self::NameBranch(_) => false,
        }
    }
}

/// Returns the named paths; none for all files.
fn paths(named: &[&str]) -> Vec<String> {
    let is_all = |word: &&str| matches!(*word, "." | ":/" | "*" | "./");
    if named.iter().any(is_all) {
        return Vec::new();
    }
    let named = named.iter().filter(|word| !word.starts_with('-'));
    let end = |word: &&str| {
        let start = word.len().saturating_sub(NAME_BYTES_MAX);
        let end = word.get(word.ceil_char_boundary(start)..);
        bounded(end.unwrap_or_default(), NAME_BYTES_MAX)
    };
    named.take(PATHS_MAX).map(end).collect()
}

/// Returns true if a path is one of the named files, or is in one of the named folders. No names are all files.
pub(crate) fn is_among(path: &str, named: &[String]) -> bool {
    let path = path.replace('\\', "/");
    named.is_empty()
        || named.iter().any(|name| {
            let name = name
                .trim_start_matches("./")
                .trim_end_matches('*')
                .trim_end_matches('/');
            let is_end = |path: &str| {
                path == name
                    || path
                        .strip_suffix(name)
                        .is_some_and(|head| head.ends_with('/'))
            };
            let folders = path.match_indices('/').filter_map(|(at, _)| path.get(..at));
            !name.is_empty() && (is_end(&path) || folders.into_iter().any(is_end))
        })
}

/// Steps of a command line.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct LineSteps {
    /// The steps, in their order.
    pub(crate) steps: Vec<TreeStep>,
    /// Number of steps before the last other command of the line.
    before_run: usize,
    /// True if a step is the last command: if the line failed, it was not done.
    ends_with_step: bool,
}

impl LineSteps {
    /// Reads a command line.
    pub fn read(line: &str) -> Self {
        let mut found = Self::default();
        if !line.contains("git") {
            return found;
        }
        for command in read_shell_line(line) {
            let step = TreeStep::of_command(&command);
            found.ends_with_step = step.is_some();
            match step {
                Some(step) if found.steps.len() < STEPS_MAX => found.steps.push(step),
                Some(_) => {}
                None => found.before_run = found.steps.len(),
            }
        }
        found
    }

    /// Returns true if a step undoes edits, or puts another tree in place.
    pub fn has_undo(&self) -> bool {
        self.steps.iter().any(TreeStep::is_undo)
    }

    /// Returns the steps that were done, by the result of the line.
    pub(crate) fn done(&self, has_failed: bool) -> &[TreeStep] {
        let undone = usize::from(has_failed && self.ends_with_step);
        let end = self.steps.len().saturating_sub(undone);
        self.steps.get(..end).unwrap_or_default()
    }

    /// Returns the tree in which the other commands of the line ran.
    pub fn tree_of_run(&self, now: &WorkingTree) -> String {
        let mut tree = now.clone();
        let before = self.steps.iter().take(self.before_run);
        before.for_each(|step| tree.apply(step));
        tree.label()
    }
}

/// Tree that is checked out. Runs in different trees prove nothing about each other.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct WorkingTree {
    /// Branch or commit; empty for the one at the beginning.
    #[serde(rename = "branch")]
    branch: String,
    /// The one before.
    #[serde(rename = "before")]
    before: String,
    /// Names of branches that were made from the tree of another name.
    #[serde(rename = "names")]
    names: Vec<(String, String)>,
    /// True while edits are put aside.
    #[serde(rename = "put_aside")]
    pub(crate) is_put_aside: bool,
}

/// Greatest number of new branches that are known.
const BRANCHES_MAX: usize = 8;

impl WorkingTree {
    /// Does the steps of a command line.
    pub fn apply_line(&mut self, steps: &LineSteps, has_failed: bool) {
        steps
            .done(has_failed)
            .iter()
            .for_each(|step| self.apply(step));
    }

    /// Returns true while edits are put aside.
    pub fn is_put_aside(&self) -> bool {
        self.is_put_aside
    }

    /// Does a step.
    pub(crate) fn apply(&mut self, step: &TreeStep) {
        match step {
            TreeStep::PutAside => self.is_put_aside = true,
            TreeStep::TakeBack | TreeStep::Discard => self.is_put_aside = false,
            TreeStep::CheckOut(name) if name == "-" => {
                std::mem::swap(&mut self.branch, &mut self.before);
            }
            TreeStep::CheckOut(name) => {
                let known = self.names.iter().find(|(new, _)| new == name);
                let branch = known.map_or_else(|| name.clone(), |(_, tree)| tree.clone());
                self.before = std::mem::replace(&mut self.branch, branch);
            }
            TreeStep::NameBranch(name) => {
                if self.names.len() == BRANCHES_MAX {
                    self.names.remove(0);
                }
                self.names.push((name.clone(), self.branch.clone()));
            }
            TreeStep::Undo(_) | TreeStep::UndoCommits | TreeStep::Commit => {}
        }
    }

    /// Returns the name of the tree.
    pub fn label(&self) -> String {
        let aside = if self.is_put_aside {
            " without edits"
        } else {
            ""
        };
        format!("{}{aside}", self.branch)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn steps(line: &str) -> Vec<TreeStep> {
        LineSteps::read(line).steps
    }

    #[test]
    fn of_command_reads_undone_and_other_trees() {
        use TreeStep::{
            CheckOut, Commit, Discard, NameBranch, PutAside, TakeBack, Undo, UndoCommits,
        };
        let undo = |files: &[&str]| {
            let files = files.iter().map(|file| (*file).to_owned());
            vec![Undo(files.collect())]
        };
        for (line, expected) in [
            ("git checkout -- src/a.rs", undo(&["src/a.rs"])),
            ("git checkout src/a.rs", undo(&["src/a.rs"])),
            ("git checkout HEAD~1 -- src/a.rs", undo(&["src/a.rs"])),
            ("git checkout .", undo(&[])),
            ("git restore .", undo(&[])),
            ("git restore --source HEAD~2 a.py", undo(&["a.py"])),
            ("git restore --staged a.py", vec![]),
            ("git -C sub restore a.py", undo(&["a.py"])),
            ("git reset --hard", undo(&[])),
            ("git reset --hard HEAD~1", vec![UndoCommits]),
            ("git reset HEAD a.py", vec![]),
            ("git revert HEAD", vec![UndoCommits]),
            ("git stash -u", vec![PutAside]),
            ("git stash list", vec![]),
            ("git stash drop", vec![Discard]),
            ("git checkout v1.2", vec![CheckOut("v1.2".to_owned())]),
            ("git switch -", vec![CheckOut("-".to_owned())]),
            ("git checkout -b new", vec![NameBranch("new".to_owned())]),
            ("git switch -c new", vec![NameBranch("new".to_owned())]),
            ("cd a && git add b && git commit -m x", vec![Commit]),
            (
                "git stash && make test; git stash pop",
                vec![PutAside, TakeBack],
            ),
            ("cargo test", vec![]),
        ] {
            assert_eq!(steps(line), expected, "{line}");
        }
    }

    #[test]
    fn tree_of_run_is_that_of_the_command_between_steps() {
        let mut tree = WorkingTree::default();
        let run = |tree: &WorkingTree, line: &str| LineSteps::read(line).tree_of_run(tree);
        let base = tree.label();
        assert_ne!(run(&tree, "git stash && make test; git stash pop"), base);
        assert_ne!(run(&tree, "git checkout main && make test"), base);
        assert_eq!(run(&tree, "git checkout -b topic && make test"), base);
        for step in steps("git checkout -b topic && git checkout main") {
            tree.apply(&step);
        }
        assert_ne!(tree.label(), base);
        assert_eq!(run(&tree, "git checkout topic && make test"), base);
        assert_eq!(run(&tree, "git checkout - && make test"), base);
    }

    #[test]
    fn is_among_names_files_and_folders() {
        let named = |names: &[&str]| -> Vec<String> {
            names.iter().map(|name| (*name).to_owned()).collect()
        };
        for (path, names, expected) in [
            ("/p/src/a.rs", named(&["src/a.rs"]), true),
            ("/p/src/a.rs", named(&["a.rs"]), true),
            ("/p/src/a.rs", named(&["src/"]), true),
            ("/p/src/a.rs", named(&["./src/b.rs"]), false),
            ("/p/src/ba.rs", named(&["a.rs"]), false),
            ("/p/src/a.rs", named(&[]), true),
        ] {
            assert_eq!(is_among(path, &names), expected, "{path} {names:?}");
        }
    }
}
