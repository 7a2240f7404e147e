//! `heirloom outcome`.

use crate::json_output;
use crate::store_access::CliSession;
use heirloom_model::text::counted;
use heirloom_model::{AgentStatus, Fault, IterationOutcome, Scope};
use serde_json::json;

/// Record how an iteration ended, for your own controller
#[derive(Debug, clap::Args)]
#[command(
    after_help = "An error opens one error. A success closes none: say `heirloom error resolve` what helped."
)]
pub(crate) struct Args {
    /// The task
    #[arg(long, value_name = "ID")]
    task: String,
    /// The phase
    #[arg(long, value_name = "NAME")]
    phase: Option<String>,
    /// The iteration, from 1
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    iteration: Option<u32>,
    /// COMPLETE, PARTIAL, BLOCKED or FAILED
    #[arg(long, value_name = "STATUS")]
    status: AgentStatus,
    /// The agent's message
    #[arg(long, value_name = "TEXT")]
    message: Option<String>,
    /// The approach; `heirloom tried` finds the iteration by it
    #[arg(long, value_name = "TEXT")]
    approach: Option<String>,
    /// The error
    #[arg(long, value_name = "TEXT")]
    error: Option<String>,
    /// The pull request
    #[arg(long, value_name = "N")]
    pr: Option<u64>,
    /// The branch
    #[arg(long, value_name = "NAME")]
    branch: Option<String>,
    /// A file that was modified; may be given several times
    #[arg(long, value_name = "PATH", num_args = 1..)]
    file: Vec<String>,
    /// The agent
    #[arg(long, value_name = "ID")]
    agent: Option<String>,
}

pub(crate) fn run(args: Args, session: &mut CliSession) -> Result<u8, Fault> {
    let engine = session.open()?;
    let mut outcome = IterationOutcome::with_status(args.status);
    outcome.success &= args.error.is_none();
    outcome.message = args.message;
    outcome.approach = args.approach;
    outcome.error = args.error;
    outcome.pr_number = args.pr;
    outcome.branch = args.branch;
    outcome.files = args.file;
    let source = args
        .agent
        .clone()
        .unwrap_or_else(|| "orchestrator".to_owned());
    let scope = Scope {
        task: Some(args.task.clone()),
        phase: args.phase,
        iteration: args.iteration,
        agent: args.agent,
        ..Scope::default()
    };
    let (loaded, applied) = engine.tasks().record_iteration(&scope, &outcome, &source)?;
    if let Some(line) = super::run::describe_mirror_load(&loaded) {
        session.out.talk(&format!("heirloom: {line}"));
    }
    if session.out.json {
        let records: Vec<_> = applied.iter().map(json_output::applied).collect();
        session
            .out
            .value(&json!({"task": args.task, "success": outcome.success, "records": records}));
    } else {
        session.out.line(&format!(
            "task {}: {} ({})",
            args.task,
            outcome.status,
            counted(applied.len(), "record", "records")
        ));
    }
    Ok(0)
}
