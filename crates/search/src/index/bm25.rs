//! Scoring: BM25 over the text and, with a weight, over its head.
//!
//! `BM25 = Σ idf · tf (k1 + 1) / (tf + k1 (1 − b + b · len / avg))`, `idf = max(1e-6, ln((N − df + ½) / (df + ½)))`
//! (Robertson and Zaragoza, The Probabilistic Relevance Framework, 2009), with k1 1.2, b 1 and padded lengths, so
//! that very short texts are not preferred.

/// BM25 parameter k1: saturation of the term frequency.
const K1: f32 = 1.2;
/// Padding of each length, stems.
const PAD: f32 = 5.0;
/// Weight of the head relative to the text.
const HEAD: f32 = 0.7;
/// Lower bound of the inverse document frequency.
pub(crate) const IDF_MIN: f64 = 1e-6;

/// Totals over all texts of an index.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Totals {
    /// Number of texts.
    pub texts: u64,
    /// Number of stems in all texts.
    pub len: u64,
    /// Number of stems in all heads.
    pub head_len: u64,
}

/// BM25 weights of an index.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Weights {
    texts: u64,
    average: f32,
    head_average: f32,
}

impl Weights {
    /// Computes the weights for these totals.
    pub fn of(totals: Totals) -> Self {
        let mean = |sum: u64| sum as f32 / totals.texts.max(1) as f32;
        Self {
            texts: totals.texts,
            average: mean(totals.len) + PAD,
            head_average: mean(totals.head_len) + PAD,
        }
    }

    /// Returns the score of a stem with document frequency `df` that occurs `count` times in a text of `len` stems.
    pub fn text_score(&self, df: u64, count: f32, len: f32) -> f32 {
        self.idf(df) * self.saturated_tf(count, len)
    }

    /// Returns the score of a stem in a head; a head of unknown length counts as average.
    pub fn head_score(&self, df: u64, count: f32, len: Option<f32>) -> f32 {
        self.head_idf(df) * self.saturated_head_tf(count, len)
    }

    /// Returns the inverse document frequency.
    pub(crate) fn idf(&self, df: u64) -> f32 {
        let (texts, df) = (self.texts as f64, df as f64);
        (((texts - df + 0.5).max(0.0) / (df + 0.5)).ln()).max(IDF_MIN) as f32
    }

    /// Returns the weighted inverse document frequency for heads.
    pub(crate) fn head_idf(&self, df: u64) -> f32 {
        HEAD * self.idf(df)
    }

    /// Returns the saturated term frequency in a text of `len` stems.
    pub(crate) fn saturated_tf(&self, count: f32, len: f32) -> f32 {
        saturated(count, (len + PAD) / self.average)
    }

