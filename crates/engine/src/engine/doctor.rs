//! Looking at a project's memory from outside, and mending it: works when the store cannot be opened.

mod folder;
mod mending;

pub use mending::{Mended, WentBack};

use super::Engine;
use super::mirrored::{MirrorState, read_mirror};
use crate::places::Place;
use heirloom_index::vector;
use heirloom_model::{Clock, Fault, ProjectName, Settings, Timestamp, limits, text};
use heirloom_store::{
    CopyReason, DATABASE, Examination, MARKER, SqliteStore, StoreError, StoredCopy, Teller,
};
use std::path::PathBuf;
use std::sync::Arc;

/// The earliest time that a clock can honestly say: Heirloom is younger. 2024-01-01T00:00:00Z.
const CLOCK_MIN_S: i64 = 1_704_067_200;
/// What to do about a damaged database.
const REPAIR: &str = "`heirloom doctor --repair` recovers what can be read and keeps the damaged file, `heirloom restore FILE` goes back to a backup";

/// How a check ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    /// As it should be.
    Ok,
    /// Worth knowing; nothing is lost or exposed.
    Warn,
    /// Something must be done.
    Bad,
}

impl Level {
    /// Its name in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Warn => "warn",
            Self::Bad => "bad",
        }
    }
}

/// One thing that was looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Check {
    /// What was looked at: `database`, `mirror`…
    pub name: &'static str,
    /// How it ended.
    pub level: Level,
    /// What was found.
    pub message: String,
    /// What to do next.
    pub hint: Option<String>,
}

impl Check {
    fn new(name: &'static str, level: Level, message: impl Into<String>) -> Self {
        Self {
            name,
            level,
            message: message.into(),
            hint: None,
        }
    }

    fn ok(name: &'static str, message: impl Into<String>) -> Self {
        Self::new(name, Level::Ok, message)
    }

    fn warn(name: &'static str, message: impl Into<String>) -> Self {
        Self::new(name, Level::Warn, message)
    }

    fn bad(name: &'static str, message: impl Into<String>) -> Self {
        Self::new(name, Level::Bad, message)
    }

    fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

/// Looks at the memory at one place and mends it.
pub struct Doctor {
    /// The project's root, and the folder that holds its memory.
    pub place: Place,
    /// The project's name, if it is known.
    pub project: Option<ProjectName>,
    /// The settings; the built-in ones if they cannot be read.
    pub settings: Settings,
    /// The clock.
    pub clock: Arc<dyn Clock>,
    /// The model that questions go by, where it is another than the built-in one.
    pub model: Option<String>,
    /// What is wrong with the settings: how bad, and what.
    pub config: Vec<(Level, String)>,
    /// Hears how far a database of an older version is that is brought up to date.
    pub teller: Teller,
}

impl super::Engine {
    /// Looks at everything, as `heirloom doctor` does, and changes nothing. Reads the whole store: seconds for a large
    /// one.
    pub fn examine(&self) -> Vec<Check> {
        let doctor = Doctor {
            place: Place {
                root: self.root.clone(),
                config: self.folder.join(crate::places::CONFIG_FILE),
                folder: self.folder.clone(),
            },
            project: Some(self.project.clone()),
            settings: self.settings.clone(),
            clock: Arc::clone(&self.clock),
            model: None,
            config: Vec::new(),
            teller: Teller::silent(),
        };
        doctor.examine()
    }
}

impl Doctor {
    /// Looks at everything and changes nothing.
    pub fn examine(&self) -> Vec<Check> {
        let database = self.database();
        let found = SqliteStore::examine(&database);
        let mut checks = self.store_checks(&found);
        checks.extend(self.vectors(found.as_ref().ok()));
        checks.push(self.marker());
        checks.push(self.mirror(found.as_ref().ok()));
        checks.push(self.copies());
        checks.push(self.permissions());
        checks.push(self.left_overs());
        checks.push(self.disk(found.as_ref().map_or(0, |found| found.size_bytes)));
        checks.push(self.clock(found.as_ref().ok()));
        checks.push(self.config());
        checks
    }

    /// Where the database is.
    fn database(&self) -> PathBuf {
        self.place.folder.join(DATABASE)
    }

    fn marker_path(&self) -> PathBuf {
        self.place.folder.join(MARKER)
    }

    fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// An engine over the database, which must be sound.
    fn engine(&self) -> Result<Option<Engine>, Fault> {
        let Some(project) = &self.project else {
            return Ok(None);
        };
        let store = SqliteStore::open_telling(&self.database(), &self.teller)?;
        let engine = Engine::new(
            Arc::new(store),
            project.clone(),
            self.place.clone(),
            self.settings.clone(),
            Arc::clone(&self.clock),
        );
        engine.map(Some)
    }

    fn store_checks(&self, found: &Result<Examination, StoreError>) -> Vec<Check> {
        let found = match found {
            Ok(found) => found,
            Err(error) => return vec![self.no_store(error)],
        };
        let records = found.counts.get("records").copied().unwrap_or(0);
        let whole = format!(
            "{} is whole: {records} records, {} KB",
            self.database().display(),
            found.size_bytes / 1024
        );
        let damaged_rows = "a row that nothing of ours writes";
        let mut checks = vec![
            of_findings("database", &found.file, &whole, "the file is damaged"),
            of_findings(
                "references",
                &found.references,
                "every row has what it belongs to",
                "rows belong to nothing",
            ),
            of_findings("rows", &found.rows, "every row can be read", damaged_rows),
        ];
        checks.push(of_findings(
            "index",
            &found.index,
            "says what the records say",
            "it must be built anew",
        ));
        let (version, newest) = (found.schema_version, found.newest_version);
        let mut said = format!("schema {version}");
        if version < newest {
            said = format!("{said}; the next command brings it to {newest}, after a copy");
        }
        checks.push(Check::ok("version", said));
        checks
    }

    /// What is to be said when the database cannot be looked at.
    fn no_store(&self, error: &StoreError) -> Check {
        let message = error.to_string();
        let marker = self.marker_path();
        if matches!(error, StoreError::Missing(_)) {
            if !marker.exists() {
                return Check::ok("database", "none yet; the first command makes one");
            }
            let gone = format!("{message}: one was made here before and is gone");
            return Check::bad("database", gone).hint(format!(
                "`heirloom restore FILE` puts a backup in its place; to begin with an empty memory, delete {}",
                marker.display()
            ));
        }
        if matches!(error, StoreError::Newer { .. }) {
            return Check::bad("version", message)
                .hint("install the newer Heirloom; the database was left untouched");
        }
        if matches!(error, StoreError::Damaged { .. }) {
            return Check::bad("database", message).hint(REPAIR);
        }
        Check::bad("database", message)
            .hint("check the path, its owner and its permissions, and which process holds it")
    }

    fn marker(&self) -> Check {
        let is_there = self.database().exists();
        match (is_there, self.marker_path().exists()) {
            (true, false) => Check::warn(
                "marker",
                format!(
                    "{} is missing: if the database were lost, nobody would notice",
                    self.marker_path().display()
                ),
            )
            .hint("`heirloom doctor --repair` writes it"),
            (false, true) => Check::bad("marker", "it is there, the database is not"),
            _ => Check::ok("marker", "says what there is"),
        }
    }

    /// Which texts have a vector of the configured model; nothing where nobody wants another than the built-in one.
    fn vectors(&self, found: Option<&Examination>) -> Option<Check> {
        let can_open = found
            .is_some_and(|found| found.is_sound() && found.schema_version == found.newest_version);
        let engine = can_open.then(|| self.engine()).and_then(Result::ok)??;
        let model = self.model.as_deref().unwrap_or(vector::MODEL);
        let state = match engine.vectors_state(model) {
            Ok(state) => state,
            Err(fault) => return Some(Check::warn("vectors", fault.message)),
        };
        let others = state
            .other
            .map(|(other, count)| format!("{count} are of `{other}`"));
        match (&self.model, others) {
            (None, None) => None,
            (None, Some(others)) => Some(
                Check::warn("vectors", format!("{others}, which is not configured"))
                    .hint("`heirloom reembed` removes them; the built-in vectors rank"),
            ),
            (Some(_), None) if state.missing == 0 => Some(Check::ok(
                "vectors",
                format!("all {} texts have one of `{model}`", state.texts),
            )),
            (Some(_), others) => {
                let (missing, texts) = (state.missing, state.texts);
                let mut said = format!("{missing} of {texts} texts have none of `{model}`");
                if let Some(others) = others {
                    said = format!("{said}; {others}");
                }
                Some(Check::warn("vectors", said).hint("`heirloom reembed` makes them"))
            }
        }
    }

