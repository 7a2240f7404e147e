//! Describes a simple command: its names, its purpose, and the command line that it runs elsewhere.

use super::ShapePart;
use super::flow_node::FlowNode;
use super::part_role::{PartRole, role_of, shows_content};
use crate::failures::command_line::{split_words, unquote};
use crate::failures::command_words::{CommandWords, is_lookup_program};
use crate::failures::normal_command::{SHELLS, base_name, without_prefixes};
use heirloom_model::limits::COMMAND_PART_CHARS_MAX;
use heirloom_model::text;

/// Bytes of a text that `echo` prints.
const MARKER_BYTES_MAX: usize = 80;
/// Names of a part.
const NAMES_MAX: usize = 4;
/// Characters of a name.
const NAME_CHARS_MAX: usize = 80;
/// Variables with the exit status of the command before, or of the first one before a pipe.
pub(super) const STATUSES: [&str; 4] = ["$?", "$status", "${PIPESTATUS[0]}", "${pipestatus[1]}"];
/// Lines that `head` and `tail` show without an option.
const LINES_SHOWN: usize = 10;
/// Programs that run a shell with a command line elsewhere.
const CARRIERS: [&str; 12] = [
    "docker", "podman", "kubectl", "ssh", "wsl", "su", "env", "nix", "lxc", "chroot", "vagrant",
    "flyctl",
];
/// Options of `ssh` without a value.
const SSH_FLAGS: &str = "46AaCfGgKkMNnqsTtVvXxYy";

/// Options of a shell that change the meaning of a status.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct ShellOptions {
    /// `set -e`.
    pub(super) stops: bool,
    /// `set -o pipefail`.
    pub(super) is_strict: bool,
}

impl ShellOptions {
    /// Reads the words of `set`, or of a shell's command line.
    pub(super) fn read<'w>(&mut self, words: impl Iterator<Item = &'w str>) {
        for word in words {
            match word {
                "pipefail" => self.is_strict = true,
                "errexit" => self.stops = true,
                _ => {
                    let is_short = !word.starts_with("--") && word.len() > 1;
                    let has_e = |sign: char| {
                        let flags = word.strip_prefix(sign);
                        is_short && flags.is_some_and(|flags| flags.contains('e'))
                    };
                    self.stops = (self.stops || has_e('-')) && !has_e('+');
                }
            }
        }
    }
}

/// Returns the command line of `bash -c '…'` with the options of the shell.
pub(super) fn inner_line(words: &[&str]) -> Option<(String, ShellOptions)> {
    let at = words
        .iter()
        .position(|word| word.starts_with('-') && !word.starts_with("--") && word.ends_with('c'))?;
    let mut options = ShellOptions::default();
    options.read(words.get(1..=at)?.iter().copied());
    Some((unquote(words.get(at + 1)?), options))
}

/// Returns the command line that a program runs elsewhere.
pub(super) fn carried_line(program: &str, words: &[&str]) -> Option<(String, ShellOptions)> {
    if !CARRIERS.contains(&program) {
        return None;
    }
    let shell = words
        .iter()
        .position(|word| SHELLS.contains(&base_name(word)));
    if let Some(found) = shell.and_then(|at| inner_line(words.get(at..)?)) {
        return Some(found);
    }
    if program != "ssh" {
        return None;
    }
    let mut rest = words.iter().skip(1);
    loop {
        let word = rest.next()?;
        let Some(flag) = word.strip_prefix('-') else {
            break;
        };
        if flag.len() == 1 && !SSH_FLAGS.contains(flag) {
            rest.next();
        }
    }
    let line: Vec<String> = rest.map(|word| unquote(word)).collect();
    (!line.is_empty()).then(|| (line.join(" "), ShellOptions::default()))
}

