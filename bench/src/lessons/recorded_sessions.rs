//! Lessons that recorded sessions leave behind, compared with the lessons that a reader wrote down.
//!
//! A lesson is kept if one record contains at least one string of every group of its `must`. A record is useful if it
//! keeps a lesson; other correct records are judged by eye.

use super::timing::time_extraction;
use crate::developer_prompts::data_folder;
use crate::{Outcome, fixture, results};
use flate2::read::GzDecoder;
use heirloom_agents::AgentProgram;
use heirloom_capture::{ImportScope, Transcripts, TranscriptsRequest};
use heirloom_engine::Engine;
use heirloom_model::record_meaning::record_meaning;
use heirloom_model::{Kind, Record};
use heirloom_store::Filter;
use serde_json::Value;
use std::io::Read;
use std::path::Path;

/// Characters of a noise example that a record must not contain.
const NOISE_CHARS: usize = 50;
/// Size to which the time of a whole session is scaled, bytes.
const SESSION_BYTES: f64 = 3e6;

/// A lesson of the data.
struct ExpectedLesson {
    session: String,
    kind: String,
    groups: Vec<Vec<String>>,
    weight: f64,
}

/// Figures of one session or of all.
#[derive(Debug, Default)]
struct LessonCounts {
    lessons: usize,
    kept: usize,
    weight: f64,
    kept_weight: f64,
    records: usize,
    useful: usize,
    noise: usize,
}

/// Imports each session of the folder into a project of its own and compares its records with the reader's lessons.
pub(super) fn measure(data: &Path) -> Outcome<()> {
    let folder = data_folder(data, "lessons");
    let lessons = read_lessons(&folder.join("lessons.jsonl"))?;
    let noise = read_noise(&folder.join("noise.jsonl"))?;
    let (mut all, mut rows, mut sessions) = (LessonCounts::default(), Vec::new(), 0_usize);
    let (mut slowest_session, mut slowest_turn) = (0.0_f64, 0.0_f64);
    for file in transcript_files(&folder)? {
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        let name = name.split(".jsonl").next().unwrap_or_default().to_owned();
        let program = match name.starts_with("rollout") {
            true => AgentProgram::Codex,
            false => AgentProgram::ClaudeCode,
        };
        let mut bytes = Vec::new();
        GzDecoder::new(std::fs::File::open(&file)?).read_to_end(&mut bytes)?;
        let times = time_extraction(program, &bytes)?;
        let scaled = times.session.as_secs_f64() * 1e3 / bytes.len() as f64 * SESSION_BYTES;
        slowest_session = slowest_session.max(scaled);
        slowest_turn = slowest_turn.max(times.turn.as_secs_f64() * 1e3);
        let texts = import(program, &name, &bytes)?;
        let own: Vec<&ExpectedLesson> = (lessons.iter())
            .filter(|one| name.contains(&one.session))
            .collect();
        let own_noise = noise
            .iter()
            .filter(|(session, _)| name.contains(session.as_str()));
        let counts = score(&own, own_noise.map(|(_, text)| text.as_str()), &texts);
        sessions += 1;
        rows.push(vec![
            name.chars().take(24).collect(),
            format!("{} of {}", counts.kept, counts.lessons),
            counts.records.to_string(),
            counts.useful.to_string(),
            counts.noise.to_string(),
        ]);
        all.add(&counts);
    }
    let columns = ["session", "lessons kept", "records", "useful", "noise"];
    results::table("lessons", &columns, &rows);
    all.record(sessions);
    let value = results::value;
    value(
        "lessons.recorded_session",
        "the slowest recorded session, scaled to 3 MB",
        "ms",
        slowest_session,
    );
    value(
        "lessons.recorded_turn",
        "the slowest last event of a recorded session",
        "ms",
        slowest_turn,
    );
    Ok(())
}

impl LessonCounts {
    /// Prints and records the figures of a number of sessions.
    fn record(&self, sessions: usize) {
        let percent = |part: f64, whole: f64| 100.0 * part / whole.max(1.0);
        let value = results::value;
        let kept = percent(self.kept_weight, self.weight);
        value("lessons.kept", "lessons kept, weighted", "%", kept);
        let useful = percent(self.useful as f64, self.records as f64);
        value(
            "lessons.useful",
            "stored records that match a lesson",
            "%",
            useful,
        );
        let noise = self.noise as f64;
        value("lessons.noise", "examples of noise stored", "of 40", noise);
        let each = self.records as f64 / sessions.max(1) as f64;
        value("lessons.records", "records of a session", "records", each);
    }

