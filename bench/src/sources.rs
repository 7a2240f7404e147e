//! Latency of a context with every source, in a warm process and from process start.

use crate::stats::Times;
use crate::{Outcome, fixture, results};
use heirloom_engine::{ContextRequest, Engine, NewNote, NewOutput, NewTurn, Workspace};
use heirloom_model::{Budget, Role, Scope};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

/// Number of records in the store.
const RECORDS: usize = 100_000;

/// Query of the context.
const QUESTION: &str = "the parser rejects an unfinished escape";

/// Injects ten files, and the last lines of an output.
const INVOCATION: &str = "agent1[input:notes*.md][tail:20]";

/// Adds entries of workspace files, notes of a group, and messages of a session.
fn fill_folders(engine: &Engine) -> Outcome<()> {
    for n in 0..50 {
        let text = format!("{} ({n})", fixture::text(n));
        match n % 3 {
            0 => engine.workspace().save_fact(Workspace::Project, &text)?,
            1 => engine.workspace().log_learning(Workspace::Project, &text)?,
            _ => engine
                .workspace()
                .append_daily_log(Workspace::Project, &text)?,
        };
        if n < 20 {
            engine.groups().add_note(&NewNote {
                content: text.clone(),
                group: Some("core".to_owned()),
                ..NewNote::default()
            })?;
            let turn = NewTurn {
                machine: false,
                role: if n % 2 == 0 {
                    Role::User
                } else {
                    Role::Assistant
                },
                sender: None,
                task: None,
                agent: None,
                text,
            };
            engine.sessions().add_turn("s1", &turn)?;
        }
    }
    Ok(())
}

pub(crate) fn measure(heirloom: Option<&Path>) -> Outcome<()> {
    let root = tempfile::tempdir()?;
    let engine = fixture::engine(root.path())?;
    fixture::fill(&engine, RECORDS)?;
    for n in 0..200 {
        let error = format!("{} panicked in step {n}", fixture::text(n));
        engine.errors().log(&error, Scope::of_task("6"), "bench")?;
        engine
            .errors()
            .resolve(&error, "give the step its own lock", "bench")?;
    }
    for n in 0..10 {
        engine.outputs().put(&NewOutput {
            plan: "REQ-1".to_owned(),
            agent: format!("agent{n}"),
            content: fixture::text(n).repeat(20),
            ..NewOutput::default()
        })?;
    }
    let plan = root.path().join("radium/build/REQ-1");
    let write = |path: &Path, text: &str| heirloom_fs::durable::write_atomic(path, text.as_bytes());
    heirloom_fs::durable::create_dir_private(&plan)?;
    for n in 0..10 {
        let tasks: String = (0..20)
            .map(|m| format!("- [ ] {}\n", fixture::text(m)))
            .collect();
        write(
            &plan.join(format!("{n}.md")),
            &format!("# Part {n}\n\nA goal.\n\n## Tasks\n{tasks}"),
        )?;
    }
    let paragraphs: String = (0..200)
        .map(|n| format!("{}\n\n", fixture::text(n)))
        .collect();
    write(&root.path().join("ARCHITECTURE.md"), &paragraphs)?;
    for n in 0..10 {
        let text = format!("{}\n", fixture::text(n)).repeat(20);
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
        let context = engine.contexts().build(&request)?;
        times.push(start.elapsed());
        assert!(context.sections.len() > 9, "a source is missing");
    }
    results::times(
        "sources.in_process",
        "context, all sources, 100,000, in process",
        &Times::of(&times),
    );
    drop(engine);
    let Some(heirloom) = heirloom else {
        println!("context of all sources from process start: skipped, no --heirloom BINARY");
        return Ok(());
    };
    // Otherwise the first processes compete with the writing of the store's 80 MB.
    let synced = Command::new("sync").status()?;
    assert!(synced.success(), "sync failed");
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
    results::times(
        "sources.process",
        "context, all sources, 100,000, process start",
        &Times::of(&times),
    );
    Ok(())
}
