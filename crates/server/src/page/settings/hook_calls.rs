//! Page of hook calls: durations and failures of each event, and the newest calls.

use crate::App;
use crate::page::request_context::times;
use crate::page::view::chart::spark;
use crate::page::view::plural;
use crate::page::view::settings::{HookCallRow, HookEventRow, HooksView};
use crate::page::{PageError, RequestContext, Shell, render};
use axum::extract::State;
use axum::response::Response;
use heirloom_capture::{HookCall, HookCallLog};
use heirloom_model::{Permission, text};
use std::collections::BTreeMap;

/// Maximum number of listed hook calls.
const CALLS: usize = 40;

/// Shows the calls.
pub(super) async fn show(
    State(app): State<App>,
    context: RequestContext,
) -> Result<Response, PageError> {
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
