//! Implementation of [`Store`] for [`PostgresStore`]: delegates each method to the module that executes it.

use super::{PostgresStore, schema};
use crate::relational::write::purge;
use crate::relational::{
    audit_events, index, receipts, record_history, record_lookup, record_query, sessions,
};
use crate::{
    AppliedChange, Change, DeliveryStats, Description, EmbeddingBacklog, Filter, KindCounts,
    PurgeReport, PurgeTarget, RecentReceipts, SearchQuery, SearchResults, SharedStore, Store,
    StoreError, VectorBatch, validation,
};
use heirloom_model::{
    Event, Message, ProjectName, Record, RecordId, Session, Timestamp, ValidityGap,
};
use std::collections::HashMap;
use std::path::Path;

impl Store for PostgresStore {
    fn apply(
        &self,
        project: &ProjectName,
        changes: &[Change],
    ) -> Result<Vec<AppliedChange>, StoreError> {
        validation::changes(project, changes)?;
        if changes.is_empty() {
            return Ok(Vec::new());
        }
        self.apply_grouped(project, changes)
    }

    fn get(&self, project: &ProjectName, id: RecordId) -> Result<Record, StoreError> {
        self.read(|connection| record_lookup::get(connection, project, id))
    }

    fn ids_with_prefix(
        &self,
        project: &ProjectName,
        prefix: &str,
        limit: usize,
    ) -> Result<Vec<RecordId>, StoreError> {
        validation::limit("ids_with_prefix", limit)?;
        self.read(|connection| record_lookup::ids_with_prefix(connection, project, prefix, limit))
    }

    fn find(&self, project: &ProjectName, filter: &Filter) -> Result<Vec<Record>, StoreError> {
        validation::filter(filter)?;
        self.read(|connection| record_query::find(connection, project, filter))
    }

    fn count(&self, project: &ProjectName, filter: &Filter) -> Result<u64, StoreError> {
        validation::filter(filter)?;
        self.read(|connection| record_query::count(connection, project, filter))
    }

    fn search(
        &self,
        project: &ProjectName,
        search: &SearchQuery,
    ) -> Result<SearchResults, StoreError> {
        validation::search(search)?;
        self.read_snapshot(|connection| index::search(connection, project, search, &self.cache))
    }

    fn history(&self, project: &ProjectName, id: RecordId) -> Result<Vec<Record>, StoreError> {
        self.read(|connection| record_history::history(connection, project, id))
    }

    fn validity_gaps(
        &self,
        project: &ProjectName,
        ids: &[RecordId],
    ) -> Result<Vec<(RecordId, ValidityGap)>, StoreError> {
        validation::ids(ids)?;
        self.read(|connection| record_history::validity_gaps(connection, project, ids))
    }

    fn counts(&self, project: &ProjectName, now: Timestamp) -> Result<KindCounts, StoreError> {
        self.read_snapshot(|connection| {
            record_history::counts(connection, project, &self.cache, None, now)
        })
    }

    fn projects(&self) -> Result<Vec<ProjectName>, StoreError> {
        self.read(record_lookup::projects)
    }

    fn put_session(&self, session: &Session) -> Result<(), StoreError> {
        validation::session(session)?;
        self.write(&session.project, |connection| {
            sessions::put(connection, session)
        })
    }

    fn session(&self, project: &ProjectName, id: &str) -> Result<Session, StoreError> {
        self.read(|connection| sessions::get(connection, project, id))
    }

    fn sessions(
        &self,
        project: &ProjectName,
        task: Option<&str>,
        limit: usize,
    ) -> Result<Vec<Session>, StoreError> {
        validation::limit("sessions", limit)?;
        self.read(|connection| sessions::list(connection, project, task, limit))
    }

    fn append_messages(
        &self,
        project: &ProjectName,
        session: &str,
        messages: &[Message],
    ) -> Result<u64, StoreError> {
        validation::messages(messages)?;
        self.write_indexed(
            project,
            |batch, number| sessions::prefetch_append(batch, number, session, messages),
            |connection| sessions::append(connection, project, session, messages),
        )
    }

    fn messages(
        &self,
        project: &ProjectName,
        session: &str,
        from: u64,
        limit: usize,
    ) -> Result<Vec<Message>, StoreError> {
        validation::limit("messages", limit)?;
        self.read(|connection| sessions::messages(connection, project, session, from, limit))
    }

    fn turns(
        &self,
        project: &ProjectName,
        ids: &[RecordId],
    ) -> Result<Vec<(String, Message)>, StoreError> {
        validation::ids(ids)?;
        self.read(|connection| sessions::turns(connection, project, ids))
    }

    fn events(
        &self,
        project: &ProjectName,
        record: Option<RecordId>,
        limit: usize,
    ) -> Result<Vec<Event>, StoreError> {
        validation::events(limit)?;
        self.read(|connection| audit_events::list(connection, project, record, limit))
    }

    fn delivery_stats(
        &self,
        project: &ProjectName,
        newest: RecentReceipts,
        records: &[RecordId],
    ) -> Result<DeliveryStats, StoreError> {
        validation::ids(records)?;
        validation::limit("delivery_stats", newest.limit())?;
        self.read_snapshot(|connection| {
            receipts::delivery_stats(connection, project, newest, records)
        })
    }

    fn preview_purge(
        &self,
        project: &ProjectName,
        selection: &PurgeTarget,
    ) -> Result<PurgeReport, StoreError> {
        validation::purge_target(selection)?;
        self.read_snapshot(|connection| purge::count(connection, project, selection))
    }

    fn purge(
        &self,
        project: &ProjectName,
        selection: &PurgeTarget,
        at: Timestamp,
        by: &str,
    ) -> Result<PurgeReport, StoreError> {
        validation::purge_target(selection)?;
        let mut purged = self.write(project, |connection| {
            purge::purge(connection, project, selection, at, by)
        })?;
        self.shared.projects.clear();
        // The deletion is committed and acknowledged even if the sweep fails.
        purged.residue = self.read(schema::sweep).is_err();
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
        self.read_snapshot(|connection| index::embedding_backlog(connection, project, model, limit))
    }

    fn model_vectors(
        &self,
        project: &ProjectName,
        model: &str,
        records: &[RecordId],
    ) -> Result<HashMap<RecordId, Vec<f32>>, StoreError> {
        validation::model(model)?;
        self.read_snapshot(|connection| index::model_vectors(connection, project, model, records))
    }

    fn store_vectors(
        &self,
        project: &ProjectName,
        vectors: &VectorBatch,
    ) -> Result<bool, StoreError> {
        validation::vectors(vectors)?;
        self.write(project, |connection| {
            index::store_vectors(connection, project, vectors)
        })
    }

    fn shared(&self) -> Option<&dyn SharedStore> {
        Some(self)
    }

    fn describe(&self) -> Result<Description, StoreError> {
        self.read(|connection| {
            Ok(Description {
                location: format!("postgres {}", self.server),
                schema_version: schema::version(connection)?,
                size_bytes: schema::size(connection)?,
            })
        })
    }

    fn check(&self) -> Result<Vec<String>, StoreError> {
        self.read_snapshot(index::check)
    }

    fn backup(&self, _: &Path) -> Result<Description, StoreError> {
        Err(StoreError::Refused(
            "a database of PostgreSQL is backed up by its own tools, such as pg_dump".to_owned(),
        ))
    }
}
