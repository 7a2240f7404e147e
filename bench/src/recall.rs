//! Cost of search by words and by words and vectors, and of the indexed write; compared with SQLite's FTS5.

use crate::fts5::Fts5;
use crate::stats::{Times, resident_mb};
use crate::zipf::ZipfGenerator;
use crate::{Outcome, fixture, results};
use heirloom_engine::RecallRequest;
use heirloom_model::{
    Confidence, IdSource, Kind, MergeRule, ProjectName, Record, Scope, Timestamp, record::Attrs,
};
use heirloom_search::index::tokenizer::QueryTerms;
use heirloom_store::{Change, Filter, Lane, SearchQuery, SqliteStore, Store};
use std::time::{Duration, Instant};

/// Numbers of records in the store at which queries are run.
const SIZES: [usize; 2] = [10_000, 100_000];
/// Size that takes minutes to fill: only with `--only recall-million`.
const MILLION: usize = 1_000_000;
/// Number of queries of each kind.
const QUESTIONS: usize = 200;
/// Number of durable single writes that are timed.
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
    let mut generator = ZipfGenerator(7);
    let mut stored = 0;
    for size in sizes {
        let started = Instant::now();
        let mut texts = Vec::new();
        while stored < size {
            let count = (size - stored).min(200);
            let new: Vec<String> = (0..count).map(|_| generator.text(18)).collect();
            let changes: Vec<Change> = new
                .iter()
                .map(|text| note_change(&project, &ids, text))
                .collect::<Outcome<_>>()?;
            store.apply(&project, &changes)?;
            texts.extend(new);
            stored += count;
        }
        let rate = texts.len() as f64 / started.elapsed().as_secs_f64();
        fts.add(&texts)?;
        let suffix = fixture::size_suffix(size);
        let name = format!("writes with words and vector in batches of 200, {size} records");
        results::value(&format!("recall.fill_{suffix}"), &name, "records/s", rate);
        time_searches(&store, &project, size, &mut generator, &fts)?;
        let bare = Times::of(&fixture::bare_syncs(root.path(), WRITES)?);
        time_writes(&store, &project, &ids, (size, &bare), &mut generator)?;
    }
    // The baseline's memory must not count.
    drop(fts);
    let mb = store.describe()?.size_bytes as f64 / 1e6;
    let suffix = fixture::size_suffix(stored);
    let name = format!("store with words and vectors, {stored} records");
    results::value(&format!("recall.store_{suffix}"), &name, "MB", mb);
    let name = format!("resident memory after the searches, {stored} records");
    results::value(
        &format!("recall.resident_{suffix}"),
        &name,
        "MB",
        resident_mb(),
    );
    if only != Some("recall-million") {
        time_recall(&mut generator)?;
    }
    Ok(())
}

fn now() -> Outcome<Timestamp> {
    Ok("2026-05-01T10:00:00Z".parse()?)
}

fn note_change(project: &ProjectName, ids: &IdSource, text: &str) -> Outcome<Change> {
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
        merge: MergeRule::Keep,
    })
}

fn time_searches(
    store: &SqliteStore,
    project: &ProjectName,
    size: usize,
    generator: &mut ZipfGenerator,
    fts: &Fts5,
) -> Outcome<()> {
    let warming = generator.prompts(QUESTIONS);
    let prompts = generator.prompts(QUESTIONS);
    let filter = Filter::current(&[], now()?);
    let suffix = fixture::size_suffix(size);
    for (id, name, with_meaning) in [
        ("words", "words", false),
        ("both", "words and meaning", true),
    ] {
        let mut times: Vec<Duration> = Vec::new();
        for (n, prompt) in warming.iter().chain(&prompts).enumerate() {
            let start = Instant::now();
            let search = SearchQuery {
                words: Some(QueryTerms::of(prompt)),
                semantic_text: with_meaning.then(|| prompt.clone()),
                vector: None,
                sentence: None,
                filter: filter.clone(),
                lane: Lane::Memory,
                key_filters: Vec::new(),
                limit_per_arm: 50,
            };
            let found = store.search(project, &search)?;
            assert!(!found.hits.is_empty());
            // Other queries come first: a warm process has answered queries, though not the same ones.
            if n >= QUESTIONS {
                times.push(start.elapsed());
            }
        }
        let name = format!("search by {name}, {size} records");
        results::times(&format!("recall.{id}_{suffix}"), &name, &Times::of(&times));
    }
    let mut times = Vec::new();
    for prompt in prompts
        .iter()
        .take(if size > 50_000 { 40 } else { QUESTIONS })
    {
        let start = Instant::now();
        let found = fts.search(prompt.split(' '), 50)?.len();
        assert!(found > 0);
        times.push(start.elapsed());
    }
    let name = format!("FTS5, OR of all words, {size} records");
    results::times(&format!("recall.fts5_{suffix}"), &name, &Times::of(&times));
    Ok(())
}

/// Measures a whole recall: the ten best hits, loaded, ranked and deduplicated.
fn time_recall(generator: &mut ZipfGenerator) -> Outcome<()> {
    let root = tempfile::tempdir()?;
    let engine = fixture::engine(root.path())?;
    let records = SIZES.into_iter().max().unwrap_or(0);
    fixture::fill_with(&engine, 0, records, &mut |_| generator.text(18))?;
    let mut times = Vec::new();
    for (n, question) in generator.prompts(2 * QUESTIONS).into_iter().enumerate() {
        let start = Instant::now();
        let request = RecallRequest {
            question,
            min_relevance: Some(0.0),
            ..RecallRequest::default()
        };
        assert!(!engine.recall().search(&request)?.hits.is_empty());
        if n >= QUESTIONS {
            times.push(start.elapsed());
        }
    }
    let name = format!("recall of the ten best, {records} records");
    results::times("recall.ten_best_100k", &name, &Times::of(&times));
    Ok(())
}

fn time_writes(
    store: &SqliteStore,
    project: &ProjectName,
    ids: &IdSource,
    (size, bare): (usize, &Times),
    generator: &mut ZipfGenerator,
) -> Outcome<()> {
    let mut times = Vec::new();
    for _ in 0..WRITES {
        let change = note_change(project, ids, &generator.text(18))?;
        let start = Instant::now();
        store.apply(project, &[change])?;
        times.push(start.elapsed());
    }
    let suffix = fixture::size_suffix(size);
    let name = format!("durable write with words and vector, {size} records");
    results::times_with_yardstick(
        &format!("recall.write_{suffix}"),
        &name,
        &Times::of(&times),
        ("4 KB write and sync", bare),
    );
    Ok(())
}
