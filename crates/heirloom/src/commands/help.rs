//! `heirloom help`.

use crate::command_help::command_groups::GROUPS;
use crate::command_help::help_topics::{HelpTopic, TOPICS};
use crate::command_help::{overview, suggestions};
use crate::store_access::CliSession;
use crate::terminal_output::terminal_features::help_width;
use heirloom_model::{Fault, text};

/// Describe a command, a group of commands or a topic; without one all commands
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  heirloom help recall
  heirloom help task set
  heirloom help look after
  heirloom help exit-codes")]
pub(crate) struct Args {
    /// The command, the group or the topic
    #[arg(value_name = "TOPIC")]
    topic: Vec<String>,
}

pub(crate) fn run(args: Args, session: &mut CliSession) -> Result<u8, Fault> {
    let program = session.clap_command();
    let words = args.topic.join(" ");
    let width = help_width();
    let help = if let Some(help) = command_help(&program, &args.topic) {
        help
    } else if let Some(group) = GROUPS.iter().find(|group| group.is_named(&words)) {
        overview::describe_group(group, &program, width)
    } else if let Some(topic) = HelpTopic::find(&words) {
        topic.text.to_owned()
    } else {
        return Err(unknown_topic(&words, &program));
    };
    session.out.styled_text(&help);
    Ok(0)
}

/// Returns the help text of a command, or of a subcommand; `None` if one of the words names none.
fn command_help(program: &clap::Command, words: &[String]) -> Option<String> {
    let mut command = program;
    for word in words {
        command = command.find_subcommand(word)?;
    }
    let words = words.iter().map(String::as_str);
    let args = std::iter::once("heirloom").chain(words).chain(["--help"]);
    let help = program.clone().try_get_matches_from(args).err()?;
    Some(help.render().ansi().to_string())
}

fn unknown_topic(words: &str, program: &clap::Command) -> Fault {
    let topics = TOPICS.iter().map(|topic| topic.name);
    let topics = topics.collect::<Vec<_>>().join(", ");
    let near = suggestions::suggest_topics(words, program);
    let hint = match near.as_slice() {
        [] => format!("`heirloom help` lists the commands; topics: {topics}"),
        near => {
            let near: Vec<_> = near.iter().map(|name| format!("`{name}`")).collect();
            format!("did you mean {}? Topics: {topics}", near.join(" or "))
        }
    };
    let given = text::excerpt(words, 60);
    Fault::usage(format!("there is no command or topic `{given}`")).hint(hint)
}
