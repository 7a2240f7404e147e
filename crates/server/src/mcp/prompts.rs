//! MCP prompts: custom commands of a user, with their arguments.

use super::resources;
use heirloom_engine::{CommandBook, CommandFile, Engine};
use heirloom_fs::project_fs::normalise_project_path;
use heirloom_model::{Fault, text};
use heirloom_redact::Redactor;
use rmcp::model::{GetPromptResult, JsonObject, Prompt, PromptArgument, PromptMessage, Role};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Provider of commands and of the user's permissions for them. The program implements it, because it knows settings
/// and trust.
pub trait CommandProvider: Send + Sync {
    /// Returns the commands of the project at `root` and of the user.
    fn book(&self, root: &Path) -> Result<CommandBook, Fault>;

    /// Returns true if the user trusts the present content of this file.
    fn is_trusted(&self, command: &CommandFile) -> bool;

    /// Returns true if the user allowed this command to run programs without confirmation.
    fn can_run(&self, root: &Path, command: &CommandFile) -> bool;
}

/// Name of the argument that takes all remaining words.
const REST_ARGUMENT: &str = "args";

/// Lists the usable commands as prompts.
pub(super) fn list(engine: &Engine, commands: &dyn CommandProvider) -> Result<Vec<Prompt>, Fault> {
    let book = commands.book(engine.root())?;
    let usable = book.list().commands.into_iter();
    let usable = usable.filter(|command| !command.hidden && command.problems.is_empty());
    let prompt = |command: CommandFile| {
        // The description in a project's file is shown only after the user trusts the file.
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

/// Returns the names of a command's arguments, each with true if it is required.
fn arguments(command: &CommandFile) -> Vec<(String, bool)> {
    let definition = &command.definition;
    let template_arguments = definition.template.arguments();
    let many = template_arguments
        .required_count
        .max(if template_arguments.takes_all {
            definition.argument_names.len()
        } else {
            0
        });
    let name = |at: usize| match definition.argument_names.get(at) {
        Some(name) if !name.is_empty() && name != REST_ARGUMENT => name.clone(),
        Some(_) | None => format!("arg{}", at + 1),
    };
    let mut all: Vec<_> = (0..many)
        .map(|at| (name(at), at < template_arguments.required_count))
        .collect();
    if template_arguments.takes_all && definition.argument_names.is_empty() {
        all.push((REST_ARGUMENT.to_owned(), false));
    }
    all
}

/// Renders the prompt of a command with arguments.
///
/// Errors: `NotFound`; `Usage` for invalid arguments; `Refused` for an untrusted file of the project, or programs
/// that were not allowed.
pub(super) fn get(
    engine: &Engine,
    commands: &dyn CommandProvider,
    name: &str,
    given: Option<JsonObject>,
    interrupt: &Arc<AtomicBool>,
) -> Result<GetPromptResult, Fault> {
    let root = engine.root();
    let book = commands.book(root)?;
    let command = book.find(name)?;
    check_permission(root, commands, &command)?;
    let args = order_arguments(&command, given.unwrap_or_default())?;
    let redactor: &Redactor = engine.redaction().redactor();
    let rendered = book.render(&command, &args, redactor, interrupt)?;
    let message = PromptMessage::new_text(Role::User, rendered.text);
    let mut result = GetPromptResult::new(vec![message]);
    result.description = Some(command.definition.description).filter(|value| !value.is_empty());
    Ok(result)
}

fn check_permission(
    root: &Path,
    commands: &dyn CommandProvider,
    command: &CommandFile,
) -> Result<(), Fault> {
    let name = &command.name;
    if !commands.is_trusted(command) {
        return Err(Fault::refused(format!(
            "the command `{name}` comes with this project and is not trusted"
        ))
        .hint(format!(
            "`heirloom cmd show {name}` shows it, `heirloom cmd trust {name}` trusts it"
        )));
    }
    if command.definition.template.runs_programs() && !commands.can_run(root, command) {
        return Err(
            Fault::refused(format!("the command `{name}` runs programs")).hint(format!(
                "`commands.allow = [\"{name}\"]` in your config lets it"
            )),
        );
    }
    Ok(())
}

/// Orders named arguments by position.
fn order_arguments(command: &CommandFile, mut given: JsonObject) -> Result<Vec<String>, Fault> {
    let mut args = Vec::new();
    let mut missing = None;
    for (name, required) in arguments(command) {
        let value = given.remove(&name);
        let value = match value {
            None => None,
            Some(serde_json::Value::String(value)) => Some(value),
            Some(_) => {
                return Err(Fault::usage(format!(
                    "the argument `{name}` must be a string"
                )));
            }
        };
        match (value, &missing) {
            (Some(value), None) if name == REST_ARGUMENT => {
                args.extend(value.split_whitespace().map(str::to_owned));
            }
            (Some(value), None) => args.push(value),
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

/// Completes an argument of a prompt. The argument's name selects tasks, categories or files.
pub(super) fn complete(
    engine: &Engine,
    commands: &dyn CommandProvider,
    prompt: &str,
    argument: &str,
    prefix: &str,
) -> Result<Vec<String>, Fault> {
    let command = commands.book(engine.root())?.look_up(prompt)?;
    let known = arguments(&command);
    if !known.iter().any(|(name, _)| name == argument) {
        return Ok(Vec::new());
    }
    let lowercase = argument.to_ascii_lowercase();
    let mut names = if lowercase.contains("task") || lowercase.contains("issue") {
        resources::task_ids(engine)?
    } else if lowercase.contains("category") {
        resources::categories(engine)?
    } else if lowercase.contains("file") || lowercase.contains("path") {
        complete_path(engine.root(), prefix)
    } else {
        Vec::new()
    };
    names.retain(|name| name.starts_with(prefix));
    Ok(names)
}

/// Lists visible files and folders of one project folder that match a path prefix.
fn complete_path(root: &Path, prefix: &str) -> Vec<String> {
    let folder = prefix.rsplit_once('/').map_or("", |(folder, _)| folder);
    let place = match folder {
        "" => root.to_owned(),
        folder => match normalise_project_path(root, folder) {
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
