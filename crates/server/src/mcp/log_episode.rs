//! Tool `log_episode`: logs an attempt at a task and its outcome.

use super::schema::ToolArgument;
use super::tool::{Effect, Tool, ToolAnswer, ToolCall};
use super::write_answer::{write_answer, write_schema, write_value};
use heirloom_engine::NewEpisode;
use heirloom_model::kinds::EpisodeAction;
use heirloom_model::{Fault, Scope, limits};
use serde_json::{Value, json};

/// Largest integer that JavaScript represents exactly (2^53 − 1).
const NUMBER_MAX: u64 = 9_007_199_254_740_991;

pub(super) const TOOL: Tool = Tool {
    name: "log_episode",
    title: "Log an episode",
    about: "Log an attempt at a task and its outcome, so that a failed approach is not repeated.",
    fields: &[
        ToolArgument::name("task", "").required(),
        ToolArgument::choice(
            "action",
            "",
            &["attempted", "completed", "failed", "retried"],
        )
        .required(),
        ToolArgument::text("approach", "", limits::EPISODE_TEXT_BYTES_MAX),
        ToolArgument::text("outcome", "", limits::EPISODE_TEXT_BYTES_MAX),
        ToolArgument::name("agent", "").unlisted(),
        ToolArgument::name("phase", "").unlisted(),
        ToolArgument::name("session", "").unlisted(),
        ToolArgument::count("duration_ms", "", 0, NUMBER_MAX).unlisted(),
        ToolArgument::count("tokens_in", "", 0, NUMBER_MAX).unlisted(),
        ToolArgument::count("tokens_out", "", 0, NUMBER_MAX).unlisted(),
    ],
    output,
    effect: Effect::Adds,
    call,
};

fn output() -> Value {
    write_schema(json!({}))
}

fn call(call: &ToolCall<'_>) -> Result<ToolAnswer, Fault> {
    let args = &call.args;
    let action = args.require("action")?;
    let action: EpisodeAction = (action.parse()).map_err(|_| {
        Fault::usage(format!(
            "`{action}` is not attempted, completed, failed or retried"
        ))
    })?;
    let agent = call.agent()?;
    let logged = call.engine.tasks().log_episode(NewEpisode {
        scope: Scope {
            agent: Some(agent.clone()),
            phase: args.text("phase"),
            session: args.text("session"),
            ..Scope::of_task(&args.require("task")?)
        },
        source: Some(agent),
        action,
        approach: args.text("approach"),
        outcome: args.text("outcome"),
        duration_ms: args.count("duration_ms"),
        tokens_in: args.count("tokens_in"),
        tokens_out: args.count("tokens_out"),
    })?;
    Ok(write_answer(write_value(&logged)))
}
