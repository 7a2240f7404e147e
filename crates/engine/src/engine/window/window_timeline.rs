//! Timeline of a window: a stored conversation is replayed turn by turn.

use crate::engine::Windows;
use heirloom_model::{Fault, Message, Role, limits};
use heirloom_window::{CompactionAction, Conversation, Policy, WindowState, WireFormat};
use serde_json::json;

/// Maximum number of messages of a replay.
const MESSAGES_MAX: usize = 400;
/// Maximum number of windows of a replay.
const POINTS_MAX: usize = 32;

/// Timeline of a conversation's window.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WindowTimeline {
    /// One point for each window, in order.
    pub points: Vec<TimelinePoint>,
    /// Parts that the last window shortened: index in the conversation, tool, characters before and after, id.
    pub shortened: Vec<(usize, String, usize, usize, String)>,
    /// Tokens from which a window is compacted.
    pub threshold_tokens: usize,
    /// Cost of all requests without and with a window, in tokens of uncached input.
    pub cost: (u64, u64),
}

/// One window of a timeline.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TimelinePoint {
    /// Messages of the conversation so far.
    pub messages: usize,
    /// Tokens of the conversation.
    pub tokens_before: usize,
    /// Tokens of the window.
    pub tokens_after: usize,
    /// Index of the first message that is not summarised.
    pub boundary: usize,
    /// True if the window has a reminder of the goal.
    pub has_anchor: bool,
}

impl Windows<'_> {
    /// Replays turns with the built-in policy; `None` if there are too many or too few of them.
    ///
    /// Pure over the turns; nothing is written.
    pub fn timeline(&self, turns: &[Message]) -> Result<Option<WindowTimeline>, Fault> {
        if turns.len() < 4 || turns.len() > MESSAGES_MAX {
            return Ok(None);
        }
        let policy = &Policy::default();
        let rows: Vec<String> = to_raw_messages(turns);
        let mut sofar = Conversation::new(WireFormat::Openai);
        let mut state = WindowState::default();
        let mut timeline = WindowTimeline {
            threshold_tokens: policy.summary_threshold,
            ..WindowTimeline::default()
        };
        let step = rows.len().div_ceil(POINTS_MAX).max(1);
        for (at, row) in rows.iter().enumerate() {
            sofar.push(row)?;
            let is_last = at + 1 == rows.len();
            if (at + 1) % step != 0 && !is_last {
                continue;
            }
            let made = heirloom_window::compact(&sofar, policy, &mut state);
            let report = made.report;
            timeline.points.push(TimelinePoint {
                messages: at + 1,
                tokens_before: report.tokens_before,
                tokens_after: report.tokens_after,
                boundary: report.boundary,
                has_anchor: report.actions.contains(&CompactionAction::Anchor),
            });
            if is_last {
                timeline.cost = (report.cost_none, report.cost_window);
                timeline.shortened = report
                    .shortened
                    .into_iter()
                    .take(limits::TIMELINE_SHORTENED_MAX)
                    .map(|one| {
                        (
                            one.index,
                            one.tool,
                            one.chars_before,
                            one.chars_after,
                            one.id,
                        )
                    })
                    .collect();
            }
        }
        Ok(Some(timeline))
    }
}

/// Converts stored turns into messages of the OpenAI format; calls and results are matched by order.
fn to_raw_messages(turns: &[Message]) -> Vec<String> {
    let mut open: Option<String> = None;
    let message = |turn: &Message| match turn.role {
        Role::User => json!({"role": "user", "content": turn.text}),
        Role::System => json!({"role": "system", "content": turn.text}),
        Role::Assistant => json!({"role": "assistant", "content": turn.text}),
        Role::ToolCall => {
            let id = format!("c{}", turn.seq);
            let (name, arguments) = turn.text.split_once(' ').unwrap_or((&turn.text, "{}"));
            open = Some(id.clone());
            json!({"role": "assistant", "content": null, "tool_calls": [
                {"id": id, "type": "function", "function": {"name": name, "arguments": arguments}},
            ]})
        }
        Role::ToolResult => match open.take() {
            Some(id) => json!({"role": "tool", "tool_call_id": id, "content": turn.text}),
            None => json!({"role": "user", "content": turn.text}),
        },
    };
    turns
        .iter()
        .map(message)
        .map(|message| message.to_string())
        .collect()
}
