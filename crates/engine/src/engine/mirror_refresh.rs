//! Refresh of the mirror after writes outside of a run.

use super::mirror_writer::{MirrorLoadOutcome, read_mirror};
use super::record_import::ImportReport;
use crate::engine::Mirror;
use heirloom_formats::mirror::{self, MirrorFormat};
use heirloom_fs::durable;
use heirloom_model::{Fault, Kind, ProjectName, limits};
use heirloom_store::Change;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Maximum number of rewrites because another process wrote to the store meanwhile.
const ATTEMPTS: usize = 5;

/// Outcome of a refresh of the mirror.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MirrorRefreshOutcome {
    /// No mirror exists, it belongs to another program, or it is current.
    Nothing,
    /// It was rewritten.
    Written(PathBuf),
    /// It was rewritten after entries that another program or a person had added were imported.
    Imported(ImportReport),
    /// It could not be read, or has entries of a stranger: it was set aside, and a new one was written from the store.
    SetAside {
        /// Path of the file that was set aside.
        path: PathBuf,
        /// The problem.
        problem: String,
    },
}

/// Projects whose mirror may be stale; shared by all engines of one store.
#[derive(Debug, Default)]
pub(super) struct StaleMirrors {
    projects: Mutex<BTreeMap<ProjectName, ProjectMirrorState>>,
}

#[derive(Debug, Default)]
struct ProjectMirrorState {
    is_stale: bool,
    refreshed_at: Option<Instant>,
}

impl StaleMirrors {
    /// Marks the mirror of a project as stale if it shows one of `changes`.
    pub(super) fn mark_stale(&self, project: &ProjectName, changes: &[Change]) {
        if changes.iter().any(is_shown) {
            let mut projects = self.lock();
            projects.entry(project.clone()).or_default().is_stale = true;
        }
    }

    /// Returns true if the mirror of a project is stale, and marks it as current; with `pause` only if its last
    /// refresh is longer ago.
    pub(super) fn begin_refresh(&self, project: &ProjectName, pause: Option<Duration>) -> bool {
        let mut projects = self.lock();
        let Some(state) = projects.get_mut(project) else {
            return false;
        };
        let is_soon = |at: Instant| pause.is_some_and(|pause| at.elapsed() < pause);
        if !state.is_stale || state.refreshed_at.is_some_and(is_soon) {
            return false;
        }
        state.is_stale = false;
        state.refreshed_at = Some(Instant::now());
        true
    }

    /// Returns true if this process has changed the project.
    pub(super) fn has_changes(&self, project: &ProjectName) -> bool {
        self.lock().contains_key(project)
    }

