//! Memories for whatever serves many clients: opened as a command opens its own.

use crate::commands::cmd::is_allowed;
use crate::open::Session;
use crate::trust;
use heirloom_engine::{CommandBook, CommandFile, Engine};
use heirloom_model::Fault;
use heirloom_server::Memories;
use heirloom_server::mcp::Commands;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

/// Opens what was named at the start, and what clients say they work on.
pub(crate) struct Serving {
    session: Mutex<Session>,
}

impl Serving {
    /// As the command was called.
    pub(crate) fn new(session: &Session) -> Self {
        Self {
            session: Mutex::new(session.again()),
        }
    }

    fn fresh(&self) -> Session {
        self.session
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .again()
    }
}

impl Memories for Serving {
    fn served(&self) -> Result<Engine, Fault> {
        open(self.fresh())
    }

    fn around(&self, folder: &Path) -> Result<Engine, Fault> {
        let mut session = self.fresh();
        session.begin_at(folder);
        open(session)
    }
}

impl Commands for Serving {
    fn book(&self, root: &Path) -> Result<CommandBook, Fault> {
        let user = self.fresh().env.user_commands();
        Ok(CommandBook::new(root.to_owned(), user))
    }

    fn is_trusted(&self, command: &CommandFile) -> bool {
        trust::is_trusted(&self.fresh().env, command)
    }

    fn may_run(&self, root: &Path, command: &CommandFile) -> bool {
        let mut session = self.fresh();
        session.begin_at(root);
        let found = session.find();
        found.is_ok_and(|found| is_allowed(&found.config, &command.name))
    }
}

fn open(mut session: Session) -> Result<Engine, Fault> {
    let engine = session.open_with_embedder()?;
    let user = session.user_memory();
    Ok(engine.with_user(user))
}
