//! File watcher: a background task that ingests inbox files and edited workspace files, so that requests do not.

use crate::App;
use crate::app::WeakApp;
use heirloom_engine::Engine;
use heirloom_model::limits;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// State of the file watcher of an application.
#[derive(Debug, Default)]
pub(crate) struct FileWatcher {
    is_started: AtomicBool,
    /// Notes about files that could not be ingested, for each memory folder, until a client gets them.
    notes: Mutex<BTreeMap<PathBuf, Vec<String>>>,
}

impl FileWatcher {
    /// Starts the task of `app` on the current runtime, unless it was started before.
    pub(crate) fn start(&self, app: &App) {
        if !self.is_started.swap(true, Ordering::Relaxed) {
            tokio::spawn(watch(app.downgrade()));
        }
    }

    /// Ingests the pending files of a project and keeps the notes.
    pub(crate) fn ingest(&self, engine: &Engine) {
        self.add_notes(engine.folder(), ingest_files(engine));
    }

    fn add_notes(&self, folder: &Path, new: Vec<String>) {
        if new.is_empty() {
            return;
        }
        let mut notes = self.notes.lock().unwrap_or_else(PoisonError::into_inner);
        let kept = notes.entry(folder.to_owned()).or_default();
        for note in new {
            // A repeated failure is reported once.
            if kept.len() < limits::SERVER_FILE_NOTES_MAX && !kept.contains(&note) {
                kept.push(note);
            }
        }
    }

    /// Takes the notes about the files of a memory folder.
    pub(crate) fn take_notes(&self, folder: &Path) -> Vec<String> {
        let mut notes = self.notes.lock().unwrap_or_else(PoisonError::into_inner);
        notes.remove(folder).unwrap_or_default()
    }
}

/// Ingests the files of the open engines periodically, while the application exists. An engine that is opened later
/// ingests them at that moment.
async fn watch(app: WeakApp) {
    loop {
        tokio::time::sleep(Duration::from_millis(limits::SERVER_WATCH_PAUSE_MS)).await;
        let Some(app) = app.upgrade() else {
            return;
        };
        // A pool without a free place is busy; the next pass follows soon.
        drop(app.ingest_files().await);
    }
}

/// Ingests the inbox and changed workspace files of a project, and returns notes about failures. Without changes it
/// lists folders and compares file metadata.
fn ingest_files(engine: &Engine) -> Vec<String> {
    let mut notes = Vec::new();
    match engine
        .files()
        .sweep_inbox(Duration::from_millis(limits::INBOX_WATCH_MS))
    {
        Ok(swept) => {
            let failed = swept.failed.into_iter();
            notes.extend(failed.map(|(name, why)| format!("inbox/failed/{name}: {why}")));
        }
        Err(fault) => notes.push(format!("the inbox was not imported: {}", fault.message)),
    }
    match engine.workspace().sync() {
        Ok(report) => notes.extend(report.notes),
        Err(fault) => notes.push(format!("workspace files were not read: {}", fault.message)),
    }
    // The records are stored; `heirloom doctor` reports a mirror that cannot be written.
    drop(engine.mirror().refresh_throttled());
    notes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_are_kept_once_up_to_limit_until_taken() {
        let watcher = FileWatcher::default();
        let (here, there) = (Path::new("/here"), Path::new("/there"));
        let most = limits::SERVER_FILE_NOTES_MAX;
        for n in 0..most {
            let note = format!("file {n}");
            watcher.add_notes(here, vec![note.clone(), note]);
        }
        watcher.add_notes(here, vec!["one more".to_owned()]);
        assert_eq!(watcher.take_notes(there), Vec::<String>::new());
        let notes = watcher.take_notes(here);
        assert_eq!(notes.len(), most);
        assert_eq!(notes.last(), Some(&format!("file {}", most - 1)));
        assert_eq!(watcher.take_notes(here), Vec::<String>::new());
    }
}
