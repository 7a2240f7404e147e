//! Implementation of [`Store`] for [`SqliteStore`]: delegates each method to the module that executes it.

use super::database_files::file_guard::FileGuard;
use super::{SqliteStore, backup, integrity};
use crate::relational::write::{apply, purge};
use crate::relational::{
    audit_events, index, receipts, record_history, record_lookup, record_query, sessions,
};
use crate::{
    AppliedChange, Change, DeliveryStats, Description, EmbeddingBacklog, Filter, KindCounts,
    PurgeReport, PurgeTarget, RecentReceipts, SearchQuery, SearchResults, Store, StoreError,
    VectorBatch, validation,
};
use heirloom_model::{
    Event, Message, ProjectName, Record, RecordId, Session, Timestamp, ValidityGap,
};
use rusqlite::Connection;
use std::collections::HashMap;
use std::path::Path;

impl Store for SqliteStore {
    fn apply(
        &self,
        project: &ProjectName,
        changes: &[Change],
    ) -> Result<Vec<AppliedChange>, StoreError> {
        validation::changes(project, changes)?;
        if changes.is_empty() {
            return Ok(Vec::new());
        }
        let is_receipt = |change: &Change| matches!(change, Change::StoreReceipt(_));
        if changes.iter().all(is_receipt) {
            let work = |connection: &Connection| apply::apply(connection.into(), project, changes);
            return self.write_without_sync(work);
        }
        self.apply_grouped(project, changes)
    }

    fn get(&self, project: &ProjectName, id: RecordId) -> Result<Record, StoreError> {
        self.read(|connection| record_lookup::get(connection.into(), project, id))
    }

    fn ids_with_prefix(
        &self,
        project: &ProjectName,
        prefix: &str,
        limit: usize,
    ) -> Result<Vec<RecordId>, StoreError> {
        validation::limit("ids_with_prefix", limit)?;
        self.read(|connection| {
            record_lookup::ids_with_prefix(connection.into(), project, prefix, limit)
        })
    }

    fn find(&self, project: &ProjectName, filter: &Filter) -> Result<Vec<Record>, StoreError> {
        validation::filter(filter)?;
        self.read(|connection| record_query::find(connection.into(), project, filter))
    }

    fn count(&self, project: &ProjectName, filter: &Filter) -> Result<u64, StoreError> {
        validation::filter(filter)?;
        self.read(|connection| record_query::count(connection.into(), project, filter))
    }

    fn search(
        &self,
        project: &ProjectName,
        search: &SearchQuery,
    ) -> Result<SearchResults, StoreError> {
        validation::search(search)?;
        self.read(|connection| {
            // One snapshot of the index from its totals to its last block.
            let snapshot = connection.unchecked_transaction()?;
            let found = index::search((&*snapshot).into(), project, search, &self.cache)?;
            snapshot.rollback()?;
            Ok(found)
        })
    }

    fn history(&self, project: &ProjectName, id: RecordId) -> Result<Vec<Record>, StoreError> {
        self.read(|connection| record_history::history(connection.into(), project, id))
    }

    fn validity_gaps(
        &self,
        project: &ProjectName,
        ids: &[RecordId],
    ) -> Result<Vec<(RecordId, ValidityGap)>, StoreError> {
        validation::ids(ids)?;
        self.read(|connection| record_history::validity_gaps(connection.into(), project, ids))
    }

    fn counts(&self, project: &ProjectName, now: Timestamp) -> Result<KindCounts, StoreError> {
        let stamp = self.file_guard.as_ref().and_then(FileGuard::stamp);
        self.read(|connection| {
            // One snapshot for both parts.
            let snapshot = connection.unchecked_transaction()?;
            let counts =
                record_history::counts((&*snapshot).into(), project, &self.cache, stamp, now)?;
            snapshot.rollback()?;
            Ok(counts)
        })
    }

    fn projects(&self) -> Result<Vec<ProjectName>, StoreError> {
        self.read(|connection| record_lookup::projects(connection.into()))
    }

    fn put_session(&self, session: &Session) -> Result<(), StoreError> {
        validation::session(session)?;
        self.write(|connection| sessions::put(connection.into(), session))
    }

    fn session(&self, project: &ProjectName, id: &str) -> Result<Session, StoreError> {
        self.read(|connection| sessions::get(connection.into(), project, id))
    }

