//! The mirror of a run's memory: `memory.json`, rewritten whole after each iteration.

use super::Engine;
use super::import_mirror::ImportReport;
use super::sessions::iteration_of;
use crate::mirror::{
    self, MirrorDecision, MirrorFile, MirrorMistake, MirrorTask, Parsed, PrNumber,
};
use crate::places;
use heirloom_model::kinds::{CATEGORY_FACT, Mistake, StepState};
use heirloom_model::{Fault, Kind, Record, limits};
use heirloom_store::{Filter, durable};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The folder whose place depends on where the project keeps its memory.
const FOLDER: &str = ".heirloom/";

/// What reading an existing mirror brought.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MirrorLoad {
    /// There is none, or it is our own.
    Nothing,
    /// One that somebody else wrote was taken in.
    Imported(ImportReport),
    /// It could not be read: it was set aside, and the next save writes a new one from the store.
    SetAside {
        /// Where it is now.
        path: PathBuf,
        /// What is wrong with it.
        problem: String,
    },
}

impl Engine {
    /// Where the mirror is. Errors: `Usage` for a path outside the project.
    pub fn mirror_path(&self) -> Result<PathBuf, Fault> {
        self.mirror_at(&self.settings.mirror_path)
    }

    /// Where a mirror is that is configured as `configured`. Errors: `Usage` for a path outside the project.
    pub fn mirror_at(&self, configured: &str) -> Result<PathBuf, Fault> {
        if let Some(inside) = configured.strip_prefix(FOLDER)
            && !inside
                .split('/')
                .any(|part| part == ".." || part.is_empty())
        {
            return Ok(self.folder.join(inside));
        }
        let inside = places::normalise_inside(&self.root, configured).map_err(|problem| {
            Fault::usage(format!("memory.file_path = `{configured}`: {problem}"))
                .hint("give a path inside the project, such as .heirloom/memory.json")
        })?;
        Ok(self.root.join(inside))
    }

    /// Reads an existing mirror before the first run; later ones are our own and are left alone.
    ///
    /// One that cannot be read is set aside at any time, so that the next save does not destroy it.
    pub fn load_mirror(&self) -> Result<MirrorLoad, Fault> {
        let path = self.mirror_path()?;
        let Some(parsed) = self.read_mirror(&path)? else {
            return Ok(MirrorLoad::Nothing);
        };
        match parsed {
            Ok(_) if self.latest_session()?.is_some() => Ok(MirrorLoad::Nothing),
            Ok(parsed) => Ok(MirrorLoad::Imported(self.import_mirror(parsed)?)),
            Err(problem) => {
                let stamp = self.now().strftime("%Y%m%dT%H%M%SZ").to_string();
                let aside = durable::set_aside(&path, &format!("corrupt-{stamp}"))?;
                Ok(MirrorLoad::SetAside {
                    path: aside,
                    problem,
                })
            }
        }
    }

    /// The mirror at `path`, or what is wrong with it; `None` if there is none.
    fn read_mirror(&self, path: &Path) -> Result<Option<Result<Parsed, String>>, Fault> {
        let io = |error| Fault::failed(format!("cannot read {}: {error}", path.display()));
        match std::fs::metadata(path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(io(error)),
            Ok(meta) if meta.len() > limits::MIRROR_BYTES_MAX => {
                return Ok(Some(Err(format!(
                    "it is larger than {} bytes",
                    limits::MIRROR_BYTES_MAX
                ))));
            }
            Ok(_) => {}
        }
        let bytes = std::fs::read(path).map_err(io)?;
        Ok(Some(
            mirror::parse(&bytes).map_err(|error| error.to_string()),
        ))
    }

    /// Prunes, then writes the mirror whole or not at all.
    pub fn save_mirror(&self, task: Option<&str>) -> Result<PathBuf, Fault> {
        self.prune(task)?;
        let path = self.mirror_path()?;
        if let Some(parent) = path.parent() {
            durable::create_dir_private(parent)?;
        }
        let mut file = self.mirror()?;
        if let Some(mut old) = self.read_mirror(&path)?.and_then(Result::ok) {
            // Another program may have written anything there; our own entries are found by clean texts.
            self.clean_mirror(&mut old.file);
            file.keep_from(&old.file);
        }
        self.clean_mirror(&mut file);
        durable::write_atomic(&path, &mirror::to_json(&file))?;
        Ok(path)
    }

    /// The mirror as the bytes of its file.
    pub fn mirror_bytes(&self) -> Result<Vec<u8>, Fault> {
        Ok(mirror::to_json(&self.mirror()?))
    }

    /// What the mirror says at this moment.
    pub fn mirror(&self) -> Result<MirrorFile, Fault> {
        let session = self.latest_session()?;
        let attr = |name: &str| {
            let value = session
                .as_ref()
                .and_then(|s| s.attrs.get(name))
                .and_then(serde_json::Value::as_str);
            value.map(str::to_owned)
        };
        let mut file = MirrorFile {
            session_id: session.as_ref().map(|s| s.id.clone()).unwrap_or_default(),
            repository: attr("repository").unwrap_or_else(|| self.project.to_string()),
            iteration: session.as_ref().map_or(0, iteration_of),
            last_checkpoint: self.now().to_string(),
            ..MirrorFile::default()
        };
        file.tasks = self.mirror_tasks()?;
        for entry in self.entries()? {
            if entry.kind == Kind::Error {
                file.errors.push(mirror_error(entry));
            } else {
                file.decisions.push(mirror_decision(entry));
            }
        }
        let facts = Filter::current(&[Kind::Knowledge], self.now())
            .category(CATEGORY_FACT)
            .oldest_first();
        file.key_facts = self
            .find(&facts)?
            .into_iter()
            .map(|fact| fact.text)
            .collect();
        Ok(file)
    }

    fn mirror_tasks(&self) -> Result<BTreeMap<String, MirrorTask>, Fault> {
        let now = self.now();
        let mut tasks = BTreeMap::new();
        for task in self.find(&Filter::current(&[Kind::Task], now).oldest_first())? {
            if let Some(id) = task.key.clone() {
                tasks.insert(id.clone(), mirror_task(id, &task));
            }
        }
        for record in
            self.find(&Filter::current(&[Kind::Step, Kind::Artifact], now).oldest_first())?
        {
            let Some(task) = record.scope.task.as_ref().and_then(|id| tasks.get_mut(id)) else {
                continue;
            };
            if record.kind == Kind::Artifact {
                task.files_modified.push(record.text);
            } else if record.state() == Some(StepState::Done.as_str()) {
                task.completed_steps.push(record.text);
            } else {
                task.pending_steps.push(record.text);
            }
        }
        Ok(tasks)
    }
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
            .map(PrNumber::Number),
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

fn mirror_error(record: Record) -> MirrorMistake {
    MirrorMistake {
        iteration: record.scope.iteration.unwrap_or(0),
        task_id: record.scope.task.clone().unwrap_or_default(),
        phase: record.scope.phase.clone().unwrap_or_default(),
        resolution: record.attr_str("resolution").unwrap_or_default().to_owned(),
        resolved: record.state() == Some(Mistake::RESOLVED),
        error: record.text,
        ..MirrorMistake::default()
    }
}
