//! Rebuild of the index from records and messages.

use super::index_entry::{IndexEntry, entries};
use super::index_state::read_state;
use super::tail_merge::{self, PendingPosting};
use super::writer::mark_retired;
use super::{external_vectors, vector_blocks, vector_rows};
use crate::lane::{Lane, LaneKey};
use crate::relational::row_codec;
use crate::sql::Connection;
use crate::sql::failure::Failure;
use heirloom_model::RecordId;
use rusqlite::params;

/// Texts that are merged at once.
const CHUNK: usize = 16_384;

/// Tables of the index except its totals and the vectors.
const TABLES: [&str; 5] = ["ordinals", "postings", "tail", "gone", "piece_counts"];

/// Rebuilds the index of every project with unindexed texts.
pub(crate) fn catch_up(connection: Connection<'_>) -> Result<(), Failure> {
    let sql = "SELECT id FROM projects p WHERE \
         EXISTS (SELECT 1 FROM records WHERE project = p.id AND ordinal IS NULL) OR \
         EXISTS (SELECT 1 FROM messages WHERE project = p.id AND ordinal IS NULL)";
    for project in projects(connection, sql)? {
        rebuild(connection, project)?;
    }
    Ok(())
}

/// Rebuilds the index of every project.
pub(crate) fn rebuild_all(connection: Connection<'_>) -> Result<(), Failure> {
    // A generation that no project had: other processes may have cached what was damaged.
    let sql = "SELECT ifnull(max(generation), -1) FROM index_totals";
    let newest: i64 = connection.query_row(sql, params![], |row| row.get(0))?;
    for table in TABLES.into_iter().chain(["vectors"]) {
        connection.execute(&format!("DELETE FROM {table}"), params![])?;
    }
    connection.execute("DELETE FROM index_totals", params![])?;
    for project in projects(connection, "SELECT id FROM projects")? {
        build(connection, project, newest.wrapping_add(1))?;
    }
    Ok(())
}

fn projects(connection: Connection<'_>, sql: &str) -> Result<Vec<i64>, Failure> {
    let mut statement = connection.prepare_cached(sql)?;
    Ok(statement.query_map(params![], |row| row.get(0))?)
}

/// Deletes the index of a project.
pub(crate) fn remove(connection: Connection<'_>, project: i64) -> Result<(), Failure> {
    remove_content(connection, project)?;
    let sql = "DELETE FROM index_totals WHERE project = ?1";
    connection.prepare_cached(sql)?.write([project])?;
    Ok(())
}

/// Deletes the index of a project except its totals.
fn remove_content(connection: Connection<'_>, project: i64) -> Result<(), Failure> {
    if let Some(locked) = connection.locked_index() {
        locked.borrow_mut().clear();
    }
    for table in TABLES {
        let sql = format!("DELETE FROM {table} WHERE project = ?1");
        connection.prepare_cached(&sql)?.write([project])?;
    }
    for lane in LaneKey::both(project) {
        vector_rows::delete_in(connection, project, vector_blocks::keys_from(lane, 0))?;
        vector_rows::delete_in(connection, project, external_vectors::keys(lane))?;
    }
    Ok(())
}

/// Rebuilds the index of one project in the caller's transaction.
pub(crate) fn rebuild(connection: Connection<'_>, project: i64) -> Result<(), Failure> {
    let mut generation = 0;
    for lane in LaneKey::both(project) {
        let index = read_state(connection, lane)?;
        generation = index.map_or(generation, |index| generation.max(index.generation + 1));
    }
    remove_content(connection, project)?;
    build(connection, project, generation)
}

/// Builds the index of a project that has none.
fn build(connection: Connection<'_>, project: i64, generation: i64) -> Result<(), Failure> {
    LaneKey::both(project)
        .into_iter()
        .try_for_each(|lane| build_lane(connection, lane, generation))
}

fn build_lane(connection: Connection<'_>, lane: LaneKey, generation: i64) -> Result<(), Failure> {
    let sql = "INSERT INTO index_totals VALUES (?1, ?2, 0, 0, 0, 0, ?3) ON CONFLICT (project, lane) DO UPDATE SET \
         texts = 0, len = 0, head_len = 0, merged = 0, generation = excluded.generation";
    let mut statement = connection.prepare_cached(sql)?;
    statement.write(params![lane.project, lane.lane, generation])?;
    let mut building = IndexBuilder {
        connection,
        lane,
        next: 0,
        merged: 0,
        len: 0,
        head_len: 0,
        pending: Vec::new(),
        vectors: vector_blocks::PendingVectors::default(),
        pending_texts: 0,
    };
    building.add_all()?;
    building.finish()
}

