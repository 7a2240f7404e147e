//! What keeping a memory safe costs: a checked backup, a look at everything, an undo; and how large a store is.

use crate::stats::Times;
use crate::{Outcome, probe};
use heirloom_engine::{Engine, NewRecord};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Records in the store.
const RECORDS: usize = 100_000;
/// Runs of each command.
const RUNS: usize = 7;
/// Undone writes.
const UNDONE: usize = 300;

pub(crate) fn measure(heirloom: Option<&Path>) -> Outcome<()> {
    let root = tempfile::tempdir()?;
    let engine = probe::engine(root.path())?;
    for from in (0..RECORDS).step_by(1_000) {
        let news = (from..from + 1_000).map(new).collect();
        engine.remember_all(news)?;
    }
    undo(&engine)?;
    let mb = engine.describe_store()?.size_bytes as f64 / 1e6;
    println!(
        "store, {RECORDS} records of 120 characters   {mb:8.1} MB, indexes and journal included"
    );
    drop(engine);
    let file = std::fs::metadata(root.path().join(".heirloom/heirloom.db"))?.len() as f64 / 1e6;
    println!("  the file alone, closed                 {file:8.1} MB");
    let Some(heirloom) = heirloom else {
        return Ok(());
    };
    let copy = root.path().join("copy.db");
    let copy = copy.display().to_string();
    for args in [&["backup", &copy][..], &["doctor"], &["restore", &copy]] {
        let mut times = Vec::new();
        for _ in 0..RUNS {
            times.push(run(heirloom, root.path(), args)?);
        }
        Times::of(&times).print(&format!("heirloom {}, {RECORDS} records", args[0]));
    }
    Ok(())
}

fn new(number: usize) -> NewRecord {
    NewRecord {
        text: probe::text(number),
        ..NewRecord::default()
    }
}

fn undo(engine: &Engine) -> Outcome<()> {
    let (mut written, mut undone) = (Vec::new(), Vec::new());
    for number in 0..UNDONE {
        let start = Instant::now();
        let id = engine.remember(new(RECORDS + number))?.id;
        written.push(start.elapsed());
        let start = Instant::now();
        engine.undo(id)?;
        undone.push(start.elapsed());
    }
    Times::of(&written).print("remember, durable");
    Times::of(&undone).print("undo of it");
    Ok(())
}

fn run(heirloom: &Path, project: &Path, args: &[&str]) -> Outcome<Duration> {
    let start = Instant::now();
    let done = Command::new(heirloom)
        .args(args)
        .current_dir(project)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()?;
    if !done.success() {
        return Err(format!("heirloom {} ended with {done}", args.join(" ")).into());
    }
    Ok(start.elapsed())
}
