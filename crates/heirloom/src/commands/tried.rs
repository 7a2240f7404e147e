//! `heirloom tried`.

use crate::open::Session;
use crate::wire;
use heirloom_engine::Tried;
use heirloom_model::{Fault, text};
use serde_json::{Value, json};

/// Was this, or something like it, tried before, and how did it go?
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// What somebody wants to try
    approach: String,
    /// Only in this task
    #[arg(long, value_name = "ID")]
    task: Option<String>,
}

pub(crate) fn run(args: Args, session: &mut Session) -> Result<u8, Fault> {
    session.is_waited_for();
    let engine = session.open()?;
    let found = engine.tried(&args.approach, args.task.as_deref())?;
    if session.out.json {
        let tried: Vec<_> = found.tried.iter().map(value).collect();
        session
            .out
            .value(&json!({"tried": tried, "failed": found.failed}));
        return Ok(0);
    }
    if found.tried.is_empty() {
        session.out.talk("nothing like it was tried");
    }
    for one in &found.tried {
        let approach = one.episode.approach.as_deref().unwrap_or(&one.record.text);
        let outcome = one.episode.outcome.as_deref().unwrap_or_default();
        let task = one.record.scope.task.as_deref().unwrap_or("-");
        session.out.line(&format!(
            "{:9}  task {task}: {}  {}",
            one.episode.action,
            text::excerpt(approach, 80),
            text::excerpt(outcome, 80)
        ));
    }
    if found.failed {
        session.out.line("something like it has failed before");
    }
    Ok(0)
}

fn value(one: &Tried) -> Value {
    json!({
        "id": one.record.id.to_string(),
        "task": one.record.scope.task,
        "agent": one.record.scope.agent,
        "action": one.episode.action,
        "approach": one.episode.approach,
        "outcome": one.episode.outcome,
        "score": wire::rounded(one.score),
        "alike": one.alike,
        "recorded_at": one.record.recorded_at.to_string(),
    })
}
