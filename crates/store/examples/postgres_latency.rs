//! Measures writes and searches over PostgreSQL.
//!
//! usage: `postgres_latency URL RECORDS`; the database at `URL` is empty, or its schema is in `search_path`.

#![expect(clippy::print_stdout, reason = "a measurement prints its figures")]

use heirloom_model::record::Attrs;
use heirloom_model::{
    Confidence, IdSource, Kind, MergeRule, ProjectName, Record, Scope, Timestamp, clock,
};
use heirloom_search::index::tokenizer::QueryTerms;
use heirloom_store::{
    AddressSources, Change, Filter, Lane, PostgresAddress, PostgresStore, SearchQuery, Store,
    StoreError,
};
use std::error::Error;
use std::thread;
use std::time::{Duration, Instant};

/// Calls of one measurement.
const CALLS: usize = 400;
/// Threads of a measurement under load.
const THREADS: usize = 32;

const WORDS: [&str; 16] = [
    "deployment",
    "service",
    "failed",
    "night",
    "database",
    "migration",
    "lock",
    "timeout",
    "retry",
    "cache",
    "index",
    "token",
    "login",
    "gateway",
    "release",
    "branch",
];

fn change(ids: &IdSource, project: &ProjectName, number: usize, key: usize) -> Change {
    let at = at(number);
    let word = |n: usize| {
        WORDS
            .get((number / (n + 1) + n * number) % WORDS.len())
            .copied()
    };
    let words: Vec<&str> = (0..30).filter_map(word).collect();
    Change::Put {
        record: Box::new(Record {
            project: project.clone(),
            id: ids.next(at),
            kind: Kind::Note,
            key: Some(format!("key {key}")),
            text: format!("{number} {}", words.join(" ")),
            attrs: Attrs::new(),
            scope: Scope::default(),
            source: "user".to_owned(),
            confidence: Confidence::FULL,
            tokens: 40,
            recorded_at: at,
            true_from: None,
            true_to: None,
            retired_at: None,
            replaced_by: None,
            expires_at: None,
        }),
        merge: MergeRule::Replace,
    }
}

fn at(number: usize) -> Timestamp {
    let number = i64::try_from(number).unwrap_or(i64::MAX);
    clock::from_micros(1_777_629_600_000_000 + number * 1_000)
}

/// Calls `work` several times and prints the percentiles of its duration and the round trips of a call.
fn measure(
    store: &PostgresStore,
    name: &str,
    calls: usize,
    mut work: impl FnMut(usize) -> Result<(), StoreError>,
) -> Result<(), StoreError> {
    let before = store.round_trips();
    let mut times = Vec::with_capacity(calls);
    for number in 0..calls {
        let begin = Instant::now();
        work(number)?;
        times.push(begin.elapsed());
    }
    let trips = (store.round_trips() - before) as f64 / calls as f64;
    print_times(name, &mut times);
    println!("  {trips:.2} round trips a call");
    Ok(())
}

fn print_times(name: &str, times: &mut [Duration]) {
    times.sort_unstable();
    let at = |part: usize| {
        times
            .get(times.len() * part / 100)
            .copied()
            .unwrap_or_default()
    };
    println!("{name}: p50 {:?}, p99 {:?}", at(50), at(99));
}

/// Writes with several threads; prints the rate and the percentiles.
fn load(store: &PostgresStore, name: &str, projects: usize) -> Result<(), StoreError> {
    let ids = IdSource::default();
    let begin = Instant::now();
    let all: Result<Vec<Vec<Duration>>, StoreError> = thread::scope(|scope| {
        let ids = &ids;
        let write = |thread: usize| {
            move || {
                let project = ProjectName::new(&format!("{name}-{}", thread % projects));
                let project = project.map_err(|bad| StoreError::Invalid(bad.to_string()))?;
                (0..CALLS / 4)
                    .map(|number| {
                        let number = thread * CALLS + number;
                        let begin = Instant::now();
                        store.apply(&project, &[change(ids, &project, number, number)])?;
                        Ok(begin.elapsed())
                    })
                    .collect::<Result<Vec<_>, StoreError>>()
            }
        };
        let threads: Vec<_> = (0..THREADS)
            .map(|thread| scope.spawn(write(thread)))
            .collect();
        let joined = threads.into_iter().map(|thread| {
            let panicked = |_| Err(StoreError::Backend("a thread panicked".to_owned()));
            thread.join().unwrap_or_else(panicked)
        });
        joined.collect()
    });
    let mut times: Vec<Duration> = all?.into_iter().flatten().collect();
    let rate = times.len() as f64 / begin.elapsed().as_secs_f64();
    print_times(&format!("{THREADS} threads, {name}"), &mut times);
    println!("  {rate:.0} writes a second");
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [url, records] = &args[..] else {
        return Err("usage: postgres_latency URL RECORDS".into());
    };
    let records: usize = records.parse()?;
    let address = PostgresAddress::parse(url, &AddressSources::default())?;
    let store = PostgresStore::create(&address)?;
    let ids = IdSource::default();
    let project = ProjectName::new("measured")?;
    let all: Vec<Change> = (0..records).map(|n| change(&ids, &project, n, n)).collect();
    let begin = Instant::now();
    for chunk in all.chunks(2_000) {
        store.apply(&project, chunk)?;
    }
    println!("{records} records written in {:?}", begin.elapsed());
    measure(&store, "new record", CALLS, |n| {
        let n = records + n;
        store
            .apply(&project, &[change(&ids, &project, n, n)])
            .map(drop)
    })?;
    measure(&store, "replaced record", CALLS, |n| {
        let change = change(&ids, &project, 2 * records + n, n);
        store.apply(&project, &[change]).map(drop)
    })?;
    measure(&store, "20 new records", CALLS / 10, |n| {
        let first = 3 * records + 20 * n;
        let changes: Vec<Change> = (first..first + 20)
            .map(|n| change(&ids, &project, n, n))
            .collect();
        store.apply(&project, &changes).map(drop)
    })?;
    load(&store, "one project", 1)?;
    load(&store, "own projects", THREADS)?;
    let search = |store: &PostgresStore, n: usize| {
        let words = [n % 16, (n + 5) % 16, (n + 9) % 16].map(|n| WORDS.get(n).copied());
        let words: Vec<&str> = words.into_iter().flatten().collect();
        let search = SearchQuery {
            words: Some(QueryTerms::of(&words.join(" "))),
            semantic_text: Some(words.join(" ")),
            vector: None,
            sentence: None,
            filter: Filter::current(&[], at(9_000_000)),
            lane: Lane::Memory,
            key_filters: Vec::new(),
            limit_per_arm: 50,
        };
        store.search(&project, &search).map(drop)
    };
    measure(&store, "search, first of a process", 10, |n| {
        search(&PostgresStore::connect(&address)?, n)
    })?;
    let store = PostgresStore::connect(&address)?;
    for n in 0..20 {
        search(&store, n)?;
    }
    measure(&store, "warm search", CALLS, |n| search(&store, n))?;
    Ok(())
}