    fn add(&mut self, other: &Self) {
        self.lessons += other.lessons;
        self.kept += other.kept;
        self.weight += other.weight;
        self.kept_weight += other.kept_weight;
        self.records += other.records;
        self.useful += other.useful;
        self.noise += other.noise;
    }
}

fn transcript_files(folder: &Path) -> Outcome<Vec<std::path::PathBuf>> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.to_string_lossy().ends_with(".jsonl.gz") {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

fn read_lines(path: &Path) -> Outcome<Vec<Value>> {
    let text = std::fs::read_to_string(path)?;
    let lines = text.lines().filter(|line| !line.trim().is_empty());
    Ok(lines.map(serde_json::from_str).collect::<Result<_, _>>()?)
}

fn read_lessons(path: &Path) -> Outcome<Vec<ExpectedLesson>> {
    let string = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let lesson = |line: Value| ExpectedLesson {
        session: string(&line["session"]),
        kind: string(&line["kind"]),
        groups: (list(&line["must"]).iter())
            .map(|group| {
                list(group)
                    .iter()
                    .map(|one| string(one).to_lowercase())
                    .collect()
            })
            .collect(),
        weight: line["weight"].as_f64().unwrap_or(1.0),
    };
    Ok(read_lines(path)?.into_iter().map(lesson).collect())
}

/// Reads examples of noise as pairs of session and the beginning of the text.
fn read_noise(path: &Path) -> Outcome<Vec<(String, String)>> {
    let pair = |line: Value| {
        let text = line["text"].as_str().unwrap_or_default();
        let start: String = text.chars().take(NOISE_CHARS).collect();
        let session = line["session"].as_str().unwrap_or_default().to_owned();
        (session, start.to_lowercase())
    };
    Ok(read_lines(path)?.into_iter().map(pair).collect())
}

/// Imports a session into a new project and returns the texts of its records in lower case.
fn import(program: AgentProgram, name: &str, bytes: &[u8]) -> Outcome<Vec<String>> {
    let root = tempfile::tempdir()?;
    let engine = fixture::engine(root.path())?;
    let file = root.path().join(format!("{name}.jsonl"));
    heirloom_fs::durable::write_atomic(&file, bytes)?;
    let request = TranscriptsRequest {
        agent: program,
        files: vec![file],
        scope: ImportScope::WithSubfolders,
        former_root: recorded_folder(bytes).map(Into::into),
        seen_roots: Vec::new(),
        is_explicit: true,
        dry_run: false,
    };
    Transcripts::new(&engine).import_all(&request, "lessons", &mut |_| {})?;
    stored_texts(&engine)
}

fn recorded_folder(bytes: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(bytes.get(..200_000).unwrap_or(bytes)).into_owned();
    let start = text.find("\"cwd\":\"")? + "\"cwd\":\"".len();
    text.get(start..)?.split('"').next().map(str::to_owned)
}

fn stored_texts(engine: &Engine) -> Outcome<Vec<String>> {
    let kinds: Vec<Kind> = (Kind::ALL.iter().copied())
        .filter(|kind| !matches!(kind, Kind::Artifact | Kind::Step))
        .collect();
    let filter = Filter::current(&kinds, engine.now()).limit(1_000);
    let records = engine.records().find(&filter)?;
    let text = |record: &Record| {
        let key = record.key.as_deref().unwrap_or_default();
        format!("{key} {}", record_meaning(record)).to_lowercase()
    };
    Ok(records.iter().map(text).collect())
}

fn score<'n>(
    lessons: &[&ExpectedLesson],
    noise: impl Iterator<Item = &'n str>,
    texts: &[String],
) -> LessonCounts {
    let mut counts = LessonCounts {
        lessons: lessons.len(),
        records: texts.len(),
        ..LessonCounts::default()
    };
    let mut is_useful = vec![false; texts.len()];
    for lesson in lessons {
        counts.weight += lesson.weight;
        let mut is_kept = false;
        for (text, useful) in texts.iter().zip(&mut is_useful) {
            if has_all(text, &lesson.groups) {
                (is_kept, *useful) = (true, true);
            }
        }
        if is_kept {
            counts.kept += 1;
            counts.kept_weight += lesson.weight;
        } else {
            println!("  not kept: {} {:?}", lesson.kind, lesson.groups);
        }
    }
    counts.useful = is_useful.iter().filter(|useful| **useful).count();
    counts.noise = (noise.filter(|start| texts.iter().any(|text| text.contains(start)))).count();
    counts
}

fn has_all(text: &str, groups: &[Vec<String>]) -> bool {
    let has_one = |group: &Vec<String>| group.iter().any(|one| text.contains(one.as_str()));
    groups.iter().all(has_one)
}
