//! Names by how likely they are to be used again.
//!
//! What counts, as real conversations show: how often the agent itself wrote a name (in arguments
//! above all), halved every [`HALF_LIFE`] messages; a name that only a tool showed counts a tenth.

use super::words::{self, Writing};
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::hash::{BuildHasherDefault, Hasher};

/// Messages after which a use counts half.
const HALF_LIFE: u32 = 80;
/// 2^(-1/80), as parts of 2^32.
const STEP: u64 = 4_257_914_989;
/// What one use by the agent is worth.
pub(super) const USE: u64 = 1 << 20;
/// Names above which the least likely half is forgotten.
const CROWD: usize = 4_096;

/// 2^(-n/80), as parts of 2^31: integers, so that every machine ranks alike.
const DECAY: [u64; HALF_LIFE as usize] = {
    let mut table = [1 << 31; HALF_LIFE as usize];
    let mut n = 1;
    while n < table.len() {
        table[n] = (table[n - 1] * STEP) >> 32;
        n += 1;
    }
    table
};

/// Where a name stands: message, part, first byte, length.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) message: u32,
    pub(super) part: u32,
    pub(super) start: u32,
    pub(super) len: u32,
}

/// One name.
#[derive(Debug, Clone)]
pub(super) struct Name {
    pub(super) place: Place,
    hash: u64,
    score: u64,
    /// The message of the last use, and what it counted there.
    last: u32,
    counted: u64,
    /// The how manieth name it is.
    order: u32,
}

/// How a name was used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Use {
    /// By the agent, in the arguments of a call.
    Argument,
    /// By the agent, in what it says.
    Said,
    /// By the user.
    Asked,
    /// By a tool.
    Shown,
    /// In an earlier summary, at this rank of so many.
    Kept(usize, usize),
}

/// A hasher for keys that are hashes.
#[derive(Debug, Default, Clone)]
pub(super) struct Same(u64);

impl Hasher for Same {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(byte);
        }
    }

    fn write_u64(&mut self, hash: u64) {
        self.0 = hash;
    }
}

pub(super) type ByHash<T> = HashMap<u64, T, BuildHasherDefault<Same>>;

/// All names of the messages so far.
#[derive(Debug, Clone, Default)]
pub(super) struct Names {
    all: Vec<Name>,
    at: ByHash<u32>,
    order: u32,
}

/// How much of `score` is left after so many messages.
fn decayed(score: u64, messages: u32) -> u64 {
    let halves = messages / HALF_LIFE;
    if halves >= 48 {
        return 0;
    }
    ((score * DECAY[(messages % HALF_LIFE) as usize]) >> 31) >> halves
}

impl Names {
    /// An empty list with room for so many.
    pub(super) fn with_room(names: usize) -> Self {
        Self {
            all: Vec::with_capacity(names),
            at: ByHash::with_capacity_and_hasher(names, BuildHasherDefault::default()),
            order: 0,
        }
    }

    /// Counts a use of `token`, which stands at `place`.
    pub(super) fn count(&mut self, token: &str, place: Place, used: Use) {
        let shaped = words::is_shaped(token);
        let worth = match used {
            Use::Argument => USE,
            Use::Said if shaped => USE,
            Use::Said => USE / 2,
            Use::Asked | Use::Shown if !shaped => return,
            Use::Asked => USE / 2,
            Use::Shown => USE / 10,
            Use::Kept(rank, of) => {
                let length = token.len() as u64 + 1;
                USE / 10 * length * (of - rank) as u64 / of as u64
            }
        };
        let plain = used == Use::Said && !shaped;
        let (now, hash) = (place.message, words::hash(token));
        if plain && words::is_empty_word(token, hash) {
            return;
        }
        match self.at.entry(hash) {
            Entry::Vacant(free) => {
                free.insert(u32::try_from(self.all.len()).unwrap_or(u32::MAX));
                self.order += 1;
                self.all.push(Name {
                    place,
                    hash,
                    // A word that is said once is not yet what a conversation is about.
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
            self.thin(now);
        }
    }

    /// Forgets the less likely half. It happens at the same message whoever counts.
    fn thin(&mut self, now: u32) {
        let rank = |name: &Name| (std::cmp::Reverse(name.value(now)), name.order);
        self.all.select_nth_unstable_by_key(CROWD / 2, rank);
        self.all.truncate(CROWD / 2);
        self.all.sort_unstable_by_key(|name| name.order);
        self.at.clear();
        for (index, name) in (0..).zip(&self.all) {
            self.at.insert(name.hash, index);
        }
    }

    /// The names that count at message `now`, the likeliest first, cut to `most`.
    pub(super) fn best(&self, now: u32, most: usize) -> Vec<&Name> {
        let mut ranked: Vec<(u64, u32, &Name)> = self
            .all
            .iter()
            .map(|name| (u64::MAX - name.value(now), name.order, name))
            .filter(|(value, ..)| *value < u64::MAX)
            .collect();
        let key = |ranked: &(u64, u32, &Name)| (ranked.0, ranked.1);
        if ranked.len() > most {
            ranked.select_nth_unstable_by_key(most, key);
            ranked.truncate(most);
        }
        ranked.sort_unstable_by_key(key);
        ranked.into_iter().map(|(_, _, name)| name).collect()
    }
}

impl Name {
    /// How likely a use is for each character that the name costs.
    pub(super) fn value(&self, now: u32) -> u64 {
        decayed(self.score, now.saturating_sub(self.last)) / (u64::from(self.place.len) + 1)
    }
}

/// Calls `found` with each token of `text` and its place, if it stands at that message and part.
pub(super) fn each<'t>(
    text: &'t str,
    writing: Writing,
    at: (u32, u32),
    mut found: impl FnMut(&'t str, Place),
) {
    words::scan(text, writing, |range| {
        let place = Place {
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

    fn names(uses: &[(u32, &str, Use)], now: u32) -> Vec<u32> {
        let mut names = Names::default();
        for (message, token, used) in uses {
            let place = Place {
                message: *message,
                part: 0,
                start: 0,
                len: u32::try_from(token.len()).unwrap(),
            };
            names.count(token, place, *used);
        }
        let best = names.best(now, 10);
        best.iter().map(|name| name.order).collect()
    }

    #[test]
    fn uses_count_and_fade() {
        use Use::{Argument, Said, Shown};
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
            names(&[(1, "one_name", Argument), (400, "two_name", Shown)], 400),
            [2, 1]
        );
        assert_eq!(names(&[(1, "renderer", Said)], 2), [0_u32; 0]);
        assert_eq!(
            names(&[(1, "renderer", Said), (2, "renderer", Said)], 2),
            [1]
        );
    }

    #[test]
    fn a_crowd_is_thinned_alike() {
        let mut names = Names::default();
        for message in 0..30_000_u32 {
            let token = format!("name_{message}");
            let place = Place {
                message,
                part: 0,
                start: 0,
                len: 10,
            };
            names.count(&token, place, Use::Argument);
        }
        assert!(names.all.len() <= CROWD);
        assert_eq!(names.best(30_000, 1)[0].place.message, 29_999);
    }
}
