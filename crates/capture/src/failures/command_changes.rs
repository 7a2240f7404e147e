//! Changes that shell commands make: edited files, installed packages, started services, set variables. Only such a
//! step between a failure and a success can have fixed the failure.

mod program_changes;

use heirloom_agents::failures::{
    CommandSlice, Operator, base_name, is_assignment, is_writer, split_commands, split_words,
    unquote, unwrap_shell,
};
use heirloom_lessons::LineSteps;
use heirloom_model::{limits, text};
use program_changes::is_change;

/// Characters of a command that is shown whole.
const WHOLE_CHARS_MAX: usize = 90;
/// Characters of a name in a step.
const NAME_CHARS_MAX: usize = 60;
/// Commands of one line that are examined.
const COMMANDS_MAX: usize = 40;

/// Returns the changes of a redacted command line, each as a step such as ``ran `sed -i` on config.toml``.
pub(crate) fn command_changes(line: &str) -> Vec<String> {
    let mut changes = Vec::new();
    collect(unwrap_shell(line.trim()), 0, &mut changes);
    changes
}

/// Describes a command that goes on in the background.
pub(crate) fn background_change(line: &str) -> String {
    format!(
        "started {}",
        quoted(&text::excerpt(line.trim(), WHOLE_CHARS_MAX))
    )
}

fn collect(line: &str, depth: usize, changes: &mut Vec<String>) {
    for command in split_commands(line).iter().take(COMMANDS_MAX) {
        if let Some(inner) = command.subshell().filter(|_| depth < limits::SUBSHELLS_MAX) {
            collect(inner, depth + 1, changes);
            continue;
        }
        if let Some(change) = change_of(command)
            && !changes.contains(&change)
        {
            changes.push(change);
        }
    }
}

fn change_of(command: &CommandSlice<'_>) -> Option<String> {
    if LineSteps::read(command.text).has_undo() {
        return None;
    }
    let words = split_words(command.text);
    let assigned = words.iter().take_while(|word| is_assignment(word)).count();
    let (variables, words) = words.split_at(assigned);
    let words = without_wrappers(words);
    let Some(program) = words.first().map(|word| base_name(word)) else {
        // A line of assignments only.
        let shown = variables.first()?;
        return Some(format!(
            "set {}",
            quoted(&text::excerpt(shown, NAME_CHARS_MAX))
        ));
    };
    let arguments = words.get(1..).unwrap_or_default();
    if let Some(change) = variable_change(program, arguments) {
        return Some(change);
    }
    if command.is_background {
        return Some(format!(
            "started {}",
            shown_command(command.text, program, arguments)
        ));
    }
    if let Some(file) = written_file(program, arguments) {
        return Some(match text::chars(command.text) <= WHOLE_CHARS_MAX {
            true => format!("ran {}", shown_command(command.text, program, arguments)),
            false => format!("ran {} into {file}", quoted(program)),
        });
    }
    is_change(
        program,
        arguments,
        command.here_document.unwrap_or_default(),
    )
    .then(|| format!("ran {}", shown_command(command.text, program, arguments)))
}

/// Describes a change of the environment.
fn variable_change(program: &str, arguments: &[&str]) -> Option<String> {
    let shown = |what: &str| quoted(&text::excerpt(what, NAME_CHARS_MAX));
    match program {
        "export" | "unset" | "setenv" => Some(format!("set {}", shown(arguments.first()?))),
        "source" | "." => Some(format!("loaded {}", shown(arguments.first()?))),
        _ => None,
    }
}

/// Returns the file into which a command writes.
fn written_file(program: &str, arguments: &[&str]) -> Option<String> {
    let is_writer = is_writer(program);
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        let rest = word.trim_start_matches(|c: char| c.is_ascii_digit());
        let rest = rest.strip_prefix('&').unwrap_or(rest);
        let Some(target) = rest.strip_prefix(">>").or_else(|| rest.strip_prefix('>')) else {
            continue;
        };
        let target = match target.strip_prefix('|').unwrap_or(target) {
            "" => words.next().copied().unwrap_or_default(),
            target if target.starts_with(['&', '(']) => continue,
            target => target,
        };
        let target = unquote(target);
        if !target.is_empty() && !is_scratch(&target, is_writer) {
            return Some(text::excerpt(&target, NAME_CHARS_MAX));
        }
    }
    if program == "tee" {
        let target = arguments.iter().find(|word| !word.starts_with('-'))?;
        let target = unquote(target);
        return (!is_scratch(&target, false)).then(|| text::excerpt(&target, NAME_CHARS_MAX));
    }
    None
}

/// Returns true for devices, temporary files and logs, whose content no later command depends on.
fn is_scratch(target: &str, is_writer: bool) -> bool {
    let is_device = target.starts_with("/dev/");
    let is_temporary = target.starts_with("/tmp/") || target.starts_with("/var/tmp/");
    let ending = target.rsplit('.').next().unwrap_or_default();
    let is_log = matches!(ending, "log" | "out" | "err") || (!is_writer && ending == "txt");
    is_device || is_temporary || is_log
}

/// Returns a short command whole, and of a long one its program, its verb or flags, and its last file.
fn shown_command(command: &str, program: &str, arguments: &[&str]) -> String {
    if text::chars(command) <= WHOLE_CHARS_MAX && !command.contains('\n') {
        return quoted(command);
    }
    let mut short = program.to_owned();
    for word in arguments.iter().take(2) {
        let is_plain = word.len() <= 20 && !word.contains(['\'', '"', '<', '>', '$', '/']);
        if !is_plain {
            break;
        }
        short.push(' ');
        short.push_str(word);
    }
    let is_file = |word: &&&str| {
        word.contains(['.', '/']) && !word.contains(['\'', '"', '<', '>', '$', '\n'])
    };
    match arguments.iter().rev().find(is_file) {
        Some(file) => format!(
            "{} on {}",
            quoted(&short),
            text::excerpt(file, NAME_CHARS_MAX)
        ),
        None => quoted(&short),
    }
}

fn quoted(what: &str) -> String {
    format!("`{}`", text::one_line(what).replace('`', "'"))
}

/// Returns the words after `sudo`, `env`, `time` and the like.
fn without_wrappers<'w>(words: &'w [&'w str]) -> &'w [&'w str] {
    let mut rest = words;
    while let [first, others @ ..] = rest {
        let skipped = match base_name(first) {
            "sudo" | "env" | "time" | "command" | "exec" | "nohup" | "setsid" | "then" | "do"
            | "!" => 1,
            "timeout" => 2,
            _ if is_assignment(first) => 1,
            _ => break,
        };
        if others.is_empty() {
            break;
        }
        rest = rest.get(skipped..).unwrap_or_default();
    }
    rest
}

/// Returns the assignments before the commands of a line, and those of `export`, as written.
pub(crate) fn assignments(line: &str) -> Vec<&str> {
    let mut found = Vec::new();
    for command in split_commands(unwrap_shell(line.trim()))
        .iter()
        .take(COMMANDS_MAX)
    {
        if command.operator == Operator::Pipe {
            continue;
        }
        let words = split_words(command.text);
        let skipped = usize::from(
            words
                .first()
                .is_some_and(|word| matches!(*word, "export" | "env")),
        );
        let set = words
            .iter()
            .skip(skipped)
            .take_while(|word| is_assignment(word));
        found.extend(set.copied());
    }
    found
}

#[cfg(test)]
mod tests;
