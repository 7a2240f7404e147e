//! Deleting for good, for privacy: the one place with a `DELETE`.

use super::codec;
use super::events::{self, NewEvent};
use super::failure::Failure;
use super::{history, index};
use crate::{Purged, Selection, StoreError};
use heirloom_model::{Action, ProjectName, RecordId, Timestamp};
use rusqlite::types::Value;
use rusqlite::{Connection, Row, ToSql, params};

/// What a purge would delete.
struct Doomed {
    project: i64,
    records: Vec<RecordId>,
    messages: Vec<RecordId>,
    sessions: Vec<String>,
    /// A text that is also to go from who did what, from imports, and from what is said of a session that stays.
    words: Option<Wanted>,
}

/// Counts what [`purge`] would delete.
pub(super) fn count(
    connection: &Connection,
    project: &ProjectName,
    selection: &Selection,
) -> Result<Purged, Failure> {
    Ok(match doomed(connection, project, selection)? {
        Some(doomed) => doomed.counted(),
        None => Purged::default(),
    })
}

/// Deletes in the caller's transaction and says how much.
pub(super) fn purge(
    connection: &Connection,
    project: &ProjectName,
    selection: &Selection,
    at: Timestamp,
    by: &str,
) -> Result<Purged, Failure> {
    let Some(doomed) = doomed(connection, project, selection)? else {
        return Ok(Purged::default());
    };
    let purged = doomed.counted();
    // References are checked when the transaction ends: a session goes before its messages.
    connection.execute_batch("PRAGMA defer_foreign_keys = ON")?;
    if *selection == Selection::Project {
        index::remove(connection, doomed.project)?;
        delete_project(connection, doomed.project)?;
        return Ok(purged);
    }
    delete_records(connection, &doomed)?;
    delete_talks(connection, &doomed)?;
    delete_receipts(connection, &doomed)?;
    if let Some(wanted) = &doomed.words {
        blank(connection, doomed.project, wanted)?;
    }
    let detail = format!(
        "{} records, {} sessions, {} messages",
        purged.records, purged.sessions, purged.messages
    );
    let event = NewEvent {
        detail: Some(&detail),
        ..NewEvent::of(at, Action::Purged, by)
    };
    if purged != Purged::default() {
        index::rebuild(connection, doomed.project)?;
        events::tell(connection, Some(doomed.project), &event)?;
    }
    Ok(purged)
}

/// Rewrites the file without free pages and empties the journal, so that nothing that was deleted is left in
/// them. Returns whether another process holds the journal.
pub(super) fn sweep(connection: &Connection) -> Result<bool, Failure> {
    connection.execute_batch("VACUUM")?;
    let held = connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| {
        row.get::<_, i64>(0)
    })?;
    Ok(held != 0)
}

impl Doomed {
    fn counted(&self) -> Purged {
        Purged {
            records: self.records.len() as u64,
            sessions: self.sessions.len() as u64,
            messages: self.messages.len() as u64,
            residue: false,
        }
    }
}

fn doomed(
    connection: &Connection,
    project: &ProjectName,
    selection: &Selection,
) -> Result<Option<Doomed>, Failure> {
    let number = codec::project(connection, project)?;
    let mut doomed = Doomed {
        project: number.unwrap_or_default(),
        records: Vec::new(),
        messages: Vec::new(),
        sessions: Vec::new(),
        words: None,
    };
    match selection {
        Selection::Records(ids) => {
            for id in ids {
                let chain = history::history(connection, project, *id)?;
                doomed.records.extend(chain.iter().map(|record| record.id));
            }
            doomed.records.sort_unstable();
            doomed.records.dedup();
        }
        Selection::Containing(text) => doomed.containing(connection, text)?,
        Selection::Session(session) => doomed.of_session(connection, project, session)?,
        Selection::Project => {
            doomed.records = ids(connection, "records", "1 = 1", &[&number])?;
            doomed.messages = ids(connection, "messages", "1 = 1", &[&number])?;
            doomed.sessions = sessions(connection, "1 = 1", &[&number])?;
        }
    }
    Ok(number.map(|_| doomed))
}

impl Doomed {
    fn of_session(
        &mut self,
        connection: &Connection,
        project: &ProjectName,
        session: &str,
    ) -> Result<(), Failure> {
        let values: &[&dyn ToSql] = &[&self.project, &session];
        self.records = ids(connection, "records", "session = ?2", values)?;
        self.messages = ids(connection, "messages", "session = ?2", values)?;
        self.sessions = sessions(connection, "id = ?2", values)?;
        if self.records.is_empty() && self.sessions.is_empty() {
            return Err(Failure::Store(StoreError::NotFound {
                what: "session",
                id: session.to_owned(),
                project: project.to_string(),
            }));
        }
        Ok(())
    }

