//! Weight file: layout, checks, and views of its sections.
//!
//! `models/build_transformer.py` writes it. All numbers are little-endian and every section begins at a multiple of
//! 64 bytes:
//!
//! | Section | Bytes | Content |
//! |---|---|---|
//! | header | 64 | `HEIRTRF1`; version, CRC-32 of all bytes after the header, size of the file, layers, heads, dimensions, inner dimensions, positions, pieces, each 32 bits; zeros |
//! | piece scales | 4 × pieces | scale of each row, 32-bit float |
//! | piece rows | 384 × pieces | rows of signed bytes |
//! | positions | 4 × 384 × 256 | rows of 32-bit floats, with the row of token type 0 added |
//! | layer norm | 2 × 4 × 384 | factors, offsets |
//! | layers | | for each: matrix of queries, keys and values; matrix of the attention's output; layer norm; first matrix of the feed-forward network, the factors of its 1,536 outputs, second matrix; layer norm |
//!
//! A matrix is its weights (signed bytes in the order of the kernel, see [`crate::matmul`]), the scale of each output
//! and the bias of each output. Scales and biases of queries contain the factor log2(e) / √32.

use crate::layer_norm::LayerNorm;
use crate::matmul::{Matrix, PANEL, WeightBlock};
use crate::vector::{DIMS, FloatBytes};
use std::fmt;

/// File magic; the last digit is the format version.
const MAGIC: &[u8; 8] = b"HEIRTRF1";
const VERSION: u32 = 1;
const HEADER_BYTES: usize = 64;
const ALIGNMENT: usize = 64;

/// Number of layers.
pub(crate) const LAYERS: usize = 6;
/// Number of attention heads.
pub(crate) const HEADS: usize = 12;
/// Dimensions between the two matrices of the feed-forward network.
pub(crate) const INNER_DIMS: usize = 4 * DIMS;
/// Maximum number of tokens of a text, with the two marks around it.
pub(crate) const POSITIONS: usize = 256;
/// Number of pieces in the vocabulary.
pub(crate) const PIECES: usize = heirloom_search::index::word_pieces::PIECES;

/// Damage of a weight file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WeightFileError {
    /// The file has another magic or version.
    UnknownFormat,
    /// The header describes a model of another size.
    UnknownModel,
    /// The file is shorter or longer than its model.
    WrongLength {
        /// Length that the model requires, bytes.
        expected: usize,
        /// Length of the file, bytes.
        found: usize,
    },
    /// The bytes do not match the checksum of the header.
    WrongChecksum,
}

impl fmt::Display for WeightFileError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownFormat => write!(formatter, "weight file has an unknown format"),
            Self::UnknownModel => write!(formatter, "weight file has a model of another size"),
            Self::WrongLength { expected, found } => write!(
                formatter,
                "weight file has {found} bytes instead of {expected}"
            ),
            Self::WrongChecksum => write!(formatter, "weight file does not match its checksum"),
        }
    }
}

impl std::error::Error for WeightFileError {}

/// Views of the sections of a weight file.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Weights {
    pub(crate) piece_scales: &'static [FloatBytes],
    pub(crate) piece_rows: &'static [[u8; DIMS]],
    pub(crate) positions: &'static [[FloatBytes; DIMS]],
    pub(crate) embedding_norm: LayerNorm,
    pub(crate) layers: [Layer; LAYERS],
}

/// Views of one layer.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Layer {
    /// Queries, keys and values next to each other.
    pub(crate) attention_input: Matrix,
    pub(crate) attention_output: Matrix,
    pub(crate) attention_norm: LayerNorm,
    pub(crate) inner: Matrix,
    /// Factors of the outputs of `inner`, by which the weights of `outer` were divided.
    pub(crate) inner_factors: &'static [[FloatBytes; PANEL]],
    pub(crate) outer: Matrix,
    pub(crate) output_norm: LayerNorm,
}

