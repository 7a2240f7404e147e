//! Weighted sums of rows.

use super::{DIMS, Vector};
use crate::pieces::{PIECES, UNKNOWN, table};
use fearless_simd::{Level, Simd, dispatch};

/// How strongly common pieces are held down: `a` of the weight a / (a + p).
const COMMON: f64 = 3e-4;
/// Pieces before this one are marks and single letters; from here on they stand in the order of how often they occur.
const ORDERED_FROM: usize = 1_994;

/// What all pieces' frequencies add up to, before they are normalised.
const FREQUENCIES: f64 = {
    let mut sum = 0.0;
    let mut piece = 0;
    while piece < PIECES {
        sum += 1.0 / rank(piece);
        piece += 1;
    }
    sum
};

/// The place in the order of frequency; the frequency goes with its inverse.
const fn rank(piece: usize) -> f64 {
    let place = piece.saturating_sub(ORDERED_FROM);
    if place < 2 { 2.0 } else { place as f64 }
}

/// What a piece weighs in a sum, 0 to 1: the rarer, the more.
fn weight(piece: u16) -> f32 {
    let frequency = 1.0 / (rank(piece.into()) * FREQUENCIES);
    (COMMON / (COMMON + frequency)) as f32
}

/// A vector that is being made.
#[derive(Debug, Clone)]
pub(super) struct Sum([f32; DIMS]);

impl Default for Sum {
    fn default() -> Self {
        Self([0.0; DIMS])
    }
}

impl Sum {
    /// Adds the row of each piece.
    pub(super) fn add_all(&mut self, pieces: &[u16]) {
        self.add_weighted(pieces.iter().map(|piece| (*piece, 1.0)));
    }

    /// Adds the row of each piece, with a weight besides its own. The order decides the last bit of the sum; the
    /// processor does not.
    pub(super) fn add_weighted(&mut self, pieces: impl Iterator<Item = (u16, f32)>) {
        dispatch!(Level::new(), simd => add_rows(simd, &mut self.0, pieces));
    }

    /// Adds another one.
    pub(super) fn add(&mut self, other: &Self) {
        for (number, more) in self.0.iter_mut().zip(&other.0) {
            *number += more;
        }
    }

    /// The same direction with the length 1; none if there is no direction.
    pub(super) fn unit(&self) -> Option<Self> {
        let length = self
            .0
            .iter()
            .map(|number| number * number)
            .sum::<f32>()
            .sqrt();
        (length > f32::EPSILON).then(|| Self(self.0.map(|number| number / length)))
    }

    /// Rounded to 8 bits.
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
        // An unknown piece says nothing: two texts are not alike because neither can be read.
        let Some((scale, row)) = table::row(piece).filter(|_| piece != UNKNOWN) else {
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
    use crate::pieces::pieces;
    use std::path::Path;

    #[test]
    fn rare_pieces_weigh_more() {
        assert!((FREQUENCIES - 1_007.8).abs() < 1.0, "{FREQUENCIES}");
        let of = |word| weight(pieces(word, 1)[0]);
        assert!(of("the") < of("parser") && of("parser") < 1.0);
        assert!(of("the") > 0.3);
        let common = COMMON / (COMMON + 0.5 / FREQUENCIES);
        assert!((f64::from(weight(0)) - common).abs() < 1e-6);
    }

    #[test]
    fn no_direction_has_no_length() {
        assert!(Sum::default().unit().is_none());
        let mut sum = Sum::default();
        sum.add_all(&[UNKNOWN, u16::MAX]);
        assert!(sum.unit().is_none());
    }

    /// Eight bits are enough: no cosine of two real texts moves by a hundredth.
    #[test]
    fn rounding_hardly_moves_a_cosine() {
        let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/pieces.jsonl");
        let lines = std::fs::read_to_string(fixture).unwrap();
        let units: Vec<Sum> = lines
            .lines()
            .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap())
            .filter_map(|line| {
                let mut sum = Sum::default();
                sum.add_all(&pieces(line["text"].as_str().unwrap(), 192));
                sum.unit()
            })
            .collect();
        assert!(units.len() > 150);
        let rounded: Vec<Vector> = units.iter().map(Sum::quantised).collect();
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
