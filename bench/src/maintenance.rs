//! Cost of maintenance: a checked backup, an integrity check, a restore, an undo; and the size of a store.

use crate::stats::Times;
use crate::{Outcome, fixture, results};
use heirloom_engine::{Engine, NewRecord};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Number of records in the store.
const RECORDS: usize = 100_000;
/// Number of runs of each command.
const RUNS: usize = 7;
/// Number of writes that are undone.
const UNDONE: usize = 300;

pub(crate) fn measure(heirloom: Option<&Path>) -> Outcome<()> {
    let root = tempfile::tempdir()?;
    let engine = fixture::engine(root.path())?;
    for from in (0..RECORDS).step_by(1_000) {
        let batch = (from..from + 1_000).map(new_record).collect();
        engine.records().remember_all(batch)?;
    }
    time_undo(&engine)?;
    let mb = engine.maintenance().describe_store()?.size_bytes as f64 / 1e6;
    let name = format!("store, {RECORDS} records of 120 characters, with journal");
    results::value("maintenance.store", &name, "MB", mb);
    drop(engine);
    let file = std::fs::metadata(root.path().join(".heirloom/heirloom.db"))?.len() as f64 / 1e6;
    results::value("maintenance.file", "store file, closed", "MB", file);
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
        let id = format!("maintenance.{}", args[0]);
        let name = format!("heirloom {}, {RECORDS} records", args[0]);
        results::times(&id, &name, &Times::of(&times));
    }
    Ok(())
}

fn new_record(number: usize) -> NewRecord {
    NewRecord {
        text: fixture::text(number),
        ..NewRecord::default()
    }
}

fn time_undo(engine: &Engine) -> Outcome<()> {
    let (mut written, mut undone) = (Vec::new(), Vec::new());
    for number in 0..UNDONE {
        let start = Instant::now();
        let id = engine.records().remember(new_record(RECORDS + number))?.id;
        written.push(start.elapsed());
        let start = Instant::now();
        engine.records().undo(id)?;
        undone.push(start.elapsed());
    }
    results::times_with_yardstick(
        "maintenance.undo",
        "undo",
        &Times::of(&undone),
        ("durable remember", &Times::of(&written)),
    );
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
