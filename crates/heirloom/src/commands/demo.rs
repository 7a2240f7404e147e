//! `heirloom demo`.

mod served;
mod story;
mod week;

use super::run::{Screen, interrupt_flag};
use crate::open::{self, Session};
use crate::output;
use heirloom_engine::{Engine, Filter, NewRecord, RunEvent, RunRequest, Undone};
use heirloom_model::{Fault, Kind, text};
use serde_json::json;
use std::path::{Path, PathBuf};

/// See it work: three iterations of a small agent that forgets, in a temporary project
#[derive(Debug, clap::Args)]
#[command(after_help = "No network, nothing outside a temporary folder, a few seconds.")]
pub(crate) struct Args {
    /// Fill a memory with a week of work, and show it as a page until Ctrl-C
    #[arg(long)]
    serve: bool,
    /// The empty folder of that project; a temporary one without it
    #[arg(long, value_name = "DIR", requires = "serve")]
    folder: Option<PathBuf>,
    /// Port of the page; 0 takes a free one
    #[arg(long, value_name = "N", requires = "serve", default_value_t = 0)]
    port: u16,
}

const AGENT: &str = include_str!("../../demo/agent.sh");
const CHECK: &str = include_str!("../../demo/check.sh");
/// What the person wants from the agent.
const PROMPT: &str = "Write config.ini so that check.sh accepts it.";
/// The iterations that the story takes.
const ITERATIONS: u32 = 3;

pub(crate) fn run(args: Args, session: &mut Session) -> Result<u8, Fault> {
    if args.serve {
        return served::run(args.folder.as_deref(), args.port, session);
    }
    let folder = open::temporary_folder("heirloom-demo-")?;
    let engine = project(session, folder.path())?;
    tell(
        session,
        &[
            "A small shell script plays the agent. It has no memory: each iteration starts from nothing but its prompt.",
            &format!("Its job: {PROMPT}"),
            "",
        ],
    );
    let request = RunRequest {
        command: ["sh", "agent.sh"].map(str::to_owned).to_vec(),
        adapter: None,
        task: Some("7".to_owned()),
        task_type: Some("issue".to_owned()),
        phase: Some("IMPLEMENT".to_owned()),
        approach: None,
        iterations: Some(ITERATIONS),
        until_done: false,
        timeout_s: Some(20),
        temp_dir: None,
    };
    let interrupt = interrupt_flag()?;
    let report = {
        let json = session.out.json;
        let mut screen = Screen::new(&mut session.out, request.phase.clone());
        let report = engine.run(&request, interrupt, &mut |event| {
            if let RunEvent::IterationStarted {
                iteration, context, ..
            } = event
            {
                screen.show(&boxed(*iteration, &context.text));
            }
            if !json {
                screen.take(event);
            }
        })?;
        if !json {
            screen.end(&report);
        }
        report
    };
    let done = report.success() && report.iterations.len() == ITERATIONS as usize;
    let fact = go_back(&engine, session)?;
    if session.out.json {
        session.out.value(&json!({
            "success": done,
            "iterations": report.iterations.len(),
            "reason": report.reason.as_str(),
            "undone": fact,
        }));
    } else {
        tell(
            session,
            &[
                "",
                "What you saw: iteration 1 guessed and failed; what it learned stood in the prompt of iteration 2, which",
                "got further; iteration 3 did the step that was left. Nothing but memory passed between them.",
                "",
                "Now in a project of yours:",
                "  heirloom init",
                "  heirloom run --task 1 -- claude -p \"your task\"      (or codex exec, aider, gemini, any command)",
                "  heirloom context --task 1                            what the next iteration will be told",
            ],
        );
    }
    if done {
        return Ok(0);
    }
    Err(
        Fault::failed("the demo's agent did not finish in three iterations")
            .hint("the output above says where it stopped; `sh`, `grep` and `head` are needed"),
    )
}

/// A project in a temporary folder, with the agent and the checker in it.
fn project(session: &mut Session, root: &Path) -> Result<Engine, Fault> {
    let folder = root.join(".heirloom");
    open::create_folder(&folder)?;
    open::write_file(
        &folder.join("config.toml"),
        b"[project]\nname = \"demo\"\n\n[memory]\nenabled = true\n",
    )?;
    open::write_file(&root.join("agent.sh"), AGENT.as_bytes())?;
    open::write_file(&root.join("check.sh"), CHECK.as_bytes())?;
    session.demo_engine(root)
}

fn tell(session: &mut Session, lines: &[&str]) {
    if !session.out.json {
        for line in lines {
            session.out.line(line);
        }
    }
}

/// The context as a block that stands out from the agent's words.
fn boxed(iteration: u32, context: &str) -> String {
    let mut block = format!("\n── what iteration {iteration} is told ──\n");
    if context.is_empty() {
        block.push_str("│ (nothing yet)\n");
    }
    for line in context.lines() {
        block.push_str(format!("│ {line}").trim_end());
        block.push('\n');
    }
    block.push_str("──\n");
    block
}

/// Replaces a fact, shows its history, and takes the change back.
fn go_back(engine: &Engine, session: &mut Session) -> Result<String, Fault> {
    let keyed = |said: &str| NewRecord {
        text: said.to_owned(),
        category: Some("convention".to_owned()),
        key: Some("port".to_owned()),
        ..NewRecord::default()
    };
    engine.remember(keyed("The server listens on port 8080"))?;
    let wrong = engine.remember(keyed("The server listens on port 80"))?;
    tell(
        session,
        &[
            "",
            "Somebody corrects a convention, wrongly. Nothing is overwritten; its history:",
        ],
    );
    if !session.out.json {
        let rows: Vec<_> = engine
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
        session.out.line(&output::table(&rows));
    }
    let restored = match engine.undo(wrong.id)? {
        Undone::Restored { id, .. } => engine.get(id)?.text,
        Undone::Uncreated { .. }
        | Undone::Reversed { .. }
        | Undone::Reopened { .. }
        | Undone::Resolved { .. }
        | Undone::Marked { .. } => {
            return Err(Fault::failed("undo did not bring the earlier value back"));
        }
    };
    let current =
        engine.find(&Filter::current(&[Kind::Knowledge], engine.now()).category("convention"))?;
    tell(
        session,
        &[&format!(
            "heirloom undo brings the earlier one back: {restored} ({} current)",
            current.len()
        )],
    );
    Ok(restored)
}
