//! Location of a single flipped bit of a frame by its checksum.
//!
//! The checksum is linear: a word that differs by `d` changes the final sums by multiples of `d` that depend only on
//! the number of words after it. So the candidate bits are computed by comparison, not by trial. The high bits of a
//! word can be confused with those of other words, because the sums wrap: then it is known that one bit was flipped,
//! but not which. Incompletely written bytes match no bit: two sums of 32 bits against 33,000 bits of a frame.

use super::{Checksum, FRAME_HEADER_BYTES, checksum};

/// Flipped bit of a frame.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Flip {
    /// Bit of the page or header; this is the corrected frame.
    Page(Vec<u8>),
    /// Bit of the checksum itself.
    Sum,
    /// One bit, but several candidates match.
    Unknown,
}

/// Finds the bit that explains why a frame does not end with the checksum `ends`. `ends_fit` is true if the next
/// frame continues from `ends`.
pub(super) fn find_flip(
    frame: &[u8],
    start: Checksum,
    ends: Checksum,
    big_end: bool,
    ends_fit: bool,
) -> Option<Flip> {
    let summed = [frame.get(..8)?, frame.get(FRAME_HEADER_BYTES..)?].concat();
    let found = checksum(start, &summed, big_end);
    let bits = (ends.0 ^ found.0).count_ones() + (ends.1 ^ found.1).count_ones();
    let is_sum = bits == 1 && !ends_fit;
    let mut flips = candidates(&summed, found, ends, big_end).into_iter();
    match (flips.next(), flips.next(), is_sum) {
        (None, _, false) => None,
        (None, _, true) => Some(Flip::Sum),
        (Some((at, word)), None, false) => {
            let at = if at < 8 {
                at
            } else {
                at + FRAME_HEADER_BYTES - 8
            };
            let mut whole = frame.to_vec();
            whole.get_mut(at..at + 4)?.copy_from_slice(&word);
            Some(Flip::Page(whole))
        }
        (Some(_), _, _) => Some(Flip::Unknown),
    }
}

/// Returns the words that may be wrong, by position, with their corrected values.
fn candidates(
    summed: &[u8],
    found: Checksum,
    ends: Checksum,
    big_end: bool,
) -> Vec<(usize, [u8; 4])> {
    let wanted = (ends.0.wrapping_sub(found.0), ends.1.wrapping_sub(found.1));
    let mut candidates = Vec::new();
    // Effect of one more in the left and in the right word of a pair on the final sums.
    let (mut left, mut right): (Checksum, Checksum) = ((1, 1), (0, 1));
    for (pair, eight) in summed.chunks_exact(8).enumerate().rev() {
        let (one, other) = eight.split_at(4);
        for (offset, four, (first, second)) in [(0, one, left), (4, other, right)] {
            let four: [u8; 4] = four.try_into().unwrap_or_default();
            let word = if big_end {
                u32::from_be_bytes(four)
            } else {
                u32::from_le_bytes(four)
            };
            for bit in (0..32).map(|shift| 1_u32 << shift) {
                let change = if word & bit == 0 {
                    bit
                } else {
                    bit.wrapping_neg()
                };
                if (change.wrapping_mul(first), change.wrapping_mul(second)) == wanted {
                    let word = word ^ bit;
                    let four = if big_end {
                        word.to_be_bytes()
                    } else {
                        word.to_le_bytes()
                    };
                    candidates.push((pair * 8 + offset, four));
                }
            }
        }
        left = next(left);
        right = next(right);
    }
    candidates
}

/// Returns the effect after one more pair of words.
fn next((first, second): Checksum) -> Checksum {
    let first = first.wrapping_add(second);
    (first, second.wrapping_add(first))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flipped_bit_is_found_or_ambiguous() {
        for big_end in [false, true] {
            let mut frame: Vec<u8> = (0..FRAME_HEADER_BYTES + 512)
                .map(|n| (n * 37 % 251) as u8)
                .collect();
            frame[8..24].fill(0);
            let start = (0x1234_5678, 0x9abc_def0);
            let sum =
                |frame: &[u8]| checksum(start, &[&frame[..8], &frame[24..]].concat(), big_end);
            let ends = sum(&frame);
            let mut unknown = 0;
            for at in (0..8).chain(24..frame.len()) {
                for bit in 0..8 {
                    let mut flipped = frame.clone();
                    flipped[at] ^= 1 << bit;
                    match find_flip(&flipped, start, ends, big_end, true) {
                        Some(Flip::Page(whole)) => assert_eq!(whole, frame, "byte {at}, bit {bit}"),
                        Some(Flip::Unknown) => unknown += 1,
                        other => panic!("byte {at}, bit {bit}: {other:?}"),
                    }
                }
            }
            // At most the nine highest of 32 bits.
            assert!(unknown > 0 && unknown < 4_160 * 9 / 32, "{unknown}");
            for bit in 0..32 {
                let first = (ends.0 ^ (1 << bit), ends.1);
                let second = (ends.0, ends.1 ^ (1 << bit));
                for wrong in [first, second] {
                    let found = find_flip(&frame, start, wrong, big_end, false);
                    assert!(
                        matches!(found, Some(Flip::Sum | Flip::Unknown)),
                        "{found:?}"
                    );
                }
            }
            let mut two = frame.clone();
            two[100] ^= 1;
            two[200] ^= 4;
            assert_eq!(find_flip(&two, start, ends, big_end, false), None);
            two[24..300].fill(0);
            assert_eq!(find_flip(&two, start, ends, big_end, false), None);
        }
    }
}
