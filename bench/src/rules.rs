//! Rules that people set in plain words: single sentences in a small session, and the labelled turns of recorded
//! sessions.
//!
//! A rule counts as kept if a record of its turn shares a word with the label. That is no verdict: the records are
//! printed, to be read.

use crate::developer_prompts::{data_folder, json_lines};
use crate::lessons::read_events;
use crate::{Outcome, results};
use flate2::read::MultiGzDecoder;
use heirloom_agents::AgentProgram;
use heirloom_agents::transcripts::{EventBody, ToolAction, ToolOutcome, TranscriptEvent};
use heirloom_lessons::{LessonExtractor, SourceKind, Speaker, Verdict};
use serde::Deserialize;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;
use std::path::{Path, PathBuf};

/// Characters of a session's name by which its transcript is found.
const SESSION_CHARS: usize = 8;
/// Characters of a time that a label and its turn share: up to the second.
const TIME_CHARS: usize = 19;
/// Bytes of a transcript in which the program is named.
const HEAD_BYTES: usize = 4096;
/// Smallest number of letters of a word that two texts may share, and letters of it that are compared.
const WORD_LETTERS_MIN: usize = 4;
const STEM_LETTERS: usize = 5;

/// Sentences that are in no fit.
const UNFITTED: &str = include_str!("../../crates/lessons/tests/data/unfitted_rules.toml");

/// Table of sentences.
#[derive(Deserialize)]
pub(crate) struct SentenceTable {
    pub(crate) rules: Vec<String>,
    pub(crate) others: Vec<String>,
}

/// Returns the sentences that are in no fit, each with true if it is a rule.
pub(crate) fn unfitted_sentences() -> Outcome<Vec<(String, bool)>> {
    let table: SentenceTable = toml::from_str(UNFITTED)?;
    let rules = table.rules.into_iter().map(|text| (text, true));
    let others = table.others.into_iter().map(|text| (text, false));
    Ok(rules.chain(others).collect())
}

/// Reads the sentences of a file, each with true if it is a rule.
pub(crate) fn plain_sentences(file: &Path) -> Outcome<Vec<(String, bool)>> {
    let lines = json_lines(file)?.into_iter();
    Ok(lines
        .map(|line| (field(&line, "text"), line["rule"].is_string()))
        .collect())
}

/// Measures all parts whose data is there.
pub(crate) fn measure(data: Option<&Path>) -> Outcome<()> {
    let Some(data) = data else {
        println!("rules: skipped, no --data FOLDER and no HEIRLOOM_BENCH_DATA");
        return Ok(());
    };
    let ids = ["rules.unfitted", "rules.unfitted_others"];
    measure_sentences(ids, "in no fit", &unfitted_sentences()?);
    let file = data_folder(data, "real").join("plain_rules.jsonl");
    match file.is_file() {
        true => {
            let ids = ["rules.sentences", "rules.other_sentences"];
            measure_sentences(ids, "as people type", &plain_sentences(&file)?);
        }
        false => println!("rules: sentences skipped, {} is missing", file.display()),
    }
    let folder = data_folder(data, "replay");
    let labels = folder.join("rules.jsonl");
    match labels.is_file() {
        true => measure_turns(&folder, &labels),
        false => {
            println!("rules: turns skipped, {} is missing", labels.display());
            Ok(())
        }
    }
}

/// Feeds each sentence as the second prompt of a small session.
fn measure_sentences([id, others_id]: [&str; 2], what: &str, sentences: &[(String, bool)]) {
    let (mut rules, mut kept, mut others, mut wrong) = (0_u32, 0_u32, 0_u32, 0_u32);
    for (text, is_rule) in sentences {
        let texts = rules_of_sentence(text);
        let is_found = u32::from(!texts.is_empty());
        match is_rule {
            true => {
                rules += 1;
                kept += is_found;
            }
            false => {
                others += 1;
                wrong += is_found;
            }
        }
        println!("  {text}\n    {texts:?}");
    }
    let share = 100.0 * f64::from(kept) / f64::from(rules.max(1));
    results::value(
        id,
        &format!("rules of {rules} sentences {what}, kept"),
        "%",
        share,
    );
    let name = format!("of {others} other sentences {what}, kept");
    results::value(others_id, &name, &format!("of {others}"), f64::from(wrong));
}

/// Returns the kept rules of a small session: a request, two calls, the sentence, two calls.
fn rules_of_sentence(sentence: &str) -> Vec<String> {
    let mut bodies = vec![EventBody::Prompt("fix the import in the loader".to_owned())];
    let calls = |at: usize| {
        ["ls src", "cat src/loader.py"]
            .into_iter()
            .enumerate()
            .flat_map(move |(number, command)| {
                let call = format!("call {at} {number}");
                let action = ToolAction::Command(command.to_owned());
                let tool = "Bash".to_owned();
                let result = EventBody::Result {
                    call: call.clone(),
                    outcome: ToolOutcome::Succeeded,
                    text: "ok".to_owned(),
                };
                [EventBody::Call { call, tool, action }, result]
            })
    };
    bodies.extend(calls(0));
    bodies.push(EventBody::Prompt(sentence.to_owned()));
    bodies.extend(calls(1));
    let mut extractor = LessonExtractor::default();
    for (id, body) in bodies.into_iter().enumerate() {
        extractor.push(&TranscriptEvent {
            id: id.to_string(),
            at: None,
            agent: None,
            author: heirloom_agents::transcripts::TurnAuthor::Person,
            body,
        });
    }
    kept_rules(&extractor)
        .into_iter()
        .map(|(_, text)| text)
        .collect()
}

