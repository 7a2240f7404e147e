//! Throughput of `observe` on plain output without signals.

use crate::{Outcome, fixture, results};
use heirloom_agents::StreamFormat;
use heirloom_capture::Runs;
use heirloom_model::Scope;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

/// Number of bytes of output.
const BYTES: usize = 512 << 20;

pub(crate) fn measure(heirloom: Option<&Path>) -> Outcome<()> {
    let root = tempfile::tempdir()?;
    let engine = fixture::engine(root.path())?;
    let mut chunk = String::new();
    let mut line = 0;
    while chunk.len() < 1 << 20 {
        chunk.push_str(&format!("[{line:06}] {}\n", fixture::text(line)));
        line += 1;
    }
    let chunk = chunk.as_bytes();
    for format in [StreamFormat::Text, StreamFormat::Auto] {
        let mut observer = Runs::new(&engine).observer(Scope::default(), format, false)?;
        let start = Instant::now();
        for _ in 0..BYTES / chunk.len() {
            observer.push(chunk, &mut |_| {})?;
        }
        observer.finish(&mut |_| {})?;
        let rate = BYTES as f64 / 1e6 / start.elapsed().as_secs_f64();
        assert!(
            observer.observed_so_far().signals.is_empty(),
            "no signal was printed"
        );
        let format = format.as_str();
        let name = format!("observe, plain text, {format}");
        results::value(&format!("observe.{format}"), &name, "MB/s", rate);
    }
    let Some(heirloom) = heirloom else {
        return Ok(());
    };
    let start = Instant::now();
    let mut child = Command::new(heirloom)
        .args(["observe", "--format", "text"])
        .current_dir(root.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()?;
    let mut input = child.stdin.take().ok_or("no standard input")?;
    for _ in 0..BYTES / chunk.len() {
        input.write_all(chunk)?;
    }
    drop(input);
    assert!(child.wait()?.success(), "observe failed");
    let rate = BYTES as f64 / 1e6 / start.elapsed().as_secs_f64();
    results::value(
        "observe.pipe",
        "observe, plain text, through a pipe",
        "MB/s",
        rate,
    );
    Ok(())
}
