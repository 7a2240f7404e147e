//! Which memory a request is about: engines are opened by the program, and kept open here.

use heirloom_engine::Engine;
use heirloom_model::{ErrorKind, Fault, ProjectName, limits};
use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// Opens memories; the program does, which knows settings and stores.
pub trait Memories: Send + Sync {
    /// The memory of the project that is served.
    fn served(&self) -> Result<Engine, Fault>;

    /// The memory of the project around this folder. Errors: `NotFound` where none was begun.
    fn around(&self, folder: &Path) -> Result<Engine, Fault>;
}

#[derive(Clone, PartialEq, Eq)]
enum Which {
    Served,
    Project(ProjectName),
    Around(PathBuf),
}

/// Memories that were asked for, open; the one that was not asked for longest is closed first.
pub struct Projects {
    memories: Box<dyn Memories>,
    open: Mutex<VecDeque<(Which, Arc<Engine>)>>,
}

impl Projects {
    /// None is open yet.
    pub fn new(memories: Box<dyn Memories>) -> Self {
        Self {
            memories,
            open: Mutex::new(VecDeque::new()),
        }
    }

    /// The memory that is served.
    pub fn served(&self) -> Result<Arc<Engine>, Fault> {
        self.kept(Which::Served, || self.memories.served())
    }

    /// The memory of this project in the served store; without a name, of the served one.
    pub fn named(&self, project: Option<&str>) -> Result<Arc<Engine>, Fault> {
        let served = self.served()?;
        match project {
            None => Ok(served),
            Some(name) if name == served.project().as_str() => Ok(served),
            Some(name) => {
                let name =
                    ProjectName::new(name).map_err(|error| Fault::usage(error.to_string()))?;
                self.kept(Which::Project(name.clone()), || {
                    Ok(served.of_project(name.clone()))
                })
            }
        }
    }

    /// The memory of the project around this folder.
    pub fn around(&self, folder: &Path) -> Result<Arc<Engine>, Fault> {
        self.kept(Which::Around(folder.to_owned()), || {
            self.memories.around(folder)
        })
    }

    /// The memory of the project around the first of these folders that has one. Errors: that of the first folder.
    pub fn around_one(&self, folders: &[PathBuf]) -> Result<Arc<Engine>, Fault> {
        let mut missing = None;
        for folder in folders {
            match self.around(folder) {
                Err(fault) if fault.kind == ErrorKind::NotFound => {
                    missing = missing.or(Some(fault))
                }
                found => return found,
            }
        }
        Err(missing.unwrap_or_else(|| Fault::not_found("no folder was named")))
    }

    fn kept(
        &self,
        which: Which,
        open: impl FnOnce() -> Result<Engine, Fault>,
    ) -> Result<Arc<Engine>, Fault> {
        let mut kept = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(at) = kept.iter().position(|(known, _)| *known == which) {
            let engine = Arc::clone(&kept[at].1);
            if at > 0 {
                let entry = kept.remove(at);
                kept.extend(entry);
                kept.rotate_right(1);
            }
            return Ok(engine);
        }
        let engine = Arc::new(open()?);
        kept.push_front((which, Arc::clone(&engine)));
        kept.truncate(limits::SERVED_PROJECTS_OPEN);
        Ok(engine)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    /// Memories that nobody began; counts who asks.
    #[derive(Default)]
    pub(crate) struct Nobody {
        pub(crate) asked: Arc<AtomicUsize>,
    }

    impl Memories for Nobody {
        fn served(&self) -> Result<Engine, Fault> {
            self.asked.fetch_add(1, Ordering::Relaxed);
            Err(Fault::not_found("nothing was begun"))
        }

        fn around(&self, _: &Path) -> Result<Engine, Fault> {
            Err(Fault::not_found("nothing was begun"))
        }
    }
}
