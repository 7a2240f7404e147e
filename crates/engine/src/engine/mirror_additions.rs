//! Entries that another program or a person added to the mirror, taken in before it is rewritten.
//!
//! Only additions count: a removed or reworded entry of the store is written again, because a mirror that is a few
//! writes behind looks the same.

use super::mirror_import::{SOURCE as IMPORT, scope as import_scope};
use super::record_import::ImportWriter;
use super::{FileVerdict, Mirror, MirrorLoadOutcome};
use heirloom_formats::mirror::{self, MirrorErrorItem, MirrorFile, MirrorTask, ParsedMirror};
use heirloom_fs::project_fs;
use heirloom_model::kinds::{Step, StepState};
use heirloom_model::{Fault, Kind, Record, Scope, Timestamp, limits};
use heirloom_store::{AsOf, Change, Filter};
use std::collections::HashSet;
use std::path::Path;

/// Resolution of an error that another program marked as resolved without saying how.
const RESOLVED_ELSEWHERE: &str = "marked as resolved in memory.json";

impl Mirror<'_> {
    /// Takes in what another program or a person added to the mirror at `path`, as one import that `undo` reverts.
    ///
    /// A changed file that came with the repository is set aside instead, until a person trusts it.
    pub(super) fn take_additions(
        &self,
        path: &Path,
        parsed: &ParsedMirror,
        ours: &MirrorFile,
    ) -> Result<MirrorLoadOutcome, Fault> {
        let mut file = parsed.file.clone();
        self.engine.redaction().redact_mirror(&mut file);
        let closing = self.closing_changes(&file, ours)?;
        let additions = self.without_known(subtract(file, ours))?;
        if additions == MirrorFile::default() && closing.is_empty() {
            return Ok(MirrorLoadOutcome::Nothing);
        }
        if !self.is_trusted(path) {
            let problem = "it came with the repository and has entries of someone else";
            return Ok(MirrorLoadOutcome::SetAside {
                path: self.set_mirror_aside("foreign")?,
                problem: problem.to_owned(),
            });
        }
        let source = format!("mirror {}", self.engine.settings.mirror_path);
        let mut writer = ImportWriter::new(self.engine, &source)?.without_session_counts();
        let parsed = ParsedMirror {
            file: additions,
            diagnostics: Vec::new(),
            ..*parsed
        };
        self.engine.imports().add_mirror(parsed, &mut writer)?;
        for change in closing {
            writer.add(0, change)?;
        }
        let report = writer.end()?;
        Ok(match report.created {
            0 => MirrorLoadOutcome::Nothing,
            _ => MirrorLoadOutcome::Imported(report),
        })
    }

    pub(super) fn is_trusted(&self, path: &Path) -> bool {
        let read = project_fs::read_bounded(path, limits::MIRROR_BYTES_MAX);
        read.is_ok_and(|bytes| self.engine.file_trust.verdict(path, &bytes) == FileVerdict::Trusted)
    }

    /// Removes the entries that the store has or had: replaced, forgotten and older ones are not in the mirror.
    fn without_known(&self, mut file: MirrorFile) -> Result<MirrorFile, Fault> {
        let facts = file.key_facts.iter().map(String::as_str);
        let decisions = file
            .decisions
            .iter()
            .map(|decision| decision.description.as_str());
        let unknown = self.unknown_texts(Kind::Knowledge, facts.chain(decisions))?;
        file.key_facts.retain(|fact| unknown.contains(fact.trim()));
        (file.decisions).retain(|decision| unknown.contains(decision.description.trim()));
        let errors = file.errors.iter().map(|error| error.error.as_str());
        let unknown = self.unknown_texts(Kind::Error, errors)?;
        file.errors
            .retain(|error| unknown.contains(error.error.trim()));
        let steps = file.tasks.values().flat_map(all_steps);
        let unknown_steps = self.unknown_texts(Kind::Step, steps)?;
        let files = file.tasks.values().flat_map(|task| &task.files_modified);
        let unknown_files = self.unknown_texts(Kind::Artifact, files.map(String::as_str))?;
        let mut known_tasks = HashSet::new();
        for id in file.tasks.keys() {
            let ever = Filter {
                as_of: AsOf::Ever,
                limit: 1,
                ..Filter::current(&[Kind::Task], self.engine.now())
            };
            if !self.engine.records().find(&ever.key(id))?.is_empty() {
                known_tasks.insert(id.clone());
            }
        }
        file.tasks.retain(|id, task| {
            let is_new = |step: &String| unknown_steps.contains(step.trim());
            task.completed_steps.retain(is_new);
            task.pending_steps.retain(is_new);
            (task.files_modified).retain(|path| unknown_files.contains(path.trim()));
            !known_tasks.contains(id) || has_entries(task)
        });
        Ok(file)
    }

    /// Returns those of `texts` that no record of the kind has or had, trimmed.
    fn unknown_texts<'t>(
        &self,
        kind: Kind,
        texts: impl Iterator<Item = &'t str>,
    ) -> Result<HashSet<String>, Fault> {
        let mut unknown: HashSet<String> = texts.map(|text| text.trim().to_owned()).collect();
        unknown.remove("");
        // Newest first: an entry that left the mirror was usually replaced a moment ago.
        let mut page = Filter {
            as_of: AsOf::Ever,
            limit: limits::BATCH_RECORDS,
            ..Filter::current(&[kind], self.engine.now())
        };
        while !unknown.is_empty() {
            let records = self.engine.records().find(&page)?;
            for record in &records {
                unknown.remove(record.text.trim());
            }
            match records.last() {
                Some(last) if records.len() == page.limit => page.after = Some(last.id),
                _ => break,
            }
        }
        Ok(unknown)
    }

    /// Returns the changes that close what the mirror has as closed and the store as open.
    ///
    /// Only if the file was written after the entry was opened: a mirror that is a few writes behind shows an error as
    /// resolved that has occurred again since. After the clock was set back, the order of both is unknown.
    fn closing_changes(&self, file: &MirrorFile, ours: &MirrorFile) -> Result<Vec<Change>, Fault> {
        let written = mirror::parse_time(&file.last_checkpoint);
        let Some(written) = written.filter(|at| *at <= self.engine.now()) else {
            return Ok(Vec::new());
        };
        let mut changes = Vec::new();
        let open = ours.errors.iter().filter(|error| !error.resolved);
        for known in open {
            let is_same = |error: &&MirrorErrorItem| {
                error.resolved && error.error == known.error && error.task_id == known.task_id
            };
            let Some(closed) = file.errors.iter().find(is_same) else {
                continue;
            };
            let errors = self.engine.errors();
            let scope = import_scope(known.iteration, &known.task_id, &known.phase);
            let record = errors.error_like(&known.error, &scope)?;
            let is_earlier = |record: &Record| last_occurrence(record) <= written;
            if let Some(record) = record.filter(is_earlier) {
                let resolution = match closed.resolution.trim() {
                    "" => RESOLVED_ELSEWHERE,
                    resolution => resolution,
                };
                changes.push(errors.resolve_change(&record, resolution, IMPORT));
            }
        }
        for (id, task) in &file.tasks {
            let Some(known) = ours.tasks.get(id) else {
                continue;
            };
            let is_open = |step: &&String| known.pending_steps.contains(*step);
            for step in task.completed_steps.iter().filter(is_open) {
                let key = Step::key(step, Some(id));
                let filter = Filter::current(&[Kind::Step], self.engine.now()).key(&key);
                let record = self.engine.records().find(&filter.limit(1))?.pop();
                if record.is_some_and(|record| record.recorded_at <= written) {
                    let redaction = self.engine.redaction();
                    let scope = redaction.redact_scope(Scope::of_task(id));
                    let step = redaction.redact_text(step);
                    let done = StepState::Done;
                    changes.push((self.engine.tasks()).step_change(
                        step.as_text(),
                        done,
                        scope,
                        IMPORT,
                    )?);
                }
            }
        }
        Ok(changes)
    }
}

