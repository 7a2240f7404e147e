//! `heirloom step`.

use crate::open::Session;
use crate::wire;
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
    /// The step
    text: String,
    /// The task that it belongs to
    #[arg(long, value_name = "ID")]
    task: String,
    /// Who says so
    #[arg(long, value_name = "ID")]
    agent: Option<String>,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum State {
    Done,
    Pending,
}

pub(crate) fn run(args: Args, session: &mut Session) -> Result<u8, Fault> {
    let engine = session.open()?;
    let state = match args.state {
        State::Done => StepState::Done,
        State::Pending => StepState::Pending,
    };
    let source = args.agent.as_deref().unwrap_or("user");
    let applied = engine.step(&args.task, &args.text, state, source)?;
    if session.out.json {
        session.out.value(&wire::applied(&applied));
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
