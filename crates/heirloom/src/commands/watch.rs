//! `heirloom watch`.

use super::run::interrupt_flag;
use crate::open::Session;
use heirloom_engine::Engine;
use heirloom_model::{Fault, limits};
use serde_json::json;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// Passes after which what costs more is done: once a second.
const SLOW_EVERY: u64 = 1_000 / limits::WATCH_PAUSE_MS;

/// Take in what agents drop into the inbox and what people write in files, at once, until Ctrl-C
///
/// Nothing is lost without it: every command that opens the memory takes what waits.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Take in what is there, and end
    #[arg(long)]
    once: bool,
}

pub(crate) fn run(args: Args, session: &mut Session) -> Result<u8, Fault> {
    let stop = interrupt_flag()?;
    let engine = session.open_to_watch()?;
    if args.once {
        pass(&engine, true, session)?;
        return Ok(0);
    }
    session
        .out
        .talk("watching the inbox, workspace and groups; Ctrl-C ends it");
    let mut told = String::new();
    let mut passes = 0_u64;
    while !stop.load(Ordering::Relaxed) {
        let done = pass(&engine, passes.is_multiple_of(SLOW_EVERY), session);
        // What does not get better is told once.
        match done {
            Ok(()) => told.clear(),
            Err(fault) if fault.message != told => {
                session.out.talk(&format!("heirloom: {}", fault.message));
                told = fault.message;
            }
            Err(_) => {}
        }
        session.out.flush();
        passes += 1;
        std::thread::sleep(Duration::from_millis(limits::WATCH_PAUSE_MS));
    }
    Ok(0)
}

/// One look at everything that is watched. What else follows files belongs here.
fn pass(engine: &Engine, is_slow: bool, session: &mut Session) -> Result<(), Fault> {
    inbox(engine, session)?;
    workspace(engine, session)?;
    if is_slow {
        engine.mend_groups()?;
    }
    Ok(())
}

fn inbox(engine: &Engine, session: &mut Session) -> Result<(), Fault> {
    let swept = engine.sweep_inbox()?;
    let failed = swept.failed.iter().map(|(name, why)| (name, Some(why)));
    for (name, why) in swept.done.iter().map(|name| (name, None)).chain(failed) {
        if session.out.json {
            let outcome = if why.is_some() { "failed" } else { "done" };
            let mut value = json!({"file": name, "outcome": outcome});
            if let Some(why) = why {
                value["reason"] = json!(why);
            }
            session.out.value(&value);
        } else {
            let what = why.map_or_else(|| "noted".to_owned(), |why| format!("set aside: {why}"));
            session.out.line(&format!("{name} {what}"));
        }
    }
    Ok(())
}

fn workspace(engine: &Engine, session: &mut Session) -> Result<(), Fault> {
    let report = engine.sync_workspace()?;
    let (created, replaced, retired) = (report.created, report.replaced, report.retired);
    if created + replaced + retired == 0 {
        return Ok(());
    }
    if session.out.json {
        session.out.value(&json!({
            "workspace": {"created": created, "replaced": replaced, "retired": retired},
        }));
    } else {
        let said = format!("workspace: {created} new, {replaced} changed, {retired} gone");
        session.out.line(&said);
    }
    Ok(())
}
