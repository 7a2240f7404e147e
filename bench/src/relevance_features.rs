//! Labelled features of recall's hits, to which `cargo xtask fit relevance` fits the relevance model.
//!
//! Three sorts of questions: developers' prompts, changelog lines over commits, and what recorded sessions say at the
//! places that a reader drew lessons from. The features are computed by the engine that ships.

mod cases;
mod conversations;

use crate::developer_prompts::{self, EXTRA, FilledProject, data_folder};
use crate::{Outcome, Request, commit_memory, fixture};
use heirloom_capture::Hooks;
use heirloom_engine::{Engine, QuerySyntax, RecallRequest};
use heirloom_model::{Record, RecordId, limits};
use heirloom_search::recall::{RecallItem, hit_features};
use heirloom_search::relevance::{FEATURE_NAMES, SENTENCE_FEATURE_NAMES};
use serde_json::{Value, json};
use std::collections::HashSet;
use std::fmt::Write;
use std::path::Path;

/// A question to a project.
struct Question<'q> {
    sort: &'static str,
    group: &'q str,
    /// Name in the data, or its text.
    name: &'q str,
    style: &'q str,
    text: &'q str,
    is_answered: bool,
    /// True for projects whose left-out results are reported and decide about thresholds.
    is_reported: bool,
}

/// Vectors that recall has for the questions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FeatureSet {
    /// The built-in ones.
    Plain,
    /// Those of the sentence transformer too.
    Sentences,
}

/// Writes the features of a group to `out`: of all sorts of questions for the model of texts, without or with the
/// sentence transformer, or of questions about earlier work for that of cases. Other groups have none.
pub(crate) fn write(group: &str, request: &Request) -> Outcome<()> {
    let set = match group {
        "relevance-features" => FeatureSet::Plain,
        "relevance-features-sentences" | "relevance-features-cases" => FeatureSet::Sentences,
        _ => return Ok(()),
    };
    let (Some(data), Some(out)) = (request.data.as_deref(), request.out.as_deref()) else {
        return Err(format!("{group} needs --data FOLDER and --out FILE").into());
    };
    if group == "relevance-features-cases" {
        let mut text = format!("{}\n", json!({ "features": cases::names() }));
        cases::add(data, request.real_sessions.as_deref(), set, &mut text)?;
        return Ok(heirloom_fs::durable::write_atomic(out, text.as_bytes())?);
    }
    let mut names = FEATURE_NAMES.to_vec();
    if set == FeatureSet::Sentences {
        names.extend(SENTENCE_FEATURE_NAMES);
    }
    let mut text = format!("{}\n", json!({ "features": names }));
    add_prompts(&data_folder(data, "prompts"), true, set, &mut text)?;
    // The repository's own prompts were written together with the model, so they only teach.
    add_prompts(Path::new(EXTRA), false, set, &mut text)?;
    add_commits(&data_folder(data, "recall"), set, &mut text)?;
    conversations::add(&data_folder(data, "lessons"), set, &mut text)?;
    heirloom_fs::durable::write_atomic(out, text.as_bytes())?;
    Ok(())
}

impl FeatureSet {
    /// Returns an engine that has the vectors of this set.
    fn prepare(self, engine: &Engine) -> Outcome<Engine> {
        match self {
            Self::Plain => Ok(engine.shared()),
            Self::Sentences => fixture::with_sentences(engine),
        }
    }
}

fn add_prompts(folder: &Path, is_reported: bool, set: FeatureSet, out: &mut String) -> Outcome<()> {
    for (name, project) in developer_prompts::read_projects(folder)? {
        eprintln!("{name}: {} prompts", project.prompts.len());
        let filled = FilledProject::of(&project)?;
        let engine = set.prepare(&filled.engine)?;
        for prompt in &project.prompts {
            let question = Question {
                sort: "prompts",
                group: &name,
                name: &prompt.id,
                style: &prompt.style,
                text: &prompt.text,
                is_answered: !prompt.gold.is_empty(),
                is_reported,
            };
            add_question(&engine, &question, out, &|record| {
                let ids = filled.found_in(&record.text);
                let best = ids
                    .iter()
                    .max_by(|a, b| prompt.label(a).total_cmp(&prompt.label(b)));
                let id = best.map(|id| (*id).to_owned());
                let label = best.map_or(0.0, |id| prompt.label(id));
                (id.unwrap_or_else(|| record.id.to_string()), label)
            })?;
        }
    }
    Ok(())
}

