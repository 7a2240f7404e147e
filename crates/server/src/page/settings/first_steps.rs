//! First steps: a checklist from the store to the first context, computed from what exists.

use super::super::view::setup::{FirstStep, FirstSteps, FirstStepsView};
use super::agent_programs::is_installed;
use crate::App;
use crate::local_setup::LocalSetup;
use crate::page::view::{bytes, plural};
use crate::page::{PageError, RequestContext, Shell, render};
use axum::extract::State;
use axum::response::Response;
use heirloom_engine::Engine;
use heirloom_model::{Fault, Permission, text};

/// Shows the checklist on a page of its own.
pub(super) async fn show(
    State(app): State<App>,
    context: RequestContext,
) -> Result<Response, PageError> {
    let project = context.resolve_project(Permission::Read)?;
    let setup = app.options().setup.clone();
    let view = app.with_engine(project, move |engine| {
        let first_steps = load_first_steps(engine, setup.as_deref())?;
        let left = first_steps.steps.len() - first_steps.done;
        Ok(FirstStepsView {
            shell: Shell::load(engine, &context, "settings", "First steps")?,
            headline: match left {
                0 => "Everything is set up.".to_owned(),
                1 => "1 step is left.".to_owned(),
                n => format!("{n} steps are left."),
            },
            first_steps,
        })
    });
    render(&view.await?)
}

/// Loads the checklist of a project. `setup` finds the installed agent programs; without it only sessions prove one.
pub(in crate::page) fn load_first_steps(
    engine: &Engine,
    setup: Option<&dyn LocalSetup>,
) -> Result<FirstSteps, Fault> {
    let store = engine.maintenance().describe_store()?;
    let records: u64 = engine.records().counts()?.iter().map(|(_, n)| n).sum();
    let session = engine.sessions().latest_session()?;
    let has_context = !engine.contexts().receipt_heads(1)?.is_empty();
    // A settings file that cannot be read must not hide the other steps.
    let agents = setup
        .and_then(|setup| setup.agents().ok())
        .unwrap_or_default();
    let installed: Vec<_> = agents.iter().filter(|agent| is_installed(agent)).collect();
    let names: Vec<_> = installed.iter().map(|agent| agent.name).collect();
    let candidate = (agents.iter())
        .filter(|agent| !agent.hooks.is_empty())
        .find(|agent| agent.is_on_path);
    let candidate_name = candidate.map_or("claude-code", |agent| agent.name);
    let running = installed.first().copied().or(candidate);
    let executable = running.and_then(|agent| agent.executables.first());
    let step = |title, is_done, fact: String, command: String| FirstStep {
        title,
        is_done,
        fact,
        command,
    };
    let steps = vec![
        step(
            "Open the store",
            true,
            format!("{}, {}", store_kind(engine)?, bytes(store.size_bytes)),
            "heirloom init".to_owned(),
        ),
        step(
            "Connect an agent program",
            !names.is_empty(),
            match names.is_empty() {
                false => names.join(", "),
                true => "Its sessions then start with what is known here.".to_owned(),
            },
            format!("heirloom install {candidate_name}"),
        ),
        step(
            "Store a first record",
            records > 0,
            match records {
                0 => "Write down a fact that every agent should know.".to_owned(),
                n => plural(
                    usize::try_from(n).unwrap_or(usize::MAX),
                    "record",
                    "records",
                ),
            },
            "heirloom remember \"the tests need a database on port 5433\"".to_owned(),
        ),
        step(
            "Work in a first session",
            session.is_some(),
            match &session {
                Some(session) => text::excerpt(&text::replace_control_chars(&session.id), 60),
                None => "Start the agent program in the folder of the project.".to_owned(),
            },
            (*executable.unwrap_or(&"claude")).to_owned(),
        ),
        step(
            "Build a first context",
            has_context,
            match has_context {
                true => "The receipts show the items of each context.".to_owned(),
                false => "A session start builds one; this command shows one.".to_owned(),
            },
            "heirloom context".to_owned(),
        ),
    ];
    Ok(FirstSteps {
        done: steps.iter().filter(|step| step.is_done).count(),
        steps,
    })
}

/// Returns the kind of a store for people.
pub(super) fn store_kind(engine: &Engine) -> Result<&'static str, Fault> {
    Ok(match engine.maintenance().shared_status()? {
        Some(_) => "PostgreSQL",
        None => "SQLite file",
    })
}