    /// Finds what contains `text` in whatever it says, upper and lower case being the same.
    fn containing(&mut self, connection: &Connection, text: &str) -> Result<(), Failure> {
        let wanted = Wanted::new(text);
        let sql = "SELECT id, text, key, attrs, plan, \"group\", session, task, agent, phase, source \
             FROM records WHERE project = ?1 ORDER BY id";
        self.records = matching(connection, sql, self.project, &wanted)?;
        let sql = "SELECT id, text, attrs, sender FROM messages WHERE project = ?1 ORDER BY id";
        self.messages = matching(connection, sql, self.project, &wanted)?;
        // A name cannot be emptied, so a session that is called so goes as a whole.
        let all = sessions(connection, "1 = 1", &[&self.project])?;
        self.sessions = all.into_iter().filter(|id| wanted.is_in(id)).collect();
        self.words = Some(wanted);
        Ok(())
    }
}

/// A text to look for, as it stands in a column and as it stands in JSON.
struct Wanted {
    plain: String,
    in_json: String,
}

impl Wanted {
    fn new(text: &str) -> Self {
        let plain = text.trim().to_lowercase();
        let quoted = serde_json::Value::String(plain.clone()).to_string();
        let in_json = quoted.trim_matches('"').to_owned();
        Self { plain, in_json }
    }

    fn is_in(&self, column: &str) -> bool {
        let column = column.to_lowercase();
        column.contains(&self.plain) || column.contains(&self.in_json)
    }
}

/// The ids, in the first column, of the rows that say `wanted` in any other one.
fn matching(
    connection: &Connection,
    sql: &str,
    project: i64,
    wanted: &Wanted,
) -> Result<Vec<RecordId>, Failure> {
    let mut statement = connection.prepare(sql)?;
    let columns = statement.column_count();
    let mut rows = statement.query([project])?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        for column in 1..columns {
            let said = row.get_ref(column)?;
            if said.as_str().is_ok_and(|said| wanted.is_in(said)) {
                found.push(RecordId::from_bytes(row.get(0)?));
                break;
            }
        }
    }
    Ok(found)
}

fn ids(
    connection: &Connection,
    table: &str,
    condition: &str,
    values: &[&dyn ToSql],
) -> Result<Vec<RecordId>, Failure> {
    let sql = format!("SELECT id FROM {table} WHERE project = ?1 AND {condition} ORDER BY id");
    let mut statement = connection.prepare(&sql)?;
    let ids = statement.query_map(values, |row| row.get(0).map(RecordId::from_bytes))?;
    Ok(ids.collect::<Result<_, _>>()?)
}

fn sessions(
    connection: &Connection,
    condition: &str,
    values: &[&dyn ToSql],
) -> Result<Vec<String>, Failure> {
    let sql = format!("SELECT id FROM sessions WHERE project = ?1 AND {condition} ORDER BY id");
    let mut statement = connection.prepare(&sql)?;
    let ids = statement.query_map(values, |row| row.get(0))?;
    Ok(ids.collect::<Result<_, _>>()?)
}

fn delete_records(connection: &Connection, doomed: &Doomed) -> Result<(), Failure> {
    gather(connection, &doomed.records)?;
    for sql in [
        "DELETE FROM receipts WHERE project = ?1 AND id IN \
         (SELECT receipt FROM inclusions WHERE project = ?1 AND record IN (SELECT id FROM temp.doomed))",
        "DELETE FROM inclusions WHERE project = ?1 AND record IN (SELECT id FROM temp.doomed)",
        "DELETE FROM lapses WHERE project = ?1 AND id IN (SELECT id FROM temp.doomed)",
        "DELETE FROM events WHERE project = ?1 AND record IN (SELECT id FROM temp.doomed)",
        "UPDATE events SET other = NULL WHERE project = ?1 AND other IN (SELECT id FROM temp.doomed)",
        "UPDATE records SET replaced_by = NULL \
         WHERE project = ?1 AND replaced_by IN (SELECT id FROM temp.doomed)",
        "DELETE FROM records WHERE project = ?1 AND id IN (SELECT id FROM temp.doomed)",
    ] {
        connection.execute(sql, params![doomed.project])?;
    }
    Ok(())
}

