//! How long a context from every source takes, in a warm process and from process start.

use crate::stats::Times;
use crate::{Outcome, probe};
use heirloom_engine::{ContextRequest, NewOutput};
use heirloom_model::{Budget, Scope};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

/// Records in the store.
const RECORDS: usize = 100_000;

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
    let request = ContextRequest {
        task: Some("7".to_owned()),
        agent: Some("agent1".to_owned()),
        plan: Some("REQ-1".to_owned()),
        query: Some("the parser rejects an unfinished escape".to_owned()),
        budget: Some(Budget::Chars(20_000)),
        ..ContextRequest::default()
    };
    let mut times = Vec::new();
    for _ in 0..300 {
        let start = Instant::now();
        let context = engine.context(&request)?;
        times.push(start.elapsed());
        assert!(context.sections.len() > 6, "a source is missing");
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
            .args([
                "context", "--task", "7", "--agent", "agent1", "--plan", "REQ-1",
            ])
            .args([
                "--query",
                "the parser rejects an unfinished escape",
                "--budget-chars",
                "20000",
            ])
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
