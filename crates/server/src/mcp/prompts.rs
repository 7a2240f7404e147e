//! Prompts: a person's own commands, with their arguments.

use super::resources;
use heirloom_engine::places::normalise_inside;
use heirloom_engine::redact::Redactor;
use heirloom_engine::{CommandBook, CommandFile, Engine};
use heirloom_model::{Fault, text};
use rmcp::model::{GetPromptResult, JsonObject, Prompt, PromptArgument, PromptMessage, Role};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Which commands there are, and what a person allowed them; the program knows, which knows settings and trust.
pub trait Commands: Send + Sync {
    /// The commands of the project at `root`, and the person's own.
    fn book(&self, root: &Path) -> Result<CommandBook, Fault>;

    /// Whether the person trusts this file as it is.
    fn is_trusted(&self, command: &CommandFile) -> bool;

    /// Whether the person lets this command run its programs without being asked.
    fn may_run(&self, root: &Path, command: &CommandFile) -> bool;
}

/// The name of the argument that takes everything.
const REST: &str = "args";

/// The commands that can be used, as they are listed.
pub(super) fn list(engine: &Engine, commands: &dyn Commands) -> Result<Vec<Prompt>, Fault> {
    let book = commands.book(engine.root())?;
    let usable = book.list().commands.into_iter();
    let usable = usable.filter(|command| !command.hidden && command.problems.is_empty());
    let prompt = |command: CommandFile| {
        // What a project's file says of itself is shown to a person only when they trust it.
        let about = match commands.is_trusted(&command) {
            true => command.definition.description.clone(),
            false => format!("Not trusted yet: `heirloom cmd trust {}`", command.name),
        };
        let arguments = arguments(&command)
            .into_iter()
            .map(|(name, required)| PromptArgument::new(name).with_required(required));
        let arguments: Vec<_> = arguments.collect();
        Prompt::new(
            command.name,
            Some(about).filter(|about| !about.is_empty()),
            Some(arguments).filter(|arguments| !arguments.is_empty()),
        )
    };
    Ok(usable.map(prompt).collect())
}

/// What a command's arguments are called, and whether each is needed.
fn arguments(command: &CommandFile) -> Vec<(String, bool)> {
    let definition = &command.definition;
    let wanted = definition.template.arguments();
    let many = wanted.needed.max(if wanted.all {
        definition.argument_names.len()
    } else {
        0
    });
    let name = |at: usize| match definition.argument_names.get(at) {
        Some(name) if !name.is_empty() && name != REST => name.clone(),
        Some(_) | None => format!("arg{}", at + 1),
    };
    let mut all: Vec<_> = (0..many).map(|at| (name(at), at < wanted.needed)).collect();
    if wanted.all && definition.argument_names.is_empty() {
        all.push((REST.to_owned(), false));
    }
    all
}

/// The prompt of a command with these arguments.
///
/// Errors: `NotFound`; `Usage` for arguments that do not fit; `Refused` for a file of the project that nobody trusts, and
/// for programs that nobody allowed.
pub(super) fn get(
    engine: &Engine,
    commands: &dyn Commands,
    name: &str,
    given: Option<JsonObject>,
    interrupt: &Arc<AtomicBool>,
) -> Result<GetPromptResult, Fault> {
    let root = engine.root();
    let book = commands.book(root)?;
    let command = book.find(name)?;
    permit(root, commands, &command)?;
    let args = positional(&command, given.unwrap_or_default())?;
    let redactor: &Redactor = engine.redactor();
    let rendered = book.render(&command, &args, redactor, interrupt)?;
    let message = PromptMessage::new_text(Role::User, rendered.text);
    let mut result = GetPromptResult::new(vec![message]);
    result.description = Some(command.definition.description).filter(|said| !said.is_empty());
    Ok(result)
}

