//! How often a prompt gets something from memory: one that is about the project, and one that is about something else.

use crate::quality::{Data, Document, records};
use crate::stats::Times;
use crate::{Outcome, probe};
use heirloom_engine::{Carried, Engine, Relevant};
use heirloom_model::RecordId;
use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::time::{Duration, Instant};

/// Questions of other projects that each project is asked, at most.
const FOREIGN: usize = 600;
/// Records of a project that has just begun.
const YOUNG: usize = 60;
/// What is told with one prompt.
const TOLD: usize = heirloom_model::limits::HOOK_HITS_MAX;

/// What people say to agents that is about nothing in particular.
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

/// One question, and what came of it.
struct Asked {
    haystack: String,
    /// What was near, best first.
    near: Vec<Relevant>,
    /// Which of these is the answer; none if nothing here is.
    right: Vec<bool>,
    sort: Sort,
    took: Duration,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sort {
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
        ask(&data, haystack, documents, &mut all)?;
    }
    for (haystack, documents) in &data.haystacks {
        let young = young(&data, haystack, documents);
        ask(
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

/// The answers of some questions, and what else was there first.
fn young(data: &Data, haystack: &str, documents: &[Document]) -> Vec<Document> {
    let gold: HashSet<&String> = data
        .asked(haystack)
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

fn ask(data: &Data, haystack: &str, documents: &[Document], all: &mut Vec<Asked>) -> Outcome<()> {
    let root = tempfile::tempdir()?;
    let engine = probe::engine(root.path())?;
    let records = records(&engine, documents);
    let names: HashMap<RecordId, &str> = (records.iter())
        .zip(documents)
        .map(|(record, document)| (record.id, document.id.as_str()))
        .collect();
    engine.import_all(
        Carried {
            records: (1..).zip(records.iter().cloned()).collect(),
            ..Carried::default()
        },
        "bench prompts",
    )?;
    let one = |text: &str, gold: &[String], sort| -> Outcome<Asked> {
        let (near, took) = nearest(&engine, text)?;
        let is_right = |one: &Relevant| {
            let name = names.get(&one.record.id);
            name.is_some_and(|name| gold.iter().any(|gold| gold == name))
        };
        Ok(Asked {
            haystack: haystack.to_owned(),
            right: near.iter().map(is_right).collect(),
            near,
            sort,
            took,
        })
    };
    let own = haystack.split(',').next().unwrap_or(haystack);
    let is_here = |gold: &String| documents.iter().any(|one| one.id == *gold);
    for (_, query) in data
        .asked(own)
        .filter(|(_, query)| query.gold.iter().any(is_here))
    {
        all.push(one(&query.text, &query.gold, Sort::Own)?);
    }
    let foreign: Vec<_> = (data.queries.iter())
        .filter(|query| query.haystack != own)
        .collect();
    let step = foreign.len().div_ceil(FOREIGN).max(1);
    for query in foreign.iter().step_by(step) {
        all.push(one(&query.text, &[], Sort::Foreign)?);
    }
    for prompt in PLAIN {
        all.push(one(prompt, &[], Sort::Plain)?);
    }
    Ok(())
}

fn nearest(engine: &Engine, text: &str) -> Outcome<(Vec<Relevant>, Duration)> {
    let start = Instant::now();
    let near = engine.nearest(text)?;
    Ok((near, start.elapsed()))
}

/// Which of what was told is the answer.
fn told(asked: &Asked) -> impl Iterator<Item = bool> {
    let places = Relevant::told(&asked.near, TOLD).into_iter();
    places.filter_map(|n| asked.right.get(n).copied())
}

fn print(all: &[Asked]) {
    println!(
        "| prompts | of | get something | the right record | something, but not the right record | records, of those that get some |"
    );
    println!("|---|---|---|---|---|---|");
    let mut names: Vec<&str> = all.iter().map(|one| one.haystack.as_str()).collect();
    names.dedup();
    names.insert(0, "all");
    names.insert(1, "all young");
    for (title, sort) in [
        ("about the project", Sort::Own),
        ("about another project", Sort::Foreign),
        ("about nothing in particular", Sort::Plain),
    ] {
        for name in &names {
            let of: Vec<&Asked> = (all.iter())
                .filter(|one| one.sort == sort && is_of(one, name))
                .collect();
            let count = |holds: &dyn Fn(&Asked) -> bool| {
                let count = of.iter().filter(|one| holds(one)).count();
                100.0 * count as f64 / of.len().max(1) as f64
            };
            let some = count(&|one| told(one).next().is_some());
            let right = count(&|one| told(one).any(|right| right));
            let records: usize = of.iter().map(|one| told(one).count()).sum();
            let each = records as f64
                / of.iter()
                    .filter(|one| told(one).next().is_some())
                    .count()
                    .max(1) as f64;
            println!(
                "| {title}, {name} | {} | {some:.1} % | {right:.1} % | {:.1} % | {each:.1} |",
                of.len(),
                some - right
            );
        }
    }
    let own: Vec<&Asked> = (all.iter())
        .filter(|one| one.sort == Sort::Own && is_of(one, "all"))
        .collect();
    for k in [1, 3, 10] {
        let found = own
            .iter()
            .filter(|one| one.right.iter().take(k).any(|right| *right));
        let share = 100.0 * found.count() as f64 / own.len().max(1) as f64;
        println!("without a threshold the right record is among the first {k:2}: {share:.1} %");
    }
    let took: Vec<Duration> = all.iter().map(|one| one.took).collect();
    Times::of(&took).print("the nearest of a prompt, in process");
}

/// Whether a question is of this group.
fn is_of(asked: &Asked, name: &str) -> bool {
    let is_young = asked.haystack.contains(',');
    match name {
        "all" => !is_young,
        "all young" => is_young,
        name => asked.haystack == name,
    }
}

/// One line a candidate, for whoever fits the weights: question, sort, haystack, right, shared, coverage, cosine.
fn print_features(all: &[Asked]) {
    for (n, asked) in all.iter().enumerate() {
        for (one, right) in asked.near.iter().zip(&asked.right) {
            println!(
                "{n}\t{:?}\t{}\t{}\t{:.4}\t{:.4}\t{:.4}",
                asked.sort,
                asked.haystack,
                u8::from(*right),
                one.shared,
                one.coverage,
                one.cosine
            );
        }
    }
}
