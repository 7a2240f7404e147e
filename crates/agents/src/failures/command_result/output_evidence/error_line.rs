//! Error lines that name the program which failed: `cat: x: No such file or directory`.

use super::super::ShapePart;
use super::super::part_role::PartRole;
use crate::failures::normal_command::base_name;

/// Shells, as they begin their errors.
const SHELLS: [&str; 7] = ["bash", "sh", "zsh", "dash", "ash", "fish", "ksh"];
/// Words of an error that a program reports in its own name.
const ERROR_WORDS: [&str; 23] = [
    "no such",
    "cannot",
    "can't",
    "could not",
    "couldn't",
    "not found",
    "not a directory",
    "is a directory",
    "denied",
    "not permitted",
    "invalid",
    "unrecognized",
    "unknown",
    "illegal",
    "***",
    "error",
    "fail",
    "fatal",
    "refused",
    "exists",
    "missing",
    "unable",
    "required",
];

/// An error with the name of what failed.
pub(super) struct ErrorLine<'l> {
    /// Program, or script of the program.
    name: &'l str,
    /// The rest of the line.
    message: &'l str,
    /// True if the shell reports it: a missing program or folder.
    is_by_shell: bool,
}

impl<'l> ErrorLine<'l> {
    /// Parses a line that begins with a name.
    pub(super) fn parse(line: &'l str) -> Option<Self> {
        let line = line.trim();
        missing_program(line).or_else(|| {
            let (rest, is_by_shell) = without_shell(line);
            let (name, message) = rest.split_once(':')?;
            let name = name.trim();
            let is_name = !name.is_empty() && !name.contains(char::is_whitespace);
            (is_name && !message.trim().is_empty()).then_some(Self {
                name,
                message: message.trim(),
                is_by_shell,
            })
        })
    }

    /// Returns true if the error shows that a part failed.
    pub(super) fn is_of(&self, part: &ShapePart) -> bool {
        let lower = self.message.to_lowercase();
        let is_error = self.is_by_shell || ERROR_WORDS.iter().any(|word| lower.contains(word));
        is_error && !lower.starts_with("warning") && self.is_named(part)
    }

    /// Returns true if the error names a part.
    pub(super) fn is_named(&self, part: &ShapePart) -> bool {
        let program = part.names.last().map_or("", String::as_str);
        if part.role == PartRole::Setup {
            return self.is_of_setup(program, part);
        }
        if self.message.starts_with("Entering directory")
            || self.message.starts_with("Leaving directory")
        {
            return false;
        }
        let is_same = |known: &String| {
            known == self.name || base_name(known) == base_name(self.name) && self.name.len() > 1
        };
        // `make[1]: *** …`
        let is_nested = self
            .name
            .split_once('[')
            .is_some_and(|(name, _)| part.names.iter().any(|known| known == name));
        // `timeout: failed to run command 'x'` is told in the name of the wrapper.
        part.names.iter().any(is_same) || is_nested
    }

    /// Returns true for the error of `cd x` or `source x`, which may not name the shell's command.
    fn is_of_setup(&self, program: &str, part: &ShapePart) -> bool {
        let target = part.text.split_whitespace().nth(1).unwrap_or_default();
        let target = target.trim_matches(['"', '\'']);
        let has_target = target.len() > 1 && (self.name == target || self.message.contains(target));
        let is_entry = self.name == "cd" || self.name.starts_with("cd:");
        match program {
            "cd" | "pushd" => {
                let is_only_name = is_entry || self.name == program;
                is_only_name && (has_target || target.starts_with('$') || target.is_empty())
            }
            "source" | "." => self.name == target || self.name == program && has_target,
            _ => self.is_by_shell && self.name == program,
        }
    }
}

/// Removes `bash: line 1:` and the like; tells if it was there.
fn without_shell(line: &str) -> (&str, bool) {
    let Some((shell, rest)) = line.split_once(':') else {
        return (line, false);
    };
    let shell = base_name(shell.trim().trim_start_matches('-'));
    // zsh reports `(eval):cd:1: no such file or directory: x`.
    let is_eval = shell == "(eval)";
    if !is_eval && !SHELLS.contains(&shell) {
        return (line, false);
    }
    let rest = rest.trim_start();
    let number = rest.strip_prefix("line ").unwrap_or(rest);
    match number.split_once(':') {
        Some((number, rest)) if number.trim().bytes().all(|byte| byte.is_ascii_digit()) => {
            (rest.trim_start(), true)
        }
        _ => (rest, true),
    }
}

/// Reads the errors about missing programs that name them at the end or in quotes.
fn missing_program(line: &str) -> Option<ErrorLine<'_>> {
    let found = |name| {
        Some(ErrorLine {
            name,
            message: "not found",
            is_by_shell: true,
        })
    };
    if let Some((_, name)) = line.split_once("command not found: ") {
        return found(name.trim());
    }
    if let Some((before, _)) = line.split_once(": command not found") {
        return found(before.rsplit(':').next().unwrap_or(before).trim());
    }
    if let Some(before) = line.strip_suffix(": not found") {
        let (rest, is_by_shell) = without_shell(before);
        return is_by_shell.then(|| found(rest.trim())).flatten();
    }
    let quoted = [
        "is not recognized as",
        "executable file not found",
        "failed to run command",
    ];
    if quoted.iter().any(|phrase| line.contains(phrase)) {
        let mut texts = line.split(['\'', '"', '‘', '’', '`']);
        return found(texts.nth(1)?.trim());
    }
    None
}
