//! Latency of a context, inside a process and from process start, and what is in it.

mod commits;
mod facts;

use crate::developer_prompts::data_folder;
use crate::stats::Times;
use crate::{Outcome, fixture, results};
use heirloom_engine::ContextRequest;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

/// Number of records in the store.
const RECORDS: usize = 10_000;

/// Measures the latency, and with a data set what reaches the context.
pub(crate) fn measure(heirloom: Option<&Path>, data: Option<&Path>) -> Outcome<()> {
    facts::measure()?;
    match data {
        Some(data) => commits::measure(&data_folder(data, "recall"))?,
        None => println!("context over commits: skipped, no --data FOLDER"),
    }
    measure_latency(heirloom)
}

fn measure_latency(heirloom: Option<&Path>) -> Outcome<()> {
    let root = tempfile::tempdir()?;
    let engine = fixture::engine(root.path())?;
    fixture::fill(&engine, RECORDS)?;
    let request = ContextRequest {
        task: Some("7".to_owned()),
        ..ContextRequest::default()
    };
    let mut times = Vec::new();
    for _ in 0..300 {
        let start = Instant::now();
        let context = engine.contexts().build(&request)?;
        times.push(start.elapsed());
        assert!(!context.text.is_empty(), "the context is empty");
    }
    results::times(
        "context.in_process",
        "context, 10,000 records, in process",
        &Times::of(&times),
    );
    drop(engine);
    let Some(heirloom) = heirloom else {
        println!("context from process start: skipped, no --heirloom BINARY");
        return Ok(());
    };
    let spawned = |args: &[&str]| -> Outcome<Times> {
        let mut times = Vec::new();
        for _ in 0..200 {
            let start = Instant::now();
            let status = Command::new(heirloom)
                .args(args)
                .current_dir(root.path())
                .stdin(Stdio::null())
                .stdout(Stdio::null())
                .status()?;
            times.push(start.elapsed());
            assert!(status.success(), "{args:?} failed");
        }
        Ok(Times::of(&times))
    };
    let bare = spawned(&["--version"])?;
    let whole = spawned(&["context", "--task", "7"])?;
    results::times_with_yardstick(
        "context.process",
        "context, 10,000 records, process start",
        &whole,
        ("heirloom --version", &bare),
    );
    Ok(())
}
