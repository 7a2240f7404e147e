//! Replay ledger: cost and visible content of the requests of a replay.

use super::identifier_tracker::{IdentifierSet, IdentifierTracker};
use super::{ReplayReport, text_of};
use crate::composition::WindowPiece;
use crate::conversation::Conversation;
use crate::markers;
use crate::message::ChatRole;
use crate::token_estimate::{chars, tokens};
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

/// Distance from the end within which a goal counts as near, tokens.
const NEAR_TOKENS: usize = 4_000;
/// Number of earlier requests that an exact cache keeps.
const EXACT_REQUESTS: usize = 80;

/// A piece with its size and identifiers.
pub(super) struct MeasuredPiece {
    key: u64,
    tokens: usize,
    words: IdentifierSet,
}

#[derive(Default)]
pub(super) struct ReplayLedger {
    pub(super) row: ReplayReport,
    pub(super) read: f64,
    pub(super) write: f64,
    pub(super) exact: bool,
    pub(super) before: Vec<u64>,
    pub(super) requests: Vec<Vec<u64>>,
    pub(super) refetch: f64,
    pub(super) recalls: Vec<f64>,
    pub(super) freshes: Vec<f64>,
    pub(super) olds: Vec<f64>,
    pub(super) shown: HashMap<u64, std::rc::Rc<MeasuredPiece>>,
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

    pub(super) fn add_request(
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

    pub(super) fn finish(self) -> ReplayReport {
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
