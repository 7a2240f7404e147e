//! `heirloom cmd new`.

use crate::open::{Session, create_folder, write_file};
use heirloom_engine::commands::{Definition, check_name};
use heirloom_engine::places::normalise_inside;
use heirloom_model::Fault;
use serde_json::json;
use std::path::PathBuf;
use toml::Value;

/// What a new command is.
#[derive(Debug, clap::Args)]
pub(crate) struct NewArgs {
    /// What it is called; `git:commit` is written to git/commit.toml
    name: String,
    /// Write it into your own folder, for every project
    #[arg(long)]
    user: bool,
    /// What it is for
    #[arg(long, value_name = "TEXT", default_value = "")]
    description: String,
    /// What it says
    #[arg(long, value_name = "TEXT", default_value = "{{args}}")]
    template: String,
}

/// Writes the file of a new command; never over another one.
pub(super) fn run(session: &mut Session, args: &NewArgs) -> Result<(), Fault> {
    check_name(&args.name).map_err(Fault::usage)?;
    let text = format!(
        "# `heirloom cmd --help` says what a template may hold.\n[command]\ndescription = {}\ntemplate = {}\n",
        Value::String(args.description.clone()),
        Value::String(args.template.clone()),
    );
    let (_, problems) = Definition::read(&text);
    if let Some(problem) = problems.first() {
        return Err(Fault::usage(problem.clone()));
    }
    let path = place(session, args)?;
    if path.symlink_metadata().is_ok() {
        return Err(
            Fault::refused(format!("{} is there already", path.display()))
                .hint("edit it, or take another name"),
        );
    }
    if let Some(folder) = path.parent() {
        create_folder(folder)?;
    }
    write_file(&path, text.as_bytes())?;
    let file = path.display().to_string();
    if session.out.json {
        session.out.value(&json!({"name": args.name, "file": file}));
    } else {
        session.out.line(&file);
    }
    Ok(())
}

fn place(session: &mut Session, args: &NewArgs) -> Result<PathBuf, Fault> {
    let below = format!("{}.toml", args.name.replace(':', "/"));
    if args.user {
        let folder = session.env.user_commands().ok_or_else(|| {
            Fault::failed("there is no folder for your own commands")
                .hint("set HOME, or XDG_CONFIG_HOME to an absolute path")
        })?;
        return Ok(folder.join(below));
    }
    let root = session.find()?.place.root;
    let inside =
        normalise_inside(&root, &format!(".heirloom/commands/{below}")).map_err(|problem| {
            Fault::refused(format!("the command cannot be written there: {problem}"))
                .hint("remove the link, or use --user")
        })?;
    Ok(root.join(inside))
}
