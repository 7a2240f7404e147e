//! Opens memories for servers, in the same way as commands do.

use crate::commands::cmd::is_allowed;
use crate::store_access::CliSession;
use crate::store_access::trust;
use heirloom_engine::{CommandBook, CommandFile, Engine, set_actor};
use heirloom_model::Fault;
use heirloom_server::EngineProvider;
use heirloom_server::mcp::CommandProvider;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

/// Opens the memory that was named at the start, and those that clients name.
pub(crate) struct CliEngineProvider {
    session: Mutex<CliSession>,
}

impl CliEngineProvider {
    /// Creates a provider with the options of the command.
    pub(crate) fn new(session: &CliSession) -> Self {
        let mut session = session.fork();
        session.suppress_questions();
        Self {
            session: Mutex::new(session),
        }
    }

    fn new_session(&self) -> CliSession {
        self.session
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .fork()
    }
}

impl EngineProvider for CliEngineProvider {
    fn open_served(&self) -> Result<Engine, Fault> {
        open(self.new_session())
    }

    fn open_folder(&self, folder: &Path) -> Result<Engine, Fault> {
        let mut session = self.new_session();
        session.start_at_folder(folder);
        open(session)
    }
}

impl CommandProvider for CliEngineProvider {
    fn book(&self, root: &Path) -> Result<CommandBook, Fault> {
        Ok(self.new_session().env.command_book(root.to_owned()))
    }

    fn is_trusted(&self, command: &CommandFile) -> bool {
        trust::is_trusted(&self.new_session().env, command)
    }

    fn can_run(&self, root: &Path, command: &CommandFile) -> bool {
        let mut session = self.new_session();
        session.start_at_folder(root);
        let found = session.find_project();
        found.is_ok_and(|found| is_allowed(&found.config, &command.name))
    }
}

fn open(mut session: CliSession) -> Result<Engine, Fault> {
    let engine = session.open_with_embedder()?;
    let user = session.user_memory();
    // The clients of a server act, and not the agent in whose shell it was started.
    Ok(set_actor(engine.with_user(user), "user"))
}
