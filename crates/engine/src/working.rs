//! Working memory: what one agent holds while it works, in its own process.
//!
//! A plain value that the agent owns. Nobody else sees it, and it is gone with the process unless a snapshot is
//! taken. Pure: a snapshot is bytes.

use heirloom_model::limits::{WORKING_BYTES_MAX, WORKING_ITEMS_MAX, WORKING_TEXT_BYTES_MAX};
use heirloom_model::record::check_name;
use heirloom_model::{Timestamp, text};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

/// The version of the form of a snapshot.
const VERSION: u32 = 1;

/// What one agent holds in one session.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WorkingMemory {
    agent_id: String,
    session_id: String,
    current_plan: Option<String>,
    active_constraints: Vec<String>,
    task_context: BTreeMap<String, Value>,
    scratchpad: Vec<String>,
    updated_at: Timestamp,
}

/// What does not fit into a working memory.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WorkingProblem {
    /// A name that cannot be used.
    #[error("{0}")]
    Name(String),
    /// A text over its cap.
    #[error("the {what} has {bytes} bytes; at most {WORKING_TEXT_BYTES_MAX} are allowed")]
    TextTooLong {
        /// Which text.
        what: &'static str,
        /// Its length.
        bytes: usize,
    },
    /// A list that is full.
    #[error("there are {WORKING_ITEMS_MAX} {what} already; take some out first")]
    Full {
        /// Which list.
        what: &'static str,
    },
    /// A snapshot over its cap.
    #[error("the snapshot has {0} bytes; at most {WORKING_BYTES_MAX} are allowed")]
    TooLarge(usize),
    /// Bytes that are no snapshot.
    #[error("these bytes are no snapshot of a working memory: {0}")]
    NoSnapshot(String),
    /// A snapshot of a newer version.
    #[error("the snapshot has version {0}, this program knows version {VERSION}")]
    Newer(u32),
}

/// A snapshot: its version, and the value beside it.
#[derive(Serialize, Deserialize)]
struct Snapshot {
    version: u32,
    working: Value,
}

impl WorkingMemory {
    /// An empty one for this agent in this session.
    pub fn new(agent: &str, session: &str, at: Timestamp) -> Result<Self, WorkingProblem> {
        let memory = Self {
            agent_id: agent.to_owned(),
            session_id: session.to_owned(),
            current_plan: None,
            active_constraints: Vec::new(),
            task_context: BTreeMap::new(),
            scratchpad: Vec::new(),
            updated_at: at,
        };
        memory.checked()
    }

    /// The agent.
    pub fn agent_id(&self) -> &str {
        &self.agent_id
    }

    /// The session.
    pub fn session_id(&self) -> &str {
        &self.session_id
    }

    /// What the agent is about to do.
    pub fn current_plan(&self) -> Option<&str> {
        self.current_plan.as_deref()
    }

    /// What it must heed, oldest first.
    pub fn active_constraints(&self) -> &[String] {
        &self.active_constraints
    }

    /// What it knows of its task, by name.
    pub fn task_context(&self) -> &BTreeMap<String, Value> {
        &self.task_context
    }

    /// Its notes, oldest first.
    pub fn scratchpad(&self) -> &[String] {
        &self.scratchpad
    }

    /// When it last changed.
    pub fn updated_at(&self) -> Timestamp {
        self.updated_at
    }

    /// Takes up a plan, or drops the one that there is.
    pub fn plan(&mut self, plan: Option<&str>, at: Timestamp) -> Result<(), WorkingProblem> {
        if let Some(plan) = plan {
            fits("plan", plan)?;
        }
        self.current_plan = plan.map(str::to_owned);
        self.updated_at = at;
        Ok(())
    }

    /// Heeds a constraint from now on; one that is heeded already stays where it is.
    pub fn constrain(&mut self, constraint: &str, at: Timestamp) -> Result<(), WorkingProblem> {
        fits("constraint", constraint)?;
        if !self.active_constraints.iter().any(|one| one == constraint) {
            has_room("constraints", self.active_constraints.len())?;
            self.active_constraints.push(constraint.to_owned());
        }
        self.updated_at = at;
        Ok(())
    }

    /// Heeds a constraint no longer; says whether it was heeded.
    pub fn release(&mut self, constraint: &str, at: Timestamp) -> bool {
        let before = self.active_constraints.len();
        self.active_constraints.retain(|one| one != constraint);
        self.updated_at = at;
        self.active_constraints.len() < before
    }

