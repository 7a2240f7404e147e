//! Faults under load: every acknowledged write is present afterwards, once.

use super::load::Load;
use super::servers::Fleet;
use std::collections::HashSet;
use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

/// Clients that write during the faults.
const CLIENTS: usize = 8;

/// Kills a server again and again while clients write through all of them. Returns the number of acknowledged writes,
/// each of which is present once.
pub(super) fn kill_servers(fleet: &mut Fleet, load: &Load, times: usize) -> Result<usize, String> {
    let mut all = HashSet::new();
    for time in 0..times {
        let stop = AtomicBool::new(false);
        let (ids, killed) = thread::scope(|scope| {
            let shared = &*fleet;
            let stop = &stop;
            let clients: Vec<_> = (0..CLIENTS)
                .map(|client| {
                    scope.spawn(move || write(shared, load, time * CLIENTS + client, stop))
                })
                .collect();
            thread::sleep(Duration::from_millis(40 + 37 * (time as u64 % 7)));
            let killed = shared.kill_process(time);
            thread::sleep(Duration::from_millis(30));
            stop.store(true, Ordering::Relaxed);
            let joined = clients.into_iter().flat_map(|client| client.join());
            (joined.flatten().collect::<Vec<_>>(), killed)
        });
        killed?;
        fleet.restart(time)?;
        all.extend(ids);
    }
    check(fleet, &all)
}

/// Ends all connections of the database again and again while clients write. Returns as [`kill_servers`].
pub(super) fn terminate_connections(
    fleet: &Fleet,
    load: &Load,
    url: &str,
    times: usize,
) -> Result<usize, String> {
    let stop = AtomicBool::new(false);
    let ids = thread::scope(|scope| {
        let stop = &stop;
        let clients: Vec<_> = (0..CLIENTS)
            .map(|client| scope.spawn(move || write(fleet, load, 900_000 + client, stop)))
            .collect();
        let sql = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity \
             WHERE application_name LIKE 'heirloom%' AND pid <> pg_backend_pid()";
        let mut ended = Ok(());
        for _ in 0..times {
            thread::sleep(Duration::from_millis(60));
            let done = Command::new("psql")
                .args([
                    "--quiet",
                    "--no-psqlrc",
                    "--tuples-only",
                    "--command",
                    sql,
                    url,
                ])
                .output();
            if let Err(error) = done {
                ended = Err(format!("cannot start psql: {error}"));
                break;
            }
        }
        stop.store(true, Ordering::Relaxed);
        let joined = clients.into_iter().flat_map(|client| client.join());
        ended.map(|()| joined.flatten().collect::<HashSet<_>>())
    })?;
    check(fleet, &ids)
}

/// Writes until the end; returns the project and the key of each acknowledged write.
fn write(fleet: &Fleet, load: &Load, client: usize, stop: &AtomicBool) -> Vec<(String, String)> {
    static NEXT: AtomicUsize = AtomicUsize::new(500_000_000);
    let mut acknowledged = Vec::new();
    let mut connection = fleet.connect(client);
    while !stop.load(Ordering::Relaxed) {
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let fact = load.fact(number);
        let answer = connection.as_mut().and_then(|connection| {
            connection.request("POST", "/api/memory/knowledge", Some(&fact))
        });
        match answer {
            Some((201, _)) => acknowledged.push((load.project(number), format!("k{number}"))),
            Some(_) => {}
            None => {
                thread::sleep(Duration::from_millis(5));
                connection = fleet.connect(client + acknowledged.len());
            }
        }
    }
    acknowledged
}

/// Checks that each acknowledged write is present once; returns their number.
fn check(fleet: &Fleet, acknowledged: &HashSet<(String, String)>) -> Result<usize, String> {
    let mut client = fleet.connect(0).ok_or("no server answers")?;
    for (project, key) in acknowledged {
        let path = format!("/api/memory/knowledge?project={project}&key={key}&all=true");
        let answer = client.request("GET", &path, None);
        let (_, found) = answer.ok_or("the server does not answer")?;
        let count = found["items"].as_array().map_or(0, Vec::len);
        if count != 1 {
            return Err(format!("{project} {key}: present {count} times"));
        }
    }
    Ok(acknowledged.len())
}
