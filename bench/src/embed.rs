//! Cost of vectors: the first one of a process, many on one core, a query, and a scan of all stored ones.

use crate::stats::Times;
use crate::{Outcome, fixture, results};
use heirloom_search::index::vector::{EmbeddedDocument, QueryVector, Vector};
use heirloom_search::index::word_pieces::{PieceCounts, count_in};
use std::hint::black_box;
use std::process::Command;
use std::time::{Duration, Instant};

/// Number of processes that are started for the first vector.
const PROCESSES: usize = 40;
/// Number of short texts in one run, of about 120 characters each.
const TEXTS: usize = 20_000;
/// Number of rows that are scanned.
const ROWS: usize = 100_000;
/// Number of runs over all texts, over all rows, and of the query.
const RUNS: usize = 100;

pub(crate) fn measure() -> Outcome<()> {
    measure_first_vector()?;
    let texts: Vec<String> = (0..TEXTS).map(fixture::text).collect();
    let mut counts = PieceCounts::default();
    let mut packed = Vec::new();
    let mut best = f64::MAX;
    for _ in 0..5 {
        counts = PieceCounts::default();
        packed.clear();
        let start = Instant::now();
        for document in texts.iter().filter_map(|text| EmbeddedDocument::of(text)) {
            counts.add(&document.distinct);
            packed.extend_from_slice(&document.vector.to_bytes());
        }
        best = best.min(start.elapsed().as_secs_f64());
    }
    let characters: usize = texts.iter().map(String::len).sum();
    let name = format!("embed, texts of {} characters", characters / TEXTS);
    results::value("embed.rate", &name, "texts/s", TEXTS as f64 / best);
    scan(&counts.to_bytes(), &packed);
    Ok(())
}

/// Prints the time of the first vector of this process, in nanoseconds.
pub(crate) fn first_vector() {
    let text = fixture::text(1);
    let start = Instant::now();
    black_box(Vector::of_document(&text));
    println!("{}", start.elapsed().as_nanos());
}

fn measure_first_vector() -> Outcome<()> {
    let mut times = Vec::new();
    for _ in 0..PROCESSES {
        let output = Command::new(std::env::current_exe()?)
            .args(["--only", "embed-first"])
            .output()?;
        let printed = String::from_utf8_lossy(&output.stdout);
        times.push(Duration::from_nanos(printed.trim().parse()?));
    }
    results::times(
        "embed.first",
        "embed, first text of a process",
        &Times::of(&times),
    );
    Ok(())
}

fn scan(counts: &[u8], sample: &[u8]) {
    let row = sample.len() / TEXTS;
    let packed: Vec<u8> = sample.iter().copied().cycle().take(row * ROWS).collect();
    let text = fixture::text(7);
    let (mut asking, mut scanning) = (Vec::new(), Vec::new());
    let mut scores = Vec::with_capacity(ROWS);
    for _ in 0..RUNS {
        let start = Instant::now();
        let question = QueryVector::of(&text, TEXTS as u32, |piece| count_in(counts, piece));
        asking.push(start.elapsed());
        scores.clear();
        let start = Instant::now();
        if let Some(question) = question {
            question.scores(black_box(&packed), &mut scores);
        }
        scanning.push(start.elapsed());
        black_box(&scores);
    }
    results::times(
        "embed.question",
        "embed, a question with rarities",
        &Times::of(&asking),
    );
    let name = format!("embed, scan of {} vectors", scores.len());
    results::times("embed.scan", &name, &Times::of(&scanning));
}
