//! Redaction of input before it is processed, so that no key is the hash of a secret.
//!
//! [`Redacted`] proves that a value was redacted. The redacting store writes only proven values: others are scanned
//! there, and texts that the proof covers are not scanned a second time.

#[cfg(test)]
mod tests;

use super::{Engine, NewRecord};
use heirloom_formats::mirror::{MirrorFile, MirrorTask, PrNumber};
use heirloom_model::record::Attrs;
use heirloom_model::signal::Signal;
use heirloom_model::{Message, PlanName, Record, Scope, Session, text};
use heirloom_redact::{RawTail, Redactor};
use heirloom_store::{Change, Filter};
use std::borrow::Cow;
use std::ops::Deref;

/// Value whose texts contain no secrets. Only this module creates it, so the type is the proof.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Redacted<T>(T);

impl<T> Redacted<T> {
    /// Returns the value without its proof.
    pub fn into_inner(self) -> T {
        self.0
    }
}

impl<T> Deref for Redacted<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl Redacted<String> {
    /// Replaces the secrets of a text.
    pub fn new(text: &str, redactor: &Redactor) -> Self {
        Self(redactor.redact(text).into_owned())
    }

    /// Replaces the secrets in the end of an output, before it is cut to its limit.
    pub fn from_tail(tail: RawTail, redactor: &Redactor) -> Self {
        Self(tail.redact(redactor))
    }

    /// Returns the text with its proof.
    pub fn as_text(&self) -> Redacted<&str> {
        Redacted(&self.0)
    }
}

impl Redacted<Signal> {
    /// Returns the text of the signal with its proof.
    pub fn text(&self) -> Redacted<&str> {
        Redacted(&self.0.text)
    }
}

/// Redacted texts that a change is built from. Equal texts in the change are not scanned again.
#[derive(Debug, Clone, Default)]
pub struct RedactedTexts<'t>(Vec<&'t str>);

impl RedactedTexts<'static> {
    /// No texts: everything is scanned.
    pub(super) const NONE: &'static Self = &Self(Vec::new());
}

impl<'t> RedactedTexts<'t> {
    /// Adds a text.
    pub fn with_text(mut self, text: Redacted<&'t str>) -> Self {
        self.0.push(text.0);
        self
    }

    /// Adds the names of a scope.
    pub fn with_scope(mut self, scope: &'t Redacted<Scope>) -> Self {
        self.0
            .extend(scope.names().into_iter().filter_map(|(_, name)| name));
        self
    }

    /// Adds the texts of a new record.
    fn with_record(mut self, new: &'t Redacted<NewRecord>) -> Self {
        let named = [&new.category, &new.key, &new.source, &new.rationale];
        self.0.push(&new.text);
        self.0
            .extend(named.into_iter().flatten().map(String::as_str));
        self.0
            .extend(new.scope.names().into_iter().filter_map(|(_, name)| name));
        self
    }

    fn contains(&self, text: &str) -> bool {
        self.0.contains(&text)
    }
}

/// Redactor of records, sessions, messages and changes.
pub(super) struct ContentRedactor<'r> {
    redactor: &'r Redactor,
    /// Texts that are not scanned, because they are redacted.
    known: &'r RedactedTexts<'r>,
}

impl<'r> ContentRedactor<'r> {
    /// Creates a redactor that does not scan the `known` texts.
    pub(super) fn new(redactor: &'r Redactor, known: &'r RedactedTexts<'r>) -> Self {
        Self { redactor, known }
    }

    /// Redacts a change.
    pub(super) fn redact_change(&self, mut change: Change) -> Redacted<Change> {
        match &mut change {
            Change::Put { record, .. } | Change::Revise { record, .. } => {
                self.redact_record(record)
            }
            Change::ImportSession(session) => self.redact_session_in_place(session),
            Change::ImportMessage { message, .. } => self.redact_message(message),
            Change::BeginBatch(batch) => self.redact_text(&mut batch.source),
            Change::StoreReceipt(receipt) => {
                self.redact_optional(&mut receipt.session);
                self.redact_attrs(&mut receipt.body);
            }
            Change::ImportValidityGap { .. } => {}
            Change::Retire { by, .. }
            | Change::Restore { by, .. }
            | Change::ResolveConflict { by, .. }
            | Change::ReopenConflict { by, .. }
            | Change::Mark { by, .. }
            | Change::ToggleBatch { by, .. } => self.redact_text(by),
        }
        Redacted(change)
    }

