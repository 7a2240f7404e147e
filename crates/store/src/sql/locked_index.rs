//! Index rows of a project that a transaction of PostgreSQL has locked, so that only this transaction changes them.
//!
//! They save a round trip for each text. SQLite reads the rows again, which costs it little.

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
    project: i64,
    /// `None` if the totals are not known.
    length: Option<TailLength>,
    /// Totals of the texts that were added and are not written yet.
    added: Totals,
    /// Bits of the blocks of retired ordinals; `None` for a block that does not exist.
    retired: BTreeMap<u32, Option<Vec<u8>>>,
}

impl LockedIndex {
    /// Stores the totals of the project that the transaction has locked.
    pub(crate) fn lock(&mut self, project: i64, texts: u32, merged: u32) {
        *self = Self {
            project,
            length: Some(TailLength { texts, merged }),
            ..Self::default()
        };
    }

    /// Returns the length of the tail if it is known.
    pub(crate) fn length(&self, project: i64) -> Option<TailLength> {
        self.length.filter(|_| self.project == project)
    }

    /// Adds a text to the totals, which are written later; returns the length with it. Returns `None` without an effect
    /// if the totals are not known.
    ///
    /// Each update of a row leaves a version that the following ones of the transaction pass over, so one for each text
    /// would take quadratic time.
    pub(crate) fn add_text(&mut self, project: i64, len: u32, head_len: u32) -> Option<TailLength> {
        let length = self.length.as_mut().filter(|_| self.project == project)?;
        length.texts += 1;
        self.added.texts += 1;
        self.added.len += u64::from(len);
        self.added.head_len += u64::from(head_len);
        Some(*length)
    }

    /// Takes the totals of the added texts, with the project, to write them; `None` without a text.
    pub(crate) fn take_added(&mut self) -> Option<(i64, Totals)> {
        let added = std::mem::take(&mut self.added);
        (added.texts > 0).then_some((self.project, added))
    }

    /// Stores the number of merged texts.
    pub(crate) fn set_merged(&mut self, project: i64, merged: u32) {
        if let Some(length) = &mut self.length
            && self.project == project
        {
            length.merged = merged;
        }
    }

    /// Returns the bits of a block of retired ordinals if they are known: `Some(None)` for a block that does not exist.
    pub(crate) fn retired(&self, project: i64, block: u32) -> Option<Option<Vec<u8>>> {
        let block = self.retired.get(&block)?;
        (self.project == project).then(|| block.clone())
    }

    /// Stores the bits of a block of retired ordinals. Those of another project are not kept.
    pub(crate) fn set_retired(&mut self, project: i64, block: u32, bits: Option<Vec<u8>>) {
        if self.project == project {
            self.retired.insert(block, bits);
        }
    }

    /// Forgets all rows, after statements that change them in another way.
    pub(crate) fn clear(&mut self) {
        *self = Self::default();
    }
}
