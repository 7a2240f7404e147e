//! Questions about earlier work: each prompt of a recorded session that led to edits is a question for the cases of the
//! sessions that had edited one of the same files. The labels follow from the edits alone.
//!
//! All sessions of a project are imported first; a prompt is searched as of its time, among cases of sessions that had
//! ended.

use super::FeatureSet;
use crate::developer_prompts::data_folder;
use crate::lessons::read_events;
use crate::{Outcome, fixture};
use flate2::read::MultiGzDecoder;
use heirloom_agents::AgentProgram;
use heirloom_agents::transcripts::{EventBody, ToolAction, TranscriptEvent};
use heirloom_capture::{ImportScope, Transcripts, TranscriptsRequest};
use heirloom_engine::{Engine, QuerySyntax, RecallRequest};
use heirloom_model::{Timestamp, limits};
use heirloom_search::recall::{RecallItem, hit_features};
use heirloom_search::relevance::CASE_FEATURE_NAMES;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// Returns the names of the features in the file.
pub(super) fn names() -> Vec<&'static str> {
    let mut names = vec!["text"];
    names.extend(CASE_FEATURE_NAMES);
    names
}
/// Least number of words of a prompt with a subject.
const WORDS_MIN: usize = 4;
/// Share of a project's sessions above which an edited file is no evidence for the subject.
const COMMON_FILE_SHARE: f64 = 0.2;

/// Transcript of a session.
struct Transcript {
    id: String,
    agent: AgentProgram,
    bytes: Vec<u8>,
    /// Folders that stood for the project.
    roots: Vec<String>,
}

/// A session of the recorded work.
struct RecordedSession {
    id: String,
    end: Timestamp,
    prompts: Vec<EditingPrompt>,
}

/// A prompt and the files that the agent edited until the next one.
struct EditingPrompt {
    text: String,
    at: Timestamp,
    files: BTreeSet<String>,
}

impl EditingPrompt {
    /// Returns true for a prompt with a subject that led to edits.
    fn is_question(&self) -> bool {
        self.text.split_whitespace().count() >= WORDS_MIN && !self.files.is_empty()
    }
}

/// Adds the questions of all projects: those of the folder `replay`, and of the laid out sessions of `real` if there are
/// some.
pub(super) fn add(
    data: &Path,
    real: Option<&Path>,
    set: FeatureSet,
    out: &mut String,
) -> Outcome<()> {
    let mut projects = read_replay(&data_folder(data, "replay"))?;
    match real {
        Some(folder) => projects.extend(read_real(folder)?),
        None => println!("no --real-sessions FOLDER: the projects of `real` are left out"),
    }
    for (project, transcripts) in projects {
        let root = tempfile::tempdir()?;
        let engine = fixture::engine(root.path())?;
        let mut sessions = Vec::new();
        for transcript in &transcripts {
            import(&engine, root.path(), transcript)?;
            sessions.extend(read_session(transcript)?);
        }
        remove_common_files(&mut sessions);
        let engine = set.prepare(&engine)?;
        for session in &sessions {
            for prompt in session.prompts.iter().filter(|one| one.is_question()) {
                let line = question_line(&engine, &project, &sessions, session, prompt)?;
                writeln!(out, "{line}")?;
            }
        }
        eprintln!("{project}: {} sessions", sessions.len());
    }
    Ok(())
}

/// Returns the line of a prompt: the cases of earlier sessions among the records that the hook considers.
fn question_line(
    engine: &Engine,
    project: &str,
    sessions: &[RecordedSession],
    own: &RecordedSession,
    prompt: &EditingPrompt,
) -> Outcome<Value> {
    let earlier: Vec<&RecordedSession> = (sessions.iter())
        .filter(|one| one.end < prompt.at && one.id != own.id)
        .collect();
    let edits_same = |session: &RecordedSession| {
        let mut edited = session.prompts.iter().flat_map(|one| &one.files);
        edited.any(|file| prompt.files.contains(file))
    };
    let right: BTreeSet<&str> = (earlier.iter())
        .filter(|session| edits_same(session))
        .map(|session| session.id.as_str())
        .collect();
    let request = RecallRequest {
        question: prompt.text.clone(),
        syntax: QuerySyntax::Words,
        k: Some(limits::HOOK_CANDIDATES_MAX),
        as_of: Some(prompt.at),
        ..RecallRequest::default()
    };
    let (ranked, question) = engine.recall().search_with_question(&request)?;
    let features = hit_features(&question, &ranked);
    let mut records = Vec::new();
    for (hit, features) in ranked.iter().zip(features) {
        let (RecallItem::Record(record), Some(case)) = (&hit.item, features.case_values()) else {
            continue;
        };
        let session = record.scope.session.as_deref().unwrap_or_default();
        if !earlier.iter().any(|one| one.id == session) {
            continue;
        }
        let values = std::iter::once(features.text_log_odds()).chain(case.iter().copied());
        let values: Vec<f64> = values.map(|value| (value * 1e6).round() / 1e6).collect();
        let label = u8::from(right.contains(session));
        records.push(json!({"id": record.id.to_string(), "label": label, "features": values}));
    }
    Ok(json!({
        "sort": "prompts", "group": project, "style": "edit", "query": prompt.at.to_string(),
        "answered": !right.is_empty(), "reported": true, "records": records,
    }))
}

