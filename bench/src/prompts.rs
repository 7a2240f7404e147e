//! Precision of the prompt hook: how often prompts about the project, and about other things, get memory injected.

use crate::quality::{Data, Document, records};
use crate::stats::Times;
use crate::{Outcome, fixture, results};
use heirloom_capture::Hooks;
use heirloom_capture::RelevantHit;
use heirloom_engine::{Engine, ImportBundle};
use heirloom_model::RecordId;
use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::time::{Duration, Instant};

/// Largest number of queries of other projects for each project.
const FOREIGN: usize = 600;
/// Number of records of a project that has just begun.
const YOUNG: usize = 60;
/// Largest number of hits for one prompt.
const DELIVERED_MAX: usize = heirloom_model::limits::HOOK_HITS_MAX;

/// Prompts to agents without a specific subject.
const PLAIN: [&str; 40] = [
    "continue",
    "yes",
    "yes, do it",
    "ok go ahead",
    "please continue",
    "try again",
    "run the tests",
    "run the tests again and fix what fails",
    "commit this",
    "commit and push",
    "looks good, thanks",
    "no, undo that",
    "revert the last change",
    "what did you change?",
    "explain this code to me",
    "why does this fail?",
    "fix it",
    "fix the bug",
    "fix the failing tests",
    "make it faster",
    "clean this up",
    "refactor this function",
    "add a test for this",
    "write the documentation",
    "update the readme",
    "what is next?",
    "show me the diff",
    "summarize what we did so far",
    "is this correct?",
    "can you check that again?",
    "use a better name for this variable",
    "stop",
    "wait, that is not what I meant",
    "hello",
    "which files did you look at?",
    "please review my changes",
    "do the same for the other file",
    "the build is broken, please look at it",
    "let's start over",
    "open a pull request",
];

