//! Overview of the program: all commands in groups, and the description of one group.

use super::command_groups::{CommandGroup, GROUPS};
use super::help_topics::TOPICS;
use crate::terminal_output::word_wrap::wrap_words;
use clap::builder::styling::Style;

/// Column at which the short lines begin.
const SUMMARY_COLUMN: usize = 15;

/// Returns the help template of the program for lines of `width` characters; clap removes the styles where there are
/// no colours.
pub(crate) fn help_template(width: usize) -> String {
    let mut text = "{about-with-newline}\n{usage-heading} {usage}\n".to_owned();
    for group in &GROUPS {
        text.push_str(&format!("\n{}\n", heading(group.title)));
        for (name, summary) in group.commands {
            text.push_str(&entry(name, summary, width));
        }
    }
    text.push_str(&format!("\n{}\n{{options}}\n\n", heading("Options")));
    let topics = TOPICS.iter().map(|topic| topic.name);
    let topics = topics.collect::<Vec<_>>().join(", ");
    let more = format!(
        "Start with `heirloom demo`, or `heirloom init` in a project. `heirloom help COMMAND` describes a command, `heirloom help TOPIC` a topic: {topics}."
    );
    text.push_str(&wrap_words(&more, width, 0));
    text
}

/// Describes the commands of a group with their full descriptions.
pub(crate) fn describe_group(
    group: &CommandGroup,
    program: &clap::Command,
    width: usize,
) -> String {
    let mut text = format!("{}\n\n", heading(group.title));
    for (name, summary) in group.commands {
        let about = program
            .find_subcommand(name)
            .and_then(|command| command.get_about())
            .map_or_else(|| (*summary).to_owned(), ToString::to_string);
        text.push_str(&entry(name, &about, width));
    }
    text.push_str("\n`heirloom help COMMAND` describes a command.\n");
    text
}

/// Formats a heading as clap does.
fn heading(title: &str) -> String {
    let style = Style::new().bold().underline();
    format!("{style}{title}:{style:#}")
}

fn entry(name: &str, summary: &str, width: usize) -> String {
    let style = Style::new().bold();
    let gap = " ".repeat(SUMMARY_COLUMN.saturating_sub(name.len() + 2));
    let summary = wrap_words(summary, width, SUMMARY_COLUMN);
    format!("  {style}{name}{style:#}{gap}{}\n", summary.trim_start())
}
