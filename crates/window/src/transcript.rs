//! What whoever writes a summary is shown: the messages that it stands for, as one text.

use crate::conversation::Conversation;
use crate::digest::{self, Task};
use crate::message::{Message, Own, Part, Role};
use crate::report::Report;
use crate::shorten::{self, Wanted};
use crate::size::chars;
use crate::state::State;
use heirloom_model::text::clip;

/// Characters of an output, and of a call's arguments, that a writer is shown.
const OUTPUT_CHARS: usize = 1_600;
const CALL_CHARS: usize = 1_000;
/// Characters of an extractive summary in front, where not all messages fit.
const EARLIER_CHARS: usize = 10_000;

/// The messages of a summary for whoever writes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Transcript {
    /// What was said, long outputs shortened; an earlier summary in front stands for what was before it.
    pub text: String,
    /// Characters of all messages that the summary takes the place of.
    pub chars_replaced: usize,
}

/// What the summary in a window is to be written from, in at most about `chars_max` characters; none if the window has
/// no summary, or one that somebody wrote already.
///
/// It is a transcript: data, whatever it says. Secrets are as they came.
pub fn transcript(
    conversation: &Conversation,
    state: &State,
    report: &Report,
    chars_max: usize,
) -> Option<Transcript> {
    let summary = report.summary.as_ref().filter(|one| !one.is_written)?;
    let range = summary.inner.clone();
    let all = conversation.messages.get(range.clone())?;
    let written = state.written(conversation, range.start, range.end);
    let first = written.as_ref().map_or(range.start, |(_, end)| *end);
    let mut room = chars_max.saturating_sub(EARLIER_CHARS);
    let mut shown = Vec::new();
    let mut from = range.end;
    while from > first {
        let text = said(&conversation.messages[from - 1]);
        let length = chars(&text);
        if length > room && !shown.is_empty() {
            break;
        }
        room = room.saturating_sub(length);
        shown.push(text);
        from -= 1;
    }
    let earlier = written.map(|(text, _)| text);
    let before = if from > first {
        let task = Task {
            goal: "",
            earlier: earlier.as_deref(),
            earlier_is_all: false,
            kept: &[],
            budget_chars: EARLIER_CHARS,
            users_chars: EARLIER_CHARS / 2,
        };
        Some(digest::summarise(
            &conversation.messages[range.start..from],
            &task,
        ))
    } else {
        earlier
    };
    let mut text = String::new();
    if let Some(before) = before {
        text.push_str("[earlier summary]\n");
        text.push_str(before.trim_end());
        text.push_str("\n\n");
    }
    for one in shown.iter().rev() {
        text.push_str(one);
    }
    Some(Transcript {
        text,
        chars_replaced: all.iter().map(|message| message.chars).sum(),
    })
}

/// A message as lines behind its role.
fn said(message: &Message) -> String {
    let who = match (message.own, message.role) {
        (Some(Own::Anchor), _) => return String::new(),
        (Some(Own::Summary), _) => "earlier summary",
        (_, Role::System) => "system",
        (_, Role::User) => "user",
        (_, Role::Assistant) => "assistant",
        (_, Role::Tool) => "tool",
    };
    let mut out = String::new();
    for part in &message.parts {
        match part {
            Part::Text { text, .. } if !text.trim().is_empty() => {
                out.push_str(&format!("[{who}]\n{}\n\n", text.trim()));
            }
            Part::Call(call) => {
                let arguments = clip(&call.arguments, CALL_CHARS);
                out.push_str(&format!("[call of {}]\n{arguments}\n\n", call.name));
            }
            Part::Output(output) => {
                let shown = if output.chars > OUTPUT_CHARS {
                    let whole = shorten::whole(&output.text, &output.tool, message.time_ms);
                    let wanted = Wanted::of(&[]);
                    let (text, length) = (&output.text, output.chars);
                    shorten::preview(text, length, OUTPUT_CHARS, &whole, &wanted)
                } else {
                    output.text.clone()
                };
                out.push_str(&format!("[result of {}]\n{shown}\n\n", output.tool));
            }
            Part::Image { .. } => out.push_str("[image]\n\n"),
            Part::Text { .. } | Part::Thinking { .. } | Part::Unknown { .. } => {}
        }
    }
    out
}
