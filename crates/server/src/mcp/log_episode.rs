//! `log_episode`: what was tried for a task, and how it went.

use super::shape::Field;
use super::tool::{Answer, Call, Effect, Tool, applied, written, written_schema};
use heirloom_engine::NewEpisode;
use heirloom_model::kinds::EpisodeAction;
use heirloom_model::{Fault, Scope, limits};
use serde_json::{Value, json};

/// Largest number that a program of any language can hold exactly.
const NUMBER_MAX: u64 = 9_007_199_254_740_991;

pub(super) const TOOL: Tool = Tool {
    name: "log_episode",
    title: "Log an episode",
    about: "Log a try at a task: what was tried and how it went, so that nobody tries in vain what has failed.",
    fields: &[
        Field::name("task", "The task").required(),
        Field::choice(
            "action",
            "attempted, completed, failed or retried",
            &["attempted", "completed", "failed", "retried"],
        )
        .required(),
        Field::text("approach", "What was tried", limits::EPISODE_TEXT_BYTES_MAX),
        Field::text("outcome", "How it went", limits::EPISODE_TEXT_BYTES_MAX),
        Field::name("agent", "The agent; you, if it is not said"),
        Field::name("phase", "The phase of the task"),
        Field::name("session", "The session"),
        Field::count(
            "duration_ms",
            "How long it took, milliseconds",
            0,
            NUMBER_MAX,
        ),
        Field::count("tokens_in", "Tokens read", 0, NUMBER_MAX),
        Field::count("tokens_out", "Tokens written", 0, NUMBER_MAX),
    ],
    output,
    effect: Effect::Adds,
    call,
};

fn output() -> Value {
    written_schema(json!({}))
}

fn call(call: &Call<'_>) -> Result<Answer, Fault> {
    let args = &call.args;
    let action = args.needed("action")?;
    let action: EpisodeAction = (action.parse()).map_err(|_| {
        Fault::usage(format!(
            "`{action}` is not attempted, completed, failed or retried"
        ))
    })?;
    let agent = call.agent()?;
    let logged = call.engine.log_episode(NewEpisode {
        scope: Scope {
            agent: Some(agent.clone()),
            phase: args.text("phase"),
            session: args.text("session"),
            ..Scope::of_task(&args.needed("task")?)
        },
        source: Some(agent),
        action,
        approach: args.text("approach"),
        outcome: args.text("outcome"),
        duration_ms: args.count("duration_ms"),
        tokens_in: args.count("tokens_in"),
        tokens_out: args.count("tokens_out"),
    })?;
    Ok(written(applied(&logged)))
}