    /// Redacts a session.
    pub(super) fn redact_session(&self, mut session: Session) -> Redacted<Session> {
        self.redact_session_in_place(&mut session);
        Redacted(session)
    }

    /// Redacts messages.
    pub(super) fn redact_messages(&self, mut messages: Vec<Message>) -> Redacted<Vec<Message>> {
        messages
            .iter_mut()
            .for_each(|message| self.redact_message(message));
        Redacted(messages)
    }

    /// Redacts the names of a filter, because records are stored under redacted names.
    pub(super) fn redact_filter(&self, filter: &mut Filter) {
        for name in [
            &mut filter.category,
            &mut filter.except_category,
            &mut filter.state,
            &mut filter.key,
            &mut filter.source,
        ] {
            self.redact_optional(name);
        }
        self.redact_scope(&mut filter.scope);
    }

    /// Redacts an id or a name that a call refers to.
    pub(super) fn redact_name<'t>(&self, name: &'t str) -> Redacted<Cow<'t, str>> {
        Redacted(match self.known.contains(name) {
            true => Cow::Borrowed(name),
            false => self.redactor.redact(name),
        })
    }

    fn redact_record(&self, record: &mut Record) {
        self.redact_counted(&mut record.text, &mut record.tokens);
        self.redact_optional(&mut record.key);
        self.redact_attrs(&mut record.attrs);
        self.redact_scope(&mut record.scope);
        self.redact_text(&mut record.source);
    }

    /// Brings a scope into its stored form: names without secrets, and a plan without its stage.
    pub(super) fn redact_scope(&self, scope: &mut Scope) {
        drop_stage(scope);
        for name in scope.names_mut() {
            self.redact_optional(name);
        }
    }

    fn redact_session_in_place(&self, session: &mut Session) {
        self.redact_text(&mut session.id);
        self.redact_optional(&mut session.agent);
        self.redact_optional(&mut session.task);
        self.redact_attrs(&mut session.attrs);
    }

    fn redact_message(&self, message: &mut Message) {
        self.redact_counted(&mut message.text, &mut message.tokens);
        self.redact_optional(&mut message.sender);
        self.redact_attrs(&mut message.attrs);
    }

    fn redact_counted(&self, text: &mut String, tokens: &mut u32) {
        if self.redact_with_kinds(text, &mut Vec::new()) {
            *tokens = u32::try_from(text::tokens(text)).unwrap_or(u32::MAX);
        }
    }

    fn redact_optional(&self, text: &mut Option<String>) {
        if let Some(text) = text {
            self.redact_text(text);
        }
    }

    pub(super) fn redact_text(&self, text: &mut String) {
        self.redact_with_kinds(text, &mut Vec::new());
    }

    fn redact_attrs(&self, attrs: &mut Attrs) {
        let is_redacted = |text: &str| self.known.contains(text);
        self.redactor
            .redact_map_except(attrs, &is_redacted, &mut Vec::new());
    }

    /// Redacts a text and appends the kinds of its secrets to `kinds`; returns true if it had any.
    fn redact_with_kinds(&self, text: &mut String, kinds: &mut Vec<String>) -> bool {
        if self.known.contains(text) {
            return false;
        }
        let Cow::Owned(clean) = self.redactor.redact_with_kinds(text, kinds) else {
            return false;
        };
        *text = clean;
        true
    }
}

/// Replaces `STAGE/PLAN` by the plan: records are stored and found under the plan alone.
fn drop_stage(scope: &mut Scope) {
    if let Some(plan) = &mut scope.plan {
        let name = PlanName::parse(plan).plan;
        if name.len() < plan.len() {
            *plan = name.to_owned();
        }
    }
}

/// Redaction of everything that is stored or sent.
#[derive(Clone, Copy)]
pub struct Redaction<'e> {
    pub(super) engine: &'e Engine,
}

impl heirloom_window::TextFilter for Redaction<'_> {
    fn clean<'t>(&self, text: &'t str) -> Cow<'t, str> {
        self.redact_input(text)
    }
}