    /// Knows something of the task under a name; what it knew under that name is returned.
    pub fn know(
        &mut self,
        name: &str,
        value: Value,
        at: Timestamp,
    ) -> Result<Option<Value>, WorkingProblem> {
        check_name("name", name).map_err(|bad| WorkingProblem::Name(bad.to_string()))?;
        fits("value", &value.to_string())?;
        if !self.task_context.contains_key(name) {
            has_room("entries of the task's context", self.task_context.len())?;
        }
        self.updated_at = at;
        Ok(self.task_context.insert(name.to_owned(), value))
    }

    /// Forgets what it knew under a name, and returns it.
    pub fn unknow(&mut self, name: &str, at: Timestamp) -> Option<Value> {
        self.updated_at = at;
        self.task_context.remove(name)
    }

    /// Notes something.
    pub fn note(&mut self, words: &str, at: Timestamp) -> Result<(), WorkingProblem> {
        fits("note", words)?;
        has_room("notes", self.scratchpad.len())?;
        self.scratchpad.push(words.to_owned());
        self.updated_at = at;
        Ok(())
    }

    /// Takes every note out, oldest first.
    pub fn clear_notes(&mut self, at: Timestamp) -> Vec<String> {
        self.updated_at = at;
        std::mem::take(&mut self.scratchpad)
    }

    /// The whole value as JSON, for [`WorkingMemory::restore`].
    pub fn snapshot(&self) -> Result<Vec<u8>, WorkingProblem> {
        let no_snapshot = |error: serde_json::Error| WorkingProblem::NoSnapshot(error.to_string());
        let working = serde_json::to_value(self).map_err(no_snapshot)?;
        let snapshot = Snapshot {
            version: VERSION,
            working,
        };
        let bytes = serde_json::to_vec(&snapshot).map_err(no_snapshot)?;
        if bytes.len() > WORKING_BYTES_MAX {
            return Err(WorkingProblem::TooLarge(bytes.len()));
        }
        Ok(bytes)
    }

    /// The value that [`WorkingMemory::snapshot`] wrote. Whatever the bytes are: a value within its limits or an
    /// error that says what is wrong.
    pub fn restore(bytes: &[u8]) -> Result<Self, WorkingProblem> {
        if bytes.len() > WORKING_BYTES_MAX {
            return Err(WorkingProblem::TooLarge(bytes.len()));
        }
        let no_snapshot = |error: serde_json::Error| {
            WorkingProblem::NoSnapshot(text::excerpt(&error.to_string(), 200))
        };
        let snapshot: Snapshot = serde_json::from_slice(bytes).map_err(no_snapshot)?;
        if snapshot.version > VERSION {
            return Err(WorkingProblem::Newer(snapshot.version));
        }
        let memory: Self = serde_json::from_value(snapshot.working).map_err(no_snapshot)?;
        memory.checked()
    }

    fn checked(self) -> Result<Self, WorkingProblem> {
        for (what, name) in [("agent", &self.agent_id), ("session", &self.session_id)] {
            check_name(what, name).map_err(|bad| WorkingProblem::Name(bad.to_string()))?;
        }
        self.current_plan
            .iter()
            .try_for_each(|plan| fits("plan", plan))?;
        (self.active_constraints.iter()).try_for_each(|words| fits("constraint", words))?;
        (self.scratchpad.iter()).try_for_each(|words| fits("note", words))?;
        for (name, value) in &self.task_context {
            check_name("name", name).map_err(|bad| WorkingProblem::Name(bad.to_string()))?;
            fits("value", &value.to_string())?;
        }
        for (what, count) in [
            ("constraints", self.active_constraints.len()),
            ("entries of the task's context", self.task_context.len()),
            ("notes", self.scratchpad.len()),
        ] {
            has_room(what, count.saturating_sub(1))?;
        }
        Ok(self)
    }
}

fn fits(what: &'static str, words: &str) -> Result<(), WorkingProblem> {
    if words.len() > WORKING_TEXT_BYTES_MAX {
        let bytes = words.len();
        return Err(WorkingProblem::TextTooLong { what, bytes });
    }
    Ok(())
}

