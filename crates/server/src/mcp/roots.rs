//! Which folders a client works on, and so whose memory its calls are about.

use super::uri::folder_of;
use crate::app::Whose;
use heirloom_model::limits;
use rmcp::RoleServer;
use rmcp::service::Peer;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// What a client said of its folders.
#[derive(Debug, Default)]
pub(super) struct Roots {
    /// Nothing before it was asked.
    known: Mutex<Option<Vec<PathBuf>>>,
}

impl Roots {
    /// What the client said is to be asked again.
    pub(super) fn forget(&self) {
        *self.known.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// Whose memory is meant: around one of the client's folders, else the one that is served. Asks the client once.
    pub(super) async fn whose(&self, peer: &Peer<RoleServer>, has_roots: bool) -> Whose {
        if !has_roots {
            return Whose::Project(None);
        }
        let known = self.known();
        let folders = match known {
            Some(folders) => folders,
            None => {
                let folders = ask(peer).await;
                *self.known.lock().unwrap_or_else(PoisonError::into_inner) = Some(folders.clone());
                folders
            }
        };
        match folders.is_empty() {
            true => Whose::Project(None),
            false => Whose::Around(folders),
        }
    }

    fn known(&self) -> Option<Vec<PathBuf>> {
        self.known
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }
}

/// The client's folders; none if it has none, or does not answer in time.
#[expect(
    deprecated,
    reason = "clients of the revisions before 2026-07-28 say their folders in no other way"
)]
async fn ask(peer: &Peer<RoleServer>) -> Vec<PathBuf> {
    let patience = Duration::from_millis(limits::MCP_ROOTS_WAIT_MS);
    let asked = tokio::time::timeout(patience, peer.list_roots()).await;
    let Ok(Ok(said)) = asked else {
        return Vec::new();
    };
    let folders = said.roots.iter().take(limits::MCP_ROOTS_MAX);
    folders.filter_map(|root| folder_of(&root.uri)).collect()
}
