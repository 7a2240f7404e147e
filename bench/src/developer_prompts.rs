//! Project memories and developers' prompts: reading, and projects that are filled through the engine.
//!
//! A folder holds `memory.jsonl` and `prompts.jsonl`. Each project's records are written at their age, so that recency
//! counts as in a project that has grown.

use crate::{Outcome, fixture};
use heirloom_engine::{Engine, NewEpisode, NewRecord};
use heirloom_model::kinds::EpisodeAction;
use heirloom_model::{Clock, ErrorKind, Fault, Scope, Settings, Timestamp, clock};
use heirloom_store::SqliteStore;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

/// Time at which the prompts are typed: 2026-11-20T09:00:00Z.
const PROMPTS_AT: i64 = 1_795_165_200;
/// Number of characters by which a record is recognised in a text.
const MARK_CHARS: usize = 45;
/// Number of characters of an error that name it when it is resolved.
const ERROR_NAME_CHARS: usize = 60;

/// Prompts of the repository's own projects, in six languages.
pub(crate) const EXTRA: &str = "bench/data/prompts-extra";

/// A record to remember.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Memory {
    /// Name in the data.
    pub(crate) id: String,
    kind: String,
    text: String,
    key: Option<String>,
    rationale: Option<String>,
    resolution: Option<String>,
    outcome: Option<String>,
    days_ago: i64,
}

/// A prompt with the records that a colleague would mention.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Prompt {
    /// Name in the data.
    pub(crate) id: String,
    /// Style: `question`, `task`, `error` and others.
    pub(crate) style: String,
    /// Text as it was typed.
    pub(crate) text: String,
    /// Names of the relevant records; empty if none is.
    pub(crate) gold: Vec<String>,
    /// Names of harmless and mildly useful records.
    pub(crate) harmless: Vec<String>,
}

impl Prompt {
    /// Returns 1 for a relevant record, 0.5 for a harmless one, otherwise 0.
    pub(crate) fn label(&self, id: &str) -> f64 {
        let is_in = |list: &[String]| list.iter().any(|one| one == id);
        if is_in(&self.gold) {
            1.0
        } else if is_in(&self.harmless) {
            0.5
        } else {
            0.0
        }
    }
}

/// Records and prompts of a project.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct ProjectData {
    memory: Vec<Memory>,
    /// Prompts in the order of the file.
    pub(crate) prompts: Vec<Prompt>,
}

/// Reads the projects of a folder by name.
pub(crate) fn read_projects(folder: &Path) -> Outcome<BTreeMap<String, ProjectData>> {
    let mut projects: BTreeMap<String, ProjectData> = BTreeMap::new();
    for line in json_lines(&folder.join("memory.jsonl"))? {
        let project = projects.entry(string(&line, "project")).or_default();
        let optional = |name: &str| Some(string(&line, name)).filter(|value| !value.is_empty());
        project.memory.push(Memory {
            id: string(&line, "id"),
            kind: string(&line, "kind"),
            text: string(&line, "text"),
            key: optional("key"),
            rationale: optional("rationale"),
            resolution: optional("resolution"),
            outcome: optional("outcome"),
            days_ago: line["days_ago"].as_i64().unwrap_or(0),
        });
    }
    for line in json_lines(&folder.join("prompts.jsonl"))? {
        let project = projects.entry(string(&line, "project")).or_default();
        project.prompts.push(Prompt {
            id: string(&line, "id"),
            style: string(&line, "style"),
            text: string(&line, "text"),
            gold: strings(&line, "gold"),
            harmless: strings(&line, "ok"),
        });
    }
    for project in projects.values_mut() {
        // Oldest first, as they were written; the sort is stable.
        project.memory.sort_by_key(|one| -one.days_ago);
    }
    Ok(projects)
}

/// A project in a store of its own.
pub(crate) struct FilledProject {
    /// Its engine, at the time of the prompts.
    pub(crate) engine: Engine,
    marks: Vec<(String, String)>,
    /// Keeps the engine's files until it is dropped.
    _root: tempfile::TempDir,
}

impl FilledProject {
    /// Writes the records of a project at their age, and sets the clock to the time of the prompts.
    pub(crate) fn of(data: &ProjectData) -> Outcome<Self> {
        let root = tempfile::tempdir()?;
        let clock = Arc::new(SettableClock(AtomicI64::new(PROMPTS_AT)));
        let engine = new_engine(root.path(), &clock)?;
        for one in &data.memory {
            clock.set(PROMPTS_AT - one.days_ago * 86_400);
            write(&engine, one)?;
        }
        clock.set(PROMPTS_AT);
        let mark = |one: &Memory| (one.id.clone(), mark_of(&one.text));
        Ok(Self {
            engine,
            marks: data.memory.iter().map(mark).collect(),
            _root: root,
        })
    }

    /// Adds the sentence transformer, and the vectors of all records.
    pub(crate) fn with_sentences(mut self) -> Outcome<Self> {
        self.engine = crate::fixture::with_sentences(&self.engine)?;
        Ok(self)
    }

    /// Returns the names of the records that a text contains, by their first characters.
    pub(crate) fn found_in(&self, text: &str) -> Vec<&str> {
        let flat = flatten(text);
        let marks = self.marks.iter();
        marks
            .filter(|(_, mark)| !mark.is_empty() && flat.contains(mark.as_str()))
            .map(|(id, _)| id.as_str())
            .collect()
    }
}

