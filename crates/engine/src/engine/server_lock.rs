//! Lock file with the address of the server that serves a memory.

use crate::engine::Maintenance;
use heirloom_fs::durable::{self, Lock};
use heirloom_fs::project_fs::read_bounded;
use heirloom_model::{Fault, limits};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// File with the server's address, in the folder of the project's memory.
const SERVER_FILE: &str = "server.json";

/// Held while a server runs. If another process can take the lock, no server runs.
#[must_use]
pub struct ServerLock {
    _lock: Lock,
    file: PathBuf,
}

#[derive(Serialize, Deserialize)]
struct ServerAddress {
    #[serde(rename = "address")]
    address: String,
}

impl Maintenance<'_> {
    /// Publishes `address` as that of the running server until the value is dropped or its process dies. Returns
    /// `None` if another server already holds the lock.
    pub fn announce_server(&self, address: &str) -> Result<Option<ServerLock>, Fault> {
        let file = self.engine.folder.join(SERVER_FILE);
        let Some(lock) = durable::try_lock(&file.with_extension("lock"))? else {
            return Ok(None);
        };
        let place = ServerAddress {
            address: address.to_owned(),
        };
        let json = serde_json::to_vec(&place)
            .map_err(|error| Fault::failed(format!("the server's address: {error}")))?;
        durable::write_unsynced(&file, &json)?;
        Ok(Some(ServerLock { _lock: lock, file }))
    }

    /// Returns the address of the server of this memory; `None` if none runs.
    pub fn server_address(&self) -> Result<Option<String>, Fault> {
        let file = self.engine.folder.join(SERVER_FILE);
        // Without the file no lock is taken, which would create the lock file. A server that is starting has no address.
        let Ok(bytes) = read_bounded(&file, limits::TOKENS_BYTES_MAX) else {
            return Ok(None);
        };
        if durable::try_lock(&file.with_extension("lock"))?.is_some() {
            return Ok(None);
        }
        // A server that is starting or stopping holds the lock, but its file may be damaged or outdated.
        let place = serde_json::from_slice::<ServerAddress>(&bytes).ok();
        Ok(place.map(|place| place.address))
    }
}

impl Drop for ServerLock {
    fn drop(&mut self) {
        // A file that remains is harmless: the lock is what counts.
        drop(durable::remove_if_exists(&self.file));
    }
}

#[cfg(test)]
mod stored_form_tests;
