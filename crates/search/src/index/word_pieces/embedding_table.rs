//! Built-in embedding table, embedded in the program. Nothing is copied or prepared: each lookup reads the static
//! bytes.
//!
//! `models/build_static.py` writes it; `models/README.md` documents its layout. The counts below are those of its
//! header: a table of another size does not compile, one with other counts fails the tests.

/// Number of pieces in the vocabulary.
pub const PIECES: usize = 30_522;
/// Dimensions of a row.
pub(crate) const DIMS: usize = 256;

const TEXT_BYTES: usize = 189_330;
const RANGES: usize = 1_901;
const MAPPED: usize = 3_148;
const LETTERS_BYTES: usize = 10_393;

const HEADER_BYTES: usize = 64;
const SLOTS: usize = 1 << 16;
/// Length of the longest piece, bytes.
const PIECE_BYTES: usize = 18;
/// Piece number of an empty hash slot.
const EMPTY: u16 = u16::MAX;
/// Bit of an offset that marks a continuation piece.
const CONTINUES: u32 = 1 << 31;

const SCALES_AT: usize = HEADER_BYTES;
const ROWS_AT: usize = SCALES_AT + 4 * PIECES;
const SLOTS_AT: usize = ROWS_AT + DIMS * PIECES;
const OFFSETS_AT: usize = SLOTS_AT + 4 * SLOTS;
const TEXT_AT: usize = OFFSETS_AT + 4 * (PIECES + 1);
const RANGES_AT: usize = TEXT_AT + TEXT_BYTES.next_multiple_of(4);
const MAPPED_AT: usize = RANGES_AT + 4 * RANGES;
const LETTERS_AT: usize = MAPPED_AT + 8 * MAPPED;
const FILE_BYTES: usize = LETTERS_AT + LETTERS_BYTES.next_multiple_of(4);

static TABLE: &[u8; FILE_BYTES] = include_bytes!("../../../../../models/static-256.bin");

/// Position of a piece in a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PiecePosition {
    /// Beginning of a word.
    Start,
    /// Inside a word: pieces that are written with `##`.
    Inside,
}

/// Returns the longest piece at the start of these bytes, with its length in bytes.
pub(crate) fn longest(letters: &[u8], place: PiecePosition) -> Option<(u16, usize)> {
    let mut hashes = [0; PIECE_BYTES];
    let mut hash = match place {
        PiecePosition::Start => 0x811C_9DC5_u32,
        PiecePosition::Inside => 0x811C_9DC5 ^ 0x5BD1_E995,
    };
    for (byte, slot) in letters.iter().zip(&mut hashes) {
        hash = (hash ^ u32::from(*byte)).wrapping_mul(0x0100_0193);
        *slot = hash;
    }
    let reach = letters.len().min(PIECE_BYTES);
    (1..=reach).rev().find_map(|length| {
        let hash = *hashes.get(length - 1)?;
        let piece = find(letters.get(..length)?, hash, place)?;
        Some((piece, length))
    })
}

/// Returns the piece with exactly these bytes.
fn find(letters: &[u8], hash: u32, place: PiecePosition) -> Option<u16> {
    let slots = TABLE[SLOTS_AT..OFFSETS_AT].as_chunks::<4>().0;
    let start = (hash ^ hash >> 16) as usize;
    for step in 0..SLOTS {
        let [a, b, c, d] = *slots.get((start + step) % SLOTS)?;
        let piece = u16::from_le_bytes([a, b]);
        if piece == EMPTY {
            return None;
        }
        let same = u32::from(u16::from_le_bytes([c, d])) == hash >> 16;
        if same && text(piece) == Some((letters, place)) {
            return Some(piece);
        }
    }
    None
}

/// Returns the bytes of a piece and its position in a word.
fn text(piece: u16) -> Option<(&'static [u8], PiecePosition)> {
    let offsets = TABLE[OFFSETS_AT..TEXT_AT].as_chunks::<4>().0;
    let offset = |at: usize| offsets.get(at).map(|bytes| u32::from_le_bytes(*bytes));
    let (start, end) = (offset(piece.into())?, offset(usize::from(piece) + 1)?);
    let place = match start & CONTINUES {
        0 => PiecePosition::Start,
        _ => PiecePosition::Inside,
    };
    let range = (start & !CONTINUES) as usize..(end & !CONTINUES) as usize;
    Some((TABLE[TEXT_AT..RANGES_AT].get(range)?, place))
}

