//! Replay of a conversation turn by turn under a policy: its cost, and what the model can still see.
//!
//! Every request is built as it would have been sent and priced with a prompt cache. A token is four characters, and
//! each message costs four more. Costs are in tokens of uncached input.

mod identifier_tracker;
mod totals;

pub use totals::{ReplayTotals, total};

use crate::cache_pricing::CacheMatch;
use crate::compaction::compact;
use crate::compaction_policy::Policy;
use crate::composition::WindowPiece;
use crate::conversation::{Conversation, ParseError};
use crate::markers;
use crate::message::{ChatRole, MessagePart, WireFormat};
use crate::token_estimate::{chars, tokens};
use crate::window_state::WindowState;
use identifier_tracker::{IdentifierSet, IdentifierTracker};
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

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

/// Distance from the end within which a goal counts as near, tokens.
const NEAR_TOKENS: usize = 4_000;
/// Number of earlier requests that an exact cache keeps.
const EXACT_REQUESTS: usize = 80;

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

/// A piece with its size and identifiers.
struct MeasuredPiece {
    key: u64,
    tokens: usize,
    words: IdentifierSet,
}

#[derive(Default)]
struct ReplayLedger {
    row: ReplayReport,
    read: f64,
    write: f64,
    exact: bool,
    before: Vec<u64>,
    requests: Vec<Vec<u64>>,
    refetch: f64,
    recalls: Vec<f64>,
    freshes: Vec<f64>,
    olds: Vec<f64>,
    shown: HashMap<u64, std::rc::Rc<MeasuredPiece>>,
}

impl ReplayLedger {
    fn measure_piece(
        &mut self,
        whole: &Conversation,
        seen: &IdentifierTracker,
        piece: &WindowPiece,
    ) -> std::rc::Rc<MeasuredPiece> {
        let mut hasher = DefaultHasher::new();
        match piece {
            WindowPiece::Unchanged(at) => (0_u8, at).hash(&mut hasher),
            WindowPiece::Edited {
                at,
                outputs,
                without,
            } => {
                (1_u8, at, without, outputs).hash(&mut hasher);
            }
            WindowPiece::MissingOutput(id) => (2_u8, id).hash(&mut hasher),
            WindowPiece::Anchor { text, .. } => (3_u8, text).hash(&mut hasher),
            WindowPiece::Summary { text, .. } => (4_u8, text).hash(&mut hasher),
        }
        let key = hasher.finish();
        if let Some(shown) = self.shown.get(&key) {
            return std::rc::Rc::clone(shown);
        }
        let of = |text: &str| MeasuredPiece {
            key,
            tokens: tokens(chars(text)) + 4,
            words: seen.identifiers_in(text),
        };
        let shown = std::rc::Rc::new(match piece {
            WindowPiece::Unchanged(at) => MeasuredPiece {
                key,
                tokens: tokens(chars(&text_of(whole, *at, &[]))) + 4,
                words: seen.by_message[*at].clone(),
            },
            WindowPiece::Edited { at, outputs, .. } => of(&text_of(whole, *at, outputs)),
            WindowPiece::MissingOutput(_) => of(crate::composition::MISSING_OUTPUT_TEXT),
            WindowPiece::Anchor { text, .. } | WindowPiece::Summary { text, .. } => of(text),
        });
        self.shown.insert(key, std::rc::Rc::clone(&shown));
        shown
    }

    fn add_request(
        &mut self,
        whole: &Conversation,
        seen: &mut IdentifierTracker,
        pieces: &[WindowPiece],
        at: usize,
        later: usize,
    ) {
        let shown: Vec<_> = pieces
            .iter()
            .map(|piece| self.measure_piece(whole, seen, piece))
            .collect();
        let keys: Vec<u64> = shown.iter().map(|shown| shown.key).collect();
        let sizes: Vec<usize> = shown.iter().map(|shown| shown.tokens).collect();
        let same = keys
            .iter()
            .zip(&self.before)
            .take_while(|(a, b)| a == b)
            .count();
        let cached = if self.exact {
            self.exact_hit(whole, &keys, same)
        } else {
            same
        };
        let total: usize = sizes.iter().sum();
        let hit: usize = sizes[..cached].iter().sum();
        if same < self.before.len() {
            self.row.prefix_breaks += 1;
        }
        self.row.turns += 1;
        self.row.input += total as f64;
        self.row.cached_input += hit as f64;
        self.row.cost += self.read * hit as f64 + self.write * (total - hit) as f64;
        self.row.largest_request = self.row.largest_request.max(total);
        self.count_goal(whole, pieces, &sizes, at);
        self.count_recall(seen, &shown, at, later, total);
        self.before = keys;
    }

