//! One byte for what a posting says: how often the stem is there, how often in the head, how long the text is.
//!
//! Counts, not scores: how they are weighed is decided when a question is asked. Texts of up to
//! [`SHORT_STEMS`] stems are all head: 16 lengths, 4 counts. Longer ones have 8 lengths, 6 counts and 4 counts in
//! the head.

use crate::score::{IDF_MIN, Weights};
use crate::words::HEAD_STEMS;

/// Longest text that is all head, stems.
pub const SHORT_STEMS: u32 = HEAD_STEMS as u32;

/// Longest length of each class of short texts, stems.
const SHORT_TO: [u32; 16] = [
    1,
    2,
    3,
    4,
    5,
    6,
    7,
    8,
    10,
    12,
    15,
    18,
    22,
    27,
    33,
    SHORT_STEMS,
];
/// Longest length of each class of long texts, stems, and the length that stands for it.
const LONG_TO: [u32; 8] = [52, 68, 90, 120, 170, 280, 600, u32::MAX];
const LONG_LEN: [f32; 8] = [46.0, 60.0, 78.0, 104.0, 143.0, 218.0, 410.0, 1_000.0];
/// Highest count of each class, and the count that stands for it.
const COUNT_TO: [u32; 6] = [1, 2, 3, 4, 7, u32::MAX];
const COUNT: [f32; 6] = [1.0, 2.0, 3.0, 4.0, 5.4, 10.0];

const SHORT_COUNTS: u32 = 4;
const HEAD_COUNTS: u32 = 4;
/// The first code of a long text.
const LONG_FROM: u32 = 64;

/// The code of a stem that is `count` times in a text of `len` stems, `in_head` times in its head.
pub fn encode(len: u32, count: u32, in_head: u32) -> u8 {
    let class = |to: &[u32], value: u32| {
        let class = to.partition_point(|most| *most < value);
        u32::try_from(class).unwrap_or(0)
    };
    let code = if len <= SHORT_STEMS {
        class(&SHORT_TO, len.max(1)) * SHORT_COUNTS + count.clamp(1, SHORT_COUNTS) - 1
    } else {
        let counts = class(&LONG_TO, len) * 6 + class(&COUNT_TO, count.max(1));
        LONG_FROM + counts * HEAD_COUNTS + in_head.min(HEAD_COUNTS - 1)
    };
    u8::try_from(code).unwrap_or(u8::MAX)
}

/// Whether the stem is in the head.
pub fn is_in_head(code: u8) -> bool {
    u32::from(code) < LONG_FROM || !u32::from(code).is_multiple_of(HEAD_COUNTS)
}

/// What a code stands for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Meaning {
    /// The length of the text, stems.
    pub len: f32,
    /// How often the stem is there.
    pub count: f32,
    /// How often in the head.
    pub in_head: f32,
    /// The length of the head, if the code knows it.
    pub head_len: Option<f32>,
}

/// What a code stands for.
pub fn decode(code: u8) -> Meaning {
    let code = u32::from(code);
    let at = |table: &[f32], n: u32| table.get(n as usize).copied().unwrap_or(1.0);
    if code < LONG_FROM {
        let class = (code / SHORT_COUNTS) as usize;
        let to = SHORT_TO.get(class).copied().unwrap_or(SHORT_STEMS);
        let from = class
            .checked_sub(1)
            .and_then(|before| SHORT_TO.get(before))
            .map_or(1, |before| before + 1);
        let len = (from + to) as f32 / 2.0;
        let count = (code % SHORT_COUNTS + 1) as f32;
        return Meaning {
            len,
            count,
            in_head: count,
            head_len: Some(len),
        };
    }
    let code = code - LONG_FROM;
    let counts = code / HEAD_COUNTS;
    Meaning {
        len: at(&LONG_LEN, counts / 6),
        count: at(&COUNT, counts % 6),
        in_head: (code % HEAD_COUNTS) as f32,
        head_len: None,
    }
}

/// What codes say in texts of these weights, worked out once for all stems of a question.
#[derive(Debug, Clone)]
pub struct Codes {
    weights: Weights,
    /// How much of what a stem says each code has, for being in the text and for being in its head.
    full: [f32; 256],
    head: [f32; 256],
}

