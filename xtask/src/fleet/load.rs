//! Load of many clients: durable writes and recalls.

use super::servers::Fleet;
use serde_json::json;
use std::fmt;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// Words of the texts.
const WORDS: [&str; 16] = [
    "deploy",
    "service",
    "failed",
    "night",
    "database",
    "migration",
    "lock",
    "timeout",
    "cache",
    "index",
    "token",
    "retry",
    "queue",
    "worker",
    "schema",
    "release",
];

/// Load on a fleet.
#[derive(Debug, Clone, Copy)]
pub(super) struct Load {
    pub(super) projects: usize,
    pub(super) clients: usize,
    pub(super) seconds: u64,
}

/// Operation of a load.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Operation {
    Write,
    Recall,
}

/// Rate and latencies of an operation.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rate {
    per_second: f64,
    median: Duration,
    p99: Duration,
    failed: usize,
}

impl fmt::Display for Rate {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            out,
            "{:.0}/s, median {:.1} ms, p99 {:.1} ms, {} failed",
            self.per_second,
            self.median.as_secs_f64() * 1e3,
            self.p99.as_secs_f64() * 1e3,
            self.failed
        )
    }
}

/// Returns the text of a number.
fn text(number: usize) -> String {
    let word = |shift: usize| WORDS[(number >> shift) % WORDS.len()];
    format!(
        "number {number}: the {} of the {} {} the {}",
        word(0),
        word(4),
        word(8),
        word(12)
    )
}

impl Load {
    /// Writes `records` records to each project.
    pub(super) fn seed(&self, fleet: &Fleet, records: usize) -> Result<(), String> {
        let next = AtomicUsize::new(0);
        let all = self.projects * records;
        let failed = AtomicUsize::new(0);
        thread::scope(|scope| {
            for number in 0..self.clients {
                let (next, failed) = (&next, &failed);
                scope.spawn(move || {
                    let mut client = fleet.connect(number);
                    loop {
                        let n = next.fetch_add(1, Ordering::Relaxed);
                        if n >= all {
                            return;
                        }
                        let answer = client.as_mut().and_then(|client| {
                            client.request("POST", "/api/memory/knowledge", Some(&self.fact(n)))
                        });
                        if answer.as_ref().is_none_or(|(status, _)| *status != 201) {
                            if failed.fetch_add(1, Ordering::Relaxed) == 0 {
                                eprintln!("first failure: {answer:?}");
                            }
                        }
                    }
                });
            }
        });
        match failed.into_inner() {
            0 => Ok(()),
            failed => Err(format!("{failed} of {all} records were not written")),
        }
    }

    /// Returns the body of a write.
    pub(super) fn fact(&self, number: usize) -> serde_json::Value {
        json!({
            "project": self.project(number),
            "category": "fact",
            "key": format!("k{number}"),
            "value": text(number),
        })
    }

    pub(super) fn project(&self, number: usize) -> String {
        format!("load-{}", number % self.projects)
    }

    /// Runs an operation with all clients on the first `servers` servers.
    pub(super) fn measure(
        &self,
        fleet: &Fleet,
        servers: usize,
        operation: Operation,
    ) -> Result<Rate, String> {
        // Numbers that no earlier measurement has written.
        static NEXT: AtomicUsize = AtomicUsize::new(100_000_000);
        let began = Instant::now();
        let until = began + Duration::from_secs(self.seconds);
        let times = Mutex::new(Vec::new());
        let failed = AtomicUsize::new(0);
        thread::scope(|scope| {
            for number in 0..self.clients {
                let (times, failed) = (&times, &failed);
                scope.spawn(move || {
                    let Some(mut client) = fleet.connect(number % servers) else {
                        failed.fetch_add(1, Ordering::Relaxed);
                        return;
                    };
                    let mut own = Vec::new();
                    while Instant::now() < until {
                        let n = NEXT.fetch_add(1, Ordering::Relaxed);
                        let began = Instant::now();
                        let answer = match operation {
                            Operation::Write => {
                                client.request("POST", "/api/memory/knowledge", Some(&self.fact(n)))
                            }
                            Operation::Recall => {
                                let words = [WORDS[n % 16], WORDS[n / 16 % 16]].join("%20");
                                let project = self.project(n);
                                let path = format!("/api/recall?q={words}&project={project}");
                                client.request("GET", &path, None)
                            }
                        };
                        match answer {
                            Some((200 | 201, _)) => own.push(began.elapsed()),
                            Some(other) => {
                                if failed.fetch_add(1, Ordering::Relaxed) == 0 {
                                    eprintln!("first failure: {other:?}");
                                }
                            }
                            None => {
                                failed.fetch_add(1, Ordering::Relaxed);
                                break;
                            }
                        }
                    }
                    if let Ok(mut times) = times.lock() {
                        times.extend(own);
                    }
                });
            }
        });
        let took = began.elapsed().as_secs_f64();
        let mut times = times.into_inner().unwrap_or_default();
        times.sort_unstable();
        let at = |percent: usize| times.get(times.len() * percent / 100).copied();
        Ok(Rate {
            per_second: times.len() as f64 / took,
            median: at(50).ok_or("no request succeeded")?,
            p99: at(99).ok_or("no request succeeded")?,
            failed: failed.into_inner(),
        })
    }
}
