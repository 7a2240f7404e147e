//! Keys of the rows that changes meet, and the statements that read these rows from PostgreSQL.

use crate::Change;
use crate::relational::row_codec::COLUMNS;
use crate::sql::QueryBatch;
use crate::sql::failure::Failure;
use heirloom_model::{Kind, Record, RecordId};
use rusqlite::params;
use serde_json::json;
use std::collections::BTreeSet;

/// Kind, key and category: at most one current record has them.
pub(super) type Identity = (Kind, String, String);

/// Keys of the rows that changes meet.
#[derive(Debug, Default)]
pub(crate) struct ChangeKeys {
    pub(super) records: BTreeSet<RecordId>,
    pub(super) identities: BTreeSet<Identity>,
    pub(super) sessions: BTreeSet<String>,
    pub(super) messages: BTreeSet<RecordId>,
    pub(super) batches: BTreeSet<RecordId>,
    pub(super) has_receipt: bool,
}

/// Returns the identity of a record; `None` if it has no key.
pub(super) fn identity(record: &Record) -> Option<Identity> {
    let key = record.key.clone()?;
    let category = record.category().unwrap_or("").to_owned();
    Some((record.kind, key, category))
}

/// Returns false for texts whose stored form differs in JSON, which are few.
fn is_plain(text: &str) -> bool {
    !text.contains(|c| c == '\0' || c >= '\u{10fffe}')
}

impl ChangeKeys {
    /// Collects the keys of these changes.
    pub(crate) fn of<'c>(changes: impl IntoIterator<Item = &'c Change>) -> Self {
        let mut keys = Self::default();
        for change in changes {
            keys.add(change);
        }
        keys
    }

    fn add(&mut self, change: &Change) {
        match change {
            Change::Put { record, .. } => self.add_record(record),
            Change::Revise { id, record } => {
                self.records.insert(*id);
                self.add_record(record);
            }
            Change::Retire { id, .. }
            | Change::Restore { id, .. }
            | Change::ReopenConflict { id, .. }
            | Change::Mark { id, .. }
            | Change::ImportValidityGap { id, .. }
            | Change::ResolveConflict { keep: id, .. } => {
                self.records.insert(*id);
            }
            Change::BeginBatch(batch) => {
                self.batches.insert(batch.id);
            }
            Change::ImportSession(session) => self.add_session(&session.id),
            Change::ImportMessage { session, message } => {
                self.messages.insert(message.id);
                self.add_session(session);
            }
            Change::StoreReceipt(_) => self.has_receipt = true,
            Change::ToggleBatch { .. } => {}
        }
    }

    fn add_record(&mut self, record: &Record) {
        self.records.insert(record.id);
        let identity = identity(record);
        self.identities
            .extend(identity.filter(|(_, key, category)| is_plain(key) && is_plain(category)));
    }

    fn add_session(&mut self, session: &str) {
        if is_plain(session) {
            self.sessions.insert(session.to_owned());
        }
    }

    /// Formats the identities as a JSON array.
    pub(super) fn identity_list(&self) -> String {
        let list = self.identities.iter();
        let list = list.map(|(kind, key, category)| json!([kind.as_str(), key, category]));
        serde_json::Value::from_iter(list).to_string()
    }

    /// Formats the sessions as a JSON array.
    pub(super) fn session_list(&self) -> String {
        json!(self.sessions).to_string()
    }

    /// Adds the queries for the rows to a batch.
    pub(crate) fn prefetch(&self, batch: &mut QueryBatch<'_>, project: i64) -> Result<(), Failure> {
        if !self.records.is_empty() {
            batch.add(&by_id(), params![project, id_array(&self.records)])?;
        }
        if !self.identities.is_empty() {
            batch.add(&by_identity(), params![project, self.identity_list()])?;
        }
        if !self.sessions.is_empty() {
            batch.add(SESSIONS, params![project, self.session_list()])?;
        }
        if !self.messages.is_empty() {
            batch.add(MESSAGES, params![project, id_array(&self.messages)])?;
        }
        if !self.batches.is_empty() {
            batch.add(BATCHES, params![project, id_array(&self.batches)])?;
        }
        if self.has_receipt {
            batch.add(NEXT_RECEIPT, params![project])?;
        }
        Ok(())
    }
}

/// Statement that reads records by their ids, each by a lookup in the index: without statistics the planner would scan the
/// project.
pub(super) fn by_id() -> String {
    format!(
        "SELECT found.* FROM unnest(CAST(CAST(?2 AS text) AS uuid[])) AS wanted (id) \
         CROSS JOIN LATERAL (SELECT {COLUMNS}, ordinal, batch FROM records WHERE project = ?1 \
         AND records.id = wanted.id LIMIT 1) AS found"
    )
}

/// Statement that reads current records by their identities. The limit makes the planner use the index.
pub(super) fn by_identity() -> String {
    format!(
        "SELECT found.* FROM json_array_elements(CAST(?2 AS json)) AS wanted (identity) \
         CROSS JOIN LATERAL (SELECT {COLUMNS}, ordinal, batch FROM records WHERE project = ?1 \
         AND kind = wanted.identity ->> 0 AND key = wanted.identity ->> 1 \
         AND coalesce(category, '') = wanted.identity ->> 2 AND retired_at IS NULL LIMIT 1) AS found"
    )
}

/// Statement that reads sessions and the positions of their next messages.
pub(super) const SESSIONS: &str = "SELECT id, retired_at IS NOT NULL, \
     coalesce((SELECT max(seq) + 1 FROM messages m WHERE m.project = ?1 AND m.session = s.id), 0) \
     FROM sessions s WHERE project = ?1 \
     AND id IN (SELECT value FROM json_array_elements_text(CAST(?2 AS json)))";
/// Statement that reads messages by their ids.
pub(super) const MESSAGES: &str = "SELECT id, retired_at IS NOT NULL FROM messages \
     WHERE project = ?1 AND id = ANY(CAST(CAST(?2 AS text) AS uuid[]))";
/// Statement that reads import batches by their ids.
pub(super) const BATCHES: &str = "SELECT id FROM batches \
     WHERE project = ?1 AND id = ANY(CAST(CAST(?2 AS text) AS uuid[]))";
/// Statement that reads the number of the next receipt.
pub(super) const NEXT_RECEIPT: &str =
    "SELECT ifnull(max(number) + 1, 0) FROM receipts WHERE project = ?1";

/// Formats ids as an array of PostgreSQL.
pub(super) fn id_array(ids: &BTreeSet<RecordId>) -> String {
    let ids: Vec<String> = ids.iter().map(RecordId::to_string).collect();
    format!("{{{}}}", ids.join(","))
}
