//! Snapshots of working memories, passed from one process of an agent to the next.
//!
//! One private file for each agent and session, below `.heirloom/working/`. Its name consists of hashes of project,
//! session and agent, so that a purge finds the files of a session without reading them.

use super::Engine;
use crate::engine::Sessions;
use crate::working_memory::{WorkingMemory, WorkingMemoryError};
use heirloom_fs::durable;
use heirloom_fs::durable::regular_file::{self, FileReadError, LinkPolicy};
use heirloom_model::limits::WORKING_BYTES_MAX;
use heirloom_model::text::EscapedPath;
use heirloom_model::{Fault, text};
use heirloom_store::{PurgeTarget, StoreError};
use serde_json::Value;
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};

/// Folder of snapshots, in the memory's folder.
pub(super) const WORKING_FOLDER: &str = "working";
/// Suffix of a snapshot's name.
const ENDING: &str = ".json";

impl Sessions<'_> {
    /// Stores a redacted working memory for the next process of its agent; durable when it returns.
    ///
    /// Replaces the former one of this agent in this session. Errors: `Refused` when memory is off; `Usage` if it is
    /// too large.
    pub fn save_working_memory(&self, memory: &WorkingMemory) -> Result<(), Fault> {
        self.engine.require_memory()?;
        let bytes = memory.snapshot().map_err(|problem| size_fault(&problem))?;
        let Ok(Value::Object(mut snapshot)) = serde_json::from_slice(&bytes) else {
            return Err(Fault::failed("the working memory is not a JSON object"));
        };
        self.engine
            .redactor
            .redact_map(&mut snapshot, &mut Vec::new());
        let clean = Value::Object(snapshot).to_string();
        let folder = self.engine.folder.join(WORKING_FOLDER);
        // A link could lead out of the project.
        durable::make_private(&folder)?;
        durable::create_dir_private(&folder)?;
        let path = self.working_path(memory.agent_id(), memory.session_id());
        Ok(durable::write_atomic(&path, clean.as_bytes())?)
    }

    /// Removes and returns the stored working memory of an agent in a session; `None` if it does not exist.
    ///
    /// Errors: `Failed` for an invalid file, which stays.
    pub fn take_working_memory(
        &self,
        agent: &str,
        session: &str,
    ) -> Result<Option<WorkingMemory>, Fault> {
        self.engine.require_memory()?;
        durable::make_private(&self.engine.folder.join(WORKING_FOLDER))?;
        let path = self.working_path(agent, session);
        let Some(bytes) = read(&path)? else {
            return Ok(None);
        };
        let damaged = |problem: String| {
            Fault::failed(format!("{}: {problem}", path.to_escaped()))
                .hint("delete it: the agent then begins with an empty working memory")
        };
        let memory = WorkingMemory::restore(&bytes).map_err(|p| damaged(p.to_string()))?;
        let is_asked_for = memory.agent_id() == &*self.engine.redaction().redact_input(agent)
            && memory.session_id() == &*self.engine.redaction().redact_input(session);
        if !is_asked_for {
            return Err(damaged("it belongs to another agent or session".to_owned()));
        }
        durable::remove_if_exists(&path)?;
        Ok(Some(memory))
    }

    /// Removes the working memories of a session, of all agents, and returns the newest.
    ///
    /// Errors: `Failed` for an invalid file, which stays.
    pub fn take_newest_working_memory(
        &self,
        session: &str,
    ) -> Result<Option<WorkingMemory>, Fault> {
        self.engine.require_memory()?;
        durable::make_private(&self.engine.folder.join(WORKING_FOLDER))?;
        let prefix = self.session_prefix(session);
        let mut found = snapshots(&self.engine.folder)?;
        found.retain(|path| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            name.starts_with(&prefix)
        });
        let mut newest: Option<WorkingMemory> = None;
        for path in &found {
            let Some(bytes) = read(path)? else {
                continue;
            };
            let damaged = |problem: String| {
                Fault::failed(format!("{}: {problem}", path.to_escaped()))
                    .hint("delete it: the agent then begins with an empty working memory")
            };
            let memory = WorkingMemory::restore(&bytes).map_err(|p| damaged(p.to_string()))?;
            if memory.session_id() != &*self.engine.redaction().redact_input(session) {
                return Err(damaged("it belongs to another session".to_owned()));
            }
            let is_newer = |known: &WorkingMemory| memory.updated_at() > known.updated_at();
            if newest.as_ref().is_none_or(is_newer) {
                newest = Some(memory);
            }
        }
        for path in &found {
            durable::remove_if_exists(path)?;
        }
        Ok(newest)
    }

    /// Lists the snapshots that a purge of `selection` deletes, by name.
    pub(super) fn purgeable_working(&self, selection: &PurgeTarget) -> Result<Vec<PathBuf>, Fault> {
        let mut found = Vec::new();
        for path in snapshots(&self.engine.folder)? {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            let goes = match selection {
                PurgeTarget::Project => true,
                PurgeTarget::Session(session) => name.starts_with(&self.session_prefix(session)),
                PurgeTarget::Containing(wanted) => contains_text(&path, wanted)?,
                PurgeTarget::Records(_) => false,
            };
            if goes && name.starts_with(&self.project_prefix()) {
                found.push(path);
            }
        }
        Ok(found)
    }

    /// Moves the stored working memories of `from` to this project; existing ones stay.
    pub fn import_working_memories(&self, from: &Engine) -> Result<(), Fault> {
        let (old, new) = (from.sessions().project_prefix(), self.project_prefix());
        let folder = self.engine.folder.join(WORKING_FOLDER);
        // A project that was served under its old name has its snapshots in this folder.
        let found = snapshots(&self.engine.folder)?
            .into_iter()
            .chain(snapshots(&from.folder)?);
        for path in found {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            let Some(rest) = name.strip_prefix(&old) else {
                continue;
            };
            let target = folder.join(format!("{new}{rest}"));
            if target.symlink_metadata().is_ok() {
                continue;
            }
            if path.parent() == Some(&folder) {
                durable::rename_synced(&path, &target)?;
            } else {
                durable::make_private(&folder)?;
                durable::create_dir_private(&folder)?;
                durable::copy_durable(&path, &target)?;
            }
        }
        Ok(())
    }

    fn working_path(&self, agent: &str, session: &str) -> PathBuf {
        let session = self.session_prefix(session);
        let name = format!(
            "{session}{}{ENDING}",
            text::hash16(&self.engine.redaction().redact_input(agent))
        );
        self.engine.folder.join(WORKING_FOLDER).join(name)
    }

    fn session_prefix(&self, session: &str) -> String {
        let session = text::hash16(&self.engine.redaction().redact_input(session));
        format!("{}{session}-", self.project_prefix())
    }

    /// Returns the prefix of the project's files, because several projects may share a folder.
    fn project_prefix(&self) -> String {
        format!("{}-", text::hash16(self.engine.project.as_str()))
    }
}

