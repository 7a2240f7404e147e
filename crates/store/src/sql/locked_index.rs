//! Index rows of a project that a transaction of PostgreSQL has locked, so that only this transaction changes them.
//!
//! They save a round trip for each text. SQLite reads the rows again, which costs it little.

use crate::lane::LaneKey;
use heirloom_search::index::bm25::Totals;
use std::collections::BTreeMap;

/// Length of a tail, as total and merged texts.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TailLength {
    pub(crate) texts: u32,
    pub(crate) merged: u32,
}

/// Index rows of the locked project that the transaction has read or written.
#[derive(Debug, Default)]
pub(crate) struct LockedIndex {
    lanes: BTreeMap<LaneKey, LockedLane>,
}

/// Index rows of one lane.
#[derive(Debug)]
struct LockedLane {
    length: TailLength,
    /// Totals of the texts that were added and are not written yet.
    added: Totals,
    /// Bits of the blocks of retired ordinals; `None` for a block that does not exist.
    retired: BTreeMap<u32, Option<Vec<u8>>>,
}

impl LockedIndex {
    /// Stores the totals of the lanes of the project that the transaction has locked.
    pub(crate) fn lock(&mut self, lanes: impl IntoIterator<Item = (LaneKey, TailLength)>) {
        let locked = lanes.into_iter().map(|(lane, length)| {
            let (added, retired) = (Totals::default(), BTreeMap::new());
            let locked = LockedLane {
                length,
                added,
                retired,
            };
            (lane, locked)
        });
        self.lanes = locked.collect();
    }

    /// Returns the length of the tail if it is known.
    pub(crate) fn length(&self, lane: LaneKey) -> Option<TailLength> {
        self.lanes.get(&lane).map(|locked| locked.length)
    }

    /// Adds a text to the totals, which are written later; returns the length with it. Returns `None` without an effect
    /// if the totals are not known.
    ///
    /// Each update of a row leaves a version that the following ones of the transaction pass over, so one for each text
    /// would take quadratic time.
    pub(crate) fn add_text(
        &mut self,
        lane: LaneKey,
        len: u32,
        head_len: u32,
    ) -> Option<TailLength> {
        let locked = self.lanes.get_mut(&lane)?;
        locked.length.texts += 1;
        locked.added.texts += 1;
        locked.added.len += u64::from(len);
        locked.added.head_len += u64::from(head_len);
        Some(locked.length)
    }

    /// Takes the totals of the added texts of each lane with some, to write them.
    pub(crate) fn take_added(&mut self) -> Vec<(LaneKey, Totals)> {
        let lanes = self.lanes.iter_mut();
        let added = lanes.map(|(lane, locked)| (*lane, std::mem::take(&mut locked.added)));
        added.filter(|(_, added)| added.texts > 0).collect()
    }

    /// Stores the number of merged texts.
    pub(crate) fn set_merged(&mut self, lane: LaneKey, merged: u32) {
        if let Some(locked) = self.lanes.get_mut(&lane) {
            locked.length.merged = merged;
        }
    }

    /// Returns the bits of a block of retired ordinals if they are known: `Some(None)` for a block that does not exist.
    pub(crate) fn retired(&self, lane: LaneKey, block: u32) -> Option<Option<Vec<u8>>> {
        self.lanes.get(&lane)?.retired.get(&block).cloned()
    }

    /// Stores the bits of a block of retired ordinals. Those of another project are not kept.
    pub(crate) fn set_retired(&mut self, lane: LaneKey, block: u32, bits: Option<Vec<u8>>) {
        if let Some(locked) = self.lanes.get_mut(&lane) {
            locked.retired.insert(block, bits);
        }
    }

    /// Forgets all rows, after statements that change them in another way.
    pub(crate) fn clear(&mut self) {
        *self = Self::default();
    }
}
