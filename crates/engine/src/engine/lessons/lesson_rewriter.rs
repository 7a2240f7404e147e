//! Rewriting of a session's lessons by the configured model: clearer words, and one record instead of several that state
//! the same.

use super::lesson_drafts::has_derived_key;
use super::lesson_source::LessonSource;
use super::reconciliation::is_touched_by_person;
use super::{BATCH_SOURCE, Lessons};
use crate::engine::records::USER;
use heirloom_lessons::{
    REWRITE_PROMPT, Rewrite, RewriteNote, Speaker, parse_rewrites, rewrite_data,
};
use heirloom_model::kinds::Knowledge;
use heirloom_model::{Fault, ImportBatch, Kind, Record, RecordId, WriteRequest, limits, text};
use heirloom_store::Change;

/// Report of rewritten lessons.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RewriteReport {
    /// The import batch, which `undo` reverts as a unit; `None` if nothing was written.
    pub batch: Option<RecordId>,
    /// Records with a new text.
    pub rewritten: u64,
    /// Records that another one replaces, with the same content.
    pub merged: u64,
    /// Lines of the answer that were not used, because they add something or have another form.
    pub refused: u64,
}

impl Lessons<'_> {
    /// Lets the configured model rewrite and merge the knowledge that a session taught. A text that adds anything is
    /// refused; what a person said or marked is neither sent nor changed. One request, within the daily limits; one
    /// import batch.
    ///
    /// Errors: `Usage` without a model; those of the service, after which all lessons are as before.
    pub fn rewrite(&self, session: &str) -> Result<RewriteReport, Fault> {
        self.engine.require_memory()?;
        let summariser = self.engine.summariser.as_ref().ok_or_else(|| {
            Fault::usage("no model is configured that could rewrite lessons")
                .hint("set `kind` and `model` under `[writer]` in your own config")
        })?;
        let records = self.rewritable(session)?;
        if records.is_empty() {
            return Ok(RewriteReport::default());
        }
        let notes: Vec<RewriteNote> = (records.iter())
            .map(|(record, source)| self.note(record, source))
            .collect();
        let request = WriteRequest {
            system: REWRITE_PROMPT.to_owned(),
            data: rewrite_data(&notes),
            max_output_tokens: summariser.max_output_tokens,
        };
        let written = summariser.write(self.engine, &request)?;
        let (rewrites, refused) = parse_rewrites(&written.text, &notes);
        let mut report = RewriteReport {
            refused: refused as u64,
            ..RewriteReport::default()
        };
        if rewrites.is_empty() {
            return Ok(report);
        }
        let model = text::excerpt(&written.model, 100);
        let batch = ImportBatch {
            id: self.engine.ids.next(self.engine.now()),
            source: format!("{BATCH_SOURCE} {}, rewritten", text::excerpt(session, 30)),
            by: USER.to_owned(),
            at: self.engine.now(),
        };
        report.batch = Some(batch.id);
        let mut changes = vec![Change::BeginBatch(batch)];
        for rewrite in &rewrites {
            report.rewritten += 1;
            report.merged += rewrite.notes.len() as u64 - 1;
            changes.extend(self.changes(&records, rewrite, &model));
        }
        self.engine.apply(&changes)?;
        Ok(report)
    }

    /// Returns the current knowledge of a session that an agent or a program said and that no person touched. Facts with
    /// a key of their own, such as `command:test`, have a fixed form that later sessions update.
    fn rewritable(&self, session: &str) -> Result<Vec<(Record, LessonSource)>, Fault> {
        let records = self.of_session(session)?.into_iter();
        let own = records.filter_map(|record| {
            let source = LessonSource::of_record(&record)?;
            let may_change = record.kind == Kind::Knowledge
                && source.speaker != Speaker::Person
                && source.rewritten_by.is_none()
                && has_derived_key(&record)
                && !is_touched_by_person(&record);
            may_change.then_some((record, source))
        });
        Ok(own.collect())
    }

    /// Returns the redacted words of a record and of the lines that it was taken from.
    fn note(&self, record: &Record, source: &LessonSource) -> RewriteNote {
        let redact = |text: &str| self.engine.redaction().redact_input(text).into_owned();
        let reason = record.attr_str("rationale");
        let lines = source
            .evidence
            .iter()
            .map(|evidence| evidence.line.as_str());
        RewriteNote {
            text: redact(&record.text),
            sources: reason.into_iter().chain(lines).map(redact).collect(),
        }
    }

    fn changes(
        &self,
        records: &[(Record, LessonSource)],
        rewrite: &Rewrite,
        model: &str,
    ) -> Vec<Change> {
        let mut chosen = rewrite.notes.iter().filter_map(|at| records.get(*at));
        let Some((first, source)) = chosen.next() else {
            return Vec::new();
        };
        let (mut record, mut source) = (first.clone(), source.clone());
        record.key = Some(Knowledge::derive_key(&rewrite.text));
        record.text.clone_from(&rewrite.text);
        record.id = self.engine.ids.next(self.engine.now());
        record.recorded_at = self.engine.now();
        source.rewritten_by = Some(model.to_owned());
        let mut changes = Vec::new();
        for (other, of_other) in chosen {
            source.evidence.extend(of_other.evidence.iter().cloned());
            changes.push(Change::Retire {
                id: other.id,
                at: self.engine.now(),
                by: first.source.clone(),
            });
        }
        source.evidence.truncate(limits::LESSON_EVIDENCE_MAX);
        source.put(&mut record);
        changes.push(Change::Revise {
            id: first.id,
            record: Box::new(record),
        });
        changes
    }
}
