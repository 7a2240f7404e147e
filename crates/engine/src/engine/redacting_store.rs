//! Redacting store: the engine's only access to the store. It redacts everything that is written, except for changes
//! whose type proves that they are redacted.
//!
//! A new method of `Store` that writes text, or filters by it, needs redaction here as well.

use super::mirror_refresh::StaleMirrors;
use super::redaction::{ContentRedactor, Redacted, RedactedTexts};
use heirloom_model::{
    Event, Message, ProjectName, Record, RecordId, Session, Timestamp, ValidityGap,
};
use heirloom_redact::Redactor;
use heirloom_store::{
    AppliedChange, Change, DeliveryStats, Description, EmbeddingBacklog, Filter, KindCounts,
    PurgeReport, PurgeTarget, RecentReceipts, SearchQuery, SearchResults, SharedStore, Store,
    StoreError, VectorBatch,
};
use std::collections::HashMap;
use std::ops::Deref;
use std::path::Path;
use std::sync::Arc;

/// Decorator of a [`Store`] that redacts writes and passes other calls on. The inner store gets only redacted texts.
pub(super) struct RedactingStore {
    store: Arc<dyn Store>,
    redactor: Arc<Redactor>,
    unmirrored: Arc<StaleMirrors>,
}

impl RedactingStore {
    /// Creates a redacting store around `store`.
    pub(super) fn new(
        store: Arc<dyn Store>,
        redactor: Arc<Redactor>,
        unmirrored: Arc<StaleMirrors>,
    ) -> Self {
        Self {
            store,
            redactor,
            unmirrored,
        }
    }

    /// Writes redacted changes as one transaction, without another scan.
    pub(super) fn apply_redacted(
        &self,
        project: &ProjectName,
        changes: Vec<Redacted<Change>>,
    ) -> Result<Vec<AppliedChange>, StoreError> {
        let changes: Vec<_> = changes.into_iter().map(Redacted::into_inner).collect();
        let applied = self.store.apply(project, &changes)?;
        self.unmirrored.mark_stale(project, &changes);
        Ok(applied)
    }

    /// Redacts changes and writes them as one transaction.
    pub(super) fn apply_owned(
        &self,
        project: &ProjectName,
        changes: Vec<Change>,
    ) -> Result<Vec<AppliedChange>, StoreError> {
        let redactor = self.content_redactor();
        let changes = changes.into_iter();
        let changes = changes.map(|change| redactor.redact_change(change));
        self.apply_redacted(project, changes.collect())
    }

    /// Returns a redactor that scans everything.
    fn content_redactor(&self) -> ContentRedactor<'_> {
        ContentRedactor::new(&self.redactor, RedactedTexts::NONE)
    }
}

/// Offers the methods of [`Store`] where the trait is not imported. The target is the decorator, not the store in it.
impl Deref for RedactingStore {
    type Target = dyn Store;

    fn deref(&self) -> &Self::Target {
        self
    }
}

impl Store for RedactingStore {
    fn apply(
        &self,
        project: &ProjectName,
        changes: &[Change],
    ) -> Result<Vec<AppliedChange>, StoreError> {
        self.apply_owned(project, changes.to_vec())
    }

    fn put_session(&self, session: &Session) -> Result<(), StoreError> {
        let session = self.content_redactor().redact_session(session.clone());
        self.store.put_session(&session)
    }

    fn append_messages(
        &self,
        project: &ProjectName,
        session: &str,
        messages: &[Message],
    ) -> Result<u64, StoreError> {
        let redactor = self.content_redactor();
        let messages = redactor.redact_messages(messages.to_vec());
        let session = redactor.redact_name(session);
        self.store.append_messages(project, &session, &messages)
    }

    fn get(&self, project: &ProjectName, id: RecordId) -> Result<Record, StoreError> {
        self.store.get(project, id)
    }

    fn ids_with_prefix(
        &self,
        project: &ProjectName,
        prefix: &str,
        limit: usize,
    ) -> Result<Vec<RecordId>, StoreError> {
        self.store.ids_with_prefix(project, prefix, limit)
    }

    fn find(&self, project: &ProjectName, filter: &Filter) -> Result<Vec<Record>, StoreError> {
        let mut filter = filter.clone();
        self.content_redactor().redact_filter(&mut filter);
        self.store.find(project, &filter)
    }

