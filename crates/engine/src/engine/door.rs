//! The engine's only way to the store: whatever goes through it is redacted first.
//!
//! A new verb of `Store` that writes text, or asks by it, is redacted here as well.

use crate::redact::{BadRule, Redactor};
use heirloom_model::record::Attrs;
use heirloom_model::{Message, ProjectName, Record, RecordId, Scope, Session, Timestamp, text};
use heirloom_store::{Applied, Change, Counts, Description, Filter, Store, StoreError};
use std::borrow::Cow;
use std::sync::Arc;

/// A store that never gets to see a secret.
pub(super) struct Door {
    store: Arc<dyn Store>,
    redactor: Arc<Redactor>,
    /// A rule that cannot be used: what it was to find must not be written either.
    bad: Option<BadRule>,
}

impl Door {
    pub(super) fn new(
        store: Arc<dyn Store>,
        redactor: Arc<Redactor>,
        bad: Option<BadRule>,
    ) -> Self {
        Self {
            store,
            redactor,
            bad,
        }
    }

    fn open(&self) -> Result<(), StoreError> {
        match &self.bad {
            None => Ok(()),
            Some(bad) => Err(StoreError::Invalid(bad.to_string())),
        }
    }

    fn text(&self, text: &mut String) -> bool {
        match self.redactor.redact(text) {
            Cow::Borrowed(_) => false,
            Cow::Owned(clean) => {
                *text = clean;
                true
            }
        }
    }

    fn name<'n>(&self, name: &'n str) -> Cow<'n, str> {
        self.redactor.redact(name)
    }

    fn optional(&self, name: Option<&mut String>) {
        if let Some(name) = name {
            self.text(name);
        }
    }

    fn attrs(&self, attrs: &mut Attrs) {
        self.redactor.redact_map(attrs, &mut Vec::new());
    }

    fn scope(&self, scope: &mut Scope) {
        for name in scope.names_mut() {
            self.optional(name.as_mut());
        }
    }

    fn record(&self, record: &mut Record) {
        if self.text(&mut record.text) {
            record.tokens = tokens(&record.text);
        }
        self.optional(record.key.as_mut());
        self.attrs(&mut record.attrs);
        self.scope(&mut record.scope);
        self.text(&mut record.source);
    }

    fn change(&self, change: &Change) -> Change {
        let mut change = change.clone();
        match &mut change {
            Change::Put { record, .. } | Change::Revise { record, .. } => self.record(record),
            Change::Retire { .. } | Change::Restore { .. } => {}
        }
        change
    }

    fn message(&self, message: &Message) -> Message {
        let mut message = message.clone();
        if self.text(&mut message.text) {
            message.tokens = tokens(&message.text);
        }
        self.optional(message.sender.as_mut());
        self.attrs(&mut message.attrs);
        message
    }
}

fn tokens(said: &str) -> u32 {
    u32::try_from(text::tokens(said)).unwrap_or(u32::MAX)
}

impl Store for Door {
    fn apply(&self, project: &ProjectName, changes: &[Change]) -> Result<Vec<Applied>, StoreError> {
        self.open()?;
        let clean: Vec<_> = changes.iter().map(|change| self.change(change)).collect();
        self.store.apply(project, &clean)
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
        // What was written under a redacted name is found under it.
        let mut filter = filter.clone();
        self.optional(filter.category.as_mut());
        self.optional(filter.except_category.as_mut());
        self.optional(filter.state.as_mut());
        self.optional(filter.key.as_mut());
        self.scope(&mut filter.scope);
        self.store.find(project, &filter)
    }

    fn history(&self, project: &ProjectName, id: RecordId) -> Result<Vec<Record>, StoreError> {
        self.store.history(project, id)
    }

    fn counts(&self, project: &ProjectName, now: Timestamp) -> Result<Counts, StoreError> {
        self.store.counts(project, now)
    }

    fn last_write(&self, project: &ProjectName) -> Result<Option<Timestamp>, StoreError> {
        self.store.last_write(project)
    }

    fn projects(&self) -> Result<Vec<ProjectName>, StoreError> {
        self.store.projects()
    }

    fn put_session(&self, session: &Session) -> Result<(), StoreError> {
        self.open()?;
        let mut session = session.clone();
        self.text(&mut session.id);
        self.optional(session.agent.as_mut());
        self.optional(session.task.as_mut());
        self.attrs(&mut session.attrs);
        self.store.put_session(&session)
    }

    fn session(&self, project: &ProjectName, id: &str) -> Result<Session, StoreError> {
        self.store.session(project, &self.name(id))
    }

    fn sessions(
        &self,
        project: &ProjectName,
        task: Option<&str>,
        limit: usize,
    ) -> Result<Vec<Session>, StoreError> {
        let task = task.map(|task| self.name(task));
        self.store.sessions(project, task.as_deref(), limit)
    }

    fn append_messages(
        &self,
        project: &ProjectName,
        session: &str,
        messages: &[Message],
    ) -> Result<u64, StoreError> {
        self.open()?;
        let clean: Vec<_> = messages.iter().map(|one| self.message(one)).collect();
        self.store
            .append_messages(project, &self.name(session), &clean)
    }

    fn messages(
        &self,
        project: &ProjectName,
        session: &str,
        from: u64,
        limit: usize,
    ) -> Result<Vec<Message>, StoreError> {
        self.store
            .messages(project, &self.name(session), from, limit)
    }

    fn describe(&self) -> Result<Description, StoreError> {
        self.store.describe()
    }

    fn check(&self) -> Result<Vec<String>, StoreError> {
        self.store.check()
    }
}
