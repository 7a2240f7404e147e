//! How fast plain output without signals is read.

use crate::{Outcome, probe};
use heirloom_model::Scope;
use heirloom_model::stream::StreamFormat;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

/// Bytes of output.
const BYTES: usize = 512 << 20;

pub(crate) fn measure(heirloom: Option<&Path>) -> Outcome<()> {
    let root = tempfile::tempdir()?;
    let engine = probe::engine(root.path())?;
    let mut chunk = String::new();
    let mut line = 0;
    while chunk.len() < 1 << 20 {
        chunk.push_str(&format!("[{line:06}] {}\n", probe::text(line)));
        line += 1;
    }
    let chunk = chunk.as_bytes();
    for format in [StreamFormat::Text, StreamFormat::Auto] {
        let mut observer = engine.observer(Scope::default(), format, false)?;
        let start = Instant::now();
        for _ in 0..BYTES / chunk.len() {
            observer.push(chunk, &mut |_| {})?;
        }
        observer.finish(&mut |_| {})?;
        let rate = BYTES as f64 / 1e6 / start.elapsed().as_secs_f64();
        assert!(
            observer.so_far().signals.is_empty(),
            "no signal was printed"
        );
        println!(
            "observe, plain text, {:6}               {rate:8.0} MB/s",
            format.as_str()
        );
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
    println!("observe, plain text, through a pipe      {rate:8.0} MB/s");
    Ok(())
}