    /// Marks a mirror as stale again after a failed refresh.
    fn mark_failed(&self, project: &ProjectName) {
        if let Some(state) = self.lock().get_mut(project) {
            state.is_stale = true;
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, BTreeMap<ProjectName, ProjectMirrorState>> {
        self.projects.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns true if a mirror shows the changed record.
fn is_shown(change: &Change) -> bool {
    match change {
        Change::Put { record, .. } | Change::Revise { record, .. } => matches!(
            record.kind,
            Kind::Task | Kind::Step | Kind::Artifact | Kind::Error | Kind::Knowledge
        ),
        Change::ImportSession(_)
        | Change::Retire { .. }
        | Change::Restore { .. }
        | Change::ResolveConflict { .. }
        | Change::ReopenConflict { .. }
        | Change::ToggleBatch { .. } => true,
        Change::ImportMessage { .. }
        | Change::ImportValidityGap { .. }
        | Change::BeginBatch(_)
        | Change::StoreReceipt(_)
        | Change::Mark { .. } => false,
    }
}

impl Mirror<'_> {
    /// Rewrites an existing mirror if this store changed something that it shows.
    ///
    /// The mirror of another program that is not imported yet is left unchanged; an unreadable one is set aside. The
    /// file is not synced, because the store has all its content.
    pub fn refresh(&self) -> Result<MirrorRefreshOutcome, Fault> {
        self.refresh_after_pause(None)
    }

    /// Rewrites the mirror as [`Self::refresh`], but not shortly after the last time; for callers that write
    /// often and call again later.
    pub fn refresh_throttled(&self) -> Result<MirrorRefreshOutcome, Fault> {
        self.refresh_after_pause(Some(Duration::from_millis(limits::MIRROR_PAUSE_MS)))
    }

    fn refresh_after_pause(&self, pause: Option<Duration>) -> Result<MirrorRefreshOutcome, Fault> {
        if !self
            .engine
            .stale_mirrors
            .begin_refresh(&self.engine.project, pause)
        {
            return Ok(MirrorRefreshOutcome::Nothing);
        }
        let outcome = self.refresh_until_current();
        if outcome.is_err() {
            self.engine.stale_mirrors.mark_failed(&self.engine.project);
        }
        outcome
    }

    fn refresh_until_current(&self) -> Result<MirrorRefreshOutcome, Fault> {
        let path = self.path()?;
        if path.symlink_metadata().is_err() {
            return Ok(MirrorRefreshOutcome::Nothing);
        }
        for attempt in 1.. {
            let before = self.engine.records().last_write()?;
            let outcome = self.refresh_once(&path)?;
            // A later writer of the store refreshes the mirror after its own write.
            let is_last = attempt == ATTEMPTS || self.engine.records().last_write()? == before;
            if is_last || !matches!(outcome, MirrorRefreshOutcome::Written(_)) {
                return Ok(outcome);
            }
        }
        Ok(MirrorRefreshOutcome::Nothing)
    }

    /// Imports what another program or a person added to the mirror of this project, without rewriting it.
    pub(super) fn take_in(&self) -> Result<(), Fault> {
        if !self.engine.has_files || !self.engine.settings.enabled {
            return Ok(());
        }
        let path = self.path()?;
        let Some(Ok(parsed)) = read_mirror(&path)? else {
            return Ok(());
        };
        if parsed.form == MirrorFormat::Session && self.is_own_session(&parsed.file.session_id)? {
            self.take_additions(&path, &parsed, &self.build()?)?;
        }
        Ok(())
    }

    fn refresh_once(&self, path: &std::path::Path) -> Result<MirrorRefreshOutcome, Fault> {
        let mut old = match read_mirror(path)? {
            None => return Ok(MirrorRefreshOutcome::Nothing),
            Some(Err(problem)) => {
                let path = self.set_mirror_aside("corrupt")?;
                self.write()?;
                return Ok(MirrorRefreshOutcome::SetAside { path, problem });
            }
            Some(Ok(old)) => old,
        };
        if old.form == MirrorFormat::Entries || !self.is_own_session(&old.file.session_id)? {
            return Ok(MirrorRefreshOutcome::Nothing);
        }
        let mut file = self.build()?;
        let mut imported = None;
        match self.take_additions(path, &old, &file)? {
            MirrorLoadOutcome::Nothing => {}
            MirrorLoadOutcome::Imported(report) => {
                imported = Some(report);
                file = self.build()?;
            }
            MirrorLoadOutcome::SetAside { path, problem } => {
                self.write()?;
                return Ok(MirrorRefreshOutcome::SetAside { path, problem });
            }
        }
        self.engine.redaction().redact_mirror(&mut old.file);
        file.preserve_unknown_fields(&old.file);
        self.engine.redaction().redact_mirror(&mut file);
        let written_at =
            std::mem::replace(&mut file.last_checkpoint, old.file.last_checkpoint.clone());
        if file != old.file {
            file.last_checkpoint = written_at;
            durable::write_unsynced(path, &mirror::to_json(&file))?;
        } else if imported.is_none() {
            return Ok(MirrorRefreshOutcome::Nothing);
        }
        Ok(match imported {
            Some(report) => MirrorRefreshOutcome::Imported(report),
            None => MirrorRefreshOutcome::Written(path.to_owned()),
        })
    }

    /// Returns true if a mirror with this session belongs to this project; other projects and programs may write the
    /// same file.
    fn is_own_session(&self, session: &str) -> Result<bool, Fault> {
        if session.is_empty() {
            return Ok(self.engine.sessions().latest_session()?.is_some());
        }
        Ok(self.engine.sessions().find(session)?.is_some())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mirror_is_rewritten_once_for_many_writes_and_after_a_pause() {
        let unmirrored = StaleMirrors::default();
        let (one, other) = (
            ProjectName::new("one").unwrap(),
            ProjectName::new("other").unwrap(),
        );
        let shown = [Change::Retire {
            id: heirloom_model::RecordId::MIN,
            at: "2026-01-01T00:00:00Z".parse().unwrap(),
            by: "user".to_owned(),
        }];
        assert!(!unmirrored.begin_refresh(&one, None));
        unmirrored.mark_stale(&one, &shown);
        unmirrored.mark_stale(&one, &shown);
        assert!(!unmirrored.begin_refresh(&other, None));
        let pause = Duration::from_millis(limits::MIRROR_PAUSE_MS * 60);
        assert!(unmirrored.begin_refresh(&one, Some(pause)));
        assert!(
            !unmirrored.begin_refresh(&one, None),
            "nothing was written since"
        );
        unmirrored.mark_stale(&one, &shown);
        assert!(!unmirrored.begin_refresh(&one, Some(pause)), "too soon");
        assert!(unmirrored.begin_refresh(&one, Some(Duration::ZERO)));
        unmirrored.mark_stale(&one, &[]);
        assert!(!unmirrored.begin_refresh(&one, None));
        unmirrored.mark_failed(&one);
        assert!(unmirrored.begin_refresh(&one, None));
    }
}
