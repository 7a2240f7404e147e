//! Custom commands: where their files are, which one is meant, and what it says.
//!
//! Needs no store, so it works where none opens. A surface decides about trust and permission; nothing here asks.

mod discover;
mod perform;

pub use perform::{ProgramRun, Rendered};

use crate::commands::{Definition, same_name};
use discover::Walk;
use heirloom_model::{Fault, text};
use std::path::PathBuf;

/// Where a command is from; later ones give way to earlier ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum CommandSource {
    /// `.heirloom/commands` of the project.
    Project,
    /// `.radium/commands` of the project.
    Radium,
    /// The person's own folder.
    User,
}

impl CommandSource {
    /// Its name at the terminal and in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Project => "project",
            Self::Radium => "radium",
            Self::User => "user",
        }
    }

    /// Whether it comes with a project, and is nobody's own before somebody trusts it.
    pub fn is_foreign(self) -> bool {
        self != Self::User
    }
}

/// Where to look for commands.
#[derive(Debug, Clone, Default)]
pub struct CommandBook {
    /// The folder that files are relative to and programs run in.
    pub root: PathBuf,
    /// Folders with commands, those that win first.
    pub folders: Vec<(CommandSource, PathBuf)>,
}

/// One command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandFile {
    /// What it is called, folders included: `git:commit`.
    pub name: String,
    /// Where it is from.
    pub source: CommandSource,
    /// Its file, without links.
    pub path: PathBuf,
    /// The text of its file.
    pub text: String,
    /// The SHA-256 of its file, hexadecimal.
    pub sha256: String,
    /// What the file defines.
    pub definition: Definition,
    /// Why it cannot be run; empty if it can.
    pub problems: Vec<String>,
    /// Whether a command of this name that wins hides it.
    pub hidden: bool,
}

/// Every command, by name, and what could not be read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Listing {
    /// The commands, by name, those that win first.
    pub commands: Vec<CommandFile>,
    /// Files and folders that were left out, each with its path and the reason.
    pub left_out: Vec<String>,
}

impl CommandBook {
    /// The folders of the project at `root`, and the person's own.
    pub fn new(root: PathBuf, user: Option<PathBuf>) -> Self {
        let mut folders = vec![
            (CommandSource::Project, root.join(".heirloom/commands")),
            (CommandSource::Radium, root.join(".radium/commands")),
        ];
        folders.extend(user.map(|folder| (CommandSource::User, folder)));
        Self { root, folders }
    }

    /// Every command that there is. Never fails: what cannot be read is told.
    pub fn list(&self) -> Listing {
        let mut listing = Listing::default();
        for (source, folder) in &self.folders {
            let walk = Walk::of(*source, folder, &self.root);
            listing.commands.extend(walk.found);
            listing.left_out.extend(walk.left_out);
        }
        settle(&mut listing.commands);
        listing
    }

    /// The command of this name, or of the one name that it is the end of.
    ///
    /// Errors: `NotFound`, with names that are near; `Usage` for a file with something wrong in it, which is said.
    pub fn find(&self, name: &str) -> Result<CommandFile, Fault> {
        let command = self.look_up(name)?;
        if command.problems.is_empty() {
            return Ok(command);
        }
        let said = command.problems.join("; ");
        Err(Fault::usage(format!(
            "the command `{}` cannot be used: {}: {said}",
            command.name,
            command.path.display()
        ))
        .hint("correct the file; `heirloom cmd show` shows what is read"))
    }

    /// As [`CommandBook::find`], also a command that cannot be run.
    pub fn look_up(&self, name: &str) -> Result<CommandFile, Fault> {
        let listing = self.list();
        let mut visible = listing.commands.into_iter().filter(|one| !one.hidden);
        if let Some(found) = visible.by_ref().find(|one| one.name == name) {
            return Ok(found);
        }
        let shown = text::excerpt(name, 80);
        let mut fault = Fault::not_found(format!("there is no command `{shown}`"));
        let last = name.rsplit(':').next().unwrap_or(name);
        let all = self.list().commands;
        let near = all
            .iter()
            .find(|one| same_name(one.name.rsplit(':').next().unwrap_or_default(), last));
        fault = match (near, listing.left_out.first()) {
            (Some(near), _) => fault.hint(format!("did you mean `{}`?", near.name)),
            (None, Some(left)) => fault.hint(format!("one was left out: {left}")),
            (None, None) => fault.hint("`heirloom cmd list` lists them"),
        };
        Err(fault)
    }
}

/// Orders commands by name, says which are hidden, and which share a name in one folder.
fn settle(commands: &mut [CommandFile]) {
    commands.sort_by(|a, b| (&a.name, a.source, &a.path).cmp(&(&b.name, b.source, &b.path)));
    let keys: Vec<_> = commands
        .iter()
        .map(|one| (one.name.to_lowercase(), one.source))
        .collect();
    let mut by_key = std::collections::BTreeMap::<_, Vec<usize>>::new();
    for (at, (name, source)) in keys.iter().enumerate() {
        by_key.entry((name, *source)).or_default().push(at);
    }
    for twins in by_key.values().filter(|twins| twins.len() > 1) {
        let paths: Vec<_> = twins
            .iter()
            .map(|at| commands[*at].path.display().to_string())
            .collect();
        let said = format!("several files give this name: {}", paths.join(", "));
        for at in twins {
            commands[*at].problems.push(said.clone());
        }
    }
    for (at, (name, source)) in keys.iter().enumerate() {
        let winner = by_key.range((name, CommandSource::Project)..).next();
        commands[at].hidden =
            winner.is_some_and(|((found, wins), _)| *found == name && wins < source);
    }
}
