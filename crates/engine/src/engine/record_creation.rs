//! Creation of records: redaction, defaults and storage of new records.

use super::apply_redacted;
use super::new_record::{
    NewRecord, RememberReport, check_scope, kind_parts, name_fault, validated_confidence,
};
use super::redaction::{Redacted, RedactedTexts};
use crate::engine::Records;
use heirloom_model::record::{Attrs, check_name};
use heirloom_model::{Confidence, Fault, Kind, Record, Scope, bookkeeping, text};
use heirloom_store::{Change, Verdict};

impl Records<'_> {
    /// Stores one record; durable when it returns.
    ///
    /// Errors: `Usage` for an empty or too long text, an invalid name, a confidence outside 0 to 1 or a `true_to`
    /// before `true_from`; `Refused` when memory is off.
    pub fn remember(&self, new: NewRecord) -> Result<RememberReport, Fault> {
        let mut remembered = self.remember_all(vec![new])?;
        remembered
            .pop()
            .ok_or_else(|| Fault::failed("the store did not answer a write"))
    }

    /// Stores several records in one transaction; returns one report each, in order.
    pub fn remember_all(&self, news: Vec<NewRecord>) -> Result<Vec<RememberReport>, Fault> {
        let mut changes = Vec::with_capacity(news.len());
        let mut redacted = Vec::with_capacity(news.len());
        for new in news {
            let mut kinds = Vec::new();
            changes.push(self.redacted_change_of(new, RedactedTexts::NONE, &mut kinds)?);
            redacted.push(kinds);
        }
        let applied = apply_redacted(self.engine, changes)?;
        let answers = applied.into_iter().zip(redacted);
        let remembered = answers.map(|(one, redacted)| RememberReport {
            id: one.id,
            verdict: one.verdict,
            winner: one.other.filter(|_| one.verdict == Verdict::Conflict),
            replaced: one.other.filter(|_| one.verdict != Verdict::Conflict),
            redacted,
        });
        Ok(remembered.collect())
    }

    /// Redacts and validates a new record and converts it into a change.
    pub fn change_of(&self, new: &NewRecord) -> Result<Change, Fault> {
        let new = self.engine.redaction().redact_new_record(
            new.clone(),
            RedactedTexts::NONE,
            &mut Vec::new(),
        );
        self.change_of_redacted(&new)
    }

    /// As [`Self::change_of`], with one scan of each text and none of the `known` ones; appends the kinds of the
    /// secrets to `kinds`.
    pub fn redacted_change_of(
        &self,
        new: NewRecord,
        known: &RedactedTexts<'_>,
        kinds: &mut Vec<String>,
    ) -> Result<Redacted<Change>, Fault> {
        let new = self.engine.redaction().redact_new_record(new, known, kinds);
        let change = self.change_of_redacted(&new)?;
        Ok(self.engine.redaction().redact_change_of(change, &new))
    }

    /// Validates a redacted record and converts it into a change.
    pub(super) fn change_of_redacted(&self, new: &Redacted<NewRecord>) -> Result<Change, Fault> {
        let text = new.text.trim();
        if text.is_empty() {
            return Err(
                Fault::usage("there is no text to remember").hint("heirloom remember \"TEXT\"")
            );
        }
        check_scope(&new.scope)?;
        let source = new
            .source
            .clone()
            .unwrap_or_else(|| self.engine.actor.to_string());
        check_name("source", &source).map_err(|e| name_fault(&e))?;
        let confidence = validated_confidence(new.confidence, &source)?;
        if let (Some(from), Some(to)) = (new.true_from, new.true_to)
            && to < from
        {
            return Err(Fault::usage(format!(
                "true-to {to} is before true-from {from}"
            )));
        }
        let typed = kind_parts(new, text, &source, self.engine.settings.conflict_policy)?;
        let mut record = self.draft(typed.kind, text, new.scope.clone(), &source);
        record.key = typed.key;
        record.attrs = typed.attrs;
        if new.machine {
            bookkeeping::mark_as_machine(&mut record.attrs);
        }
        record.confidence = confidence;
        record.true_from = new.true_from;
        record.true_to = new.true_to;
        if record.kind == Kind::Task {
            record.scope.task.clone_from(&record.key);
        }
        Ok(Change::Put {
            record: Box::new(record),
            merge: typed.merge,
        })
    }

    /// Creates a record with this text, a new id, the current time and defaults.
    pub fn draft(&self, kind: Kind, text: &str, scope: Scope, source: &str) -> Record {
        let now = self.engine.now();
        Record {
            project: self.engine.project.clone(),
            id: self.engine.ids.next(now),
            kind,
            key: None,
            text: text.to_owned(),
            attrs: Attrs::new(),
            scope,
            source: source.to_owned(),
            confidence: Confidence::of_source(source),
            tokens: u32::try_from(text::tokens(text)).unwrap_or(u32::MAX),
            recorded_at: now,
            true_from: None,
            true_to: None,
            retired_at: None,
            replaced_by: None,
            expires_at: None,
        }
    }
}
