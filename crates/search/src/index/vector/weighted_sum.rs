//! Weighted sums of embedding rows.

use super::{DIMS, Vector};
use crate::index::word_pieces::{PIECES, UNKNOWN, embedding_table};
use fearless_simd::{Level, Simd, dispatch};

/// Smoothing of frequent pieces: `a` of the weight a / (a + p) (smooth inverse frequency).
const COMMON: f64 = 3e-4;
/// First piece of the vocabulary that is ordered by frequency; the ones before are marks and single letters.
const ORDERED_FROM: usize = 1_994;

/// Sum of the frequencies of all pieces, before normalisation.
const FREQUENCIES: f64 = {
    let mut sum = 0.0;
    let mut piece = 0;
    while piece < PIECES {
        sum += 1.0 / rank(piece);
        piece += 1;
    }
    sum
};

/// Returns the rank by frequency; by Zipf's law the frequency is proportional to its inverse.
const fn rank(piece: usize) -> f64 {
    let place = piece.saturating_sub(ORDERED_FROM);
    if place < 2 { 2.0 } else { place as f64 }
}

/// Returns the weight of a piece, 0 to 1: the rarer, the higher.
fn weight(piece: u16) -> f32 {
    let frequency = 1.0 / (rank(piece.into()) * FREQUENCIES);
    (COMMON / (COMMON + frequency)) as f32
}

/// Vector that is being summed.
#[derive(Debug, Clone)]
pub(super) struct WeightedSum([f32; DIMS]);

impl Default for WeightedSum {
    fn default() -> Self {
        Self([0.0; DIMS])
    }
}

impl WeightedSum {
    /// Adds the row of each piece.
    pub(super) fn add_all(&mut self, pieces: &[u16]) {
        self.add_weighted(pieces.iter().map(|piece| (*piece, 1.0)));
    }

    /// Adds the row of each piece, multiplied by an extra weight. The result depends on the order of the pieces in
    /// its last bit, but not on the processor.
    pub(super) fn add_weighted(&mut self, pieces: impl Iterator<Item = (u16, f32)>) {
        dispatch!(Level::new(), simd => add_rows(simd, &mut self.0, pieces));
    }

    /// Adds another sum.
    pub(super) fn add(&mut self, other: &Self) {
        for (number, more) in self.0.iter_mut().zip(&other.0) {
            *number += more;
        }
    }

    /// Scales the sum to length 1; `None` if it has no direction.
    pub(super) fn unit(&self) -> Option<Self> {
        let length = self
            .0
            .iter()
            .map(|number| number * number)
            .sum::<f32>()
            .sqrt();
        (length > f32::EPSILON).then(|| Self(self.0.map(|number| number / length)))
    }

    /// Rounds to 8 bits.
    pub(super) fn quantised(&self) -> Vector {
        let largest = self
            .0
            .iter()
            .fold(0.0_f32, |most, number| most.max(number.abs()));
        let scale = largest / 127.0;
        Vector {
            scale,
            values: self.0.map(|number| (number / scale).round() as i8),
        }
    }
}

#[inline(always)]
fn add_rows<S: Simd>(_: S, sum: &mut [f32; DIMS], pieces: impl Iterator<Item = (u16, f32)>) {
    for (piece, more) in pieces {
        // Unknown pieces are ignored, so that two unreadable texts are not similar.
        let Some((scale, row)) = embedding_table::row(piece).filter(|_| piece != UNKNOWN) else {
            continue;
        };
        let factor = weight(piece) * more * scale;
        for (number, value) in sum.iter_mut().zip(row) {
            *number += factor * f32::from(value.cast_signed());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index::word_pieces::pieces;
    use std::path::Path;

    #[test]
    fn weight_grows_with_rarity() {
        assert!((FREQUENCIES - 1_007.8).abs() < 1.0, "{FREQUENCIES}");
        let of = |word| weight(pieces(word, 1)[0]);
        assert!(of("the") < of("parser") && of("parser") < 1.0);
        assert!(of("the") > 0.3);
        let common = COMMON / (COMMON + 0.5 / FREQUENCIES);
        assert!((f64::from(weight(0)) - common).abs() < 1e-6);
    }

    #[test]
    fn sum_without_direction_has_no_unit_vector() {
        assert!(WeightedSum::default().unit().is_none());
        let mut sum = WeightedSum::default();
        sum.add_all(&[UNKNOWN, u16::MAX]);
        assert!(sum.unit().is_none());
    }

    /// Rounding to 8 bits changes no cosine of two real texts by 0.01.
    #[test]
    fn rounding_changes_cosine_little() {
        let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/pieces.jsonl");
        let lines = std::fs::read_to_string(fixture).unwrap();
        let units: Vec<WeightedSum> = lines
            .lines()
            .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap())
            .filter_map(|line| {
                let mut sum = WeightedSum::default();
                sum.add_all(&pieces(line["text"].as_str().unwrap(), 192));
                sum.unit()
            })
            .collect();
        assert!(units.len() > 150);
        let rounded: Vec<Vector> = units.iter().map(WeightedSum::quantised).collect();
        let mut worst = 0.0_f32;
        for (a, left) in units.iter().zip(&rounded) {
            for (b, right) in units.iter().zip(&rounded) {
                let exact: f32 = a.0.iter().zip(&b.0).map(|(a, b)| a * b).sum();
                worst = worst.max((left.cosine(right) - exact).abs());
            }
        }
        assert!(worst < 0.01, "{worst}");
    }
}
