//! Load of many clients: durable writes and recalls.

use super::http::{Answer, Client};
use super::servers::Fleet;
use serde_json::json;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
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

/// Projects that are filled at the same time.
const SEEDED_AT_ONCE: usize = 4;
/// Queries of a project after which a server has it in its cache.
const QUERIES_BEFORE_CACHE: usize = 5;

/// Projects that a load uses, and the number of its connections.
#[derive(Debug, Clone, Copy)]
pub(super) struct Load {
    /// Beginning of the projects' names.
    pub(super) name: &'static str,
    pub(super) projects: usize,
    pub(super) clients: usize,
}

/// Operation of a load.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Operation {
    Write,
    Recall,
}

/// End of a load.
#[derive(Debug, Clone)]
pub(super) enum Extent {
    /// Numbers that no other load uses, for a time.
    Time(Duration),
    /// These numbers, each once.
    Numbers(Range<usize>),
}

/// Rate and latencies of an operation.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rate {
    pub(super) per_second: f64,
    /// Median latency, milliseconds.
    pub(super) median: f64,
    /// 99th percentile of the latency, milliseconds.
    pub(super) p99: f64,
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
    /// Returns the same projects with another number of connections.
    pub(super) fn with_clients(self, clients: usize) -> Self {
        Self { clients, ..self }
    }

    /// Writes `records` records to each of the projects from `first` on.
    pub(super) fn seed(&self, fleet: &Fleet, first: usize, records: usize) -> Result<(), String> {
        let projects: Vec<usize> = (first..self.projects).collect();
        // The numbers of a project differ by the number of projects.
        let numbers = projects.chunks(SEEDED_AT_ONCE).flat_map(|chunk| {
            let numbers_of = move |n| chunk.iter().map(move |first| first + n * self.projects);
            (0..records).flat_map(numbers_of)
        });
        let numbers: Vec<usize> = numbers.collect();
        let every =
            |client: &mut Client, n: usize| self.request(client, Operation::Write, numbers[n]);
        // The writes of one server to a project share transactions; those of several servers wait for each other.
        self.run(fleet, 1, &Extent::Numbers(0..numbers.len()), every)?;
        Ok(())
    }

    /// Recalls in each project often enough that the first `servers` servers have it in their cache.
    pub(super) fn fill_caches(&self, fleet: &Fleet, servers: usize) -> Result<(), String> {
        for server in 0..servers {
            let numbers = Extent::Numbers(0..self.projects * QUERIES_BEFORE_CACHE);
            let every = |client: &mut Client, n: usize| self.request(client, Operation::Recall, n);
            self.run_on(fleet, server..server + 1, &numbers, every)?;
        }
        Ok(())
    }

    /// Runs an operation with all connections on the first `servers` servers.
    pub(super) fn measure(
        &self,
        fleet: &Fleet,
        servers: usize,
        operation: Operation,
        extent: &Extent,
    ) -> Result<Rate, String> {
        let every = |client: &mut Client, n: usize| self.request(client, operation, n);
        self.run(fleet, servers, extent, every)
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

    /// Returns the name of a number's project.
    pub(super) fn project(&self, number: usize) -> String {
        format!("{}-{}", self.name, number % self.projects)
    }

    fn request(&self, client: &mut Client, operation: Operation, n: usize) -> Option<Answer> {
        match operation {
            Operation::Write => {
                client.request("POST", "/api/memory/knowledge", Some(&self.fact(n)))
            }
            Operation::Recall => {
                let words = [WORDS[n % 16], WORDS[n / 16 % 16]].join("%20");
                let project = self.project(n);
                let path = format!("/api/recall?q={words}&project={project}");
                client.request("GET", &path, None)
            }
        }
    }

    fn run(
        &self,
        fleet: &Fleet,
        servers: usize,
        extent: &Extent,
        request: impl Fn(&mut Client, usize) -> Option<Answer> + Sync,
    ) -> Result<Rate, String> {
        self.run_on(fleet, 0..servers, extent, request)
    }

    /// Sends requests over all connections until the end; fails if one of them fails.
    fn run_on(
        &self,
        fleet: &Fleet,
        servers: Range<usize>,
        extent: &Extent,
        request: impl Fn(&mut Client, usize) -> Option<Answer> + Sync,
    ) -> Result<Rate, String> {
        // Numbers that no earlier measurement has written.
        static UNUSED: AtomicUsize = AtomicUsize::new(100_000_000);
        let began = Instant::now();
        let own = AtomicUsize::new(0);
        let next = || match extent {
            Extent::Time(time) => {
                (began.elapsed() < *time).then(|| UNUSED.fetch_add(1, Ordering::Relaxed))
            }
            Extent::Numbers(numbers) => {
                let n = numbers.start + own.fetch_add(1, Ordering::Relaxed);
                numbers.contains(&n).then_some(n)
            }
        };
        let (times, failure) = (Mutex::new(Vec::new()), Mutex::new(None));
        thread::scope(|scope| {
            for number in 0..self.clients {
                let (times, failure, servers) = (&times, &failure, &servers);
                let (next, request) = (&next, &request);
                scope.spawn(move || {
                    let sent = fleet
                        .connect(servers.start + number % servers.len())
                        .ok_or_else(|| "a server refuses connections".to_owned())
                        .and_then(|mut client| send_all(&mut client, next, request));
                    match sent {
                        Ok(own) => lock(times).extend(own),
                        Err(problem) => *lock(failure) = Some(problem),
                    }
                });
            }
        });
        let took = began.elapsed().as_secs_f64();
        if let Some(problem) = lock(&failure).take() {
            return Err(problem);
        }
        let mut times = std::mem::take(&mut *lock(&times));
        times.sort_unstable();
        let at = |percent: usize| {
            let time = times.get(times.len() * percent / 100);
            time.map(|time: &Duration| time.as_secs_f64() * 1e3)
        };
        Ok(Rate {
            per_second: times.len() as f64 / took,
            median: at(50).ok_or("no request was sent")?,
            p99: at(99).ok_or("no request was sent")?,
        })
    }
}

/// Sends requests until there is no next number; returns their times.
fn send_all(
    client: &mut Client,
    next: &impl Fn() -> Option<usize>,
    request: &impl Fn(&mut Client, usize) -> Option<Answer>,
) -> Result<Vec<Duration>, String> {
    let mut times = Vec::new();
    while let Some(n) = next() {
        let began = Instant::now();
        match request(client, n) {
            Some(answer) if matches!(answer.status, 200 | 201) => times.push(began.elapsed()),
            Some(answer) => return Err(format!("a request failed: {answer:?}")),
            None => return Err("a server closed the connection".to_owned()),
        }
    }
    Ok(times)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
