//! Settings with their layers, the doctor's checks, the calls of hooks; and what one browser wants.

use super::fields::Fields;
use super::look::{KEYS, THEME, times};
use super::view::chart::spark;
use super::view::settings::{Call, Check, Event, Health, Hooks, Setting, View};
use super::view::{bytes, number, plural, said};
use super::{Look, Shell, Wrong, html};
use crate::App;
use axum::Router;
use axum::extract::{Query, State};
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::{get, post};
use heirloom_engine::{Engine, HookCall, HookCalls, Level};
use heirloom_model::{Deed, Fault, text};
use serde::Deserialize;
use std::collections::BTreeMap;

/// Calls that are listed.
const CALLS: usize = 40;
/// Seconds that a browser remembers what it wants.
const WANTED_S: u32 = 31_536_000;

/// What the address asks for.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
struct Asked {
    check: Option<String>,
}

/// Their addresses.
pub(super) fn routes() -> Router<App> {
    Router::new()
        .route("/settings", get(show))
        .route("/settings/health", get(health))
        .route("/settings/hooks", get(hooks))
        .route("/settings/theme", post(theme))
        .route("/settings/keys", post(keys))
}

async fn show(State(app): State<App>, look: Look) -> Result<Response, Wrong> {
    let project = look.project(Deed::Read)?;
    let known = app.options().settings.clone();
    let view = app.ask(project, move |engine| {
        let mut groups: Vec<(String, Vec<Setting>)> = Vec::new();
        let own = known.iter().filter(|one| one.origin != "default").count();
        for one in &known {
            let part = one.key.split_once('.').map_or("", |(part, _)| part);
            if groups.last().is_none_or(|(name, _)| name != part) {
                groups.push((part.to_owned(), Vec::new()));
            }
            if let Some((_, list)) = groups.last_mut() {
                list.push(Setting {
                    key: one.key.clone(),
                    value: text::excerpt(&text::printable(&one.value), 400),
                    origin: text::printable(&one.origin),
                    is_own: one.origin != "default",
                });
            }
        }
        Ok(View {
            shell: Shell::load(engine, &look, "settings", "Settings")?,
            headline: match own {
                0 => "Everything stands at its default.".to_owned(),
                n => format!(
                    "{} from the default.",
                    plural(n, "value differs", "values differ")
                ),
            },
            groups,
        })
    });
    html(&view.await?)
}

async fn health(
    State(app): State<App>,
    look: Look,
    Query(asked): Query<Asked>,
) -> Result<Response, Wrong> {
    let project = look.project(Deed::Read)?;
    let is_checked = asked.check.is_some();
    let view = app.ask(project, move |engine| {
        load_health(engine, &look, is_checked)
    });
    html(&view.await?)
}

fn load_health(engine: &Engine, look: &Look, is_checked: bool) -> Result<Health, Fault> {
    let times = times(engine);
    let store = engine.describe_store()?;
    let records: u64 = engine.counts()?.iter().map(|(_, n)| n).sum();
    let checks = if is_checked {
        engine.examine()
    } else {
        Vec::new()
    };
    let worst = checks.iter().map(|check| check.level).max();
    let last = engine.last_write()?;
    Ok(Health {
        shell: Shell::load(engine, look, "settings", "Health")?,
        headline: match worst {
            None => format!(
                "The store opens: {}.",
                plural(
                    usize::try_from(records).unwrap_or(usize::MAX),
                    "record",
                    "records"
                )
            ),
            Some(Level::Ok) => "All is well.".to_owned(),
            Some(Level::Warn) => "Nothing is lost; something is worth knowing.".to_owned(),
            Some(Level::Bad) => "Something must be done.".to_owned(),
        },
        facts: vec![
            ("Place", text::printable(&store.location)),
            ("Size", bytes(store.size_bytes)),
            ("Records", number(records)),
            ("Schema", store.schema_version.to_string()),
            (
                "Last write",
                last.map_or_else(|| "never".to_owned(), |at| times.full(at)),
            ),
            ("Project", text::printable(engine.project().as_str())),
            ("Folder", text::printable(&engine.root().to_string_lossy())),
        ],
        checks: checks
            .iter()
            .map(|check| {
                let (class, icon, word) = match check.level {
                    Level::Ok => ("ok", "check", "ok"),
                    Level::Warn => ("warn", "note", "worth knowing"),
                    Level::Bad => ("bad", "cross", "bad"),
                };
                Check {
                    name: check.name.to_owned(),
                    class,
                    icon,
                    word,
                    message: said(&check.message),
                    hint: said(check.hint.as_deref().unwrap_or_default()),
                }
            })
            .collect(),
        is_checked,
    })
}

async fn hooks(State(app): State<App>, look: Look) -> Result<Response, Wrong> {
    let project = look.project(Deed::Read)?;
    let view = app.ask(project, move |engine| {
        let times = times(engine);
        let calls = HookCalls::of(engine.folder()).read();
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
            Event {
                name: text::printable(name),
                calls: calls.len(),
                failed: calls.iter().filter(|call| call.failed).count(),
                p50: in_ms(at_share(&took, 50)),
                p99: in_ms(at_share(&took, 99)),
                spark: spark("Calls", &days),
            }
        };
        let newest = calls.iter().rev().take(CALLS).map(|call| Call {
            at: times.brief(call.at),
            host: text::printable(&call.host),
            event: text::printable(&call.event),
            took: in_ms(call.took_us),
            failed: call.failed,
        });
        let mut took: Vec<u64> = calls.iter().map(|call| call.took_us).collect();
        took.sort_unstable();
        Ok(Hooks {
            shell: Shell::load(engine, &look, "settings", "Hooks")?,
            headline: match calls.len() {
                0 => "No hook was called yet.".to_owned(),
                n => format!(
                    "{}, {failed} failed, half within {}.",
                    plural(n, "call", "calls"),
                    in_ms(at_share(&took, 50))
                ),
            },
            events: by_event.into_iter().map(event).collect(),
            calls: newest.collect(),
        })
    });
    html(&view.await?)
}

/// The value below which so many percent lie; of sorted values.
fn at_share(sorted: &[u64], percent: usize) -> u64 {
    let at = (sorted.len() * percent).div_ceil(100).saturating_sub(1);
    sorted.get(at).copied().unwrap_or(0)
}

fn in_ms(us: u64) -> String {
    format!("{}.{} ms", us / 1_000, us % 1_000 / 100)
}

/// Light, dark, or what the system says.
async fn theme(look: Look, fields: Fields) -> Result<Response, Wrong> {
    look.project(Deed::Read)?;
    let value = match fields.get("theme") {
        "light" => "light",
        "dark" => "dark",
        _ => "",
    };
    Ok(wanted(THEME, value, &fields.back("/")))
}

/// Whether single letters do something.
async fn keys(look: Look, fields: Fields) -> Result<Response, Wrong> {
    look.project(Deed::Read)?;
    let value = if fields.get("keys") == "off" {
        "off"
    } else {
        ""
    };
    Ok(wanted(KEYS, value, &fields.back("/settings")))
}

/// Leaves what a browser wants with it; nothing is what everybody gets.
fn wanted(name: &str, value: &str, to: &str) -> Response {
    let age = if value.is_empty() { 0 } else { WANTED_S };
    let cookie = format!("{name}={value}; Path=/; SameSite=Strict; Max-Age={age}");
    let mut response = Redirect::to(to).into_response();
    if let Ok(cookie) = HeaderValue::from_str(&cookie) {
        response.headers_mut().insert(header::SET_COOKIE, cookie);
    }
    response
}
