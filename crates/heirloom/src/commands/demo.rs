//! `heirloom demo`.

mod example_recorder;
mod example_week;
mod old_fact;
mod scripted_agent;
mod server;

use super::run::{RunScreen, interrupt_flag};
use crate::store_access::{self, CliSession};
use heirloom_capture::Runs;
use heirloom_capture::{RunEvent, RunRequest};
use heirloom_engine::{Engine, Filter, NewRecord, UndoReport};
use heirloom_model::{Fault, Kind, text};
use serde_json::json;
use std::path::{Path, PathBuf};

/// See it work: three iterations of a small agent without a memory, in a temporary project
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Takes a few seconds, uses no network, and writes only to a temporary folder."
)]
pub(crate) struct Args {
    /// Fill a memory with a week of example work, and serve its page until Ctrl-C
    #[arg(long)]
    serve: bool,
    /// The empty folder for that project; a temporary one by default
    #[arg(long, value_name = "DIR", requires = "serve")]
    folder: Option<PathBuf>,
    /// Port of the page; 0 chooses a free one
    #[arg(long, value_name = "N", requires = "serve", default_value_t = 0)]
    port: u16,
    /// Play the agent of the demo
    #[arg(long, hide = true, conflicts_with = "serve")]
    play_agent: bool,
}

/// Prompt that the user gives to the agent.
const PROMPT: &str = "Write config.ini so that the checker accepts it.";
/// Iterations that the demo agent needs.
const ITERATIONS: u32 = 3;

pub(crate) fn run(args: Args, session: &mut CliSession) -> Result<u8, Fault> {
    if args.serve {
        return server::run(args.folder.as_deref(), args.port, session);
    }
    if args.play_agent {
        return scripted_agent::run(session);
    }
    let program = std::env::current_exe()
        .map_err(|error| Fault::failed(format!("the path of this program is unknown: {error}")))?;
    let folder = store_access::temporary_folder("heirloom-demo-")?;
    let engine = create_project(session, folder.path())?;
    print_lines(
        session,
        &[
            "A small script plays the agent. It has no memory: each iteration starts with nothing but its prompt.",
            &format!("Its job: {PROMPT}"),
            "",
        ],
    );
    let request = RunRequest {
        command: vec![
            program.to_string_lossy().into_owned(),
            "demo".to_owned(),
            "--play-agent".to_owned(),
        ],
        task: Some("7".to_owned()),
        task_type: Some("issue".to_owned()),
        phase: Some("IMPLEMENT".to_owned()),
        iterations: Some(ITERATIONS),
        timeout_s: Some(20),
        ..RunRequest::default()
    };
    let interrupt = interrupt_flag()?;
    let report = {
        let json = session.out.json;
        let mut screen = RunScreen::new(&mut session.out, request.phase.clone());
        let report = Runs::new(&engine).run(&request, interrupt, &mut |event| {
            if let RunEvent::IterationStarted {
                iteration, context, ..
            } = event
            {
                screen.show_text(&render_context_box(*iteration, &context.text));
            }
            if !json {
                screen.show_event(event);
            }
        })?;
        if !json {
            screen.show_end(&report);
        }
        report
    };
    let is_success = report.success() && report.iterations.len() == ITERATIONS as usize;
    let restored_text = demonstrate_undo(&engine, session)?;
    let is_told = old_fact::demonstrate(session)?;
    if session.out.json {
        session.out.value(&json!({
            "success": is_success,
            "iterations": report.iterations.len(),
            "reason": report.reason.as_str(),
            "undone": restored_text,
            "old_fact_told": is_told,
        }));
    } else {
        print_lines(
            session,
            &[
                "",
                "What you saw: iteration 1 guessed and failed; what it learned was in the prompt of iteration 2, which",
                "got further; iteration 3 did the step that was left. Nothing but memory passed between them.",
                "",
                "Now in a project of yours:",
                "  heirloom init",
                "  heirloom run --task 1 -- claude -p \"your task\"      (or codex exec, aider, gemini, any command)",
                "  heirloom context --task 1                            the context of the next iteration",
            ],
        );
    }
    if is_success {
        return Ok(0);
    }
    Err(
        Fault::failed("the demo's agent did not finish in three iterations")
            .hint("the output above shows where it stopped"),
    )
}

/// Creates a project in a temporary folder.
fn create_project(session: &mut CliSession, root: &Path) -> Result<Engine, Fault> {
    write_config(&root.join(".heirloom"))?;
    let clock = session.clock()?;
    session.demo_engine(root, clock)
}

/// Creates the folder of a memory with its configuration.
fn write_config(folder: &Path) -> Result<(), Fault> {
    store_access::create_folder(folder)?;
    store_access::write_file(
        &folder.join("config.toml"),
        b"[project]\nname = \"demo\"\n\n[memory]\nenabled = true\n",
    )
}

fn print_lines(session: &mut CliSession, lines: &[&str]) {
    if !session.out.json {
        for line in lines {
            session.out.line(line);
        }
    }
}

/// Formats the context as a framed block, apart from the agent's output.
fn render_context_box(iteration: u32, context: &str) -> String {
    format!(
        "\n── context of iteration {iteration} ──\n{}──\n",
        render_framed(context)
    )
}

/// Formats the lines of a context with a bar in front.
fn render_framed(context: &str) -> String {
    if context.is_empty() {
        return "│ (nothing yet)\n".to_owned();
    }
    let lines = context
        .lines()
        .map(|line| format!("│ {line}").trim_end().to_owned() + "\n");
    lines.collect()
}

/// Replaces a fact, shows its history, and undoes the change.
fn demonstrate_undo(engine: &Engine, session: &mut CliSession) -> Result<String, Fault> {
    let port_convention = |text: &str| NewRecord {
        text: text.to_owned(),
        category: Some("convention".to_owned()),
        key: Some("port".to_owned()),
        ..NewRecord::default()
    };
    engine
        .records()
        .remember(port_convention("The server listens on port 8080"))?;
    let wrong = engine
        .records()
        .remember(port_convention("The server listens on port 80"))?;
    print_lines(
        session,
        &[
            "",
            "A convention is replaced by a wrong one. Nothing is overwritten; its history:",
        ],
    );
    if !session.out.json {
        let rows: Vec<_> = engine
            .records()
            .history(wrong.id)?
            .iter()
            .map(|record| {
                let state = if record.retired_at.is_some() {
                    "replaced"
                } else {
                    "current"
                };
                vec![format!("  {state}"), text::excerpt(&record.text, 60)]
            })
            .collect();
        session.out.table(&rows, &[]);
    }
    let restored = match engine.records().undo(wrong.id)? {
        UndoReport::Restored { id, .. } => engine.records().get(id)?.text,
        UndoReport::Uncreated { .. }
        | UndoReport::Reversed { .. }
        | UndoReport::Reopened { .. }
        | UndoReport::Resolved { .. }
        | UndoReport::Marked { .. } => {
            return Err(Fault::failed("undo did not restore the earlier value"));
        }
    };
    let current = engine
        .records()
        .find(&Filter::current(&[Kind::Knowledge], engine.now()).category("convention"))?;
    print_lines(
        session,
        &[&format!(
            "heirloom undo restores the earlier one: {restored} ({} current)",
            current.len()
        )],
    );
    Ok(restored)
}
