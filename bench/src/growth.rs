//! Growth of latency and size with the store: one store, measured at increasing sizes, and plotted.

use crate::plot::{Line, Plot};
use crate::stats::{Times, resident_mb};
use crate::zipf::ZipfGenerator;
use crate::{Outcome, fixture, results};
use heirloom_engine::{ContextRequest, Engine, RecallRequest, RetrievalMode};
use std::path::Path;
use std::process::Command;
use std::time::Instant;

/// Numbers of records at which the store is measured.
const SIZES: [usize; 7] = [1_000, 3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000];
/// Number of words of a text: about 120 characters.
const WORDS: usize = 19;
/// Number of queries of each kind, of contexts, and of durable writes.
const RUNS: usize = 200;
/// Number of warm-up queries, which are not timed.
const WARM: usize = 20;
/// Number of queries of a process whose memory is measured.
const RESIDENT_QUERIES: usize = 50;
/// Default folder of the plots.
const PLOTS: &str = "docs/plots";

/// Measurements at one size.
struct Row {
    records: usize,
    words: Times,
    both: Times,
    remember: Times,
    context: Times,
    store_mb: f64,
    resident_mb: f64,
}

pub(crate) fn measure(to: Option<usize>, plots: Option<&Path>) -> Outcome<()> {
    let to = to.unwrap_or(usize::MAX);
    let root = tempfile::tempdir()?;
    drop(fixture::engine(root.path())?);
    let (mut generator, mut stored, mut rows) = (ZipfGenerator(11), 0, Vec::new());
    let mut characters = 0;
    for size in SIZES.into_iter().filter(|size| *size <= to) {
        let engine = fixture::reopen(root.path())?;
        let started = Instant::now();
        fixture::fill_with(&engine, stored, size, &mut |_| {
            let text = generator.text(WORDS);
            characters += text.len();
            text
        })?;
        let rate = size.saturating_sub(stored) as f64 / started.elapsed().as_secs_f64();
        eprintln!("growth: {size} records, filled at {rate:.0} a second");
        drop(engine);
        rows.push(measure_size(root.path(), size, &mut generator)?);
        stored = size.max(stored) + RUNS;
    }
    print_table(&rows, characters / stored.max(1));
    if rows.len() > 1 {
        draw_plots(&rows, plots.unwrap_or(Path::new(PLOTS)))?;
    }
    Ok(())
}

/// Measures everything at one size; adds [`RUNS`] records.
fn measure_size(root: &Path, records: usize, generator: &mut ZipfGenerator) -> Outcome<Row> {
    let store_mb = std::fs::metadata(root.join(".heirloom/heirloom.db"))?.len() as f64 / 1e6;
    let resident_mb = resident_of_process(root)?;
    let engine = fixture::reopen(root)?;
    let prompts = generator.prompts(RUNS);
    Ok(Row {
        records,
        store_mb,
        resident_mb,
        context: time_contexts(&engine)?,
        words: time_queries(&engine, &prompts, RetrievalMode::Words)?,
        both: time_queries(&engine, &prompts, RetrievalMode::Both)?,
        remember: time_writes(&engine, records, generator)?,
    })
}

fn run_query(engine: &Engine, prompt: &str, arms: RetrievalMode) -> Outcome<()> {
    let recalled = engine.recall().search(&RecallRequest {
        question: prompt.to_owned(),
        mode: arms,
        min_relevance: Some(0.0),
        ..RecallRequest::default()
    })?;
    assert!(!recalled.hits.is_empty(), "nothing was recalled");
    Ok(())
}

fn time_queries(engine: &Engine, prompts: &[String], arms: RetrievalMode) -> Outcome<Times> {
    for prompt in prompts.iter().take(WARM) {
        run_query(engine, prompt, arms)?;
    }
    let mut times = Vec::new();
    for prompt in prompts {
        let start = Instant::now();
        run_query(engine, prompt, arms)?;
        times.push(start.elapsed());
    }
    Ok(Times::of(&times))
}