/// Reads the sessions of the folder `replay`, which its manifest lists.
fn read_replay(folder: &Path) -> Outcome<BTreeMap<String, Vec<Transcript>>> {
    let manifest: Value = serde_json::from_slice(&std::fs::read(folder.join("manifest.json"))?)?;
    let mut projects: BTreeMap<String, Vec<Transcript>> = BTreeMap::new();
    for entry in manifest["sessions"].as_array().into_iter().flatten() {
        let string = |name: &str| entry[name].as_str().unwrap_or_default();
        let agent = (AgentProgram::ALL.iter()).find(|one| one.as_str() == string("agent"));
        let Some(agent) = agent.copied() else {
            continue;
        };
        let mut bytes = Vec::new();
        MultiGzDecoder::new(File::open(folder.join(string("file")))?).read_to_end(&mut bytes)?;
        let roots = entry["roots"].as_array().into_iter().flatten();
        let roots = roots.filter_map(Value::as_str).map(str::to_owned).collect();
        let id = string("id").to_owned();
        let of_project = projects.entry(string("project").to_owned()).or_default();
        of_project.push(Transcript {
            id,
            agent,
            bytes,
            roots,
        });
    }
    Ok(projects)
}

/// Reads the sessions of Claude Code that lie as `PROJECT/SESSION.jsonl`.
fn read_real(folder: &Path) -> Outcome<BTreeMap<String, Vec<Transcript>>> {
    let mut projects = BTreeMap::new();
    for project in std::fs::read_dir(folder)? {
        let project = project?;
        let mut transcripts = Vec::new();
        for file in std::fs::read_dir(project.path())? {
            let path = file?.path();
            let bytes = std::fs::read(&path)?;
            let id = path.file_stem().unwrap_or_default().to_string_lossy();
            transcripts.push(Transcript {
                id: id.into_owned(),
                agent: AgentProgram::ClaudeCode,
                roots: recorded_folders(&bytes),
                bytes,
            });
        }
        transcripts.sort_by(|one, other| one.id.cmp(&other.id));
        let name = project.file_name().to_string_lossy().into_owned();
        projects.insert(name, transcripts);
    }
    Ok(projects)
}

/// Returns the folders in which the lines of a transcript were written, the shortest first.
fn recorded_folders(bytes: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(bytes);
    let folder = |line: &str| {
        let value: Value = serde_json::from_str(line).unwrap_or_default();
        value["cwd"].as_str().map(str::to_owned)
    };
    let folders: BTreeSet<String> = text.lines().filter_map(folder).collect();
    let mut folders: Vec<String> = folders.into_iter().collect();
    folders.sort_by_key(String::len);
    folders
}

fn import(engine: &Engine, root: &Path, transcript: &Transcript) -> Outcome<()> {
    let file = root.join(format!("{}.jsonl", transcript.id));
    heirloom_fs::durable::write_atomic(&file, &transcript.bytes)?;
    let request = TranscriptsRequest {
        agent: transcript.agent,
        files: vec![file],
        scope: ImportScope::WithSubfolders,
        former_root: transcript.roots.first().map(Into::into),
        seen_roots: Vec::new(),
        is_explicit: true,
        dry_run: false,
    };
    Transcripts::new(engine).import_all(&request, "cases", &mut |_| {})?;
    Ok(())
}

/// Returns the prompts of a person with the files that were edited after each; `None` without a prompt that has a time.
fn read_session(transcript: &Transcript) -> Outcome<Option<RecordedSession>> {
    let mut prompts: Vec<EditingPrompt> = Vec::new();
    let mut end = None;
    let mut read = |event: TranscriptEvent| {
        end = event.at.max(end);
        match event.body {
            EventBody::Prompt(text) if event.agent.is_none() => {
                if let Some(at) = event.at {
                    let files = BTreeSet::new();
                    prompts.push(EditingPrompt { text, at, files });
                }
            }
            EventBody::Call {
                action: ToolAction::Edit(edits),
                ..
            } => {
                let files = edits.iter().map(|edit| edit.path.as_str());
                let files = files.filter_map(|path| relative(path, &transcript.roots));
                if let Some(prompt) = prompts.last_mut() {
                    prompt.files.extend(files);
                }
            }
            EventBody::ConversationStart(_)
            | EventBody::Prompt(_)
            | EventBody::AbandonedPrompt(_)
            | EventBody::AssistantText(_)
            | EventBody::Summary(_)
            | EventBody::Call { .. }
            | EventBody::Result { .. }
            | EventBody::FileChanged(_)
            | EventBody::TokenUsage(_) => {}
        }
    };
    read_events(transcript.agent, &transcript.bytes, &mut read)?;
    let id = transcript.id.clone();
    Ok(end.map(|end| RecordedSession { id, end, prompts }))
}

/// Returns a path relative to one of the folders of the project; `None` for one outside.
fn relative(path: &str, roots: &[String]) -> Option<String> {
    let inner = roots.iter().find_map(|root| {
        let rest = path.strip_prefix(root.as_str())?;
        rest.strip_prefix('/')
    });
    let path = inner.unwrap_or(path).trim_start_matches("./");
    (!path.starts_with(['/', '~']) && !path.is_empty()).then(|| path.to_owned())
}

/// Removes the files that many sessions edit, such as a plan of all work.
fn remove_common_files(sessions: &mut [RecordedSession]) {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for session in sessions.iter() {
        let files: BTreeSet<&String> = session.prompts.iter().flat_map(|one| &one.files).collect();
        for file in files {
            *counts.entry(file.clone()).or_default() += 1;
        }
    }
    #[expect(clippy::cast_precision_loss, reason = "small counts")]
    let is_common = |file: &String| {
        let count = counts.get(file).copied().unwrap_or_default();
        count > 2 && count as f64 > COMMON_FILE_SHARE * sessions.len() as f64
    };
    let is_common: BTreeSet<String> = (counts.keys())
        .filter(|file| is_common(file))
        .cloned()
        .collect();
    for prompt in sessions.iter_mut().flat_map(|one| &mut one.prompts) {
        prompt.files.retain(|file| !is_common.contains(file));
    }
}
