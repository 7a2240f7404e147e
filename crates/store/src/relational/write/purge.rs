//! Permanent deletion, for privacy: the one place with a `DELETE` of user data.

use crate::relational::audit_events::{self, NewEvent};
use crate::relational::{index, record_history, row_codec};
use crate::sql::failure::Failure;
use crate::sql::{Connection, Row};
use crate::{PurgeReport, PurgeTarget, StoreError};
use heirloom_model::{Action, ProjectName, RecordId, Timestamp, text};
use rusqlite::types::Value;
use rusqlite::{ToSql, params};

/// Items that a purge deletes.
struct PurgeSet {
    project: i64,
    records: Vec<RecordId>,
    messages: Vec<RecordId>,
    sessions: Vec<String>,
    /// Text to remove also from audit events, import batches and the metadata of sessions that stay.
    words: Option<TextMatcher>,
}

/// Counts what [`purge`] would delete.
pub(crate) fn count(
    connection: Connection<'_>,
    project: &ProjectName,
    selection: &PurgeTarget,
) -> Result<PurgeReport, Failure> {
    Ok(match collect_targets(connection, project, selection)? {
        Some(targets) => targets.report(),
        None => PurgeReport::default(),
    })
}

/// Deletes in the caller's transaction and returns the numbers.
pub(crate) fn purge(
    connection: Connection<'_>,
    project: &ProjectName,
    selection: &PurgeTarget,
    at: Timestamp,
    by: &str,
) -> Result<PurgeReport, Failure> {
    let Some(targets) = collect_targets(connection, project, selection)? else {
        return Ok(PurgeReport::default());
    };
    let purged = targets.report();
    // Foreign keys are checked at the end of the transaction, because a session is deleted before its messages.
    connection.defer_foreign_keys()?;
    if *selection == PurgeTarget::Project {
        index::remove(connection, targets.project)?;
        delete_project(connection, targets.project)?;
        return Ok(purged);
    }
    delete_records(connection, &targets)?;
    delete_sessions(connection, &targets)?;
    delete_receipts(connection, &targets)?;
    if let Some(matcher) = &targets.words {
        blank_columns(connection, targets.project, matcher)?;
    }
    let detail = format!(
        "{}, {}, {}",
        text::counted(purged.records, "record", "records"),
        text::counted(purged.sessions, "session", "sessions"),
        text::counted(purged.messages, "message", "messages")
    );
    let event = NewEvent {
        detail: Some(&detail),
        ..NewEvent::of(at, Action::Purged, by)
    };
    if purged != PurgeReport::default() {
        index::rebuild(connection, targets.project)?;
        audit_events::insert(connection, Some(targets.project), &event)?;
    }
    Ok(purged)
}

impl PurgeSet {
    fn report(&self) -> PurgeReport {
        PurgeReport {
            records: self.records.len() as u64,
            sessions: self.sessions.len() as u64,
            messages: self.messages.len() as u64,
            residue: false,
        }
    }
}

fn collect_targets(
    connection: Connection<'_>,
    project: &ProjectName,
    selection: &PurgeTarget,
) -> Result<Option<PurgeSet>, Failure> {
    let number = row_codec::project(connection, project)?;
    let mut targets = PurgeSet {
        project: number.unwrap_or_default(),
        records: Vec::new(),
        messages: Vec::new(),
        sessions: Vec::new(),
        words: None,
    };
    match selection {
        PurgeTarget::Records(ids) => {
            for id in ids {
                let chain = record_history::history(connection, project, *id)?;
                targets.records.extend(chain.iter().map(|record| record.id));
            }
            targets.records.sort_unstable();
            targets.records.dedup();
        }
        PurgeTarget::Containing(text) => targets.add_containing(connection, text)?,
        PurgeTarget::Session(session) => targets.add_session(connection, project, session)?,
        PurgeTarget::Project => {
            targets.records = ids(connection, "records", "1 = 1", &[&number])?;
            targets.messages = ids(connection, "messages", "1 = 1", &[&number])?;
            targets.sessions = sessions(connection, "1 = 1", &[&number])?;
        }
    }
    Ok(number.map(|_| targets))
}