fn time_contexts(engine: &Engine) -> Outcome<Times> {
    let request = ContextRequest {
        task: Some("7".to_owned()),
        ..ContextRequest::default()
    };
    let mut times = Vec::new();
    for run in 0..WARM + RUNS {
        let start = Instant::now();
        let context = engine.contexts().build(&request)?;
        assert!(!context.text.is_empty(), "the context is empty");
        if run >= WARM {
            times.push(start.elapsed());
        }
    }
    Ok(Times::of(&times))
}

fn time_writes(engine: &Engine, records: usize, generator: &mut ZipfGenerator) -> Outcome<Times> {
    let mut times = Vec::new();
    for number in 0..RUNS {
        let new = fixture::record(records + number, generator.text(WORDS));
        let start = Instant::now();
        engine.records().remember(new)?;
        times.push(start.elapsed());
    }
    Ok(Times::of(&times))
}

/// Opens a store, runs queries, and prints the resident memory of this process in MB.
pub(crate) fn print_resident(root: &Path) -> Outcome<()> {
    let engine = fixture::reopen(root)?;
    for prompt in ZipfGenerator(13).prompts(RESIDENT_QUERIES) {
        run_query(&engine, &prompt, RetrievalMode::Both)?;
    }
    println!("{}", resident_mb());
    Ok(())
}

/// Returns the resident memory of a process that only opens the store and runs queries, in MB.
fn resident_of_process(root: &Path) -> Outcome<f64> {
    let output = Command::new(std::env::current_exe()?)
        .args(["--only", &format!("growth-resident={}", root.display())])
        .output()?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned().into());
    }
    Ok(String::from_utf8_lossy(&output.stdout).trim().parse()?)
}

fn print_table(rows: &[Row], characters: usize) {
    println!(
        "Medians, the 99th percentile in brackets, milliseconds; texts of {characters} characters, prompts of 20 to 60 words."
    );
    println!();
    let columns = [
        "records",
        "recall by words",
        "by words and meaning",
        "durable remember",
        "context",
        "store, MB",
        "resident, MB",
    ];
    let cells = |row: &Row| {
        let times = [&row.words, &row.both, &row.remember, &row.context];
        let times = times.map(|times| format!("{:.2} ({:.2})", times.p50(), times.p99()));
        let mut cells = vec![thousands(row.records)];
        cells.extend(times);
        cells.extend([row.store_mb, row.resident_mb].map(|mb| format!("{mb:.1}")));
        cells
    };
    let rows: Vec<_> = rows.iter().map(cells).collect();
    results::table("growth", &columns, &rows);
}

fn thousands(count: usize) -> String {
    let digits = count.to_string();
    let mut written = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            written.push(',');
        }
        written.push(digit);
    }
    written
}

fn plot_line(name: &str, rows: &[Row], value: impl Fn(&Row) -> f64) -> Line {
    Line {
        name: name.to_owned(),
        points: rows
            .iter()
            .map(|row| (row.records as f64, value(row)))
            .collect(),
    }
}

fn draw_plots(rows: &[Row], folder: &Path) -> Outcome<()> {
    if !folder.is_dir() {
        heirloom_fs::durable::create_dir_private(folder)?;
    }
    let plot = |title: &str, up: &str, lines| Plot {
        title: title.to_owned(),
        across: "records in the store, of about 120 characters".to_owned(),
        up: up.to_owned(),
        lines,
    };
    let time = plot(
        "Time of one call in a warm process",
        "milliseconds, median",
        vec![
            plot_line("recall, both arms", rows, |row| row.both.p50()),
            plot_line("recall by words", rows, |row| row.words.p50()),
            plot_line("context", rows, |row| row.context.p50()),
            plot_line("durable remember", rows, |row| row.remember.p50()),
        ],
    );
    let size = plot(
        "Store and memory",
        "megabytes",
        vec![
            plot_line("store, closed", rows, |row| row.store_mb),
            plot_line("resident memory", rows, |row| row.resident_mb),
        ],
    );
    for (name, plot) in [("time.svg", time), ("size.svg", size)] {
        let file = folder.join(name);
        heirloom_fs::durable::write_atomic(&file, plot.svg().as_bytes())?;
        println!("drawn: {}", file.display());
    }
    Ok(())
}
