//! Doctor: diagnosis and repair of a project's memory; works even if the store cannot be opened.

mod backup_restore;
mod clock_check;
mod folder_checks;
mod health_check;
mod repair;
mod server_checks;

pub use backup_restore::RestoreReport;
pub use health_check::{CheckLevel, HealthCheck};
use heirloom_model::text::EscapedPath;
use heirloom_model::text::counted;
pub use repair::RepairReport;

use super::Engine;
use super::mirror_writer::{MirrorState, read_mirror};
use health_check::join_findings;
use heirloom_fs::project_fs::ProjectPaths;
use heirloom_model::{Clock, Fault, ProjectName, Settings, Timestamp, limits};
use heirloom_search::index::vector;
use heirloom_store::{
    BackupReason, DATABASE, MARKER, OfflineCheckReport, ProgressSink, RetainedBackup, SqliteStore,
    Store, StoreError,
};
use std::path::PathBuf;
use std::sync::Arc;

/// Hint for a damaged database.
const REPAIR: &str = "`heirloom doctor --repair` recovers what can be read and keeps the damaged file, `heirloom restore FILE` goes back to a backup";

/// Doctor of one project's memory.
pub struct Doctor {
    /// The project's root, and the folder of its memory.
    pub place: ProjectPaths,
    /// The project's name, if it is known.
    pub project: Option<ProjectName>,
    /// Settings; the defaults if they cannot be read.
    pub settings: Settings,
    /// The clock.
    pub clock: Arc<dyn Clock>,
    /// External embedding model of queries, if one is configured.
    pub model: Option<String>,
    /// Sentence transformer of queries, unless an external model takes its place.
    pub sentence_model: Option<String>,
    /// Problems of the settings, with their severity.
    pub config: Vec<(CheckLevel, String)>,
    /// Store on a database server, or the reason why it cannot be used; `None` for a database in the folder.
    pub server: Option<Result<Arc<dyn Store>, Fault>>,
    /// Receives progress while an older database is migrated.
    pub progress: ProgressSink,
}

impl super::Engine {
    /// Runs all checks of `heirloom doctor` without changes. Reads the whole store, which takes seconds for a large
    /// one.
    pub fn examine(&self) -> Vec<HealthCheck> {
        let doctor = Doctor {
            place: ProjectPaths {
                root: self.root.clone(),
                config: self.folder.join(heirloom_fs::project_fs::CONFIG_FILE),
                folder: self.folder.clone(),
            },
            project: Some(self.project.clone()),
            settings: self.settings.clone(),
            clock: Arc::clone(&self.clock),
            model: None,
            sentence_model: self
                .models
                .sentence_transformer()
                .map(|model| model.model().to_owned()),
            config: Vec::new(),
            server: (self.store.shared().is_some())
                .then(|| Ok(Arc::clone(&self.store) as Arc<dyn Store>)),
            progress: ProgressSink::silent(),
        };
        doctor.examine()
    }
}

impl Doctor {
    /// Runs all checks without changes.
    pub fn examine(&self) -> Vec<HealthCheck> {
        if let Some(server) = &self.server {
            return self.examine_server(server);
        }
        let database = self.database();
        let found = SqliteStore::check_offline(&database);
        let mut checks = self.store_checks(&found);
        checks.extend(self.vectors(found.as_ref().ok()));
        checks.push(self.marker());
        checks.push(self.mirror(found.as_ref().ok()));
        checks.push(self.copies());
        checks.push(self.permissions());
        checks.push(self.leftover_check());
        checks.push(self.disk(found.as_ref().map_or(0, |found| found.size_bytes)));
        checks.push(self.check_clock(found.as_ref().ok()));
        checks.push(self.config());
        checks
    }

    /// Returns the path of the database.
    fn database(&self) -> PathBuf {
        self.place.folder.join(DATABASE)
    }

    fn marker_path(&self) -> PathBuf {
        self.place.folder.join(MARKER)
    }

    fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// Opens an engine on the database, which must be sound.
    fn engine(&self) -> Result<Option<Engine>, Fault> {
        let Some(project) = &self.project else {
            return Ok(None);
        };
        let store = SqliteStore::open_with_progress(&self.database(), &self.progress)?;
        let engine = Engine::new(
            Arc::new(store),
            project.clone(),
            self.place.clone(),
            self.settings.clone(),
            Arc::clone(&self.clock),
        );
        engine.map(Some)
    }

