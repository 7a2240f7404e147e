//! Settings pages: effective settings with their layers, health checks, hook calls, and preferences of the browser.

use super::form_fields::FormFields;
use super::request_context::{KEYS_COOKIE, THEME_COOKIE, times};
use super::view::chart::spark;
use super::view::settings::{
    CheckRow, HealthView, HookCallRow, HookEventRow, HooksView, SettingRow, SettingsView,
};
use super::view::{bytes, number, plural, render_text};
use super::{PageError, RequestContext, Shell, render};
use crate::App;
use axum::Router;
use axum::extract::{Query, State};
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::{get, post};
use heirloom_capture::{HookCall, HookCallLog};
use heirloom_engine::{CheckLevel, Engine, SharedStoreStatus};
use heirloom_model::{Fault, Permission, text};
use serde::Deserialize;
use std::collections::BTreeMap;

/// Maximum number of listed hook calls.
const CALLS: usize = 40;
/// Lifetime of preference cookies in seconds.
const WANTED_S: u32 = 31_536_000;

/// Query parameters.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
struct HealthParams {
    check: Option<String>,
}

/// Returns the routes.
pub(super) fn routes() -> Router<App> {
    Router::new()
        .route("/settings", get(show))
        .route("/settings/health", get(health))
        .route("/settings/hooks", get(hooks))
        .route("/settings/theme", post(theme))
        .route("/settings/keys", post(keys))
}

async fn show(State(app): State<App>, context: RequestContext) -> Result<Response, PageError> {
    let project = context.resolve_project(Permission::Read)?;
    let known = app.options().settings.clone();
    let view = app.with_engine(project, move |engine| {
        let mut groups: Vec<(String, Vec<SettingRow>)> = Vec::new();
        let own = known.iter().filter(|one| one.origin != "default").count();
        for one in &known {
            let part = one.key.split_once('.').map_or("", |(part, _)| part);
            if groups.last().is_none_or(|(name, _)| name != part) {
                groups.push((part.to_owned(), Vec::new()));
            }
            if let Some((_, list)) = groups.last_mut() {
                list.push(SettingRow {
                    key: one.key.clone(),
                    value: text::excerpt(&text::replace_control_chars(&one.value), 400),
                    origin: text::replace_control_chars(&one.origin),
                    is_own: one.origin != "default",
                });
            }
        }
        Ok(SettingsView {
            shell: Shell::load(engine, &context, "settings", "Settings")?,
            headline: match own {
                0 => "All values are defaults.".to_owned(),
                n => format!(
                    "{} from the default.",
                    plural(n, "value differs", "values differ")
                ),
            },
            groups,
        })
    });
    render(&view.await?)
}

async fn health(
    State(app): State<App>,
    context: RequestContext,
    Query(params): Query<HealthParams>,
) -> Result<Response, PageError> {
    let project = context.resolve_project(Permission::Read)?;
    let is_checked = params.check.is_some();
    let view = app.with_engine(project, move |engine| {
        load_health(engine, &context, is_checked)
    });
    render(&view.await?)
}

fn load_health(
    engine: &Engine,
    context: &RequestContext,
    is_checked: bool,
) -> Result<HealthView, Fault> {
    let times = times(engine);
    let store = engine.maintenance().describe_store()?;
    let records: u64 = engine.records().counts()?.iter().map(|(_, n)| n).sum();
    let checks = if is_checked {
        engine.examine()
    } else {
        Vec::new()
    };
    let worst = checks.iter().map(|check| check.level).max();
    let last = engine.records().last_write()?;
    let shared = engine.maintenance().shared_status()?;
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
            Some(CheckLevel::Ok) => "All is well.".to_owned(),
            Some(CheckLevel::Warn) => "Nothing is lost; there are warnings.".to_owned(),
            Some(CheckLevel::Bad) => "Action is required.".to_owned(),
        },
        facts: [
            ("Place", text::replace_control_chars(&store.location)),
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
        ]
        .into_iter()
        .chain(shared.iter().flat_map(server_facts))
        .collect(),
        checks: checks
            .iter()
            .map(|check| {
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
            })
            .collect(),
        is_checked,
    })
}

