//! Working memory: plan, constraints and notes of one agent while it works, in its own process.
//!
//! A plain value that the agent owns. Only the agent sees it, and it ends with the process unless a snapshot is
//! stored. Pure: a snapshot is bytes.

use heirloom_model::limits::{WORKING_BYTES_MAX, WORKING_ITEMS_MAX, WORKING_TEXT_BYTES_MAX};
use heirloom_model::record::check_name;
use heirloom_model::{Timestamp, text};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

/// Version of the snapshot format.
const SNAPSHOT_VERSION: u32 = 1;

/// Working memory of one agent in one session.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WorkingMemory {
    #[serde(rename = "agent_id")]
    agent_id: String,
    #[serde(rename = "session_id")]
    session_id: String,
    #[serde(rename = "current_plan")]
    current_plan: Option<String>,
    #[serde(rename = "active_constraints")]
    active_constraints: Vec<String>,
    #[serde(rename = "task_context")]
    task_context: BTreeMap<String, Value>,
    #[serde(rename = "scratchpad")]
    scratchpad: Vec<String>,
    #[serde(rename = "updated_at")]
    updated_at: Timestamp,
}

/// Error of a change that exceeds a limit, or of an invalid snapshot.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WorkingMemoryError {
    /// The name is invalid.
    #[error("{0}")]
    Name(String),
    /// The text is too long.
    #[error("the {what} has {bytes} bytes; at most {WORKING_TEXT_BYTES_MAX} are allowed")]
    TextTooLong {
        /// Kind of text.
        what: &'static str,
        /// Length in bytes.
        bytes: usize,
    },
    /// The list is full.
    #[error("there are {WORKING_ITEMS_MAX} {what} already; take some out first")]
    Full {
        /// Name of the list.
        what: &'static str,
    },
    /// The snapshot is too large.
    #[error("the snapshot has {0} bytes; at most {WORKING_BYTES_MAX} are allowed")]
    TooLarge(usize),
    /// The bytes are not a snapshot.
    #[error("these bytes are not a snapshot of a working memory: {0}")]
    InvalidSnapshot(String),
    /// The snapshot has a newer version.
    #[error("the snapshot has version {0}, this program knows version {SNAPSHOT_VERSION}")]
    Newer(u32),
}

/// Snapshot with its version.
#[derive(Serialize, Deserialize)]
struct Snapshot {
    #[serde(rename = "version")]
    version: u32,
    #[serde(rename = "working")]
    working: Value,
}

impl WorkingMemory {
    /// Creates an empty working memory for an agent in a session.
    pub fn new(agent: &str, session: &str, at: Timestamp) -> Result<Self, WorkingMemoryError> {
        let memory = Self {
            agent_id: agent.to_owned(),
            session_id: session.to_owned(),
            current_plan: None,
            active_constraints: Vec::new(),
            task_context: BTreeMap::new(),
            scratchpad: Vec::new(),
            updated_at: at,
        };
        memory.validate()
    }

    /// Returns the id of the agent.
    pub fn agent_id(&self) -> &str {
        &self.agent_id
    }

    /// Returns the id of the session.
    pub fn session_id(&self) -> &str {
        &self.session_id
    }

    /// Returns the current plan.
    pub fn current_plan(&self) -> Option<&str> {
        self.current_plan.as_deref()
    }

    /// Returns the active constraints, oldest first.
    pub fn active_constraints(&self) -> &[String] {
        &self.active_constraints
    }

    /// Returns the task context by name.
    pub fn task_context(&self) -> &BTreeMap<String, Value> {
        &self.task_context
    }

    /// Returns the notes, oldest first.
    pub fn scratchpad(&self) -> &[String] {
        &self.scratchpad
    }

    /// Returns the time of the last change.
    pub fn updated_at(&self) -> Timestamp {
        self.updated_at
    }

    /// Sets the plan, or removes it.
    pub fn set_plan(
        &mut self,
        plan: Option<&str>,
        at: Timestamp,
    ) -> Result<(), WorkingMemoryError> {
        if let Some(plan) = plan {
            check_text("plan", plan)?;
        }
        self.current_plan = plan.map(str::to_owned);
        self.updated_at = at;
        Ok(())
    }

    /// Adds a constraint; one that exists already keeps its position.
    pub fn add_constraint(
        &mut self,
        constraint: &str,
        at: Timestamp,
    ) -> Result<(), WorkingMemoryError> {
        check_text("constraint", constraint)?;
        if !self.active_constraints.iter().any(|one| one == constraint) {
            check_count("constraints", self.active_constraints.len())?;
            self.active_constraints.push(constraint.to_owned());
        }
        self.updated_at = at;
        Ok(())
    }

