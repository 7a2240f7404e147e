//! Ranking of identifiers by the probability of their reuse.
//!
//! Derived from real conversations: the score counts how often the agent itself wrote an identifier (mainly in
//! arguments), halved every [`HALF_LIFE`] messages; one that only a tool printed counts a tenth.

use super::identifier_tokenizer::{self, TextSyntax};
use super::identity_hasher::HashKeyMap;
use std::collections::hash_map::Entry;
use std::hash::BuildHasherDefault;

/// Half-life of a use, in messages.
const HALF_LIFE: u32 = 80;
/// 2^(-1/80) as a fixed-point number with 32 fractional bits.
const STEP: u64 = 4_257_914_989;
/// Score of one use by the agent.
pub(super) const USE: u64 = 1 << 20;
/// Maximum number of identifiers; beyond it the least likely half is dropped.
const CROWD: usize = 4_096;

/// 2^(-n/80) with 31 fractional bits. Integers, so that all machines rank alike.
const DECAY: [u64; HALF_LIFE as usize] = {
    let mut table = [1 << 31; HALF_LIFE as usize];
    let mut n = 1;
    while n < table.len() {
        table[n] = (table[n - 1] * STEP) >> 32;
        n += 1;
    }
    table
};

/// Position of an identifier: message, part, first byte, length.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TextSpan {
    pub(super) message: u32,
    pub(super) part: u32,
    pub(super) start: u32,
    pub(super) len: u32,
}

/// An identifier with its score.
#[derive(Debug, Clone)]
pub(super) struct Identifier {
    pub(super) place: TextSpan,
    hash: u64,
    score: u64,
    /// Message of the last use, and the score added there.
    last: u32,
    counted: u64,
    /// Order of first use.
    order: u32,
}

/// Kind of use of an identifier.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum UseKind {
    /// By the agent, in arguments of a call.
    Argument,
    /// By the agent, in its text.
    AgentText,
    /// By the user.
    UserText,
    /// By a tool.
    ToolText,
    /// In an earlier summary: rank and number of ranks.
    EarlierSummary(usize, usize),
}

/// Table of the identifiers of all messages so far.
#[derive(Debug, Clone, Default)]
pub(super) struct IdentifierTable {
    all: Vec<Identifier>,
    at: HashKeyMap<u32>,
    order: u32,
}

/// Returns the score after exponential decay over this number of messages.
fn decayed(score: u64, messages: u32) -> u64 {
    let halves = messages / HALF_LIFE;
    if halves >= 48 {
        return 0;
    }
    ((score * DECAY[(messages % HALF_LIFE) as usize]) >> 31) >> halves
}

impl IdentifierTable {
    /// Creates an empty table with this capacity.
    pub(super) fn with_capacity(names: usize) -> Self {
        Self {
            all: Vec::with_capacity(names),
            at: HashKeyMap::with_capacity_and_hasher(names, BuildHasherDefault::default()),
            order: 0,
        }
    }

    /// Counts a use of `token` at `place`.
    pub(super) fn record_use(&mut self, token: &str, place: TextSpan, used: UseKind) {
        let shaped = identifier_tokenizer::is_code_like(token);
        let worth = match used {
            UseKind::Argument => USE,
            UseKind::AgentText if shaped => USE,
            UseKind::AgentText => USE / 2,
            UseKind::UserText | UseKind::ToolText if !shaped => return,
            UseKind::UserText => USE / 2,
            UseKind::ToolText => USE / 10,
            UseKind::EarlierSummary(rank, of) => {
                let length = token.len() as u64 + 1;
                USE / 10 * length * (of - rank) as u64 / of as u64
            }
        };
        let plain = used == UseKind::AgentText && !shaped;
        let (now, hash) = (place.message, identifier_tokenizer::hash(token));
        if plain && identifier_tokenizer::is_stop_word(token, hash) {
            return;
        }
        match self.at.entry(hash) {
            Entry::Vacant(free) => {
                free.insert(u32::try_from(self.all.len()).unwrap_or(u32::MAX));
                self.order += 1;
                self.all.push(Identifier {
                    place,
                    hash,
                    // A plain word counts from its second use on.
                    score: if plain { 0 } else { worth },
                    last: now,
                    counted: worth,
                    order: self.order,
                });
            }
            Entry::Occupied(found) => {
                let Some(name) = self.all.get_mut(*found.get() as usize) else {
                    return;
                };
                let before = if name.last == now { name.counted } else { 0 };
                name.score = decayed(name.score, now.saturating_sub(name.last))
                    + worth.saturating_sub(before);
                name.counted = before.max(worth);
                name.last = now;
            }
        }
        if self.all.len() > CROWD {
            self.evict_unlikely(now);
        }
    }

