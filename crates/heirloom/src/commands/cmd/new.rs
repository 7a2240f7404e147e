//! `heirloom cmd new`.

use crate::store_access::{CliSession, create_folder, write_file};
use heirloom_fs::project_fs::normalise_project_path;
use heirloom_model::Fault;
use heirloom_model::text::EscapedPath;
use heirloom_prompt::custom_commands::{CommandDefinition, check_name};
use serde_json::json;
use std::path::PathBuf;
use toml::Value;

/// Arguments of `heirloom cmd new`.
#[derive(Debug, clap::Args)]
pub(crate) struct NewCommandArgs {
    /// The name; `git:commit` is written to git/commit.toml
    name: String,
    /// Write it into your own folder, for every project
    #[arg(long)]
    user: bool,
    /// A short description
    #[arg(long, value_name = "TEXT", default_value = "")]
    description: String,
    /// The template of the prompt
    #[arg(long, value_name = "TEXT", default_value = "{{args}}")]
    template: String,
}

/// Writes the file of a new command; never overwrites an existing one.
pub(super) fn run(session: &mut CliSession, args: &NewCommandArgs) -> Result<(), Fault> {
    check_name(&args.name).map_err(Fault::usage)?;
    let text = format!(
        "# `heirloom cmd --help` describes templates.\n[command]\ndescription = {}\ntemplate = {}\n",
        Value::String(args.description.clone()),
        Value::String(args.template.clone()),
    );
    let (_, problems) = CommandDefinition::parse(&text);
    if let Some(problem) = problems.first() {
        return Err(Fault::usage(problem.clone()));
    }
    let path = command_path(session, args)?;
    if path.symlink_metadata().is_ok() {
        return Err(
            Fault::refused(format!("{} already exists", path.to_escaped()))
                .hint("edit it, or choose another name"),
        );
    }
    if let Some(folder) = path.parent() {
        create_folder(folder)?;
    }
    write_file(&path, text.as_bytes())?;
    let file = path.to_escaped();
    if session.out.json {
        session.out.value(&json!({"name": args.name, "file": file}));
    } else {
        session.out.line(&file);
    }
    Ok(())
}

fn command_path(session: &mut CliSession, args: &NewCommandArgs) -> Result<PathBuf, Fault> {
    let relative = format!("{}.toml", args.name.replace(':', "/"));
    if args.user {
        let folder = session.env.user_commands().ok_or_else(|| {
            Fault::failed("there is no folder for your own commands")
                .hint("set HOME, or XDG_CONFIG_HOME to an absolute path")
        })?;
        return Ok(folder.join(relative));
    }
    let root = session.find_project()?.place.root;
    let inside = normalise_project_path(&root, &format!(".heirloom/commands/{relative}")).map_err(
        |problem| {
            Fault::refused(format!("the command cannot be written there: {problem}"))
                .hint("remove the link, or use --user")
        },
    )?;
    Ok(root.join(inside))
}
