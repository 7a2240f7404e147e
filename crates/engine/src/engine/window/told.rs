//! A stored conversation replayed: how its window went, turn by turn.

use super::super::Engine;
use heirloom_model::{Fault, Message, Role, limits};
use heirloom_window::{Action, Conversation, Form, Policy, State};
use serde_json::json;

/// Messages up to which a conversation is replayed.
const MESSAGES_MAX: usize = 400;
/// Windows that are made of one conversation.
const POINTS_MAX: usize = 32;

/// How the window of a conversation went.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WindowStory {
    /// One for each window that was made, in order.
    pub points: Vec<WindowPoint>,
    /// What the last window shortened: place in the conversation, tool, characters before and after, id.
    pub shortened: Vec<(usize, String, usize, usize, String)>,
    /// The tokens from which on a window is made smaller.
    pub threshold_tokens: usize,
    /// What all requests cost without and with a window, in tokens of uncached input.
    pub cost: (u64, u64),
}

/// One window.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WindowPoint {
    /// Messages of the conversation so far.
    pub messages: usize,
    /// Tokens of the conversation.
    pub tokens_before: usize,
    /// Tokens of the window.
    pub tokens_after: usize,
    /// The first message that is not summed up.
    pub boundary: usize,
    /// A reminder of the goal stands in it.
    pub has_anchor: bool,
}

impl Engine {
    /// How the window of these turns goes by the built-in policy; `None` where there are too many or too few to replay them.
    ///
    /// Pure over what is stored; nothing is written.
    pub fn window_story(&self, turns: &[Message]) -> Result<Option<WindowStory>, Fault> {
        if turns.len() < 4 || turns.len() > MESSAGES_MAX {
            return Ok(None);
        }
        let policy = &Policy::default();
        let rows: Vec<String> = raw(turns);
        let mut sofar = Conversation::new(Form::Openai);
        let mut state = State::default();
        let mut story = WindowStory {
            threshold_tokens: policy.summary_threshold,
            ..WindowStory::default()
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
            story.points.push(WindowPoint {
                messages: at + 1,
                tokens_before: report.tokens_before,
                tokens_after: report.tokens_after,
                boundary: report.boundary,
                has_anchor: report.actions.contains(&Action::Anchor),
            });
            if is_last {
                story.cost = (report.cost_none, report.cost_window);
                story.shortened = report
                    .shortened
                    .into_iter()
                    .take(limits::FINDINGS_SHOWN_MAX)
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
        Ok(Some(story))
    }
}

/// Stored turns as messages of a protocol: calls and answers belong together by their order.
fn raw(turns: &[Message]) -> Vec<String> {
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
