//! Vectors of texts: 256 numbers of 8 bits and a scale.
//!
//! A vector is a weighted sum of the rows of a text's pieces, so it takes microseconds and no model runs. Stored
//! vectors know nothing of other texts and never go stale; how rare a piece is counts on the question's side only.

mod any;
mod question;
mod rows;
mod sketch;
mod spread;
mod sum;

pub use any::{AnyQuestion, row_bytes, row_of};
pub use question::Question;
pub use rows::Rows;
pub use sketch::{Rough, SKETCH_BYTES, Sketch, sketches};

use crate::pieces::{Cut, UNKNOWN};
use heirloom_model::limits::{VECTOR_HEAD_PIECES_MAX, VECTOR_PIECES_MAX};
use sum::Sum;

/// Numbers of a vector.
pub const DIMS: usize = crate::pieces::table::DIMS;

/// What made a vector: only vectors of one model can be compared. Another table, other weights or another sum are
/// another version.
pub const MODEL: &str = "all-minilm-l6-v2/static-256/1";

/// Bytes of a packed vector: the scale (32 bits, little-endian) and the numbers.
pub const ROW_BYTES: usize = 4 + DIMS;

/// The packed row of a text that has no vector: its cosine is 0 whatever is asked.
pub const EMPTY_ROW: [u8; ROW_BYTES] = [0; ROW_BYTES];

/// A vector of length 1, each number rounded to a multiple of `scale`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Vector {
    /// What the numbers are multiples of.
    pub scale: f32,
    /// The numbers, -127 to 127.
    pub values: [i8; DIMS],
}

/// What the index keeps of a document.
#[derive(Debug, Clone, PartialEq)]
pub struct Document {
    /// Its direction.
    pub vector: Vector,
    /// The distinct pieces that it is made of, ascending: `PieceCounts` counts them.
    pub distinct: Vec<u16>,
}

impl Document {
    /// The first pieces of a text, and those of its first line once more. None for a text without a known piece.
    pub fn of(text: &str) -> Option<Self> {
        let Cut { mut pieces, head } = Cut::of(text, VECTOR_PIECES_MAX);
        let (first, rest) = pieces.split_at(head.min(VECTOR_HEAD_PIECES_MAX));
        let mut sum = Sum::default();
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
    /// The vector of a document, without its pieces.
    pub fn of_document(text: &str) -> Option<Self> {
        Document::of(text).map(|document| document.vector)
    }

    /// How alike two directions are, -1 to 1.
    pub fn cosine(&self, other: &Self) -> f32 {
        let products = self.values.iter().zip(&other.values);
        let dot: i32 = products.map(|(a, b)| i32::from(*a) * i32::from(*b)).sum();
        bounded(dot as f32 * self.scale * other.scale)
    }

    /// As it is stored.
    pub fn to_bytes(&self) -> [u8; ROW_BYTES] {
        let mut bytes = EMPTY_ROW;
        let (scale, values) = bytes.split_at_mut(4);
        scale.copy_from_slice(&self.scale.to_le_bytes());
        for (byte, value) in values.iter_mut().zip(&self.values) {
            *byte = value.cast_unsigned();
        }
        bytes
    }

    /// What `to_bytes` wrote; the scale of other bytes may be any number.
    pub fn from_bytes(bytes: &[u8; ROW_BYTES]) -> Self {
        let (scale, values) = split(bytes);
        Self {
            scale,
            values: std::array::from_fn(|at| values.get(at).map_or(0, |byte| byte.cast_signed())),
        }
    }
}

/// A packed row's scale, and its numbers as bytes.
#[inline(always)]
fn split(row: &[u8; ROW_BYTES]) -> (f32, &[u8]) {
    let (scale, values) = row.split_at(4);
    let scale = scale.first_chunk().copied().unwrap_or_default();
    (f32::from_le_bytes(scale), values)
}

/// A cosine, whatever rounding or a damaged row made of it. Never NaN, so that scores have an order.
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
    fn a_text_without_a_known_piece_has_no_vector() {
        for text in ["", " \n ", "\u{200B}", "🦀 🦀", &"x".repeat(101)] {
            assert_eq!(Document::of(text), None, "{text:?}");
        }
        assert!(Document::of("🦀 crab").is_some());
        assert!(Document::of("🦀\ncrab").is_some());
    }

    #[test]
    fn what_is_alike_is_near() {
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

    /// The first line counts twice, so that a long body does not drown it.
    #[test]
    fn the_first_line_counts_once_more() {
        let title = Vector::of_document("fix the parser").unwrap();
        let above = Vector::of_document("fix the parser\nthe cache is warm at the start").unwrap();
        let below = Vector::of_document("the cache is warm at the start\nfix the parser").unwrap();
        assert!(title.cosine(&above) > title.cosine(&below) + 0.1);
    }

    #[test]
    fn pieces_beyond_the_limits_do_not_count() {
        let words = |count: usize| "a b\n".repeat(count / 2);
        let full = words(VECTOR_PIECES_MAX);
        let other = |text: &str| Document::of(&format!("{text} zebra")).unwrap();
        let document = Document::of(&full).unwrap();
        assert_eq!(other(&full), document);
        assert_ne!(other(&words(VECTOR_PIECES_MAX - 2)), document);

        let head =
            |first: &str| Vector::of_document(&format!("{first}\nwords of the body")).unwrap();
        let line = "a ".repeat(VECTOR_HEAD_PIECES_MAX);
        // Beyond the head it is one more piece of the body.
        let beyond = head(&format!("{line}zebra"));
        assert_eq!(beyond, head(&format!("{line}\nzebra")));
        let within = head(&format!("{}zebra", "a ".repeat(VECTOR_HEAD_PIECES_MAX - 1)));
        let zebra = Vector::of_document("zebra").unwrap();
        assert!(zebra.cosine(&within) > zebra.cosine(&beyond));
    }

    #[test]
    fn distinct_pieces_are_sorted_and_known() {
        let document = Document::of("the index, the 🦀 index and the words").unwrap();
        assert!(document.distinct.is_sorted_by(|a, b| a < b));
        assert!(!document.distinct.contains(&UNKNOWN));
        assert_eq!(document.distinct.len(), 5);
    }

    proptest! {
        #[test]
        fn any_text_has_the_same_vector_of_length_one(text in "\\PC*|[a-z \n.🦀é中]*") {
            let document = Document::of(&text);
            prop_assert_eq!(&document, &Document::of(&text));
            if let Some(Document { vector, .. }) = document {
                prop_assert!((length(&vector) - 1.0).abs() < 0.01, "{}", length(&vector));
                prop_assert_eq!(Vector::from_bytes(&vector.to_bytes()), vector);
            }
        }
    }
}
