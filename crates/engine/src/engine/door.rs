//! The engine's only way to the store: whatever goes through it is redacted first.
//!
//! A new verb of `Store` that writes text, or asks by it, is redacted here as well.

use crate::redact::Redactor;
use heirloom_model::{
    Event, Lapse, Message, ProjectName, Record, RecordId, Scope, Session, Timestamp, text,
};
use heirloom_store::{
    Applied, Change, Counts, Description, Filter, Found, NewVectors, Newest, Purged, Search,
    Selection, Store, StoreError, Told, Unembedded,
};
use std::path::Path;
use std::sync::Arc;

/// A [`Store`] that redacts what is written and passes everything else on.
pub(super) struct Door {
    store: Arc<dyn Store>,
    redactor: Arc<Redactor>,
}

impl Door {
    /// A door in front of `store`.
    pub(super) fn new(store: Arc<dyn Store>, redactor: Arc<Redactor>) -> Self {
        Self { store, redactor }
    }

    fn change(&self, change: &Change) -> Change {
        let mut change = change.clone();
        match &mut change {
            Change::Put { record, .. } | Change::Revise { record, .. } => self.record(record),
            Change::TakeSession(session) => self.session(session),
            Change::TakeMessage { message, .. } => self.message(message),
            Change::Begin(batch) => self.text(&mut batch.source),
            Change::Keep(receipt) => {
                self.maybe(&mut receipt.session);
                self.redactor.redact_map(&mut receipt.body, &mut Vec::new());
            }
            Change::TakeLapse { .. } => {}
            Change::Retire { by, .. }
            | Change::Restore { by, .. }
            | Change::Settle { by, .. }
            | Change::Unsettle { by, .. }
            | Change::Mark { by, .. }
            | Change::Reverse { by, .. } => self.text(by),
        }
        change
    }

    fn record(&self, record: &mut Record) {
        self.counted(&mut record.text, &mut record.tokens);
        self.maybe(&mut record.key);
        self.redactor.redact_map(&mut record.attrs, &mut Vec::new());
        self.scope(&mut record.scope);
        self.text(&mut record.source);
    }

    fn scope(&self, scope: &mut Scope) {
        for name in scope.names_mut() {
            self.maybe(name);
        }
    }

    /// What was written under a redacted name is found under it.
    fn filter(&self, filter: &mut Filter) {
        for name in [
            &mut filter.category,
            &mut filter.except_category,
            &mut filter.state,
            &mut filter.key,
            &mut filter.source,
        ] {
            self.maybe(name);
        }
        self.scope(&mut filter.scope);
    }

    fn session(&self, session: &mut Session) {
        self.text(&mut session.id);
        self.maybe(&mut session.agent);
        self.maybe(&mut session.task);
        self.redactor
            .redact_map(&mut session.attrs, &mut Vec::new());
    }

    fn message(&self, message: &mut Message) {
        self.counted(&mut message.text, &mut message.tokens);
        self.maybe(&mut message.sender);
        self.redactor
            .redact_map(&mut message.attrs, &mut Vec::new());
    }

    fn counted(&self, said: &mut String, tokens: &mut u32) {
        if !self.redactor.is_clean(said) {
            self.text(said);
            *tokens = u32::try_from(text::tokens(said)).unwrap_or(u32::MAX);
        }
    }

    fn maybe(&self, said: &mut Option<String>) {
        if let Some(said) = said {
            self.text(said);
        }
    }

    fn text(&self, said: &mut String) {
        self.redactor.redact_in_place(said, &mut Vec::new());
    }
}

impl Store for Door {
    fn apply(&self, project: &ProjectName, changes: &[Change]) -> Result<Vec<Applied>, StoreError> {
        let clean: Vec<_> = changes.iter().map(|change| self.change(change)).collect();
        self.store.apply(project, &clean)
    }

    fn put_session(&self, session: &Session) -> Result<(), StoreError> {
        let mut session = session.clone();
        self.session(&mut session);
        self.store.put_session(&session)
    }

    fn append_messages(
        &self,
        project: &ProjectName,
        session: &str,
        messages: &[Message],
    ) -> Result<u64, StoreError> {
        let mut messages = messages.to_vec();
        messages
            .iter_mut()
            .for_each(|message| self.message(message));
        let session = self.redactor.redact(session);
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
        self.filter(&mut filter);
        self.store.find(project, &filter)
    }

    fn count(&self, project: &ProjectName, filter: &Filter) -> Result<u64, StoreError> {
        let mut filter = filter.clone();
        self.filter(&mut filter);
        self.store.count(project, &filter)
    }

    fn search(&self, project: &ProjectName, search: &Search) -> Result<Found, StoreError> {
        let mut search = search.clone();
        self.filter(&mut search.filter);
        self.store.search(project, &search)
    }

    fn history(&self, project: &ProjectName, id: RecordId) -> Result<Vec<Record>, StoreError> {
        self.store.history(project, id)
    }

    fn counts(&self, project: &ProjectName, now: Timestamp) -> Result<Counts, StoreError> {
        self.store.counts(project, now)
    }

    fn projects(&self) -> Result<Vec<ProjectName>, StoreError> {
        self.store.projects()
    }

    fn session(&self, project: &ProjectName, id: &str) -> Result<Session, StoreError> {
        self.store.session(project, &self.redactor.redact(id))
    }

    fn sessions(
        &self,
        project: &ProjectName,
        task: Option<&str>,
        limit: usize,
    ) -> Result<Vec<Session>, StoreError> {
        let task = task.map(|task| self.redactor.redact(task));
        self.store.sessions(project, task.as_deref(), limit)
    }

    fn messages(
        &self,
        project: &ProjectName,
        session: &str,
        from: u64,
        limit: usize,
    ) -> Result<Vec<Message>, StoreError> {
        let session = self.redactor.redact(session);
        self.store.messages(project, &session, from, limit)
    }

    fn lapses(
        &self,
        project: &ProjectName,
        ids: &[RecordId],
    ) -> Result<Vec<(RecordId, Lapse)>, StoreError> {
        self.store.lapses(project, ids)
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

    fn told(
        &self,
        project: &ProjectName,
        newest: Newest,
        records: &[RecordId],
    ) -> Result<Told, StoreError> {
        self.store.told(project, newest, records)
    }

    fn purgeable(
        &self,
        project: &ProjectName,
        selection: &Selection,
    ) -> Result<Purged, StoreError> {
        self.store.purgeable(project, selection)
    }

    fn purge(
        &self,
        project: &ProjectName,
        selection: &Selection,
        at: Timestamp,
        by: &str,
    ) -> Result<Purged, StoreError> {
        self.store.purge(project, selection, at, by)
    }

    fn unembedded(
        &self,
        project: &ProjectName,
        model: &str,
        limit: usize,
    ) -> Result<Unembedded, StoreError> {
        self.store.unembedded(project, model, limit)
    }

    fn embed(&self, project: &ProjectName, vectors: &NewVectors) -> Result<bool, StoreError> {
        self.store.embed(project, vectors)
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
