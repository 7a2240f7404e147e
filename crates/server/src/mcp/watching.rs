//! What clients want to be told of when it changes: files of the workspace, looked at while somebody waits.

use super::uri::Address;
use heirloom_engine::places::FileStat;
use heirloom_engine::{Engine, WorkspacePage};
use heirloom_model::limits;
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

/// The addresses that a client subscribed to, each as it last was.
#[derive(Debug, Default)]
pub(super) struct Watching {
    seen: Mutex<BTreeMap<String, Option<FileStat>>>,
}

impl Watching {
    /// Begins to watch an address; whether it is the first. `None` if there are too many.
    pub(super) fn begin(&self, uri: &str, stat: Option<FileStat>) -> Option<bool> {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        if seen.len() >= limits::MCP_SUBSCRIPTIONS_MAX && !seen.contains_key(uri) {
            return None;
        }
        let is_first = seen.is_empty();
        seen.insert(uri.to_owned(), stat);
        Some(is_first)
    }

    /// Watches an address no longer.
    pub(super) fn end(&self, uri: &str) {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        seen.remove(uri);
    }

    /// Whether nothing is watched.
    pub(super) fn is_idle(&self) -> bool {
        let seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        seen.is_empty()
    }

    /// The addresses whose files are not as they last were.
    pub(super) fn changed(&self, pages: &[WorkspacePage]) -> Vec<String> {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let mut changed = Vec::new();
        for (uri, last) in seen.iter_mut() {
            let now = stat_of(uri, pages);
            if *last != now {
                *last = now;
                changed.push(uri.clone());
            }
        }
        changed
    }
}

/// How the file of an address is now; nothing for what is no file that is there.
pub(super) fn stat_of(uri: &str, pages: &[WorkspacePage]) -> Option<FileStat> {
    let Some(Address::Workspace(path)) = Address::read(uri) else {
        return None;
    };
    pages
        .iter()
        .find(|page| page.path == path)
        .map(|page| page.stat)
}

/// The files of a memory's workspace.
pub(super) fn pages(engine: &Engine) -> Vec<WorkspacePage> {
    engine.workspace_pages()
}
