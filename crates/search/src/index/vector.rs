//! Text vectors: 256 numbers of 8 bits and a scale.
//!
//! A vector is a weighted sum of the embedding rows of a text's word pieces, so computing it takes microseconds and
//! runs no model. Stored vectors do not depend on other texts and never become stale; the rarity of a piece is a
//! weight of the query only.

mod external_vector;
mod external_vector_set;
mod quantizer_stats;
mod query_vector;
mod sketch;
mod vector_set;
mod weighted_sum;

pub use external_vector::{ExternalQueryVector, pack_row, row_bytes, unpack_row};
pub use external_vector_set::ExternalVectorSet;
pub use query_vector::QueryVector;
pub use sketch::{SKETCHES, SKETCHES_BYTES, SketchBlock, SketchQuery, Sketches};
pub use vector_set::VectorSet;

use crate::index::word_pieces::{PieceSplit, UNKNOWN};
use heirloom_model::limits::{VECTOR_HEAD_PIECES_MAX, VECTOR_PIECES_MAX};
use weighted_sum::WeightedSum;

/// Dimensions of a vector.
pub const DIMS: usize = crate::index::word_pieces::embedding_table::DIMS;

/// Name of the embedding model: only vectors of one model can be compared. Another table, weighting or sum needs
/// another version.
pub const MODEL: &str = "all-minilm-l6-v2/static-256/1";

/// Size of a packed vector, bytes: the scale (32 bits, little-endian) and the numbers.
pub const ROW_BYTES: usize = 4 + DIMS;

/// Packed row of a text without a vector: its cosine with any query is 0.
pub const EMPTY_ROW: [u8; ROW_BYTES] = [0; ROW_BYTES];

/// Unit vector whose numbers are rounded to multiples of `scale`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Vector {
    /// Quantisation step.
    pub scale: f32,
    /// Numbers, -127 to 127.
    pub values: [i8; DIMS],
}

/// Vector of a document and its word pieces.
#[derive(Debug, Clone, PartialEq)]
pub struct EmbeddedDocument {
    /// Vector of the text.
    pub vector: Vector,
    /// Distinct word pieces, ascending; `PieceCounts` counts them.
    pub distinct: Vec<u16>,
}

impl EmbeddedDocument {
    /// Computes the vector from the first pieces of a text; those of its first line count twice. `None` for a text
    /// without a known piece.
    pub fn of(text: &str) -> Option<Self> {
        let PieceSplit { mut pieces, head } = PieceSplit::of(text, VECTOR_PIECES_MAX);
        let (first, rest) = pieces.split_at(head.min(VECTOR_HEAD_PIECES_MAX));
        let mut sum = WeightedSum::default();
        sum.add_all(first);
        let head = sum.unit();
        sum.add_all(rest);
        let mut whole = sum.unit()?;
        // A first line of unknown pieces has no direction.
        if let Some(head) = head {
            whole.add(&head);
        }
        let vector = whole.unit()?.quantised();
        pieces.sort_unstable();
        pieces.dedup();
        pieces.retain(|piece| *piece != UNKNOWN);
        Some(Self {
            vector,
            distinct: pieces,
        })
    }
}

impl Vector {
    /// Computes the vector of a document without its pieces.
    pub fn of_document(text: &str) -> Option<Self> {
        EmbeddedDocument::of(text).map(|document| document.vector)
    }

    /// Returns the cosine similarity, -1 to 1.
    pub fn cosine(&self, other: &Self) -> f32 {
        let products = self.values.iter().zip(&other.values);
        let dot: i32 = products.map(|(a, b)| i32::from(*a) * i32::from(*b)).sum();
        bounded(dot as f32 * self.scale * other.scale)
    }

    /// Packs the vector for storage.
    pub fn to_bytes(&self) -> [u8; ROW_BYTES] {
        let mut bytes = EMPTY_ROW;
        let (scale, values) = bytes.split_at_mut(4);
        scale.copy_from_slice(&self.scale.to_le_bytes());
        for (byte, value) in values.iter_mut().zip(&self.values) {
            *byte = value.cast_unsigned();
        }
        bytes
    }

    /// Unpacks the bytes of `to_bytes`; other bytes may give any scale.
    pub fn from_bytes(bytes: &[u8; ROW_BYTES]) -> Self {
        let (scale, values) = split(bytes);
        Self {
            scale,
            values: std::array::from_fn(|at| values.get(at).map_or(0, |byte| byte.cast_signed())),
        }
    }
}

