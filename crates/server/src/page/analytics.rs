//! Analytics page: success rates by week, approach and agent, and repeated failures.

mod charts;

use super::request_context::times;
use super::view::analytics::{AnalyticsRow, AnalyticsView, RepeatedFailureRow};
use super::view::chart::share;
use super::view::{Html, agent_swatch, duration, render_text, short_number};
use super::{PageError, RequestContext, Shell, record_label, render};
use crate::App;
use axum::extract::{Query, State};
use axum::response::Response;
use heirloom_engine::{Engine, analytics};
use heirloom_model::{Fault, Permission, text};
use serde::Deserialize;

/// Maximum number of attempts that are read, newest first.
const TRIES: usize = 2_000;
/// Minimum number of attempts for showing rates.
const ENOUGH: usize = 5;
/// Maximum number of rows in each table.
const ROWS: usize = 10;

/// Query parameters.
#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(default)]
pub(super) struct AnalyticsParams {
    days: Option<i32>,
}

/// Shows the page.
pub(super) async fn show(
    State(app): State<App>,
    context: RequestContext,
    Query(params): Query<AnalyticsParams>,
) -> Result<Response, PageError> {
    let days = if params.days == Some(7) { 7 } else { 30 };
    let project = context.resolve_project(Permission::Read)?;
    let view = app.with_engine(project, move |engine| load(engine, &context, days));
    render(&view.await?)
}

fn load(engine: &Engine, context: &RequestContext, days: i32) -> Result<AnalyticsView, Fault> {
    let times = times(engine);
    let (own, _) = engine
        .tasks()
        .analytics_since(times.midnight(days - 1), TRIES)?;
    let (weeks, episodes) = engine.tasks().analytics_since(times.midnight(34), TRIES)?;
    let tries: usize = weeks.by_week.iter().map(|week| week.attempts).sum();
    let agents: Vec<String> = own
        .by_agent
        .iter()
        .filter_map(|one| one.name.clone())
        .take(3)
        .collect();
    let (tokens, all) = charts::tokens(&episodes, &agents, &times);
    let rate = |group: &analytics::AttemptGroup| group.rate.map(|rate| (rate * 100.0).round());
    let now = weeks.by_week.last().and_then(rate);
    let before = weeks.by_week.iter().rev().nth(1).and_then(rate);
    let ended: usize = own
        .by_agent
        .iter()
        .map(|one| one.successes + one.failures)
        .sum();
    let worked: usize = own.by_agent.iter().map(|one| one.successes).sum();
    Ok(AnalyticsView {
        shell: Shell::load(engine, context, "analytics", "Analytics")?,
        headline: match (now, before) {
            (Some(now), Some(before)) if now > before => {
                format!("{now} % of tries completed this week, up from {before} %.")
            }
            (Some(now), Some(before)) if now < before => {
                format!("{now} % of tries completed this week, down from {before} %.")
            }
            (Some(now), Some(_)) => {
                format!("{now} % of tries completed this week, as in the week before.")
            }
            (Some(now), None) => format!("{now} % of tries completed this week."),
            (None, _) => "No try has ended this week.".to_owned(),
        },
        sub: format!("{worked} of {ended} that ended in {days} days."),
        days,
        has_enough: tries >= ENOUGH,
        weeks: charts::weeks(&weeks.by_week),
        tokens,
        tokens_all: format!("{} this week", short_number(all)),
        agents: agents
            .iter()
            .map(|name| text::replace_control_chars(name))
            .collect(),
        by_approach: own
            .by_approach
            .iter()
            .take(ROWS)
            .map(|one| group(one, Html::default(), one.median_duration_ms.map(duration)))
            .collect(),
        by_agent: own
            .by_agent
            .iter()
            .take(ROWS)
            .enumerate()
            .map(|(at, one)| group(one, agent_swatch(&at), one.median_tokens.map(short_number)))
            .collect(),
        repeated: own
            .repeated_failures
            .iter()
            .take(ROWS)
            .map(repeated_failure_row)
            .collect(),
    })
}

fn group(one: &analytics::AttemptGroup, mark: Html, last: Option<String>) -> AnalyticsRow {
    let part = one.rate.map_or(0, percent_of);
    let class = if part < 34 { "f-bad" } else { "f-accent" };
    AnalyticsRow {
        name: render_text(&text::excerpt(
            one.name.as_deref().unwrap_or("not named"),
            80,
        )),
        mark,
        bar: share(&format!("{part} % completed"), part, class, false),
        successes: one.successes,
        attempts: one.attempts,
        last: last.unwrap_or_default(),
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a rate is between 0 and 1"
)]
fn percent_of(rate: f64) -> u64 {
    (rate.clamp(0.0, 1.0) * 100.0).round() as u64
}

fn repeated_failure_row(one: &analytics::RepeatedFailure) -> RepeatedFailureRow {
    let tasks: Vec<_> = one
        .tasks
        .iter()
        .take(5)
        .map(|task| record_label::task_label(task))
        .collect();
    RepeatedFailureRow {
        approach: render_text(&one.approach),
        why: render_text(one.last_outcome.as_deref().unwrap_or_default()),
        tasks: match tasks.is_empty() {
            true => String::new(),
            false => format!("{}.", tasks.join(", ")),
        },
        failures: one.failures,
    }
}
