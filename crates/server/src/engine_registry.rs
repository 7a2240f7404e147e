//! Registry of open engines with LRU eviction.

use heirloom_engine::Engine;
use heirloom_fs::file_metadata::{FileIdentity, path_identity};
use heirloom_model::{ErrorKind, Fault, ProjectName, TransientCause, limits};
use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// File name of the database in a project's folder.
const DATABASE: &str = "heirloom.db";
/// Maximum time that a request waits for users of a replaced database file.
const REPLACED_WAIT: Duration = Duration::from_secs(2);
const REPLACED_PAUSE: Duration = Duration::from_millis(10);

/// Opens engines. The program implements it, because it knows settings and stores.
pub trait EngineProvider: Send + Sync {
    /// Opens the engine of the served project.
    fn open_served(&self) -> Result<Engine, Fault>;

    /// Opens the engine of the project around a folder. Errors: `NotFound` if the folder has no project.
    fn open_folder(&self, folder: &Path) -> Result<Engine, Fault>;
}

#[derive(Clone, PartialEq, Eq)]
enum EngineKey {
    Served,
    Project(ProjectName),
    Around(PathBuf),
}

/// LRU cache of open engines.
pub struct EngineRegistry {
    provider: Box<dyn EngineProvider>,
    open: Mutex<OpenEngines>,
}

#[derive(Default)]
struct OpenEngines {
    /// Open engines, most recently used first.
    engines: VecDeque<OpenEngine>,
    /// Engines with a replaced database file, until their last request ends. The new file must not be opened before
    /// that: SQLite would confuse the locks and journals of the two files.
    closing: Vec<Arc<Engine>>,
}

struct OpenEngine {
    key: EngineKey,
    engine: Arc<Engine>,
    /// Identity of the database file at opening.
    file: Option<FileIdentity>,
}

impl OpenEngine {
    /// Returns true if another file now has the database's name. A missing file does not count, because it may
    /// reappear.
    fn is_replaced(&self) -> bool {
        let now = file_identity(&self.engine);
        now.is_some() && self.file.is_some() && now != self.file
    }
}

/// Returns the identity of an engine's database file; `None` if it does not exist.
fn file_identity(engine: &Engine) -> Option<FileIdentity> {
    path_identity(&engine.folder().join(DATABASE))
}

impl EngineRegistry {
    /// Creates an empty registry.
    pub fn new(provider: Box<dyn EngineProvider>) -> Self {
        Self {
            provider,
            open: Mutex::new(OpenEngines::default()),
        }
    }

    /// Returns the engine of the served project.
    pub fn served_engine(&self) -> Result<Arc<Engine>, Fault> {
        self.get_or_open(EngineKey::Served, || self.provider.open_served())
    }

    /// Returns the engine of a project in the served store; `None` is the served project.
    pub fn project_engine(&self, project: Option<&str>) -> Result<Arc<Engine>, Fault> {
        let served = self.served_engine()?;
        match project {
            None => Ok(served),
            Some(name) if name == served.project().as_str() => Ok(served),
            Some(name) => {
                let name =
                    ProjectName::new(name).map_err(|error| Fault::usage(error.to_string()))?;
                self.get_or_open(EngineKey::Project(name.clone()), || {
                    Ok(served.for_project(name.clone()))
                })
            }
        }
    }

    /// Returns the engine of the project around a folder.
    pub fn folder_engine(&self, folder: &Path) -> Result<Arc<Engine>, Fault> {
        self.get_or_open(EngineKey::Around(folder.to_owned()), || {
            self.provider.open_folder(folder)
        })
    }

    /// Removes the open engines. An engine in use is closed when its last request ends.
    pub(crate) fn close_all(&self) {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        open.close_replaced();
        let engines = std::mem::take(&mut open.engines);
        drop(open);
        drop(engines);
    }