impl PurgeSet {
    fn add_session(
        &mut self,
        connection: Connection<'_>,
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

    /// Collects all items that contain `text` in any column, case-insensitively.
    fn add_containing(&mut self, connection: Connection<'_>, text: &str) -> Result<(), Failure> {
        let matcher = TextMatcher::new(text);
        let sql = "SELECT id, text, key, attrs, plan, \"group\", session, task, agent, phase, source \
             FROM records WHERE project = ?1 ORDER BY id";
        self.records = matching(connection, sql, self.project, &matcher)?;
        let sql = "SELECT id, text, attrs, sender FROM messages WHERE project = ?1 ORDER BY id";
        self.messages = matching(connection, sql, self.project, &matcher)?;
        // The name of a session cannot be blanked, so a session with this text in its name is deleted.
        let all = sessions(connection, "1 = 1", &[&self.project])?;
        self.sessions = all.into_iter().filter(|id| matcher.matches(id)).collect();
        self.words = Some(matcher);
        Ok(())
    }
}

/// Text to search for, as plain text and in JSON-escaped form.
struct TextMatcher {
    plain: String,
    in_json: String,
}

impl TextMatcher {
    fn new(text: &str) -> Self {
        let plain = text.trim().to_lowercase();
        let quoted = serde_json::Value::String(plain.clone()).to_string();
        let in_json = quoted.trim_matches('"').to_owned();
        Self { plain, in_json }
    }

    fn matches(&self, column: &str) -> bool {
        let column = column.to_lowercase();
        column.contains(&self.plain) || column.contains(&self.in_json)
    }
}

/// Returns the ids, in the first column, of the rows with a match in any other column.
fn matching(
    connection: Connection<'_>,
    sql: &str,
    project: i64,
    matcher: &TextMatcher,
) -> Result<Vec<RecordId>, Failure> {
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query([project])?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        for column in 1..row.column_count() {
            let value = row.get_ref(column)?;
            if value.as_str().is_ok_and(|value| matcher.matches(value)) {
                found.push(RecordId::from_bytes(row.get(0)?));
                break;
            }
        }
    }
    Ok(found)
}

fn ids(
    connection: Connection<'_>,
    table: &str,
    condition: &str,
    values: &[&dyn ToSql],
) -> Result<Vec<RecordId>, Failure> {
    let sql = format!("SELECT id FROM {table} WHERE project = ?1 AND {condition} ORDER BY id");
    let mut statement = connection.prepare_cached(&sql)?;
    Ok(statement.query_map(values, |row| row.get(0).map(RecordId::from_bytes))?)
}

fn sessions(
    connection: Connection<'_>,
    condition: &str,
    values: &[&dyn ToSql],
) -> Result<Vec<String>, Failure> {
    let sql = format!("SELECT id FROM sessions WHERE project = ?1 AND {condition} ORDER BY id");
    let mut statement = connection.prepare_cached(&sql)?;
    Ok(statement.query_map(values, |row| row.get(0))?)
}

fn delete_records(connection: Connection<'_>, targets: &PurgeSet) -> Result<(), Failure> {
    let ids = row_codec::id_list(&targets.records);
    let is_target = "IN (SELECT unhex(value) FROM json_each(?2))";
    for sql in [
        "DELETE FROM receipts WHERE project = ?1 AND id IN \
         (SELECT receipt FROM inclusions WHERE project = ?1 AND record {})",
        "DELETE FROM inclusions WHERE project = ?1 AND record {}",
        "DELETE FROM lapses WHERE project = ?1 AND id {}",
        "DELETE FROM events WHERE project = ?1 AND record {}",
        "UPDATE events SET other = NULL WHERE project = ?1 AND other {}",
        "UPDATE records SET replaced_by = NULL WHERE project = ?1 AND replaced_by {}",
        "DELETE FROM records WHERE project = ?1 AND id {}",
    ] {
        let sql = sql.replace("{}", is_target);
        let mut statement = connection.prepare_cached(&sql)?;
        statement.write(params![targets.project, ids])?;
    }
    Ok(())
}