    fn store_checks(&self, found: &Result<OfflineCheckReport, StoreError>) -> Vec<HealthCheck> {
        let found = match found {
            Ok(found) => found,
            Err(error) => return vec![self.unreadable_store_check(error)],
        };
        let records = found.counts.get("records").copied().unwrap_or(0);
        let whole = format!(
            "{} is whole: {}, {} KB",
            self.database().to_escaped(),
            counted(records, "record", "records"),
            found.size_bytes / 1024
        );
        let damaged_rows = "a row is invalid";
        let mut checks = vec![
            findings_check(
                "database",
                &found.file_findings,
                &whole,
                "the file is damaged",
            ),
            findings_check(
                "references",
                &found.reference_findings,
                "all references are valid",
                "rows refer to missing rows",
            ),
            findings_check(
                "rows",
                &found.row_findings,
                "all rows can be read",
                damaged_rows,
            ),
        ];
        checks.push(findings_check(
            "index",
            &found.index_findings,
            "matches the records",
            "it must be rebuilt",
        ));
        checks.extend(found.incomplete_transaction.as_ref().map(|torn| {
            HealthCheck::warn("journal", torn.as_str())
                .hint("nothing is lost; the next write repairs it")
        }));
        let (version, newest) = (found.schema_version, found.newest_version);
        let mut message = format!("schema {version}");
        if version < newest {
            message =
                format!("{message}; the next command migrates it to {newest}, after a backup");
        }
        checks.push(HealthCheck::ok("version", message));
        checks
    }

    /// Explains a database that cannot be examined.
    fn unreadable_store_check(&self, error: &StoreError) -> HealthCheck {
        let message = error.to_string();
        let marker = self.marker_path();
        if matches!(error, StoreError::Missing(_)) {
            if !marker.exists() {
                return HealthCheck::ok("database", "none yet; the first command makes one");
            }
            let gone = format!("{message}: one existed here and is gone");
            return HealthCheck::bad("database", gone).hint(format!(
                "`heirloom restore FILE` restores a backup; to begin with an empty memory, delete {}",
                marker.to_escaped()
            ));
        }
        if matches!(error, StoreError::Newer { .. }) {
            return HealthCheck::bad("version", message)
                .hint("install the newer Heirloom; the database was left untouched");
        }
        if matches!(error, StoreError::Damaged { .. }) {
            return HealthCheck::bad("database", message).hint(REPAIR);
        }
        HealthCheck::bad("database", message)
            .hint("check the path, its owner and its permissions, and which process holds it")
    }

    fn marker(&self) -> HealthCheck {
        let is_there = self.database().exists();
        match (is_there, self.marker_path().exists()) {
            (true, false) => HealthCheck::warn(
                "marker",
                format!(
                    "{} is missing: a loss of the database would go unnoticed",
                    self.marker_path().to_escaped()
                ),
            )
            .hint("`heirloom doctor --repair` writes it"),
            (false, true) => HealthCheck::bad("marker", "it exists, but the database does not"),
            _ => HealthCheck::ok("marker", "matches the database"),
        }
    }

    /// Checks the vectors of the configured model; `None` without a model and without texts.
    fn vectors(&self, found: Option<&OfflineCheckReport>) -> Option<HealthCheck> {
        let can_open = found
            .is_some_and(|found| found.is_sound() && found.schema_version == found.newest_version);
        let engine = can_open.then(|| self.engine()).and_then(Result::ok)??;
        let sentence_model = self.sentence_model.as_deref();
        let model = self.model.as_deref().or(sentence_model);
        let model = model.unwrap_or(vector::MODEL);
        let state = match engine.maintenance().embedding_backlog(model) {
            Ok(state) => state,
            Err(fault) => return Some(HealthCheck::warn("vectors", fault.message)),
        };
        let others = state
            .other
            .map(|(other, count)| format!("{count} are of `{other}`"));
        match (&self.model, others) {
            // Missing sentence vectors are no fault: they follow the texts.
            (None, None) if sentence_model.is_some() && state.texts > 0 => {
                let message = match state.missing {
                    0 => format!("all {} texts have a sentence vector", state.texts),
                    missing => format!(
                        "{missing} of {} texts wait for a sentence vector",
                        state.texts
                    ),
                };
                Some(HealthCheck::ok("vectors", message))
            }
            (None, None) => None,
            (None, Some(others)) => Some(
                HealthCheck::warn("vectors", format!("{others}, which is not configured"))
                    .hint("`heirloom reembed` removes them; the built-in vectors rank"),
            ),
            (Some(_), None) if state.missing == 0 => Some(HealthCheck::ok(
                "vectors",
                format!("all {} texts have one of `{model}`", state.texts),
            )),
            (Some(_), others) => {
                let (missing, texts) = (state.missing, state.texts);
                let mut message = format!("{missing} of {texts} texts have none of `{model}`");
                if let Some(others) = others {
                    message = format!("{message}; {others}");
                }
                Some(HealthCheck::warn("vectors", message).hint("`heirloom reembed` makes them"))
            }
        }
    }

