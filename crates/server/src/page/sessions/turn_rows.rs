//! Rows of a conversation: its turns, and the outputs that a window shortens.

use crate::page::view::chart::share;
use crate::page::view::sessions::{ShortenedOutput, TurnRow};
use crate::page::view::{Html, Times, escape, number, percent, render_text, short_number};
use heirloom_engine::WindowTimeline;
use heirloom_model::{Message, Role, text};

/// Maximum number of characters of a turn that is shown unfolded.
const SHORT: usize = 420;
/// Maximum number of shown characters of a turn.
const LONG: usize = 6_000;

/// Builds the rows of the shortened outputs.
pub(super) fn shortened_outputs(timeline: &WindowTimeline) -> Vec<ShortenedOutput> {
    let most = timeline
        .shortened
        .iter()
        .map(|(_, _, before, ..)| *before)
        .max()
        .unwrap_or(1) as u64;
    let one = |(index, tool, before, after, id): &(usize, String, usize, usize, String)| {
        let label = format!(
            "{} characters shortened to {}",
            number(*before as u64),
            number(*after as u64)
        );
        ShortenedOutput {
            turn: index + 1,
            tool: text::replace_control_chars(tool),
            bar: share(
                &label,
                percent(*after as u64, most).max(1),
                "f-accent",
                false,
            ),
            size: format!(
                "{} to {} characters",
                short_number(*before as u64),
                short_number(*after as u64)
            ),
            id: text::replace_control_chars(id),
        }
    };
    timeline.shortened.iter().map(one).collect()
}

/// Builds the row of a turn.
pub(super) fn turn_row(message: &Message, times: &Times) -> TurnRow {
    let is_long = message.text.len() > SHORT || message.role == Role::ToolResult;
    let words = text::clip(&message.text, LONG);
    let lines: Vec<String> = words.lines().map(text::replace_control_chars).collect();
    let mut whole = String::new();
    escape(&lines.join("\n"), &mut whole);
    TurnRow {
        seq: message.seq,
        role: message.role.as_str(),
        who: match (&message.sender, message.role) {
            (Some(sender), _) => text::replace_control_chars(sender),
            (None, Role::User) => "you".to_owned(),
            (None, Role::Assistant | Role::ToolCall) => "agent".to_owned(),
            (None, Role::System) => "host".to_owned(),
            (None, Role::ToolResult) => "tool".to_owned(),
        },
        at: times.brief(message.at),
        tokens: number(message.tokens),
        words: match is_long {
            true => Html::from_markup(whole),
            false => render_text(&message.text),
        },
        is_long,
        begin: render_text(&text::excerpt(&message.text, 110)),
    }
}
