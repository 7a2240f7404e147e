//! LRU cache of the working memories of connected agents, one per token and project.

use heirloom_engine::working_memory::WorkingMemory;
use heirloom_model::limits::WORKING_MEMORIES_MAX;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

/// Token or login, and project.
type CacheKey = (Arc<str>, Option<String>);

/// Cached working memories, least recently used first.
#[derive(Default)]
pub(crate) struct WorkingMemoryCache {
    all: Mutex<VecDeque<(CacheKey, WorkingMemory)>>,
}

impl WorkingMemoryCache {
    /// Returns the working memory of a holder in a project and marks it as used.
    pub(crate) fn get(&self, holder: &Arc<str>, project: Option<&str>) -> Option<WorkingMemory> {
        let mut all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        let at = all
            .iter()
            .position(|(key, _)| has_key(key, holder, project))?;
        let found = all.remove(at)?;
        let memory = found.1.clone();
        all.push_back(found);
        Some(memory)
    }

    /// Stores the working memory of a holder; at the limit the least recently used one is dropped.
    pub(crate) fn put(&self, holder: &Arc<str>, project: Option<String>, memory: WorkingMemory) {
        let mut all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|(key, _)| !has_key(key, holder, project.as_deref()));
        if all.len() >= WORKING_MEMORIES_MAX {
            all.pop_front();
        }
        all.push_back(((Arc::clone(holder), project), memory));
    }

    /// Removes the working memory of a holder.
    pub(crate) fn forget(&self, holder: &Arc<str>, project: Option<&str>) {
        let mut all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|(key, _)| !has_key(key, holder, project));
    }

    /// Removes and returns all working memories.
    pub(crate) fn take_all(&self) -> Vec<(Option<String>, WorkingMemory)> {
        let mut all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        let all = std::mem::take(&mut *all).into_iter();
        all.map(|((_, project), memory)| (project, memory))
            .collect()
    }
}

fn has_key(key: &CacheKey, holder: &Arc<str>, project: Option<&str>) -> bool {
    key.0 == *holder && key.1.as_deref() == project
}

#[cfg(test)]
mod tests {
    use super::*;
    use heirloom_model::Timestamp;

    #[test]
    fn cache_over_limit_drops_least_recently_used() {
        let held = WorkingMemoryCache::default();
        let memory = |agent: &str| WorkingMemory::new(agent, "s", Timestamp::UNIX_EPOCH).unwrap();
        let holder = |n: usize| Arc::from(format!("token {n}"));
        for n in 0..WORKING_MEMORIES_MAX {
            held.put(&holder(n), None, memory("a"));
        }
        assert!(
            held.get(&holder(0), None).is_some(),
            "the number is at the limit"
        );
        assert!(held.get(&holder(0), Some("other")).is_none());
        held.put(&holder(WORKING_MEMORIES_MAX), None, memory("b"));
        assert!(held.get(&holder(0), None).is_some(), "it was used");
        assert!(
            held.get(&holder(1), None).is_none(),
            "it was least recently used"
        );
        held.forget(&holder(0), None);
        assert!(held.get(&holder(0), None).is_none());
        assert_eq!(held.take_all().len(), WORKING_MEMORIES_MAX - 1);
    }
}
