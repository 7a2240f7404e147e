//! What grows with the store, and how: one store that is filled further and further, measured at each size, drawn.

use crate::dice::Dice;
use crate::plot::{Line, Plot};
use crate::stats::{Times, resident_mb};
use crate::{Outcome, probe};
use heirloom_engine::{Arms, ContextRequest, Engine, RecallRequest};
use std::path::Path;
use std::process::Command;
use std::time::Instant;

/// Records in the store when it is measured.
const SIZES: [usize; 7] = [1_000, 3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000];
/// Words of a text: about 120 characters.
const WORDS: usize = 19;
/// Questions of each sort, contexts, and durable writes.
const RUNS: usize = 200;
/// Questions that are asked before the clock counts.
const WARM: usize = 20;
/// Questions of a process whose memory is looked at.
const ASKED: usize = 50;
/// Where the pictures go.
const PLOTS: &str = "docs/plots";

/// What was measured at one size.
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
    drop(probe::engine(root.path())?);
    let (mut dice, mut stored, mut rows) = (Dice(11), 0, Vec::new());
    let mut characters = 0;
    for size in SIZES.into_iter().filter(|size| *size <= to) {
        let engine = probe::reopened(root.path())?;
        let begun = Instant::now();
        probe::fill_with(&engine, stored, size, &mut |_| {
            let text = dice.text(WORDS);
            characters += text.len();
            text
        })?;
        let rate = size.saturating_sub(stored) as f64 / begun.elapsed().as_secs_f64();
        eprintln!("growth: {size} records, filled at {rate:.0} a second");
        drop(engine);
        rows.push(at(root.path(), size, &mut dice)?);
        stored = size.max(stored) + RUNS;
    }
    print(&rows, characters / stored.max(1));
    if rows.len() > 1 {
        draw(&rows, plots.unwrap_or(Path::new(PLOTS)))?;
    }
    Ok(())
}

/// Everything at one size; adds [`RUNS`] records.
fn at(root: &Path, records: usize, dice: &mut Dice) -> Outcome<Row> {
    let store_mb = std::fs::metadata(root.join(".heirloom/heirloom.db"))?.len() as f64 / 1e6;
    let resident_mb = resident_of_another(root)?;
    let engine = probe::reopened(root)?;
    let prompts = dice.prompts(RUNS);
    Ok(Row {
        records,
        store_mb,
        resident_mb,
        context: contexts(&engine)?,
        words: questions(&engine, &prompts, Arms::Words)?,
        both: questions(&engine, &prompts, Arms::Both)?,
        remember: writes(&engine, records, dice)?,
    })
}

fn question(engine: &Engine, prompt: &str, arms: Arms) -> Outcome<()> {
    let recalled = engine.recall(&RecallRequest {
        question: prompt.to_owned(),
        arms,
        ..RecallRequest::default()
    })?;
    assert!(!recalled.hits.is_empty(), "nothing was recalled");
    Ok(())
}

fn questions(engine: &Engine, prompts: &[String], arms: Arms) -> Outcome<Times> {
    for prompt in prompts.iter().take(WARM) {
        question(engine, prompt, arms)?;
    }
    let mut times = Vec::new();
    for prompt in prompts {
        let start = Instant::now();
        question(engine, prompt, arms)?;
        times.push(start.elapsed());
    }
    Ok(Times::of(&times))
}

fn contexts(engine: &Engine) -> Outcome<Times> {
    let request = ContextRequest {
        task: Some("7".to_owned()),
        ..ContextRequest::default()
    };
    let mut times = Vec::new();
    for run in 0..WARM + RUNS {
        let start = Instant::now();
        let context = engine.context(&request)?;
        assert!(!context.text.is_empty(), "the context is empty");
        if run >= WARM {
            times.push(start.elapsed());
        }
    }
    Ok(Times::of(&times))
}

fn writes(engine: &Engine, records: usize, dice: &mut Dice) -> Outcome<Times> {
    let mut times = Vec::new();
    for number in 0..RUNS {
        let new = probe::record(records + number, dice.text(WORDS));
        let start = Instant::now();
        engine.remember(new)?;
        times.push(start.elapsed());
    }
    Ok(Times::of(&times))
}

/// Opens a store, asks, and says how much memory that took; nothing else.
pub(crate) fn resident(root: &Path) -> Outcome<()> {
    let engine = probe::reopened(root)?;
    for prompt in Dice(13).prompts(ASKED) {
        question(&engine, &prompt, Arms::Both)?;
    }
    println!("{}", resident_mb());
    Ok(())
}

/// The memory of a process that did nothing but open the store and ask.
fn resident_of_another(root: &Path) -> Outcome<f64> {
    let output = Command::new(std::env::current_exe()?)
        .args(["--only", &format!("growth-resident={}", root.display())])
        .output()?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned().into());
    }
    Ok(String::from_utf8_lossy(&output.stdout).trim().parse()?)
}

fn print(rows: &[Row], characters: usize) {
    println!(
        "Medians, the 99th percentile in brackets, milliseconds; texts of {characters} characters, prompts of 20 to 60 words."
    );
    println!();
    println!(
        "| records | recall by words | by words and meaning | durable remember | context | store, MB | resident, MB |"
    );
    println!("|---|---|---|---|---|---|---|");
    for row in rows {
        let times = [&row.words, &row.both, &row.remember, &row.context];
        let times = times.map(|times| format!("{:.2} ({:.2})", times.p50(), times.p99()));
        println!(
            "| {} | {} | {:.1} | {:.1} |",
            thousands(row.records),
            times.join(" | "),
            row.store_mb,
            row.resident_mb
        );
    }
    println!();
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

fn line(name: &str, rows: &[Row], value: impl Fn(&Row) -> f64) -> Line {
    Line {
        name: name.to_owned(),
        points: rows
            .iter()
            .map(|row| (row.records as f64, value(row)))
            .collect(),
    }
}

fn draw(rows: &[Row], folder: &Path) -> Outcome<()> {
    if !folder.is_dir() {
        heirloom_store::durable::create_dir_private(folder)?;
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
            line("recall, both arms", rows, |row| row.both.p50()),
            line("recall by words", rows, |row| row.words.p50()),
            line("context", rows, |row| row.context.p50()),
            line("durable remember", rows, |row| row.remember.p50()),
        ],
    );
    let size = plot(
        "Store and memory",
        "megabytes",
        vec![
            line("store, closed", rows, |row| row.store_mb),
            line("resident memory", rows, |row| row.resident_mb),
        ],
    );
    for (name, plot) in [("time.svg", time), ("size.svg", size)] {
        let file = folder.join(name);
        heirloom_store::durable::write_atomic(&file, plot.svg().as_bytes())?;
        println!("drawn: {}", file.display());
    }
    Ok(())
}
