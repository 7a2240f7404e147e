//! Transformer: weights and the SIMD level that is used with them.

use crate::weight_file::{WeightFileError, Weights, verify_checksum};
use fearless_simd::Level;

/// Weight file that the program carries. A static has the alignment of its type, so that no vector of weights crosses
/// two cache lines.
static BUILT_IN: &Aligned<[u8]> = &Aligned(*include_bytes!("../../../models/transformer-384.bin"));

#[repr(align(64))]
struct Aligned<T: ?Sized>(T);

/// Weights of the sentence transformer; cheap to copy, because they are views of the file.
#[derive(Debug, Clone, Copy)]
pub struct Transformer {
    pub(crate) weights: Weights,
    pub(crate) level: Level,
}

impl Transformer {
    /// Name of the model, for the store: another model or other quantisation makes other vectors.
    pub const MODEL: &str = "all-minilm-l6-v2/transformer-384/1";

    /// Reads the built-in weights. Their checksum is compared by a test, not here: that would read all pages of the
    /// file in every process.
    pub fn builtin() -> Result<Self, WeightFileError> {
        Self::without_checksum(&BUILT_IN.0)
    }

    /// Reads weights in place, and compares their sizes and checksum.
    pub fn from_bytes(bytes: &'static [u8]) -> Result<Self, WeightFileError> {
        let transformer = Self::without_checksum(bytes)?;
        verify_checksum(bytes)?;
        Ok(transformer)
    }

    fn without_checksum(bytes: &'static [u8]) -> Result<Self, WeightFileError> {
        let weights = Weights::parse(bytes)?;
        Ok(Self {
            weights,
            level: Level::new(),
        })
    }

    /// Returns a transformer for another SIMD level of this processor, for comparisons.
    pub fn with_level(self, level: Level) -> Self {
        Self { level, ..self }
    }

    /// Returns true if SIMD kernels are used, false if only scalar code would run, which is many times slower.
    pub fn is_accelerated(&self) -> bool {
        !self.level.is_fallback()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::weight_file::checksum;
    use crate::{Encoder, Vector384};

    /// Reads a changed copy of the built-in file.
    fn parse_changed(change: impl FnOnce(&mut Vec<u8>)) -> Result<Transformer, WeightFileError> {
        let mut bytes = BUILT_IN.0.to_vec();
        change(&mut bytes);
        Transformer::from_bytes(bytes.leak())
    }

    #[test]
    fn builtin_weights_match_their_checksum() {
        assert!(Transformer::from_bytes(&BUILT_IN.0).is_ok());
        assert!(Transformer::builtin().is_ok());
        assert_eq!(BUILT_IN.0.as_ptr().addr() % 64, 0);
        assert_eq!(checksum(b"123456789"), 0xCBF4_3926);
    }

    #[test]
    fn damaged_file_is_an_error() {
        let length = BUILT_IN.0.len();
        let wrong_length = |expected, found| WeightFileError::WrongLength { expected, found };
        let error = |change: &dyn Fn(&mut Vec<u8>)| parse_changed(change).err();
        for at in [length - 1, length / 2, 64, 12] {
            let found = error(&|bytes| bytes[at] ^= 1);
            assert_eq!(found, Some(WeightFileError::WrongChecksum), "{at}");
        }
        for at in [0, 7, 8] {
            let found = error(&|bytes| bytes[at] ^= 1);
            assert_eq!(found, Some(WeightFileError::UnknownFormat), "{at}");
        }
        for at in [20, 24, 28, 32, 36, 40] {
            let found = error(&|bytes| bytes[at] ^= 1);
            assert_eq!(found, Some(WeightFileError::UnknownModel), "{at}");
        }
        let found = error(&|bytes| bytes.truncate(length - 1));
        assert_eq!(found, Some(wrong_length(length, length - 1)));
        let found = error(&|bytes| bytes.push(0));
        assert_eq!(found, Some(wrong_length(length, length + 1)));
        let found = error(&|bytes| {
            bytes.truncate(64);
            bytes[16..20].copy_from_slice(&64_u32.to_le_bytes());
        });
        assert_eq!(found, Some(wrong_length(length, 64)));
        for kept in [0, 7, 8, 12, 20, 63] {
            let found = error(&|bytes| bytes.truncate(kept));
            assert!(found.is_some(), "{kept}");
        }
    }

    /// A file of any bytes with a correct header and checksum has vectors without meaning.
    #[test]
    fn weights_of_any_bytes_do_not_panic() {
        let best = Level::new();
        let length = |vector: Vector384| vector.as_array().len();
        for byte in [0x00, 0x7F, 0x80, 0xFF, 0x35] {
            let transformer = parse_changed(|bytes| {
                bytes[64..].fill(byte);
                let sum = checksum(&bytes[64..]).to_le_bytes();
                bytes[12..16].copy_from_slice(&sum);
            });
            for level in [best, Level::fallback()] {
                let mut encoder = Encoder::new(transformer.unwrap().with_level(level));
                assert_eq!(
                    encoder.encode("the words of a question").map(length),
                    Some(384)
                );
            }
        }
    }
}
