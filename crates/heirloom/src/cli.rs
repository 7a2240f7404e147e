//! Command-line parser: the table of commands, and fast parsing of the one that was called.

use crate::commands;
use crate::logging;
use crate::shared_options::GlobalOptions;
use crate::store_access::CliSession;
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
    pub(crate) global: GlobalOptions,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// Generates the `Command` enum, its dispatcher and the lookup of one command's arguments from one list.
macro_rules! commands {
    ($($variant:ident = $module:ident,)+) => {
        /// All commands.
        #[derive(Debug, Subcommand)]
        pub(crate) enum Command {
            $($variant(commands::$module::Args),)+
        }

        /// Runs a command and returns its exit code, if the command itself did not fail.
        pub(crate) fn run(command: Command, session: &mut CliSession) -> Result<u8, Fault> {
            let outcome = match command {
                $(Command::$variant(args) => logging::log_command(
                    stringify!($module),
                    session,
                    |session| commands::$module::run(args, session),
                ),)+
            };
            session.finish_command();
            outcome
        }

        /// Returns the description of the command with this name.
        fn command_description(name: &str) -> Option<clap::Command> {
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
    Learn = learn,
    Prune = prune,
    Purge = purge,
    Backup = backup,
    Restore = restore,
    Transfer = transfer,
    Fleet = fleet,
    Doctor = doctor,
    Reembed = reembed,
    Redact = redact,
    Bench = bench,
    Cmd = cmd,
    Config = config,
    Completions = completions,
    Man = man,
}

/// Parses the program's arguments.
///
/// Describing every command to clap takes longer than running most of them, so only the called command is described
/// first. Wrong arguments and requests for help are parsed again with all commands.
pub(crate) fn parse(args: &[OsString]) -> Result<Cli, clap::Error> {
    match parse_with_one_command(args) {
        Some(cli) => Ok(cli),
        None => Cli::try_parse_from(args),
    }
}

/// Parses the arguments with the description of the first command named in them; `None` if they do not fit it.
fn parse_with_one_command(args: &[OsString]) -> Option<Cli> {
    let mut words = args.iter().skip(1).filter_map(|arg| arg.to_str());
    let command = words.find_map(command_description)?;
    let program = clap::Command::new("heirloom")
        .disable_help_subcommand(true)
        .subcommand_required(true);
    let program = <GlobalOptions as clap::Args>::augment_args(program).subcommand(command);
    let mut matches = program.try_get_matches_from(args).ok()?;
    Cli::from_arg_matches_mut(&mut matches).ok()
}

#[cfg(test)]
mod surface_tests;

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    fn split_line(line: &str) -> Vec<OsString> {
        let words =
            std::iter::once("heirloom").chain(line.split(' ').filter(|word| !word.is_empty()));
        words.map(OsString::from).collect()
    }

    #[test]
    fn command_description_equals_full_description() {
        let all = Cli::command();
        for described_with_all in all.get_subcommands() {
            let name = described_with_all.get_name();
            let described_alone = command_description(name).unwrap();
            let of = |command: &clap::Command| {
                format!("{:?}", command.get_arguments().collect::<Vec<_>>())
            };
            assert_eq!(of(&described_alone), of(described_with_all), "{name}");
            let subcommand_names = |command: &clap::Command| -> Vec<String> {
                command
                    .get_subcommands()
                    .map(|one| one.get_name().to_owned())
                    .collect()
            };
            assert_eq!(
                subcommand_names(&described_alone),
                subcommand_names(described_with_all),
                "{name}"
            );
        }
    }

    #[test]
    fn parse_valid_arguments_equals_full_parser() {
        for line in [
            "context --task 7",
            "--json recall why --project-dir recall -k 3",
            "--project recall context",
            "--set a.b=c --json task done 7 --project p",
            "run -- remember --json",
            "remember recall",
            "session add s --role user words --json",
        ] {
            let args = split_line(line);
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
        assert!(parse_with_one_command(&split_line("context --task 7")).is_some());
    }

    #[test]
    fn parse_help_and_errors_equal_full_parser() {
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
            let args = split_line(line);
            assert!(parse_with_one_command(&args).is_none(), "{line}");
            let error_text =
                |read: Result<Cli, clap::Error>| read.unwrap_err().render().to_string();
            assert_eq!(
                error_text(parse(&args)),
                error_text(Cli::try_parse_from(&args)),
                "{line}"
            );
        }
    }
}
