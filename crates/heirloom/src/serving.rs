//! Memories for whatever serves many clients: opened as a command opens its own.

use crate::open::Session;
use heirloom_engine::Engine;
use heirloom_model::Fault;
use heirloom_server::Memories;
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

fn open(mut session: Session) -> Result<Engine, Fault> {
    let engine = session.open_with_embedder()?;
    let user = session.user_memory();
    Ok(engine.with_user(user))
}
