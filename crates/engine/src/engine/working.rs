//! An agent's working memory in a private file, from one process of it to the next.
//!
//! One file for an agent in a session, below `.heirloom/working/`. It is named by hashes: of the project, the session
//! and the agent, so that a purge finds what belongs to a session without reading it.

use super::Engine;
use crate::working::{WorkingMemory, WorkingProblem};
use heirloom_model::limits::WORKING_BYTES_MAX;
use heirloom_model::{Fault, text};
use heirloom_store::{Selection, StoreError, durable};
use serde_json::Value;
use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};

/// The folder of snapshots, in the folder of the project's memory.
pub(super) const WORKING_FOLDER: &str = "working";
/// What the name of a snapshot ends with.
const ENDING: &str = ".json";

impl Engine {
    /// Keeps a working memory for the next process of its agent, without its secrets; durable when it returns.
    ///
    /// Takes the place of what was kept for this agent in this session. Errors: `Refused` when memory is off;
    /// `Usage` for one that is too large.
    pub fn keep_working(&self, memory: &WorkingMemory) -> Result<(), Fault> {
        self.writable()?;
        let bytes = memory.snapshot().map_err(|problem| unfit(&problem))?;
        let Ok(Value::Object(mut snapshot)) = serde_json::from_slice(&bytes) else {
            return Err(Fault::failed("a working memory is no JSON object"));
        };
        self.redactor.redact_map(&mut snapshot, &mut Vec::new());
        let clean = Value::Object(snapshot).to_string();
        let folder = self.folder.join(WORKING_FOLDER);
        // A folder that is a link leads somewhere else.
        durable::make_private(&folder)?;
        durable::create_dir_private(&folder)?;
        let path = self.working_path(memory.agent_id(), memory.session_id());
        Ok(durable::write_atomic(&path, clean.as_bytes())?)
    }

    /// Takes out what was kept of an agent in a session: nobody finds it afterwards. `None` if nothing was kept.
    ///
    /// Errors: `Failed` for a file that is no snapshot, which stays.
    pub fn take_working(&self, agent: &str, session: &str) -> Result<Option<WorkingMemory>, Fault> {
        self.writable()?;
        durable::make_private(&self.folder.join(WORKING_FOLDER))?;
        let path = self.working_path(agent, session);
        let Some(bytes) = read(&path)? else {
            return Ok(None);
        };
        let damaged = |problem: String| {
            Fault::failed(format!("{}: {problem}", path.display()))
                .hint("delete it: the agent then begins with an empty working memory")
        };
        let memory = WorkingMemory::restore(&bytes).map_err(|p| damaged(p.to_string()))?;
        let is_asked_for = memory.agent_id() == &*self.clean(agent)
            && memory.session_id() == &*self.clean(session);
        if !is_asked_for {
            return Err(damaged(
                "it is another agent's, or of another session".to_owned(),
            ));
        }
        durable::remove_if_there(&path)?;
        Ok(Some(memory))
    }

    /// Snapshots that a purge of `selection` deletes, by name.
    pub(super) fn purgeable_working(&self, selection: &Selection) -> Result<Vec<PathBuf>, Fault> {
        let mut found = Vec::new();
        for path in snapshots(&self.folder)? {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            let goes = match selection {
                Selection::Project => true,
                Selection::Session(session) => name.starts_with(&self.session_prefix(session)),
                Selection::Containing(wanted) => says(&path, wanted)?,
                Selection::Records(_) => false,
            };
            if goes && name.starts_with(&self.project_prefix()) {
                found.push(path);
            }
        }
        Ok(found)
    }

    fn working_path(&self, agent: &str, session: &str) -> PathBuf {
        let session = self.session_prefix(session);
        let name = format!("{session}{}{ENDING}", text::hash16(&self.clean(agent)));
        self.folder.join(WORKING_FOLDER).join(name)
    }

    fn session_prefix(&self, session: &str) -> String {
        let session = text::hash16(&self.clean(session));
        format!("{}{session}-", self.project_prefix())
    }

    /// Several projects may have their memory in one folder.
    fn project_prefix(&self) -> String {
        format!("{}-", text::hash16(self.project.as_str()))
    }
}

/// The snapshots below the folder of a project's memory, by name.
pub(super) fn snapshots(folder: &Path) -> Result<Vec<PathBuf>, Fault> {
    let folder = folder.join(WORKING_FOLDER);
    if folder.is_symlink() {
        return Ok(Vec::new());
    }
    let entries = match std::fs::read_dir(&folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => {
            let place = folder.display();
            return Err(Fault::failed(format!("cannot list {place}: {error}")));
        }
    };
    let mut found: Vec<_> = entries
        .filter_map(Result::ok)
        .filter(|entry| entry.file_type().is_ok_and(|sort| sort.is_file()))
        .map(|entry| entry.path())
        .collect();
    found.sort();
    Ok(found)
}

fn read(path: &Path) -> Result<Option<Vec<u8>>, Fault> {
    let io = |error| Fault::failed(format!("cannot read {}: {error}", path.display()));
    match path.symlink_metadata() {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(io(error)),
        Ok(found) if !found.is_file() => {
            return Err(StoreError::Linked {
                action: "read",
                path: path.to_owned(),
            }
            .into());
        }
        Ok(_) => {}
    }
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(io)?;
    // One more than allowed, so that a longer one is refused and not cut.
    let most = WORKING_BYTES_MAX as u64 + 1;
    file.take(most).read_to_end(&mut bytes).map_err(io)?;
    Ok(Some(bytes))
}

/// Whether a file says this text, upper and lower case being the same. One that is no JSON is read as it is.
fn says(path: &Path, wanted: &str) -> Result<bool, Fault> {
    let bytes = read(path)?.unwrap_or_default();
    let wanted = wanted.to_lowercase();
    Ok(match serde_json::from_slice::<Value>(&bytes) {
        Ok(value) => value_says(&value, &wanted),
        Err(_) => String::from_utf8_lossy(&bytes)
            .to_lowercase()
            .contains(&wanted),
    })
}

fn value_says(value: &Value, wanted: &str) -> bool {
    match value {
        Value::String(said) => said.to_lowercase().contains(wanted),
        Value::Array(items) => items.iter().any(|item| value_says(item, wanted)),
        Value::Object(map) => map
            .iter()
            .any(|(name, item)| name.to_lowercase().contains(wanted) || value_says(item, wanted)),
        Value::Number(number) => number.to_string().contains(wanted),
        Value::Null | Value::Bool(_) => false,
    }
}

fn unfit(problem: &WorkingProblem) -> Fault {
    Fault::usage(problem.to_string()).hint("take notes out, or move them to memory")
}
