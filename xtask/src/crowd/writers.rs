//! Writers, each of which writes its next line after the previous answer.

use super::CrowdOptions;
use super::readers::reports_lock;
use crate::sandbox::{Sandbox, excerpt};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// Results of one writer.
#[derive(Debug)]
pub(super) struct WriterReport {
    /// Acknowledged ids.
    pub(super) ids: Vec<String>,
    /// Duration of each write except the first, which waits for the program to start.
    pub(super) times: Vec<Duration>,
    /// Time from the common start to this writer's last answer.
    pub(super) took: Duration,
}

/// Runs all writers to their end.
pub(super) fn write_all(
    desk: &Sandbox,
    options: &CrowdOptions,
) -> Result<Vec<WriterReport>, String> {
    let ready = Barrier::new(options.processes);
    thread::scope(|scope| {
        let writers: Vec<_> = (0..options.processes)
            .map(|number| {
                let ready = &ready;
                scope.spawn(move || match options.separate {
                    true => write_separately(desk, number, options.writes, ready),
                    false => write_lines(desk, number, options.writes, ready),
                })
            })
            .collect();
        writers.into_iter().map(super::joined).collect()
    })
}

fn text(writer: usize, write: usize) -> String {
    format!("writer {writer} says its word number {write}, which nobody else says")
}

/// Writes with one long-lived process; all first writes are answered before any second one.
fn write_lines(
    desk: &Sandbox,
    number: usize,
    writes: usize,
    ready: &Barrier,
) -> Result<WriterReport, String> {
    let mut scribe = StdinWriter::start(desk);
    let first = scribe.as_mut().map(|scribe| scribe.say(number, 0));
    // Passes the barrier even after an error, so that no other writer waits for ever.
    ready.wait();
    let begun = Instant::now();
    let mut ids = vec![first.map_err(|error| error.clone())??];
    let mut scribe = scribe?;
    let mut times = Vec::new();
    for write in 1..writes {
        let started = Instant::now();
        ids.push(scribe.say(number, write)?);
        times.push(started.elapsed());
    }
    let took = begun.elapsed();
    scribe.end()?;
    Ok(WriterReport { ids, times, took })
}

/// Writes with one process per write.
fn write_separately(
    desk: &Sandbox,
    number: usize,
    writes: usize,
    ready: &Barrier,
) -> Result<WriterReport, String> {
    ready.wait();
    let begun = Instant::now();
    let (mut ids, mut times) = (Vec::new(), Vec::new());
    for write in 0..writes {
        let started = Instant::now();
        let output = desk.call(&["remember", "--json", &text(number, write)])?;
        times.push(started.elapsed());
        if !output.status.success() || reports_lock(&output.stderr) {
            return Err(format!(
                "`heirloom remember` ended with {}: {}",
                output.status,
                excerpt(&output.stderr)
            ));
        }
        ids.push(id_in(&String::from_utf8_lossy(&output.stdout))?);
    }
    let took = begun.elapsed();
    Ok(WriterReport { ids, times, took })
}

/// Writes at full speed until `done`; returns the number of acknowledged writes.
pub(super) fn write_in_bulk(
    desk: &Sandbox,
    number: usize,
    done: &AtomicBool,
) -> Result<usize, String> {
    let StdinWriter {
        mut child,
        mut input,
        answers,
    } = StdinWriter::start(desk)?;
    let feeder = |number: usize| {
        for line in 0_usize.. {
            let line = json!({"text": format!("bulk {number} line {line}"), "category": "bulk"});
            // A broken pipe means that the process has exited; its status is checked below.
            if done.load(Ordering::SeqCst) || writeln!(input, "{line}").is_err() {
                break;
            }
        }
        drop(input);
    };
    let count = thread::scope(|scope| {
        scope.spawn(move || feeder(number));
        answers.lines().map_while(Result::ok).count()
    });
    check_exit(&mut child)?;
    Ok(count)
}

/// A `remember --stdin` process.
struct StdinWriter {
    child: Child,
    input: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl StdinWriter {
    fn start(desk: &Sandbox) -> Result<Self, String> {
        let mut child = (desk.heirloom(&["remember", "--stdin"]))
            .stdin(Stdio::piped())
            .spawn()
            .map_err(|error| format!("cannot start a writer: {error}"))?;
        match (child.stdin.take(), child.stdout.take()) {
            (Some(input), Some(output)) => Ok(Self {
                child,
                input,
                answers: BufReader::new(output),
            }),
            _ => Err("a writer has no pipes".to_owned()),
        }
    }

    /// Writes one text and returns its id once it is durable.
    fn say(&mut self, number: usize, write: usize) -> Result<String, String> {
        let line = json!({"text": text(number, write)});
        let mut answer = String::new();
        let sent = writeln!(self.input, "{line}")
            .and_then(|()| self.answers.read_line(&mut answer))
            .map_err(|error| error.to_string());
        sent.and_then(|_| id_in(&answer))
            .map_err(|error| format!("writer {number}, write {write}: {error}"))
    }

    fn end(mut self) -> Result<(), String> {
        drop(self.input);
        check_exit(&mut self.child)
    }
}

/// Waits for a writer, which must exit successfully.
fn check_exit(child: &mut Child) -> Result<(), String> {
    let mut messages = Vec::new();
    if let Some(stderr) = &mut child.stderr {
        (stderr.read_to_end(&mut messages))
            .map_err(|error| format!("a writer's errors: {error}"))?;
    }
    let status =
        (child.wait()).map_err(|error| format!("a writer cannot be waited for: {error}"))?;
    if status.success() && !reports_lock(&messages) {
        return Ok(());
    }
    Err(format!(
        "a writer ended with {status}: {}",
        excerpt(&messages)
    ))
}

fn id_in(answer: &str) -> Result<String, String> {
    let value: Value = serde_json::from_str(answer)
        .map_err(|error| format!("the answer `{answer}` is no JSON: {error}"))?;
    let id = value["id"].as_str().map(str::to_owned);
    id.ok_or_else(|| format!("no id in {answer}"))
}
