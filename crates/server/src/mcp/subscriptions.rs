//! Resource subscriptions: workspace files that are polled for changes.

use super::uri::ResourceAddress;
use heirloom_engine::{Engine, WorkspacePage};
use heirloom_fs::project_fs::FileStat;
use heirloom_model::limits;
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

/// Subscribed URIs, each with the last metadata of its file.
#[derive(Debug, Default)]
pub(super) struct Subscriptions {
    last_stats: Mutex<BTreeMap<String, Option<FileStat>>>,
}

impl Subscriptions {
    /// Adds a subscription. Returns true for the first one, `None` at the limit.
    pub(super) fn add(&self, uri: &str, stat: Option<FileStat>) -> Option<bool> {
        let mut seen = self
            .last_stats
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if seen.len() >= limits::MCP_SUBSCRIPTIONS_MAX && !seen.contains_key(uri) {
            return None;
        }
        let is_first = seen.is_empty();
        seen.insert(uri.to_owned(), stat);
        Some(is_first)
    }

    /// Removes a subscription.
    pub(super) fn remove(&self, uri: &str) {
        let mut seen = self
            .last_stats
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        seen.remove(uri);
    }

    /// Returns true without subscriptions.
    pub(super) fn is_idle(&self) -> bool {
        let seen = self
            .last_stats
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        seen.is_empty()
    }

    /// Returns the URIs whose files changed since the last call.
    pub(super) fn take_changed(&self, pages: &[WorkspacePage]) -> Vec<String> {
        let mut seen = self
            .last_stats
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let mut changed = Vec::new();
        for (uri, last) in seen.iter_mut() {
            let now = file_stat(uri, pages);
            if *last != now {
                *last = now;
                changed.push(uri.clone());
            }
        }
        changed
    }
}

/// Returns the metadata of a URI's file; `None` if the file does not exist.
pub(super) fn file_stat(uri: &str, pages: &[WorkspacePage]) -> Option<FileStat> {
    let Some(ResourceAddress::Workspace(path)) = ResourceAddress::parse(uri) else {
        return None;
    };
    pages
        .iter()
        .find(|page| page.path == path)
        .map(|page| page.stat)
}

/// Returns the workspace files.
pub(super) fn pages(engine: &Engine) -> Vec<WorkspacePage> {
    engine.workspace().pages()
}
