//! Text of the program in messages of the user, and the words that a person typed around it.
//!
//! Programs put more than a prompt into the role of the user: wrappers of commands, what the editor shows, reminders,
//! output of hooks, prompts of their own. All of it is in one table, `marks`, which the readers of transcripts and the
//! hooks share. A person's words are kept whole at every place, as in a text after a reminder.

mod elements;
mod lines;
mod marks;
mod slash_command;

pub use slash_command::{SlashCommand, parse_slash_command};

use crate::AgentProgram;
use crate::hooks::without_envelopes;
use marks::HostMark;
use slash_command::split_command;
use std::borrow::Cow;

/// Names of the files in which programs keep their instructions.
const INSTRUCTION_FILES: [&str; 5] = [
    "AGENTS.md",
    "CLAUDE.md",
    "GEMINI.md",
    "QWEN.md",
    "copilot-instructions.md",
];
/// Beginning of the line before such a file.
const INSTRUCTION_LISTING: &str = "Contents of ";
/// Number of list items from which on a text about such a file is a template.
const TEMPLATE_ITEMS_MIN: usize = 2;

impl AgentProgram {
    /// Returns the words that a person typed in a text of the user; empty if the program wrote all of it. Borrowed if
    /// nothing was changed.
    ///
    /// Text in elements that are not known, at the beginning, follows the words as a block of code: it may be a paste or
    /// text of a program, and no rule is learned from it. A command is followed by an empty line, so that its arguments
    /// are sentences of their own, as in `/review` and `Never touch the migrations.`
    pub fn person_text(self, text: &str) -> Cow<'_, str> {
        let marks: Vec<&HostMark> = marks::of_program(self).collect();
        // First, because an envelope of memory is an element that no program knows.
        let text = without_envelopes(text);
        let start = text.trim_start();
        if is_instruction_listing(start) {
            return Cow::Owned(fence(start));
        }
        let is_marked =
            start.starts_with(['<', '/']) || marks.iter().any(|mark| text.contains(mark.needle()));
        let text = match is_marked {
            true => Cow::Owned(separate(&text, &marks)),
            false => text,
        };
        match template_request(&text) {
            Some(split) => Cow::Owned(split),
            None => text,
        }
    }
}

/// Returns true for a file of instructions as programs show it: `Contents of /p/CLAUDE.md (project instructions):`.
fn is_instruction_listing(text: &str) -> bool {
    let first = text.lines().next().unwrap_or_default().trim_end();
    first.starts_with(INSTRUCTION_LISTING)
        && first.ends_with(':')
        && INSTRUCTION_FILES.iter().any(|file| first.contains(file))
}

/// Removes the program's text and moves pasted elements behind the words.
fn separate(text: &str, marks: &[&HostMark]) -> String {
    let text = lines::words_after_heading(text, marks);
    if marks.iter().any(|mark| mark.is_whole_text(text)) {
        return String::new();
    }
    let text = lines::without_quotation(text, marks);
    let text = lines::remove_lines(&text, marks);
    let found = elements::remove_elements(&text, marks);
    // What is left after a reminder may be a text of the program.
    let words = found.words.trim();
    if marks.iter().any(|mark| mark.is_whole_text(words)) {
        return String::new();
    }
    let (mut words, pasted) = elements::split_leading_elements(words);
    if let Some(command) = found.command {
        words = format!("{} {}\n{words}", command.name, command.arguments);
    }
    let mut words = split_command(words.trim()).into_owned();
    let pasted = pasted
        .into_iter()
        .chain(found.pasted.iter().map(String::as_str));
    for part in pasted {
        if !words.is_empty() {
            words.push_str("\n\n");
        }
        words.push_str(&fence(part));
    }
    words
}

/// Returns the first paragraph of a request for a file of instructions, with the list of requirements after it as a
/// block: such lists come from templates of programs, as that of `/init`.
fn template_request(text: &str) -> Option<String> {
    let (first, rest) = text.trim_start().split_once("\n\n")?;
    let names_file = INSTRUCTION_FILES.iter().any(|file| first.contains(file));
    if !names_file || first.lines().count() > 1 || first.ends_with(':') {
        return None;
    }
    let is_item = |line: &&str| {
        let line = line.trim_start();
        let number = line.trim_start_matches(|c: char| c.is_ascii_digit());
        line.starts_with(['-', '*', '•']) || (number.len() < line.len() && number.starts_with('.'))
    };
    let items = rest.lines().filter(is_item).count();
    let has_fence = rest.contains("```");
    (items >= TEMPLATE_ITEMS_MIN && !has_fence).then(|| format!("{first}\n\n{}", fence(rest)))
}

/// Returns a text as a block of code that no line of it ends.
fn fence(text: &str) -> String {
    let mut marks = "```".to_owned();
    while text.contains(&marks) {
        marks.push('`');
    }
    format!("{marks}\n{}\n{marks}", text.trim())
}

#[cfg(test)]
mod tests;