    /// Drops the less likely half. It happens at the same message in every process.
    fn evict_unlikely(&mut self, now: u32) {
        let rank = |name: &Identifier| (std::cmp::Reverse(name.value_per_char(now)), name.order);
        self.all.select_nth_unstable_by_key(CROWD / 2, rank);
        self.all.truncate(CROWD / 2);
        self.all.sort_unstable_by_key(|name| name.order);
        self.at.clear();
        for (index, name) in (0..).zip(&self.all) {
            self.at.insert(name.hash, index);
        }
    }

    /// Returns the identifiers with a positive score at message `now`, most likely first, at most `most`.
    pub(super) fn most_likely(&self, now: u32, most: usize) -> Vec<&Identifier> {
        let mut ranked: Vec<(u64, u32, &Identifier)> = self
            .all
            .iter()
            .map(|name| (u64::MAX - name.value_per_char(now), name.order, name))
            .filter(|(value, ..)| *value < u64::MAX)
            .collect();
        let key = |ranked: &(u64, u32, &Identifier)| (ranked.0, ranked.1);
        if ranked.len() > most {
            ranked.select_nth_unstable_by_key(most, key);
            ranked.truncate(most);
        }
        ranked.sort_unstable_by_key(key);
        ranked.into_iter().map(|(_, _, name)| name).collect()
    }
}

impl Identifier {
    /// Returns the score per character that the identifier costs.
    pub(super) fn value_per_char(&self, now: u32) -> u64 {
        decayed(self.score, now.saturating_sub(self.last)) / (u64::from(self.place.len) + 1)
    }
}

/// Calls `found` with each token of `text` and its span at this message and part.
pub(super) fn for_each_token<'t>(
    text: &'t str,
    writing: TextSyntax,
    at: (u32, u32),
    mut found: impl FnMut(&'t str, TextSpan),
) {
    identifier_tokenizer::scan(text, writing, |range| {
        let place = TextSpan {
            message: at.0,
            part: at.1,
            start: u32::try_from(range.start).unwrap_or(u32::MAX),
            len: u32::try_from(range.len()).unwrap_or(u32::MAX),
        };
        found(&text[range], place);
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(uses: &[(u32, &str, UseKind)], now: u32) -> Vec<u32> {
        let mut names = IdentifierTable::default();
        for (message, token, used) in uses {
            let place = TextSpan {
                message: *message,
                part: 0,
                start: 0,
                len: u32::try_from(token.len()).unwrap(),
            };
            names.record_use(token, place, *used);
        }
        let best = names.most_likely(now, 10);
        best.iter().map(|name| name.order).collect()
    }

    #[test]
    fn uses_count_and_decay() {
        use UseKind::{AgentText, Argument, ToolText};
        assert_eq!(
            names(&[(1, "one_name", Argument), (9, "two_name", Argument)], 10),
            [2, 1]
        );
        assert_eq!(
            names(
                &[
                    (1, "one_name", Argument),
                    (2, "one_name", Argument),
                    (9, "two_name", Argument)
                ],
                10
            ),
            [1, 2]
        );
        assert_eq!(
            names(
                &[(1, "one_name", Argument), (400, "two_name", ToolText)],
                400
            ),
            [2, 1]
        );
        assert_eq!(names(&[(1, "renderer", AgentText)], 2), [0_u32; 0]);
        assert_eq!(
            names(&[(1, "renderer", AgentText), (2, "renderer", AgentText)], 2),
            [1]
        );
    }

    #[test]
    fn large_table_is_evicted_deterministically() {
        let mut names = IdentifierTable::default();
        for message in 0..30_000_u32 {
            let token = format!("name_{message}");
            let place = TextSpan {
                message,
                part: 0,
                start: 0,
                len: 10,
            };
            names.record_use(&token, place, UseKind::Argument);
        }
        assert!(names.all.len() <= CROWD);
        assert_eq!(names.most_likely(30_000, 1)[0].place.message, 29_999);
    }
}
