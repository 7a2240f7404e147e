//! Building the index anew from records and messages.

use super::super::failure::Failure;
use super::super::sessions;
use super::merge::{self, Pending};
use super::{Entry, embedded, entries, mark, meanings};
use heirloom_model::RecordId;
use rusqlite::{Connection, params};

/// Texts that are merged at once.
const CHUNK: usize = 16_384;

/// The tables of the index but its totals, with what tells a project's rows.
const TABLES: [(&str, &str); 7] = [
    ("ordinals", "project = ?1"),
    ("postings", "project = ?1"),
    ("tail", "project = ?1"),
    ("gone", "project = ?1"),
    ("piece_counts", "project = ?1"),
    ("vectors", "id >= ?1 << 32 AND id < (?1 + 1) << 32"),
    ("vectors", embedded::OF_PROJECT),
];

/// Indexes every project of which something is not indexed yet.
pub(in super::super) fn catch_up(connection: &Connection) -> Result<(), Failure> {
    let sql = "SELECT id FROM projects p WHERE \
         EXISTS (SELECT 1 FROM records WHERE project = p.id AND ordinal IS NULL) OR \
         EXISTS (SELECT 1 FROM messages WHERE project = p.id AND ordinal IS NULL)";
    for project in projects(connection, sql)? {
        rebuild(connection, project)?;
    }
    Ok(())
}

/// Builds the index of every project anew.
pub(in super::super) fn rebuild_all(connection: &Connection) -> Result<(), Failure> {
    for (table, _) in TABLES {
        connection.execute(&format!("DELETE FROM {table}"), [])?;
    }
    connection.execute("DELETE FROM index_totals", [])?;
    for project in projects(connection, "SELECT id FROM projects")? {
        rebuild(connection, project)?;
    }
    Ok(())
}

fn projects(connection: &Connection, sql: &str) -> Result<Vec<i64>, Failure> {
    let mut statement = connection.prepare(sql)?;
    let ids = statement.query_map([], |row| row.get(0))?;
    Ok(ids.collect::<Result<_, _>>()?)
}

/// Removes the index of a project.
pub(in super::super) fn remove(connection: &Connection, project: i64) -> Result<(), Failure> {
    for (table, condition) in TABLES {
        connection.execute(&format!("DELETE FROM {table} WHERE {condition}"), [project])?;
    }
    connection.execute("DELETE FROM index_totals WHERE project = ?1", [project])?;
    Ok(())
}

/// Builds the index of one project anew, in the caller's transaction.
pub(in super::super) fn rebuild(connection: &Connection, project: i64) -> Result<(), Failure> {
    let generation = super::of(connection, project)?.map_or(0, |index| index.generation + 1);
    remove(connection, project)?;
    let sql = "INSERT OR REPLACE INTO index_totals VALUES (?1, 0, 0, 0, 0, ?2)";
    connection.execute(sql, params![project, generation])?;
    let mut building = Building {
        connection,
        project,
        next: 0,
        merged: 0,
        len: 0,
        head_len: 0,
        pending: Vec::new(),
        meanings: meanings::Pending::default(),
        pending_texts: 0,
    };
    building.texts()?;
    building.end()
}

struct Building<'c> {
    connection: &'c Connection,
    project: i64,
    next: u32,
    merged: u32,
    len: u64,
    head_len: u64,
    pending: Vec<Pending>,
    meanings: meanings::Pending,
    pending_texts: usize,
}

impl Building<'_> {
    /// Adds every text in the order in which it was added before, so that what grew and what is built at once are
    /// the same to the last byte. What has no place yet comes behind, by its id.
    fn texts(&mut self) -> Result<(), Failure> {
        for (id, is_turn) in self.order()? {
            let (entry, is_gone) = if is_turn {
                self.turn(id)?
            } else {
                self.record(id)?
            };
            self.add(id, is_turn, &entry, is_gone)?;
        }
        Ok(())
    }

    fn order(&self) -> Result<Vec<(RecordId, bool)>, Failure> {
        let sql = "SELECT id, 0 AS is_turn, ifnull(ordinal, 1 << 32) AS place FROM records \
             WHERE project = ?1 UNION ALL \
             SELECT id, 1, ifnull(ordinal, 1 << 32) FROM messages WHERE project = ?1 \
             ORDER BY place, id";
        let mut statement = self.connection.prepare(sql)?;
        let rows = statement.query_map([self.project], |row| {
            Ok((RecordId::from_bytes(row.get(0)?), row.get(1)?))
        })?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    fn record(&self, id: RecordId) -> Result<(Entry, bool), Failure> {
        let sql = "SELECT text, retired_at IS NOT NULL FROM records WHERE project = ?1 AND id = ?2";
        let mut statement = self.connection.prepare_cached(sql)?;
        let mut rows = statement.query(params![self.project, id.as_bytes()])?;
        let row = rows.next()?.ok_or(rusqlite::Error::QueryReturnedNoRows)?;
        let entry = Entry::of(row.get_ref(0)?.as_str().unwrap_or(""));
        Ok((entry, row.get(1)?))
    }

    fn turn(&self, id: RecordId) -> Result<(Entry, bool), Failure> {
        let sql = "SELECT id, seq, role, sender, text, attrs, tokens, at, retired_at IS NOT NULL \
             FROM messages WHERE project = ?1 AND id = ?2";
        let mut statement = self.connection.prepare_cached(sql)?;
        let mut rows = statement.query(params![self.project, id.as_bytes()])?;
        let row = rows.next()?.ok_or(rusqlite::Error::QueryReturnedNoRows)?;
        let entry = Entry::of_turn(&sessions::message(row)?);
        Ok((entry, row.get(8)?))
    }

    fn add(
        &mut self,
        id: RecordId,
        is_turn: bool,
        entry: &Entry,
        is_gone: bool,
    ) -> Result<(), Failure> {
        let ordinal = self.next;
        let table = if is_turn { "messages" } else { "records" };
        let sql = format!("UPDATE {table} SET ordinal = ?3 WHERE project = ?1 AND id = ?2");
        let values = params![self.project, id.as_bytes(), ordinal];
        self.connection.prepare_cached(&sql)?.execute(values)?;
        let sql = "INSERT INTO ordinals (project, ordinal, id, is_turn) VALUES (?1, ?2, ?3, ?4)";
        let values = params![self.project, ordinal, id.as_bytes(), is_turn];
        self.connection.prepare_cached(sql)?.execute(values)?;
        if is_gone {
            mark(self.connection, self.project, ordinal, true)?;
        }
        let terms = entry.terms();
        self.pending
            .extend(entries(&terms).map(|(term, code)| (term, ordinal, code)));
        let counted = entry.meaning.as_ref();
        let counted = counted.map_or_else(Vec::new, |meaning| meaning.distinct.clone());
        self.meanings.add(&entry.vector(), counted);
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
        merge::write(self.connection, self.project, &mut self.pending)?;
        self.pending.clear();
        if self.pending_texts > 0 {
            self.meanings
                .write(self.connection, self.project, self.merged)?;
        }
        self.pending_texts = 0;
        self.merged = self.next;
        Ok(())
    }

    fn end(mut self) -> Result<(), Failure> {
        self.merge()?;
        let sql = "UPDATE index_totals SET texts = ?2, len = ?3, head_len = ?4, merged = ?5 WHERE project = ?1";
        let values = params![
            self.project,
            self.next,
            self.len,
            self.head_len,
            self.merged
        ];
        self.connection.execute(sql, values)?;
        Ok(())
    }
}
