//! What the pages take: each one alone, whole, and compressed as a browser asks for it.

use super::{Client, Server};
use crate::Outcome;
use crate::stats::Times;
use heirloom_engine::{ContextRequest, Engine, NewEpisode, NewRecord, NewTurn};
use heirloom_model::kinds::EpisodeAction;
use heirloom_model::{Role, Scope};
use std::time::{Duration, Instant};

/// Times that each page is asked for.
const RUNS: usize = 20;
/// Longest time of a page, milliseconds.
const MS_MAX: f64 = 30.0;
/// Largest page as it is sent, KB.
const KB_MAX: f64 = 60.0;
/// Sessions, turns of each, and of one that is long.
const SESSIONS: usize = 60;
const TURNS: usize = 10;
const TURNS_LONG: usize = 500;
/// Tasks that somebody works on.
const TASKS: usize = 50;
/// Contexts that were given.
const CONTEXTS: usize = 200;
/// Keys of which two sources say different things.
const CONFLICTS: usize = 200;

/// Adds what pages show beside records.
pub(super) fn fill(engine: &Engine) -> Outcome<()> {
    for number in 0..SESSIONS {
        let turns = if number == 0 { TURNS_LONG } else { TURNS };
        for turn in 0..turns {
            let role = if turn % 2 == 0 {
                Role::User
            } else {
                Role::Assistant
            };
            let words = crate::probe::text(turn).repeat(1 + turn % 40);
            let said = NewTurn {
                role,
                sender: None,
                task: Some(format!("{}", number % TASKS)),
                agent: Some("bench".to_owned()),
                text: words,
            };
            engine.add_turn(&session(number), &said)?;
        }
    }
    for number in 0..TASKS {
        let tried = NewEpisode::of(&number.to_string(), EpisodeAction::Attempted);
        engine.log_episode(tried)?;
    }
    for number in 0..CONTEXTS {
        let request = ContextRequest {
            task: Some(format!("{}", number % TASKS)),
            session: Some(session(number % SESSIONS)),
            agent: Some("bench".to_owned()),
            ..ContextRequest::default()
        };
        let context = engine.context(&request)?;
        engine.keep_receipt(&request, &context, None)?;
    }
    for (source, confidence) in [("agent:one", 0.9), ("agent:two", 0.8)] {
        let news = (0..CONFLICTS).map(|number| NewRecord {
            text: format!("{source} says that port {number} is closed"),
            key: Some(format!("port-{number}")),
            source: Some(source.to_owned()),
            confidence: Some(confidence),
            scope: Scope::default(),
            ..NewRecord::default()
        });
        engine.remember_all(news.collect())?;
    }
    Ok(())
}

fn session(number: usize) -> String {
    format!("session-{number}")
}

/// Every address of the page, with those that ask for the most.
fn addresses(engine: &Engine) -> Outcome<Vec<String>> {
    let newest = engine.find(
        &heirloom_engine::Filter::current(&[heirloom_model::Kind::Knowledge], engine.now())
            .limit(1),
    )?;
    let record = newest.first().ok_or("nothing is known")?.id;
    let receipt = engine.receipts(1)?;
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
        "/review",
        "/marks",
        "/settings",
        "/settings/health",
        "/settings/hooks",
    ];
    let mut all: Vec<String> = fixed.iter().map(|path| (*path).to_owned()).collect();
    all.push(format!("/knowledge/{record}"));
    all.push(format!("/knowledge/{record}?edit"));
    all.push(format!("/receipts/{receipt}"));
    Ok(all)
}

/// Asks for every page; says which are too slow or too large.
pub(super) fn measure(server: &Server, engine: &Engine) -> Outcome<()> {
    let mut client = Client::new(server)?;
    for address in addresses(engine)? {
        let request = format!(
            "GET {address} HTTP/1.1\r\naccept: text/html\r\naccept-encoding: gzip, br\r\n{{head}}\r\n"
        );
        client.ask(&request)?;
        let mut times: Vec<Duration> = Vec::with_capacity(RUNS);
        let mut bytes = 0;
        for _ in 0..RUNS {
            let start = Instant::now();
            bytes = client.ask(&request)?;
            times.push(start.elapsed());
        }
        let (times, kb) = (Times::of(&times), bytes as f64 / 1e3);
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
    Ok(())
}
