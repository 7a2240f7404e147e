//! How many records of each kind there are, as long as nobody writes.
//!
//! Counting reads an entry for each record. A process that is asked again and again, as a server is, reads them once
//! for each state of the database, which what processes share beside the journal tells.

use super::failure::Failure;
use super::history;
use super::journal::Stamp;
use crate::Counts;
use heirloom_model::{Kind, ProjectName, Timestamp};
use rusqlite::Connection;
use std::sync::{Mutex, PoisonError};

/// What was counted last.
#[derive(Debug, Default)]
pub(super) struct Counted(Mutex<Option<Kept>>);

type Kept = (Stamp, ProjectName, Vec<(Kind, u64)>);

impl Counted {
    /// How many of each kind are current at `now`. The stamp is of a moment before: of what was written since, the next
    /// question has another one.
    pub(super) fn current(
        &self,
        connection: &Connection,
        project: &ProjectName,
        stamp: Option<Stamp>,
        now: Timestamp,
    ) -> Result<Counts, Failure> {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let known = kept
            .as_ref()
            .filter(|(seen, of, _)| Some(*seen) == stamp && of == project);
        let known = known.map(|(_, _, counts)| counts.clone());
        drop(kept);
        let all = match known {
            Some(all) => all,
            None => {
                let all = history::unretired(connection, project)?;
                let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
                *kept = stamp.map(|stamp| (stamp, project.clone(), all.clone()));
                all
            }
        };
        history::less_expired(connection, project, all, now)
    }
}
