//! What vectors cost: the first one of a process, many on one core, a question, and a scan of all that are stored.

use crate::stats::Times;
use crate::{Outcome, probe};
use heirloom_index::pieces::{PieceCounts, count_in};
use heirloom_index::vector::{Document, Question, Vector};
use std::hint::black_box;
use std::process::Command;
use std::time::{Duration, Instant};

/// Processes that are started for the first vector.
const PROCESSES: usize = 40;
/// Short texts of one run, of about 120 characters each.
const TEXTS: usize = 20_000;
/// Rows that are scanned.
const ROWS: usize = 100_000;
/// Runs over all texts, over all rows, and of the question.
const RUNS: usize = 100;

pub(crate) fn measure() -> Outcome<()> {
    first()?;
    let texts: Vec<String> = (0..TEXTS).map(probe::text).collect();
    let mut counts = PieceCounts::default();
    let mut packed = Vec::new();
    let mut best = f64::MAX;
    for _ in 0..5 {
        counts = PieceCounts::default();
        packed.clear();
        let start = Instant::now();
        for document in texts.iter().filter_map(|text| Document::of(text)) {
            counts.add(&document.distinct);
            packed.extend_from_slice(&document.vector.to_bytes());
        }
        best = best.min(start.elapsed().as_secs_f64());
    }
    let characters: usize = texts.iter().map(String::len).sum();
    println!(
        "embed, texts of {:3} characters           {:8.0} texts/s",
        characters / TEXTS,
        TEXTS as f64 / best
    );
    scan(&counts.to_bytes(), &packed);
    Ok(())
}

/// The first vector of this process, in nanoseconds; nothing else.
pub(crate) fn first_vector() {
    let text = probe::text(1);
    let start = Instant::now();
    black_box(Vector::of_document(&text));
    println!("{}", start.elapsed().as_nanos());
}

fn first() -> Outcome<()> {
    let mut times = Vec::new();
    for _ in 0..PROCESSES {
        let output = Command::new(std::env::current_exe()?)
            .args(["--only", "embed-first"])
            .output()?;
        let said = String::from_utf8_lossy(&output.stdout);
        times.push(Duration::from_nanos(said.trim().parse()?));
    }
    Times::of(&times).print("embed, first text of a process");
    Ok(())
}

fn scan(counts: &[u8], some: &[u8]) {
    let row = some.len() / TEXTS;
    let packed: Vec<u8> = some.iter().copied().cycle().take(row * ROWS).collect();
    let text = probe::text(7);
    let (mut asking, mut scanning) = (Vec::new(), Vec::new());
    let mut scores = Vec::with_capacity(ROWS);
    for _ in 0..RUNS {
        let start = Instant::now();
        let question = Question::of(&text, TEXTS as u32, |piece| count_in(counts, piece));
        asking.push(start.elapsed());
        scores.clear();
        let start = Instant::now();
        if let Some(question) = question {
            question.scores(black_box(&packed), &mut scores);
        }
        scanning.push(start.elapsed());
        black_box(&scores);
    }
    Times::of(&asking).print("embed, a question with rarities");
    Times::of(&scanning).print(&format!("embed, scan of {} vectors", scores.len()));
}
