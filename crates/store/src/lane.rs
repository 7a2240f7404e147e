//! Lanes of a project's index: what was distilled, and what was said.
//!
//! Each lane has its own ordinals, posting lists, vectors and statistics. So the score of a record never depends on the
//! conversations that the project holds: they can be a hundred times as many.

use rusqlite::ToSql;
use rusqlite::types::ToSqlOutput;

/// Part of a project that a search covers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Lane {
    /// Records: what was learned, remembered and done.
    #[default]
    Memory,
    /// Turns of conversations.
    Archive,
}

impl Lane {
    /// Both lanes.
    pub const ALL: [Self; 2] = [Self::Memory, Self::Archive];

    /// Returns the number in the tables of the index.
    pub(crate) fn number(self) -> i64 {
        match self {
            Self::Memory => 0,
            Self::Archive => 1,
        }
    }

    /// Returns the lane with this number; an unknown one is of a damaged table.
    pub(crate) fn of_number(number: i64) -> Self {
        match number {
            0 => Self::Memory,
            _ => Self::Archive,
        }
    }

    /// Returns the table with the texts.
    pub(crate) fn table(self) -> &'static str {
        match self {
            Self::Memory => "records",
            Self::Archive => "messages",
        }
    }
}

impl ToSql for Lane {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(self.number().into())
    }
}

/// Key of an index: a lane of a project.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct LaneKey {
    /// Number of the project.
    pub(crate) project: i64,
    /// Its lane.
    pub(crate) lane: Lane,
}

impl LaneKey {
    /// Returns the key of the records of a project.
    pub(crate) fn memory(project: i64) -> Self {
        let lane = Lane::Memory;
        Self { project, lane }
    }

    /// Returns the key of the turns of a project.
    pub(crate) fn archive(project: i64) -> Self {
        let lane = Lane::Archive;
        Self { project, lane }
    }

    /// Returns the keys of both lanes of a project, in the order in which writers lock them.
    pub(crate) fn both(project: i64) -> [Self; 2] {
        Lane::ALL.map(|lane| Self { project, lane })
    }

    /// Returns the project and the lane as values of a statement.
    pub(crate) fn values(self) -> [i64; 2] {
        [self.project, self.lane.number()]
    }

    /// Returns a number that no other key has.
    pub(crate) fn number(self) -> i64 {
        self.project * 2 + self.lane.number()
    }
}
