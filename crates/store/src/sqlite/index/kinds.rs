//! The kind of every text, for a process that is asked by kind again: the database finds the records of a kind in no
//! order of the index, one by one.
//!
//! The kind of a text never changes but where an index is built anew.

use super::super::failure::Failure;
use super::{Epoch, Index};
use heirloom_model::Kind;
use rusqlite::{Connection, params};
use std::collections::BTreeMap;

/// What a text of no kind has: a turn of a conversation.
const NONE: u8 = u8::MAX;

/// The kinds that a process keeps, by project.
#[derive(Debug, Default)]
pub(in super::super) struct Kinds {
    kept: BTreeMap<i64, Kept>,
}

#[derive(Debug, Default)]
struct Kept {
    epoch: Epoch,
    was_asked: bool,
    /// The place of each text's kind in [`Kind::ALL`].
    kinds: Vec<u8>,
}

impl Kinds {
    /// A bit for each text that is of none of these kinds; nothing for the first question of a process, which may be
    /// its only one.
    pub(super) fn others(
        &mut self,
        connection: &Connection,
        project: i64,
        index: &Index,
        wanted: &[Kind],
    ) -> Result<Option<Vec<u8>>, Failure> {
        let kept = self.kept.entry(project).or_default();
        if !std::mem::replace(&mut kept.was_asked, true) {
            return Ok(None);
        }
        if kept.epoch != index.epoch() {
            (kept.epoch, kept.kinds) = (index.epoch(), Vec::new());
        }
        let texts = index.texts() as usize;
        if kept.kinds.len() < texts {
            kept.read(connection, project)?;
        }
        let is_wanted: [bool; 256] = std::array::from_fn(|code| {
            Kind::ALL
                .get(code)
                .is_some_and(|kind| wanted.contains(kind))
        });
        let mut bits = vec![0_u8; texts / 8 + 1];
        // Another question may know of later texts than this one.
        let known = kept.kinds.get(..texts).unwrap_or(&kept.kinds);
        for (byte, kinds) in bits.iter_mut().zip(known.chunks(8)) {
            for (place, kind) in kinds.iter().enumerate() {
                let is_other = !is_wanted.get(usize::from(*kind)).copied().unwrap_or(false);
                *byte |= u8::from(is_other) << place;
            }
        }
        Ok(Some(bits))
    }
}

impl Kept {
    /// Reads what is new.
    fn read(&mut self, connection: &Connection, project: i64) -> Result<(), Failure> {
        let sql = "SELECT o.ordinal, r.kind FROM ordinals o LEFT JOIN records r INDEXED BY records_by_id \
             ON r.project = o.project AND r.id = o.id \
             WHERE o.project = ?1 AND o.ordinal >= ?2 ORDER BY o.ordinal";
        let mut statement = connection.prepare_cached(sql)?;
        let mut rows = statement.query(params![project, self.kinds.len()])?;
        while let Some(row) = rows.next()? {
            let kind = row.get_ref(1)?.as_str_or_null().unwrap_or(None);
            let place = Kind::ALL.iter().position(|one| Some(one.as_str()) == kind);
            let code = place.and_then(|place| u8::try_from(place).ok());
            // A text that has no row in a damaged index is of no kind.
            self.kinds.resize(row.get::<_, u32>(0)? as usize, NONE);
            self.kinds.push(code.unwrap_or(NONE));
        }
        Ok(())
    }
}