/// Returns the time, up to the second, and the text of each kept record in a person's name.
fn kept_rules(extractor: &LessonExtractor) -> Vec<(String, String)> {
    let lessons = extractor.lessons().into_iter();
    let kept = lessons.filter(|lesson| {
        lesson.verdict == Verdict::Kept
            && lesson.candidate.speaker == Speaker::Person
            && lesson.candidate.source != SourceKind::Case
    });
    kept.map(|lesson| {
        let at = lesson
            .candidate
            .at
            .map(|at| at.to_string())
            .unwrap_or_default();
        (second_of(&at), lesson.candidate.full_text())
    })
    .collect()
}

/// Returns a time up to the second.
pub(crate) fn second_of(time: &str) -> String {
    time.chars().take(TIME_CHARS).collect()
}

/// Compares the records of recorded sessions with the labelled turns. Records of other turns are printed too.
fn measure_turns(folder: &Path, labels: &Path) -> Outcome<()> {
    let labels = json_lines(labels)?;
    let records = records_of_sessions(folder, &labels)?;
    let (mut rules, mut kept, mut others, mut wrong) = (0_u32, 0_u32, 0_u32, 0_u32);
    let mut labelled = BTreeSet::new();
    for label in labels.iter().filter(|label| label["source"] != "file") {
        let session = session_of(label);
        let Some(of_session) = records.get(&session) else {
            continue;
        };
        let at = second_of(&field(label, "at"));
        let texts: Vec<&str> = of_session
            .iter()
            .filter(|(time, _)| *time == at)
            .map(|(_, text)| text.as_str())
            .collect();
        labelled.insert((session, at));
        let id = field(label, "id");
        if label["source"] == "negative" {
            others += 1;
            wrong += u32::from(!texts.is_empty());
            if !texts.is_empty() {
                println!("  {id}, no rule: {texts:?}");
            }
        } else if label["lasting"] == true {
            let rule = field(label, "rule");
            rules += 1;
            kept += u32::from(texts.iter().any(|text| shares_word(text, &rule)));
            println!("  {id} {rule}\n    {texts:?}");
        }
    }
    for (session, of_session) in &records {
        for (at, text) in of_session {
            if !labelled.contains(&(session.clone(), at.clone())) {
                println!("  {session} {at}, without a label: {text}");
            }
        }
    }
    let share = 100.0 * f64::from(kept) / f64::from(rules.max(1));
    let name = format!("{rules} lasting rules that people said, kept");
    results::value("rules.turns", &name, "%", share);
    let name = format!("of {others} turns that look like rules, kept");
    let unit = format!("of {others}");
    results::value("rules.other_turns", &name, &unit, f64::from(wrong));
    Ok(())
}

fn field(label: &Value, name: &str) -> String {
    label[name].as_str().unwrap_or_default().to_owned()
}

/// Returns the beginning of the name of a label's session.
fn session_of(label: &Value) -> String {
    let session = field(label, "session");
    session.chars().take(SESSION_CHARS).collect()
}

/// Returns the kept rules of each session that has a label and a transcript.
fn records_of_sessions(
    folder: &Path,
    labels: &[Value],
) -> Outcome<BTreeMap<String, Vec<(String, String)>>> {
    let names: BTreeSet<String> = labels.iter().map(session_of).collect();
    let mut records = BTreeMap::new();
    for name in names.into_iter().filter(|name| !name.is_empty()) {
        if let Some(file) = transcript_of(folder, &name)? {
            records.insert(name, rules_of_transcript(&file)?);
        }
    }
    Ok(records)
}

/// Returns the transcript of a session.
fn transcript_of(folder: &Path, session: &str) -> Outcome<Option<PathBuf>> {
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if name.ends_with(&format!("{session}.jsonl.gz")) {
            return Ok(Some(path));
        }
    }
    Ok(None)
}

/// Returns the bytes of a transcript, unpacked if it is packed.
pub(crate) fn read_transcript(file: &Path) -> Outcome<Vec<u8>> {
    let bytes = std::fs::read(file)?;
    if file.extension().is_none_or(|extension| extension != "gz") {
        return Ok(bytes);
    }
    let mut unpacked = Vec::new();
    MultiGzDecoder::new(bytes.as_slice()).read_to_end(&mut unpacked)?;
    Ok(unpacked)
}

/// Returns the program that wrote a transcript.
pub(crate) fn program_of(bytes: &[u8]) -> AgentProgram {
    let head =
        String::from_utf8_lossy(bytes.get(..bytes.len().min(HEAD_BYTES)).unwrap_or_default());
    match head.contains("\"session_meta\"") {
        true => AgentProgram::Codex,
        false => AgentProgram::ClaudeCode,
    }
}

fn rules_of_transcript(file: &Path) -> Outcome<Vec<(String, String)>> {
    let bytes = read_transcript(file)?;
    let mut extractor = LessonExtractor::default();
    read_events(program_of(&bytes), &bytes, &mut |event| {
        extractor.push(&event)
    })?;
    Ok(kept_rules(&extractor))
}

/// Returns true if two texts share the beginning of a word.
fn shares_word(one: &str, other: &str) -> bool {
    let words = |text: &str| -> BTreeSet<String> {
        text.to_lowercase()
            .split(|c: char| !c.is_alphanumeric())
            .filter(|word| word.chars().count() >= WORD_LETTERS_MIN)
            .map(|word| word.chars().take(STEM_LETTERS).collect())
            .collect()
    };
    !words(one).is_disjoint(&words(other))
}
