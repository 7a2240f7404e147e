//! The mirror of a run's memory: `memory.json`, rewritten whole after each iteration.

use super::Engine;
use super::sessions::iteration_of;
use super::transfer::ImportReport;
use crate::mirror::{
    self, MirrorDecision, MirrorFile, MirrorForm, MirrorMistake, MirrorTask, Parsed, PrNumber,
};
use crate::places::{self, PathProblem};
use heirloom_model::kinds::{ARTIFACT_FILE, CATEGORY_FACT, Knowledge, Mistake, StepState};
use heirloom_model::{Fault, Kind, KindData, Record, Timestamp, limits};
use heirloom_store::{Filter, durable};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

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

/// How the mirror stands to the store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum MirrorState {
    /// There is none.
    None,
    /// It says what the store says.
    Same,
    /// It says less or something else, and the store was written to since.
    Older,
    /// It says something else.
    Different,
    /// Another program wrote it, and no run has taken it in yet.
    Foreign,
    /// It cannot be read, and why.
    Unreadable(String),
    /// The store could not be asked.
    Unknown,
}

impl Engine {
    /// Where the mirror is. Errors: `Usage` for a path outside the project; `Refused` for one through a link
    /// that leads out of it, and for a file that is git's or Heirloom's own.
    pub fn mirror_path(&self) -> Result<PathBuf, Fault> {
        self.mirror_at(&self.settings.mirror_path)
    }

    /// Where a mirror is that is configured as `configured`. Errors as for [`Engine::mirror_path`].
    pub fn mirror_at(&self, configured: &str) -> Result<PathBuf, Fault> {
        places::mirror_path(&self.root, &self.folder, configured).map_err(|problem| {
            let message = format!("memory.file_path = `{configured}`: {problem}");
            match problem {
                PathProblem::Leads(_) => Fault::refused(message)
                    .hint("remove the link; what it leads to was not touched"),
                PathProblem::Git(_) | PathProblem::Own(_) => Fault::refused(message)
                    .hint("the mirror replaces the whole file: give it a name of its own"),
                PathProblem::Empty
                | PathProblem::Nul
                | PathProblem::TooLong(_)
                | PathProblem::TooManyLinks(_)
                | PathProblem::Outside(_)
                | PathProblem::Root(_) => Fault::usage(message)
                    .hint("give a path inside the project, such as .heirloom/memory.json"),
            }
        })
    }

    /// Reads an existing mirror before the first run; later ones are our own and are left alone.
    ///
    /// One that cannot be read is set aside at any time, so that the next save does not destroy it.
    pub fn load_mirror(&self) -> Result<MirrorLoad, Fault> {
        let path = self.mirror_path()?;
        let Some(parsed) = read_mirror(&path)? else {
            return Ok(MirrorLoad::Nothing);
        };
        match parsed {
            Ok(_) if self.latest_session()?.is_some() => Ok(MirrorLoad::Nothing),
            Ok(parsed) => {
                let source = format!("mirror {}", self.settings.mirror_path);
                Ok(MirrorLoad::Imported(self.import_mirror(parsed, &source)?))
            }
            Err(problem) => {
                let path = self.set_mirror_aside("corrupt")?;
                Ok(MirrorLoad::SetAside { path, problem })
            }
        }
    }

    /// Renames the mirror to `<name>.<why>-<time>`.
    pub(super) fn set_mirror_aside(&self, why: &str) -> Result<PathBuf, Fault> {
        let stamp = self.now().strftime("%Y%m%dT%H%M%SZ").to_string();
        let path = self.mirror_path()?;
        Ok(durable::set_aside(&path, &format!("{why}-{stamp}"))?)
    }

    /// Prunes, then writes the mirror whole or not at all.
    pub fn save_mirror(&self, task: Option<&str>) -> Result<PathBuf, Fault> {
        self.prune_entries(task)?;
        self.write_mirror()
    }