/// Returns the scale of a packed row, and its numbers as bytes.
#[inline(always)]
fn split(row: &[u8; ROW_BYTES]) -> (f32, &[u8]) {
    let (scale, values) = row.split_at(4);
    let scale = scale.first_chunk().copied().unwrap_or_default();
    (f32::from_le_bytes(scale), values)
}

/// Clamps a cosine to -1 to 1 despite rounding or a damaged row. Never returns NaN, so that scores have an order.
#[inline(always)]
#[expect(clippy::manual_clamp, reason = "clamp lets NaN through")]
fn bounded(cosine: f32) -> f32 {
    cosine.max(-1.0).min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn length(vector: &Vector) -> f32 {
        let squares = vector
            .values
            .iter()
            .map(|value| f32::from(*value) * vector.scale);
        squares.map(|value| value * value).sum::<f32>().sqrt()
    }

    #[test]
    fn text_without_known_piece_has_no_vector() {
        for text in ["", " \n ", "\u{200B}", "🦀 🦀", &"x".repeat(101)] {
            assert_eq!(EmbeddedDocument::of(text), None, "{text:?}");
        }
        assert!(EmbeddedDocument::of("🦀 crab").is_some());
        assert!(EmbeddedDocument::of("🦀\ncrab").is_some());
    }

    #[test]
    fn similar_texts_have_similar_vectors() {
        let near = |a, b| {
            let [a, b] = [a, b].map(|text| Vector::of_document(text).unwrap());
            a.cosine(&b)
        };
        let question = "login fails with a wrong password";
        let like = near(
            question,
            "authentication error: the credentials are invalid",
        );
        let unlike = near(question, "draw the border of the table in grey");
        assert!(like > unlike + 0.1, "{like} {unlike}");
        assert!((near(question, question) - 1.0).abs() < 0.01);
    }

    /// A long body must not outweigh the first line.
    #[test]
    fn first_line_counts_twice() {
        let title = Vector::of_document("fix the parser").unwrap();
        let above = Vector::of_document("fix the parser\nthe cache is warm at the start").unwrap();
        let below = Vector::of_document("the cache is warm at the start\nfix the parser").unwrap();
        assert!(title.cosine(&above) > title.cosine(&below) + 0.1);
    }

    #[test]
    fn pieces_beyond_limits_are_ignored() {
        let words = |count: usize| "a b\n".repeat(count / 2);
        let full = words(VECTOR_PIECES_MAX);
        let other = |text: &str| EmbeddedDocument::of(&format!("{text} zebra")).unwrap();
        let document = EmbeddedDocument::of(&full).unwrap();
        assert_eq!(other(&full), document);
        assert_ne!(other(&words(VECTOR_PIECES_MAX - 2)), document);

        let head =
            |first: &str| Vector::of_document(&format!("{first}\nwords of the body")).unwrap();
        let line = "a ".repeat(VECTOR_HEAD_PIECES_MAX);
        // Beyond the head limit it is one more piece of the body.
        let beyond = head(&format!("{line}zebra"));
        assert_eq!(beyond, head(&format!("{line}\nzebra")));
        let within = head(&format!("{}zebra", "a ".repeat(VECTOR_HEAD_PIECES_MAX - 1)));
        let zebra = Vector::of_document("zebra").unwrap();
        assert!(zebra.cosine(&within) > zebra.cosine(&beyond));
    }

    #[test]
    fn distinct_pieces_are_sorted_and_known() {
        let document = EmbeddedDocument::of("the index, the 🦀 index and the words").unwrap();
        assert!(document.distinct.is_sorted_by(|a, b| a < b));
        assert!(!document.distinct.contains(&UNKNOWN));
        assert_eq!(document.distinct.len(), 5);
    }

    proptest! {
        #[test]
        fn any_text_has_reproducible_unit_vector(text in "\\PC*|[a-z \n.🦀é中]*") {
            let document = EmbeddedDocument::of(&text);
            prop_assert_eq!(&document, &EmbeddedDocument::of(&text));
            if let Some(EmbeddedDocument { vector, .. }) = document {
                prop_assert!((length(&vector) - 1.0).abs() < 0.01, "{}", length(&vector));
                prop_assert_eq!(Vector::from_bytes(&vector.to_bytes()), vector);
            }
        }
    }
}
