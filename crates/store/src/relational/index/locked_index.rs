//! Index rows of a project that a transaction of PostgreSQL has locked, so that only this transaction changes them.
//!
//! They save a round trip for each text. SQLite reads the rows again, which costs it little.

use super::tail_merge::TailLength;
use std::collections::BTreeMap;

/// Index rows of the locked project that the transaction has read or written.
#[derive(Debug, Default)]
pub(crate) struct LockedIndex {
    project: i64,
    /// `None` if the totals are not known.
    length: Option<TailLength>,
    /// Bits of the blocks of retired ordinals; `None` for a block that does not exist.
    retired: BTreeMap<u32, Option<Vec<u8>>>,
}

impl LockedIndex {
    /// Stores the totals of the project that the transaction has locked.
    pub(crate) fn lock(&mut self, project: i64, texts: u32, merged: u32) {
        *self = Self {
            project,
            length: Some(TailLength { texts, merged }),
            retired: BTreeMap::new(),
        };
    }

    /// Returns the length of the tail if it is known.
    pub(super) fn length(&self, project: i64) -> Option<TailLength> {
        self.length.filter(|_| self.project == project)
    }

    /// Counts a new text; returns the totals with it if they are known.
    pub(super) fn add_text(&mut self, project: i64) -> Option<TailLength> {
        let length = self.length.as_mut().filter(|_| self.project == project)?;
        length.texts += 1;
        Some(*length)
    }

    /// Stores the number of merged texts.
    pub(super) fn set_merged(&mut self, project: i64, merged: u32) {
        if let Some(length) = &mut self.length
            && self.project == project
        {
            length.merged = merged;
        }
    }

    /// Returns the bits of a block of retired ordinals if they are known: `Some(None)` for a block that does not exist.
    pub(super) fn retired(&self, project: i64, block: u32) -> Option<Option<Vec<u8>>> {
        let block = self.retired.get(&block)?;
        (self.project == project).then(|| block.clone())
    }

    /// Stores the bits of a block of retired ordinals. Those of another project are not kept.
    pub(super) fn set_retired(&mut self, project: i64, block: u32, bits: Option<Vec<u8>>) {
        if self.project == project {
            self.retired.insert(block, bits);
        }
    }

    /// Forgets all rows, after statements that change them in another way.
    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }
}
