//! Analytics page: success rates by week, approach and agent, and repeated failures.

mod charts;

use super::request_context::times;
use super::view::analytics::{AnalyticsRow, AnalyticsView, RepeatedFailureRow};
use super::view::chart::share;
use super::view::{Html, agent_swatch, duration, percent, plural, render_text, short_number};
use super::{PageError, RequestContext, Shell, record_label, render};
use crate::App;
use axum::extract::{Query, State};
use axum::response::Response;
use heirloom_engine::{Engine, analytics};
use heirloom_model::{Fault, Permission, text};
use serde::Deserialize;

/// Maximum number of attempts that are read, newest first.
const TRIES: usize = 2_000;
/// Minimum number of attempts with a known result for showing rates.
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
    let (all_weeks, episodes) = engine
        .tasks()
        .analytics_since(times.midnight(7 * charts::WEEKS_DRAWN - 1), TRIES)?;
    let known: usize = (all_weeks.by_week.iter())
        .map(|week| week.successes + week.failures)
        .sum();
    let agents = named_agents(own.by_agent.iter().map(|one| one.name.clone()));
    let (tokens, all) = charts::tokens(&episodes, &agents, &times);
    let weeks = charts::rolling_weeks(&episodes, &times);
    let period = |week: &charts::Week| (week.successes, week.ended);
    let newest = weeks.last().map_or((0, 0), period);
    let before = weeks.iter().rev().nth(1).map_or((0, 0), period);
    let ended: usize = own
        .by_agent
        .iter()
        .map(|one| one.successes + one.failures)
        .sum();
    let worked: usize = own.by_agent.iter().map(|one| one.successes).sum();
    Ok(AnalyticsView {
        shell: Shell::load(engine, context, "analytics", "Analytics")?,
        headline: match ended {
            0 => format!("No attempt ended in the last {days} days."),
            ended => format!(
                "{worked} of {} completed in the last {days} days.",
                plural(ended, "attempt", "attempts")
            ),
        },
        sub: compare_weeks(newest, before),
        days,
        has_enough: known >= ENOUGH,
        weeks: charts::weeks(&weeks),
        tokens,
        tokens_all: format!("{} in the last 7 days", short_number(all)),
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
            .map(|one| {
                let mark = agent_swatch(one.name.as_deref().unwrap_or_default());
                group(one, mark, one.median_tokens.map(short_number))
            })
            .collect(),
        repeated: own
            .repeated_failures
            .iter()
            .take(ROWS)
            .map(repeated_failure_row)
            .collect(),
    })
}

/// Returns the agents of the token chart, most attempts first. If there are more than it has colours, or attempts without
/// an agent, the last one is `others`.
fn named_agents(names: impl Iterator<Item = Option<String>>) -> Vec<String> {
    let names: Vec<Option<String>> = names.collect();
    let mut named: Vec<String> = names.iter().flatten().cloned().collect();
    if named.len() > charts::AGENTS_DRAWN || named.len() < names.len() {
        named.truncate(charts::AGENTS_DRAWN - 1);
        named.push("others".to_owned());
    }
    named
}

/// Returns the success rate of the last seven days next to that of the seven days before.
fn compare_weeks(newest: (usize, usize), before: (usize, usize)) -> String {
    let rate = |(worked, ended): (usize, usize)| percent(worked as u64, ended as u64);
    match (newest, before) {
        ((_, 0), _) => "No attempt ended in the last 7 days.".to_owned(),
        (newest, (_, 0)) => format!("Last 7 days: {} %.", rate(newest)),
        (newest, before) => format!(
            "Last 7 days: {} %; the 7 days before: {} %.",
            rate(newest),
            rate(before)
        ),
    }
}

fn group(one: &analytics::AttemptGroup, mark: Html, last: Option<String>) -> AnalyticsRow {
    let (part, label, class) = match one.rate.map(percent_of) {
        Some(part @ ..34) => (part, format!("{part} % completed"), "f-bad"),
        Some(part) => (part, format!("{part} % completed"), "f-accent"),
        None => (0, "result unknown".to_owned(), "f-track"),
    };
    AnalyticsRow {
        name: render_text(&text::excerpt(
            one.name.as_deref().unwrap_or("not named"),
            80,
        )),
        mark,
        bar: share(&label, part, class, false),
        successes: one.successes,
        ended: one.successes + one.failures,
        unknown: one.unknown(),
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
    let named = (one.tasks.iter()).filter_map(|task| record_label::named_task(Some(task)));
    let tasks = named
        .take(5)
        .map(|task| {
            (
                record_label::task_label(task),
                record_label::task_href(task),
            )
        })
        .collect();
    RepeatedFailureRow {
        query: record_label::percent_encode(&text::excerpt(&one.approach, 120)),
        approach: render_text(&one.approach),
        why: render_text(one.last_outcome.as_deref().unwrap_or_default()),
        tasks,
        failures: one.failures,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agents_without_a_colour_of_their_own_are_others() {
        let agents = |names: &[&str]| {
            let names = names
                .iter()
                .map(|name| (!name.is_empty()).then(|| (*name).to_owned()));
            named_agents(names)
        };
        assert_eq!(agents(&["a", "b", "c", "d"]), ["a", "b", "c", "d"]);
        assert_eq!(
            agents(&["a", "b", "c", "d", "e"]),
            ["a", "b", "c", "others"]
        );
        assert_eq!(agents(&["a", ""]), ["a", "others"]);
        assert!(agents(&[]).is_empty());
    }
}
