//! Health page: checks of the doctor, facts about the store, and figures of a database server.

use super::first_steps::store_kind;
use crate::App;
use crate::local_setup::LocalSetup;
use crate::page::request_context::times;
use crate::page::view::settings::{CheckRow, HealthView};
use crate::page::view::{bytes, number, plural, render_text};
use crate::page::{PageError, RequestContext, Shell, render};
use axum::extract::{Query, State};
use axum::response::Response;
use heirloom_engine::{CheckLevel, Engine, HealthCheck, SharedStoreStatus};
use heirloom_model::{Fault, Permission, text};
use serde::Deserialize;

/// Query parameters.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(super) struct HealthParams {
    check: Option<String>,
}

/// Shows the checks and facts.
pub(super) async fn show(
    State(app): State<App>,
    context: RequestContext,
    Query(params): Query<HealthParams>,
) -> Result<Response, PageError> {
    let project = context.resolve_project(Permission::Read)?;
    let is_checked = params.check.is_some();
    // The setup is that of the served project.
    let setup = app.options().setup.clone().filter(|_| project.is_none());
    let view = app.with_engine(project, move |engine| {
        load_health(engine, &context, setup.as_deref(), is_checked)
    });
    render(&view.await?)
}

fn load_health(
    engine: &Engine,
    context: &RequestContext,
    setup: Option<&dyn LocalSetup>,
    is_checked: bool,
) -> Result<HealthView, Fault> {
    let records: u64 = engine.records().counts()?.iter().map(|(_, n)| n).sum();
    let mut checks = match (is_checked, setup) {
        (false, _) => Vec::new(),
        (true, Some(setup)) => setup.examine()?,
        (true, None) => engine.examine(),
    };
    checks.sort_by_key(|check| std::cmp::Reverse(check.level));
    let worst = checks.first().map(|check| check.level);
    let (passed, problems): (Vec<_>, Vec<_>) =
        (checks.iter()).partition(|check| check.level == CheckLevel::Ok);
    let shared = engine.maintenance().shared_status()?;
    let mut server: Vec<_> = shared.iter().flat_map(server_facts).collect();
    if let (true, Some(setup), Some(_)) = (is_checked, setup, &shared) {
        server.extend(setup.server_facts()?);
    }
    Ok(HealthView {
        shell: Shell::load(engine, context, "settings", "Health")?,
        headline: match worst {
            None => format!(
                "The store opens: {}.",
                plural(
                    usize::try_from(records).unwrap_or(usize::MAX),
                    "record",
                    "records"
                )
            ),
            Some(CheckLevel::Ok) => "All checks passed.".to_owned(),
            Some(CheckLevel::Warn) => "The store is fine, with warnings.".to_owned(),
            Some(CheckLevel::Bad) => "Action is required.".to_owned(),
        },
        facts: store_facts(engine, records)?,
        server,
        problems: problems.into_iter().map(check_row).collect(),
        passed: passed.into_iter().map(check_row).collect(),
        is_checked,
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
