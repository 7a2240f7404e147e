//! Results: the vector of a text and the vectors of its tokens.

/// Dimensions of a vector.
pub const DIMS: usize = 384;
/// Bytes of a little-endian 32-bit float in the weight file.
pub(crate) type FloatBytes = [u8; 4];

/// Vector of a text, with length 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Vector384([f32; DIMS]);

impl Vector384 {
    /// Averages rows and scales the mean to length 1. Rows without a direction have a vector of zeros.
    pub(crate) fn of_mean(rows: &[[f32; DIMS]]) -> Self {
        let mut sum = [0.0; DIMS];
        for row in rows {
            for (sum, number) in sum.iter_mut().zip(row) {
                *sum += number;
            }
        }
        Self(unit(sum))
    }

    /// Returns the numbers.
    pub fn as_array(&self) -> &[f32; DIMS] {
        &self.0
    }

    /// Computes the cosine with another vector.
    pub fn cosine(&self, other: &Self) -> f32 {
        self.0.iter().zip(&other.0).map(|(a, b)| a * b).sum()
    }
}

impl From<Vector384> for [f32; DIMS] {
    fn from(vector: Vector384) -> Self {
        vector.0
    }
}

/// Vectors of the tokens of a text, each with length 1, for late interaction. The marks around the text are not
/// among them.
#[derive(Debug, Clone, PartialEq)]
pub struct TokenVectors {
    pieces: Vec<u16>,
    rows: Vec<[f32; DIMS]>,
}

impl TokenVectors {
    /// Takes the outputs of tokens, of which the first and the last are marks.
    pub(crate) fn of_outputs(tokens: &[u16], outputs: &[[f32; DIMS]]) -> Self {
        let last = tokens.len().saturating_sub(1);
        let rows = outputs.get(1..last).unwrap_or_default();
        Self {
            pieces: tokens.get(1..last).unwrap_or_default().to_vec(),
            rows: rows.iter().map(|row| unit(*row)).collect(),
        }
    }

    /// Returns the word piece of each token.
    pub fn pieces(&self) -> &[u16] {
        &self.pieces
    }

    /// Returns the vector of each token.
    pub fn rows(&self) -> &[[f32; DIMS]] {
        &self.rows
    }
}

/// Scales numbers to length 1; zeros stay zeros.
fn unit(numbers: [f32; DIMS]) -> [f32; DIMS] {
    let squares: f32 = numbers.iter().map(|number| number * number).sum();
    let factor = squares.sqrt().max(f32::MIN_POSITIVE).recip();
    numbers.map(|number| number * factor)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mean_of_rows_has_length_one() {
        let vector = Vector384::of_mean(&[[1.0; DIMS], [3.0; DIMS]]);
        assert!((vector.cosine(&vector) - 1.0).abs() < 1e-5);
        assert_eq!(Vector384::of_mean(&[]).as_array(), &[0.0; DIMS]);
    }

    #[test]
    fn token_vectors_exclude_marks() {
        let vectors = TokenVectors::of_outputs(&[101, 7, 102], &[[1.0; DIMS]; 3]);
        assert_eq!((vectors.pieces(), vectors.rows().len()), (&[7][..], 1));
        assert!(TokenVectors::of_outputs(&[], &[]).rows().is_empty());
    }
}
