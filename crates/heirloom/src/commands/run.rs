//! `heirloom run`.

mod json_events;
mod screen;

use crate::store_access::CliSession;
use heirloom_agents::AgentProgram;
use heirloom_capture::Runs;
use heirloom_capture::{EndReason, RunReport, RunRequest};
use heirloom_model::Fault;
use json_events::JsonEventPrinter;
pub(super) use screen::{RunScreen, describe_mirror_load};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Run an agent repeatedly on a task; each iteration starts with what the earlier ones learned
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  heirloom run --task 42 --type issue -- claude -p \"Fix issue 42\" --allowedTools Bash,Edit
  heirloom run --task 42 -- codex exec \"Fix issue 42\"
  heirloom run --iterations 3 -- ./my-agent.sh {prompt}

The context is that of `heirloom context` with the same options. It goes into the agent's prompt: in
place of {prompt}, else where the program takes it, else through standard input. Rules of people
(SOUL.md, AGENTS.md, personas) go before it, or into the system prompt of Claude Code. HEIRLOOM_CONTEXT_FILE and HEIRLOOM_PROMPT_FILE name files with both.
The agent writes memory by printing lines such as `HEIRLOOM_MEMORY: KEY_FACT the tests need Redis`.")]
pub(crate) struct Args {
    /// claude-code, codex, aider, gemini, opencode, copilot or command; the default depends on the program's name
    #[arg(long, value_name = "AGENT")]
    agent: Option<AgentProgram>,
    /// The task
    #[arg(long, value_name = "ID")]
    task: Option<String>,
    /// issue, pr, or any other word
    #[arg(long = "type", value_name = "TYPE")]
    task_type: Option<String>,
    /// The phase of the task
    #[arg(long, value_name = "NAME")]
    phase: Option<String>,
    /// The plan that it works on: PLAN or STAGE/PLAN
    #[arg(long, value_name = "PLAN")]
    plan: Option<String>,
    /// The group that it belongs to
    #[arg(long, value_name = "NAME")]
    group: Option<String>,
    /// The session to continue
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// Additional words to search memory for; default: the prompt in the agent's command
    #[arg(long, value_name = "WORDS")]
    query: Option<String>,
    /// The agent to prompt, with directives: 'coder[input:docs/*.md][tail:50]'
    #[arg(long, value_name = "AGENT[DIRECTIVES]")]
    invocation: Option<String>,
    /// The approach; `heirloom tried` finds the iterations by it
    #[arg(long, value_name = "TEXT")]
    approach: Option<String>,
    /// At most this many iterations in this call
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    iterations: Option<u32>,
    /// Continue until the task is complete
    #[arg(long)]
    until_done: bool,
    /// Time limit of one iteration in seconds
    #[arg(long, value_name = "S", value_parser = clap::value_parser!(u64).range(1..))]
    timeout: Option<u64>,
    /// The agent's command
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<String>,
}

pub(crate) fn run(args: Args, session: &mut CliSession) -> Result<u8, Fault> {
    let found = session.find_project()?;
    let engine = session.engine(&found)?;
    session.ingest_pending(&engine);
    let configured = found.config.texts("run.command");
    let command = if args.command.is_empty() {
        configured
    } else {
        args.command
    };
    if command.is_empty() {
        return Err(Fault::usage("which command is the agent?")
            .hint("heirloom run -- claude -p \"…\"   or set run.command in the user's config"));
    }
    if !engine.settings().enabled {
        session
            .out
            .talk("memory is off here (memory.enabled = false): the agent runs without it");
    }
    let request = RunRequest {
        command,
        adapter: args.agent,
        task: args.task,
        task_type: args.task_type,
        phase: args.phase,
        plan: args.plan,
        group: args.group,
        session: args.session,
        query: args.query,
        invocation: args.invocation,
        approach: args.approach,
        iterations: args.iterations,
        until_done: args.until_done,
        timeout_s: args.timeout,
        temp_dir: None,
    };
    let interrupt = interrupt_flag()?;
    let report = if session.out.json {
        let mut events = JsonEventPrinter::new(&mut session.out);
        let report =
            Runs::new(&engine).run(&request, interrupt, &mut |event| events.print_event(event))?;
        events.print_end(&report);
        report
    } else {
        let mut screen = RunScreen::new(&mut session.out, request.phase.clone());
        let report =
            Runs::new(&engine).run(&request, interrupt, &mut |event| screen.show_event(event))?;
        screen.show_end(&report);
        report
    };
    Ok(exit_code(&report))
}

fn exit_code(report: &RunReport) -> u8 {
    match report.reason {
        EndReason::Interrupted => 130,
        EndReason::Complete | EndReason::IterationLimit | EndReason::Stalled => {
            u8::from(!report.success())
        }
    }
}

/// Returns a flag that is set on Ctrl-C, SIGTERM and SIGHUP.
pub(super) fn interrupt_flag() -> Result<Arc<AtomicBool>, Fault> {
    let flag = Arc::new(AtomicBool::new(false));
    for signal in crate::platform::TERMINATION_SIGNALS {
        signal_hook::flag::register(signal, flag.clone())
            .map_err(|error| Fault::failed(format!("cannot listen for Ctrl-C: {error}")))?;
    }
    Ok(flag)
}