/// Describes a simple command.
pub(super) fn shape_part(text: &str, is_piped: bool) -> ShapePart {
    // fish: `cd a; and make`.
    let text = ["and ", "or "]
        .iter()
        .find_map(|word| text.strip_prefix(word))
        .unwrap_or(text);
    let parsed = CommandWords::parse_simple(text);
    let raw = split_words(text);
    let arguments: Vec<String> = parsed.arguments.iter().map(|word| unquote(word)).collect();
    let mut program = parsed.program;
    let wraps_lookup = without_prefixes(&raw).is_empty() && raw.first() == Some(&"command");
    if wraps_lookup
        || raw.first() == Some(&"command") && raw.get(1).is_some_and(|w| w.starts_with('-'))
    {
        program = "command";
    }
    let carried = arguments.iter().find(|word| !word.starts_with('-'));
    let role = match program {
        "command" => PartRole::Lookup,
        "xargs" if carried.is_some_and(|word| role_of(word, &[], false) == PartRole::Lookup) => {
            PartRole::Lookup
        }
        _ => role_of(program, &arguments, is_piped),
    };
    // `sudo` can fail, whatever it runs.
    let is_by_sudo = raw.first() == Some(&"sudo");
    let role = match is_by_sudo && matches!(role, PartRole::Message | PartRole::Constant(_)) {
        true => PartRole::Work,
        false => role,
    };
    let is_redirected = text.contains('>') && !text.contains(">&2");
    let silencers = [
        "2>/dev/null",
        "2> /dev/null",
        "&>",
        ">/dev/null 2>&1",
        "> /dev/null 2>&1",
    ];
    ShapePart {
        names: part_names(&raw, program),
        marker: (role == PartRole::Message && !is_redirected)
            .then(|| marker_of(&arguments))
            .flatten(),
        is_silenced: silencers.iter().any(|silencer| text.contains(silencer)),
        shows_content: !is_piped && shows_content(program, &arguments),
        printed_status: None,
        lines_shown: (is_piped && program == "head").then(|| lines_of(&arguments)),
        text: text::clip(text, COMMAND_PART_CHARS_MAX).to_owned(),
        role,
        is_substituted: false,
        is_piped,
        is_lookup: role != PartRole::Work || is_lookup_program(program, parsed.verb),
    }
}

/// Returns the program and the wrappers before it.
fn part_names(raw: &[&str], program: &str) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for word in raw {
        let word = unquote(word);
        let name = base_name(&word);
        if !word.contains('=') && !word.is_empty() && !word.starts_with('-') {
            names.push(text::clip(&word, NAME_CHARS_MAX).to_owned());
        }
        if name == program || names.len() >= NAMES_MAX {
            break;
        }
    }
    names
}

/// Returns the text that `echo` certainly prints.
fn marker_of(arguments: &[String]) -> Option<String> {
    let words = arguments
        .iter()
        .skip_while(|word| matches!(word.as_str(), "-e" | "-n" | "-ne"));
    let words: Vec<&str> = words.map(String::as_str).collect();
    let text = words.join(" ");
    let is_literal = !text.contains(['$', '`', '*', '\\', '%', '<', '>']);
    (is_literal && text.trim().len() >= 2 && text.len() <= MARKER_BYTES_MAX)
        .then(|| text.trim().to_owned())
}

/// Returns the number of lines that `head` shows.
fn lines_of(arguments: &[String]) -> usize {
    let number = arguments.iter().find_map(|word| {
        let digits = word.trim_start_matches(|c: char| !c.is_ascii_digit());
        digits.parse::<usize>().ok()
    });
    number.unwrap_or(LINES_SHOWN)
}

/// Returns the text before and after the status that `echo` prints.
pub(super) fn printed_status(text: &str, names: &[(String, FlowNode)]) -> Option<(String, String)> {
    let (_, argument) = text.trim().split_once(' ')?;
    let in_names = names
        .iter()
        .flat_map(|(name, _)| [format!("${{{name}}}"), format!("${name}")]);
    let variables = STATUSES
        .iter()
        .map(|name| (*name).to_owned())
        .chain(in_names);
    let (before, after) = variables
        .filter_map(|name| argument.split_once(&name))
        .map(|(before, after)| (plain_side(before), plain_side(after)))
        .next()?;
    Some((before?, after?))
}

/// Returns a text next to a variable, if it has no other one.
fn plain_side(side: &str) -> Option<String> {
    let is_literal = !side.contains(['$', '`', '\\', '>']);
    is_literal.then(|| side.trim_matches(['"', '\'']).trim().to_owned())
}
