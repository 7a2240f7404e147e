//! Latency and size of the server's pages: each one alone, whole, and compressed as a browser requests it.

use super::{Client, ServerProcess};
use crate::stats::Times;
use crate::{Outcome, results};
use heirloom_engine::{ContextRequest, Engine, NewEpisode, NewRecord, NewTurn};
use heirloom_model::kinds::EpisodeAction;
use heirloom_model::{Role, Scope};
use std::time::{Duration, Instant};

/// Number of requests for each page.
const RUNS: usize = 20;
/// Longest acceptable time of a page, in milliseconds.
const MS_MAX: f64 = 30.0;
/// Largest acceptable size of a page as it is sent, in KB.
const KB_MAX: f64 = 60.0;
/// Number of sessions, of messages in each, and of messages in one long session.
const SESSIONS: usize = 60;
const TURNS: usize = 10;
const TURNS_LONG: usize = 500;
/// Number of tasks in work.
const TASKS: usize = 50;
/// Number of stored contexts.
const CONTEXTS: usize = 200;
/// Number of keys with conflicting values of two sources.
const CONFLICTS: usize = 200;

/// Adds everything that pages show in addition to records.
pub(super) fn fill(engine: &Engine) -> Outcome<()> {
    for number in 0..SESSIONS {
        let turns = if number == 0 { TURNS_LONG } else { TURNS };
        for turn in 0..turns {
            let role = if turn % 2 == 0 {
                Role::User
            } else {
                Role::Assistant
            };
            let words = crate::fixture::text(turn).repeat(1 + turn % 40);
            let turn = NewTurn {
                machine: false,
                role,
                sender: None,
                task: Some(format!("{}", number % TASKS)),
                agent: Some("bench".to_owned()),
                text: words,
            };
            engine.sessions().add_turn(&session(number), &turn)?;
        }
    }
    for number in 0..TASKS {
        let episode = NewEpisode::new(&number.to_string(), EpisodeAction::Attempted);
        engine.tasks().log_episode(episode)?;
    }
    for number in 0..CONTEXTS {
        let request = ContextRequest {
            task: Some(format!("{}", number % TASKS)),
            session: Some(session(number % SESSIONS)),
            agent: Some("bench".to_owned()),
            ..ContextRequest::default()
        };
        let context = engine.contexts().build(&request)?;
        engine.contexts().store_receipt(&request, &context, None)?;
    }
    for (source, confidence) in [("agent:one", 0.9), ("agent:two", 0.8)] {
        let conflicts = (0..CONFLICTS).map(|number| NewRecord {
            text: format!("{source} says that port {number} is closed"),
            key: Some(format!("port-{number}")),
            source: Some(source.to_owned()),
            confidence: Some(confidence),
            scope: Scope::default(),
            ..NewRecord::default()
        });
        engine.records().remember_all(conflicts.collect())?;
    }
    Ok(())
}

fn session(number: usize) -> String {
    format!("session-{number}")
}

/// Returns every address of the page, with the most expensive variants.
fn addresses(engine: &Engine) -> Outcome<Vec<String>> {
    let newest = engine.records().find(
        &heirloom_engine::Filter::current(&[heirloom_model::Kind::Knowledge], engine.now())
            .limit(1),
    )?;
    let record = newest.first().ok_or("nothing is known")?.id;
    let receipt = engine.contexts().receipts(1)?;
    let receipt = receipt.first().ok_or("no receipt")?.id;
    let fixed = [
        "/",
        "/knowledge",
        "/knowledge?f=parser+cache",
        "/knowledge?category=decision",
        "/knowledge?conflict=150",
        "/recall",
        "/recall?q=why+does+the+cache+forget+entries",
        "/tasks",
        "/tasks/7",
        "/errors",
        "/workspace",
        "/groups",
        "/receipts",
        "/sessions",
        "/sessions/session-0",
        "/sessions/session-1",
        "/analytics",
        "/inbox",
        "/activity",
        "/marks",
        "/settings",
        "/settings/health",
        "/settings/hooks",
        "/settings/tokens",
        "/settings/agents",
        "/settings/start",
        "/knowledge?state=proposed",
        "/knowledge?sort=used",
        "/tasks?state=failing",
        "/tasks?q=parser",
        "/sessions?q=cache",
        "/receipts?cut=1",
    ];
    let mut all: Vec<String> = fixed.iter().map(|path| (*path).to_owned()).collect();
    all.push(format!("/knowledge/{record}"));
    all.push(format!("/knowledge/{record}?edit"));
    all.push(format!("/receipts/{receipt}"));
    Ok(all)
}

/// Requests every page and marks those that are too slow or too large.
pub(super) fn measure(server: &ServerProcess, engine: &Engine) -> Outcome<()> {
    let mut client = Client::new(server)?;
    let (mut slowest, mut largest) = (f64::MIN, f64::MIN);
    for address in addresses(engine)? {
        let request = format!(
            "GET {address} HTTP/1.1\r\naccept: text/html\r\naccept-encoding: gzip, br\r\n{{head}}\r\n"
        );
        client.request(&request)?;
        let mut times: Vec<Duration> = Vec::with_capacity(RUNS);
        let mut bytes = 0;
        for _ in 0..RUNS {
            let start = Instant::now();
            bytes = client.request(&request)?;
            times.push(start.elapsed());
        }
        let (times, kb) = (Times::of(&times), bytes as f64 / 1e3);
        slowest = slowest.max(times.p50());
        largest = largest.max(kb);
        let is_well = times.p50() <= MS_MAX && kb <= KB_MAX;
        let name = match address.len() {
            0..28 => address,
            _ => format!("{}…", &address[..26]),
        };
        println!(
            "server page {name:28} p50 {:8.3} ms   p99 {:8.3} ms   {kb:6.1} KB{}",
            times.p50(),
            times.p99(),
            if is_well { "" } else { "   too much" }
        );
    }
    results::value("server.page_time", "slowest page, median", "ms", slowest);
    results::value(
        "server.page_size",
        "largest page, compressed",
        "KB",
        largest,
    );
    Ok(())
}
