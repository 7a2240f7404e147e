//! Analytics: what works, for whom, and what fails again and again.

mod charts;

use super::look::times;
use super::view::analytics::{Group, Repeated, View};
use super::view::chart::share;
use super::view::{Html, agent_swatch, duration, said, short};
use super::{Look, Shell, Wrong, html, told};
use crate::App;
use axum::extract::{Query, State};
use axum::response::Response;
use heirloom_engine::{Engine, analytics};
use heirloom_model::{Deed, Fault, text};
use serde::Deserialize;

/// Tries that are counted, the newest.
const TRIES: usize = 2_000;
/// Tries below which nothing is said.
const ENOUGH: usize = 5;
/// Rows of each table.
const ROWS: usize = 10;

/// What the address asks for.
#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(default)]
pub(super) struct Asked {
    days: Option<i32>,
}

/// Answers it.
pub(super) async fn show(
    State(app): State<App>,
    look: Look,
    Query(asked): Query<Asked>,
) -> Result<Response, Wrong> {
    let days = if asked.days == Some(7) { 7 } else { 30 };
    let project = look.project(Deed::Read)?;
    let view = app.ask(project, move |engine| load(engine, &look, days));
    html(&view.await?)
}

fn load(engine: &Engine, look: &Look, days: i32) -> Result<View, Fault> {
    let times = times(engine);
    let (own, _) = engine.analytics_since(times.midnight(days - 1), TRIES)?;
    let (weeks, episodes) = engine.analytics_since(times.midnight(34), TRIES)?;
    let tries: usize = weeks.by_week.iter().map(|week| week.attempts).sum();
    let agents: Vec<String> = own
        .by_agent
        .iter()
        .filter_map(|one| one.name.clone())
        .take(3)
        .collect();
    let (tokens, all) = charts::tokens(&episodes, &agents, &times);
    let rate = |group: &analytics::Group| group.rate.map(|rate| (rate * 100.0).round());
    let now = weeks.by_week.last().and_then(rate);
    let before = weeks.by_week.iter().rev().nth(1).and_then(rate);
    let ended: usize = own
        .by_agent
        .iter()
        .map(|one| one.successes + one.failures)
        .sum();
    let worked: usize = own.by_agent.iter().map(|one| one.successes).sum();
    Ok(View {
        shell: Shell::load(engine, look, "analytics", "Analytics")?,
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
        tokens_all: format!("{} this week", short(all)),
        agents: agents.iter().map(|name| text::printable(name)).collect(),
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
            .map(|(at, one)| group(one, agent_swatch(&at), one.median_tokens.map(short)))
            .collect(),
        repeated: own
            .repeated_failures
            .iter()
            .take(ROWS)
            .map(repeated)
            .collect(),
    })
}

fn group(one: &analytics::Group, mark: Html, last: Option<String>) -> Group {
    let part = one.rate.map_or(0, percent_of);
    let class = if part < 34 { "f-bad" } else { "f-accent" };
    Group {
        name: said(&text::excerpt(
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

fn repeated(one: &analytics::RepeatedFailure) -> Repeated {
    let tasks: Vec<_> = one
        .tasks
        .iter()
        .take(5)
        .map(|task| told::task(task))
        .collect();
    Repeated {
        approach: said(&one.approach),
        why: said(one.last_outcome.as_deref().unwrap_or_default()),
        tasks: match tasks.is_empty() {
            true => String::new(),
            false => format!("{}.", tasks.join(", ")),
        },
        failures: one.failures,
    }
}
