//! Questions from recorded sessions: the text at a place from which a reader drew a lesson asks for that lesson.
//!
//! A project's memory is the lessons of all its sessions. Texts without a lesson, and the first messages of other
//! projects, ask for nothing.

use super::{FeatureSet, Question, add_question};
use crate::developer_prompts::json_lines;
use crate::{Outcome, fixture};
use flate2::read::MultiGzDecoder;
use heirloom_engine::{Engine, NewEpisode, NewRecord};
use heirloom_model::kinds::EpisodeAction;
use heirloom_model::{Scope, text};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::Read;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

/// Number of places of a lesson that become questions.
const PLACES: usize = 1;
/// Number of characters of a text that can be a prompt. Most outputs of tools are longer.
const CHARS: RangeInclusive<usize> = 12..=600;

/// A lesson of a session.
struct Lesson {
    text: String,
    kind: String,
    places: Vec<usize>,
}

/// Lessons and texts of a session.
struct RecordedSession {
    project: String,
    texts: Vec<String>,
    lessons: Vec<Lesson>,
    /// Places of texts that teach nothing.
    noise: Vec<usize>,
}

/// Adds the questions of all sessions.
pub(super) fn add(folder: &Path, set: FeatureSet, out: &mut String) -> Outcome<()> {
    let sessions = read(folder)?;
    let projects: BTreeSet<&str> = sessions.iter().map(|one| one.project.as_str()).collect();
    for project in projects {
        let of_project: Vec<&RecordedSession> = (sessions.iter())
            .filter(|one| one.project == project)
            .collect();
        let root = tempfile::tempdir()?;
        let engine = fixture::engine(root.path())?;
        for lesson in of_project.iter().flat_map(|one| &one.lessons) {
            remember(&engine, lesson)?;
        }
        let engine = set.prepare(&engine)?;
        for session in &of_project {
            add_session(&engine, session, out)?;
        }
    }
    Ok(())
}

fn add_session(engine: &Engine, session: &RecordedSession, out: &mut String) -> Outcome<()> {
    let is_question = |place: &usize| text_at(session, *place).is_some();
    let mut places: BTreeSet<usize> = BTreeSet::new();
    for lesson in &session.lessons {
        places.extend(
            lesson
                .places
                .iter()
                .copied()
                .filter(is_question)
                .take(PLACES),
        );
    }
    places.extend(session.noise.iter().copied().filter(is_question));
    eprintln!("{}: {} texts of a session", session.project, places.len());
    for place in places {
        let gold: Vec<&str> = (session.lessons.iter())
            .filter(|lesson| lesson.places.contains(&place))
            .map(|lesson| lesson.text.as_str())
            .collect();
        let name = format!("{} {place}", session.project);
        let question = Question {
            sort: "conversations",
            group: &session.project,
            name: &name,
            style: "session",
            text: text_at(session, place).unwrap_or_default(),
            is_answered: !gold.is_empty(),
            is_reported: false,
        };
        add_question(engine, &question, out, &|record| {
            let is_gold = gold.contains(&record.text.as_str());
            (record.id.to_string(), f64::from(u8::from(is_gold)))
        })?;
    }
    Ok(())
}

fn text_at(session: &RecordedSession, place: usize) -> Option<&str> {
    let text = session.texts.get(place)?.trim();
    CHARS.contains(&text::chars(text)).then_some(text)
}

/// Writes a lesson as an agent does.
fn remember(engine: &Engine, lesson: &Lesson) -> Outcome<()> {
    match lesson.kind.as_str() {
        "error" => {
            engine
                .errors()
                .log(&lesson.text, Scope::default(), "user")?;
        }
        "outcome" => {
            let mut episode = NewEpisode::new("T1", EpisodeAction::Completed);
            episode.approach = Some(lesson.text.clone());
            engine.tasks().log_episode(episode)?;
        }
        category => {
            engine.records().remember(NewRecord {
                text: lesson.text.clone(),
                category: Some(category.to_owned()),
                ..NewRecord::default()
            })?;
        }
    }
    Ok(())
}

fn read(folder: &Path) -> Outcome<Vec<RecordedSession>> {
    let mut lessons: BTreeMap<String, Vec<Lesson>> = BTreeMap::new();
    for line in json_lines(&folder.join("lessons.jsonl"))? {
        let string = |name: &str| line[name].as_str().unwrap_or_default().to_owned();
        lessons.entry(string("session")).or_default().push(Lesson {
            text: string("lesson"),
            kind: string("kind"),
            places: places(&line),
        });
    }
    let mut noise: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for line in json_lines(&folder.join("noise.jsonl"))? {
        let session = line["session"].as_str().unwrap_or_default();
        noise
            .entry(session.to_owned())
            .or_default()
            .extend(places(&line));
    }
    let mut sessions = Vec::new();
    for (name, lessons) in lessons {
        let lines = transcript_lines(&folder.join(format!("{name}.jsonl.gz")))?;
        let folder = lines.iter().find_map(|line| {
            let own = line["cwd"].as_str();
            own.or_else(|| line["payload"]["cwd"].as_str())
        });
        let folder = PathBuf::from(folder.unwrap_or_default());
        let project = folder.file_name().unwrap_or_default().to_string_lossy();
        // Work trees of one project are called PROJECT-BRANCH.
        let project = project.split('-').next().unwrap_or_default().to_owned();
        sessions.push(RecordedSession {
            project,
            texts: lines.iter().map(line_text).collect(),
            lessons,
            noise: noise.remove(&name).unwrap_or_default(),
        });
    }
    Ok(sessions)
}

fn places(line: &Value) -> Vec<usize> {
    let list = line["at"].as_array().into_iter().flatten();
    list.filter_map(Value::as_u64)
        .filter_map(|place| usize::try_from(place).ok())
        .collect()
}

fn transcript_lines(path: &Path) -> Outcome<Vec<Value>> {
    let mut text = String::new();
    MultiGzDecoder::new(File::open(path)?).read_to_string(&mut text)?;
    let lines = text.lines().filter(|line| !line.trim().is_empty());
    Ok(lines
        .map(|line| serde_json::from_str(line).unwrap_or_default())
        .collect())
}

/// Returns the text of a transcript line: a message, or a tool's output.
fn line_text(line: &Value) -> String {
    let payload = &line["payload"];
    if let Some(output) = payload["output"].as_str() {
        let inner: Value = serde_json::from_str(output).unwrap_or_default();
        return inner["output"].as_str().unwrap_or(output).to_owned();
    }
    let content = match payload["content"].is_null() {
        true => &line["message"]["content"],
        false => &payload["content"],
    };
    block_text(content)
}

/// Returns the text of a content: a string, or blocks with texts and results of tools.
fn block_text(content: &Value) -> String {
    if let Some(text) = content.as_str() {
        return text.to_owned();
    }
    let blocks = content.as_array().into_iter().flatten();
    let texts = blocks.map(|block| match block["text"].as_str() {
        Some(text) => text.to_owned(),
        None => block_text(&block["content"]),
    });
    texts.collect::<Vec<_>>().join("\n")
}
