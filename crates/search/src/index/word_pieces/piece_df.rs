//! Document frequencies of word pieces, which determine the weight of a query's pieces.

use super::PIECES;

/// Size of a stored count, bytes: the piece and its document frequency.
const ENTRY_BYTES: usize = 6;

/// Document frequencies of word pieces.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PieceCounts {
    counts: Vec<u32>,
}

impl Default for PieceCounts {
    fn default() -> Self {
        Self {
            counts: vec![0; PIECES],
        }
    }
}

impl PieceCounts {
    /// Counts one document by its distinct pieces.
    pub fn add(&mut self, distinct: &[u16]) {
        for piece in distinct {
            if let Some(count) = self.counts.get_mut(usize::from(*piece)) {
                *count = count.saturating_add(1);
            }
        }
    }

    /// Returns the document frequency of the piece.
    pub fn get(&self, piece: u16) -> u32 {
        self.counts.get(usize::from(piece)).copied().unwrap_or(0)
    }

    /// Serialises the nonzero counts in order of the pieces, six bytes each; [`count_in`] searches them.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        for (piece, count) in (0_u16..).zip(&self.counts) {
            if *count > 0 {
                bytes.extend_from_slice(&piece.to_le_bytes());
                bytes.extend_from_slice(&count.to_le_bytes());
            }
        }
        bytes
    }

    /// Parses the bytes of `to_bytes`; `None` if they are invalid and the pieces must be counted again.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (entries, rest) = bytes.as_chunks::<ENTRY_BYTES>();
        let mut found = Self::default();
        let mut next = 0;
        for (piece, count) in entries.iter().map(split) {
            let slot = found.counts.get_mut(usize::from(piece))?;
            if piece < next || count == 0 {
                return None;
            }
            *slot = count;
            next = piece + 1;
        }
        rest.is_empty().then_some(found)
    }
}

/// Returns the document frequency of the piece in the bytes of `PieceCounts::to_bytes` without parsing them; any
/// number for other bytes.
pub fn count_in(bytes: &[u8], piece: u16) -> u32 {
    let entries = bytes.as_chunks::<ENTRY_BYTES>().0;
    let place = entries.binary_search_by_key(&piece, |entry| split(entry).0);
    let entry = place.ok().and_then(|at| entries.get(at));
    entry.map_or(0, |entry| split(entry).1)
}

fn split(entry: &[u8; ENTRY_BYTES]) -> (u16, u32) {
    let [a, b, c, d, e, f] = *entry;
    (u16::from_le_bytes([a, b]), u32::from_le_bytes([c, d, e, f]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn stored_counts_round_trip() {
        let mut counts = PieceCounts::default();
        counts.add(&[3, 7, 30_521]);
        counts.add(&[7, 30_522, u16::MAX]);
        let bytes = counts.to_bytes();
        assert_eq!(bytes.len(), 3 * ENTRY_BYTES);
        assert_eq!(PieceCounts::from_bytes(&bytes), Some(counts.clone()));
        for (piece, expected) in [
            (0, 0),
            (3, 1),
            (7, 2),
            (30_521, 1),
            (30_522, 0),
            (u16::MAX, 0),
        ] {
            assert_eq!(counts.get(piece), expected, "{piece}");
            assert_eq!(count_in(&bytes, piece), expected, "{piece}");
        }
        assert_eq!(PieceCounts::from_bytes(&[]), Some(PieceCounts::default()));
    }

    #[test]
    fn invalid_counts_are_rejected() {
        let entry =
            |piece: u16, count: u32| [&piece.to_le_bytes()[..], &count.to_le_bytes()].concat();
        let good = entry(5, 1);
        for bad in [
            good[..5].to_vec(),
            entry(5, 0),
            entry(30_522, 1),
            [good.clone(), good.clone()].concat(),
            [good, entry(4, 1)].concat(),
        ] {
            assert_eq!(PieceCounts::from_bytes(&bad), None, "{bad:?}");
        }
    }

    proptest! {
        #[test]
        fn counts_from_any_bytes_do_not_panic(bytes: Vec<u8>, piece: u16) {
            if let Some(counts) = PieceCounts::from_bytes(&bytes) {
                prop_assert_eq!(count_in(&bytes, piece), counts.get(piece));
                prop_assert_eq!(counts.to_bytes(), bytes);
            } else {
                count_in(&bytes, piece);
            }
        }

        #[test]
        fn serialised_counts_match_documents(documents in prop::collection::vec(prop::collection::btree_set(0_u16..99, 0..9), 0..9)) {
            let mut counts = PieceCounts::default();
            for document in &documents {
                counts.add(&document.iter().copied().collect::<Vec<_>>());
            }
            let bytes = counts.to_bytes();
            for piece in 0..99 {
                let expected = documents.iter().filter(|document| document.contains(&piece)).count();
                prop_assert_eq!(counts.get(piece) as usize, expected);
                prop_assert_eq!(count_in(&bytes, piece) as usize, expected);
            }
        }
    }
}