    fn count(&self, project: &ProjectName, filter: &Filter) -> Result<u64, StoreError> {
        let mut filter = filter.clone();
        self.content_redactor().redact_filter(&mut filter);
        self.store.count(project, &filter)
    }

    fn search(
        &self,
        project: &ProjectName,
        search: &SearchQuery,
    ) -> Result<SearchResults, StoreError> {
        let mut search = search.clone();
        let redactor = self.content_redactor();
        redactor.redact_filter(&mut search.filter);
        for filter in &mut search.key_filters {
            redactor.redact_filter(filter);
        }
        self.store.search(project, &search)
    }

    fn history(&self, project: &ProjectName, id: RecordId) -> Result<Vec<Record>, StoreError> {
        self.store.history(project, id)
    }

    fn counts(&self, project: &ProjectName, now: Timestamp) -> Result<KindCounts, StoreError> {
        self.store.counts(project, now)
    }

    fn projects(&self) -> Result<Vec<ProjectName>, StoreError> {
        self.store.projects()
    }

    fn session(&self, project: &ProjectName, id: &str) -> Result<Session, StoreError> {
        self.store
            .session(project, &self.content_redactor().redact_name(id))
    }

    fn sessions(
        &self,
        project: &ProjectName,
        task: Option<&str>,
        limit: usize,
    ) -> Result<Vec<Session>, StoreError> {
        let task = task.map(|task| self.content_redactor().redact_name(task));
        self.store
            .sessions(project, task.as_ref().map(|task| &***task), limit)
    }

    fn messages(
        &self,
        project: &ProjectName,
        session: &str,
        from: u64,
        limit: usize,
    ) -> Result<Vec<Message>, StoreError> {
        let session = self.content_redactor().redact_name(session);
        self.store.messages(project, &session, from, limit)
    }

    fn validity_gaps(
        &self,
        project: &ProjectName,
        ids: &[RecordId],
    ) -> Result<Vec<(RecordId, ValidityGap)>, StoreError> {
        self.store.validity_gaps(project, ids)
    }

    fn turns(
        &self,
        project: &ProjectName,
        ids: &[RecordId],
    ) -> Result<Vec<(String, Message)>, StoreError> {
        self.store.turns(project, ids)
    }

    fn events(
        &self,
        project: &ProjectName,
        record: Option<RecordId>,
        limit: usize,
    ) -> Result<Vec<Event>, StoreError> {
        self.store.events(project, record, limit)
    }

    fn delivery_stats(
        &self,
        project: &ProjectName,
        newest: RecentReceipts,
        records: &[RecordId],
    ) -> Result<DeliveryStats, StoreError> {
        self.store.delivery_stats(project, newest, records)
    }

    fn preview_purge(
        &self,
        project: &ProjectName,
        selection: &PurgeTarget,
    ) -> Result<PurgeReport, StoreError> {
        self.store.preview_purge(project, selection)
    }

    fn purge(
        &self,
        project: &ProjectName,
        selection: &PurgeTarget,
        at: Timestamp,
        by: &str,
    ) -> Result<PurgeReport, StoreError> {
        self.store.purge(project, selection, at, by)
    }

    fn embedding_backlog(
        &self,
        project: &ProjectName,
        model: &str,
        limit: usize,
    ) -> Result<EmbeddingBacklog, StoreError> {
        self.store.embedding_backlog(project, model, limit)
    }

    fn model_vectors(
        &self,
        project: &ProjectName,
        model: &str,
        records: &[RecordId],
    ) -> Result<HashMap<RecordId, Vec<f32>>, StoreError> {
        self.store.model_vectors(project, model, records)
    }

    fn store_vectors(
        &self,
        project: &ProjectName,
        vectors: &VectorBatch,
    ) -> Result<bool, StoreError> {
        self.store.store_vectors(project, vectors)
    }

    fn shared(&self) -> Option<&dyn SharedStore> {
        self.store.shared()
    }

    fn describe(&self) -> Result<Description, StoreError> {
        self.store.describe()
    }

    fn check(&self) -> Result<Vec<String>, StoreError> {
        self.store.check()
    }

    fn backup(&self, file: &Path) -> Result<Description, StoreError> {
        self.store.backup(file)
    }
}
