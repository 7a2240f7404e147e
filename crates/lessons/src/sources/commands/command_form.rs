//! Barest form of a command: its words without those that belong to a single call.

use crate::cues::{CommandCues, CommandPurpose};

/// Greatest number of characters of a form.
const FORM_CHARS_MAX: usize = 140;
/// Words after a program that belong to the form of a check.
const SUBCOMMANDS: [&str; 6] = ["run", "check", "ci", "all", "workspace", "."];
/// Values of an option such as `-v q`, in tools whose option has a value only sometimes.
const LEVELS: [&str; 10] = [
    "q",
    "m",
    "n",
    "d",
    "quiet",
    "minimal",
    "normal",
    "detailed",
    "diag",
    "diagnostic",
];
/// Options whose value is a free name.
const NAME_OPTIONS: [&str; 4] = ["--name", "--message", "-m", "-n"];
/// Files of a formatter, which has no meaning without them.
const FILES: &str = "<files>";
/// Pattern of all packages, without which `go test` runs only one.
const ALL_PACKAGES: &str = "./...";

/// Builder of a barest form.
pub(super) struct FormBuilder {
    words: Vec<String>,
    /// True if the command was narrowed to a part.
    pub(super) is_narrowed: bool,
}

impl FormBuilder {
    /// Creates the builder with the words that name the command.
    pub(super) fn new(words: &[&str]) -> Self {
        Self {
            words: words.iter().map(|word| quote(word)).collect(),
            is_narrowed: false,
        }
    }

    /// Adds the words after the program that belong to the form.
    pub(super) fn add_rest(&mut self, rest: &[&str], purpose: &CommandPurpose, cues: &CommandCues) {
        let is_known = |list: &[String], word: &str| {
            let name = word.split_once('=').map_or(word, |(name, _)| name);
            list.iter().any(|option| option == name)
        };
        let is_generation = purpose.name == "generate";
        let is_format = purpose.name == "format";
        let mut at = 0;
        while let Some(word) = rest.get(at) {
            at += 1;
            // A formatter's `-w` writes, and has no value.
            let has_value = is_known(&cues.value_options, word)
                && !word.contains('=')
                && !(is_format && *word == "-w");
            if word.starts_with('-') {
                if NAME_OPTIONS.contains(word) && !purpose.is_check {
                    self.words.push((*word).to_owned());
                    self.words.push("<name>".to_owned());
                    at += 1;
                } else if purpose.is_check
                    && (is_known(&cues.narrow_options, word) || is_display_cluster(word))
                {
                    // The number of shown lines or the seed does not narrow, a filter does.
                    self.is_narrowed |= has_value;
                    let is_level = rest.get(at).is_some_and(|next| LEVELS.contains(next));
                    at += usize::from(has_value || is_level);
                } else {
                    self.words.push(quote(word));
                    if has_value && let Some(value) = rest.get(at) {
                        self.words.push(quote(value));
                        at += 1;
                    }
                }
            } else if is_generation {
                if self.words.last().is_none_or(|last| last != "<name>") {
                    self.words.push("<name>".to_owned());
                }
            } else if purpose.is_check
                && !SUBCOMMANDS.contains(word)
                && *word != ALL_PACKAGES
                && !is_directory(word, purpose)
            {
                self.is_narrowed = true;
                let is_named = self.words.last().is_some_and(|last| last == FILES);
                if is_format && !is_named {
                    self.words.push(FILES.to_owned());
                }
            } else {
                self.words.push(quote(word));
            }
        }
    }

    /// Returns the words of a command as a shell reads them, if they are a short line.
    pub(super) fn line_of(words: &[&str]) -> Option<String> {
        let quoted = |word: &&str| match word.contains(['*', '<', '>', '~', '^']) {
            true => format!("'{word}'"),
            false => quote(word),
        };
        let words: Vec<String> = words.iter().map(quoted).collect();
        short_line(words.join(" "))
    }

    /// Returns the form, if it is short enough.
    pub(super) fn finish(mut self) -> Option<String> {
        if self.words.last().is_some_and(|last| last == "--") {
            self.words.pop();
        }
        let is_go = self.words.first().is_some_and(|word| word == "go");
        if is_go && self.is_narrowed && !self.words.iter().any(|word| word == ALL_PACKAGES) {
            self.words.push(ALL_PACKAGES.to_owned());
        }
        short_line(self.words.join(" "))
    }
}

fn short_line(line: String) -> Option<String> {
    (line.chars().count() <= FORM_CHARS_MAX && !line.contains(['\n', '`'])).then_some(line)
}

/// Returns true for short options in one word that only change what is shown, such as `-xvs`.
fn is_display_cluster(word: &str) -> bool {
    let letters = word.strip_prefix('-').unwrap_or_default();
    (2..=5).contains(&letters.len()) && letters.bytes().all(|b| b"xvqsl".contains(&b))
}

/// Returns true for a folder that a lint or a formatter checks.
fn is_directory(word: &str, purpose: &CommandPurpose) -> bool {
    purpose.name != "test"
        && !base_name(word).contains('.')
        && !word.contains("::")
        && !word.starts_with('/')
        && !word
            .strip_prefix("./")
            .is_some_and(|rest| rest.trim_end_matches('/').contains('/'))
}

/// Returns a word in quotes if a shell needs them.
fn quote(word: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "-_./:=@,+%^~<>*".contains(c);
    match !word.is_empty() && word.chars().all(is_plain) {
        true => word.to_owned(),
        false => format!("'{word}'"),
    }
}

/// Returns the last part of a path.
pub(super) fn base_name(word: &str) -> &str {
    word.rsplit('/').next().unwrap_or(word)
}
