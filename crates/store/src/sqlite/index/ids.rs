//! What every text is of, in memory, for a process that is asked again.
//!
//! An ordinal is given once, until an index is built anew, which its epoch tells; so a process reads only what is new.
//! The first questions of a process ask the database for the few that they need: they may be its only ones.

use super::super::failure::Failure;
use super::{Epoch, Index};
use heirloom_model::RecordId;
use rusqlite::{Connection, Row, params};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Most memory for all projects together, bytes: two million texts. One project alone may have more.
const BYTES_MAX: usize = 32 << 20;
/// Questions that ask the database: a command asks two or three, and then ends.
const QUESTIONS_IN_PLACE: u32 = 3;

/// What a text is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Said {
    pub(super) id: RecordId,
    /// A turn of a conversation, and no record.
    pub(super) is_turn: bool,
}

impl Said {
    /// What has this ordinal, as the database says it.
    pub(super) fn read(
        connection: &Connection,
        project: i64,
        ordinal: u32,
    ) -> Result<Self, Failure> {
        let sql = "SELECT id, is_turn FROM ordinals WHERE project = ?1 AND ordinal = ?2";
        let mut statement = connection.prepare_cached(sql)?;
        Ok(statement.query_row(params![project, ordinal], Self::of)?)
    }

    fn of(row: &Row<'_>) -> rusqlite::Result<Self> {
        Ok(Self {
            id: RecordId::from_bytes(row.get(0)?),
            is_turn: row.get(1)?,
        })
    }
}

/// What a process knows, by project.
#[derive(Debug, Default)]
pub(in super::super) struct Ids {
    projects: BTreeMap<i64, Kept>,
}

#[derive(Debug, Default)]
struct Kept {
    known: Arc<Known>,
    times: u32,
}

/// What the texts of a project are of, in the order of their ordinals; the newest may be missing.
#[derive(Debug, Default, Clone)]
pub(super) struct Known {
    epoch: Epoch,
    said: Vec<Said>,
}

impl Ids {
    /// What is of this state of the index, at least up to its tail; nothing for the first questions of a process.
    pub(super) fn current(
        &mut self,
        connection: &Connection,
        project: i64,
        index: &Index,
    ) -> Result<Arc<Known>, Failure> {
        let kept = self.projects.entry(project).or_default();
        if kept.times < QUESTIONS_IN_PLACE {
            kept.times += 1;
            return Ok(Arc::default());
        }
        let known = &mut kept.known;
        if known.epoch != index.epoch() || known.said.len() < index.merged as usize {
            // A copy, if another question is at it.
            Arc::make_mut(known).refresh(connection, project, index)?;
        }
        let known = Arc::clone(known);
        let bytes = self.projects.values().map(|kept| kept.known.bytes());
        if bytes.sum::<usize>() > BYTES_MAX {
            self.projects.retain(|one, _| *one == project);
        }
        Ok(known)
    }
}

impl Known {
    /// What an ordinal is of, where it is known without asking the database.
    pub(super) fn get(&self, ordinal: u32) -> Option<Said> {
        self.said.get(ordinal as usize).copied()
    }

    fn bytes(&self) -> usize {
        self.said.len() * size_of::<Said>()
    }

    /// Reads what is new.
    fn refresh(
        &mut self,
        connection: &Connection,
        project: i64,
        index: &Index,
    ) -> Result<(), Failure> {
        if self.epoch != index.epoch() {
            (self.epoch, self.said) = (index.epoch(), Vec::new());
        }
        let sql = "SELECT id, is_turn FROM ordinals WHERE project = ?1 AND ordinal >= ?2 \
             ORDER BY ordinal LIMIT ?3";
        let mut statement = connection.prepare_cached(sql)?;
        let fresh = (index.merged as usize).saturating_sub(self.said.len());
        self.said.reserve_exact(fresh);
        for said in statement.query_map(params![project, self.said.len(), fresh], Said::of)? {
            self.said.push(said?);
        }
        Ok(())
    }
}
