//! How long a context from every source takes, in a warm process and from process start.

use crate::stats::Times;
use crate::{Outcome, probe};
use heirloom_engine::{ContextRequest, Engine, NewNote, NewOutput, NewTurn, Workspace};
use heirloom_model::{Budget, Role, Scope};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

/// Records in the store.
const RECORDS: usize = 100_000;

/// What is asked.
const QUESTION: &str = "the parser rejects an unfinished escape";

/// Ten files, and the last lines of an output.
const INVOCATION: &str = "agent1[input:notes*.md][tail:20]";

/// Entries of workspace files, notes of a group, turns of a session.
fn fill_folders(engine: &Engine) -> Outcome<()> {
    for n in 0..50 {
        let said = format!("{} ({n})", probe::text(n));
        match n % 3 {
            0 => engine.workspace_save_fact(Workspace::Project, &said)?,
            1 => engine.workspace_log_learning(Workspace::Project, &said)?,
            _ => engine.workspace_daily_log(Workspace::Project, &said)?,
        };
        if n < 20 {
            engine.update_memory(&NewNote {
                content: said.clone(),
                group: Some("core".to_owned()),
                ..NewNote::default()
            })?;
            let turn = NewTurn {
                role: if n % 2 == 0 {
                    Role::User
                } else {
                    Role::Assistant
                },
                sender: None,
                task: None,
                agent: None,
                text: said,
            };
            engine.add_turn("s1", &turn)?;
        }
    }
    Ok(())
}

pub(crate) fn measure(heirloom: Option<&Path>) -> Outcome<()> {
    let root = tempfile::tempdir()?;
    let engine = probe::engine(root.path())?;
    probe::fill(&engine, RECORDS)?;
    for n in 0..200 {
        let error = format!("{} panicked in step {n}", probe::text(n));
        engine.log_error(&error, Scope::of_task("6"), "bench")?;
        engine.resolve_error(&error, "give the step its own lock", "bench")?;
    }
    for n in 0..10 {
        engine.put_output(&NewOutput {
            plan: "REQ-1".to_owned(),
            agent: format!("agent{n}"),
            content: probe::text(n).repeat(20),
            ..NewOutput::default()
        })?;
    }
    let plan = root.path().join("radium/build/REQ-1");
    let write =
        |path: &Path, text: &str| heirloom_store::durable::write_atomic(path, text.as_bytes());
    heirloom_store::durable::create_dir_private(&plan)?;
    for n in 0..10 {
        let tasks: String = (0..20)
            .map(|m| format!("- [ ] {}\n", probe::text(m)))
            .collect();
        write(
            &plan.join(format!("{n}.md")),
            &format!("# Part {n}\n\nA goal.\n\n## Tasks\n{tasks}"),
        )?;
    }
    let paragraphs: String = (0..200)
        .map(|n| format!("{}\n\n", probe::text(n)))
        .collect();
    write(&root.path().join("ARCHITECTURE.md"), &paragraphs)?;
    for n in 0..10 {
        let text = format!("{}\n", probe::text(n)).repeat(20);
        write(&root.path().join(format!("notes{n}.md")), &text)?;
    }
    fill_folders(&engine)?;
    let request = ContextRequest {
        task: Some("7".to_owned()),
        plan: Some("REQ-1".to_owned()),
        group: Some("core".to_owned()),
        session: Some("s1".to_owned()),
        query: Some(QUESTION.to_owned()),
        budget: Some(Budget::Chars(20_000)),
        invocation: Some(INVOCATION.to_owned()),
        ..ContextRequest::default()
    };
    let mut times = Vec::new();
    for _ in 0..300 {
        let start = Instant::now();
        let context = engine.context(&request)?;
        times.push(start.elapsed());
        assert!(context.sections.len() > 9, "a source is missing");
    }
    Times::of(&times).print("context, all sources, 100,000, in process");
    drop(engine);
    let Some(heirloom) = heirloom else {
        println!("context of all sources from process start: skipped, no --heirloom BINARY");
        return Ok(());
    };
    let mut times = Vec::new();
    for _ in 0..200 {
        let start = Instant::now();
        let status = Command::new(heirloom)
            .args(["context", INVOCATION, "--task", "7", "--plan", "REQ-1"])
            .args(["--group", "core", "--session", "s1", "--query", QUESTION])
            .args(["--budget-chars", "20000"])
            .current_dir(root.path())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .status()?;
        times.push(start.elapsed());
        assert!(status.success(), "context failed");
    }
    Times::of(&times).print("context, all sources, 100,000, process start");
    Ok(())
}
