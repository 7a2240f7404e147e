//! Health page: checks of the doctor, facts about the store, and figures of a database server.

use super::first_steps::store_kind;
use crate::health_cache::HealthState;
use crate::page::request_context::times;
use crate::page::view::settings::{CheckRow, HealthView};
use crate::page::view::{bytes, number, render_text};
use crate::page::{PageError, RequestContext, Shell, render};
use crate::{App, background_jobs};
use axum::extract::State;
use axum::response::{IntoResponse, Redirect, Response};
use heirloom_engine::{CheckLevel, Engine, HealthCheck, SharedStoreStatus};
use heirloom_model::{Fault, Permission, text};

/// Shows the last result of the checks, and facts. A missing or old result starts a run in the background.
pub(super) async fn show(
    State(app): State<App>,
    context: RequestContext,
) -> Result<Response, PageError> {
    let project = context.resolve_project(Permission::Read)?;
    let state = app.health().state(project.as_deref());
    let of = project.clone();
    let loaded = app.with_engine(project, move |engine| {
        let is_due = state.is_due(engine.now());
        Ok((load_health(engine, &context, &state, is_due)?, is_due))
    });
    let (view, is_due) = loaded.await?;
    if is_due {
        drop(background_jobs::start_health_checks(&app, of));
    }
    render(&view)
}

/// Runs the checks again, and waits a moment for their result.
pub(super) async fn check_again(
    State(app): State<App>,
    context: RequestContext,
) -> Result<Response, PageError> {
    let project = context.resolve_project(Permission::Read)?;
    let run = background_jobs::start_health_checks(&app, project);
    background_jobs::wait_for_health_checks(run).await;
    Ok(Redirect::to("/settings/health").into_response())
}

fn load_health(
    engine: &Engine,
    context: &RequestContext,
    state: &HealthState,
    is_due: bool,
) -> Result<HealthView, Fault> {
    let records: u64 = engine.records().counts()?.iter().map(|(_, n)| n).sum();
    let report = state.report.as_deref();
    let checks = report.map_or(&[][..], |report| &report.checks);
    let (passed, problems): (Vec<_>, Vec<_>) =
        (checks.iter()).partition(|check| check.level == CheckLevel::Ok);
    let shared = engine.maintenance().shared_status()?;
    let mut server: Vec<_> = shared.iter().flat_map(server_facts).collect();
    server.extend(report.iter().flat_map(|report| report.server.clone()));
    Ok(HealthView {
        shell: Shell::load(engine, context, "settings", "Health")?,
        headline: match checks.first().map(|check| check.level) {
            None => "The checks are running.",
            Some(CheckLevel::Ok) => "All checks passed.",
            Some(CheckLevel::Warn) => "The store is fine, with warnings.",
            Some(CheckLevel::Bad) => "Action is required.",
        },
        checked_at: report.map_or_else(String::new, |report| times(engine).full(report.at)),
        is_running: state.is_running || is_due,
        facts: store_facts(engine, records)?,
        server,
        problems: problems.into_iter().map(check_row).collect(),
        passed: passed.into_iter().map(check_row).collect(),
    })
}

fn store_facts(engine: &Engine, records: u64) -> Result<Vec<(&'static str, String)>, Fault> {
    let times = times(engine);
    let store = engine.maintenance().describe_store()?;
    let last = engine.records().last_write()?;
    Ok(vec![
        ("Kind", store_kind(engine)?.to_owned()),
        ("Location", text::replace_control_chars(&store.location)),
        ("Size", bytes(store.size_bytes)),
        ("Records", number(records)),
        ("Schema", store.schema_version.to_string()),
        (
            "Last write",
            last.map_or_else(|| "never".to_owned(), |at| times.full(at)),
        ),
        (
            "Project",
            text::replace_control_chars(&engine.display_name()),
        ),
        (
            "Folder",
            text::replace_control_chars(&engine.root().to_string_lossy()),
        ),
    ])
}

fn check_row(check: &HealthCheck) -> CheckRow {
    let (class, icon, word) = match check.level {
        CheckLevel::Ok => ("ok", "check", "ok"),
        CheckLevel::Warn => ("warn", "note", "warning"),
        CheckLevel::Bad => ("bad", "cross", "bad"),
    };
    CheckRow {
        name: check.name.to_owned(),
        class,
        icon,
        word,
        message: render_text(&check.message),
        hint: render_text(check.hint.as_deref().unwrap_or_default()),
    }
}

/// Returns facts about a database server, its connections and the cache of this process.
fn server_facts(shared: &SharedStoreStatus) -> [(&'static str, String); 5] {
    let reads = shared.cache_hits + shared.cache_misses;
    let hit_rate = match reads {
        0 => "not used yet".to_owned(),
        reads => format!(
            "{} % of {} reads, {}",
            shared.cache_hits * 100 / reads,
            number(reads),
            bytes(shared.cache_bytes as u64)
        ),
    };
    [
        ("Server", text::replace_control_chars(&shared.server)),
        (
            "Latency",
            format!("{:.1} ms", shared.latency.as_secs_f64() * 1e3),
        ),
        (
            "Connections",
            format!(
                "{} in use, {} open, {} at most",
                shared.connections_in_use, shared.connections_open, shared.connections_max
            ),
        ),
        ("Round trips", number(shared.round_trips)),
        ("Cache hits", hit_rate),
    ]
}
