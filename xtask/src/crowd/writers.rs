//! Those who write, each its next line after the answer to the one before.

use super::Options;
use super::readers::complains;
use crate::desk::{Desk, excerpt};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// What one writer wrote.
#[derive(Debug)]
pub(super) struct Written {
    /// The ids that were acknowledged.
    pub(super) ids: Vec<String>,
    /// How long each write took but the first, which waits for the program to start.
    pub(super) times: Vec<Duration>,
    /// From the moment when every writer was ready to this one's last answer.
    pub(super) took: Duration,
}

/// Lets every writer write; returns when all are done.
pub(super) fn write_all(desk: &Desk, options: &Options) -> Result<Vec<Written>, String> {
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

/// One long-lived process; its first write is answered before anybody's second.
fn write_lines(
    desk: &Desk,
    number: usize,
    writes: usize,
    ready: &Barrier,
) -> Result<Written, String> {
    let mut scribe = Scribe::start(desk);
    let first = scribe.as_mut().map(|scribe| scribe.say(number, 0));
    // Nobody may be left waiting at the barrier, whatever went wrong here.
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
    Ok(Written { ids, times, took })
}

/// A process for each write.
fn write_separately(
    desk: &Desk,
    number: usize,
    writes: usize,
    ready: &Barrier,
) -> Result<Written, String> {
    ready.wait();
    let begun = Instant::now();
    let (mut ids, mut times) = (Vec::new(), Vec::new());
    for write in 0..writes {
        let started = Instant::now();
        let output = desk.call(&["remember", "--json", &text(number, write)])?;
        times.push(started.elapsed());
        if !output.status.success() || complains(&output.stderr) {
            return Err(format!(
                "`heirloom remember` ended with {}: {}",
                output.status,
                excerpt(&output.stderr)
            ));
        }
        ids.push(id_in(&String::from_utf8_lossy(&output.stdout))?);
    }
    let took = begun.elapsed();
    Ok(Written { ids, times, took })
}

/// Writes as fast as it can until `done`; returns how much was acknowledged.
pub(super) fn in_bulk(desk: &Desk, number: usize, done: &AtomicBool) -> Result<usize, String> {
    let Scribe {
        mut child,
        mut input,
        answers,
    } = Scribe::start(desk)?;
    let feeder = |number: usize| {
        for line in 0_usize.. {
            let line = json!({"text": format!("bulk {number} line {line}"), "category": "bulk"});
            // The process is gone when a pipe breaks; its end is judged below.
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
    judge(&mut child)?;
    Ok(count)
}

/// One `remember --stdin`.
struct Scribe {
    child: Child,
    input: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Scribe {
    fn start(desk: &Desk) -> Result<Self, String> {
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

    /// Says one thing and returns its id when it is durable.
    fn say(&mut self, number: usize, write: usize) -> Result<String, String> {
        let line = json!({"text": text(number, write)});
        let mut answer = String::new();
        let heard = writeln!(self.input, "{line}")
            .and_then(|()| self.answers.read_line(&mut answer))
            .map_err(|error| error.to_string());
        heard
            .and_then(|_| id_in(&answer))
            .map_err(|error| format!("writer {number}, write {write}: {error}"))
    }

    fn end(mut self) -> Result<(), String> {
        drop(self.input);
        judge(&mut self.child)
    }
}

/// Waits for a writer's end, which must be a good one.
fn judge(child: &mut Child) -> Result<(), String> {
    let mut said = Vec::new();
    if let Some(stderr) = &mut child.stderr {
        (stderr.read_to_end(&mut said)).map_err(|error| format!("a writer's errors: {error}"))?;
    }
    let status =
        (child.wait()).map_err(|error| format!("a writer cannot be waited for: {error}"))?;
    if status.success() && !complains(&said) {
        return Ok(());
    }
    Err(format!("a writer ended with {status}: {}", excerpt(&said)))
}

fn id_in(answer: &str) -> Result<String, String> {
    let value: Value = serde_json::from_str(answer)
        .map_err(|error| format!("the answer `{answer}` is no JSON: {error}"))?;
    let id = value["id"].as_str().map(str::to_owned);
    id.ok_or_else(|| format!("no id in {answer}"))
}
