//! Shell lines as their programs see them: the words of each simple command, without quotes and redirections.

#[cfg(test)]
mod tests;

pub use super::command_line::Operator;

use super::command_line::{plain_word, redirection_at, split_commands, split_words};
use heirloom_model::limits;

/// Greatest number of simple commands.
const COMMANDS_MAX: usize = 48;
/// Greatest number of words of a simple command.
const WORDS_MAX: usize = 200;
/// Words of control structures.
const KEYWORDS: [&str; 15] = [
    "if", "then", "else", "elif", "fi", "for", "while", "until", "do", "done", "case", "esac", "{",
    "}", "!",
];

/// Simple command of a shell line. Commands of a subshell follow those before it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SimpleCommand {
    /// Words without quotes and redirections. A word with a here-document has its text in [`Self::here_document`].
    pub words: Vec<String>,
    /// Text of the here-document.
    pub here_document: Option<String>,
    /// Operator after the command; `None` at the end of the line.
    pub next_operator: Option<Operator>,
}

impl SimpleCommand {
    /// Returns the word at an index, or an empty text.
    pub fn word(&self, index: usize) -> &str {
        self.words.get(index).map_or("", String::as_str)
    }

    /// Returns the value of an option such as `-m x`, `--message x` or `--message=x`, for each time it occurs.
    pub fn option_values<'c>(&'c self, names: &'c [&'c str]) -> impl Iterator<Item = &'c str> {
        let pairs = self
            .words
            .iter()
            .zip(self.words.iter().skip(1).map(String::as_str).chain([""]));
        pairs.filter_map(move |(word, next)| {
            if names.contains(&word.as_str()) {
                return Some(next);
            }
            let (name, value) = word.split_once('=')?;
            names.contains(&name).then_some(value)
        })
    }
}

/// Returns the simple commands of a command line.
pub fn read_shell_line(line: &str) -> Vec<SimpleCommand> {
    let end = line.floor_char_boundary(limits::COMMAND_LINE_BYTES_MAX);
    let mut commands = Vec::new();
    collect_commands(line.get(..end).unwrap_or_default(), 0, None, &mut commands);
    commands
}

fn collect_commands(
    line: &str,
    depth: usize,
    operator_after_line: Option<Operator>,
    out: &mut Vec<SimpleCommand>,
) {
    for slice in split_commands(line) {
        if out.len() >= COMMANDS_MAX {
            return;
        }
        let next_operator = slice.next_operator.or(operator_after_line);
        if let Some(inner) = slice.subshell().filter(|_| depth < limits::SUBSHELLS_MAX) {
            collect_commands(inner, depth + 1, next_operator, out);
            continue;
        }
        let words = plain_words(slice.text);
        if !words.is_empty() {
            out.push(SimpleCommand {
                words,
                here_document: slice.here_document.map(str::to_owned),
                next_operator,
            });
        }
    }
}

/// Returns the words of a simple command without quotes, redirections and keywords.
fn plain_words(command: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut is_target = false;
    for raw in split_words(command) {
        let was_target = std::mem::take(&mut is_target);
        let argument = match redirection_at(raw) {
            Some(at) => {
                let (before, rest) = raw.split_at(at);
                let target = rest.trim_start_matches(['<', '>', '&', '|', '-']);
                is_target = target.is_empty() && !rest.ends_with('-');
                // The number of the stream, or the `&` of `&>`.
                let before = before.strip_suffix('&').unwrap_or(before);
                match before.bytes().all(|byte| byte.is_ascii_digit()) {
                    true => continue,
                    false => before,
                }
            }
            None => raw,
        };
        let is_keyword = words.is_empty() && KEYWORDS.contains(&argument);
        if !was_target && !is_keyword && words.len() < WORDS_MAX {
            words.push(plain_word(argument, false));
        }
    }
    words
}
