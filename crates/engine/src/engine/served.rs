//! Where a server answers for a memory, for whoever wants to open its page.

use super::Engine;
use crate::places::whole_file;
use heirloom_model::{Fault, limits};
use heirloom_store::durable::{self, Lock};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// The file that says it, in the folder of the project's memory.
const SERVER_FILE: &str = "server.json";

/// Held while a server answers; whoever finds it free knows that none does.
#[must_use]
pub struct Served {
    _lock: Lock,
    file: PathBuf,
}

#[derive(Serialize, Deserialize)]
struct Place {
    address: String,
}

impl Engine {
    /// Says that a server answers at `address`, until the value is dropped or its process dies. `None` if another
    /// one does already: that one keeps the name.
    pub fn serve_at(&self, address: &str) -> Result<Option<Served>, Fault> {
        let file = self.folder.join(SERVER_FILE);
        let Some(lock) = durable::try_lock(&file.with_extension("lock"))? else {
            return Ok(None);
        };
        let place = Place {
            address: address.to_owned(),
        };
        let json = serde_json::to_vec(&place)
            .map_err(|error| Fault::failed(format!("the server's address: {error}")))?;
        durable::write_unsynced(&file, &json)?;
        Ok(Some(Served { _lock: lock, file }))
    }

    /// Where a server answers for this memory; `None` if none does.
    pub fn served_at(&self) -> Result<Option<String>, Fault> {
        let file = self.folder.join(SERVER_FILE);
        if durable::try_lock(&file.with_extension("lock"))?.is_some() {
            return Ok(None);
        }
        // A server that has just begun, or just ended, has not said where, or no longer says it.
        let bytes = whole_file(&file, limits::TOKENS_BYTES_MAX).ok();
        let place = bytes.and_then(|bytes| serde_json::from_slice::<Place>(&bytes).ok());
        Ok(place.map(|place| place.address))
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        // What stays behind says nothing: the lock does.
        drop(durable::remove_if_there(&self.file));
    }
}
