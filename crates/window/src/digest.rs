//! What messages that leave the window came to: the extractive summary.

use crate::message::{Message, Own, Role};
use heirloom_model::text::clip;

/// What a summary is written for.
#[derive(Debug, Clone, Copy)]
pub struct Task<'a> {
    /// The current goal, whole.
    pub goal: &'a str,
    /// A summary that already stands for what came before `messages` (an LLM wrote it).
    pub earlier: Option<&'a str>,
    /// Messages that stay in the window verbatim: they need not be repeated. Ascending.
    pub kept: &'a [usize],
    /// Most characters that the summary may have, all included.
    pub budget_chars: usize,
    /// Most characters of it for verbatim user messages, newest first.
    pub users_chars: usize,
}

/// The summary of `messages`, at most `task.budget_chars` characters, the same for the same input.
///
/// Earlier summaries of ours among `messages` (`own == Some(Own::Summary)`) are merged, anchors are
/// passed over. Text of the transcript is data here: it is quoted and never obeyed.
pub fn summarise(messages: &[Message], task: &Task<'_>) -> String {
    let mut out = String::new();
    if let Some(earlier) = task.earlier {
        push(&mut out, clip(earlier, task.budget_chars / 2), task);
    }
    let mut left = task.users_chars;
    let mut users = Vec::new();
    for (index, message) in messages.iter().enumerate().rev() {
        let said = message.text();
        let chars = said.chars().count();
        if message.role == Role::User
            && message.own.is_none()
            && !task.kept.contains(&index)
            && chars <= left
            && chars > 0
        {
            left -= chars;
            users.push(format!("User: {said}"));
        }
    }
    for line in users.iter().rev() {
        push(&mut out, line, task);
    }
    for message in messages {
        if message.own == Some(Own::Summary) {
            push(&mut out, clip(&message.text(), task.budget_chars / 2), task);
        }
    }
    for message in messages.iter().rev() {
        for call in message.calls() {
            let line = format!("Did: {} {}", call.name, clip(&call.arguments, 120));
            push(&mut out, &line, task);
        }
    }
    out
}

fn push(out: &mut String, line: &str, task: &Task<'_>) {
    if out.chars().count() + line.chars().count() < task.budget_chars {
        out.push_str(line);
        out.push('\n');
    }
}