    /// Returns the number of pieces that an exact cache serves: the longest earlier request that is a prefix.
    fn exact_hit(&mut self, whole: &Conversation, keys: &[u64], same: usize) -> usize {
        let system = usize::from(
            same > 0
                && whole
                    .messages
                    .first()
                    .is_some_and(|first| first.role == ChatRole::System),
        );
        let longest = self
            .requests
            .iter()
            .filter(|request| request.len() <= same && keys.starts_with(request))
            .map(Vec::len)
            .max()
            .unwrap_or(0);
        self.requests.push(keys.to_vec());
        if self.requests.len() > EXACT_REQUESTS {
            self.requests.remove(0);
        }
        longest.max(system)
    }

    fn count_goal(
        &mut self,
        whole: &Conversation,
        pieces: &[WindowPiece],
        sizes: &[usize],
        at: usize,
    ) {
        let Some(goal) = goal_before(whole, at) else {
            self.row.goal += 1;
            return;
        };
        let last = pieces.iter().rposition(|piece| match piece {
            WindowPiece::Unchanged(at) | WindowPiece::Edited { at, .. } => *at == goal,
            WindowPiece::Anchor { goal: trimmed, .. } => *trimmed == goal,
            WindowPiece::Summary { goal: trimmed, .. } => *trimmed == Some(goal),
            WindowPiece::MissingOutput(_) => false,
        });
        if let Some(last) = last {
            self.row.goal += 1;
            let behind: usize = sizes[last + 1..].iter().sum();
            self.row.goal_near += usize::from(behind <= NEAR_TOKENS);
        }
    }

    fn count_recall(
        &mut self,
        seen: &mut IdentifierTracker,
        shown: &[std::rc::Rc<MeasuredPiece>],
        at: usize,
        later: usize,
        total: usize,
    ) {
        seen.advance_to(at);
        let used = seen.reused_by(at);
        if used.is_empty() {
            return;
        }
        let has = |word: u32| shown.iter().any(|shown| shown.words.contains(word));
        let share = |words: &[u32]| {
            words.iter().filter(|word| has(**word)).count() as f64 / words.len() as f64
        };
        self.recalls.push(share(&used));
        let fresh = seen.identifiers_in_recent_outputs(&used, at);
        if !fresh.is_empty() {
            self.freshes.push(share(&fresh));
        }
        let missed: Vec<u32> = used.iter().copied().filter(|word| !has(*word)).collect();
        for output in seen.refetch(&missed) {
            let size = tokens(seen.chars[output]).min(4_000) as f64;
            self.row.refetches += 1;
            self.refetch += self.read * total as f64
                + self.write * (size + 80.0)
                + self.read * size * later.min(15) as f64;
        }
        let old = seen.outside_tail(&used, at);
        if !old.is_empty() {
            self.olds.push(share(&old));
        }
    }

    fn finish(self) -> ReplayReport {
        let mean = |of: &[f64]| {
            if of.is_empty() {
                1.0
            } else {
                of.iter().sum::<f64>() / of.len() as f64
            }
        };
        ReplayReport {
            cost_refetch: self.row.cost + self.refetch,
            recall: mean(&self.recalls),
            fresh: mean(&self.freshes),
            old: mean(&self.olds),
            ..self.row
        }
    }
}

/// Returns the message with the goal before message `at`.
fn goal_before(whole: &Conversation, at: usize) -> Option<usize> {
    let mut goal = None;
    for (index, message) in whole.messages[..at].iter().enumerate() {
        if message.role != ChatRole::User || message.inserted.is_some() {
            continue;
        }
        let text = message.text();
        let trimmed = text.trim();
        if goal.is_none() || (!markers::is_program_text(trimmed) && trimmed.chars().count() >= 40) {
            goal = Some(index);
        }
    }
    goal
}
