//! Latency of the MCP server: the tool list from process start, recalls of new and of running servers; its memory.

use crate::stats::Times;
use crate::zipf::ZipfGenerator;
use crate::{Outcome, fixture, results};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

/// Number of records in the store.
const RECORDS: usize = 100_000;
/// Number of words of a text.
const WORDS: usize = 19;
/// Number of sessions.
const RUNS: usize = 100;
/// Number of records of a running server, whose recalls are timed.
const RUNNING_RECORDS: usize = 10_000;
/// Number of recalls of a running server.
const RUNNING_RECALLS: usize = 500;
/// Number of warm-up sessions, which are not timed.
const WARM: usize = 3;

pub(crate) fn measure(heirloom: Option<&Path>, to: Option<usize>) -> Outcome<()> {
    let Some(heirloom) = heirloom else {
        println!("mcp: skipped, no --heirloom BINARY");
        return Ok(());
    };
    let root = tempfile::tempdir()?;
    let engine = fixture::engine(root.path())?;
    let records = to.unwrap_or(RECORDS);
    let mut generator = ZipfGenerator(41);
    fixture::fill_with(&engine, 0, records, &mut |_| generator.text(WORDS))?;
    drop(engine);
    let (mut listed, mut first, mut later) = (Vec::new(), Vec::new(), Vec::new());
    let mut resident = [Vec::new(), Vec::new()];
    let prompts = ZipfGenerator(43).prompts(2 * (WARM + RUNS));
    for (n, pair) in prompts.chunks(2).enumerate() {
        let (mut session, took) = Session::begin(heirloom, root.path())?;
        let before = session.resident_kb()?;
        let times = [session.recall(&pair[0])?, session.recall(&pair[1])?];
        let after = session.resident_kb()?;
        session.end()?;
        if n >= WARM {
            listed.push(took);
            first.push(times[0]);
            later.push(times[1]);
            resident[0].push(before);
            resident[1].push(after);
        }
    }
    results::times(
        "mcp.tools_list",
        "mcp tools/list, from process start",
        &Times::of(&listed),
    );
    let name = format!("mcp first recall, {records} records");
    results::times("mcp.recall_first", &name, &Times::of(&first));
    let name = format!("mcp second recall, {records} records");
    results::times("mcp.recall_second", &name, &Times::of(&later));
    for ((id, name), sizes_kb) in [
        ("mcp.resident_before", "before the first recall"),
        ("mcp.resident_after", "after two recalls"),
    ]
    .iter()
    .zip(resident)
    {
        let most = sizes_kb.iter().max().copied().unwrap_or_default();
        let megabytes = most as f64 / 1024.0;
        let name = format!("mcp resident, {name}, at most");
        results::value(id, &name, "MB", megabytes);
    }
    measure_running(heirloom)
}

/// Measures recalls of a server that has answered some already.
fn measure_running(heirloom: &Path) -> Outcome<()> {
    let root = tempfile::tempdir()?;
    let engine = fixture::engine(root.path())?;
    let mut generator = ZipfGenerator(47);
    let mut text = |_| generator.text(WORDS);
    fixture::fill_with(&engine, 0, RUNNING_RECORDS, &mut text)?;
    drop(engine);
    let (mut session, _) = Session::begin(heirloom, root.path())?;
    let mut took = Vec::new();
    for (n, prompt) in ZipfGenerator(53)
        .prompts(WARM + RUNNING_RECALLS)
        .iter()
        .enumerate()
    {
        let time = session.recall(prompt)?;
        if n >= WARM {
            took.push(time);
        }
    }
    session.end()?;
    let name = format!("mcp recall of a running server, {RUNNING_RECORDS} records");
    results::times("mcp.recall_running", &name, &Times::of(&took));
    Ok(())
}

/// One session with the server.
pub(crate) struct Session {
    child: Child,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
    last_id: u64,
}

impl Session {
    /// Starts the server as agent programs do and requests its tools; returns the time until the answer.
    pub(crate) fn begin(heirloom: &Path, root: &Path) -> Outcome<(Self, Duration)> {
        let start = Instant::now();
        let mut child = Command::new(heirloom)
            .arg("mcp")
            .current_dir(root)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let stdin = child.stdin.take().ok_or("no standard input")?;
        let stdout = child.stdout.take().ok_or("no standard output")?;
        let mut session = Self {
            child,
            stdin,
            stdout: BufReader::new(stdout),
            last_id: 0,
        };
        let client = json!({"name": "bench", "version": "1"});
        session.request(
            "initialize",
            &json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client}),
        )?;
        writeln!(
            session.stdin,
            "{}",
            json!({"jsonrpc": "2.0", "method": "notifications/initialized"})
        )?;
        let listed = session.request("tools/list", &json!({}))?;
        let took = start.elapsed();
        match listed["result"]["tools"].as_array().map(Vec::len) {
            Some(12) => Ok((session, took)),
            other => Err(format!("{other:?} tools").into()),
        }
    }

    fn request(&mut self, method: &str, params: &Value) -> Outcome<Value> {
        self.last_id += 1;
        let request =
            json!({"jsonrpc": "2.0", "id": self.last_id, "method": method, "params": params});
        writeln!(self.stdin, "{request}")?;
        let mut line = String::new();
        self.stdout.read_line(&mut line)?;
        Ok(serde_json::from_str(&line)?)
    }

    fn recall(&mut self, query: &str) -> Outcome<Duration> {
        let start = Instant::now();
        self.recalled_text(query)?;
        Ok(start.elapsed())
    }

    /// Returns the text of a recall's first ten hits.
    pub(crate) fn recalled_text(&mut self, query: &str) -> Outcome<String> {
        let params = json!({"name": "recall", "arguments": {"query": query}});
        let answer = self.request("tools/call", &params)?;
        let result = &answer["result"];
        match (
            result["isError"].as_bool(),
            result["content"][0]["text"].as_str(),
        ) {
            (Some(false), Some(text)) => Ok(text.to_owned()),
            _ => Err(format!("a recall failed: {answer}").into()),
        }
    }

    /// Returns the server's resident memory in KB.
    fn resident_kb(&self) -> Outcome<u64> {
        let path = format!("/proc/{}/status", self.child.id());
        let status = std::fs::read_to_string(path)?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let number = line.and_then(|line| line.split_whitespace().next());
        Ok(number.ok_or("the system does not say")?.parse()?)
    }

    pub(crate) fn end(mut self) -> Outcome<()> {
        drop(self.stdin);
        let status = self.child.wait()?;
        match status.success() {
            true => Ok(()),
            false => Err(format!("the server ended with {status}").into()),
        }
    }
}