    /// Checks that the mirror can be read and matches the store.
    fn mirror(&self, found: Option<&OfflineCheckReport>) -> HealthCheck {
        let can_open = found
            .is_some_and(|found| found.is_sound() && found.schema_version == found.newest_version);
        match self.mirror_state(can_open) {
            Ok(check) => check,
            Err(fault) => HealthCheck::bad("mirror", fault.message),
        }
    }

    fn mirror_state(&self, can_open: bool) -> Result<HealthCheck, Fault> {
        let engine = if can_open { self.engine()? } else { None };
        let state = match engine {
            Some(engine) => engine.mirror().state()?,
            None => self.mirror_alone()?,
        };
        Ok(match state {
            MirrorState::None => HealthCheck::ok("mirror", "none yet"),
            MirrorState::Same => HealthCheck::ok("mirror", "matches the store"),
            MirrorState::Foreign => {
                HealthCheck::ok("mirror", "another program's; the first run imports it")
            }
            MirrorState::Older => HealthCheck::ok(
                "mirror",
                "older than the last write; the next run rewrites it",
            ),
            MirrorState::Different => HealthCheck::warn("mirror", "does not match the store")
                .hint("the next run rewrites it, `heirloom doctor --repair` does so now"),
            MirrorState::Unreadable(problem) => {
                HealthCheck::bad("mirror", format!("cannot be read: {problem}")).hint(
                    "`heirloom doctor --repair` sets it aside and writes a new one from the store",
                )
            }
            MirrorState::Unknown => {
                HealthCheck::ok("mirror", "can be read; not compared with the store")
            }
        })
    }

    /// Checks the mirror without the store.
    fn mirror_alone(&self) -> Result<MirrorState, Fault> {
        let Some(path) = self.mirror_file() else {
            return Ok(MirrorState::Unknown);
        };
        Ok(match read_mirror(&path)? {
            None => MirrorState::None,
            Some(Ok(_)) => MirrorState::Unknown,
            Some(Err(problem)) => MirrorState::Unreadable(problem),
        })
    }

    fn copies(&self) -> HealthCheck {
        let copies = match SqliteStore::retained_backups(&self.database()) {
            Ok(copies) => copies,
            Err(error) => return HealthCheck::warn("copies", error.to_string()),
        };
        if copies.is_empty() {
            return HealthCheck::ok("copies", "none");
        }
        let now = self.now();
        let names: Vec<String> = copies.iter().rev().map(describe_backup).collect();
        let old = copies.iter().filter(|copy| copy.is_expired(now)).count();
        let names = join_findings(&names);
        if old > 0 {
            let days = limits::RETAINED_BACKUP_DAYS;
            return HealthCheck::warn("copies", format!("{old} older than {days} days; {names}"))
                .hint("`heirloom doctor --repair` removes those");
        }
        HealthCheck::ok("copies", names)
    }

    fn config(&self) -> HealthCheck {
        let Some(worst) = self.config.iter().map(|(level, _)| *level).max() else {
            return HealthCheck::ok("config", self.place.config.to_escaped());
        };
        let problems: Vec<String> = self
            .config
            .iter()
            .map(|(_, problem)| problem.clone())
            .collect();
        HealthCheck::new("config", worst, join_findings(&problems))
            .hint("`heirloom config --show-origin` shows every key and where it comes from")
    }
}

/// Returns a check that fails if there are findings.
fn findings_check(
    name: &'static str,
    findings: &[String],
    whole: &str,
    broken: &str,
) -> HealthCheck {
    if findings.is_empty() {
        return HealthCheck::ok(name, whole);
    }
    HealthCheck::bad(name, format!("{broken}: {}", join_findings(findings))).hint(REPAIR)
}

fn describe_backup(copy: &RetainedBackup) -> String {
    let why = match copy.reason {
        BackupReason::Migration => "before a migration",
        BackupReason::Restore => "before a restore",
        BackupReason::Damage => "damaged, kept until you delete it",
    };
    format!(
        "{} ({why}, {} KB)",
        copy.path.to_escaped(),
        copy.size_bytes / 1024
    )
}
