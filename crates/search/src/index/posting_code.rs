//! Posting codes: quantise term frequency, head frequency and text length into one byte.
//!
//! A code has counts and not scores, so that the weights can be chosen at query time. A text of up to [`SHORT_STEMS`]
//! stems is entirely head: 16 lengths, 4 counts. A longer one has 8 lengths, 6 counts and 4 head counts.

use crate::index::bm25::{IDF_MIN, Weights};
use crate::index::tokenizer::HEAD_STEMS;

/// Maximum length of a text that is entirely head, stems.
pub const SHORT_STEMS: u32 = HEAD_STEMS as u32;

/// Upper bound of each length class of short texts, stems.
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
/// Upper bound of each length class of long texts, stems, and the length that represents it.
const LONG_TO: [u32; 8] = [52, 68, 90, 120, 170, 280, 600, u32::MAX];
const LONG_LEN: [f32; 8] = [46.0, 60.0, 78.0, 104.0, 143.0, 218.0, 410.0, 1_000.0];
/// Upper bound of each count class, and the count that represents it.
const COUNT_TO: [u32; 6] = [1, 2, 3, 4, 7, u32::MAX];
const COUNT: [f32; 6] = [1.0, 2.0, 3.0, 4.0, 5.4, 10.0];

const SHORT_COUNTS: u32 = 4;
const HEAD_COUNTS: u32 = 4;
/// First code of a long text.
const LONG_FROM: u32 = 64;

/// Encodes a stem that occurs `count` times in a text of `len` stems, `in_head` times in its head.
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

/// Returns true if the stem is in the head.
pub fn is_in_head(code: u8) -> bool {
    u32::from(code) < LONG_FROM || !u32::from(code).is_multiple_of(HEAD_COUNTS)
}

/// Decoded posting code.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DecodedPosting {
    /// Length of the text, stems.
    pub len: f32,
    /// Term frequency.
    pub count: f32,
    /// Term frequency in the head.
    pub in_head: f32,
    /// Length of the head, stems, if the code determines it.
    pub head_len: Option<f32>,
}

/// Decodes a posting code.
pub fn decode(code: u8) -> DecodedPosting {
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
        return DecodedPosting {
            len,
            count,
            in_head: count,
            head_len: Some(len),
        };
    }
    let code = code - LONG_FROM;
    let counts = code / HEAD_COUNTS;
    DecodedPosting {
        len: at(&LONG_LEN, counts / 6),
        count: at(&COUNT, counts % 6),
        in_head: (code % HEAD_COUNTS) as f32,
        head_len: None,
    }
}

/// Score contributions of all posting codes for given weights, computed once for all stems of a query.
#[derive(Debug, Clone)]
pub struct CodeTables {
    weights: Weights,
    /// Saturated term frequency of each code, in the text and in its head.
    full: [f32; 256],
    head: [f32; 256],
}

impl CodeTables {
    /// Computes the contributions for these weights.
    pub fn of(weights: Weights) -> Self {
        let (mut full, mut head) = ([0.0; 256], [0.0; 256]);
        for ((full, head), code) in full.iter_mut().zip(&mut head).zip(0_u8..=u8::MAX) {
            let decoded = decode(code);
            *full = weights.saturated_tf(decoded.count, decoded.len);
            *head = weights.saturated_head_tf(decoded.in_head, decoded.head_len);
        }
        Self {
            weights,
            full,
            head,
        }
    }

    /// Returns the score of each code for a stem with this document frequency and head document frequency.
    pub fn scores_by_code(&self, df: u64, head_df: u64) -> [f32; 256] {
        let (full, head) = (self.weights.idf(df), self.weights.head_idf(head_df));
        let mut table = [0.0; 256];
        for ((value, a), b) in table.iter_mut().zip(&self.full).zip(&self.head) {
            *value = full * a + head * b;
        }
        table
    }

    /// Returns true if a stem with these document frequencies contributes nothing to any score: it occurs in about
    /// half of the texts.
    pub fn is_uninformative(&self, df: u64, head_df: u64) -> bool {
        self.weights.idf(df) <= IDF_MIN as f32 && self.weights.idf(head_df) <= IDF_MIN as f32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decoded_posting_is_close_to_encoded() {
        for len in 1..=2_000 {
            for count in 1..=12.min(len) {
                for in_head in 0..=count.min(5) {
                    let decoded = decode(encode(len, count, in_head));
                    let near = (decoded.len / len as f32).ln().abs();
                    assert!(near < 0.72, "{len} became {}", decoded.len);
                    if count <= 4 {
                        assert_eq!(decoded.count, count as f32);
                    }
                    if len > SHORT_STEMS && in_head < 4 {
                        assert_eq!(decoded.in_head, in_head as f32);
                        assert_eq!(is_in_head(encode(len, count, in_head)), in_head > 0);
                    }
                }
            }
        }
        assert!(is_in_head(encode(1, 1, 0)), "a short text is all head");
    }

    #[test]
    fn tables_match_weights() {
        let weights = Weights::of(crate::index::bm25::Totals {
            texts: 1_000,
            len: 30_000,
            head_len: 12_000,
        });
        for (df, head_df) in [(0, 0), (1, 1), (7, 3), (900, 20), (1_000, 1_000)] {
            let table = CodeTables::of(weights).scores_by_code(df, head_df);
            for (value, code) in table.iter().zip(0_u8..=u8::MAX) {
                let decoded = decode(code);
                let decoded_score = weights.text_score(df, decoded.count, decoded.len)
                    + weights.head_score(head_df, decoded.in_head, decoded.head_len);
                assert_eq!(*value, decoded_score, "{code} of {df}");
            }
        }
    }

    #[test]
    fn stem_in_half_of_texts_is_uninformative_unless_rare_in_heads() {
        let codes = CodeTables::of(Weights::of(crate::index::bm25::Totals {
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
            assert_eq!(
                codes.is_uninformative(df, head_df),
                nothing,
                "{df} {head_df}"
            );
            let most = codes
                .scores_by_code(df, head_df)
                .into_iter()
                .fold(0.0, f32::max);
            assert_eq!(most < 1e-5, nothing, "{df} {head_df}: {most}");
        }
    }

    #[test]
    fn every_code_is_used() {
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
