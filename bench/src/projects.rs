//! Many projects in one store: what a project's recall costs beside others, and alone with the same records.

use crate::dice::Dice;
use crate::stats::{Times, median_ratio};
use crate::{Outcome, probe};
use heirloom_engine::{Arms, Engine, RecallRequest};
use heirloom_store::SqliteStore;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Projects in the store.
const PROJECTS: usize = 50;
/// Records of all of them.
const RECORDS: usize = 1_000_000;
/// The ones that are compared: the first, one between, the last.
const COMPARED: [usize; 3] = [0, 24, PROJECTS - 1];
/// Records of a project that are written one after the other.
const BATCH: usize = 200;
/// Words of a text.
const WORDS: usize = 19;
/// Questions to each.
const QUESTIONS: usize = 200;
/// Questions that are asked before the clock counts.
const WARM: usize = 20;

/// One project beside others, and its double in a store of its own.
struct Pair {
    number: usize,
    beside: Engine,
    alone: Engine,
}

pub(crate) fn measure(to: Option<usize>) -> Outcome<()> {
    let each = (to.unwrap_or(RECORDS) / PROJECTS).max(BATCH);
    let root = tempfile::tempdir()?;
    let (beside, pairs) = filled(root.path(), each)?;
    println!("projects: {PROJECTS} of {each} records in one store, against the same records alone");
    for (name, arms) in [("words", Arms::Words), ("words and meaning", Arms::Both)] {
        for pair in &pairs {
            compare(pair, name, arms)?;
        }
        in_turn(&beside, &pairs, name, arms)?;
    }
    Ok(())
}

/// All projects, and the compared ones once more in stores of their own. They are written by turns, so that
/// the rows of each lie between those of the others.
fn filled(root: &Path, each: usize) -> Outcome<(Vec<Engine>, Vec<Pair>)> {
    let store = Arc::new(SqliteStore::create(&root.join("all.db"))?);
    let name = |number: usize| format!("project-{number}");
    let beside: Vec<Engine> = (0..PROJECTS)
        .map(|number| probe::project(store.clone(), root, &name(number)))
        .collect::<Outcome<_>>()?;
    let mut pairs = Vec::new();
    for number in COMPARED {
        let own = Arc::new(SqliteStore::create(&root.join(format!("{number}.db")))?);
        pairs.push(Pair {
            number,
            beside: probe::project(store.clone(), root, &name(number))?,
            alone: probe::project(own, root, &name(number))?,
        });
    }
    for from in (0..each).step_by(BATCH) {
        let to = each.min(from + BATCH);
        for (number, engine) in beside.iter().enumerate() {
            fill(engine, number, from, to)?;
        }
        for pair in &pairs {
            fill(&pair.alone, pair.number, from, to)?;
        }
    }
    Ok((beside, pairs))
}

/// A project has the same texts wherever it is.
fn fill(engine: &Engine, number: usize, from: usize, to: usize) -> Outcome<()> {
    let mut dice = Dice((number as u64) << 32 | from as u64);
    probe::fill_with(engine, from, to, &mut |_| dice.text(WORDS))
}

fn ask(engine: &Engine, prompt: &str, arms: Arms) -> Outcome<Duration> {
    let request = RecallRequest {
        question: prompt.to_owned(),
        arms,
        ..RecallRequest::default()
    };
    let start = Instant::now();
    let recalled = engine.recall(&request)?;
    let took = start.elapsed();
    assert!(!recalled.hits.is_empty(), "nothing was recalled");
    Ok(took)
}

fn compare(pair: &Pair, name: &str, arms: Arms) -> Outcome<()> {
    let (mut beside, mut alone) = (Vec::new(), Vec::new());
    for (n, prompt) in Dice(17).prompts(WARM + QUESTIONS).iter().enumerate() {
        // Who is asked first may find less in the processor's caches.
        let (first, second) = if n % 2 == 0 {
            let first = ask(&pair.beside, prompt, arms)?;
            (first, ask(&pair.alone, prompt, arms)?)
        } else {
            let second = ask(&pair.alone, prompt, arms)?;
            (ask(&pair.beside, prompt, arms)?, second)
        };
        if n >= WARM {
            beside.push(first);
            alone.push(second);
        }
    }
    let number = pair.number;
    report(&format!("{name}, project {number}"), &beside, &alone);
    Ok(())
}

/// All projects asked in turn, as a server of all of them is; against those that are alone.
fn in_turn(beside: &[Engine], pairs: &[Pair], name: &str, arms: Arms) -> Outcome<()> {
    let prompts = Dice(19).prompts(QUESTIONS);
    for engine in beside {
        ask(engine, &prompts[0], arms)?;
    }
    let (mut turns, mut alone) = (Vec::new(), Vec::new());
    for (n, prompt) in prompts.iter().enumerate() {
        turns.push(ask(&beside[n % PROJECTS], prompt, arms)?);
        alone.push(ask(&pairs[n % pairs.len()].alone, prompt, arms)?);
    }
    report(&format!("{name}, all in turn"), &turns, &alone);
    Ok(())
}

fn report(name: &str, beside: &[Duration], alone: &[Duration]) {
    Times::of(beside).print(&format!("recall by {name}"));
    Times::of(alone).print("  alone");
    println!(
        "{:40} {:12.2}",
        "  ratio, median of the pairs",
        median_ratio(beside, alone)
    );
}