    /// Whether the mirror can be read, and says what the store says.
    fn mirror(&self, found: Option<&Examination>) -> Check {
        let can_open = found
            .is_some_and(|found| found.is_sound() && found.schema_version == found.newest_version);
        match self.mirror_state(can_open) {
            Ok(check) => check,
            Err(fault) => Check::bad("mirror", fault.message),
        }
    }

    fn mirror_state(&self, can_open: bool) -> Result<Check, Fault> {
        let engine = if can_open { self.engine()? } else { None };
        let state = match engine {
            Some(engine) => engine.mirror_state()?,
            None => self.mirror_alone()?,
        };
        Ok(match state {
            MirrorState::None => Check::ok("mirror", "none yet"),
            MirrorState::Same => Check::ok("mirror", "says what the store says"),
            MirrorState::Foreign => {
                Check::ok("mirror", "another program's; the first run takes it in")
            }
            MirrorState::Older => Check::ok(
                "mirror",
                "older than the last write; the next run rewrites it",
            ),
            MirrorState::Different => Check::warn("mirror", "does not say what the store says")
                .hint("the next run rewrites it, `heirloom doctor --repair` does so now"),
            MirrorState::Unreadable(problem) => {
                Check::bad("mirror", format!("cannot be read: {problem}")).hint(
                    "`heirloom doctor --repair` sets it aside and writes a new one from the store",
                )
            }
            MirrorState::Unknown => Check::ok("mirror", "can be read; not compared with the store"),
        })
    }

    /// How the mirror stands when the store cannot be asked.
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

    fn copies(&self) -> Check {
        let copies = match SqliteStore::copies(&self.database()) {
            Ok(copies) => copies,
            Err(error) => return Check::warn("copies", error.to_string()),
        };
        if copies.is_empty() {
            return Check::ok("copies", "none");
        }
        let now = self.now();
        let names: Vec<String> = copies.iter().rev().map(named).collect();
        let old = copies.iter().filter(|copy| copy.is_old(now)).count();
        let said = shown(&names);
        if old > 0 {
            let days = limits::COPIES_KEPT_DAYS;
            return Check::warn("copies", format!("{old} older than {days} days; {said}"))
                .hint("`heirloom doctor --repair` removes those");
        }
        Check::ok("copies", said)
    }

    fn clock(&self, found: Option<&Examination>) -> Check {
        let now = self.now();
        if now.as_second() < CLOCK_MIN_S {
            return Check::warn("clock", format!("it says {now}"))
                .hint("set the clock of this machine: records are kept in the order of time");
        }
        let last = found.and_then(|found| found.last_recorded_at);
        let ahead_s = last.map_or(0, |last| last.as_second() - now.as_second());
        if ahead_s > limits::CLOCK_AHEAD_S_MAX {
            let message = format!("the newest record was written {ahead_s} s from now");
            return Check::warn("clock", message)
                .hint("the clock was ahead then, or is behind now; nothing is lost");
        }
        Check::ok("clock", now.to_string())
    }

    fn config(&self) -> Check {
        let Some(worst) = self.config.iter().map(|(level, _)| *level).max() else {
            return Check::ok("config", self.place.config.display().to_string());
        };
        let said: Vec<String> = self.config.iter().map(|(_, said)| said.clone()).collect();
        Check::new("config", worst, shown(&said))
            .hint("`heirloom config --show-origin` shows every key and where it comes from")
    }
}

/// A check that is bad if there are findings.
fn of_findings(name: &'static str, findings: &[String], whole: &str, broken: &str) -> Check {
    if findings.is_empty() {
        return Check::ok(name, whole);
    }
    Check::bad(name, format!("{broken}: {}", shown(findings))).hint(REPAIR)
}

/// The first of many, and how many more there are.
fn shown(all: &[String]) -> String {
    let first = all.iter().take(limits::FINDINGS_SHOWN_MAX);
    let mut said = first
        .map(|line| text::one_line(line))
        .collect::<Vec<_>>()
        .join("; ");
    let more = all.len().saturating_sub(limits::FINDINGS_SHOWN_MAX);
    if more > 0 {
        said.push_str(&format!("; and {more} more"));
    }
    said
}

fn named(copy: &StoredCopy) -> String {
    let why = match copy.reason {
        CopyReason::Migration => "before a migration",
        CopyReason::Restore => "before a restore",
        CopyReason::Damage => "damaged, kept until you delete it",
    };
    format!(
        "{} ({why}, {} KB)",
        copy.path.display(),
        copy.size_bytes / 1024
    )
}
