//! Many projects in one store: cost of recall in a shared store, compared with a store of its own.

use crate::stats::{Times, median_ratio};
use crate::zipf::ZipfGenerator;
use crate::{Outcome, fixture, results};
use heirloom_engine::{Engine, RecallRequest, RetrievalMode};
use heirloom_store::SqliteStore;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Number of projects in the store.
const PROJECTS: usize = 50;
/// Number of records in all projects together.
const RECORDS: usize = 1_000_000;
/// Projects that are compared: the first, one in the middle, the last.
const COMPARED: [usize; 3] = [0, 24, PROJECTS - 1];
/// Number of records of a project that are written in one go.
const BATCH: usize = 200;
/// Number of words of a text.
const WORDS: usize = 19;
/// Number of queries to each project.
const QUESTIONS: usize = 200;
/// Number of warm-up queries, which are not timed.
const WARM: usize = 20;

/// One project in the shared store, and a copy in a store of its own.
struct Pair {
    number: usize,
    shared: Engine,
    alone: Engine,
}

pub(crate) fn measure(to: Option<usize>) -> Outcome<()> {
    let each = (to.unwrap_or(RECORDS) / PROJECTS).max(BATCH);
    let root = tempfile::tempdir()?;
    let (shared, pairs) = create_projects(root.path(), each)?;
    println!("projects: {PROJECTS} of {each} records in one store, against the same records alone");
    for (id, name, arms) in [
        ("words", "words", RetrievalMode::Words),
        ("both", "words and meaning", RetrievalMode::Both),
    ] {
        let mut worst = f64::MIN;
        for pair in &pairs {
            worst = worst.max(compare(pair, name, arms)?);
        }
        let of = format!("a project among {PROJECTS}, {name}");
        results::value(
            &format!("projects.{id}"),
            &format!("{of}: slower than alone, the worst of {}", pairs.len()),
            "×",
            worst,
        );
        let in_turn = compare_in_turn(&shared, &pairs, name, arms)?;
        results::value(
            &format!("projects.{id}_in_turn"),
            &format!("{of}: slower than alone, all in turn"),
            "×",
            in_turn,
        );
    }
    Ok(())
}

/// Creates all projects, and copies of the compared ones in their own stores. Projects are written in turn, so that
/// the rows of each are scattered among those of the others.
fn create_projects(root: &Path, each: usize) -> Outcome<(Vec<Engine>, Vec<Pair>)> {
    let store = Arc::new(SqliteStore::create(&root.join("all.db"))?);
    let name = |number: usize| format!("project-{number}");
    let shared: Vec<Engine> = (0..PROJECTS)
        .map(|number| fixture::project(store.clone(), root, &name(number)))
        .collect::<Outcome<_>>()?;
    let mut pairs = Vec::new();
    for number in COMPARED {
        let own = Arc::new(SqliteStore::create(&root.join(format!("{number}.db")))?);
        pairs.push(Pair {
            number,
            shared: fixture::project(store.clone(), root, &name(number))?,
            alone: fixture::project(own, root, &name(number))?,
        });
    }
    for from in (0..each).step_by(BATCH) {
        let to = each.min(from + BATCH);
        for (number, engine) in shared.iter().enumerate() {
            fill(engine, number, from, to)?;
        }
        for pair in &pairs {
            fill(&pair.alone, pair.number, from, to)?;
        }
    }
    Ok((shared, pairs))
}

/// Adds records to a project; its texts are the same in every store.
fn fill(engine: &Engine, number: usize, from: usize, to: usize) -> Outcome<()> {
    let mut generator = ZipfGenerator((number as u64) << 32 | from as u64);
    fixture::fill_with(engine, from, to, &mut |_| generator.text(WORDS))
}

fn time_query(engine: &Engine, prompt: &str, arms: RetrievalMode) -> Outcome<Duration> {
    let request = RecallRequest {
        question: prompt.to_owned(),
        mode: arms,
        min_relevance: Some(0.0),
        ..RecallRequest::default()
    };
    let start = Instant::now();
    let recalled = engine.recall().search(&request)?;
    let took = start.elapsed();
    assert!(!recalled.hits.is_empty(), "nothing was recalled");
    Ok(took)
}

fn compare(pair: &Pair, name: &str, arms: RetrievalMode) -> Outcome<f64> {
    let (mut shared, mut alone) = (Vec::new(), Vec::new());
    for (n, prompt) in ZipfGenerator(17)
        .prompts(WARM + QUESTIONS)
        .iter()
        .enumerate()
    {
        // The first query may find less in the processor's caches.
        let (first, second) = if n % 2 == 0 {
            let first = time_query(&pair.shared, prompt, arms)?;
            (first, time_query(&pair.alone, prompt, arms)?)
        } else {
            let second = time_query(&pair.alone, prompt, arms)?;
            (time_query(&pair.shared, prompt, arms)?, second)
        };
        if n >= WARM {
            shared.push(first);
            alone.push(second);
        }
    }
    let number = pair.number;
    Ok(report(
        &format!("{name}, project {number}"),
        &shared,
        &alone,
    ))
}

/// Measures queries to all projects in turn, as in a server of all of them, against the projects with their own
/// store.
fn compare_in_turn(
    shared: &[Engine],
    pairs: &[Pair],
    name: &str,
    arms: RetrievalMode,
) -> Outcome<f64> {
    let prompts = ZipfGenerator(19).prompts(QUESTIONS);
    for engine in shared {
        time_query(engine, &prompts[0], arms)?;
    }
    let (mut turns, mut alone) = (Vec::new(), Vec::new());
    for (n, prompt) in prompts.iter().enumerate() {
        turns.push(time_query(&shared[n % PROJECTS], prompt, arms)?);
        alone.push(time_query(&pairs[n % pairs.len()].alone, prompt, arms)?);
    }
    Ok(report(&format!("{name}, all in turn"), &turns, &alone))
}

/// Prints both times, and returns the median ratio of the pairs.
fn report(name: &str, shared: &[Duration], alone: &[Duration]) -> f64 {
    Times::of(shared).print(&format!("recall by {name}"));
    Times::of(alone).print("  alone");
    median_ratio(shared, alone)
}
