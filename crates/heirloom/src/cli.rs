//! What may be typed, and which command it is.

use crate::commands;
use crate::log;
use crate::open::Session;
use crate::options::Global;
use clap::{FromArgMatches, Parser, Subcommand};
use heirloom_model::Fault;
use std::ffi::OsString;

/// Memory and context for coding agents: what one session learns, the next inherits.
///
/// Start with `heirloom demo`, or `heirloom init` in a project.
#[derive(Debug, Parser)]
#[command(
    name = "heirloom",
    version,
    max_term_width = 100,
    disable_help_subcommand = true
)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) global: Global,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// Makes of one list the commands, what runs them, and what each takes.
macro_rules! commands {
    ($($variant:ident = $module:ident,)+) => {
        /// The commands.
        #[derive(Debug, Subcommand)]
        pub(crate) enum Command {
            $($variant(commands::$module::Args),)+
        }

        /// Runs a command; its exit code when nothing went wrong with the command itself.
        pub(crate) fn run(command: Command, session: &mut Session) -> Result<u8, Fault> {
            match command {
                $(Command::$variant(args) => log::of_command(
                    stringify!($module),
                    session,
                    |session| commands::$module::run(args, session),
                ),)+
            }
        }

        /// The command of this name, described.
        fn described(name: &str) -> Option<clap::Command> {
            match name {
                $(stringify!($module) => {
                    let command = clap::Command::new(stringify!($module));
                    Some(<commands::$module::Args as clap::Args>::augment_args(command))
                })+
                _ => None,
            }
        }
    };
}

commands! {
    Init = init,
    Status = status,
    Demo = demo,
    Run = run,
    Outcome = outcome,
    Observe = observe,
    Context = context,
    Compact = compact,
    Expand = expand,
    Remember = remember,
    Recall = recall,
    Tried = tried,
    List = list,
    Show = show,
    Forget = forget,
    Propose = propose,
    Accept = accept,
    Reject = reject,
    Group = group,
    Watch = watch,
    Mcp = mcp,
    Serve = serve,
    Token = token,
    Ui = ui,
    Undo = undo,
    Conflicts = conflicts,
    Resolve = resolve,
    History = history,
    Hook = hook,
    Install = install,
    Uninstall = uninstall,
    Pin = pin,
    Mute = mute,
    Useful = useful,
    Review = review,
    Receipts = receipts,
    Session = session,
    Output = output,
    Task = task,
    Episode = episode,
    Analytics = analytics,
    Artifact = artifact,
    Step = step,
    Error = error,
    Workspace = workspace,
    Share = share,
    Unshare = unshare,
    Export = export,
    Import = import,
    Prune = prune,
    Purge = purge,
    Backup = backup,
    Restore = restore,
    Doctor = doctor,
    Reembed = reembed,
    Redact = redact,
    Bench = bench,
    Cmd = cmd,
    Config = config,
    Completions = completions,
    Man = man,
}

/// Reads what was typed.
///
/// To describe every command takes longer than to run many of them, so at first only the one that is named is.
/// Whatever is wrong with that, or asks for help, is read again with all of them.
pub(crate) fn parse(args: &[OsString]) -> Result<Cli, clap::Error> {
    match with_one_command(args) {
        Some(cli) => Ok(cli),
        None => Cli::try_parse_from(args),
    }
}

/// What was typed, if it is right by the description of the first command that is named in it.
fn with_one_command(args: &[OsString]) -> Option<Cli> {
    let mut words = args.iter().skip(1).filter_map(|arg| arg.to_str());
    let command = words.find_map(described)?;
    let program = clap::Command::new("heirloom")
        .disable_help_subcommand(true)
        .subcommand_required(true);
    let program = <Global as clap::Args>::augment_args(program).subcommand(command);
    let mut matches = program.try_get_matches_from(args).ok()?;
    Cli::from_arg_matches_mut(&mut matches).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    fn typed(line: &str) -> Vec<OsString> {
        let words =
            std::iter::once("heirloom").chain(line.split(' ').filter(|word| !word.is_empty()));
        words.map(OsString::from).collect()
    }

    #[test]
    fn a_command_alone_takes_what_it_takes_among_all() {
        let all = Cli::command();
        for among_all in all.get_subcommands() {
            let name = among_all.get_name();
            let alone = described(name).unwrap();
            let of = |command: &clap::Command| {
                format!("{:?}", command.get_arguments().collect::<Vec<_>>())
            };
            assert_eq!(of(&alone), of(among_all), "{name}");
            let below = |command: &clap::Command| -> Vec<String> {
                command
                    .get_subcommands()
                    .map(|one| one.get_name().to_owned())
                    .collect()
            };
            assert_eq!(below(&alone), below(among_all), "{name}");
        }
    }

    #[test]
    fn what_is_right_is_read_the_same_with_one_command_as_with_all() {
        for line in [
            "context --task 7",
            "--json recall why --project-dir recall -k 3",
            "--project recall context",
            "--set a.b=c --json task done 7 --project p",
            "run -- remember --json",
            "remember recall",
            "session add s --role user words --json",
        ] {
            let args = typed(line);
            let read = |read: Result<Cli, clap::Error>| match read {
                Ok(cli) => format!("{cli:?}"),
                Err(error) => error.render().to_string(),
            };
            assert_eq!(
                read(parse(&args)),
                read(Cli::try_parse_from(&args)),
                "{line}"
            );
        }
        assert!(with_one_command(&typed("context --task 7")).is_some());
    }

    #[test]
    fn help_and_mistakes_are_those_of_the_whole_program() {
        for line in [
            "",
            "--help",
            "--version",
            "-V",
            "help",
            "help recall",
            "recall --help",
            "recall -k x",
            "task",
            "task dun",
            "contxt",
            "--project recall",
            "--project recall contxt",
            "context --tsk 7",
        ] {
            let args = typed(line);
            assert!(with_one_command(&args).is_none(), "{line}");
            let said = |read: Result<Cli, clap::Error>| read.unwrap_err().render().to_string();
            assert_eq!(
                said(parse(&args)),
                said(Cli::try_parse_from(&args)),
                "{line}"
            );
        }
    }
}
