//! `heirloom tried`.

use super::session::text_or_input;
use crate::json_output;
use crate::store_access::CliSession;
use heirloom_engine::{SimilarAttempt, named_task};
use heirloom_model::kinds::result_label;
use heirloom_model::{Fault, text};
use serde_json::{Value, json};

/// Show whether this, or something similar, was tried before, and the outcome
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The approach; - reads it from standard input
    approach: String,
    /// Only in this task
    #[arg(long, value_name = "ID")]
    task: Option<String>,
}

pub(crate) fn run(args: Args, session: &mut CliSession) -> Result<u8, Fault> {
    session.set_short_lived();
    let engine = session.open()?;
    let approach = text_or_input(args.approach, "an approach")?;
    let found = engine
        .tasks()
        .similar_attempts(&approach, args.task.as_deref())?;
    if session.out.json {
        let tried: Vec<_> = found.attempts.iter().map(value).collect();
        session
            .out
            .value(&json!({"tried": tried, "failed": found.has_failed}));
        return Ok(0);
    }
    if found.attempts.is_empty() {
        session.out.talk("nothing similar was tried");
    }
    for one in &found.attempts {
        let approach = one.episode.approach.as_deref().unwrap_or(&one.record.text);
        let outcome = one.episode.outcome.as_deref().unwrap_or_default();
        let task = named_task(one.record.scope.task.as_deref()).unwrap_or("-");
        session.out.line(&format!(
            "{:14}  task {task}: {}  {}",
            result_label(&one.episode.action),
            text::excerpt(approach, 80),
            text::excerpt(outcome, 80)
        ));
    }
    if found.has_failed {
        session.out.line("a similar attempt has failed before");
    }
    Ok(0)
}

fn value(one: &SimilarAttempt) -> Value {
    json!({
        "id": one.record.id.to_string(),
        "task": one.record.scope.task,
        "agent": one.record.scope.agent,
        "action": one.episode.action,
        "approach": one.episode.approach,
        "outcome": one.episode.outcome,
        "score": json_output::rounded(one.score),
        "alike": true,
        "recorded_at": one.record.recorded_at.to_string(),
    })
}
