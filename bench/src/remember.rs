//! What a durable write costs, beside a bare write with a sync on the same disk in the same run.

use crate::stats::Times;
use crate::{Outcome, probe};
use heirloom_engine::{Engine, NewRecord};
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

/// Records in the store when a round begins.
const SIZES: [usize; 4] = [0, 1_000, 10_000, 100_000];
/// Writes of a round.
const WRITES: usize = 500;

pub(crate) fn measure(heirloom: Option<&Path>) -> Outcome<()> {
    let root = tempfile::tempdir()?;
    let engine = probe::engine(root.path())?;
    let mut stored = 0;
    for size in SIZES {
        fill_facts(&engine, stored, size)?;
        stored = size;
        let bare = Times::of(&probe::bare_syncs(root.path(), WRITES)?);
        let mut times = Vec::new();
        for _ in 0..WRITES {
            let new = NewRecord {
                text: probe::text(stored),
                ..NewRecord::default()
            };
            stored += 1;
            let start = Instant::now();
            engine.remember(new)?;
            times.push(start.elapsed());
        }
        let durable = Times::of(&times);
        durable.print(&format!("remember, durable, {size} records"));
        bare.print("  bare 4 KB write + sync");
        println!(
            "{:40} {:12.3} ms",
            "  difference of the medians",
            durable.p50() - bare.p50()
        );
    }
    let bytes = engine.describe_store()?.size_bytes;
    println!(
        "store, {stored} records of 120 characters   {:8.1} MB",
        bytes as f64 / 1e6
    );
    if let Some(heirloom) = heirloom {
        from_stdin(heirloom)?;
    }
    Ok(())
}

fn fill_facts(engine: &Engine, from: usize, to: usize) -> Outcome<()> {
    for start in (from..to).step_by(1_000) {
        let news = (start..to.min(start + 1_000))
            .map(|number| NewRecord {
                text: probe::text(number),
                ..NewRecord::default()
            })
            .collect();
        engine.remember_all(news)?;
    }
    Ok(())
}

fn from_stdin(heirloom: &Path) -> Outcome<()> {
    const LINES: usize = 20_000;
    let root = tempfile::tempdir()?;
    drop(probe::engine(root.path())?);
    let mut input = String::new();
    for number in 0..LINES {
        input.push_str(&format!(
            "{}\n",
            serde_json::json!({"text": probe::text(number)})
        ));
    }
    let start = Instant::now();
    let mut child = Command::new(heirloom)
        .args(["remember", "--stdin"])
        .current_dir(root.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()?;
    child
        .stdin
        .take()
        .ok_or("no standard input")?
        .write_all(input.as_bytes())?;
    assert!(child.wait()?.success(), "remember --stdin failed");
    let rate = LINES as f64 / start.elapsed().as_secs_f64();
    println!("remember --stdin, {LINES} lines             {rate:8.0} records/s, syncs shared");
    Ok(())
}