fn has_room(what: &'static str, count: usize) -> Result<(), WorkingProblem> {
    if count >= WORKING_ITEMS_MAX {
        return Err(WorkingProblem::Full { what });
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
        memory.plan(Some("mend it"), at(2)).unwrap();
        memory.constrain("no network", at(3)).unwrap();
        memory.constrain("no network", at(4)).unwrap();
        memory.know("file", json!({"path": "a.rs"}), at(5)).unwrap();
        memory.note("look at line 3", at(6)).unwrap();
        memory
    }

    #[test]
    fn a_snapshot_brings_everything_back() {
        let memory = filled();
        let again = WorkingMemory::restore(&memory.snapshot().unwrap()).unwrap();
        assert_eq!(again, memory);
        assert_eq!(again.active_constraints(), ["no network"]);
        assert_eq!(again.updated_at(), at(6));
    }

    #[test]
    fn what_is_taken_out_is_out() {
        let mut memory = filled();
        assert!(memory.release("no network", at(7)));
        assert!(!memory.release("no network", at(7)));
        assert_eq!(memory.unknow("file", at(8)), Some(json!({"path": "a.rs"})));
        assert_eq!(memory.clear_notes(at(9)), ["look at line 3"]);
        memory.plan(None, at(10)).unwrap();
        assert_eq!(memory.updated_at(), at(10));
        let empty = WorkingMemory::new("codex", "s1", at(10)).unwrap();
        assert_eq!(memory, empty);
    }

    #[test]
    fn garbage_is_told() {
        let good = String::from_utf8(filled().snapshot().unwrap()).unwrap();
        for (bytes, said) in [
            (String::new(), "no snapshot"),
            ("{".to_owned(), "no snapshot"),
            ("[1]".to_owned(), "no snapshot"),
            ("{\"version\": 1}".to_owned(), "missing field `working`"),
            (good.replace("\"version\":1", "\"version\":2"), "version 2"),
            (good.replace("\"codex\"", "\"\""), "the agent `` is empty"),
            (good.replace("\"codex\"", "7"), "no snapshot"),
            (
                good.replace("no network", &"x".repeat(WORKING_TEXT_BYTES_MAX + 1)),
                "constraint has",
            ),
        ] {
            let problem = WorkingMemory::restore(bytes.as_bytes())
                .unwrap_err()
                .to_string();
            assert!(problem.contains(said), "{said}: {problem}");
        }
        let problem = WorkingMemory::restore(&[0xff; 9]).unwrap_err();
        assert!(matches!(problem, WorkingProblem::NoSnapshot(_)));
        let long = vec![b' '; WORKING_BYTES_MAX + 1];
        assert_eq!(
            WorkingMemory::restore(&long),
            Err(WorkingProblem::TooLarge(WORKING_BYTES_MAX + 1))
        );
    }

    #[test]
    fn everything_has_a_cap() {
        let mut memory = WorkingMemory::new("a", "s", at(1)).unwrap();
        let most = "x".repeat(WORKING_TEXT_BYTES_MAX);
        memory.plan(Some(&most), at(1)).unwrap();
        let over = format!("{most}x");
        assert!(memory.plan(Some(&over), at(1)).is_err());
        assert!(memory.note(&over, at(1)).is_err());
        assert!(memory.constrain(&over, at(1)).is_err());
        assert!(memory.know("n", json!(over), at(1)).is_err());
        for n in 0..WORKING_ITEMS_MAX {
            memory.note(&n.to_string(), at(2)).unwrap();
            memory.constrain(&n.to_string(), at(2)).unwrap();
            memory.know(&n.to_string(), json!(n), at(2)).unwrap();
        }
        let full = |what| Err(WorkingProblem::Full { what });
        assert_eq!(memory.note("x", at(3)), full("notes"));
        assert_eq!(memory.constrain("x", at(3)), full("constraints"));
        assert!(memory.know("x", json!(1), at(3)).is_err());
        memory.know("1", json!(2), at(3)).unwrap();
        let again = WorkingMemory::restore(&memory.snapshot().unwrap()).unwrap();
        assert_eq!(again, memory, "as full as it may be");
        for n in 0..WORKING_BYTES_MAX / WORKING_TEXT_BYTES_MAX {
            memory
                .know(&n.to_string(), json!(most[2..]), at(4))
                .unwrap();
        }
        assert!(matches!(
            memory.snapshot(),
            Err(WorkingProblem::TooLarge(_))
        ));
    }
}