struct IndexBuilder<'c> {
    connection: Connection<'c>,
    lane: LaneKey,
    next: u32,
    merged: u32,
    len: u64,
    head_len: u64,
    pending: Vec<PendingPosting>,
    vectors: vector_blocks::PendingVectors,
    pending_texts: usize,
}

impl IndexBuilder<'_> {
    /// Adds every text in order of its present ordinal, so that an incremental and a bulk build are identical to the
    /// last byte. Texts without an ordinal follow in order of id.
    fn add_all(&mut self) -> Result<(), Failure> {
        for id in self.order()? {
            let (entry, is_gone) = match self.lane.lane {
                Lane::Memory => self.record(id)?,
                Lane::Archive => self.turn(id)?,
            };
            self.add(id, &entry, is_gone)?;
        }
        Ok(())
    }

    fn order(&self) -> Result<Vec<RecordId>, Failure> {
        let sql = format!(
            "SELECT id FROM {} WHERE project = ?1 ORDER BY ifnull(ordinal, 4294967296), id",
            self.lane.lane.table()
        );
        let mut statement = self.connection.prepare_cached(&sql)?;
        Ok(statement.query_map([self.lane.project], |row| {
            Ok(RecordId::from_bytes(row.get(0)?))
        })?)
    }

    fn record(&self, id: RecordId) -> Result<(IndexEntry, bool), Failure> {
        let sql = "SELECT text, retired_at IS NOT NULL FROM records WHERE project = ?1 AND id = ?2";
        let mut statement = self.connection.prepare_cached(sql)?;
        let mut rows = statement.query(params![self.lane.project, id.as_bytes()])?;
        let row = rows.next()?.ok_or(rusqlite::Error::QueryReturnedNoRows)?;
        let entry = IndexEntry::from_text(row.get_ref(0)?.as_str().unwrap_or(""));
        Ok((entry, row.get(1)?))
    }

    fn turn(&self, id: RecordId) -> Result<(IndexEntry, bool), Failure> {
        let sql = "SELECT id, seq, role, sender, text, attrs, tokens, at, retired_at IS NOT NULL \
             FROM messages WHERE project = ?1 AND id = ?2";
        let mut statement = self.connection.prepare_cached(sql)?;
        let mut rows = statement.query(params![self.lane.project, id.as_bytes()])?;
        let row = rows.next()?.ok_or(rusqlite::Error::QueryReturnedNoRows)?;
        let entry = IndexEntry::from_message(&row_codec::message(row)?);
        Ok((entry, row.get(8)?))
    }

    fn add(&mut self, id: RecordId, entry: &IndexEntry, is_gone: bool) -> Result<(), Failure> {
        let ordinal = self.next;
        let (project, lane) = (self.lane.project, self.lane.lane);
        let table = lane.table();
        let sql = format!("UPDATE {table} SET ordinal = ?3 WHERE project = ?1 AND id = ?2");
        let values = params![project, id.as_bytes(), ordinal];
        self.connection.prepare_cached(&sql)?.write(values)?;
        let sql = "INSERT INTO ordinals (project, lane, ordinal, id) VALUES (?1, ?2, ?3, ?4)";
        let values = params![project, lane, ordinal, id.as_bytes()];
        self.connection.prepare_cached(sql)?.write(values)?;
        if is_gone {
            mark_retired(self.connection, self.lane, ordinal, true)?;
        }
        let terms = entry.terms();
        self.pending
            .extend(entries(&terms).map(|(term, code)| (term, ordinal, code)));
        let counted = entry.embedding.as_ref();
        let counted = counted.map_or_else(Vec::new, |embedding| embedding.distinct.clone());
        self.vectors.add(&entry.vector(), counted);
        self.len += u64::from(entry.document.len);
        self.head_len += u64::from(entry.document.head_len);
        self.next += 1;
        self.pending_texts += 1;
        if self.pending_texts >= CHUNK {
            self.merge()?;
        }
        Ok(())
    }

    fn merge(&mut self) -> Result<(), Failure> {
        tail_merge::write(self.connection, self.lane, &mut self.pending)?;
        self.pending.clear();
        if self.pending_texts > 0 {
            self.vectors
                .write(self.connection, self.lane, self.merged)?;
        }
        self.pending_texts = 0;
        self.merged = self.next;
        Ok(())
    }

    fn finish(mut self) -> Result<(), Failure> {
        self.merge()?;
        let sql = "UPDATE index_totals SET texts = ?3, len = ?4, head_len = ?5, merged = ?6 \
             WHERE project = ?1 AND lane = ?2";
        let values = params![
            self.lane.project,
            self.lane.lane,
            self.next,
            self.len,
            self.head_len,
            self.merged
        ];
        self.connection.prepare_cached(sql)?.write(values)?;
        Ok(())
    }
}
