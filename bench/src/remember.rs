//! Cost of a durable write, compared with a bare synced write on the same disk in the same run.

use crate::stats::Times;
use crate::{Outcome, fixture, results};
use heirloom_engine::{Engine, NewRecord};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Instant;

/// Numbers of records in the store when a round begins.
const SIZES: [usize; 4] = [0, 1_000, 10_000, 100_000];
/// Number of writes in a round.
const WRITES: usize = 500;

pub(crate) fn measure(heirloom: Option<&Path>) -> Outcome<()> {
    let root = tempfile::tempdir()?;
    let engine = fixture::engine(root.path())?;
    let mut stored = 0;
    for size in SIZES {
        fill_facts(&engine, stored, size)?;
        stored = size;
        let bare = Times::of(&fixture::bare_syncs(root.path(), WRITES)?);
        let mut times = Vec::new();
        for _ in 0..WRITES {
            let new = NewRecord {
                text: fixture::text(stored),
                ..NewRecord::default()
            };
            stored += 1;
            let start = Instant::now();
            engine.records().remember(new)?;
            times.push(start.elapsed());
        }
        let durable = Times::of(&times);
        results::times_with_yardstick(
            &format!("remember.durable_{}", fixture::size_suffix(size)),
            &format!("remember, durable, {size} records"),
            &durable,
            ("4 KB write and sync", &bare),
        );
    }
    let bytes = engine.maintenance().describe_store()?.size_bytes;
    let name = format!("store, {stored} records of 120 characters");
    results::value("remember.store", &name, "MB", bytes as f64 / 1e6);
    if let Some(heirloom) = heirloom {
        measure_stdin(heirloom)?;
    }
    Ok(())
}

fn fill_facts(engine: &Engine, from: usize, to: usize) -> Outcome<()> {
    for start in (from..to).step_by(1_000) {
        let batch = (start..to.min(start + 1_000))
            .map(|number| NewRecord {
                text: fixture::text(number),
                ..NewRecord::default()
            })
            .collect();
        engine.records().remember_all(batch)?;
    }
    Ok(())
}

fn measure_stdin(heirloom: &Path) -> Outcome<()> {
    const LINES: usize = 20_000;
    let root = tempfile::tempdir()?;
    drop(fixture::engine(root.path())?);
    let mut input = String::new();
    for number in 0..LINES {
        input.push_str(&format!(
            "{}\n",
            serde_json::json!({"text": fixture::text(number)})
        ));
    }
    let start = Instant::now();
    let mut child = Command::new(heirloom)
        .args(["remember", "--stdin"])
        .current_dir(root.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?;
    let mut stdin = child.stdin.take().ok_or("no standard input")?;
    let answers = BufReader::new(child.stdout.take().ok_or("no standard output")?);
    let writer = thread::spawn(move || stdin.write_all(input.as_bytes()));
    // The process computes vectors of some texts after the last answer.
    let answered = answers.lines().take(LINES).filter(Result::is_ok).count();
    let rate = LINES as f64 / start.elapsed().as_secs_f64();
    assert_eq!(answered, LINES, "remember --stdin answered fewer lines");
    writer.join().map_err(|_| "the writer panicked")??;
    assert!(child.wait()?.success(), "remember --stdin failed");
    let name = format!("remember --stdin, {LINES} lines, syncs shared");
    results::value("remember.stdin", &name, "records/s", rate);
    Ok(())
}
