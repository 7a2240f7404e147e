//! `heirloom step`.

use super::session::text_or_input;
use crate::json_output;
use crate::store_access::CliSession;
use heirloom_model::Fault;
use heirloom_model::kinds::StepState;

/// Record a step of a task: done, or still pending
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Done completes the pending step with the same words (case, spaces and end punctuation ignored)."
)]
pub(crate) struct Args {
    /// done or pending
    state: State,
    /// The step; - reads it from standard input
    text: String,
    /// The task that it belongs to
    #[arg(long, value_name = "ID")]
    task: String,
    /// The agent that reports it
    #[arg(long, value_name = "ID")]
    agent: Option<String>,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum State {
    Done,
    Pending,
}

pub(crate) fn run(args: Args, session: &mut CliSession) -> Result<u8, Fault> {
    let engine = session.open()?;
    let state = match args.state {
        State::Done => StepState::Done,
        State::Pending => StepState::Pending,
    };
    let text = text_or_input(args.text, "a step")?;
    let source = args.agent.as_deref().unwrap_or("user");
    let applied = engine.tasks().step(&args.task, &text, state, source)?;
    if session.out.json {
        session.out.value(&json_output::applied(&applied));
    } else {
        session.out.line(&format!(
            "{} {}: {}",
            applied.id,
            state.as_str(),
            applied.verdict.as_str()
        ));
    }
    Ok(0)
}
