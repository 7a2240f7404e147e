//! Interrupts and rejected calls: the calls, the notes of programs about them, and what the person wrote with them.

use super::rule_finder::FoundRule;
use crate::cues::{RuleCategory, TurnWords};
use heirloom_agents::transcripts::ToolAction;
use heirloom_model::text;

/// Greatest number of characters of a call.
const CALL_CHARS_MAX: usize = 120;
/// Greatest number of characters of a command that is a whole turn.
const COMMAND_CHARS_MAX: usize = 120;
/// Worth of a command that the person typed after an interrupt.
const TYPED_COMMAND_WORTH: f32 = 0.84;

/// Returns true for the program's note about an interrupt, which Claude Code stores as a prompt.
pub(super) fn is_stop(turn: &str, words: &TurnWords) -> bool {
    let turn = turn.trim();
    let is_note = |mark: &&str| mark.starts_with('[') && turn.starts_with(*mark);
    turn.ends_with(']') && words.rejections.iter().any(is_note)
}

/// Returns the person's reason in the result of a rejected call; `None` without one, or if the program wrote it.
pub(super) fn rejection_reason<'t>(text: &'t str, words: &TurnWords) -> Option<&'t str> {
    let marks = words.rejection_reasons.iter();
    let (_, reason) = marks.filter_map(|mark| text.split_once(*mark)).next()?;
    let ends = words.rejection_ends.iter();
    let end = ends.filter_map(|end| reason.find(*end)).min();
    let reason = reason.get(..end.unwrap_or(reason.len()))?.trim_start();
    let is_template = |start: &&str| reason.starts_with(*start);
    (!words.rejection_templates.iter().any(is_template)).then_some(reason)
}

/// Returns the rule of a turn that is only a command, typed after an interrupt of `action`: the person shows how it is
/// run.
pub(super) fn typed_command(turn: &str, action: &str) -> Option<FoundRule> {
    let command = turn.trim().strip_prefix('`')?.strip_suffix('`')?;
    let is_command = !command.contains(['`', '\n'])
        && command.contains(' ')
        && command.chars().count() <= COMMAND_CHARS_MAX;
    is_command.then(|| FoundRule {
        text: format!("Run `{command}`."),
        category: RuleCategory::Convention,
        reason: Some(format!("The person typed it after interrupting {action}.")),
        worth: TYPED_COMMAND_WORTH,
        is_pasted: false,
        line: turn.trim().to_owned(),
    })
}

/// Returns the id of a call, bounded.
pub(super) fn call_id(call: &str) -> String {
    text::clip(call, CALL_CHARS_MAX).to_owned()
}

/// Returns the action of a call for a sentence about it.
pub(super) fn describe_call(tool: &str, action: &ToolAction) -> String {
    let tool = text::excerpt(tool, CALL_CHARS_MAX / 2);
    let short = |input: &str| text::excerpt(text::clip(input, 4 * CALL_CHARS_MAX), CALL_CHARS_MAX);
    match action {
        ToolAction::Command(command) => format!("`{}`", short(command).replace('`', "'")),
        ToolAction::Edit(edits) => match edits.first() {
            Some(edit) => format!("{tool} on {}", short(&edit.path)),
            None => tool,
        },
        ToolAction::Plan(_) | ToolAction::Other(_) => tool,
    }
}
