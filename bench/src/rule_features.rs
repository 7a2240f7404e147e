//! Labelled features of people's sentences, to which `cargo xtask fit rules` fits the model of lasting rules.
//!
//! Two tables of sentences written for this purpose, developers' prompts without a rule, and the turns of recorded sessions:
//! a reader named the sentences that set a rule by a piece of each.

use crate::developer_prompts::{data_folder, json_lines};
use crate::lessons::read_events;
use crate::rules::{
    SentenceTable, plain_sentences, program_of, read_transcript, second_of, unfitted_sentences,
};
use crate::{Outcome, Request};
use heirloom_lessons::{
    RULE_FEATURES, SentencePlace, SessionSentences, SpokenSentence, TurnSentence, turn_sentences,
};
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// Sentences of a reader's choice, by project.
const SESSIONS: &str = include_str!("../data/rules/sessions.toml");
const SENTENCES: &str = include_str!("../../crates/lessons/tests/data/plain_rules.toml");
const TURNS: &str = include_str!("../../crates/lessons/tests/data/user_turns.toml");

/// Labels of the sessions of a project.
#[derive(Deserialize)]
struct ProjectLabels {
    unsure: Vec<String>,
    /// Pieces of the sentences of each rule.
    rules: BTreeMap<String, Vec<String>>,
}

/// Table of turns in one language.
#[derive(Deserialize)]
struct TurnTable {
    rules: Vec<RuleTurn>,
    others: Vec<String>,
}

#[derive(Deserialize)]
struct RuleTurn {
    text: String,
    /// Piece of the sentence that sets the rule.
    expect: String,
}

/// Label of a sentence.
enum Label {
    /// It sets the rule of this name.
    Rule(String),
    Other,
    /// A reader cannot decide.
    Unsure,
}

/// Writes the features to the file of `--out`, one line of JSON for each turn.
pub(crate) fn write(request: &Request) -> Outcome<()> {
    let (Some(data), Some(out)) = (request.data.as_deref(), request.out.as_deref()) else {
        return Err("rule-features needs --data FOLDER and --out FILE".into());
    };
    let mut text = format!("{}\n", json!({ "features": RULE_FEATURES.to_vec() }));
    add_tables(&mut text)?;
    add_prompts(&data_folder(data, "prompts"), &mut text)?;
    add_checks(&data_folder(data, "real"), &mut text)?;
    let replay = data_folder(data, "replay");
    let real = data_folder(data, "real").join("sessions");
    let real = request.real_sessions.as_deref().unwrap_or(&real);
    let negatives = negative_turns(&replay)?;
    let labels: BTreeMap<String, ProjectLabels> = toml::from_str(SESSIONS)?;
    for (project, labels) in &labels {
        let transcripts = transcripts_of(project, &replay, real)?;
        if transcripts.is_empty() {
            eprintln!("{project}: left out, its sessions are missing");
        }
        add_sessions(project, labels, &transcripts, &negatives, &mut text)?;
    }
    Ok(heirloom_fs::durable::write_atomic(out, text.as_bytes())?)
}

/// Adds a turn. Its kind is `negative` if a reader marked it as one that only looks like a rule.
fn add_turn(
    out: &mut String,
    names: (&str, &str, &str),
    sentences: &[TurnSentence],
    label: &dyn Fn(usize, &str) -> Label,
) {
    let (sort, group, kind) = names;
    let line = |(number, one): (usize, &TurnSentence)| {
        let (label, rule) = match label(number, &one.text) {
            Label::Rule(name) => (json!(1), json!(name)),
            Label::Other => (json!(0), Value::Null),
            Label::Unsure => (Value::Null, Value::Null),
        };
        let features: Vec<u8> = one
            .features
            .iter()
            .map(|one| u8::from(*one > 0.0))
            .collect();
        json!({ "label": label, "rule": rule, "features": features, "words": one.words, "text": one.text })
    };
    let sentences: Vec<Value> = sentences.iter().enumerate().map(line).collect();
    let line = json!({ "sort": sort, "group": group, "kind": kind, "sentences": sentences });
    // Writing to a string cannot fail.
    let _ = writeln!(out, "{line}");
}

/// Adds the tables of sentences and of turns. In a turn that sets a rule only one sentence does; the others teach nothing.
fn add_tables(out: &mut String) -> Outcome<()> {
    let table: SentenceTable = toml::from_str(SENTENCES)?;
    let mut add = |sort: &str, group: &str, text: &str, piece: Option<&str>| {
        let sentences = turn_sentences(text, SentencePlace::default());
        let count = sentences.len();
        add_turn(
            out,
            (sort, group, ""),
            &sentences,
            &|number, sentence| match piece {
                None => Label::Other,
                Some("") if number + 1 == count => Label::Rule(String::new()),
                Some(piece) if !piece.is_empty() && has_piece(sentence, piece) => {
                    Label::Rule(String::new())
                }
                Some(_) => Label::Unsure,
            },
        );
    };
    for text in &table.rules {
        add("sentences", "sentences", text, Some(""));
    }
    for text in &table.others {
        add("sentences", "sentences", text, None);
    }
    let tables: BTreeMap<String, TurnTable> = toml::from_str(TURNS)?;
    for (language, table) in &tables {
        for turn in &table.rules {
            add("turns", language, &turn.text, Some(&turn.expect));
        }
        for text in &table.others {
            add("turns", language, text, None);
        }
    }
    Ok(())
}