impl<'e> Redaction<'e> {
    /// Returns the redactor with the rules of this project's settings.
    pub fn redactor(&self) -> &'e Redactor {
        &self.engine.redactor
    }

    /// Returns a text with its secrets replaced.
    pub fn redact_input<'t>(&self, text: &'t str) -> Cow<'t, str> {
        self.engine.redactor.redact(text)
    }

    /// Returns a text with its secrets replaced, and the proof.
    pub fn redact_text(&self, text: &str) -> Redacted<String> {
        self.redact_text_except(text, RedactedTexts::NONE)
    }

    /// Returns a text as [`Redaction::redact_text`] does, without a scan if it is one of the `known` texts.
    pub fn redact_text_except(&self, text: &str, known: &RedactedTexts<'_>) -> Redacted<String> {
        let mut text = text.to_owned();
        ContentRedactor::new(&self.engine.redactor, known).redact_text(&mut text);
        Redacted(text)
    }

    /// Returns a scope with the secrets in its names replaced.
    pub fn redact_scope(&self, mut scope: Scope) -> Redacted<Scope> {
        ContentRedactor::new(&self.engine.redactor, RedactedTexts::NONE).redact_scope(&mut scope);
        Redacted(scope)
    }

    /// Returns a signal with the secrets in its text replaced.
    pub fn redact_signal(&self, mut signal: Signal) -> Redacted<Signal> {
        self.engine
            .redactor
            .redact_in_place(&mut signal.text, &mut Vec::new());
        Redacted(signal)
    }

    /// Returns a new record with its secrets replaced, except in `known` texts; appends the kinds of the secrets to
    /// `kinds`.
    pub(super) fn redact_new_record(
        &self,
        mut new: NewRecord,
        known: &RedactedTexts<'_>,
        kinds: &mut Vec<String>,
    ) -> Redacted<NewRecord> {
        let redactor = ContentRedactor::new(&self.engine.redactor, known);
        drop_stage(&mut new.scope);
        redactor.redact_with_kinds(&mut new.text, kinds);
        let named = [
            new.category.as_mut(),
            new.key.as_mut(),
            new.source.as_mut(),
            new.rationale.as_mut(),
        ];
        for text in named
            .into_iter()
            .flatten()
            .chain(new.scope.names_mut().into_iter().flatten())
        {
            redactor.redact_with_kinds(text, kinds);
        }
        Redacted(new)
    }

    /// Returns a change with its secrets replaced; `known` texts are not scanned.
    pub fn redact_change(&self, change: Change, known: &RedactedTexts<'_>) -> Redacted<Change> {
        ContentRedactor::new(&self.engine.redactor, known).redact_change(change)
    }

    /// Returns a change that was built from `new`, with its secrets replaced; texts of `new` are not scanned again.
    pub(super) fn redact_change_of(
        &self,
        change: Change,
        new: &Redacted<NewRecord>,
    ) -> Redacted<Change> {
        self.redact_change(change, &RedactedTexts::default().with_record(new))
    }

    /// Redacts a mirror file, into which another program may have written secrets.
    pub(super) fn redact_mirror(&self, file: &mut MirrorFile) {
        self.redact_all([&mut file.session_id, &mut file.repository]);
        for (mut id, mut task) in std::mem::take(&mut file.tasks) {
            self.redact_all([&mut id]);
            self.redact_task(&mut task);
            file.tasks.insert(id, task);
        }
        for decision in &mut file.decisions {
            self.redact_all([
                &mut decision.task_id,
                &mut decision.description,
                &mut decision.rationale,
            ]);
            self.redact_mirror_attrs(&mut decision.extra);
        }
        for error in &mut file.errors {
            self.redact_all([
                &mut error.task_id,
                &mut error.phase,
                &mut error.error,
                &mut error.resolution,
            ]);
            self.redact_mirror_attrs(&mut error.extra);
        }
        self.redact_all(&mut file.key_facts);
        self.redact_all([&mut file.last_checkpoint]);
        self.redact_mirror_attrs(&mut file.extra);
    }

    fn redact_task(&self, task: &mut MirrorTask) {
        self.redact_all([
            &mut task.id,
            &mut task.task_type,
            &mut task.phase,
            &mut task.branch,
            &mut task.blocked_reason,
        ]);
        self.redact_all(&mut task.completed_steps);
        self.redact_all(&mut task.pending_steps);
        self.redact_all(&mut task.files_modified);
        if let Some(PrNumber::Text(number)) = &mut task.pr_number {
            self.redact_all([number]);
        }
        self.redact_mirror_attrs(&mut task.extra);
    }

    fn redact_all<'t>(&self, texts: impl IntoIterator<Item = &'t mut String>) {
        for text in texts {
            self.engine.redactor.redact_in_place(text, &mut Vec::new());
        }
    }

    fn redact_mirror_attrs(&self, attrs: &mut Attrs) {
        self.engine.redactor.redact_map(attrs, &mut Vec::new());
    }
}