/// Deletes the receipts of deleted sessions and those that contain the purged text. Receipts may have only the
/// beginning of a text, so receipts of deleted records are found by the records' ids.
fn delete_receipts(connection: Connection<'_>, targets: &PurgeSet) -> Result<(), Failure> {
    for session in &targets.sessions {
        for sql in [
            "DELETE FROM receipts WHERE project = ?1 AND session = ?2",
            "UPDATE inclusions SET session = NULL WHERE project = ?1 AND session = ?2",
        ] {
            connection
                .prepare_cached(sql)?
                .execute(params![targets.project, session])?;
        }
    }
    let sql = "SELECT slot, body FROM receipts WHERE project = ?1";
    let mut statement = connection.prepare_cached(sql)?;
    let value = |row: Row<'_>| Ok((row.get(0)?, row.get(1)?));
    let all: Vec<(i64, String)> = statement.query_map([targets.project], value)?;
    let ids: Vec<String> = targets.records.iter().map(ToString::to_string).collect();
    for (slot, body) in all {
        let is_match = targets
            .words
            .as_ref()
            .is_some_and(|matcher| matcher.matches(&body))
            || ids.iter().any(|id| body.contains(id.as_str()));
        if is_match {
            let sql = "DELETE FROM receipts WHERE project = ?1 AND slot = ?2";
            connection.execute(sql, params![targets.project, slot])?;
        }
    }
    Ok(())
}

/// Deletes sessions with their messages; blanks deleted messages of sessions that stay.
fn delete_sessions(connection: Connection<'_>, targets: &PurgeSet) -> Result<(), Failure> {
    for session in &targets.sessions {
        for sql in [
            "DELETE FROM messages WHERE project = ?1 AND session = ?2",
            "DELETE FROM sessions WHERE project = ?1 AND id = ?2",
        ] {
            let values = params![targets.project, session];
            connection.prepare_cached(sql)?.execute(values)?;
        }
    }
    let sql = "UPDATE messages SET text = '[purged]', attrs = NULL, sender = NULL, tokens = 2 \
         WHERE project = ?1 AND id IN (SELECT unhex(value) FROM json_each(?2))";
    let ids = row_codec::id_list(&targets.messages);
    let mut statement = connection.prepare_cached(sql)?;
    statement.write(params![targets.project, ids])?;
    Ok(())
}

/// Other columns that may contain the text: table, row key, column, and replacement value.
const OTHER_COLUMNS: [[&str; 4]; 7] = [
    ["sessions", "id", "agent", "NULL"],
    ["sessions", "id", "task", "NULL"],
    ["sessions", "id", "attrs", "NULL"],
    ["batches", "id", "source", "'[purged]'"],
    ["batches", "id", "by", "'[purged]'"],
    ["events", "rowid", "detail", "NULL"],
    ["events", "rowid", "by", "'[purged]'"],
];

/// Blanks every other column that contains the text.
fn blank_columns(
    connection: Connection<'_>,
    project: i64,
    matcher: &TextMatcher,
) -> Result<(), Failure> {
    for [table, key, column, instead] in OTHER_COLUMNS {
        let sql = format!("SELECT {key}, {column} FROM {table} WHERE project = ?1");
        let mut statement = connection.prepare_cached(&sql)?;
        let value = |row: Row<'_>| Ok((row.get(0)?, row.get::<Option<String>>(1)?));
        let all: Vec<(Value, Option<String>)> = statement.query_map([project], value)?;
        let sql =
            format!("UPDATE {table} SET {column} = {instead} WHERE project = ?1 AND {key} = ?2");
        for (key, value) in all {
            if value.is_some_and(|value| matcher.matches(&value)) {
                connection.execute(&sql, params![project, key])?;
            }
        }
    }
    Ok(())
}

fn delete_project(connection: Connection<'_>, project: i64) -> Result<(), Failure> {
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
