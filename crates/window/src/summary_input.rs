//! Transcript for an external summary writer: the messages to summarise as one text.

use crate::compaction_report::CompactionReport;
use crate::conversation::Conversation;
use crate::message::{ChatRole, InsertedMessage, MessagePart};
use crate::output_truncation::{self, KeywordMatcher};
use crate::summary::{self, SummaryMessage, SummaryTask, TextFilter};
use crate::token_estimate::chars;
use crate::window_state::WindowState;
use heirloom_model::text::clip;

/// Length of an output, and of a call's arguments, in the transcript, characters.
const OUTPUT_CHARS: usize = 1_600;
const CALL_CHARS: usize = 1_000;
/// Length of an extractive summary of the messages that do not fit, characters.
const EARLIER_CHARS: usize = 10_000;

/// Messages to summarise, as text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SummaryTranscript {
    /// Transcript with shortened outputs; an earlier summary at its beginning covers the messages before it.
    pub text: String,
    /// Length of all messages that the summary replaces, characters.
    pub chars_replaced: usize,
}

/// Returns the transcript for the summary in a window, about `chars_max` characters at most; `None` if the window has
/// no summary, or an external one already.
///
/// The transcript is untrusted data; its texts pass the filter before they are shortened.
pub fn summary_transcript(
    conversation: &Conversation,
    state: &WindowState,
    report: &CompactionReport,
    chars_max: usize,
    filter: &dyn TextFilter,
) -> Option<SummaryTranscript> {
    let summary = report.summary.as_ref().filter(|one| !one.is_external)?;
    let range = summary.inner_range.clone();
    let all = conversation.messages.get(range.clone())?;
    let written = state.external_summary(conversation, range.start, range.end);
    let first = written.as_ref().map_or(range.start, |(_, end)| *end);
    let mut chars_left = chars_max.saturating_sub(EARLIER_CHARS);
    let mut shown = Vec::new();
    let mut from = range.end;
    while from > first {
        let message = SummaryMessage::new(&conversation.messages[from - 1], filter);
        let text = render_message(&message);
        let length = chars(&text);
        if length > chars_left && !shown.is_empty() {
            break;
        }
        chars_left = chars_left.saturating_sub(length);
        shown.push(text);
        from -= 1;
    }
    let earlier = written.map(|(text, _)| text);
    let before = if from > first {
        let task = SummaryTask {
            goal: "",
            earlier: earlier.as_deref(),
            earlier_covers_all: false,
            retained: &[],
            budget_chars: EARLIER_CHARS,
            user_text_chars: EARLIER_CHARS / 2,
        };
        Some(summary::summarise(
            &SummaryMessage::from_messages(&conversation.messages[range.start..from], filter),
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
    Some(SummaryTranscript {
        text,
        chars_replaced: all.iter().map(|message| message.chars).sum(),
    })
}

/// Renders a message under its role.
fn render_message(message: &SummaryMessage) -> String {
    let who = match (message.inserted, message.role) {
        (Some(InsertedMessage::Anchor), _) => return String::new(),
        (Some(InsertedMessage::Summary), _) => "earlier summary",
        (_, ChatRole::System) => "system",
        (_, ChatRole::User) => "user",
        (_, ChatRole::Assistant) => "assistant",
        (_, ChatRole::Tool) => "tool",
    };
    let mut out = String::new();
    for part in &message.parts {
        match part {
            MessagePart::Text { text, .. } if !text.trim().is_empty() => {
                out.push_str(&format!("[{who}]\n{}\n\n", text.trim()));
            }
            MessagePart::Call(call) => {
                let arguments = clip(&call.arguments, CALL_CHARS);
                out.push_str(&format!("[call of {}]\n{arguments}\n\n", call.name));
            }
            MessagePart::Output(output) => {
                let shown = if output.chars > OUTPUT_CHARS {
                    let whole = output_truncation::original_ref(
                        &output.text,
                        &output.tool,
                        message.time_ms,
                    );
                    let wanted = KeywordMatcher::from_texts(&[]);
                    let (text, length) = (&output.text, output.chars);
                    output_truncation::preview(text, length, OUTPUT_CHARS, &whole, &wanted)
                } else {
                    output.text.clone()
                };
                out.push_str(&format!("[result of {}]\n{shown}\n\n", output.tool));
            }
            MessagePart::Image { .. } => out.push_str("[image]\n\n"),
            MessagePart::Text { .. }
            | MessagePart::Thinking { .. }
            | MessagePart::Unknown { .. } => {}
        }
    }
    out
}