/// One prompt with its hits.
struct PromptResult {
    haystack: String,
    /// Hits, best first.
    near: Vec<RelevantHit>,
    /// For each hit, true if it is the answer.
    right: Vec<bool>,
    kind: PromptKind,
    took: Duration,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PromptKind {
    Own,
    Foreign,
    Plain,
}

pub(crate) fn measure(folder: Option<&Path>, features: bool) -> Outcome<()> {
    let Some(folder) = folder else {
        println!("prompts: skipped, no --data FOLDER and no HEIRLOOM_BENCH_DATA");
        return Ok(());
    };
    let data = Data::read(folder)?;
    let mut all = Vec::new();
    for (haystack, documents) in &data.haystacks {
        run_prompts(&data, haystack, documents, &mut all)?;
    }
    for (haystack, documents) in &data.haystacks {
        let young = young_project(&data, haystack, documents);
        run_prompts(
            &data,
            &format!("{haystack}, {YOUNG} records"),
            &young,
            &mut all,
        )?;
    }
    if features {
        print_features(&all);
    } else {
        print(&all);
    }
    Ok(())
}

/// Returns a small project: the answers of some queries, and the first other documents.
fn young_project(data: &Data, haystack: &str, documents: &[Document]) -> Vec<Document> {
    let gold: HashSet<&String> = data
        .queries_of(haystack)
        .take(YOUNG / 2)
        .flat_map(|(_, query)| &query.gold)
        .collect();
    let (answers, rest): (Vec<_>, Vec<_>) =
        documents.iter().partition(|one| gold.contains(&one.id));
    let all = answers.into_iter().chain(rest).take(YOUNG);
    all.map(|one| Document {
        id: one.id.clone(),
        at: one.at,
        text: one.text.clone(),
    })
    .collect()
}

fn run_prompts(
    data: &Data,
    haystack: &str,
    documents: &[Document],
    all: &mut Vec<PromptResult>,
) -> Outcome<()> {
    let root = tempfile::tempdir()?;
    let engine = fixture::engine(root.path())?;
    let records = records(&engine, documents);
    let names: HashMap<RecordId, &str> = (records.iter())
        .zip(documents)
        .map(|(record, document)| (record.id, document.id.as_str()))
        .collect();
    engine.imports().import_bundle(
        ImportBundle {
            records: (1..).zip(records.iter().cloned()).collect(),
            ..ImportBundle::default()
        },
        "bench prompts",
    )?;
    let one = |text: &str, gold: &[String], kind| -> Outcome<PromptResult> {
        let (near, took) = time_nearest(&engine, text)?;
        let is_right = |one: &RelevantHit| {
            let name = names.get(&one.record.id);
            name.is_some_and(|name| gold.iter().any(|gold| gold == name))
        };
        Ok(PromptResult {
            haystack: haystack.to_owned(),
            right: near.iter().map(is_right).collect(),
            near,
            kind,
            took,
        })
    };
    let own = haystack.split(',').next().unwrap_or(haystack);
    let has_answer = |gold: &String| documents.iter().any(|one| one.id == *gold);
    for (_, query) in data
        .queries_of(own)
        .filter(|(_, query)| query.gold.iter().any(has_answer))
    {
        all.push(one(&query.text, &query.gold, PromptKind::Own)?);
    }
    let foreign: Vec<_> = (data.queries.iter())
        .filter(|query| query.haystack != own)
        .collect();
    let step = foreign.len().div_ceil(FOREIGN).max(1);
    for query in foreign.iter().step_by(step) {
        all.push(one(&query.text, &[], PromptKind::Foreign)?);
    }
    for prompt in PLAIN {
        all.push(one(prompt, &[], PromptKind::Plain)?);
    }
    Ok(())
}

fn time_nearest(engine: &Engine, text: &str) -> Outcome<(Vec<RelevantHit>, Duration)> {
    let start = Instant::now();
    let near = Hooks::new(engine).relevant_hits(text)?;
    Ok((near, start.elapsed()))
}

/// Returns for each delivered hit whether it is the answer.
fn delivered(result: &PromptResult) -> impl Iterator<Item = bool> {
    let places = RelevantHit::select(&result.near, DELIVERED_MAX).into_iter();
    places.filter_map(|n| result.right.get(n).copied())
}

fn print(all: &[PromptResult]) {
    let columns = [
        "prompts",
        "number",
        "get something, %",
        "the right record, %",
        "only others, %",
        "records for each that gets some",
    ];
    let mut rows = Vec::new();
    let mut names: Vec<&str> = all.iter().map(|one| one.haystack.as_str()).collect();
    names.dedup();
    names.insert(0, "all");
    names.insert(1, "all young");
    for (title, kind) in [
        ("about the project", PromptKind::Own),
        ("about another project", PromptKind::Foreign),
        ("about nothing in particular", PromptKind::Plain),
    ] {
        for name in &names {
            let of: Vec<&PromptResult> = (all.iter())
                .filter(|one| one.kind == kind && is_in_group(one, name))
                .collect();
            let count = |holds: &dyn Fn(&PromptResult) -> bool| {
                let count = of.iter().filter(|one| holds(one)).count();
                100.0 * count as f64 / of.len().max(1) as f64
            };
            let some = count(&|one| delivered(one).next().is_some());
            let right = count(&|one| delivered(one).any(|right| right));
            let records: usize = of.iter().map(|one| delivered(one).count()).sum();
            let each = records as f64
                / of.iter()
                    .filter(|one| delivered(one).next().is_some())
                    .count()
                    .max(1) as f64;
            let mut row = vec![format!("{title}, {name}"), of.len().to_string()];
            row.extend([some, right, some - right, each].map(|value| format!("{value:.1}")));
            rows.push(row);
        }
    }
    results::table("prompts", &columns, &rows);
    let own: Vec<&PromptResult> = (all.iter())
        .filter(|one| one.kind == PromptKind::Own && is_in_group(one, "all"))
        .collect();
    for k in [1, 3, 10] {
        let found = own
            .iter()
            .filter(|one| one.right.iter().take(k).any(|right| *right));
        let share = 100.0 * found.count() as f64 / own.len().max(1) as f64;
        let name = format!("prompts, without a threshold the right record is in the first {k}");
        results::value(&format!("prompts.first_{k}"), &name, "%", share);
    }
    let took: Vec<Duration> = all.iter().map(|one| one.took).collect();
    let name = "the nearest records of a prompt, in process";
    results::times("prompts.nearest", name, &Times::of(&took));
}

/// Returns true if a prompt belongs to this group.
fn is_in_group(result: &PromptResult, name: &str) -> bool {
    let is_young = result.haystack.contains(',');
    match name {
        "all" => !is_young,
        "all young" => is_young,
        name => result.haystack == name,
    }
}

/// Prints one line per candidate to fit weights: query, kind, haystack, right, shared, coverage, cosine.
fn print_features(all: &[PromptResult]) {
    for (n, result) in all.iter().enumerate() {
        for (one, right) in result.near.iter().zip(&result.right) {
            println!(
                "{n}\t{:?}\t{}\t{}\t{:.4}\t{:.4}\t{:.4}",
                result.kind,
                result.haystack,
                u8::from(*right),
                one.shared,
                one.coverage,
                one.cosine
            );
        }
    }
}