/// Returns the scale and the numbers of a row; the numbers are signed.
pub(crate) fn row(piece: u16) -> Option<(f32, &'static [u8; DIMS])> {
    let scale = TABLE[SCALES_AT..ROWS_AT]
        .as_chunks::<4>()
        .0
        .get(usize::from(piece))?;
    let row = TABLE[ROWS_AT..SLOTS_AT]
        .as_chunks::<DIMS>()
        .0
        .get(usize::from(piece))?;
    Some((f32::from_le_bytes(*scale), row))
}

/// Returns the class of a character: the number of its range.
pub(super) fn kind(letter: char) -> u8 {
    let ranges = TABLE[RANGES_AT..MAPPED_AT].as_chunks::<4>().0;
    let code = u32::from(letter);
    let after = ranges.partition_point(|entry| u32::from_le_bytes(*entry) & 0x00FF_FFFF <= code);
    let range = after.checked_sub(1).and_then(|at| ranges.get(at));
    range.map_or(0, |[_, _, _, kind]| *kind)
}

/// Returns the replacement of a character, with a space where a word ends.
pub(super) fn mapped(letter: char) -> Option<&'static str> {
    let entries = TABLE[MAPPED_AT..LETTERS_AT].as_chunks::<8>().0;
    let split = |entry: &[u8; 8]| {
        let [a, b, c, d, e, f, g, h] = *entry;
        let start = u32::from_le_bytes([e, f, g, 0]) as usize;
        (
            u32::from_le_bytes([a, b, c, d]),
            start..start + usize::from(h),
        )
    };
    let at = entries
        .binary_search_by_key(&u32::from(letter), |entry| split(entry).0)
        .ok()?;
    let range = split(entries.get(at)?).1;
    std::str::from_utf8(TABLE[LETTERS_AT..].get(range)?).ok()
}

/// Formats a piece as the vocabulary does.
#[cfg(test)]
pub(super) fn spelling(piece: u16) -> String {
    let (letters, place) = text(piece).unwrap();
    let letters = std::str::from_utf8(letters).unwrap();
    match place {
        PiecePosition::Start => letters.to_owned(),
        PiecePosition::Inside => format!("##{letters}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// CRC-32 as in zlib, one bit at a time.
    fn checksum(bytes: &[u8]) -> u32 {
        let mut crc = u32::MAX;
        for byte in bytes {
            crc ^= u32::from(*byte);
            for _ in 0..8 {
                crc = (crc >> 1) ^ (0xEDB8_8320 & (crc & 1).wrapping_neg());
            }
        }
        !crc
    }

    #[test]
    fn table_matches_its_header() {
        assert_eq!(&TABLE[..8], b"HEIRVEC1");
        let head: Vec<usize> = TABLE[8..40]
            .as_chunks::<4>()
            .0
            .iter()
            .map(|bytes| u32::from_le_bytes(*bytes) as usize)
            .collect();
        let counts = [PIECES, DIMS, TEXT_BYTES, RANGES, MAPPED, LETTERS_BYTES];
        assert_eq!(head[0], 1);
        assert_eq!(head[2..], counts);
        assert_eq!(head[1], checksum(&TABLE[HEADER_BYTES..]) as usize);
        assert!(TABLE.len() <= 9_000_000);
    }

    /// Stored vectors were made with exactly this table: another one needs another model name.
    #[test]
    fn table_checksum_matches_model_name() {
        let sum = u32::from_le_bytes(*TABLE[12..].first_chunk().unwrap());
        assert_eq!(
            (crate::index::vector::MODEL, sum),
            ("all-minilm-l6-v2/static-256/1", 0xecc8_0854)
        );
    }

    #[test]
    fn every_piece_is_found_by_its_bytes() {
        for piece in 0..PIECES as u16 {
            let (letters, place) = text(piece).unwrap();
            assert_eq!(longest(letters, place), Some((piece, letters.len())));
        }
        assert_eq!(text(PIECES as u16), None);
        assert!(row(PIECES as u16).is_none() && row(u16::MAX).is_none());
    }

    #[test]
    fn rows_are_complete() {
        for piece in 0..PIECES as u16 {
            let (scale, row) = row(piece).unwrap();
            assert!(scale > 0.0 && scale.is_finite());
            assert!(
                row.iter().any(|byte| (*byte as i8).unsigned_abs() == 127),
                "{piece}"
            );
            assert!(row.iter().all(|byte| *byte as i8 != i8::MIN), "{piece}");
        }
    }
}