    /// Returns the saturated term frequency in a head.
    pub(crate) fn saturated_head_tf(&self, count: f32, len: Option<f32>) -> f32 {
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

/// Number of sums that are computed in parallel (SIMD lanes).
const LANES: usize = 16;

/// Mean and standard deviation of scores, by which the scores of both arms are normalised.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ScoreStats {
    mean: f32,
    deviation: f32,
}

impl ScoreStats {
    /// Computes the statistics of `scores`, padded with zeros up to `count`.
    pub fn of(scores: &[f32], count: u64) -> Self {
        let (mut sum, mut squares) = (0.0_f64, 0.0_f64);
        for chunk in scores.chunks(1_024) {
            // Single precision within a chunk, in parallel lanes: fast and exact enough.
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

    /// Returns the mean score.
    pub fn mean(&self) -> f32 {
        self.mean
    }

    /// Returns the z-score: standard deviations above the mean; 0 if all scores are the same.
    pub fn z(&self, score: f32) -> f32 {
        if self.deviation <= f32::EPSILON {
            return 0.0;
        }
        (score - self.mean) / self.deviation
    }
}

/// Number of scores that are compared with the threshold together.
const CHUNK: usize = 64;

/// Number of scores in the sample for the threshold.
const SAMPLE: usize = 1_024;
/// Minimum rank in the sample that gives a reliable threshold.
const SAMPLE_BEST: usize = 8;

/// Returns the positions of the `count` best scores above 0 for which `is_wanted` returns true, best first; ties in
/// order of position.
pub fn top_scores(
    scores: &[f32],
    count: usize,
    mut is_wanted: impl FnMut(usize) -> bool,
) -> Vec<(usize, f32)> {
    let from = sampled_threshold(scores, count);
    let found = best_above(scores, from, count, &mut is_wanted);
    if found.len() < count && from > 0.0 {
        return best_above(scores, 0.0, count, &mut is_wanted);
    }
    found
}

/// Estimates a threshold that about twice `count` scores exceed; 0 if the sample is too small.
fn sampled_threshold(scores: &[f32], count: usize) -> f32 {
    let apart = scores.len() / SAMPLE;
    let rank = (2 * count / apart.max(1)).max(SAMPLE_BEST);
    if apart < SAMPLE_BEST || rank >= SAMPLE / 2 {
        return 0.0;
    }
    let mut sample: Vec<f32> = scores.iter().step_by(apart).copied().collect();
    let (_, good, _) = sample.select_nth_unstable_by(rank, |a, b| b.total_cmp(a));
    good.max(0.0)
}

/// Returns the best scores above `least`.
fn best_above(
    scores: &[f32],
    mut least: f32,
    count: usize,
    is_wanted: &mut impl FnMut(usize) -> bool,
) -> Vec<(usize, f32)> {
    let mut best: Vec<(usize, f32)> = Vec::with_capacity(2 * count + 1);
    let order = |a: &(usize, f32), b: &(usize, f32)| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0));
    for (n, chunk) in scores.chunks(CHUNK).enumerate() {
        // Nearly all chunks have no score above the threshold, and counting is branch-free.
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
    fn rare_stem_scores_higher_and_long_text_lower() {
        let weights = Weights::of(Totals {
            texts: 1_000,
            len: 20_000,
            head_len: 10_000,
        });
        assert!(weights.text_score(1, 1.0, 20.0) > weights.text_score(10, 1.0, 20.0));
        assert!(weights.text_score(10, 1.0, 20.0) > weights.text_score(10, 1.0, 40.0));
        assert!(weights.text_score(10, 2.0, 20.0) > weights.text_score(10, 1.0, 20.0));
        assert!(weights.text_score(1_000, 1.0, 20.0) > 0.0, "never nothing");
        assert_eq!(weights.head_score(10, 0.0, None), 0.0);
        // By hand: ln(999.5 / 1.5) · 2.2 / (1 + 1.2 · 25 / 25).
        let expected = (999.5_f64 / 1.5).ln() as f32;
        assert!((weights.text_score(1, 1.0, 20.0) - expected).abs() < 1e-4);
    }

    #[test]
    fn top_scores_are_found_with_ties_in_order() {
        let scores = [0.0, 2.0, 1.0, 2.0, 3.0, 0.5, 2.0];
        assert_eq!(
            top_scores(&scores, 3, |_| true),
            [(4, 3.0), (1, 2.0), (3, 2.0)]
        );
        assert_eq!(
            top_scores(&scores, 2, |place| place != 4),
            [(1, 2.0), (3, 2.0)]
        );
        assert_eq!(top_scores(&scores, 0, |_| true), []);
        assert_eq!(top_scores(&scores, 100, |_| true).len(), 6);
        let many: Vec<f32> = (0..10_000).map(|n| ((n * 7_919) % 1_000) as f32).collect();
        let mut all: Vec<(usize, f32)> = many.iter().copied().enumerate().collect();
        all.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        assert_eq!(top_scores(&many, 50, |_| true), all[..50]);
        // With a selective filter the threshold has to be lowered.
        let odd: Vec<(usize, f32)> = all.iter().copied().filter(|one| one.0 % 97 == 5).collect();
        assert_eq!(top_scores(&many, 40, |place| place % 97 == 5), odd[..40]);
        let same = vec![1.0; 20_000];
        assert_eq!(top_scores(&same, 2, |_| true), [(0, 1.0), (1, 1.0)]);
    }

    #[test]
    fn statistics_include_zeros() {
        let spread = ScoreStats::of(&[4.0, 4.0], 4);
        assert_eq!((spread.z(2.0), spread.z(4.0)), (0.0, 1.0));
        assert_eq!(ScoreStats::of(&[], 0).z(5.0), 0.0);
        assert_eq!(ScoreStats::of(&[3.0, 3.0], 2).z(3.0), 0.0);
    }
}