    /// Removes a constraint; returns true if it existed.
    pub fn remove_constraint(&mut self, constraint: &str, at: Timestamp) -> bool {
        let before = self.active_constraints.len();
        self.active_constraints.retain(|one| one != constraint);
        self.updated_at = at;
        self.active_constraints.len() < before
    }

    /// Sets a value of the task context; returns the previous value.
    pub fn set_context(
        &mut self,
        name: &str,
        value: Value,
        at: Timestamp,
    ) -> Result<Option<Value>, WorkingMemoryError> {
        check_name("name", name).map_err(|bad| WorkingMemoryError::Name(bad.to_string()))?;
        check_text("value", &value.to_string())?;
        if !self.task_context.contains_key(name) {
            check_count("entries of the task's context", self.task_context.len())?;
        }
        self.updated_at = at;
        Ok(self.task_context.insert(name.to_owned(), value))
    }

    /// Removes a value of the task context, and returns it.
    pub fn remove_context(&mut self, name: &str, at: Timestamp) -> Option<Value> {
        self.updated_at = at;
        self.task_context.remove(name)
    }

    /// Adds a note.
    pub fn add_note(&mut self, words: &str, at: Timestamp) -> Result<(), WorkingMemoryError> {
        check_text("note", words)?;
        check_count("notes", self.scratchpad.len())?;
        self.scratchpad.push(words.to_owned());
        self.updated_at = at;
        Ok(())
    }

    /// Removes all notes, and returns them, oldest first.
    pub fn take_notes(&mut self, at: Timestamp) -> Vec<String> {
        self.updated_at = at;
        std::mem::take(&mut self.scratchpad)
    }

    /// Returns the whole value as JSON, for [`WorkingMemory::restore`].
    pub fn snapshot(&self) -> Result<Vec<u8>, WorkingMemoryError> {
        let invalid_snapshot =
            |error: serde_json::Error| WorkingMemoryError::InvalidSnapshot(error.to_string());
        let working = serde_json::to_value(self).map_err(invalid_snapshot)?;
        let snapshot = Snapshot {
            version: SNAPSHOT_VERSION,
            working,
        };
        let bytes = serde_json::to_vec(&snapshot).map_err(invalid_snapshot)?;
        if bytes.len() > WORKING_BYTES_MAX {
            return Err(WorkingMemoryError::TooLarge(bytes.len()));
        }
        Ok(bytes)
    }

    /// Restores a snapshot of [`WorkingMemory::snapshot`]. For any bytes it returns a value within the limits or an
    /// error with the reason.
    pub fn restore(bytes: &[u8]) -> Result<Self, WorkingMemoryError> {
        if bytes.len() > WORKING_BYTES_MAX {
            return Err(WorkingMemoryError::TooLarge(bytes.len()));
        }
        let invalid_snapshot = |error: serde_json::Error| {
            WorkingMemoryError::InvalidSnapshot(text::excerpt(&error.to_string(), 200))
        };
        let snapshot: Snapshot = serde_json::from_slice(bytes).map_err(invalid_snapshot)?;
        if snapshot.version > SNAPSHOT_VERSION {
            return Err(WorkingMemoryError::Newer(snapshot.version));
        }
        let memory: Self = serde_json::from_value(snapshot.working).map_err(invalid_snapshot)?;
        memory.validate()
    }

    fn validate(self) -> Result<Self, WorkingMemoryError> {
        for (what, name) in [("agent", &self.agent_id), ("session", &self.session_id)] {
            check_name(what, name).map_err(|bad| WorkingMemoryError::Name(bad.to_string()))?;
        }
        self.current_plan
            .iter()
            .try_for_each(|plan| check_text("plan", plan))?;
        (self.active_constraints.iter()).try_for_each(|words| check_text("constraint", words))?;
        (self.scratchpad.iter()).try_for_each(|words| check_text("note", words))?;
        for (name, value) in &self.task_context {
            check_name("name", name).map_err(|bad| WorkingMemoryError::Name(bad.to_string()))?;
            check_text("value", &value.to_string())?;
        }
        for (what, count) in [
            ("constraints", self.active_constraints.len()),
            ("entries of the task's context", self.task_context.len()),
            ("notes", self.scratchpad.len()),
        ] {
            check_count(what, count.saturating_sub(1))?;
        }
        Ok(self)
    }
}

fn check_text(what: &'static str, words: &str) -> Result<(), WorkingMemoryError> {
    if words.len() > WORKING_TEXT_BYTES_MAX {
        let bytes = words.len();
        return Err(WorkingMemoryError::TextTooLong { what, bytes });
    }
    Ok(())
}

