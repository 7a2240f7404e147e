//! Searching: by words, by words and meaning, and what it costs to write what is found; beside SQLite's FTS5.

use crate::Outcome;
use crate::stats::Times;
use heirloom_index::words::Question;
use heirloom_model::{
    Confidence, IdSource, Kind, Merge, ProjectName, Record, Scope, Timestamp, record::Attrs,
};
use heirloom_store::{Change, Filter, Search, SqliteStore, Store};
use rusqlite::Connection;
use std::path::Path;
use std::time::{Duration, Instant};

/// Records in the store when questions are asked.
const SIZES: [usize; 2] = [10_000, 100_000];
/// A size that takes minutes to fill: with `--only recall-million`.
const MILLION: usize = 1_000_000;
/// Questions of each sort.
const QUESTIONS: usize = 200;
/// Words that texts are made of; the n-th is said 1/n as often as the first.
const VOCABULARY: usize = 30_000;
/// Durable single writes that are timed.
const WRITES: usize = 600;

/// Numbers that look random and are the same every time (splitmix64).
struct Dice(u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A word of the vocabulary, by Zipf's law.
    fn word(&mut self) -> String {
        let uniform = (self.next() >> 11) as f64 / (1_u64 << 53) as f64;
        let rank = ((VOCABULARY as f64).powf(uniform)) as usize;
        syllables(rank)
    }

    fn text(&mut self, words: usize) -> String {
        let words: Vec<String> = (0..words).map(|_| self.word()).collect();
        words.join(" ")
    }
}

/// A word for a number, which the stemmer leaves alone.
fn syllables(mut number: usize) -> String {
    const PARTS: [&str; 16] = [
        "ba", "ko", "du", "fi", "gra", "hu", "jo", "lak", "mo", "nu", "pi", "ro", "tam", "vo",
        "wu", "zo",
    ];
    let mut word = String::new();
    loop {
        word.push_str(PARTS.get(number % 16).copied().unwrap_or("x"));
        number /= 16;
        if number == 0 {
            return word;
        }
    }
}

pub(crate) fn measure(only: Option<&str>) -> Outcome<()> {
    let sizes = match only {
        Some("recall-million") => vec![MILLION],
        _ => SIZES.to_vec(),
    };
    let root = tempfile::tempdir()?;
    let store = SqliteStore::create(&root.path().join("heirloom.db"))?;
    let fts = fts5(&root.path().join("fts5.db"))?;
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
        fill_fts5(&fts, &texts)?;
        println!(
            "recall, {size} records: {rate:.0} records/s written with words and vector, in batches of 200"
        );
        ask(&store, &project, size, &mut dice, &fts)?;
        write(&store, &project, &ids, size, &mut dice)?;
    }
    let mb = store.describe()?.size_bytes as f64 / 1e6;
    println!("store with words and vectors, {stored} records   {mb:8.1} MB");
    println!(
        "resident memory of this process          {:8.1} MB",
        resident_mb()
    );
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
    fts: &Connection,
) -> Outcome<()> {
    let prompts: Vec<String> = (0..QUESTIONS).map(|n| dice.text(20 + n % 41)).collect();
    let filter = Filter::current(&[], now()?);
    for (name, with_meaning) in [("words", false), ("words and meaning", true)] {
        let mut times: Vec<Duration> = Vec::new();
        for (n, prompt) in prompts.iter().cycle().take(QUESTIONS + 20).enumerate() {
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
            // The first warm the caches.
            if n >= 20 {
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
        let asked: Vec<String> = prompt
            .split(' ')
            .map(|word| format!("\"{word}\""))
            .collect();
        let start = Instant::now();
        let mut statement = fts.prepare_cached(
            "SELECT rowid FROM texts WHERE texts MATCH ?1 ORDER BY rank LIMIT 50",
        )?;
        let found = statement
            .query_map([asked.join(" OR ")], |row| row.get::<_, i64>(0))?
            .count();
        assert!(found > 0);
        times.push(start.elapsed());
    }
    Times::of(&times).print(&format!("  FTS5, OR of all words, {size} records"));
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

fn fts5(path: &Path) -> Outcome<Connection> {
    let connection = Connection::open(path)?;
    connection.execute_batch(
        "PRAGMA journal_mode = WAL; CREATE VIRTUAL TABLE texts USING fts5(text, tokenize = 'porter unicode61')",
    )?;
    Ok(connection)
}

fn fill_fts5(connection: &Connection, texts: &[String]) -> Outcome<()> {
    connection.execute_batch("BEGIN")?;
    let mut insert = connection.prepare("INSERT INTO texts (text) VALUES (?1)")?;
    for text in texts {
        insert.execute([text])?;
    }
    drop(insert);
    connection.execute_batch("COMMIT")?;
    Ok(())
}

fn resident_mb() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kb = line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<f64>().ok());
    kb.unwrap_or(0.0) / 1e3
}
