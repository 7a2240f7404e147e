//! Commit queues of projects, for a database in which writes to different projects run in parallel.

use super::group_commit::CommitQueue;
use heirloom_model::ProjectName;
use std::collections::HashMap;
use std::ops::Deref;
use std::sync::{Arc, Mutex, PoisonError};

/// Queues of the projects that are written to.
#[derive(Debug, Default)]
pub(crate) struct ProjectQueues(Mutex<HashMap<ProjectName, Arc<CommitQueue>>>);

impl ProjectQueues {
    /// Returns the queue of a project for one write.
    pub(crate) fn enter(&self, project: &ProjectName) -> ProjectQueue<'_> {
        let mut queues = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let queue = match queues.get(project) {
            Some(queue) => Arc::clone(queue),
            None => Arc::clone(queues.entry(project.clone()).or_default()),
        };
        ProjectQueue {
            queues: self,
            project: project.clone(),
            queue,
        }
    }
}

/// Queue of a project while a write uses it. Dropping the last one removes the queue.
pub(crate) struct ProjectQueue<'q> {
    queues: &'q ProjectQueues,
    project: ProjectName,
    queue: Arc<CommitQueue>,
}

impl Deref for ProjectQueue<'_> {
    type Target = CommitQueue;

    fn deref(&self) -> &CommitQueue {
        &self.queue
    }
}

impl Drop for ProjectQueue<'_> {
    fn drop(&mut self) {
        let mut queues = self.queues.0.lock().unwrap_or_else(PoisonError::into_inner);
        // One reference is the map's and one is this value's.
        if Arc::strong_count(&self.queue) <= 2 {
            queues.remove(&self.project);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn project(name: &str) -> ProjectName {
        ProjectName::new(name).unwrap()
    }

    #[test]
    fn queue_of_idle_project_is_removed() {
        let queues = ProjectQueues::default();
        let (one, other) = (queues.enter(&project("p")), queues.enter(&project("p")));
        let lead = one.try_lead().unwrap();
        assert!(other.try_lead().is_none());
        assert!(queues.enter(&project("q")).try_lead().is_some());
        drop(lead);
        drop(one);
        assert!(other.try_lead().is_some());
        assert_eq!(queues.0.lock().unwrap().len(), 1);
        drop(other);
        assert!(queues.0.lock().unwrap().is_empty());
    }
}
