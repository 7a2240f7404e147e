//! How counts become a score: BM25 over the text and, with a weight, over its head.
//!
//! `BM25 = Σ idf · tf (k1 + 1) / (tf + k1 (1 − b + b · len / avg))`, `idf = max(1e-6, ln((N − df + ½) / (df + ½)))`
//! (Robertson and Zaragoza, The Probabilistic Relevance Framework, 2009), with k1 1.2, b 1 and lengths that are
//! padded: short texts are then not preferred for being short.

/// Saturation of counts.
const K1: f32 = 1.2;
/// What is added to each length, stems.
const PAD: f32 = 5.0;
/// What the head counts beside the text.
const HEAD: f32 = 0.7;
/// The least that a stem says, however many texts have it.
pub(crate) const IDF_MIN: f64 = 1e-6;

/// Sums over all texts of a scope.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Totals {
    /// How many texts there are.
    pub texts: u64,
    /// Stems of all of them.
    pub len: u64,
    /// Stems of their heads.
    pub head_len: u64,
}

/// What texts of a scope are weighed with.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Weights {
    texts: u64,
    average: f32,
    head_average: f32,
}

impl Weights {
    /// The weights for texts with these totals.
    pub fn of(totals: Totals) -> Self {
        let mean = |sum: u64| sum as f32 / totals.texts.max(1) as f32;
        Self {
            texts: totals.texts,
            average: mean(totals.len) + PAD,
            head_average: mean(totals.head_len) + PAD,
        }
    }

    /// What a stem adds that `df` texts have, `count` times in a text of `len` stems.
    pub fn full(&self, df: u64, count: f32, len: f32) -> f32 {
        self.says(df) * self.share(count, len)
    }

    /// What a stem adds for being in a head; heads of unknown length count as average ones.
    pub fn head(&self, df: u64, count: f32, len: Option<f32>) -> f32 {
        self.head_says(df) * self.head_share(count, len)
    }

    /// What a stem says that `df` texts have: its idf.
    pub(crate) fn says(&self, df: u64) -> f32 {
        let (texts, df) = (self.texts as f64, df as f64);
        (((texts - df + 0.5).max(0.0) / (df + 0.5)).ln()).max(IDF_MIN) as f32
    }

    /// The same of a head.
    pub(crate) fn head_says(&self, df: u64) -> f32 {
        HEAD * self.says(df)
    }

    /// How much of that a text of `len` stems has that has it `count` times.
    pub(crate) fn share(&self, count: f32, len: f32) -> f32 {
        saturated(count, (len + PAD) / self.average)
    }

    /// The same of a head.
    pub(crate) fn head_share(&self, count: f32, len: Option<f32>) -> f32 {
        let length = len.map_or(1.0, |len| (len + PAD) / self.head_average);
        saturated(count, length)
    }
}

fn saturated(count: f32, length: f32) -> f32 {
    if count <= 0.0 {
        return 0.0;
    }
    count * (K1 + 1.0) / (count + K1 * length)
}

/// Scores that are added up side by side.
const LANES: usize = 16;

/// Mean and spread of scores, for scores of several arms to be added up.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spread {
    mean: f32,
    deviation: f32,
}

impl Spread {
    /// Over `scores` and as many zeros as there are up to `count`.
    pub fn of(scores: &[f32], count: u64) -> Self {
        let (mut sum, mut squares) = (0.0_f64, 0.0_f64);
        for chunk in scores.chunks(1_024) {
            // In single precision within a chunk, and side by side: fast, and exact enough.
            let (mut part, mut part_squares) = ([0.0_f32; LANES], [0.0_f32; LANES]);
            let (rows, rest) = chunk.as_chunks::<LANES>();
            for row in rows {
                for ((part, squares), score) in part.iter_mut().zip(&mut part_squares).zip(row) {
                    *part += score;
                    *squares += score * score;
                }
            }
            for score in rest {
                sum += f64::from(*score);
                squares += f64::from(score * score);
            }
            sum += f64::from(part.iter().sum::<f32>());
            squares += f64::from(part_squares.iter().sum::<f32>());
        }
        let count = count.max(1) as f64;
        let mean = sum / count;
        let variance = (squares / count - mean * mean).max(0.0);
        Self {
            mean: mean as f32,
            deviation: variance.sqrt() as f32,
        }
    }

    /// The score that is neither above nor below.
    pub fn mean(&self) -> f32 {
        self.mean
    }

    /// How many deviations a score is above the mean; 0 where all scores are the same.
    pub fn z(&self, score: f32) -> f32 {
        if self.deviation <= f32::EPSILON {
            return 0.0;
        }
        (score - self.mean) / self.deviation
    }
}

/// Scores that are looked at together for one that is good enough.
const CHUNK: usize = 64;

/// Scores that are looked at for where to begin.
const SAMPLE: usize = 1_024;
/// Of so many of them what is better is surely worth a look.
const SAMPLE_BEST: usize = 8;

