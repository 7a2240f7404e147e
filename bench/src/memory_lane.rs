//! Recall of records in a store without conversations, compared with a copy that has a million turns.

use crate::stats::{Times, median_ratio};
use crate::zipf::ZipfGenerator;
use crate::{Outcome, fixture, results};
use heirloom_engine::{Engine, RecallRequest};
use std::path::Path;
use std::time::{Duration, Instant};

/// Number of records in both stores.
const RECORDS: usize = 100_000;
/// Number of turns in one of them.
const TURNS: usize = 1_000_000;
/// Number of words of a text.
const WORDS: usize = 19;
/// Number of questions to both stores.
const QUESTIONS: usize = 400;
/// Number of warm-up questions, which are not timed.
const WARM: usize = 40;

pub(crate) fn measure(to: Option<usize>) -> Outcome<()> {
    let turns = to.unwrap_or(TURNS);
    let (alone, beside) = (tempfile::tempdir()?, tempfile::tempdir()?);
    let engine = fixture::engine(alone.path())?;
    let mut generator = ZipfGenerator(89);
    fixture::fill_with(&engine, 0, RECORDS, &mut |_| generator.text(WORDS))?;
    drop(engine);
    copy_project(alone.path(), beside.path())?;
    let engine = fixture::reopen(beside.path())?;
    let start = Instant::now();
    fixture::add_turns(&engine, turns, &mut || generator.text(WORDS))?;
    eprintln!(
        "memory-lane: {turns} turns in {:.0} s",
        start.elapsed().as_secs_f64()
    );
    drop(engine);
    let engines = [
        fixture::reopen(alone.path())?,
        fixture::reopen(beside.path())?,
    ];
    let mut times = [Vec::new(), Vec::new()];
    for (n, question) in generator.prompts(WARM + QUESTIONS).iter().enumerate() {
        // Each store is the first in turn, because the second search of a question finds a warm processor.
        for place in [n % 2, 1 - n % 2] {
            let took = recall(&engines[place], question)?;
            times[place].extend((n >= WARM).then_some(took));
        }
    }
    let [alone, beside] = times;
    let name = format!("recall, {RECORDS} records, no turns");
    results::times("memory-lane.alone", &name, &Times::of(&alone));
    let name = format!("recall, {RECORDS} records beside {turns} turns");
    results::times("memory-lane.beside", &name, &Times::of(&beside));
    let ratio = median_ratio(&beside, &alone);
    results::value(
        "memory-lane.ratio",
        "the second by the first, median of pairs",
        "×",
        ratio,
    );
    Ok(())
}

fn recall(engine: &Engine, question: &str) -> Outcome<Duration> {
    let request = RecallRequest {
        question: question.to_owned(),
        min_relevance: Some(0.0),
        ..RecallRequest::default()
    };
    let start = Instant::now();
    let report = engine.recall().search(&request)?;
    let took = start.elapsed();
    assert!(!report.hits.is_empty(), "nothing was recalled");
    Ok(took)
}

/// Copies the store and settings of a project that no engine has open.
fn copy_project(from: &Path, to: &Path) -> Outcome<()> {
    let folder = to.join(".heirloom");
    heirloom_fs::durable::create_dir_private(&folder)?;
    for entry in std::fs::read_dir(from.join(".heirloom"))? {
        let entry = entry?;
        if entry.file_type()?.is_file() {
            std::fs::copy(entry.path(), folder.join(entry.file_name()))?;
        }
    }
    Ok(())
}
