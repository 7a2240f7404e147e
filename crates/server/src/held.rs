//! Working memories of the agents that are connected, each for its own token.

use heirloom_engine::working::WorkingMemory;
use heirloom_model::limits::WORKING_HELD;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

/// Whose it is: the token or login, and the project.
type Whose = (Arc<str>, Option<String>);

/// What is held, what was used last at the end.
#[derive(Default)]
pub(crate) struct Held {
    all: Mutex<VecDeque<(Whose, WorkingMemory)>>,
}

impl Held {
    /// What this holder has in this project.
    pub(crate) fn get(&self, holder: &Arc<str>, project: Option<&str>) -> Option<WorkingMemory> {
        let mut all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        let at = all
            .iter()
            .position(|(whose, _)| is(whose, holder, project))?;
        let found = all.remove(at)?;
        let memory = found.1.clone();
        all.push_back(found);
        Some(memory)
    }

    /// Takes the place of what this holder has.
    pub(crate) fn put(&self, holder: &Arc<str>, project: Option<String>, memory: WorkingMemory) {
        let mut all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|(whose, _)| !is(whose, holder, project.as_deref()));
        if all.len() >= WORKING_HELD {
            all.pop_front();
        }
        all.push_back(((Arc::clone(holder), project), memory));
    }

    /// Forgets what this holder has.
    pub(crate) fn forget(&self, holder: &Arc<str>, project: Option<&str>) {
        let mut all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|(whose, _)| !is(whose, holder, project));
    }

    /// Takes everything out.
    pub(crate) fn take_all(&self) -> Vec<(Option<String>, WorkingMemory)> {
        let mut all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        let all = std::mem::take(&mut *all).into_iter();
        all.map(|((_, project), memory)| (project, memory))
            .collect()
    }
}

fn is(whose: &Whose, holder: &Arc<str>, project: Option<&str>) -> bool {
    whose.0 == *holder && whose.1.as_deref() == project
}

#[cfg(test)]
mod tests {
    use super::*;
    use heirloom_model::Timestamp;

    #[test]
    fn so_many_are_held_and_the_oldest_goes() {
        let held = Held::default();
        let memory = |agent: &str| WorkingMemory::new(agent, "s", Timestamp::UNIX_EPOCH).unwrap();
        let holder = |n: usize| Arc::from(format!("token {n}"));
        for n in 0..WORKING_HELD {
            held.put(&holder(n), None, memory("a"));
        }
        assert!(
            held.get(&holder(0), None).is_some(),
            "as many as there may be"
        );
        assert!(held.get(&holder(0), Some("other")).is_none());
        held.put(&holder(WORKING_HELD), None, memory("b"));
        assert!(held.get(&holder(0), None).is_some(), "it was used");
        assert!(held.get(&holder(1), None).is_none(), "nobody asked for it");
        held.forget(&holder(0), None);
        assert!(held.get(&holder(0), None).is_none());
        assert_eq!(held.take_all().len(), WORKING_HELD - 1);
    }
}