/// Returns the first characters of a text on one line, by which it is recognised.
pub(crate) fn mark_of(text: &str) -> String {
    flatten(text).chars().take(MARK_CHARS).collect()
}

/// Replaces line breaks, runs of blanks and the bars in place of line breaks in a context by one blank.
pub(crate) fn flatten(text: &str) -> String {
    let words = text.split_whitespace().filter(|word| *word != "|");
    words.collect::<Vec<_>>().join(" ")
}

fn new_engine(root: &Path, clock: &Arc<SettableClock>) -> Outcome<Engine> {
    let folder = root.join(".heirloom");
    heirloom_fs::durable::create_dir_private(&folder)?;
    let store = SqliteStore::create(&folder.join("heirloom.db"))?;
    fixture::project_at(
        Arc::new(store),
        root,
        "bench",
        Settings::default(),
        Arc::clone(clock) as Arc<dyn Clock>,
    )
}

/// Writes a record as the command for its kind does.
fn write(engine: &Engine, one: &Memory) -> Outcome<()> {
    let number = one.id.rsplit('/').next().unwrap_or_default();
    let task = format!("T{number}");
    match one.kind.as_str() {
        "error" => {
            let scope = Scope::of_task(&task);
            engine.errors().log(&one.text, scope, "user")?;
            if let Some(resolution) = &one.resolution {
                let name: String = one.text.chars().take(ERROR_NAME_CHARS).collect();
                ignore_refusal(engine.errors().resolve(&name, resolution, "user"))?;
            }
        }
        "episode" => {
            let outcome = one.outcome.as_deref().unwrap_or("failed");
            let action = match outcome.starts_with("worked") {
                true => EpisodeAction::Completed,
                false => EpisodeAction::Failed,
            };
            let mut episode = NewEpisode::new(&task, action);
            episode.scope.agent = Some("a".to_owned());
            episode.approach = Some(one.text.clone());
            episode.outcome = Some(outcome.to_owned());
            engine.tasks().log_episode(episode)?;
        }
        category => {
            engine.records().remember(NewRecord {
                text: one.text.clone(),
                category: Some(category.to_owned()),
                key: one.key.clone(),
                rationale: one.rationale.clone(),
                source: Some("user".to_owned()),
                ..NewRecord::default()
            })?;
        }
    }
    Ok(())
}

/// Accepts that a resolution is refused because several errors begin alike, as the command line reports and goes on.
fn ignore_refusal<T>(result: Result<T, Fault>) -> Result<(), Fault> {
    match result {
        Err(fault) if !matches!(fault.kind, ErrorKind::Usage | ErrorKind::NotFound) => Err(fault),
        _ => Ok(()),
    }
}

/// Returns a folder of a data set: `name` in the given folder, or the folder itself.
pub(crate) fn data_folder(given: &Path, name: &str) -> PathBuf {
    let inner = given.join(name);
    if inner.is_dir() {
        inner
    } else {
        given.to_owned()
    }
}

/// Reads a file of JSON lines.
pub(crate) fn json_lines(path: &Path) -> Outcome<Vec<Value>> {
    let read = std::fs::read_to_string(path)
        .map_err(|error| format!("cannot read {}: {error}", path.display()))?;
    let lines = read.lines().filter(|line| !line.trim().is_empty());
    let parse = |line: &str| {
        serde_json::from_str(line).map_err(|error| format!("{}: {error}", path.display()).into())
    };
    lines.map(parse).collect()
}

fn string(line: &Value, name: &str) -> String {
    line[name].as_str().unwrap_or_default().to_owned()
}

fn strings(line: &Value, name: &str) -> Vec<String> {
    let list = line[name].as_array();
    let list = list.into_iter().flatten().filter_map(Value::as_str);
    list.map(str::to_owned).collect()
}

/// A clock that is set by hand, in seconds.
#[derive(Debug)]
struct SettableClock(AtomicI64);

impl SettableClock {
    fn set(&self, seconds: i64) {
        self.0.store(seconds, Ordering::SeqCst);
    }
}

impl Clock for SettableClock {
    fn now(&self) -> Timestamp {
        clock::from_micros(self.0.load(Ordering::SeqCst) * 1_000_000)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn data() -> ProjectData {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/prompts-extra");
        let mut projects = read_projects(&folder).unwrap();
        projects.remove("atlas").unwrap()
    }

    #[test]
    fn project_is_written_at_age_of_its_records() {
        let data = data();
        let filled = FilledProject::of(&data).unwrap();
        let records = (filled.engine.records())
            .find(&heirloom_store::Filter::current(&[], filled.engine.now()))
            .unwrap();
        let oldest = data.memory.iter().map(|one| one.days_ago).max().unwrap();
        let first = records.iter().map(|one| one.recorded_at).min().unwrap();
        assert_eq!(first.as_second(), PROMPTS_AT - oldest * 86_400);
        assert_eq!(filled.engine.now().as_second(), PROMPTS_AT);
        for one in &data.memory {
            assert!(
                filled
                    .found_in(&format!("- fact:\n {}", one.text))
                    .contains(&one.id.as_str())
            );
        }
        assert!(filled.found_in("nothing").is_empty());
    }

    #[test]
    fn labels_are_those_of_the_data() {
        let prompt = Prompt {
            id: "p".to_owned(),
            style: "task".to_owned(),
            text: String::new(),
            gold: vec!["a".to_owned()],
            harmless: vec!["b".to_owned()],
        };
        assert_eq!(["a", "b", "c"].map(|id| prompt.label(id)), [1.0, 0.5, 0.0]);
    }
}