/// Adds developers' prompts, which ask for work and set no rule.
fn add_prompts(folder: &Path, out: &mut String) -> Outcome<()> {
    let file = folder.join("prompts.jsonl");
    if !file.is_file() {
        eprintln!("prompts: left out, {} is missing", file.display());
        return Ok(());
    }
    for prompt in json_lines(&file)? {
        let field = |name: &str| prompt[name].as_str().unwrap_or_default();
        let sentences = turn_sentences(field("text"), SentencePlace::default());
        let names = ("prompts", field("project"), "negative");
        add_turn(out, names, &sentences, &|_, _| Label::Other);
    }
    Ok(())
}

/// Adds sentences that are in no fit and only reported: a table of the repository, and one of the data folder.
fn add_checks(real: &Path, out: &mut String) -> Outcome<()> {
    let mut all: Vec<(&str, (String, bool))> = Vec::new();
    all.extend(
        unfitted_sentences()?
            .into_iter()
            .map(|one| ("unfitted", one)),
    );
    let plain = real.join("plain_rules.jsonl");
    if plain.is_file() {
        all.extend(
            plain_sentences(&plain)?
                .into_iter()
                .map(|one| ("plain", one)),
        );
    }
    for (number, (group, (text, is_rule))) in all.iter().enumerate() {
        let sentences = turn_sentences(text, SentencePlace::default());
        add_turn(
            out,
            ("checks", group, ""),
            &sentences,
            &|_, _| match is_rule {
                true => Label::Rule(format!("{group} {number}")),
                false => Label::Other,
            },
        );
    }
    Ok(())
}

fn has_piece(sentence: &str, piece: &str) -> bool {
    sentence.to_lowercase().contains(&piece.to_lowercase())
}

/// Returns the transcripts of a project in the order of their names.
fn transcripts_of(project: &str, replay: &Path, real: &Path) -> Outcome<Vec<PathBuf>> {
    let mut all = Vec::new();
    for (folder, prefix) in [
        (replay, format!("{project}-")),
        (&real.join(project), String::new()),
    ] {
        let Ok(entries) = std::fs::read_dir(folder) else {
            continue;
        };
        for entry in entries {
            let path = entry?.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            let is_transcript = name.ends_with(".jsonl") || name.ends_with(".jsonl.gz");
            if name.starts_with(&prefix) && is_transcript {
                all.push(path);
            }
        }
    }
    all.sort();
    Ok(all)
}

/// Returns the seconds of the turns that a reader marked as looking like a rule.
fn negative_turns(replay: &Path) -> Outcome<BTreeSet<(String, String)>> {
    let labels = replay.join("rules.jsonl");
    if !labels.is_file() {
        return Ok(BTreeSet::new());
    }
    let field = |label: &Value, name: &str| label[name].as_str().unwrap_or_default().to_owned();
    let labels = json_lines(&labels)?;
    let negatives = labels.iter().filter(|label| label["source"] == "negative");
    Ok(negatives
        .map(|label| (field(label, "project"), second_of(&field(label, "at"))))
        .collect())
}

/// Adds the turns of recorded sessions, each text once.
fn add_sessions(
    project: &str,
    labels: &ProjectLabels,
    transcripts: &[PathBuf],
    negatives: &BTreeSet<(String, String)>,
    out: &mut String,
) -> Outcome<()> {
    let mut known = BTreeSet::new();
    for transcript in transcripts {
        let bytes = read_transcript(transcript)?;
        let mut session = SessionSentences::default();
        read_events(program_of(&bytes), &bytes, &mut |event| {
            session.push(&event)
        })?;
        let spoken = session.sentences();
        for turn in spoken.chunk_by(|one, other| one.turn == other.turn) {
            let sentences: Vec<TurnSentence> =
                turn.iter().map(|one| one.sentence.clone()).collect();
            let texts: Vec<String> = sentences.iter().map(|one| one.text.clone()).collect();
            if known.insert(texts) {
                let kind = kind_of(turn, project, negatives);
                add_turn(out, ("sessions", project, kind), &sentences, &|_, text| {
                    labels.label(text)
                });
            }
        }
    }
    Ok(())
}

fn kind_of(
    turn: &[SpokenSentence],
    project: &str,
    negatives: &BTreeSet<(String, String)>,
) -> &'static str {
    let at = turn.first().and_then(|one| one.at);
    let at = second_of(&at.map(|at| at.to_string()).unwrap_or_default());
    match negatives.contains(&(project.to_owned(), at)) {
        true => "negative",
        false => "",
    }
}

impl ProjectLabels {
    fn label(&self, sentence: &str) -> Label {
        let has_one = |pieces: &[String]| pieces.iter().any(|piece| has_piece(sentence, piece));
        match self.rules.iter().find(|(_, pieces)| has_one(pieces)) {
            Some((name, _)) => Label::Rule(name.clone()),
            None if has_one(&self.unsure) => Label::Unsure,
            None => Label::Other,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_have_rules_and_other_sentences() {
        let mut text = String::new();
        add_tables(&mut text).unwrap();
        let lines: Vec<Value> = text
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        let count = |sort: &str, label: u32| {
            let turns = lines.iter().filter(|line| line["sort"] == sort);
            let sentences = turns.flat_map(|turn| turn["sentences"].as_array().unwrap());
            sentences.filter(|one| one["label"] == label).count()
        };
        assert!(count("sentences", 1) > 200 && count("sentences", 0) > 200);
        assert!(count("turns", 1) > 150 && count("turns", 0) > 300);
    }

    #[test]
    fn pieces_name_the_rules_of_a_project() {
        let labels: BTreeMap<String, ProjectLabels> = toml::from_str(SESSIONS).unwrap();
        let label = |text: &str| labels["agentv"].label(text);
        assert!(matches!(label("I no longer use prek"), Label::Rule(name) if name == "av-00"));
        assert!(matches!(label("push it"), Label::Other));
        assert!(labels.values().all(|one| !one.rules.is_empty()));
    }
}
