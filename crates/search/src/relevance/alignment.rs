//! Soft alignment: for each word piece of a question the most similar piece of a record, by the embedding table.
//!
//! It finds `mail` for `message` and `delete` for `remove`, which equal stems do not, and is more precise than the
//! cosine of two sums.

use super::rarity::{is_word_piece, piece_nats};
use crate::index::word_pieces::embedding_table::{self, DIMS};
use fearless_simd::{Level, Simd, dispatch};
use std::collections::HashMap;

/// Similarity below which two pieces have nothing in common.
const SIMILAR_MIN: f64 = 0.35;

/// Pieces of a text with their rows and lengths.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct AlignedPieces {
    /// Distinct pieces with their number of occurrences.
    pieces: Vec<AlignedPiece>,
    /// Sum of the information of all occurrences, nats.
    nats: f64,
}

#[derive(Debug, Clone, PartialEq)]
struct AlignedPiece {
    row: &'static [u8; DIMS],
    length: f64,
    nats: f64,
    occurrences: f64,
}

impl AlignedPieces {
    /// Prepares the pieces of a text; marks and single letters are left out.
    pub(super) fn of(pieces: &[u16]) -> Self {
        let mut places: HashMap<u16, usize> = HashMap::new();
        let mut distinct: Vec<AlignedPiece> = Vec::new();
        let mut nats = 0.0;
        for piece in pieces.iter().copied().filter(|piece| is_word_piece(*piece)) {
            nats += piece_nats(piece);
            if let Some(known) = places.get(&piece).and_then(|at| distinct.get_mut(*at)) {
                known.occurrences += 1.0;
            } else if let Some((_, row)) = embedding_table::row(piece) {
                places.insert(piece, distinct.len());
                distinct.push(AlignedPiece {
                    row,
                    length: f64::from(dot(row, row)).sqrt(),
                    nats: piece_nats(piece),
                    occurrences: 1.0,
                });
            }
        }
        Self {
            pieces: distinct,
            nats,
        }
    }

    /// Compares two texts in both directions.
    pub(super) fn align(&self, other: &Self) -> Alignment {
        let mut nearest = vec![0.0; self.pieces.len()];
        let mut nearest_of_other = vec![0.0; other.pieces.len()];
        dispatch!(Level::new(), simd => nearest_pieces(
            simd,
            &self.pieces,
            &other.pieces,
            &mut nearest,
            &mut nearest_of_other,
        ));
        let covered_nats = self.covered_nats(&nearest);
        Alignment {
            covered_nats,
            share: share_of(covered_nats, self.nats),
            share_of_other: share_of(other.covered_nats(&nearest_of_other), other.nats),
        }
    }

    /// Returns the information of this text that the nearest pieces of another one cover, nats.
    fn covered_nats(&self, nearest: &[f64]) -> f64 {
        let covered = self.pieces.iter().zip(nearest).map(|(piece, most)| {
            let share = ((most - SIMILAR_MIN) / (1.0 - SIMILAR_MIN)).clamp(0.0, 1.0);
            share * piece.nats * piece.occurrences
        });
        covered.sum()
    }
}

fn share_of(covered: f64, nats: f64) -> f64 {
    if nats > 0.0 { covered / nats } else { 0.0 }
}

/// Comparison of two texts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Alignment {
    /// Information of the first text that the other one covers, nats.
    pub(super) covered_nats: f64,
    /// The same as a share of the first text.
    pub(super) share: f64,
    /// Share of the other text that the first one covers.
    pub(super) share_of_other: f64,
}

/// Sets the highest similarity of each piece of `one` to any of `other`, and the reverse. Compiled for each SIMD width.
#[inline(always)]
fn nearest_pieces<S: Simd>(
    _: S,
    one: &[AlignedPiece],
    other: &[AlignedPiece],
    nearest: &mut [f64],
    nearest_of_other: &mut [f64],
) {
    for (piece, most) in one.iter().zip(nearest) {
        for (near, most_of_other) in other.iter().zip(nearest_of_other.iter_mut()) {
            let similar = f64::from(dot(piece.row, near.row)) / (piece.length * near.length);
            *most = most.max(similar);
            *most_of_other = most_of_other.max(similar);
        }
    }
}

/// Returns the product of two rows, whose bytes are signed; inlined, so that it is compiled for the SIMD width of its
/// caller.
#[inline(always)]
fn dot(one: &[u8; DIMS], other: &[u8; DIMS]) -> i32 {
    let pairs = one.iter().zip(other);
    pairs
        .map(|(a, b)| i32::from(a.cast_signed()) * i32::from(b.cast_signed()))
        .sum()
}
