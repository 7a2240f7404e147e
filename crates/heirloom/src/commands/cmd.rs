//! `heirloom cmd`.

mod new;
mod run;
mod show;

use crate::acting_agent::require_person;
use crate::config::Config;
use crate::store_access::CliSession;
use crate::store_access::trust;
use heirloom_engine::{CommandBook, CommandFile};
use heirloom_model::text::EscapedPath;
use heirloom_model::{ErrorKind, Fault, text};
use serde_json::json;

/// Prompts of your own: templates in TOML files, with arguments, files and the output of programs
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Files: .heirloom/commands/**/*.toml and .radium/commands/**/*.toml of the project, and commands/ next to
the user's config. The project wins; git/commit.toml is git:commit.

  template = '''Review {{arg1}}.
  !{git diff --stat {{arg1}}}
  @{docs/review.md}'''

!{…} inserts the output of a program, @{…} a file, {{args}} and {{arg1}} the arguments. A backslash before one of
them writes it as it is. A program finds the arguments quoted.

A project's file is untrusted until `heirloom cmd trust NAME`; programs run when you confirm, when the command is
in `commands.allow` of the user's config, or with --yes, which confirms both for one call."
)]
pub(crate) struct Args {
    #[command(subcommand)]
    action: CmdSubcommand,
}

#[derive(Debug, clap::Subcommand)]
enum CmdSubcommand {
    /// List the commands
    List,
    /// Show a command, its arguments, and whether it is trusted
    Show {
        /// The command
        name: String,
    },
    /// Print a command's prompt
    Run {
        /// The command
        name: String,
        /// Its arguments; `--` before one that begins with a dash
        args: Vec<String>,
        /// Trust it, and let it run its programs, for this call
        #[arg(long)]
        yes: bool,
    },
    /// Trust a project's file in its current form; after a change it is untrusted again
    Trust {
        /// The command
        name: String,
        /// Withdraw the trust
        #[arg(long)]
        off: bool,
        /// Do not ask
        #[arg(long)]
        yes: bool,
    },
    /// Write the file of a new command
    New(new::NewCommandArgs),
}

pub(crate) fn run(args: Args, session: &mut CliSession) -> Result<u8, Fault> {
    match args.action {
        CmdSubcommand::List => show::list_commands(session)?,
        CmdSubcommand::Show { name } => show::show_command(session, &name)?,
        CmdSubcommand::Run { name, args, yes } => run::run(session, &name, &args, yes)?,
        CmdSubcommand::Trust { name, off, yes } => trust(session, &name, off, yes)?,
        CmdSubcommand::New(args) => new::run(session, &args)?,
    }
    Ok(0)
}

/// Loads the commands of the project around the start folder, else the user's own, with the settings.
fn load_command_book(session: &mut CliSession) -> Result<(CommandBook, Config), Fault> {
    let (root, config) = match session.find_project() {
        Ok(found) => (found.place.root, found.config),
        Err(fault) if fault.kind == ErrorKind::NotFound => {
            (session.start_folder()?, session.config_without_project()?)
        }
        Err(fault) => return Err(fault),
    };
    Ok((session.env.command_book(root), config))
}

/// Returns true if the user's settings let a command run its programs.
pub(crate) fn is_allowed(config: &Config, name: &str) -> bool {
    let list = config.texts("commands.allow");
    list.iter().any(|entry| match entry.strip_suffix('*') {
        Some(start) => name.starts_with(start),
        None => entry == name,
    })
}

fn trust(session: &mut CliSession, name: &str, off: bool, yes: bool) -> Result<(), Fault> {
    let (book, _) = load_command_book(session)?;
    let command = book.look_up(name)?;
    let was = trust::is_trusted(&session.env, &command);
    if off {
        trust::distrust(&session.env, &command)?;
    } else if !was {
        require_person(session, "trust commands")?;
        if !yes {
            show_for_review(session, &command);
            let question = format!("Trust this file of `{}`?", command.name);
            let answer = session.out.ask(&question).map_err(|fault| {
                fault.hint("read it with `heirloom cmd show`, then repeat with --yes")
            })?;
            if !answer {
                return Err(Fault::refused("the command is not trusted"));
            }
        }
        trust::trust(&session.env, &command, session.clock()?.now())?;
    }
    let is = trust::is_trusted(&session.env, &command);
    if session.out.json {
        session.out.value(&json!({
            "name": command.name,
            "file": command.path.to_string_lossy().into_owned(),
            "sha256": command.sha256,
            "trusted": is,
            "outcome": if is == was { "unchanged" } else if is { "trusted" } else { "distrusted" },
        }));
        return Ok(());
    }
    let status = match (is, command.source.is_foreign()) {
        (_, false) => "is your own and needs no trust",
        (true, true) => "is trusted in its current form",
        (false, true) => "is not trusted",
    };
    session.out.line(&format!("{} {status}", command.name));
    Ok(())
}

/// Shows the user the file that is to be trusted.
fn show_for_review(session: &mut CliSession, command: &CommandFile) {
    let out = &mut session.out;
    out.talk(&command.path.to_escaped());
    out.talk(&format!("sha256 {}", command.sha256));
    out.talk(text::clip(&command.text, REVIEW_CHARS));
    if text::chars(&command.text) > REVIEW_CHARS {
        out.talk("… `heirloom cmd show` shows the whole file");
    }
}

/// Characters of a file that are shown before the question.
const REVIEW_CHARS: usize = 8_000;
