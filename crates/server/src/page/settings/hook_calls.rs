//! Page of hook calls: durations and failures of each event, and the newest calls.

use crate::App;
use crate::page::request_context::times;
use crate::page::view::chart::spark;
use crate::page::view::settings::{HookCallRow, HookEventRow, HookProblemRow, HooksView};
use crate::page::view::{Times, plural};
use crate::page::{PageError, RequestContext, Shell, render};
use axum::extract::State;
use axum::response::Response;
use heirloom_capture::{HookCall, HookCallLog};
use heirloom_model::{Permission, Timestamp, text};
use std::collections::BTreeMap;

/// Maximum number of listed hook calls.
const CALLS: usize = 40;
/// Maximum number of listed error messages.
const PROBLEMS_MAX: usize = 10;
/// Maximum number of shown characters of an error message.
const MESSAGE_CHARS_MAX: usize = 400;

/// Shows the calls.
pub(super) async fn show(
    State(app): State<App>,
    context: RequestContext,
) -> Result<Response, PageError> {
    let project = context.resolve_project(Permission::Read)?;
    let view = app.with_engine(project, move |engine| {
        let times = times(engine);
        let log = HookCallLog::in_folder(engine.folder());
        let calls = log.read();
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
            problems: problem_rows(&log.errors(), &times),
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

/// Groups equal error messages, the newest first.
fn problem_rows(errors: &[(Timestamp, String)], times: &Times) -> Vec<HookProblemRow> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    let mut newest: Vec<&(Timestamp, String)> = Vec::new();
    for error in errors.iter().rev() {
        let count = counts.entry(&error.1).or_default();
        *count += 1;
        if *count == 1 {
            newest.push(error);
        }
    }
    let rows = newest.into_iter().take(PROBLEMS_MAX);
    rows.map(|(at, message)| HookProblemRow {
        message: text::excerpt(&text::replace_control_chars(message), MESSAGE_CHARS_MAX),
        count: plural(
            counts.get(message.as_str()).copied().unwrap_or(1),
            "time",
            "times",
        ),
        last: times.full(*at),
    })
    .collect()
}

/// Returns a percentile of sorted values.
fn percentile(sorted: &[u64], percent: usize) -> u64 {
    let at = (sorted.len() * percent).div_ceil(100).saturating_sub(1);
    sorted.get(at).copied().unwrap_or(0)
}

fn format_ms(us: u64) -> String {
    format!("{}.{} ms", us / 1_000, us % 1_000 / 100)
}
