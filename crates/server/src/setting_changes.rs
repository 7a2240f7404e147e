//! Newest changes of settings and hooks, kept in memory so that the page can undo them.

use crate::local_setup::{SettingChange, SettingLayer};
use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

/// Maximum number of changes that can be undone.
const CHANGES_MAX: usize = 20;

/// Change of the setup that can be undone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum SetupChange {
    /// Change of a setting.
    Setting(SettingChange),
    /// Installation of the hooks of an agent program.
    HooksInstalled(&'static str, SettingLayer),
    /// Removal of all hooks of an agent program.
    HooksRemoved(&'static str, SettingLayer),
}

/// Queue of the newest changes with their ids.
#[derive(Default)]
pub(crate) struct SettingChanges(Mutex<(u64, VecDeque<(u64, SetupChange)>)>);

impl SettingChanges {
    /// Adds a change and returns its id, in hex. The oldest change is dropped at the limit.
    pub(crate) fn add(&self, change: SetupChange) -> String {
        let mut changes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        changes.0 += 1;
        let id = changes.0;
        changes.1.push_back((id, change));
        if changes.1.len() > CHANGES_MAX {
            changes.1.pop_front();
        }
        format!("{id:x}")
    }

    /// Finds a change by its id.
    pub(crate) fn find(&self, id: &str) -> Option<SetupChange> {
        let id = u64::from_str_radix(id, 16).ok()?;
        let changes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let found = changes.1.iter().find(|(known, _)| *known == id);
        found.map(|(_, change)| change.clone())
    }

    /// Removes a change that was undone.
    pub(crate) fn remove(&self, id: &str) {
        let id = u64::from_str_radix(id, 16).ok();
        let mut changes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        changes.1.retain(|(known, _)| Some(*known) != id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_are_found_until_removed_or_over_the_limit() {
        let changes = SettingChanges::default();
        let hooks = SetupChange::HooksInstalled("codex", SettingLayer::User);
        let ids: Vec<_> = (0..=CHANGES_MAX)
            .map(|_| changes.add(hooks.clone()))
            .collect();
        assert_eq!(changes.find(&ids[0]), None, "over the limit");
        assert_eq!(changes.find(&ids[1]), Some(hooks.clone()));
        changes.remove(&ids[1]);
        assert_eq!(changes.find(&ids[1]), None);
        assert_eq!(changes.find(&ids[2]), Some(hooks));
        assert_eq!(changes.find("zz"), None);
    }
}