    /// Writes the mirror whole or not at all.
    pub(super) fn write_mirror(&self) -> Result<PathBuf, Fault> {
        let path = self.mirror_path()?;
        if let Some(parent) = path.parent() {
            durable::create_dir_private(parent)?;
        }
        let mut file = self.mirror()?;
        if let Some(mut old) = read_mirror(&path)?.and_then(Result::ok) {
            // Another program may have written anything there; our own entries are found by clean texts.
            self.clean_mirror(&mut old.file);
            file.keep_from(&old.file);
        }
        self.clean_mirror(&mut file);
        durable::write_atomic(&path, &mirror::to_json(&file))?;
        Ok(path)
    }

    /// Writes the mirror anew, if there is one, from the store alone. Returns whether there was one.
    pub(super) fn renew_mirror(&self) -> Result<bool, Fault> {
        let path = self.mirror_path()?;
        if !path.is_file() {
            return Ok(false);
        }
        durable::write_atomic(&path, &self.mirror_bytes()?)?;
        Ok(true)
    }

    /// Writes the mirror anew if there is one, because the store has become another one.
    ///
    /// One that the store knows nothing of, because it has no session, is kept as `<name>.<why>-<time>`: it
    /// may be all that is left of a run. Another program's is left alone.
    pub(super) fn rewrite_mirror(&self, why: &str) -> Result<Option<PathBuf>, Fault> {
        let path = self.mirror_path()?;
        match read_mirror(&path)? {
            None => return Ok(None),
            Some(Ok(parsed)) if parsed.form == MirrorForm::Entries => return Ok(None),
            Some(Ok(_)) if self.latest_session()?.is_some() => {}
            Some(_) => drop(self.set_mirror_aside(why)?),
        }
        self.write_mirror().map(Some)
    }

    /// How the mirror stands to the store.
    pub(super) fn mirror_state(&self) -> Result<MirrorState, Fault> {
        let parsed = match read_mirror(&self.mirror_path()?)? {
            None => return Ok(MirrorState::None),
            Some(Err(problem)) => return Ok(MirrorState::Unreadable(problem)),
            Some(Ok(parsed)) => parsed,
        };
        if self.latest_session()?.is_none() {
            return Ok(MirrorState::Foreign);
        }
        let mut ours = self.mirror()?;
        ours.keep_from(&parsed.file);
        ours.last_checkpoint
            .clone_from(&parsed.file.last_checkpoint);
        if mirror::to_json(&ours) == mirror::to_json(&parsed.file) {
            return Ok(MirrorState::Same);
        }
        let written: Option<Timestamp> = parsed.file.last_checkpoint.parse().ok();
        Ok(match (self.last_write()?, written) {
            (Some(last), Some(written)) if last <= written => MirrorState::Different,
            (None, _) => MirrorState::Different,
            _ => MirrorState::Older,
        })
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
            } else if !is_disputed(&entry) {
                file.decisions.push(mirror_decision(entry));
            }
        }
        let facts = Filter::current(&[Kind::Knowledge], self.now())
            .category(CATEGORY_FACT)
            .oldest_first();
        file.key_facts = self
            .find(&facts)?
            .into_iter()
            .filter(|fact| !is_disputed(fact))
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
                // The form knows files that were modified, nothing else that a task leaves behind.
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

/// The mirror at `path`, or what is wrong with it; `None` if there is none.
pub(super) fn read_mirror(path: &Path) -> Result<Option<Result<Parsed, String>>, Fault> {
    let io = |error| Fault::failed(format!("cannot read {}: {error}", path.display()));
    match std::fs::symlink_metadata(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(io(error)),
        Ok(meta) if meta.is_symlink() => {
            return Err(
                Fault::failed(format!("{} is a symbolic link", path.display()))
                    .hint("it is not followed: delete it, or set `memory.file_path`"),
            );
        }
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

/// Whether a record waits for somebody's decision: until then nobody is told it.
fn is_disputed(record: &Record) -> bool {
    Knowledge::of(record).is_ok_and(|knowledge| knowledge.disputed)
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
