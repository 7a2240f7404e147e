//! Taking a `memory.json` in, without loss and without doubling.

use super::Engine;
use crate::mirror::{
    MirrorDecision, MirrorDiagnostic, MirrorFile, MirrorMistake, MirrorTask, Parsed, PrNumber,
};
use heirloom_model::kinds::{
    Artifact, CATEGORY_DECISION, CATEGORY_FACT, Knowledge, Mistake, Step, StepState, Task,
};
use heirloom_model::record::Attrs;
use heirloom_model::signal::Diagnostic;
use heirloom_model::{Fault, Kind, KindData, Merge, Record, Scope, text};
use heirloom_store::Change;
use serde_json::json;
use std::collections::HashSet;

/// Who is named as the source of what an import brings.
const SOURCE: &str = "import";

/// What an import brought.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ImportReport {
    /// Records that are new.
    pub created: u64,
    /// Entries that were here already.
    pub known: u64,
    /// What could not be read.
    pub diagnostics: Vec<Diagnostic>,
}

/// The changes of one import. An entry that a file has twice is kept twice, under a numbered key.
struct Batch<'e> {
    engine: &'e Engine,
    taken: HashSet<(Kind, String, String)>,
    changes: Vec<Change>,
}

impl Engine {
    /// Takes a mirror in: tasks with their steps and files, decisions, errors, facts, and its session.
    ///
    /// What is here already stays as it is. Entries without any text are skipped.
    pub fn import_mirror(&self, parsed: Parsed) -> Result<ImportReport, Fault> {
        self.writable()?;
        let mut file = parsed.file;
        self.clean_mirror(&mut file);
        let mut batch = Batch {
            engine: self,
            taken: HashSet::new(),
            changes: Vec::new(),
        };
        for (id, task) in &file.tasks {
            batch.task(id, task);
        }
        for decision in &file.decisions {
            batch.decision(decision);
        }
        for error in &file.errors {
            batch.error(error);
        }
        for fact in &file.key_facts {
            batch.knowledge(CATEGORY_FACT, fact, "", Scope::default());
        }
        let said = |d: MirrorDiagnostic| Diagnostic {
            line: 0,
            message: format!("{}: {}", d.at, d.message),
        };
        let diagnostics = parsed.diagnostics.into_iter().map(said).collect();
        let mut report = ImportReport {
            diagnostics,
            ..ImportReport::default()
        };
        let changes = batch.changes;
        for chunk in changes.chunks(heirloom_model::limits::BATCH_RECORDS) {
            // The form has no lines: an entry is named by its text.
            let mut batch = chunk.iter().map(|change| (0, change.clone())).collect();
            self.take_batch(&mut batch, &mut report)?;
        }
        self.import_session(&file)?;
        Ok(report)
    }

    fn import_session(&self, file: &MirrorFile) -> Result<(), Fault> {
        if file.session_id.trim().is_empty()
            || heirloom_model::record::check_name("session", &file.session_id).is_err()
        {
            return Ok(());
        }
        let mut session = self.new_session(None, None, file.iteration);
        session.id.clone_from(&file.session_id);
        session
            .attrs
            .insert("repository".to_owned(), json!(file.repository));
        self.put_session(&session)
    }
}

impl Batch<'_> {
    fn put(&mut self, mut record: Record) {
        if record.text.trim().is_empty() {
            return;
        }
        if let Some(key) = record.key.clone() {
            let category = record.category().unwrap_or_default().to_owned();
            let mut unique = key.clone();
            let mut n = 1;
            while !self
                .taken
                .insert((record.kind, category.clone(), unique.clone()))
            {
                n += 1;
                unique = format!("{key}#{n}");
            }
            record.key = Some(unique);
        }
        self.changes.push(Change::Put {
            record: Box::new(record),
            merge: Merge::Keep,
        });
    }

    fn task(&mut self, id: &str, task: &MirrorTask) {
        let filled = |s: &str| Some(s.to_owned()).filter(|s| !s.is_empty());
        let scope = Scope {
            phase: filled(&task.phase),
            ..Scope::of_task(id)
        };
        let title = Task::title(id, filled(&task.task_type).as_deref());
        let mut record = self.engine.draft(Kind::Task, &title, scope, SOURCE);
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
        self.put(record);
        for (words, state) in [
            (&task.completed_steps, StepState::Done),
            (&task.pending_steps, StepState::Pending),
        ] {
            for step in words {
                let mut record = self
                    .engine
                    .draft(Kind::Step, step, Scope::of_task(id), SOURCE);
                record.key = Some(Step::key(step, Some(id)));
                record.attrs = Step::in_state(state).to_attrs();
                self.put(record);
            }
        }
        for path in &task.files_modified {
            let mut record = self
                .engine
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

    fn knowledge(&mut self, category: &str, said: &str, why: &str, scope: Scope) {
        let mut record = self.engine.draft(Kind::Knowledge, said, scope, SOURCE);
        record.key = Some(text::hash16(&text::normal(said)));
        let mut knowledge = Knowledge::of_category(category);
        knowledge.rationale = Some(why.to_owned()).filter(|why| !why.is_empty());
        record.attrs = knowledge.to_attrs();
        self.put(record);
    }

    fn error(&mut self, error: &MirrorMistake) {
        let scope = scope(error.iteration, &error.task_id, &error.phase);
        let key = Mistake::key(&error.error, scope.task.as_deref(), scope.phase.as_deref());
        let mut record = self.engine.draft(Kind::Error, &error.error, scope, SOURCE);
        record.key = Some(key);
        let state = if error.resolved {
            Mistake::RESOLVED
        } else {
            Mistake::OPEN
        };
        record.attrs = Mistake {
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

fn scope(iteration: u32, task: &str, phase: &str) -> Scope {
    let filled = |s: &str| Some(s.to_owned()).filter(|s| !s.is_empty());
    Scope {
        task: filled(task),
        phase: filled(phase),
        iteration: Some(iteration).filter(|n| *n > 0),
        ..Scope::default()
    }
}