impl Weights {
    /// Reads the sections of a file; compares sizes, but not the checksum, because that reads every page of the file.
    pub(crate) fn parse(bytes: &'static [u8]) -> Result<Self, WeightFileError> {
        let header = bytes.as_chunks::<4>().0;
        let word = |at: usize| header.get(at).map(|word| u32::from_le_bytes(*word));
        if !bytes.starts_with(MAGIC) || word(2) != Some(VERSION) {
            return Err(WeightFileError::UnknownFormat);
        }
        let model = [LAYERS, HEADS, DIMS, INNER_DIMS, POSITIONS, PIECES];
        let has_model = (5..)
            .zip(model)
            .all(|(at, size)| word(at).is_some_and(|found| found as usize == size));
        if !has_model {
            return Err(WeightFileError::UnknownModel);
        }
        let declared = word(4).map_or(0, |length| length as usize);
        let wrong_length = |expected| WeightFileError::WrongLength {
            expected,
            found: bytes.len(),
        };
        if declared != bytes.len() {
            return Err(wrong_length(declared));
        }
        let mut sections = Sections {
            bytes,
            at: HEADER_BYTES,
        };
        let weights = Self {
            piece_scales: sections.floats(PIECES),
            piece_rows: sections.take(PIECES * DIMS).as_chunks().0,
            positions: sections.floats(POSITIONS * DIMS).as_chunks().0,
            embedding_norm: sections.layer_norm(),
            layers: std::array::from_fn(|_| sections.layer()),
        };
        if sections.at != bytes.len() {
            return Err(wrong_length(sections.at));
        }
        Ok(weights)
    }
}

/// Compares the bytes of a file with the checksum of its header.
pub(crate) fn verify_checksum(bytes: &[u8]) -> Result<(), WeightFileError> {
    let stored = bytes.as_chunks::<4>().0.get(3);
    let body = bytes.get(HEADER_BYTES..).unwrap_or_default();
    if stored == Some(&checksum(body).to_le_bytes()) {
        Ok(())
    } else {
        Err(WeightFileError::WrongChecksum)
    }
}

/// Computes the CRC-32 (IEEE) of bytes.
pub(crate) fn checksum(bytes: &[u8]) -> u32 {
    const TABLE: [u32; 256] = {
        let mut table = [0; 256];
        let mut byte = 0;
        while byte < 256 {
            let mut value = byte as u32;
            let mut bit = 0;
            while bit < 8 {
                value = (value >> 1) ^ (0xEDB8_8320 * (value & 1));
                bit += 1;
            }
            table[byte] = value;
            byte += 1;
        }
        table
    };
    !bytes.iter().fold(u32::MAX, |value, byte| {
        (value >> 8) ^ TABLE[(value as u8 ^ byte) as usize]
    })
}

/// Cursor over the sections of a file. Sections beyond its end are empty; the caller compares the final position with
/// the length of the file.
struct Sections {
    bytes: &'static [u8],
    at: usize,
}

impl Sections {
    fn take(&mut self, length: usize) -> &'static [u8] {
        let end = self.at + length;
        let section = self.bytes.get(self.at..end).unwrap_or_default();
        self.at = end.next_multiple_of(ALIGNMENT);
        section
    }

    fn floats(&mut self, count: usize) -> &'static [FloatBytes] {
        self.take(4 * count).as_chunks().0
    }

    fn layer_norm(&mut self) -> LayerNorm {
        LayerNorm {
            factors: self.floats(DIMS),
            offsets: self.floats(DIMS),
        }
    }

    fn matrix(&mut self, inputs: usize, outputs: usize) -> Matrix {
        let weights: &[WeightBlock] = self.take(inputs * outputs).as_chunks().0;
        Matrix {
            inputs,
            outputs,
            weights,
            scales: self.floats(outputs).as_chunks::<PANEL>().0,
            biases: self.floats(outputs).as_chunks::<PANEL>().0,
        }
    }

    fn layer(&mut self) -> Layer {
        Layer {
            attention_input: self.matrix(DIMS, 3 * DIMS),
            attention_output: self.matrix(DIMS, DIMS),
            attention_norm: self.layer_norm(),
            inner: self.matrix(DIMS, INNER_DIMS),
            inner_factors: self.floats(INNER_DIMS).as_chunks().0,
            outer: self.matrix(INNER_DIMS, DIMS),
            output_norm: self.layer_norm(),
        }
    }
}
