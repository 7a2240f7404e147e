//! A conversation replayed turn by turn under a policy: what it costs, and what the model can still see.
//!
//! Every request before an answer of the model is built as it would have been sent, and priced with a
//! prompt cache. Tokens are four characters each, and four more a message. Costs are in tokens of
//! uncached input.

mod seen;
mod table;

pub use table::{Sum, sum};

use crate::compose::Piece;
use crate::conversation::{Conversation, Refusal};
use crate::message::{Form, Part, Role};
use crate::own;
use crate::policy::{CacheMatch, Policy};
use crate::size::{chars, tokens};
use crate::state::State;
use crate::window::compact;
use seen::{Seen, Words};
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

/// What a conversation is replayed under.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Under {
    /// Every request is the whole history.
    Nothing,
    /// Every output that is old enough is a stub, at every turn.
    EveryTurn,
    /// The last so many tokens.
    KeepLast(usize),
    /// A policy of this crate.
    Policy(Box<Policy>),
}

/// What a replay came to.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Row {
    /// Requests.
    pub turns: usize,
    /// Tokens of all requests.
    pub input: f64,
    /// The price of all requests.
    pub cost: f64,
    /// The same, and of the turns that would have to fetch again what the window lost.
    pub cost_refetch: f64,
    /// The part of `input` that the cache served.
    pub hits: f64,
    /// Tokens of the largest request.
    pub peak: usize,
    /// Requests that begin otherwise than the one before.
    pub breaks: usize,
    /// Requests that hold the goal.
    pub goal: usize,
    /// Requests that hold it within the last 4,000 tokens.
    pub near: usize,
    /// The part of the names that the next message used and the request holds, on average.
    pub recall: f64,
    /// The same for names in outputs of the last three messages.
    pub fresh: f64,
    /// The same for names that the last fifteen messages do not say.
    pub old: f64,
    /// Outputs that would have to be fetched again.
    pub refetched: usize,
    /// Tokens that no id gives back.
    pub lost: usize,
}

/// Tokens within which a goal counts as near.
const NEAR_TOKENS: usize = 4_000;
/// Earlier requests that an exact cache still knows.
const EXACT_REQUESTS: usize = 80;

/// Replays one conversation.
///
/// # Errors
///
/// As [`Conversation::parse`].
pub fn replay(whole: &Conversation, under: &Under, exact: bool) -> Result<Row, Refusal> {
    let (read, write) = match under {
        Under::Policy(policy) => (policy.cache_read_mils, policy.cache_write_mils),
        Under::Nothing | Under::EveryTurn | Under::KeepLast(_) => (100, 1_250),
    };
    let mut ledger = Ledger {
        read: read as f64 / 1_000.0,
        write: write as f64 / 1_000.0,
        exact: exact
            || matches!(under, Under::Policy(policy) if policy.cache_match == CacheMatch::Exact),
        ..Ledger::default()
    };
    let mut seen = Seen::new(whole);
    let mut sofar = Conversation::new(whole.form);
    let mut state = State::default();
    let policy = match under {
        Under::EveryTurn => Some(every_turn()),
        Under::Policy(policy) => Some(policy.as_ref().clone()),
        Under::Nothing | Under::KeepLast(_) => None,
    };
    let turns = turns(whole);
    for (nth, at) in turns.iter().enumerate() {
        while sofar.messages.len() < *at {
            let raw = whole.outers[sofar.len()].clone();
            sofar.push(&raw)?;
        }
        let pieces = match &policy {
            Some(policy) => {
                let made = compact(&sofar, policy, &mut state);
                ledger.row.lost += lost(&sofar, &made);
                made.pieces
            }
            None => {
                let mut pieces: Vec<Piece> = (0..*at).map(Piece::Kept).collect();
                if let Under::KeepLast(most) = under {
                    keep_last(whole, &mut pieces, *most);
                }
                pieces
            }
        };
        let later = turns.len() - nth - 1;
        ledger.request(whole, &mut seen, &pieces, *at, later);
    }
    Ok(ledger.finish())
}

/// The messages that answer a request, in order.
fn turns(whole: &Conversation) -> Vec<usize> {
    (1..whole.messages.len())
        .filter(|at| {
            let message = &whole.messages[*at];
            let goes_on =
                whole.form != Form::Openai && whole.messages[*at - 1].role == Role::Assistant;
            message.role == Role::Assistant && !goes_on
        })
        .collect()
}

