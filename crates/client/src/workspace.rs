//! Workspace files of the project, which people and agents edit.

use crate::answers::{EntryReport, WorkspaceSection};
use crate::errors::Error;
use crate::operations as op;
use crate::requests::{EntryType, NewEntry};
use crate::transport::Transport;
use std::fmt;

/// Workspace files of the project.
#[derive(Clone)]
pub struct Workspace {
    transport: Transport,
}

impl Workspace {
    pub(crate) fn new(transport: Transport) -> Self {
        Self { transport }
    }

    /// Returns the files as prompts contain them.
    pub fn read(&self) -> Result<WorkspaceSection, Error> {
        self.transport.call(&op::GET_WORKSPACE, None, &[])
    }

    /// Adds an entry to the file of its type.
    pub fn add(
        &self,
        entry_type: EntryType,
        text: impl Into<String>,
    ) -> Result<EntryReport, Error> {
        self.add_entry(&NewEntry::new(entry_type, text))
    }

    /// Adds an entry with a solution or a source.
    pub fn add_entry(&self, entry: &NewEntry) -> Result<EntryReport, Error> {
        self.transport
            .call_with(&op::ADD_WORKSPACE_ENTRY, None, entry)
    }
}

impl fmt::Debug for Workspace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Workspace")
    }
}
