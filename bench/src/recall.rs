//! Searching: by words, by words and meaning, and what it costs to write what is found; beside SQLite's FTS5.

use crate::Outcome;
use crate::dice::Dice;
use crate::fts5::Fts5;
use crate::probe;
use crate::stats::{Times, resident_mb};
use heirloom_engine::RecallRequest;
use heirloom_index::words::Question;
use heirloom_model::{
    Confidence, IdSource, Kind, Merge, ProjectName, Record, Scope, Timestamp, record::Attrs,
};
use heirloom_store::{Change, Filter, Search, SqliteStore, Store};
use std::time::{Duration, Instant};

/// Records in the store when questions are asked.
const SIZES: [usize; 2] = [10_000, 100_000];
/// A size that takes minutes to fill: with `--only recall-million`.
const MILLION: usize = 1_000_000;
/// Questions of each sort.
const QUESTIONS: usize = 200;
/// Durable single writes that are timed.
const WRITES: usize = 600;

pub(crate) fn measure(only: Option<&str>) -> Outcome<()> {
    let sizes = match only {
        Some("recall-million") => vec![MILLION],
        _ => SIZES.to_vec(),
    };
    let root = tempfile::tempdir()?;
    let store = SqliteStore::create(&root.path().join("heirloom.db"))?;
    let fts = Fts5::create(&root.path().join("fts5.db"))?;
    let project = ProjectName::new("bench")?;
    let ids = IdSource::default();
    let mut dice = Dice(7);
    let mut stored = 0;
    for size in sizes {
        let begun = Instant::now();
        let mut texts = Vec::new();
        while stored < size {
            let count = (size - stored).min(200);
            let new: Vec<String> = (0..count).map(|_| dice.text(18)).collect();
            let changes: Vec<Change> = new
                .iter()
                .map(|text| put(&project, &ids, text))
                .collect::<Outcome<_>>()?;
            store.apply(&project, &changes)?;
            texts.extend(new);
            stored += count;
        }
        let rate = texts.len() as f64 / begun.elapsed().as_secs_f64();
        fts.add(&texts)?;
        println!(
            "recall, {size} records: {rate:.0} records/s written with words and vector, in batches of 200"
        );
        ask(&store, &project, size, &mut dice, &fts)?;
        write(&store, &project, &ids, size, &mut dice)?;
    }
    // What it is compared with is not its memory.
    drop(fts);
    let mb = store.describe()?.size_bytes as f64 / 1e6;
    println!("store with words and vectors, {stored} records   {mb:8.1} MB");
    println!(
        "resident memory of this process          {:8.1} MB",
        resident_mb()
    );
    if only != Some("recall-million") {
        whole(&mut dice)?;
    }
    Ok(())
}

fn now() -> Outcome<Timestamp> {
    Ok("2026-05-01T10:00:00Z".parse()?)
}

fn put(project: &ProjectName, ids: &IdSource, text: &str) -> Outcome<Change> {
    let now = now()?;
    let record = Record {
        project: project.clone(),
        id: ids.next(now),
        kind: Kind::Note,
        key: None,
        text: text.to_owned(),
        attrs: Attrs::new(),
        scope: Scope::default(),
        source: "user".to_owned(),
        confidence: Confidence::FULL,
        tokens: 20,
        recorded_at: now,
        true_from: None,
        true_to: None,
        retired_at: None,
        replaced_by: None,
        expires_at: None,
    };
    Ok(Change::Put {
        record: Box::new(record),
        merge: Merge::Keep,
    })
}

fn ask(
    store: &SqliteStore,
    project: &ProjectName,
    size: usize,
    dice: &mut Dice,
    fts: &Fts5,
) -> Outcome<()> {
    let warming = dice.prompts(QUESTIONS);
    let prompts = dice.prompts(QUESTIONS);
    let filter = Filter::current(&[], now()?);
    for (name, with_meaning) in [("words", false), ("words and meaning", true)] {
        let mut times: Vec<Duration> = Vec::new();
        for (n, prompt) in warming.iter().chain(&prompts).enumerate() {
            let start = Instant::now();
            let search = Search {
                words: Some(Question::of(prompt)),
                meaning: with_meaning.then(|| prompt.clone()),
                vector: None,
                filter: filter.clone(),
                each: 50,
            };
            let found = store.search(project, &search)?;
            assert!(!found.hits.is_empty());
            // Others come first: a warm process has been asked before, though not the same.
            if n >= QUESTIONS {
                times.push(start.elapsed());
            }
        }
        Times::of(&times).print(&format!("recall by {name}, {size} records"));
    }
    let mut times = Vec::new();
    for prompt in prompts
        .iter()
        .take(if size > 50_000 { 40 } else { QUESTIONS })
    {
        let start = Instant::now();
        let found = fts.ask(prompt.split(' '), 50)?.len();
        assert!(found > 0);
        times.push(start.elapsed());
    }
    Times::of(&times).print(&format!("  FTS5, OR of all words, {size} records"));
    Ok(())
}

/// All that a caller gets: the ten best, read, ranked and folded.
fn whole(dice: &mut Dice) -> Outcome<()> {
    let root = tempfile::tempdir()?;
    let engine = probe::engine(root.path())?;
    let records = SIZES.into_iter().max().unwrap_or(0);
    probe::fill_with(&engine, 0, records, &mut |_| dice.text(18))?;
    let mut times = Vec::new();
    for (n, question) in dice.prompts(2 * QUESTIONS).into_iter().enumerate() {
        let start = Instant::now();
        let request = RecallRequest {
            question,
            ..RecallRequest::default()
        };
        assert!(!engine.recall(&request)?.hits.is_empty());
        if n >= QUESTIONS {
            times.push(start.elapsed());
        }
    }
    Times::of(&times).print(&format!(
        "recall, read, ranked and folded, {records} records"
    ));
    Ok(())
}

fn write(
    store: &SqliteStore,
    project: &ProjectName,
    ids: &IdSource,
    size: usize,
    dice: &mut Dice,
) -> Outcome<()> {
    let mut times = Vec::new();
    for _ in 0..WRITES {
        let change = put(project, ids, &dice.text(18))?;
        let start = Instant::now();
        store.apply(project, &[change])?;
        times.push(start.elapsed());
    }
    Times::of(&times).print(&format!("durable write with index, {size} records"));
    Ok(())
}
