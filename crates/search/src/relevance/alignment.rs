//! Soft alignment: for each word piece of a question the most similar piece of a record, by the embedding table.
//!
//! It finds `mail` for `message` and `delete` for `remove`, which equal stems do not, and is more precise than the
//! cosine of two sums.

use super::rarity::{is_word_piece, piece_nats};
use crate::index::word_pieces::embedding_table::{self, DIMS};
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

    /// Returns the information of this text that another covers, in nats and as a share.
    pub(super) fn align(&self, other: &Self) -> (f64, f64) {
        let covered = self.pieces.iter().map(|piece| {
            let similar = other
                .pieces
                .iter()
                .map(|near| f64::from(dot(piece.row, near.row)) / (piece.length * near.length));
            let most = similar.fold(0.0, f64::max);
            let share = ((most - SIMILAR_MIN) / (1.0 - SIMILAR_MIN)).clamp(0.0, 1.0);
            share * piece.nats * piece.occurrences
        });
        let covered: f64 = covered.sum();
        let share = if self.nats > 0.0 {
            covered / self.nats
        } else {
            0.0
        };
        (covered, share)
    }
}

/// Returns the product of two rows, whose bytes are signed.
fn dot(one: &[u8; DIMS], other: &[u8; DIMS]) -> i32 {
    let pairs = one.iter().zip(other);
    pairs
        .map(|(a, b)| i32::from(a.cast_signed()) * i32::from(b.cast_signed()))
        .sum()
}
