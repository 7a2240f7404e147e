//! Cache of the numbers of projects.

use heirloom_model::ProjectName;
use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Number of names that are kept.
const NAMES_MAX: usize = 100_000;

/// Numbers of projects by name. A number never changes; the cache is cleared when a project may be gone.
#[derive(Debug, Default)]
pub(crate) struct ProjectNumbers(Mutex<HashMap<ProjectName, i64>>);

impl ProjectNumbers {
    /// Returns the number of a project.
    pub(crate) fn get(&self, name: &ProjectName) -> Option<i64> {
        self.names().get(name).copied()
    }

    /// Adds the number of a project.
    pub(crate) fn insert(&self, name: &ProjectName, number: i64) {
        let mut names = self.names();
        if names.len() >= NAMES_MAX {
            names.clear();
        }
        names.insert(name.clone(), number);
    }

    /// Removes all projects: a transaction that created one was rolled back, or one was deleted.
    pub(crate) fn clear(&self) {
        self.names().clear();
    }

    fn names(&self) -> MutexGuard<'_, HashMap<ProjectName, i64>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
