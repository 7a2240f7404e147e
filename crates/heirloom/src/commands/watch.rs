//! `heirloom watch`.

use super::run::interrupt_flag;
use crate::store_access::CliSession;
use heirloom_engine::Engine;
use heirloom_model::{Fault, limits};
use serde_json::json;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// Number of passes between two checks of groups, which cost more: one check per second.
const GROUP_PASS_INTERVAL: u64 = 1_000 / limits::WATCH_PAUSE_MS;

/// Ingest inbox files of agents and edited workspace files at once, until Ctrl-C
///
/// Nothing is lost without it: every command that opens the memory ingests pending files.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Ingest pending files, and end
    #[arg(long)]
    once: bool,
}

pub(crate) fn run(args: Args, session: &mut CliSession) -> Result<u8, Fault> {
    let stop = interrupt_flag()?;
    let engine = session.open_without_ingest()?;
    if args.once {
        check_sources(&engine, true, session)?;
        return Ok(0);
    }
    session
        .out
        .talk("watching the inbox, workspace and groups; Ctrl-C ends it");
    let mut last_failure = String::new();
    let mut passes = 0_u64;
    while !stop.load(Ordering::Relaxed) {
        let done = check_sources(&engine, passes.is_multiple_of(GROUP_PASS_INTERVAL), session);
        // A repeated failure is reported only once.
        match done {
            Ok(()) => last_failure.clear(),
            Err(fault) if fault.message != last_failure => {
                session.out.talk(&format!("heirloom: {}", fault.message));
                last_failure = fault.message;
            }
            Err(_) => {}
        }
        session.out.flush();
        passes += 1;
        std::thread::sleep(Duration::from_millis(limits::WATCH_PAUSE_MS));
    }
    Ok(0)
}

/// Checks everything that is watched once.
fn check_sources(
    engine: &Engine,
    includes_groups: bool,
    session: &mut CliSession,
) -> Result<(), Fault> {
    sweep_inbox(engine, session)?;
    sync_workspace(engine, session)?;
    if includes_groups {
        engine.groups().repair()?;
    }
    Ok(())
}

fn sweep_inbox(engine: &Engine, session: &mut CliSession) -> Result<(), Fault> {
    let swept = engine
        .files()
        .sweep_inbox(Duration::from_millis(limits::INBOX_WATCH_MS))?;
    let failed = swept
        .failed
        .iter()
        .map(|(name, reason)| (name, Some(reason)));
    for (name, reason) in swept
        .processed
        .iter()
        .map(|name| (name, None))
        .chain(failed)
    {
        if session.out.json {
            let outcome = if reason.is_some() { "failed" } else { "done" };
            let mut value = json!({"file": name, "outcome": outcome});
            if let Some(reason) = reason {
                value["reason"] = json!(reason);
            }
            session.out.value(&value);
        } else {
            let what = reason.map_or_else(
                || "noted".to_owned(),
                |reason| format!("set aside: {reason}"),
            );
            session.out.line(&format!("{name} {what}"));
        }
    }
    Ok(())
}

fn sync_workspace(engine: &Engine, session: &mut CliSession) -> Result<(), Fault> {
    let report = engine.workspace().sync()?;
    let (created, replaced, retired) = (report.created, report.replaced, report.retired);
    if created + replaced + retired == 0 {
        return Ok(());
    }
    if session.out.json {
        session.out.value(&json!({
            "workspace": {"created": created, "replaced": replaced, "retired": retired},
        }));
    } else {
        let line = format!("workspace: {created} new, {replaced} changed, {retired} gone");
        session.out.line(&line);
    }
    Ok(())
}