    fn sessions(
        &self,
        project: &ProjectName,
        task: Option<&str>,
        limit: usize,
    ) -> Result<Vec<Session>, StoreError> {
        validation::limit("sessions", limit)?;
        self.read(|connection| sessions::list(connection.into(), project, task, limit))
    }

    fn append_messages(
        &self,
        project: &ProjectName,
        session: &str,
        messages: &[Message],
    ) -> Result<u64, StoreError> {
        validation::messages(messages)?;
        self.write_indexed(project, |connection| {
            sessions::append(connection.into(), project, session, messages)
        })
    }

    fn messages(
        &self,
        project: &ProjectName,
        session: &str,
        from: u64,
        limit: usize,
    ) -> Result<Vec<Message>, StoreError> {
        validation::limit("messages", limit)?;
        self.read(|connection| sessions::messages(connection.into(), project, session, from, limit))
    }

    fn turns(
        &self,
        project: &ProjectName,
        ids: &[RecordId],
    ) -> Result<Vec<(String, Message)>, StoreError> {
        validation::ids(ids)?;
        self.read(|connection| sessions::turns(connection.into(), project, ids))
    }

    fn events(
        &self,
        project: &ProjectName,
        record: Option<RecordId>,
        limit: usize,
    ) -> Result<Vec<Event>, StoreError> {
        validation::events(limit)?;
        self.read(|connection| audit_events::list(connection.into(), project, record, limit))
    }

    fn delivery_stats(
        &self,
        project: &ProjectName,
        newest: RecentReceipts,
        records: &[RecordId],
    ) -> Result<DeliveryStats, StoreError> {
        validation::ids(records)?;
        validation::limit("delivery_stats", newest.limit())?;
        self.read(|connection| {
            receipts::delivery_stats(connection.into(), project, newest, records)
        })
    }

    fn preview_purge(
        &self,
        project: &ProjectName,
        selection: &PurgeTarget,
    ) -> Result<PurgeReport, StoreError> {
        validation::purge_target(selection)?;
        self.read(|connection| purge::count(connection.into(), project, selection))
    }

    fn purge(
        &self,
        project: &ProjectName,
        selection: &PurgeTarget,
        at: Timestamp,
        by: &str,
    ) -> Result<PurgeReport, StoreError> {
        validation::purge_target(selection)?;
        let mut purged =
            self.write(|connection| purge::purge(connection.into(), project, selection, at, by))?;
        index::remove_sidecars(&self.place.path());
        // The deletion is committed and acknowledged even if the sweep fails.
        purged.residue = self.with_writer(super::connection::sweep).unwrap_or(true);
        Ok(purged)
    }

    fn embedding_backlog(
        &self,
        project: &ProjectName,
        model: &str,
        limit: usize,
    ) -> Result<EmbeddingBacklog, StoreError> {
        validation::model(model)?;
        validation::limit("embedding_backlog", limit)?;
        self.read(|connection| {
            let snapshot = connection.unchecked_transaction()?;
            let found = index::embedding_backlog((&*snapshot).into(), project, model, limit)?;
            snapshot.rollback()?;
            Ok(found)
        })
    }

    fn model_vectors(
        &self,
        project: &ProjectName,
        model: &str,
        records: &[RecordId],
    ) -> Result<HashMap<RecordId, Vec<f32>>, StoreError> {
        validation::model(model)?;
        self.read(|connection| {
            let snapshot = connection.unchecked_transaction()?;
            let found = index::model_vectors((&*snapshot).into(), project, model, records)?;
            snapshot.rollback()?;
            Ok(found)
        })
    }

    fn store_vectors(
        &self,
        project: &ProjectName,
        vectors: &VectorBatch,
    ) -> Result<bool, StoreError> {
        validation::vectors(vectors)?;
        self.write(|connection| index::store_vectors(connection.into(), project, vectors))
    }

    fn describe(&self) -> Result<Description, StoreError> {
        self.read(|connection| integrity::describe(connection, &self.place))
    }

    fn check(&self) -> Result<Vec<String>, StoreError> {
        self.read(|connection| {
            // One snapshot for all tables during concurrent writes.
            let snapshot = connection.unchecked_transaction()?;
            let findings = integrity::check(&snapshot)?;
            snapshot.rollback()?;
            Ok(findings)
        })
    }

    fn backup(&self, file: &Path) -> Result<Description, StoreError> {
        backup::backup(self, file)
    }
}