/// Returns facts about a database server, its connections and the cache of this process.
fn server_facts(shared: &SharedStoreStatus) -> [(&'static str, String); 4] {
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
        ("Cache", hit_rate),
    ]
}

async fn hooks(State(app): State<App>, context: RequestContext) -> Result<Response, PageError> {
    let project = context.resolve_project(Permission::Read)?;
    let view = app.with_engine(project, move |engine| {
        let times = times(engine);
        let calls = HookCallLog::in_folder(engine.folder()).read();
        let failed = calls.iter().filter(|call| call.failed).count();
        let mut by_event: BTreeMap<&str, Vec<&HookCall>> = BTreeMap::new();
        for call in &calls {
            by_event.entry(&call.event).or_default().push(call);
        }
        let event = |(name, calls): (&str, Vec<&HookCall>)| {
            let mut took: Vec<u64> = calls.iter().map(|call| call.took_us).collect();
            took.sort_unstable();
            let mut days = [0_u64; 7];
            for call in &calls {
                if let Ok(back @ 0..7) = usize::try_from(times.days_ago(call.at)) {
                    days[6 - back] += 1;
                }
            }
            HookEventRow {
                name: text::replace_control_chars(name),
                calls: calls.len(),
                failed: calls.iter().filter(|call| call.failed).count(),
                p50: format_ms(percentile(&took, 50)),
                p99: format_ms(percentile(&took, 99)),
                spark: spark("Calls", &days),
            }
        };
        let newest = calls.iter().rev().take(CALLS).map(|call| HookCallRow {
            at: times.brief(call.at),
            host: text::replace_control_chars(&call.host),
            event: text::replace_control_chars(&call.event),
            took: format_ms(call.took_us),
            failed: call.failed,
        });
        let mut took: Vec<u64> = calls.iter().map(|call| call.took_us).collect();
        took.sort_unstable();
        Ok(HooksView {
            shell: Shell::load(engine, &context, "settings", "Hooks")?,
            headline: match calls.len() {
                0 => "No hook was called yet.".to_owned(),
                n => format!(
                    "{}, {failed} failed, half within {}.",
                    plural(n, "call", "calls"),
                    format_ms(percentile(&took, 50))
                ),
            },
            events: by_event.into_iter().map(event).collect(),
            calls: newest.collect(),
        })
    });
    render(&view.await?)
}

/// Returns a percentile of sorted values.
fn percentile(sorted: &[u64], percent: usize) -> u64 {
    let at = (sorted.len() * percent).div_ceil(100).saturating_sub(1);
    sorted.get(at).copied().unwrap_or(0)
}

fn format_ms(us: u64) -> String {
    format!("{}.{} ms", us / 1_000, us % 1_000 / 100)
}

/// Sets the theme cookie.
async fn theme(context: RequestContext, fields: FormFields) -> Result<Response, PageError> {
    context.resolve_project(Permission::Read)?;
    let value = match fields.get("theme") {
        "light" => "light",
        "dark" => "dark",
        _ => "",
    };
    Ok(set_cookie(THEME_COOKIE, value, &fields.return_path("/")))
}

/// Sets the shortcut cookie.
async fn keys(context: RequestContext, fields: FormFields) -> Result<Response, PageError> {
    context.resolve_project(Permission::Read)?;
    let value = if fields.get("keys") == "off" {
        "off"
    } else {
        ""
    };
    Ok(set_cookie(
        KEYS_COOKIE,
        value,
        &fields.return_path("/settings"),
    ))
}

/// Sets a preference cookie; an empty value deletes it.
fn set_cookie(name: &str, value: &str, to: &str) -> Response {
    let age = if value.is_empty() { 0 } else { WANTED_S };
    let cookie = format!("{name}={value}; Path=/; SameSite=Strict; Max-Age={age}");
    let mut response = Redirect::to(to).into_response();
    if let Ok(cookie) = HeaderValue::from_str(&cookie) {
        response.headers_mut().insert(header::SET_COOKIE, cookie);
    }
    response
}