fn add_commits(folder: &Path, set: FeatureSet, out: &mut String) -> Outcome<()> {
    for repository in commit_memory::read(folder)? {
        eprintln!("{}: {} commits", repository.name, repository.texts.len());
        let filled = repository.fill()?;
        let engine = set.prepare(&filled.engine)?;
        let own = repository.own_questions(commit_memory::FITTED_QUESTIONS);
        let foreign = repository.foreign_questions(commit_memory::FITTED_QUESTIONS);
        for query in own.chain(foreign) {
            let gold = repository.gold_of(query);
            let question = Question {
                sort: "commits",
                group: &repository.name,
                name: &query.text,
                style: "changelog",
                text: &query.text,
                is_answered: !gold.is_empty(),
                is_reported: false,
            };
            add_question(&engine, &question, out, &|record| {
                let is_gold = gold.iter().any(|text| **text == record.text);
                (record.id.to_string(), f64::from(u8::from(is_gold)))
            })?;
        }
        // A large memory has all words of a prompt without a subject, which is no evidence.
        for text in commit_memory::PLAIN {
            let question = Question {
                sort: "prompts",
                group: &repository.name,
                name: text,
                style: "plain",
                text,
                is_answered: false,
                is_reported: false,
            };
            add_question(&engine, &question, out, &|record| {
                (record.id.to_string(), 0.0)
            })?;
        }
    }
    Ok(())
}

/// Adds the line of a question: the hits that the prompt hook considers, in recall's order.
fn add_question(
    engine: &Engine,
    question: &Question<'_>,
    out: &mut String,
    label: &dyn Fn(&Record) -> (String, f64),
) -> Outcome<()> {
    let hits = hits(engine, question.text)?;
    let of_hit = |(record, features): &(Record, Vec<f64>)| {
        let (id, label) = label(record);
        let rounded = features.iter().map(|value| (value * 1e6).round() / 1e6);
        let rounded: Vec<f64> = rounded.collect();
        json!({"id": id, "label": label, "features": rounded})
    };
    let records: Vec<Value> = hits.iter().map(of_hit).collect();
    let line = json!({
        "sort": question.sort, "group": question.group, "style": question.style, "query": question.name,
        "answered": question.is_answered, "reported": question.is_reported, "records": records,
    });
    writeln!(out, "{line}")?;
    Ok(())
}

/// Returns the records that the prompt hook considers for a text, with their features.
fn hits(engine: &Engine, text: &str) -> Outcome<Vec<(Record, Vec<f64>)>> {
    let near = Hooks::new(engine).relevant_hits(text)?;
    if near.is_empty() {
        return Ok(Vec::new());
    }
    let considered: HashSet<RecordId> = near.iter().map(|one| one.record.id).collect();
    let mut end = text.len().min(limits::HOOK_QUESTION_BYTES_MAX);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let request = RecallRequest {
        question: text.get(..end).unwrap_or_default().to_owned(),
        syntax: QuerySyntax::Words,
        k: Some(limits::HOOK_CANDIDATES_MAX),
        ..RecallRequest::default()
    };
    let (ranked, question) = engine.recall().search_with_question(&request)?;
    let features = hit_features(&question, &ranked);
    let pairs = ranked.into_iter().zip(features);
    let records = pairs.filter_map(|(hit, features)| match hit.item {
        RecallItem::Record(record) => {
            let further = features.sentence_values().into_iter().flatten();
            Some((
                *record,
                features.values().iter().chain(further).copied().collect(),
            ))
        }
        RecallItem::Turn { .. } => None,
    });
    Ok(records
        .filter(|(record, _)| considered.contains(&record.id))
        .collect())
}