fn every_turn() -> Policy {
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

/// Cuts the oldest pieces, with the answers behind them, until the rest is `most` tokens.
fn keep_last(whole: &Conversation, pieces: &mut Vec<Piece>, most: usize) {
    let size = |piece: &Piece| match piece {
        Piece::Kept(at) => tokens(chars(&text_of(whole, *at, &[]))) + 4,
        Piece::Edited { .. } | Piece::Missing(_) | Piece::Anchor { .. } | Piece::Summary { .. } => {
            0
        }
    };
    let head = usize::from(
        whole
            .messages
            .first()
            .is_some_and(|first| first.role == Role::System),
    );
    let mut total: usize = pieces.iter().map(size).sum();
    while total > most && pieces.len() > 3 {
        total -= size(&pieces.remove(head));
        while pieces.len() > head + 1
            && matches!(&pieces[head], Piece::Kept(at) if whole.messages[*at].answers())
        {
            total -= size(&pieces.remove(head));
        }
    }
}

/// What the model reads of a message; `outputs` are other texts of some parts.
fn text_of(whole: &Conversation, at: usize, outputs: &[(usize, std::sync::Arc<str>)]) -> String {
    let mut out = String::new();
    for (nth, part) in whole.messages[at].parts.iter().enumerate() {
        let other = outputs.iter().find(|(part, _)| *part == nth);
        match part {
            Part::Text { text, .. } => out.push_str(text),
            Part::Call(call) => {
                out.push('\n');
                out.push_str(&call.name);
                out.push(' ');
                out.push_str(&call.arguments);
            }
            Part::Output(output) => {
                out.push_str(other.map_or(output.text.as_str(), |(_, text)| text));
            }
            Part::Thinking { .. } | Part::Image { .. } | Part::Unknown { .. } => {}
        }
    }
    out
}

/// Tokens of messages and outputs that a window does not hold and that no id gives back.
fn lost(sofar: &Conversation, made: &crate::Compacted) -> usize {
    let mut held = vec![false; sofar.messages.len()];
    for piece in &made.pieces {
        if let Piece::Kept(at) | Piece::Edited { at, .. } = piece {
            held[*at] = true;
        }
    }
    for dropped in &made.report.dropped {
        held[dropped.inner.clone()].fill(true);
    }
    let whole: usize = sofar
        .messages
        .iter()
        .zip(&held)
        .filter(|(message, held)| !**held && message.own.is_none())
        .map(|(message, _)| tokens(message.chars))
        .sum();
    let outputs: usize = made
        .pieces
        .iter()
        .map(|piece| match piece {
            Piece::Edited { at, outputs, .. } => outputs
                .iter()
                .filter(|(part, _)| {
                    !made
                        .report
                        .shortened
                        .iter()
                        .any(|one| one.whole.is_none_or(|whole| whole == (*at, *part)))
                })
                .count(),
            Piece::Kept(_) | Piece::Missing(_) | Piece::Anchor { .. } | Piece::Summary { .. } => 0,
        })
        .sum();
    whole + outputs
}

/// What a piece is, and what it says.
struct Shown {
    key: u64,
    tokens: usize,
    words: Words,
}

#[derive(Default)]
struct Ledger {
    row: Row,
    read: f64,
    write: f64,
    exact: bool,
    before: Vec<u64>,
    requests: Vec<Vec<u64>>,
    refetch: f64,
    recalls: Vec<f64>,
    freshes: Vec<f64>,
    olds: Vec<f64>,
    shown: HashMap<u64, std::rc::Rc<Shown>>,
}

impl Ledger {
    fn show(&mut self, whole: &Conversation, seen: &Seen, piece: &Piece) -> std::rc::Rc<Shown> {
        let mut hasher = DefaultHasher::new();
        match piece {
            Piece::Kept(at) => (0_u8, at).hash(&mut hasher),
            Piece::Edited {
                at,
                outputs,
                without,
            } => {
                (1_u8, at, without, outputs).hash(&mut hasher);
            }
            Piece::Missing(id) => (2_u8, id).hash(&mut hasher),
            Piece::Anchor { text, .. } => (3_u8, text).hash(&mut hasher),
            Piece::Summary { text, .. } => (4_u8, text).hash(&mut hasher),
        }
        let key = hasher.finish();
        if let Some(shown) = self.shown.get(&key) {
            return std::rc::Rc::clone(shown);
        }
        let of = |text: &str| Shown {
            key,
            tokens: tokens(chars(text)) + 4,
            words: seen.words(text),
        };
        let shown = std::rc::Rc::new(match piece {
            Piece::Kept(at) => Shown {
                key,
                tokens: tokens(chars(&text_of(whole, *at, &[]))) + 4,
                words: seen.said[*at].clone(),
            },
            Piece::Edited { at, outputs, .. } => of(&text_of(whole, *at, outputs)),
            Piece::Missing(_) => of(crate::compose::MISSING),
            Piece::Anchor { text, .. } | Piece::Summary { text, .. } => of(text),
        });
        self.shown.insert(key, std::rc::Rc::clone(&shown));
        shown
    }

    fn request(
        &mut self,
        whole: &Conversation,
        seen: &mut Seen,
        pieces: &[Piece],
        at: usize,
        later: usize,
    ) {
        let shown: Vec<_> = pieces
            .iter()
            .map(|piece| self.show(whole, seen, piece))
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
            self.row.breaks += 1;
        }
        self.row.turns += 1;
        self.row.input += total as f64;
        self.row.hits += hit as f64;
        self.row.cost += self.read * hit as f64 + self.write * (total - hit) as f64;
        self.row.peak = self.row.peak.max(total);
        self.goal(whole, pieces, &sizes, at);
        self.recall(seen, &shown, at, later, total);
        self.before = keys;
    }

    /// The pieces that an exact cache serves: the longest earlier request that this one begins with.
    fn exact_hit(&mut self, whole: &Conversation, keys: &[u64], same: usize) -> usize {
        let system = usize::from(
            same > 0
                && whole
                    .messages
                    .first()
                    .is_some_and(|first| first.role == Role::System),
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

    fn goal(&mut self, whole: &Conversation, pieces: &[Piece], sizes: &[usize], at: usize) {
        let Some(goal) = goal_before(whole, at) else {
            self.row.goal += 1;
            return;
        };
        let last = pieces.iter().rposition(|piece| match piece {
            Piece::Kept(at) | Piece::Edited { at, .. } => *at == goal,
            Piece::Anchor { goal: said, .. } => *said == goal,
            Piece::Summary { goal: said, .. } => *said == Some(goal),
            Piece::Missing(_) => false,
        });
        if let Some(last) = last {
            self.row.goal += 1;
            let behind: usize = sizes[last + 1..].iter().sum();
            self.row.near += usize::from(behind <= NEAR_TOKENS);
        }
    }

    fn recall(
        &mut self,
        seen: &mut Seen,
        shown: &[std::rc::Rc<Shown>],
        at: usize,
        later: usize,
        total: usize,
    ) {
        seen.hear(at);
        let used = seen.used(at);
        if used.is_empty() {
            return;
        }
        let has = |word: u32| shown.iter().any(|shown| shown.words.contains(word));
        let share = |words: &[u32]| {
            words.iter().filter(|word| has(**word)).count() as f64 / words.len() as f64
        };
        self.recalls.push(share(&used));
        let fresh = seen.fresh(&used, at);
        if !fresh.is_empty() {
            self.freshes.push(share(&fresh));
        }
        let missed: Vec<u32> = used.iter().copied().filter(|word| !has(*word)).collect();
        for output in seen.fetch(&missed) {
            let size = tokens(seen.chars[output]).min(4_000) as f64;
            self.row.refetched += 1;
            self.refetch += self.read * total as f64
                + self.write * (size + 80.0)
                + self.read * size * later.min(15) as f64;
        }
        let old = seen.old(&used, at);
        if !old.is_empty() {
            self.olds.push(share(&old));
        }
    }

    fn finish(self) -> Row {
        let mean = |of: &[f64]| {
            if of.is_empty() {
                1.0
            } else {
                of.iter().sum::<f64>() / of.len() as f64
            }
        };
        Row {
            cost_refetch: self.row.cost + self.refetch,
            recall: mean(&self.recalls),
            fresh: mean(&self.freshes),
            old: mean(&self.olds),
            ..self.row
        }
    }
}

/// The message with the goal before message `at`.
fn goal_before(whole: &Conversation, at: usize) -> Option<usize> {
    let mut goal = None;
    for (index, message) in whole.messages[..at].iter().enumerate() {
        if message.role != Role::User || message.own.is_some() {
            continue;
        }
        let text = message.text();
        let said = text.trim();
        if goal.is_none() || (!own::is_injected(said) && said.chars().count() >= 40) {
            goal = Some(index);
        }
    }
    goal
}
