//! Replay of a conversation turn by turn under a policy: its cost, and what the model can still see.
//!
//! Every request is built as it would have been sent and priced with a prompt cache. A token is four characters, and
//! each message costs four more. Costs are in tokens of uncached input.

mod identifier_tracker;
mod replay_ledger;
mod totals;

pub use totals::{ReplayTotals, total};

use crate::cache_pricing::CacheMatch;
use crate::compaction::compact;
use crate::compaction_policy::Policy;
use crate::composition::WindowPiece;
use crate::conversation::{Conversation, ParseError};
use crate::message::{ChatRole, MessagePart, WireFormat};
use crate::token_estimate::{chars, tokens};
use crate::window_state::WindowState;
use identifier_tracker::IdentifierTracker;
use replay_ledger::ReplayLedger;

/// Mode of a replay.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReplayMode {
    /// Every request is the whole history.
    FullHistory,
    /// Every old output is a stub, at every turn.
    StubsEveryTurn,
    /// Only the last tokens, up to this number.
    KeepLast(usize),
    /// A policy of this crate.
    Policy(Box<Policy>),
}

/// Result of a replay.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ReplayReport {
    /// Number of requests.
    pub turns: usize,
    /// Input tokens of all requests.
    pub input: f64,
    /// Cost of all requests.
    pub cost: f64,
    /// Cost including the turns that would fetch lost content again.
    pub cost_refetch: f64,
    /// Input tokens that the cache served.
    pub cached_input: f64,
    /// Tokens of the largest request.
    pub largest_request: usize,
    /// Number of requests that do not begin with the previous one.
    pub prefix_breaks: usize,
    /// Number of requests that contain the goal.
    pub goal: usize,
    /// Number of requests that contain it within the last 4,000 tokens.
    pub goal_near: usize,
    /// Average share of the identifiers used by the next message that the request contains.
    pub recall: f64,
    /// The same share for identifiers in outputs of the last three messages.
    pub fresh: f64,
    /// The same share for identifiers that are not in the last fifteen messages.
    pub old: f64,
    /// Number of outputs that would be fetched again.
    pub refetches: usize,
    /// Tokens that cannot be restored by an id.
    pub lost: usize,
}

/// Replays one conversation.
///
/// # Errors
///
/// As [`Conversation::parse`].
pub fn replay(
    whole: &Conversation,
    under: &ReplayMode,
    exact: bool,
) -> Result<ReplayReport, ParseError> {
    let (read, write) = match under {
        ReplayMode::Policy(policy) => (policy.cache_read_mils, policy.cache_write_mils),
        ReplayMode::FullHistory | ReplayMode::StubsEveryTurn | ReplayMode::KeepLast(_) => {
            (100, 1_250)
        }
    };
    let mut ledger = ReplayLedger {
        read: read as f64 / 1_000.0,
        write: write as f64 / 1_000.0,
        exact: exact
            || matches!(under, ReplayMode::Policy(policy) if policy.cache_match == CacheMatch::Exact),
        ..ReplayLedger::default()
    };
    let mut seen = IdentifierTracker::new(whole);
    let mut history = Conversation::new(whole.format);
    let mut state = WindowState::default();
    let policy = match under {
        ReplayMode::StubsEveryTurn => Some(stub_every_turn_policy()),
        ReplayMode::Policy(policy) => Some(policy.as_ref().clone()),
        ReplayMode::FullHistory | ReplayMode::KeepLast(_) => None,
    };
    let turns = turns(whole);
    for (nth, at) in turns.iter().enumerate() {
        while history.messages.len() < *at {
            let raw = whole.sources[history.len()].clone();
            history.push(&raw)?;
        }
        let pieces = match &policy {
            Some(policy) => {
                let made = compact(&history, policy, &mut state);
                ledger.row.lost += unrecoverable_tokens(&history, &made);
                made.pieces
            }
            None => {
                let mut pieces: Vec<WindowPiece> = (0..*at).map(WindowPiece::Unchanged).collect();
                if let ReplayMode::KeepLast(most) = under {
                    keep_last(whole, &mut pieces, *most);
                }
                pieces
            }
        };
        let later = turns.len() - nth - 1;
        ledger.add_request(whole, &mut seen, &pieces, *at, later);
    }
    Ok(ledger.finish())
}