fn permit(root: &Path, commands: &dyn Commands, command: &CommandFile) -> Result<(), Fault> {
    let name = &command.name;
    if !commands.is_trusted(command) {
        return Err(Fault::refused(format!(
            "the command `{name}` comes with this project and is not trusted"
        ))
        .hint(format!(
            "`heirloom cmd show {name}` shows it, `heirloom cmd trust {name}` trusts it"
        )));
    }
    if command.definition.template.runs_programs() && !commands.may_run(root, command) {
        return Err(
            Fault::refused(format!("the command `{name}` runs programs")).hint(format!(
                "`commands.allow = [\"{name}\"]` in your config lets it"
            )),
        );
    }
    Ok(())
}

/// Named arguments in the order of their places.
fn positional(command: &CommandFile, mut given: JsonObject) -> Result<Vec<String>, Fault> {
    let mut args = Vec::new();
    let mut missing = None;
    for (name, required) in arguments(command) {
        let said = given.remove(&name);
        let said = match said {
            None => None,
            Some(serde_json::Value::String(said)) => Some(said),
            Some(_) => return Err(Fault::usage(format!("the argument `{name}` is no text"))),
        };
        match (said, &missing) {
            (Some(said), None) if name == REST => {
                args.extend(said.split_whitespace().map(str::to_owned));
            }
            (Some(said), None) => args.push(said),
            (Some(_), Some(before)) => {
                return Err(Fault::usage(format!(
                    "`{name}` is given, and `{before}` before it is not"
                )));
            }
            (None, _) if required => {
                return Err(Fault::usage(format!("the argument `{name}` is missing")));
            }
            (None, _) => missing = missing.or(Some(name)),
        }
    }
    match given.keys().next() {
        None => Ok(args),
        Some(unknown) => {
            let unknown = text::excerpt(unknown, 60);
            Err(Fault::usage(format!(
                "`{}` takes no argument `{unknown}`",
                command.name
            )))
        }
    }
}

/// What an argument of a prompt may be: by its name, a task, a category or a file.
pub(super) fn names(
    engine: &Engine,
    commands: &dyn Commands,
    prompt: &str,
    argument: &str,
    begun: &str,
) -> Result<Vec<String>, Fault> {
    let command = commands.book(engine.root())?.look_up(prompt)?;
    let known = arguments(&command);
    if !known.iter().any(|(name, _)| name == argument) {
        return Ok(Vec::new());
    }
    let small = argument.to_ascii_lowercase();
    let mut names = if small.contains("task") || small.contains("issue") {
        resources::tasks(engine)?
    } else if small.contains("category") {
        resources::categories(engine)?
    } else if small.contains("file") || small.contains("path") {
        files(engine.root(), begun)
    } else {
        Vec::new()
    };
    names.retain(|name| name.starts_with(begun));
    Ok(names)
}

/// Files and folders of the project that begin as somebody began to write them: of one folder, without hidden ones.
fn files(root: &Path, begun: &str) -> Vec<String> {
    let folder = begun.rsplit_once('/').map_or("", |(folder, _)| folder);
    let place = match folder {
        "" => root.to_owned(),
        folder => match normalise_inside(root, folder) {
            Ok(inside) => root.join(inside),
            Err(_) => return Vec::new(),
        },
    };
    let entries = std::fs::read_dir(place).into_iter().flatten();
    let entries = entries
        .flatten()
        .take(heirloom_model::limits::DIRECTIVE_NEAR_ENTRIES_MAX);
    let mut names: Vec<_> = entries
        .filter_map(|entry| {
            let name = entry.file_name().into_string().ok()?;
            if name.starts_with('.') || name.chars().any(char::is_control) {
                return None;
            }
            let end = if entry.file_type().ok()?.is_dir() {
                "/"
            } else {
                ""
            };
            Some(match folder {
                "" => format!("{name}{end}"),
                folder => format!("{folder}/{name}{end}"),
            })
        })
        .collect();
    names.sort();
    names
}