/// Lists the snapshots below the folder of a project's memory, by name.
pub(super) fn snapshots(folder: &Path) -> Result<Vec<PathBuf>, Fault> {
    let folder = folder.join(WORKING_FOLDER);
    if folder.is_symlink() {
        return Ok(Vec::new());
    }
    let entries = match std::fs::read_dir(&folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => {
            let place = folder.to_escaped();
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
    let io = |error: std::io::Error| {
        Fault::failed(format!("cannot read {}: {error}", path.to_escaped()))
    };
    let opened = match regular_file::open(path, LinkPolicy::Refuse) {
        Ok(opened) => opened,
        Err(FileReadError::Missing) => return Ok(None),
        Err(FileReadError::NotRegularFile) => {
            return Err(StoreError::Linked {
                action: "read",
                path: path.to_owned(),
            }
            .into());
        }
        Err(problem) => return Err(io(problem.into_io_error())),
    };
    let mut bytes = Vec::new();
    let file = opened.file;
    // One byte over the limit, so that a longer file is refused instead of cut.
    let most = WORKING_BYTES_MAX as u64 + 1;
    file.take(most).read_to_end(&mut bytes).map_err(io)?;
    Ok(Some(bytes))
}

/// Returns true if a file contains a text, ignoring case. Invalid JSON is searched as plain text.
fn contains_text(path: &Path, wanted: &str) -> Result<bool, Fault> {
    let bytes = read(path)?.unwrap_or_default();
    let wanted = wanted.to_lowercase();
    Ok(match serde_json::from_slice::<Value>(&bytes) {
        Ok(value) => value_contains(&value, &wanted),
        Err(_) => String::from_utf8_lossy(&bytes)
            .to_lowercase()
            .contains(&wanted),
    })
}

fn value_contains(value: &Value, wanted: &str) -> bool {
    match value {
        Value::String(text) => text.to_lowercase().contains(wanted),
        Value::Array(items) => items.iter().any(|item| value_contains(item, wanted)),
        Value::Object(map) => map.iter().any(|(name, item)| {
            name.to_lowercase().contains(wanted) || value_contains(item, wanted)
        }),
        Value::Number(number) => number.to_string().contains(wanted),
        Value::Null | Value::Bool(_) => false,
    }
}

fn size_fault(problem: &WorkingMemoryError) -> Fault {
    Fault::usage(problem.to_string()).hint("remove notes, or move them to memory")
}
