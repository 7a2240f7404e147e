//! Content of the mirror, built from the store.

use super::Mirror;
use super::prune::is_of_person;
use super::sessions::iteration_of;
use super::tasks::TASK_MAIN;
use heirloom_formats::mirror::{
    self, MirrorDecision, MirrorErrorItem, MirrorFile, MirrorTask, PrNumber,
};
use heirloom_model::kinds::{
    ARTIFACT_FILE, CATEGORY_DECISION, CATEGORY_FACT, ErrorRecord, Knowledge, StepState,
};
use heirloom_model::{Fault, Kind, KindData, Record, Timestamp};
use heirloom_store::Filter;
use std::cmp::Reverse;
use std::collections::BTreeMap;

impl Mirror<'_> {
    /// Returns the mirror as the bytes of its file.
    pub fn bytes(&self) -> Result<Vec<u8>, Fault> {
        Ok(mirror::to_json(&self.build()?))
    }

    /// Builds the mirror from the store.
    pub(super) fn build(&self) -> Result<MirrorFile, Fault> {
        let session = self.engine.sessions().latest_session()?;
        let attr = |name: &str| {
            let value = session
                .as_ref()
                .and_then(|s| s.attrs.get(name))
                .and_then(serde_json::Value::as_str);
            value.map(str::to_owned)
        };
        let mut file = MirrorFile {
            session_id: session.as_ref().map(|s| s.id.clone()).unwrap_or_default(),
            repository: attr("repository")
                .unwrap_or_else(|| self.engine.contexts().repository_name()),
            iteration: session.as_ref().map_or(0, iteration_of),
            last_checkpoint: mirror::format_time(self.engine.now()),
            ..MirrorFile::default()
        };
        file.tasks = self.mirror_tasks()?;
        let task = session.as_ref().and_then(|session| session.task.as_deref());
        for entry in self.entries(task)? {
            match entry.kind == Kind::Error {
                true => file.errors.push(mirror_error(entry)),
                false => file.decisions.push(mirror_decision(entry)),
            }
        }
        let facts = Filter::current(&[Kind::Knowledge], self.engine.now())
            .category(CATEGORY_FACT)
            .oldest_first();
        file.key_facts = self
            .engine
            .records()
            .find(&facts)?
            .into_iter()
            .filter(|fact| !is_disputed(fact))
            .map(|fact| fact.text)
            .collect();
        Ok(file)
    }

    /// Returns the decisions and errors of the mirror, oldest first: at most `memory.max_entries`, before others those
    /// of a person, then open errors of `task`, then the newest.
    fn entries(&self, task: Option<&str>) -> Result<Vec<Record>, Fault> {
        let records = self.engine.records();
        let now = self.engine.now();
        let decisions = Filter::current(&[Kind::Knowledge], now).category(CATEGORY_DECISION);
        let mut entries = records.find(&decisions.oldest_first())?;
        entries.retain(|decision| !is_disputed(decision));
        entries.extend(records.find(&Filter::current(&[Kind::Error], now).oldest_first())?);
        entries.sort_by_key(|entry| {
            let is_kept = is_of_person(entry) || entry.key.is_some() && entry.kind != Kind::Error;
            let is_of_task = task.is_some() && entry.scope.task.as_deref() == task;
            Reverse((
                is_kept,
                is_open(entry) && is_of_task,
                occurred_at(entry),
                entry.id,
            ))
        });
        entries.truncate(self.engine.settings.max_entries);
        entries.sort_by_key(|entry| (occurred_at(entry), entry.id));
        Ok(entries)
    }

    fn mirror_tasks(&self) -> Result<BTreeMap<String, MirrorTask>, Fault> {
        let now = self.engine.now();
        let mut tasks = BTreeMap::new();
        for task in self
            .engine
            .records()
            .find(&Filter::current(&[Kind::Task], now).oldest_first())?
        {
            if let Some(id) = task.key.clone() {
                tasks.insert(id.clone(), mirror_task(id, &task));
            }
        }
        for record in self
            .engine
            .records()
            .find(&Filter::current(&[Kind::Step, Kind::Artifact], now).oldest_first())?
        {
            let Some(id) = &record.scope.task else {
                continue;
            };
            // Other programs find the steps of work without a task only under its name.
            if id == TASK_MAIN && !tasks.contains_key(id) {
                let task = MirrorTask {
                    id: id.clone(),
                    ..MirrorTask::default()
                };
                tasks.insert(id.clone(), task);
            }
            let Some(task) = tasks.get_mut(id) else {
                continue;
            };
            if record.kind == Kind::Artifact {
                // The format has only modified files, no other artifacts.
                if record.attr_str("type") == Some(ARTIFACT_FILE) {
                    task.files_modified.push(record.text);
                }
            } else if record.state() == Some(StepState::Done.as_str()) {
                task.completed_steps.push(record.text);
            } else {
                task.pending_steps.push(record.text);
            }
        }
        Ok(tasks)
    }
}

/// Returns the time of an entry; for an error its first occurrence, not its resolution.
fn occurred_at(entry: &Record) -> Timestamp {
    match entry.kind == Kind::Error {
        true => entry.true_from.unwrap_or(entry.recorded_at),
        false => entry.recorded_at,
    }
}

fn is_open(entry: &Record) -> bool {
    entry.kind == Kind::Error && entry.state() == Some(ErrorRecord::OPEN)
}

/// Returns true if a record has an unresolved conflict; it is not shown until a decision.
fn is_disputed(record: &Record) -> bool {
    Knowledge::from_record(record).is_ok_and(|knowledge| knowledge.disputed)
}

fn mirror_task(id: String, task: &Record) -> MirrorTask {
    let attr = |name| task.attr_str(name).unwrap_or_default().to_owned();
    MirrorTask {
        id,
        task_type: attr("type"),
        phase: task.scope.phase.clone().unwrap_or_default(),
        branch: attr("branch"),
        pr_number: task
            .attrs
            .get("pr_number")
            .and_then(serde_json::Value::as_u64)
            .map(|number| PrNumber::Text(number.to_string())),
        blocked_reason: attr("blocked_reason"),
        ..MirrorTask::default()
    }
}

fn mirror_decision(record: Record) -> MirrorDecision {
    MirrorDecision {
        iteration: record.scope.iteration.unwrap_or(0),
        task_id: record.scope.task.clone().unwrap_or_default(),
        rationale: record.attr_str("rationale").unwrap_or_default().to_owned(),
        description: record.text,
        ..MirrorDecision::default()
    }
}

fn mirror_error(record: Record) -> MirrorErrorItem {
    MirrorErrorItem {
        iteration: record.scope.iteration.unwrap_or(0),
        task_id: record.scope.task.clone().unwrap_or_default(),
        phase: record.scope.phase.clone().unwrap_or_default(),
        resolution: record.attr_str("resolution").unwrap_or_default().to_owned(),
        resolved: record.state() == Some(ErrorRecord::RESOLVED),
        error: record.text,
        ..MirrorErrorItem::default()
    }
}
