//! Events of hooks while the database server cannot be reached, and their delivery afterwards.

use super::database_server::is_server_reachable;
use super::{CliSession, FoundProject};
use heirloom_agents::AgentProgram;
use heirloom_agents::hooks::read_event;
use heirloom_capture::{HookRequest, Hooks, Outbox, WaitingEvent};
use heirloom_model::{Fault, FixedClock, limits};
use heirloom_redact::Redactor;
use serde_json::Value;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Stores the event in the outbox if the memory is on a database server that cannot be reached; returns true then.
pub(crate) fn store_event_if_offline(
    session: &CliSession,
    found: &FoundProject,
    words: &[String],
    input: &[u8],
) -> Result<bool, Fault> {
    if found.config.text("store.url").is_empty() {
        return Ok(false);
    }
    let outbox = Outbox::in_folder(&found.place.folder);
    let clock = session.clock()?;
    if !outbox.is_paused(&*clock) {
        let timeout = Duration::from_millis(limits::OUTBOX_PROBE_MS);
        if is_server_reachable(session, found, timeout)? {
            return Ok(false);
        }
    }
    store_event(session, found, words, input)?;
    Ok(true)
}

/// Stores the event in the outbox, and begins a pause in which hooks try no connection.
pub(crate) fn store_event(
    session: &CliSession,
    found: &FoundProject,
    words: &[String],
    input: &[u8],
) -> Result<(), Fault> {
    let outbox = Outbox::in_folder(&found.place.folder);
    let clock = session.clock()?;
    if !outbox.is_paused(&*clock) {
        outbox.pause(&*clock)?;
    }
    let [agent, event] = [0, 1].map(|n| words.get(n).cloned().unwrap_or_default());
    let event = WaitingEvent {
        at: clock.now(),
        agent,
        event,
        input: serde_json::from_slice(input).unwrap_or(Value::Null),
    };
    let redactor = Redactor::new(&found.config.settings().redact)
        .map_err(|error| Fault::usage(error.to_string()))?;
    outbox.store(event, &redactor)
}

/// Delivers the events in the outbox to the memory, each at its time. The answers are dropped: their prompts are over. A
/// failure is only reported; the events wait for the next call.
pub(crate) fn deliver_events(session: &mut CliSession, found: &FoundProject) {
    let outbox = Outbox::in_folder(&found.place.folder);
    if found.config.text("store.url").is_empty() || !outbox.has_events() {
        return;
    }
    if let Err(fault) = outbox.deliver(|waiting| deliver_one(session, found, waiting)) {
        let message = format!("heirloom: waiting events of hooks: {}", fault.message);
        session.out.talk(&message);
    }
}

fn deliver_one(
    session: &mut CliSession,
    found: &FoundProject,
    waiting: &WaitingEvent,
) -> Result<(), Fault> {
    let Some(program) = AgentProgram::hook_program(&waiting.agent) else {
        return Ok(());
    };
    let Some(spec) = program.hook_spec(&waiting.event) else {
        return Ok(());
    };
    let input = serde_json::to_vec(&waiting.input)
        .map_err(|error| Fault::failed(format!("the event: {error}")))?;
    let event = read_event(program, &input);
    let engine = session.open_engine(found, Arc::new(FixedClock(waiting.at)))?;
    let request = HookRequest {
        host: program,
        spec,
        event: &event,
        shorten: None,
        anchor_every: 0,
        teach: false,
        ask: false,
        deadline: Instant::now() + Duration::from_millis(limits::HOOK_ARCHIVE_MS),
    };
    Hooks::new(&engine).handle(&request)?;
    Hooks::new(&engine).record_after_answer(&request).map(drop)
}