impl Codes {
    /// What they say with these weights.
    pub fn of(weights: Weights) -> Self {
        let (mut full, mut head) = ([0.0; 256], [0.0; 256]);
        for ((full, head), code) in full.iter_mut().zip(&mut head).zip(0_u8..=u8::MAX) {
            let meaning = decode(code);
            *full = weights.share(meaning.count, meaning.len);
            *head = weights.head_share(meaning.in_head, meaning.head_len);
        }
        Self {
            weights,
            full,
            head,
        }
    }

    /// What each code adds to a text's score, for a stem that so many texts have, and so many in their heads.
    pub fn table(&self, df: u64, head_df: u64) -> [f32; 256] {
        let (full, head) = (self.weights.says(df), self.weights.head_says(head_df));
        let mut table = [0.0; 256];
        for ((value, a), b) in table.iter_mut().zip(&self.full).zip(&self.head) {
            *value = full * a + head * b;
        }
        table
    }

    /// Whether a stem that so many texts have, and so many in their heads, says nothing of any: about half of
    /// them have it.
    pub fn say_nothing(&self, df: u64, head_df: u64) -> bool {
        self.weights.says(df) <= IDF_MIN as f32 && self.weights.says(head_df) <= IDF_MIN as f32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_says_what_was_encoded_or_near_it() {
        for len in 1..=2_000 {
            for count in 1..=12.min(len) {
                for in_head in 0..=count.min(5) {
                    let meaning = decode(encode(len, count, in_head));
                    let near = (meaning.len / len as f32).ln().abs();
                    assert!(near < 0.72, "{len} became {}", meaning.len);
                    if count <= 4 {
                        assert_eq!(meaning.count, count as f32);
                    }
                    if len > SHORT_STEMS && in_head < 4 {
                        assert_eq!(meaning.in_head, in_head as f32);
                        assert_eq!(is_in_head(encode(len, count, in_head)), in_head > 0);
                    }
                }
            }
        }
        assert!(is_in_head(encode(1, 1, 0)), "a short text is all head");
    }

    #[test]
    fn tables_say_what_each_code_does() {
        let weights = Weights::of(crate::score::Totals {
            texts: 1_000,
            len: 30_000,
            head_len: 12_000,
        });
        for (df, head_df) in [(0, 0), (1, 1), (7, 3), (900, 20), (1_000, 1_000)] {
            let table = Codes::of(weights).table(df, head_df);
            for (value, code) in table.iter().zip(0_u8..=u8::MAX) {
                let meaning = decode(code);
                let said = weights.full(df, meaning.count, meaning.len)
                    + weights.head(head_df, meaning.in_head, meaning.head_len);
                assert_eq!(*value, said, "{code} of {df}");
            }
        }
    }

    #[test]
    fn a_stem_of_half_of_the_texts_says_nothing_unless_few_have_it_in_their_heads() {
        let codes = Codes::of(Weights::of(crate::score::Totals {
            texts: 1_000,
            len: 30_000,
            head_len: 12_000,
        }));
        for (df, head_df, nothing) in [
            (500, 500, true),
            (499, 499, false),
            (1_000, 1_000, true),
            (1_000, 499, false),
        ] {
            assert_eq!(codes.say_nothing(df, head_df), nothing, "{df} {head_df}");
            let most = codes.table(df, head_df).into_iter().fold(0.0, f32::max);
            assert_eq!(most < 1e-5, nothing, "{df} {head_df}: {most}");
        }
    }

    #[test]
    fn all_codes_are_used() {
        let mut used = [false; 256];
        for len in 1..=1_000 {
            for count in 1..=10 {
                for in_head in 0..=4 {
                    used[usize::from(encode(len, count, in_head))] = true;
                }
            }
        }
        assert!(used.iter().all(|used| *used));
        assert_eq!(encode(u32::MAX, u32::MAX, u32::MAX), u8::MAX);
        assert_eq!(encode(0, 0, 0), 0);
    }
}
