//! Import of a `memory.json` without loss and without duplicates.

use super::Engine;
use super::record_import::{ImportReport, ImportWriter};
use super::tasks::TASK_MAIN;
use crate::engine::Imports;
use heirloom_formats::mirror::{
    MirrorDecision, MirrorErrorItem, MirrorFile, MirrorTask, ParsedMirror, PrNumber,
};
use heirloom_model::kinds::{
    Artifact, CATEGORY_DECISION, CATEGORY_FACT, ErrorRecord, Knowledge, Step, StepState, Task,
};
use heirloom_model::record::{Attrs, check_name};
use heirloom_model::{Fault, Kind, KindData, MergeRule, Record, Scope, Session};
use heirloom_store::Change;
use serde_json::json;
use std::collections::HashSet;

/// Source of imported records.
pub(super) const SOURCE: &str = "import";

/// Changes of one import. A repeated entry of the file is stored again, under a numbered key.
struct Entries<'e> {
    engine: &'e Engine,
    used_keys: HashSet<(Kind, String, String)>,
    changes: Vec<Change>,
}

impl Imports<'_> {
    /// Imports a mirror: tasks with their steps and files, decisions, errors, facts, and its session.
    ///
    /// Existing records stay unchanged. Entries without text are skipped.
    pub fn import_mirror(&self, parsed: ParsedMirror, source: &str) -> Result<ImportReport, Fault> {
        let mut writer = ImportWriter::new(self.engine, source)?.without_session_counts();
        self.add_mirror(parsed, &mut writer)?;
        writer.end()
    }

    /// Adds a mirror to an import.
    pub(super) fn add_mirror(
        &self,
        parsed: ParsedMirror,
        writer: &mut ImportWriter<'_>,
    ) -> Result<(), Fault> {
        let mut file = parsed.file;
        self.engine.redaction().redact_mirror(&mut file);
        let mut entries = Entries {
            engine: self.engine,
            used_keys: HashSet::new(),
            changes: Vec::new(),
        };
        for (id, task) in &file.tasks {
            entries.task(id, task, file.iteration);
        }
        for decision in &file.decisions {
            entries.decision(decision);
        }
        for error in &file.errors {
            entries.error(error);
        }
        for fact in &file.key_facts {
            entries.knowledge(CATEGORY_FACT, fact, "", Scope::default());
        }
        let changes = entries.changes;
        for found in parsed.diagnostics {
            writer.diagnose(format!("{}: {}", found.at, found.message));
        }
        writer.expect(changes.len());
        for change in changes {
            // The format has no lines; diagnostics quote the entry's text.
            writer.add(0, change)?;
        }
        if let Some(session) = self.session_of(&file) {
            writer.add(0, Change::ImportSession(Box::new(session)))?;
        }
        Ok(())
    }

    /// Returns the session of the file, if it names one.
    fn session_of(&self, file: &MirrorFile) -> Option<Session> {
        if file.session_id.trim().is_empty() || check_name("session", &file.session_id).is_err() {
            return None;
        }
        let mut session = self
            .engine
            .sessions()
            .new_session(None, None, file.iteration);
        session.id.clone_from(&file.session_id);
        session
            .attrs
            .insert("repository".to_owned(), json!(file.repository));
        Some(session)
    }
}

impl Entries<'_> {
    fn put(&mut self, mut record: Record) {
        if record.text.trim().is_empty() {
            return;
        }
        if let Some(key) = record.key.clone() {
            let category = record.category().unwrap_or_default().to_owned();
            let mut unique = key.clone();
            let mut n = 1;
            while !self
                .used_keys
                .insert((record.kind, category.clone(), unique.clone()))
            {
                n += 1;
                unique = format!("{key}#{n}");
            }
            record.key = Some(unique);
        }
        self.changes.push(Change::Put {
            record: Box::new(record),
            merge: MergeRule::Keep,
        });
    }

    /// Adds a task. The format counts iterations over all tasks: the next run continues that number.
    fn task(&mut self, id: &str, task: &MirrorTask, iteration: u32) {
        let filled = |s: &str| Some(s.to_owned()).filter(|s| !s.is_empty());
        let scope = scope(iteration, id, &task.phase);
        let title = Task::title(id, filled(&task.task_type).as_deref());
        let mut record = self
            .engine
            .records()
            .draft(Kind::Task, &title, scope, SOURCE);
        record.key = Some(id.to_owned());
        record.attrs = Task {
            task_type: filled(&task.task_type),
            branch: filled(&task.branch),
            pr_number: task
                .pr_number
                .as_ref()
                .and_then(PrNumber::number)
                .filter(|n| *n > 0),
            blocked_reason: filled(&task.blocked_reason),
            ..Task::default()
        }
        .to_attrs();
        if id != TASK_MAIN || !record.attrs.is_empty() {
            self.put(record);
        }
        for (words, state) in [
            (&task.completed_steps, StepState::Done),
            (&task.pending_steps, StepState::Pending),
        ] {
            for step in words {
                let mut record =
                    self.engine
                        .records()
                        .draft(Kind::Step, step, Scope::of_task(id), SOURCE);
                record.key = Some(Step::key(step, Some(id)));
                record.attrs = Step::with_state(state).to_attrs();
                self.put(record);
            }
        }
        for path in &task.files_modified {
            let mut record =
                self.engine
                    .records()
                    .draft(Kind::Artifact, path, Scope::of_task(id), SOURCE);
            record.key = Some(Artifact::key(path, Some(id)));
            record.attrs = Artifact::file(path).to_attrs();
            self.put(record);
        }
    }

    fn decision(&mut self, decision: &MirrorDecision) {
        let scope = scope(decision.iteration, &decision.task_id, "");
        self.knowledge(
            CATEGORY_DECISION,
            &decision.description,
            &decision.rationale,
            scope,
        );
    }

    fn knowledge(&mut self, category: &str, text: &str, why: &str, scope: Scope) {
        let mut record = self
            .engine
            .records()
            .draft(Kind::Knowledge, text, scope, SOURCE);
        record.key = Some(Knowledge::derive_key(text));
        let mut knowledge = Knowledge::with_category(category);
        knowledge.rationale = Some(why.to_owned()).filter(|why| !why.is_empty());
        record.attrs = knowledge.to_attrs();
        self.put(record);
    }

    fn error(&mut self, error: &MirrorErrorItem) {
        let scope = scope(error.iteration, &error.task_id, &error.phase);
        let key = ErrorRecord::key(&error.error, scope.task.as_deref(), scope.phase.as_deref());
        let mut record = self
            .engine
            .records()
            .draft(Kind::Error, &error.error, scope, SOURCE);
        record.key = Some(key);
        let state = if error.resolved {
            ErrorRecord::RESOLVED
        } else {
            ErrorRecord::OPEN
        };
        record.attrs = ErrorRecord {
            state: state.to_owned(),
            resolution: Some(error.resolution.clone()).filter(|how| !how.is_empty()),
            repeats: 0,
            repeated_at: None,
            extra: Attrs::new(),
        }
        .to_attrs();
        self.put(record);
    }
}

pub(super) fn scope(iteration: u32, task: &str, phase: &str) -> Scope {
    let filled = |s: &str| Some(s.to_owned()).filter(|s| !s.is_empty());
    Scope {
        task: filled(task),
        phase: filled(phase),
        iteration: Some(iteration).filter(|n| *n > 0),
        ..Scope::default()
    }
}