/// Returns the entries of `file` that `ours` does not have.
fn subtract(mut file: MirrorFile, ours: &MirrorFile) -> MirrorFile {
    file.key_facts.retain(|fact| !ours.key_facts.contains(fact));
    (file.decisions)
        .retain(|new| !(ours.decisions.iter()).any(|known| known.description == new.description));
    (file.errors).retain(|new| !ours.errors.iter().any(|known| known.error == new.error));
    for (id, task) in &mut file.tasks {
        let Some(known) = ours.tasks.get(id) else {
            continue;
        };
        let is_new = |step: &String| {
            !known.completed_steps.contains(step) && !known.pending_steps.contains(step)
        };
        task.completed_steps.retain(is_new);
        task.pending_steps.retain(is_new);
        (task.files_modified).retain(|path| !known.files_modified.contains(path));
    }
    file.tasks
        .retain(|id, task| !ours.tasks.contains_key(id) || has_entries(task));
    MirrorFile {
        tasks: file.tasks,
        decisions: file.decisions,
        errors: file.errors,
        key_facts: file.key_facts,
        ..MirrorFile::default()
    }
}

fn all_steps(task: &MirrorTask) -> impl Iterator<Item = &str> {
    let steps = task.completed_steps.iter().chain(&task.pending_steps);
    steps.map(String::as_str)
}

fn has_entries(task: &MirrorTask) -> bool {
    all_steps(task).next().is_some() || !task.files_modified.is_empty()
}

fn last_occurrence(error: &Record) -> Timestamp {
    let repeated = error.attr_str("repeated_at").and_then(|at| at.parse().ok());
    repeated.unwrap_or(error.recorded_at).max(error.recorded_at)
}
