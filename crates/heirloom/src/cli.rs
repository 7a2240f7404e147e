//! Command-line parser: the table of commands, and fast parsing of the one that was called.

use crate::acting_agent::{personal_action, require_person};
use crate::command_help::{overview, suggestions};
use crate::commands;
use crate::logging;
use crate::shared_options::GlobalOptions;
use crate::store_access::CliSession;
use crate::terminal_output::terminal_features::help_width;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use heirloom_model::{Fault, text};
use std::ffi::OsString;

/// Memory and context for coding agents: what one session learns, the next inherits
#[derive(Debug, Parser)]
#[command(
    name = "heirloom",
    version,
    max_term_width = 100,
    disable_help_subcommand = true,
    help_template = overview::help_template(help_width()),
    override_usage = "heirloom [OPTIONS] COMMAND"
)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) global: GlobalOptions,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// Generates the `Command` enum, its dispatcher and the lookup of one command's arguments from one list.
macro_rules! commands {
    ($($variant:ident = $module:ident $([$($alias:literal),+])?,)+) => {
        /// All commands.
        #[derive(Debug, Subcommand)]
        pub(crate) enum Command {
            $(
                $(#[command(aliases = [$($alias),+])])?
                $variant(commands::$module::Args),
            )+
        }

        /// Names of all commands, each with its aliases.
        #[cfg(test)]
        const COMMAND_NAMES: &[(&str, &[&str])] = &[
            $((stringify!($module), &[$($($alias),+)?]),)+
        ];

        /// Runs a command and returns its exit code, if the command itself did not fail.
        pub(crate) fn run(command: Command, session: &mut CliSession) -> Result<u8, Fault> {
            let outcome = match command {
                $(Command::$variant(args) => logging::log_command(
                    stringify!($module),
                    session,
                    |session| {
                        if let Some(action) = personal_action(stringify!($module)) {
                            require_person(session, action)?;
                        }
                        session.out.begin_progress(stringify!($module));
                        commands::$module::run(args, session)
                    },
                ),)+
            };
            session.out.end_progress();
            session.finish_command();
            outcome
        }

        /// Returns the description of the command with this name or alias.
        fn command_description(name: &str) -> Option<clap::Command> {
            match name {
                $(stringify!($module) $($(| $alias)+)? => {
                    let command = clap::Command::new(stringify!($module));
                    $(let command = command.aliases([$($alias),+]);)?
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
    Remember = remember ["add", "save", "note"],
    Recall = recall ["search", "find"],
    Tried = tried,
    List = list ["ls"],
    Show = show ["get"],
    Forget = forget ["rm", "delete"],
    Propose = propose,
    Accept = accept,
    Reject = reject,
    Group = group,
    Watch = watch,
    Mcp = mcp,
    Serve = serve,
    Token = token,
    Trust = trust,
    Ui = ui,
    Undo = undo,
    Conflicts = conflicts,
    Resolve = resolve,
    History = history ["log"],
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
    Doctor = doctor ["check"],
    Reembed = reembed,
    Redact = redact,
    Bench = bench,
    Cmd = cmd,
    Config = config,
    Completions = completions,
    Man = man,
    Help = help,
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

/// Returns the error for a command that does not exist, with suggestions; `None` for other usage errors.
pub(crate) fn describe_unknown_command(error: &clap::Error, args: &[OsString]) -> Option<Fault> {
    if error.kind() != ErrorKind::InvalidSubcommand {
        return None;
    }
    let Some(ContextValue::String(given)) = error.get(ContextKind::InvalidSubcommand) else {
        return None;
    };
    // A wrong word after `heirloom task` is reported by clap.
    let program = clap::Command::new("heirloom").allow_external_subcommands(true);
    let program = <GlobalOptions as clap::Args>::augment_args(program);
    let matches = program.try_get_matches_from(args).ok()?;
    if matches.subcommand_name() != Some(given) {
        return None;
    }
    let described = Cli::command();
    let near = suggestions::suggest_commands(given, &described);
    let near: Vec<_> = near
        .iter()
        .map(|name| format!("`heirloom {name}`"))
        .collect();
    let hint = match near.is_empty() {
        true => "`heirloom help` shows all commands".to_owned(),
        false => {
            let near = near.join(" or ");
            format!("did you mean {near}? `heirloom help` shows all commands")
        }
    };
    let given = text::excerpt(given, 60);
    Some(Fault::usage(format!("there is no command `{given}`")).hint(hint))
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
    use crate::command_help::{command_groups, help_topics};

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
    fn every_command_is_in_one_group_with_a_short_line() {
        let mut grouped = Vec::new();
        for group in &command_groups::GROUPS {
            for (name, summary) in group.commands {
                grouped.push(*name);
                // Two blanks, the name and a line fit 80 columns; `help` describes the rest.
                assert!((10..=62).contains(&summary.len()), "{name}: {summary}");
                assert!(!summary.ends_with('.'), "{name}");
            }
        }
        let mut commands: Vec<_> = COMMAND_NAMES.iter().map(|(name, _)| *name).collect();
        grouped.sort_unstable();
        commands.sort_unstable();
        assert_eq!(grouped, commands);
    }

    #[test]
    fn names_of_groups_topics_and_aliases_are_unambiguous() {
        let commands = COMMAND_NAMES.iter().map(|(name, _)| *name);
        let aliases = COMMAND_NAMES.iter().flat_map(|(_, aliases)| *aliases);
        let groups = command_groups::GROUPS.iter().map(|group| group.topic);
        let topics = help_topics::TOPICS.iter().flat_map(|topic| {
            let names = std::iter::once(&topic.name).chain(topic.other_names);
            names.copied()
        });
        let all = commands.chain(aliases.copied()).chain(topics).chain(groups);
        let mut seen = std::collections::HashSet::new();
        for name in all {
            assert!(seen.insert(name), "{name}");
        }
    }

    #[test]
    fn alias_is_parsed_alone_as_the_command() {
        for (name, aliases) in COMMAND_NAMES {
            for alias in *aliases {
                let described = command_description(alias).unwrap();
                assert_eq!(described.get_name(), *name, "{alias}");
            }
        }
        let cli = parse_with_one_command(&split_line("search deploy -k 3")).unwrap();
        assert!(matches!(cli.command, Command::Recall(_)));
        let listed = help_topics::HelpTopic::find("aliases").unwrap().text;
        for (name, aliases) in COMMAND_NAMES.iter().filter(|(_, all)| !all.is_empty()) {
            let line = format!("  {:20} {name}\n", aliases.join(", "));
            assert!(listed.contains(&line), "{line}");
        }
    }

    #[test]
    fn unknown_command_is_described_with_suggestions() {
        let describe = |line: &str| {
            let args = split_line(line);
            let error = Cli::try_parse_from(&args).unwrap_err();
            describe_unknown_command(&error, &args)
        };
        let fault = describe("--project recall contxt").unwrap();
        assert_eq!(fault.message, "there is no command `contxt`");
        assert!(fault.hint.unwrap().contains("`heirloom context`"));
        let fault = describe("xyzzy list").unwrap();
        assert_eq!(fault.hint.unwrap(), "`heirloom help` shows all commands");
        assert!(describe("task dun").is_none(), "clap describes subcommands");
        assert!(describe("recall").is_none());
    }

    #[test]
    fn parse_valid_arguments_equals_full_parser() {
        for line in [
            "ls -n 3",
            "--json search why",
            "help recall",
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