/// The places of the `count` best scores above 0 for which `is_wanted`, best first, on a tie the earlier place.
pub fn best(
    scores: &[f32],
    count: usize,
    mut is_wanted: impl FnMut(usize) -> bool,
) -> Vec<(usize, f32)> {
    let from = good(scores, count);
    let found = best_above(scores, from, count, &mut is_wanted);
    if found.len() < count && from > 0.0 {
        return best_above(scores, 0.0, count, &mut is_wanted);
    }
    found
}

/// A score that about twice `count` of many are better than; 0 where that cannot be told from a few.
fn good(scores: &[f32], count: usize) -> f32 {
    let apart = scores.len() / SAMPLE;
    let rank = (2 * count / apart.max(1)).max(SAMPLE_BEST);
    if apart < SAMPLE_BEST || rank >= SAMPLE / 2 {
        return 0.0;
    }
    let mut sample: Vec<f32> = scores.iter().step_by(apart).copied().collect();
    let (_, good, _) = sample.select_nth_unstable_by(rank, |a, b| b.total_cmp(a));
    good.max(0.0)
}

/// The best of those above `least`.
fn best_above(
    scores: &[f32],
    mut least: f32,
    count: usize,
    is_wanted: &mut impl FnMut(usize) -> bool,
) -> Vec<(usize, f32)> {
    let mut best: Vec<(usize, f32)> = Vec::with_capacity(2 * count + 1);
    let order = |a: &(usize, f32), b: &(usize, f32)| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0));
    for (n, chunk) in scores.chunks(CHUNK).enumerate() {
        // Nearly all chunks have nothing good enough, and counting takes no branches.
        if chunk.iter().filter(|score| **score > least).count() == 0 {
            continue;
        }
        for (place, &score) in (n * CHUNK..).zip(chunk) {
            if score > least && is_wanted(place) {
                best.push((place, score));
                if best.len() >= 2 * count.max(1) {
                    best.select_nth_unstable_by(count, order);
                    best.truncate(count);
                    let scores = best.iter().map(|(_, score)| *score);
                    least = scores.reduce(f32::min).unwrap_or(f32::INFINITY);
                }
            }
        }
    }
    best.sort_unstable_by(order);
    best.truncate(count);
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rare_stems_count_more_and_long_texts_less() {
        let weights = Weights::of(Totals {
            texts: 1_000,
            len: 20_000,
            head_len: 10_000,
        });
        assert!(weights.full(1, 1.0, 20.0) > weights.full(10, 1.0, 20.0));
        assert!(weights.full(10, 1.0, 20.0) > weights.full(10, 1.0, 40.0));
        assert!(weights.full(10, 2.0, 20.0) > weights.full(10, 1.0, 20.0));
        assert!(weights.full(1_000, 1.0, 20.0) > 0.0, "never nothing");
        assert_eq!(weights.head(10, 0.0, None), 0.0);
        // By hand: ln(999.5 / 1.5) · 2.2 / (1 + 1.2 · 25 / 25).
        let expected = (999.5_f64 / 1.5).ln() as f32;
        assert!((weights.full(1, 1.0, 20.0) - expected).abs() < 1e-4);
    }

    #[test]
    fn the_best_are_found_and_ties_go_to_the_earlier() {
        let scores = [0.0, 2.0, 1.0, 2.0, 3.0, 0.5, 2.0];
        assert_eq!(best(&scores, 3, |_| true), [(4, 3.0), (1, 2.0), (3, 2.0)]);
        assert_eq!(best(&scores, 2, |place| place != 4), [(1, 2.0), (3, 2.0)]);
        assert_eq!(best(&scores, 0, |_| true), []);
        assert_eq!(best(&scores, 100, |_| true).len(), 6);
        let many: Vec<f32> = (0..10_000).map(|n| ((n * 7_919) % 1_000) as f32).collect();
        let mut all: Vec<(usize, f32)> = many.iter().copied().enumerate().collect();
        all.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        assert_eq!(best(&many, 50, |_| true), all[..50]);
        // Where few of the best are wanted, one looks further.
        let odd: Vec<(usize, f32)> = all.iter().copied().filter(|one| one.0 % 97 == 5).collect();
        assert_eq!(best(&many, 40, |place| place % 97 == 5), odd[..40]);
        let same = vec![1.0; 20_000];
        assert_eq!(best(&same, 2, |_| true), [(0, 1.0), (1, 1.0)]);
    }

    #[test]
    fn a_spread_counts_the_zeros() {
        let spread = Spread::of(&[4.0, 4.0], 4);
        assert_eq!((spread.z(2.0), spread.z(4.0)), (0.0, 1.0));
        assert_eq!(Spread::of(&[], 0).z(5.0), 0.0);
        assert_eq!(Spread::of(&[3.0, 3.0], 2).z(3.0), 0.0);
    }
}