/// Returns the messages that answer a request, in order.
fn turns(whole: &Conversation) -> Vec<usize> {
    (1..whole.messages.len())
        .filter(|at| {
            let message = &whole.messages[*at];
            let goes_on = whole.format != WireFormat::Openai
                && whole.messages[*at - 1].role == ChatRole::Assistant;
            message.role == ChatRole::Assistant && !goes_on
        })
        .collect()
}

fn stub_every_turn_policy() -> Policy {
    Policy {
        read_max_length: usize::MAX,
        critical_max_length: usize::MAX,
        max_output_length: usize::MAX,
        summary_threshold: 0,
        fallback_tokens: 0,
        task_anchor_interval: 0,
        step_min_tokens: 0,
        expected_turns: u32::MAX,
        ..Policy::default()
    }
}

/// Drops the oldest pieces and their results until the rest has at most `most` tokens.
fn keep_last(whole: &Conversation, pieces: &mut Vec<WindowPiece>, most: usize) {
    let size = |piece: &WindowPiece| match piece {
        WindowPiece::Unchanged(at) => tokens(chars(&text_of(whole, *at, &[]))) + 4,
        WindowPiece::Edited { .. }
        | WindowPiece::MissingOutput(_)
        | WindowPiece::Anchor { .. }
        | WindowPiece::Summary { .. } => 0,
    };
    let head = usize::from(
        whole
            .messages
            .first()
            .is_some_and(|first| first.role == ChatRole::System),
    );
    let mut total: usize = pieces.iter().map(size).sum();
    while total > most && pieces.len() > 3 {
        total -= size(&pieces.remove(head));
        while pieces.len() > head + 1
            && matches!(&pieces[head], WindowPiece::Unchanged(at) if whole.messages[*at].has_outputs())
        {
            total -= size(&pieces.remove(head));
        }
    }
}

/// Returns the text that the model reads of a message; `outputs` replaces some parts.
fn text_of(whole: &Conversation, at: usize, outputs: &[(usize, std::sync::Arc<str>)]) -> String {
    let mut out = String::new();
    for (nth, part) in whole.messages[at].parts.iter().enumerate() {
        let other = outputs.iter().find(|(part, _)| *part == nth);
        match part {
            MessagePart::Text { text, .. } => out.push_str(text),
            MessagePart::Call(call) => {
                out.push('\n');
                out.push_str(&call.name);
                out.push(' ');
                out.push_str(&call.arguments);
            }
            MessagePart::Output(output) => {
                out.push_str(other.map_or(output.text.as_str(), |(_, text)| text));
            }
            MessagePart::Thinking { .. }
            | MessagePart::Image { .. }
            | MessagePart::Unknown { .. } => {}
        }
    }
    out
}

/// Returns the tokens of messages and outputs that are not in the window and cannot be restored by an id.
fn unrecoverable_tokens(history: &Conversation, made: &crate::CompactedWindow) -> usize {
    let mut is_covered = vec![false; history.messages.len()];
    for piece in &made.pieces {
        if let WindowPiece::Unchanged(at) | WindowPiece::Edited { at, .. } = piece {
            is_covered[*at] = true;
        }
    }
    for dropped in &made.report.dropped {
        is_covered[dropped.inner_range.clone()].fill(true);
    }
    let whole: usize = history
        .messages
        .iter()
        .zip(&is_covered)
        .filter(|(message, is_covered)| !**is_covered && message.inserted.is_none())
        .map(|(message, _)| tokens(message.chars))
        .sum();
    let outputs: usize = made
        .pieces
        .iter()
        .map(|piece| match piece {
            WindowPiece::Edited { at, outputs, .. } => outputs
                .iter()
                .filter(|(part, _)| {
                    !made
                        .report
                        .shortened
                        .iter()
                        .any(|one| one.full_text_at.is_none_or(|whole| whole == (*at, *part)))
                })
                .count(),
            WindowPiece::Unchanged(_)
            | WindowPiece::MissingOutput(_)
            | WindowPiece::Anchor { .. }
            | WindowPiece::Summary { .. } => 0,
        })
        .sum();
    whole + outputs
}
