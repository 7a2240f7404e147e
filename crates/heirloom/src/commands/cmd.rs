//! `heirloom cmd`.

mod new;
mod run;
mod show;

use crate::config::Config;
use crate::open::Session;
use crate::trust;
use heirloom_engine::{CommandBook, CommandFile};
use heirloom_model::{ErrorKind, Fault, text};
use serde_json::json;

/// Prompts of your own: templates in TOML files, with arguments, files and what programs print
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Files: .heirloom/commands/**/*.toml and .radium/commands/**/*.toml of the project, and commands/ beside
the user's config. The project wins; git/commit.toml is git:commit.

  template = '''Review {{arg1}}.
  !{git diff --stat {{arg1}}}
  @{docs/review.md}'''

!{…} inserts what a program prints, @{…} a file, {{args}} and {{arg1}} the arguments. A backslash before one of
them writes it as it is. A program finds the arguments quoted.

A project's file is untrusted until `heirloom cmd trust NAME`; programs run when you say yes, when the command is
in `commands.allow` of the user's config, or with --yes, which answers both for one call."
)]
pub(crate) struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    /// List the commands
    List,
    /// Show a command, what it takes, and whether it is trusted
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
    /// Trust a project's file as it is now; after a change it is untrusted again
    Trust {
        /// The command
        name: String,
        /// Trust it no longer
        #[arg(long)]
        off: bool,
        /// Do not ask
        #[arg(long)]
        yes: bool,
    },
    /// Write the file of a new command
    New(new::NewArgs),
}

pub(crate) fn run(args: Args, session: &mut Session) -> Result<u8, Fault> {
    match args.action {
        Action::List => show::list(session)?,
        Action::Show { name } => show::one(session, &name)?,
        Action::Run { name, args, yes } => run::run(session, &name, &args, yes)?,
        Action::Trust { name, off, yes } => trust(session, &name, off, yes)?,
        Action::New(args) => new::run(session, &args)?,
    }
    Ok(0)
}

/// The commands of the project around the start folder, else the person's own; and the settings.
fn book(session: &mut Session) -> Result<(CommandBook, Config), Fault> {
    let (root, config) = match session.find() {
        Ok(found) => (found.place.root, found.config),
        Err(fault) if fault.kind == ErrorKind::NotFound => {
            (session.start()?, session.bare_config()?)
        }
        Err(fault) => return Err(fault),
    };
    let user = session.env.user_commands();
    Ok((CommandBook::new(root, user), config))
}

/// Whether the person's settings let a command run its programs.
pub(crate) fn is_allowed(config: &Config, name: &str) -> bool {
    let list = config.texts("commands.allow");
    list.iter().any(|entry| match entry.strip_suffix('*') {
        Some(start) => name.starts_with(start),
        None => entry == name,
    })
}

fn trust(session: &mut Session, name: &str, off: bool, yes: bool) -> Result<(), Fault> {
    let (book, _) = book(session)?;
    let command = book.look_up(name)?;
    let was = trust::is_trusted(&session.env, &command);
    if off {
        trust::distrust(&session.env, &command)?;
    } else if !was {
        if !yes {
            lay_open(session, &command);
            let question = format!("Trust this file of `{}`?", command.name);
            let answer = session
                .out
                .ask(&question)
                .map_err(|fault| fault.hint("read it with `heirloom cmd show`, then say --yes"))?;
            if !answer {
                return Err(Fault::refused("it is not trusted"));
            }
        }
        trust::trust(&session.env, &command, session.clock()?.now())?;
    }
    let is = trust::is_trusted(&session.env, &command);
    if session.out.json {
        session.out.value(&json!({
            "name": command.name,
            "file": command.path.display().to_string(),
            "sha256": command.sha256,
            "trusted": is,
            "outcome": if is == was { "unchanged" } else if is { "trusted" } else { "distrusted" },
        }));
        return Ok(());
    }
    let said = match (is, command.source.is_foreign()) {
        (_, false) => "is your own and needs no trust",
        (true, true) => "is trusted as it is now",
        (false, true) => "is not trusted",
    };
    session.out.line(&format!("{} {said}", command.name));
    Ok(())
}

/// Shows a person the file that is to be trusted.
fn lay_open(session: &mut Session, command: &CommandFile) {
    let out = &mut session.out;
    out.talk(&format!("{}", command.path.display()));
    out.talk(&format!("sha256 {}", command.sha256));
    out.talk(text::clip(&command.text, SHOWN_CHARS));
    if text::chars(&command.text) > SHOWN_CHARS {
        out.talk("… `heirloom cmd show` shows all of it");
    }
}

/// Characters of a file that are shown before a question.
const SHOWN_CHARS: usize = 8_000;