    /// Returns the open engines that have files: those of the served project and of folders. Opens none, so that a
    /// background job neither creates a memory nor keeps one from being evicted.
    pub(crate) fn open_engines_with_files(&self) -> Vec<Arc<Engine>> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        open.close_replaced();
        let entries = open.engines.iter();
        let with_files = entries.filter(|entry| !matches!(entry.key, EngineKey::Project(_)));
        with_files.map(|entry| Arc::clone(&entry.engine)).collect()
    }

    /// Returns the engine of the project around the first of these folders that has one. Errors: those of the first
    /// folder.
    pub fn first_folder_engine(&self, folders: &[PathBuf]) -> Result<Arc<Engine>, Fault> {
        let mut missing = None;
        for folder in folders {
            match self.folder_engine(folder) {
                Err(fault) if fault.kind == ErrorKind::NotFound => {
                    missing = missing.or(Some(fault))
                }
                found => return found,
            }
        }
        Err(missing.unwrap_or_else(|| Fault::not_found("no folder was named")))
    }

    fn get_or_open(
        &self,
        key: EngineKey,
        open: impl FnOnce() -> Result<Engine, Fault>,
    ) -> Result<Arc<Engine>, Fault> {
        let mut engines = self.lock_without_replaced()?;
        let engines = &mut engines.engines;
        if let Some(at) = engines.iter().position(|entry| entry.key == key) {
            let engine = Arc::clone(&engines[at].engine);
            if at > 0 {
                let entry = engines.remove(at);
                engines.extend(entry);
                engines.rotate_right(1);
            }
            return Ok(engine);
        }
        let engine = Arc::new(open()?);
        engines.push_front(OpenEngine {
            key,
            file: file_identity(&engine),
            engine: Arc::clone(&engine),
        });
        engines.truncate(limits::OPEN_PROJECTS_MAX);
        Ok(engine)
    }

    /// Locks the registry when no engine with a replaced file is in use any more. Errors: busy after
    /// [`REPLACED_WAIT`].
    fn lock_without_replaced(&self) -> Result<MutexGuard<'_, OpenEngines>, Fault> {
        let began = Instant::now();
        loop {
            let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
            open.close_replaced();
            if open.closing.is_empty() {
                return Ok(open);
            }
            drop(open);
            if began.elapsed() >= REPLACED_WAIT {
                let mut fault = Fault::failed(
                    "the database file was replaced, and requests still use the previous file",
                );
                fault.transient_cause = Some(TransientCause::Busy);
                return Err(fault.hint("retry when they have finished"));
            }
            thread::sleep(REPLACED_PAUSE);
        }
    }
}

impl OpenEngines {
    /// Moves engines with a replaced database to `closing`, and drops those that no request uses.
    fn close_replaced(&mut self) {
        let replaced = self.engines.iter().filter(|entry| entry.is_replaced());
        let folders: Vec<PathBuf> = replaced
            .map(|entry| entry.engine.folder().to_owned())
            .collect();
        let is_replaced = |entry: &OpenEngine| folders.iter().any(|it| it == entry.engine.folder());
        for entry in std::mem::take(&mut self.engines) {
            if is_replaced(&entry) {
                self.closing.push(entry.engine);
            } else {
                self.engines.push_back(entry);
            }
        }
        // Other references exist only while a request runs.
        self.closing.retain(|engine| Arc::strong_count(engine) > 1);
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    /// Provider without a project; counts the calls.
    #[derive(Default)]
    pub(crate) struct NoProject {
        pub(crate) calls: Arc<AtomicUsize>,
    }

    impl EngineProvider for NoProject {
        fn open_served(&self) -> Result<Engine, Fault> {
            self.calls.fetch_add(1, Ordering::Relaxed);
            Err(Fault::not_found("no project exists"))
        }

        fn open_folder(&self, _: &Path) -> Result<Engine, Fault> {
            Err(Fault::not_found("no project exists"))
        }
    }
}