/// Puts the ids into a table of this connection, in memory.
fn gather(connection: &Connection, ids: &[RecordId]) -> Result<(), Failure> {
    connection.execute_batch(
        "CREATE TEMP TABLE IF NOT EXISTS doomed (id BLOB PRIMARY KEY) WITHOUT ROWID;
         DELETE FROM temp.doomed;",
    )?;
    let mut statement = connection.prepare("INSERT OR IGNORE INTO temp.doomed VALUES (?1)")?;
    for id in ids {
        statement.execute([id.as_bytes()])?;
    }
    Ok(())
}

/// Deletes the receipts of sessions that go, and those that say the words that go. What a receipt had cut says only
/// the beginning of a text: those of deleted records go with the records' ids.
fn delete_receipts(connection: &Connection, doomed: &Doomed) -> Result<(), Failure> {
    for session in &doomed.sessions {
        for sql in [
            "DELETE FROM receipts WHERE project = ?1 AND session = ?2",
            "UPDATE inclusions SET session = NULL WHERE project = ?1 AND session = ?2",
        ] {
            connection
                .prepare_cached(sql)?
                .execute(params![doomed.project, session])?;
        }
    }
    let sql = "SELECT slot, body FROM receipts WHERE project = ?1";
    let mut statement = connection.prepare(sql)?;
    let said = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?));
    let all = statement.query_map([doomed.project], said)?;
    let all: Vec<(i64, String)> = all.collect::<Result<_, _>>()?;
    let ids: Vec<String> = doomed.records.iter().map(ToString::to_string).collect();
    for (slot, body) in all {
        let says = doomed
            .words
            .as_ref()
            .is_some_and(|wanted| wanted.is_in(&body))
            || ids.iter().any(|id| body.contains(id.as_str()));
        if says {
            let sql = "DELETE FROM receipts WHERE project = ?1 AND slot = ?2";
            connection.execute(sql, params![doomed.project, slot])?;
        }
    }
    Ok(())
}

/// Deletes sessions with their messages; a message of a session that stays is emptied in its place.
fn delete_talks(connection: &Connection, doomed: &Doomed) -> Result<(), Failure> {
    for session in &doomed.sessions {
        for sql in [
            "DELETE FROM messages WHERE project = ?1 AND session = ?2",
            "DELETE FROM sessions WHERE project = ?1 AND id = ?2",
        ] {
            let values = params![doomed.project, session];
            connection.prepare_cached(sql)?.execute(values)?;
        }
    }
    gather(connection, &doomed.messages)?;
    let sql = "UPDATE messages SET text = '[purged]', attrs = NULL, sender = NULL, tokens = 2 \
         WHERE project = ?1 AND id IN (SELECT id FROM temp.doomed)";
    connection.execute(sql, params![doomed.project])?;
    Ok(())
}

/// What may say something beside records and messages: the table, what names a row, the column, and what takes
/// the place of what it says.
const ASIDE: [[&str; 4]; 7] = [
    ["sessions", "id", "agent", "NULL"],
    ["sessions", "id", "task", "NULL"],
    ["sessions", "id", "attrs", "NULL"],
    ["batches", "id", "source", "'[purged]'"],
    ["batches", "id", "by", "'[purged]'"],
    ["events", "rowid", "detail", "NULL"],
    ["events", "rowid", "by", "'[purged]'"],
];

/// Empties every column beside records and messages that says `wanted`.
fn blank(connection: &Connection, project: i64, wanted: &Wanted) -> Result<(), Failure> {
    for [table, key, column, instead] in ASIDE {
        let sql = format!("SELECT {key}, {column} FROM {table} WHERE project = ?1");
        let mut statement = connection.prepare(&sql)?;
        let said = |row: &Row<'_>| Ok((row.get(0)?, row.get::<_, Option<String>>(1)?));
        let all = statement.query_map([project], said)?;
        let all: Vec<(Value, Option<String>)> = all.collect::<Result<_, _>>()?;
        let sql =
            format!("UPDATE {table} SET {column} = {instead} WHERE project = ?1 AND {key} = ?2");
        for (key, said) in all {
            if said.is_some_and(|said| wanted.is_in(&said)) {
                connection.execute(&sql, params![project, key])?;
            }
        }
    }
    Ok(())
}

fn delete_project(connection: &Connection, project: i64) -> Result<(), Failure> {
    for table in [
        "receipts",
        "inclusions",
        "lapses",
        "events",
        "messages",
        "sessions",
        "records",
        "batches",
    ] {
        let sql = format!("DELETE FROM {table} WHERE project = ?1");
        connection.execute(&sql, params![project])?;
    }
    connection.execute("DELETE FROM projects WHERE id = ?1", params![project])?;
    Ok(())
}
