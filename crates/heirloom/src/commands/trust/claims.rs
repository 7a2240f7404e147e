//! Things of a project that are used only if a person trusts them.

use crate::store_access::trust::{self, MemoryOrigin, MemoryTrust};
use crate::store_access::{CliSession, FoundProject, MemoryGate};
use heirloom_engine::{CommandFile, FileVerdict};
use heirloom_model::text::{EscapedPath, counted};
use heirloom_model::{Fault, text};
use std::path::PathBuf;

/// Kind of a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ClaimKind {
    /// The memory in the project's folder, or on a database server.
    Memory,
    /// A file that reaches agents.
    File,
    /// A custom command.
    Command,
}

impl ClaimKind {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Memory => "memory",
            Self::File => "file",
            Self::Command => "command",
        }
    }
}

/// Decision about a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ClaimState {
    /// It is used.
    Trusted,
    /// It waits for a person.
    Undecided,
    /// A person decided against it.
    Revoked,
}

impl ClaimState {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Trusted => "used",
            Self::Undecided => "undecided",
            Self::Revoked => "not used",
        }
    }
}

impl From<FileVerdict> for ClaimState {
    fn from(verdict: FileVerdict) -> Self {
        match verdict {
            FileVerdict::Trusted => Self::Trusted,
            FileVerdict::Undecided => Self::Undecided,
            FileVerdict::Revoked => Self::Revoked,
        }
    }
}

/// Thing that a project brings.
#[derive(Debug, Clone)]
pub(super) struct Claim {
    pub(super) kind: ClaimKind,
    /// Name by which the command line refers to it.
    pub(super) name: String,
    pub(super) summary: String,
    /// Text for review.
    pub(super) text: String,
    pub(super) state: ClaimState,
    path: PathBuf,
    command: Option<CommandFile>,
}

/// Name of the memory.
const MEMORY: &str = "memory";

/// Finds what the project brings: its memory, and if that is used its files and commands.
pub(super) fn find_claims(
    session: &mut CliSession,
    found: &FoundProject,
) -> Result<Vec<Claim>, Fault> {
    let memory = MemoryGate::new(session).memory_trust(found)?;
    let origin = memory.origin();
    if origin == MemoryOrigin::Tracked {
        memory.require_own(origin)?;
    }
    let is_on_server = !found.config.text("store.url").is_empty();
    let is_open = origin == MemoryOrigin::Own || origin == MemoryOrigin::Absent && !is_on_server;
    let mut claims = vec![memory_claim(&memory, is_open, is_on_server)];
    if !is_open {
        return Ok(claims);
    }
    let engine = session.engine(found)?;
    for file in engine.workspace().reviewed_files() {
        claims.push(Claim {
            kind: ClaimKind::File,
            summary: counted(text::chars(&file.text) as u64, "character", "characters"),
            name: file.shown,
            text: file.text,
            state: file.verdict.into(),
            path: file.path,
            command: None,
        });
    }
    let book = session.env.command_book(found.place.root.clone());
    for command in book.list().commands {
        if !command.source.is_foreign() || command.hidden {
            continue;
        }
        let state = match trust::is_trusted(&session.env, &command) {
            true => ClaimState::Trusted,
            false => ClaimState::Undecided,
        };
        claims.push(Claim {
            kind: ClaimKind::Command,
            name: format!("command:{}", command.name),
            summary: command.path.to_escaped().to_string(),
            text: command.text.clone(),
            state,
            path: command.path.clone(),
            command: Some(command),
        });
    }
    Ok(claims)
}

fn memory_claim(memory: &MemoryTrust, is_open: bool, is_on_server: bool) -> Claim {
    let place = memory.folder().to_escaped().to_string();
    let summary = match is_on_server {
        true => format!("`{}` on the database server, used by {place}", memory.id()),
        false => match memory.stored_records() {
            Some(records) => format!("{} in {place}", counted(records, "record", "records")),
            None => place,
        },
    };
    Claim {
        kind: ClaimKind::Memory,
        name: MEMORY.to_owned(),
        summary,
        text: String::new(),
        state: match is_open {
            true => ClaimState::Trusted,
            false => ClaimState::Undecided,
        },
        path: memory.folder().to_owned(),
        command: None,
    }
}

impl Claim {
    /// Records the decision of a person, and brings the memory in line with it.
    pub(super) fn decide(
        &self,
        session: &mut CliSession,
        found: &FoundProject,
        trusts: bool,
    ) -> Result<(), Fault> {
        let now = session.clock()?.now();
        let memory = MemoryGate::new(session).memory_trust(found)?;
        match (self.kind, &self.command) {
            (ClaimKind::Memory, _) if trusts => memory.mark_own(now),
            (ClaimKind::Memory, _) => memory.unmark(),
            (ClaimKind::Command, Some(command)) if trusts => {
                trust::trust(&session.env, command, now)
            }
            (ClaimKind::Command, Some(command)) => trust::distrust(&session.env, command),
            (ClaimKind::Command, None) => Ok(()),
            (ClaimKind::File, _) => {
                let files = MemoryGate::new(session).project_files(&memory)?;
                files.decide(&self.path, self.text.as_bytes(), trusts)?;
                session.engine(found)?.workspace().resync().map(drop)
            }
        }
    }
}
