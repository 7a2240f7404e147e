//! Root folders of a client, which select the memory of its calls.

use super::uri::folder_from_uri;
use crate::app::MemoryTarget;
use heirloom_model::limits;
use rmcp::RoleServer;
use rmcp::service::Peer;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// Cached root folders of a client.
#[derive(Debug, Default)]
pub(super) struct Roots {
    /// `None` until they were requested.
    cached: Mutex<Option<Vec<PathBuf>>>,
}

impl Roots {
    /// Discards the cached folders.
    pub(super) fn forget(&self) {
        *self.cached.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// Returns the memory around one of the client's folders, otherwise the served one. Requests the folders once.
    pub(super) async fn memory_target(
        &self,
        peer: &Peer<RoleServer>,
        has_roots: bool,
    ) -> MemoryTarget {
        if !has_roots {
            return MemoryTarget::Project(None);
        }
        let cached = self.cached();
        let folders = match cached {
            Some(folders) => folders,
            None => {
                let folders = request_roots(peer).await;
                *self.cached.lock().unwrap_or_else(PoisonError::into_inner) = Some(folders.clone());
                folders
            }
        };
        match folders.is_empty() {
            true => MemoryTarget::Project(None),
            false => MemoryTarget::AroundFolders(folders),
        }
    }

    fn cached(&self) -> Option<Vec<PathBuf>> {
        self.cached
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }
}

/// Requests the client's folders; empty if it has none or does not answer in time.
#[expect(
    deprecated,
    reason = "clients of the revisions before 2026-07-28 list their folders only in this way"
)]
async fn request_roots(peer: &Peer<RoleServer>) -> Vec<PathBuf> {
    let patience = Duration::from_millis(limits::MCP_ROOTS_WAIT_MS);
    let answer = tokio::time::timeout(patience, peer.list_roots()).await;
    let Ok(Ok(result)) = answer else {
        return Vec::new();
    };
    let folders = result.roots.iter().take(limits::MCP_ROOTS_MAX);
    folders
        .filter_map(|root| folder_from_uri(&root.uri))
        .collect()
}
