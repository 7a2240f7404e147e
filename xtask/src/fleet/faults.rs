//! Faults under load: every acknowledged write is present afterwards, once.

mod database;
mod full_disk;
mod promotion;
mod worker;

pub(super) use database::{restart_primary, terminate_connections};
pub(super) use full_disk::fill_disk;
pub(super) use promotion::promote_replica;
pub(super) use worker::{WorkerCommands, lose_worker};

use super::http::{Answer, Client};
use super::load::Load;
use super::servers::Fleet;
use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// Clients that write during the faults.
const CLIENTS: usize = 8;
/// Longest time until writes succeed again after a fault.
const RECOVERY_MAX: Duration = Duration::from_secs(60);

/// Writes of the clients during a fault.
#[derive(Debug, Default)]
pub(super) struct Writes {
    /// Project and key of each acknowledged write.
    acknowledged: HashSet<(String, String)>,
    /// Answers with status 503.
    pub(super) unavailable: usize,
    /// First answer with another status, or with 503 and without `Retry-After`.
    unexpected: Option<Answer>,
}

impl Writes {
    fn add(&mut self, other: Self) {
        self.acknowledged.extend(other.acknowledged);
        self.unavailable += other.unavailable;
        self.unexpected = self.unexpected.take().or(other.unexpected);
    }

    /// Checks that each acknowledged write is present once; returns their number.
    pub(super) fn check(&self, fleet: &Fleet) -> Result<usize, String> {
        if let Some(answer) = &self.unexpected {
            return Err(format!("an unexpected answer during a fault: {answer:?}"));
        }
        let mut client = fleet.connect(0).ok_or("no server answers")?;
        for (project, key) in &self.acknowledged {
            let path = format!("/api/memory/knowledge?project={project}&key={key}&all=true");
            let answer = client.request("GET", &path, None);
            let found = answer.ok_or("the server does not answer")?;
            let items = found.body["items"].as_array();
            match items.map(Vec::len) {
                Some(1) => {}
                Some(count) => return Err(format!("{project} {key}: present {count} times")),
                None => return Err(format!("{project} {key}: {found:?}")),
            }
        }
        Ok(self.acknowledged.len())
    }
}

/// Kills a server again and again while clients write through all of them. Returns the number of acknowledged writes,
/// each of which is present once.
pub(super) fn kill_servers(fleet: &mut Fleet, load: &Load, times: usize) -> Result<usize, String> {
    let mut all = Writes::default();
    for time in 0..times {
        let shared = &*fleet;
        let (writes, killed) = write_during(shared, load, || {
            thread::sleep(Duration::from_millis(40 + 37 * (time as u64 % 7)));
            let killed = shared.kill_process(time);
            thread::sleep(Duration::from_millis(30));
            killed
        });
        killed?;
        fleet.restart(time)?;
        all.add(writes);
    }
    all.check(fleet)
}

/// Writes with several clients while `fault` runs; returns their writes and its result.
fn write_during<T>(fleet: &Fleet, load: &Load, fault: impl FnOnce() -> T) -> (Writes, T) {
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        let stop = &stop;
        let clients: Vec<_> = (0..CLIENTS)
            .map(|client| scope.spawn(move || write(fleet, load, client, stop)))
            .collect();
        let result = fault();
        stop.store(true, Ordering::Relaxed);
        let mut all = Writes::default();
        for writes in clients.into_iter().flat_map(|client| client.join()) {
            all.add(writes);
        }
        (all, result)
    })
}

/// Writes until the end, over another connection after each one that is lost.
fn write(fleet: &Fleet, load: &Load, client: usize, stop: &AtomicBool) -> Writes {
    let mut writes = Writes::default();
    let mut connection = fleet.connect(client);
    while !stop.load(Ordering::Relaxed) {
        let number = unused_number();
        let fact = load.fact(number);
        let answer = connection.as_mut().and_then(|connection| {
            connection.request("POST", "/api/memory/knowledge", Some(&fact))
        });
        match answer {
            Some(Answer { status: 201, .. }) => {
                let key = (load.project(number), format!("k{number}"));
                writes.acknowledged.insert(key);
            }
            Some(Answer {
                status: 503,
                has_retry_after: true,
                ..
            }) => {
                writes.unavailable += 1;
                thread::sleep(Duration::from_millis(20));
            }
            Some(other) => writes.unexpected = Some(other),
            None => {
                thread::sleep(Duration::from_millis(5));
                connection = fleet.connect(client + writes.acknowledged.len());
            }
        }
    }
    writes
}

/// Returns a number that no other write of the faults uses.
fn unused_number() -> usize {
    static NEXT: AtomicUsize = AtomicUsize::new(500_000_000);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

/// Waits until a write succeeds through each server; returns the time, seconds.
fn recovery(fleet: &Fleet, load: &Load) -> Result<f64, String> {
    let began = Instant::now();
    for server in 0..fleet.len() {
        let mut last = None;
        loop {
            let mut client = fleet.connect(server);
            let answer = client.as_mut().and_then(|client| post(client, load));
            if answer.as_ref().is_some_and(|answer| answer.status == 201) {
                break;
            }
            last = answer.or(last);
            if began.elapsed() > RECOVERY_MAX {
                return Err(format!("server {server} does not recover: {last:?}"));
            }
            thread::sleep(Duration::from_millis(20));
        }
    }
    Ok(began.elapsed().as_secs_f64())
}

/// Writes one fact.
fn post(client: &mut Client, load: &Load) -> Option<Answer> {
    let fact = load.fact(unused_number());
    client.request("POST", "/api/memory/knowledge", Some(&fact))
}
