//! Events of hooks while the database server cannot be reached, and their delivery afterwards.

use crate::store_access::{CliSession, FoundProject, is_server_reachable};
use heirloom_agents::AgentProgram;
use heirloom_agents::hooks::read_event;
use heirloom_capture::{HookRequest, Hooks, Outbox, WaitingEvent};
use heirloom_model::{Fault, FixedClock, limits};
use heirloom_redact::Redactor;
use serde_json::Value;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Stores the event in the outbox if the memory is on a database server that cannot be reached; returns true then.
pub(super) fn store_if_offline(
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
    store(session, found, words, input)?;
    Ok(true)
}

/// Stores the event in the outbox, and begins a pause in which hooks try no connection.
pub(super) fn store(
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

/// Delivers the events in the outbox to the memory, each at its time. The answers are dropped: their prompts are over.
pub(crate) fn deliver(session: &mut CliSession, found: &FoundProject) -> Result<usize, Fault> {
    let outbox = Outbox::in_folder(&found.place.folder);
    if found.config.text("store.url").is_empty() || !outbox.has_events() {
        return Ok(0);
    }
    outbox.deliver(|waiting| deliver_one(session, found, waiting))
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
    let engine = session.engine_at(found, Arc::new(FixedClock(waiting.at)))?;
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
    Hooks::new(&engine).record_hook_session(&request)
}
