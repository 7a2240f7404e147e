//! Author of a line in the role of the user, by the fields in which the program records where the words came from.
//!
//! Values that are not known are those of no person: a wrong guess makes a proposal of a person's rule, the opposite guess
//! would let a script or another agent set one.

use super::line_fields::{Attachment, ClaudeLine, ClaudeMessage, Origin};
use crate::json_fields::{Field, as_keyword, as_object, is_true};
use crate::transcripts::TurnAuthor;

/// Ways in which a person starts the program: versions 1.0.98 to 2.1.220. Others, such as `sdk-cli` for `claude -p`,
/// `sdk-ts`, `mcp` and `claude-code-github-action`, are those of scripts and of other agents.
const PERSON_ENTRY_POINTS: [&str; 8] = [
    "cli",
    "claude-vscode",
    "claude-jetbrains",
    "claude-desktop",
    "claude-in-slack",
    "remote",
    "remote_desktop",
    "remote_mobile",
];
/// Types of users that are people.
const PERSON_TYPES: [&str; 3] = ["external", "ant", "human"];
/// Origins of a message that a person typed.
const PERSON_ORIGINS: [&str; 3] = ["human", "user", "keyboard"];
/// Modes of a queued command that a person typed as a prompt.
const PROMPT_MODES: [&str; 2] = ["", "prompt"];

/// Returns true for a way in which scripts and other agents start the program.
pub(crate) fn is_script_entry_point(name: &str) -> bool {
    !PERSON_ENTRY_POINTS.contains(&name)
}

/// Returns the author of the words on a line.
pub(super) fn author_of_line(line: &ClaudeLine<'_>) -> TurnAuthor {
    let is_known =
        |field: Field<'_>, known: &[&str]| field.is_none_or(|_| known.contains(&as_keyword(field)));
    let is_person =
        is_known(line.entrypoint, &PERSON_ENTRY_POINTS) && is_known(line.user_type, &PERSON_TYPES);
    match is_person {
        true => author_of_origin(line.origin),
        false => TurnAuthor::Other,
    }
}

/// Returns the author by the origin of a message, which is a word or an object with its kind.
pub(super) fn author_of_origin(origin: Field<'_>) -> TurnAuthor {
    if origin.is_none() {
        return TurnAuthor::Person;
    }
    let object = as_object::<Origin<'_>>(origin);
    let kind = match object {
        Some(object) => as_keyword(object.kind.or(object.type_name)),
        None => as_keyword(origin),
    };
    match PERSON_ORIGINS.contains(&kind) {
        true => TurnAuthor::Person,
        false => TurnAuthor::Other,
    }
}

/// Returns true if the program wrote the text of a line for itself.
pub(super) fn is_of_program(line: &ClaudeLine<'_>, message: &ClaudeMessage<'_>) -> bool {
    is_true(line.meta)
        || is_true(line.transcript_only)
        || !matches!(as_keyword(message.role), "" | "user")
}

/// Returns true if an attachment is a prompt: not a notification, and not a command for the shell.
pub(super) fn is_prompt(attachment: &Attachment<'_>) -> bool {
    as_keyword(attachment.kind) == "queued_command"
        && is_prompt_mode(attachment.command_mode)
        && !is_true(attachment.meta)
}

/// Returns true for the mode of a queued prompt.
pub(super) fn is_prompt_mode(mode: Field<'_>) -> bool {
    PROMPT_MODES.contains(&as_keyword(mode))
}
