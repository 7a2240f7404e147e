//! Custom commands: discovery of their files, lookup by name, rendering.
//!
//! Needs no store, so it works if none can be opened. Trust and permission are decided by the surfaces.

mod command_search;
mod renderer;

use heirloom_model::text::EscapedPath;
pub use renderer::{ProgramRun, RenderedCommand};

use command_search::CommandSearch;
use heirloom_model::{Fault, text};
use heirloom_prompt::custom_commands::{CommandDefinition, is_same_name};
use std::path::{Path, PathBuf};

/// Origin of a command, in order of precedence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum CommandSource {
    /// `.heirloom/commands` of the project.
    Project,
    /// `.radium/commands` of the project.
    Radium,
    /// The person's folder.
    User,
    /// `.radium/commands` in the person's home folder.
    UserRadium,
}

impl CommandSource {
    /// Returns the name at the terminal and in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Project => "project",
            Self::Radium => "radium",
            Self::User => "user",
            Self::UserRadium => "user-radium",
        }
    }

    /// Returns true if it comes with a project and needs to be trusted first.
    pub fn is_foreign(self) -> bool {
        matches!(self, Self::Project | Self::Radium)
    }
}

/// Folders of custom commands.
#[derive(Debug, Clone, Default)]
pub struct CommandBook {
    /// Folder that file paths are relative to and programs run in.
    pub root: PathBuf,
    /// Folders with commands, in order of precedence.
    pub folders: Vec<(CommandSource, PathBuf)>,
}

/// File of a custom command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandFile {
    /// Name including folders: `git:commit`.
    pub name: String,
    /// Its origin.
    pub source: CommandSource,
    /// Path, without links.
    pub path: PathBuf,
    /// Text of the file.
    pub text: String,
    /// SHA-256 of the file, hexadecimal.
    pub sha256: String,
    /// Parsed definition.
    pub definition: CommandDefinition,
    /// Problems that prevent its use; empty for a valid command.
    pub problems: Vec<String>,
    /// True if a command of this name with higher precedence hides it.
    pub hidden: bool,
}

/// All commands, and the files that were left out.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CommandListing {
    /// Commands by name, in order of precedence.
    pub commands: Vec<CommandFile>,
    /// Skipped files and folders, each with its path and the reason.
    pub left_out: Vec<String>,
}

impl CommandBook {
    /// Creates the list of folders of the project at `root` and of the person.
    pub fn new(root: PathBuf, user: Option<PathBuf>) -> Self {
        let mut folders = vec![
            (CommandSource::Project, root.join(".heirloom/commands")),
            (CommandSource::Radium, root.join(".radium/commands")),
        ];
        folders.extend(user.map(|folder| (CommandSource::User, folder)));
        Self { root, folders }
    }

    /// Adds the folder that another program uses in the person's home folder `home`, after all others.
    pub fn with_home(mut self, home: Option<&Path>) -> Self {
        let folder = home.map(|home| home.join(".radium/commands"));
        let folder = folder.map(|folder| (CommandSource::UserRadium, folder));
        self.folders.extend(folder);
        self
    }

    /// Lists all commands. Never fails; unreadable files are listed in `left_out`.
    pub fn list(&self) -> CommandListing {
        let mut listing = CommandListing::default();
        for (source, folder) in &self.folders {
            let walk = CommandSearch::in_folder(*source, folder, &self.root);
            listing.commands.extend(walk.found);
            listing.left_out.extend(walk.left_out);
        }
        resolve_precedence(&mut listing.commands);
        listing
    }

    /// Finds a command by its name, or by a unique end of its name.
    ///
    /// Errors: `NotFound`, with a similar name; `Usage` for an invalid file, with its problems.
    pub fn find(&self, name: &str) -> Result<CommandFile, Fault> {
        let command = self.look_up(name)?;
        if command.problems.is_empty() {
            return Ok(command);
        }
        let problems = command.problems.join("; ");
        Err(Fault::usage(format!(
            "the command `{}` cannot be used: {}: {problems}",
            command.name,
            command.path.to_escaped()
        ))
        .hint("correct the file; `heirloom cmd show` shows its parsed content"))
    }

    /// Finds a command as [`CommandBook::find`], including one with problems.
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
            .find(|one| is_same_name(one.name.rsplit(':').next().unwrap_or_default(), last));
        fault = match (near, listing.left_out.first()) {
            (Some(near), _) => fault.hint(format!("did you mean `{}`?", near.name)),
            (None, Some(left)) => fault.hint(format!("skipped: {left}")),
            (None, None) => fault.hint("`heirloom cmd list` lists them"),
        };
        Err(fault)
    }
}

/// Sorts commands by name, marks hidden ones, and reports duplicate names in one folder.
fn resolve_precedence(commands: &mut [CommandFile]) {
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
            .map(|at| commands[*at].path.to_string_lossy().into_owned())
            .collect();
        let problem = format!("several files define this name: {}", paths.join(", "));
        for at in twins {
            commands[*at].problems.push(problem.clone());
        }
    }
    for (at, (name, source)) in keys.iter().enumerate() {
        let winner = by_key.range((name, CommandSource::Project)..).next();
        commands[at].hidden =
            winner.is_some_and(|((found, wins), _)| *found == name && wins < source);
    }
}