fn check_count(what: &'static str, count: usize) -> Result<(), WorkingMemoryError> {
    if count >= WORKING_ITEMS_MAX {
        return Err(WorkingMemoryError::Full { what });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn at(second: i64) -> Timestamp {
        heirloom_model::clock::from_micros(second * 1_000_000)
    }

    fn filled() -> WorkingMemory {
        let mut memory = WorkingMemory::new("codex", "s1", at(1)).unwrap();
        memory.set_plan(Some("mend it"), at(2)).unwrap();
        memory.add_constraint("no network", at(3)).unwrap();
        memory.add_constraint("no network", at(4)).unwrap();
        memory
            .set_context("file", json!({"path": "a.rs"}), at(5))
            .unwrap();
        memory.add_note("look at line 3", at(6)).unwrap();
        memory
    }

    #[test]
    fn restore_snapshot_restores_all_fields() {
        let memory = filled();
        let restored = WorkingMemory::restore(&memory.snapshot().unwrap()).unwrap();
        assert_eq!(restored, memory);
        assert_eq!(restored.active_constraints(), ["no network"]);
        assert_eq!(restored.updated_at(), at(6));
    }

    #[test]
    fn removed_items_leave_an_empty_memory() {
        let mut memory = filled();
        assert!(memory.remove_constraint("no network", at(7)));
        assert!(!memory.remove_constraint("no network", at(7)));
        assert_eq!(
            memory.remove_context("file", at(8)),
            Some(json!({"path": "a.rs"}))
        );
        assert_eq!(memory.take_notes(at(9)), ["look at line 3"]);
        memory.set_plan(None, at(10)).unwrap();
        assert_eq!(memory.updated_at(), at(10));
        let empty = WorkingMemory::new("codex", "s1", at(10)).unwrap();
        assert_eq!(memory, empty);
    }

    #[test]
    fn restore_invalid_bytes_reports_the_problem() {
        let good = String::from_utf8(filled().snapshot().unwrap()).unwrap();
        for (bytes, expected) in [
            (String::new(), "not a snapshot"),
            ("{".to_owned(), "not a snapshot"),
            ("[1]".to_owned(), "not a snapshot"),
            ("{\"version\": 1}".to_owned(), "missing field `working`"),
            (good.replace("\"version\":1", "\"version\":2"), "version 2"),
            (good.replace("\"codex\"", "\"\""), "the agent `` is empty"),
            (good.replace("\"codex\"", "7"), "not a snapshot"),
            (
                good.replace("no network", &"x".repeat(WORKING_TEXT_BYTES_MAX + 1)),
                "constraint has",
            ),
        ] {
            let problem = WorkingMemory::restore(bytes.as_bytes())
                .unwrap_err()
                .to_string();
            assert!(problem.contains(expected), "{expected}: {problem}");
        }
        let problem = WorkingMemory::restore(&[0xff; 9]).unwrap_err();
        assert!(matches!(problem, WorkingMemoryError::InvalidSnapshot(_)));
        let long = vec![b' '; WORKING_BYTES_MAX + 1];
        assert_eq!(
            WorkingMemory::restore(&long),
            Err(WorkingMemoryError::TooLarge(WORKING_BYTES_MAX + 1))
        );
    }

    #[test]
    fn parse_limits_are_enforced() {
        let mut memory = WorkingMemory::new("a", "s", at(1)).unwrap();
        let most = "x".repeat(WORKING_TEXT_BYTES_MAX);
        memory.set_plan(Some(&most), at(1)).unwrap();
        let over = format!("{most}x");
        assert!(memory.set_plan(Some(&over), at(1)).is_err());
        assert!(memory.add_note(&over, at(1)).is_err());
        assert!(memory.add_constraint(&over, at(1)).is_err());
        assert!(memory.set_context("n", json!(over), at(1)).is_err());
        for n in 0..WORKING_ITEMS_MAX {
            memory.add_note(&n.to_string(), at(2)).unwrap();
            memory.add_constraint(&n.to_string(), at(2)).unwrap();
            memory.set_context(&n.to_string(), json!(n), at(2)).unwrap();
        }
        let full = |what| Err(WorkingMemoryError::Full { what });
        assert_eq!(memory.add_note("x", at(3)), full("notes"));
        assert_eq!(memory.add_constraint("x", at(3)), full("constraints"));
        assert!(memory.set_context("x", json!(1), at(3)).is_err());
        memory.set_context("1", json!(2), at(3)).unwrap();
        let restored = WorkingMemory::restore(&memory.snapshot().unwrap()).unwrap();
        assert_eq!(restored, memory, "as full as it may be");
        for n in 0..WORKING_BYTES_MAX / WORKING_TEXT_BYTES_MAX {
            memory
                .set_context(&n.to_string(), json!(most[2..]), at(4))
                .unwrap();
        }
        assert!(matches!(
            memory.snapshot(),
            Err(WorkingMemoryError::TooLarge(_))
        ));
    }
}
