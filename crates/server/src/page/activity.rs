//! Activity page: the newest events of the project, filtered by kind, source and action.

use super::overview::latest_events;
use super::request_context::times;
use super::view::activity::{ActivityChoice, ActivityView};
use super::view::{number, plural};
use super::{PageError, RequestContext, Shell, record_label, render};
use crate::App;
use crate::records_by_id::find_any;
use axum::Router;
use axum::extract::{Query, State};
use axum::response::Response;
use axum::routing::get;
use heirloom_engine::Engine;
use heirloom_model::{Event, Fault, Permission, Record, text};
use serde::Deserialize;
use std::collections::BTreeMap;

/// Maximum number of events that are read, newest first.
const READ: usize = 500;
/// Maximum number of rows.
const ROWS: usize = 60;
/// Maximum number of offered sources.
const SOURCES: usize = 8;

/// Query parameters.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
struct ActivityParams {
    kind: String,
    by: String,
    what: String,
}

/// Returns the routes.
pub(super) fn routes() -> Router<App> {
    Router::new().route("/activity", get(show))
}

async fn show(
    State(app): State<App>,
    context: RequestContext,
    Query(params): Query<ActivityParams>,
) -> Result<Response, PageError> {
    let project = context.resolve_project(Permission::Read)?;
    let view = app.with_engine(project, move |engine| load(engine, &context, &params));
    render(&view.await?)
}

/// Event with its record.
struct Entry<'a> {
    event: &'a Event,
    record: &'a Record,
}

impl Entry<'_> {
    /// Returns the values by which entries are filtered: kind, source, action.
    fn values(&self) -> [String; 3] {
        [
            self.record.kind.as_str().to_owned(),
            record_label::source_label(&self.event.by),
            latest_events::event_label(self.event, self.record),
        ]
    }
}

fn load(
    engine: &Engine,
    context: &RequestContext,
    params: &ActivityParams,
) -> Result<ActivityView, Fault> {
    let times = times(engine);
    let events = engine.records().audit(READ)?;
    let records = find_any(engine, events.iter().filter_map(|event| event.record))?;
    let entries = events.iter().filter_map(|event| {
        let record = records.get(&event.record?)?;
        Some(Entry { event, record })
    });
    let entries: Vec<Entry<'_>> = entries.collect();
    let given = [&params.kind, &params.by, &params.what];
    let fits = |entry: &Entry<'_>, except: usize| {
        let values = entry.values();
        let mut pairs = values.iter().zip(given).enumerate();
        pairs.all(|(at, (value, given))| at == except || given.is_empty() || value == given)
    };
    let shown: Vec<&Entry<'_>> = entries.iter().filter(|entry| fits(entry, 3)).collect();
    let filters = [("Kind", 0), ("Source", 1), ("Event", 2)].map(|(name, at)| {
        let of = entries.iter().filter(|entry| fits(entry, at));
        let values: Vec<String> = of.map(|entry| entry.values()[at].clone()).collect();
        (name, choices(&values, given, at))
    });
    Ok(ActivityView {
        shell: Shell::load(engine, context, "activity", "Activity")?,
        headline: match (shown.len(), events.len()) {
            (0, _) => "No event matches.".to_owned(),
            (n, READ) => format!(
                "{} among the newest {}.",
                plural(n, "event", "events"),
                number(READ)
            ),
            (n, _) => format!("{}.", plural(n, "event", "events")),
        },
        filters: filters.into_iter().collect(),
        rows: shown
            .iter()
            .take(ROWS)
            .map(|entry| latest_events::row(&times, entry.event, entry.record))
            .collect(),
        hidden: shown.len().saturating_sub(ROWS),
    })
}

/// Returns the offered values of a filter with their counts; the first one removes the filter.
fn choices(values: &[String], given: [&String; 3], at: usize) -> Vec<ActivityChoice> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for value in values {
        *counts.entry(value).or_default() += 1;
    }
    let href = |value: &str| {
        let mut query = Vec::new();
        for (n, name) in ["kind", "by", "what"].iter().enumerate() {
            let value = if n == at { value } else { given[n].as_str() };
            if !value.is_empty() {
                query.push(format!("{name}={}", record_label::percent_encode(value)));
            }
        }
        match query.is_empty() {
            true => "/activity".to_owned(),
            false => format!("/activity?{}", query.join("&")),
        }
    };
    let mut counts: Vec<(&str, usize)> = counts.into_iter().collect();
    counts.sort_by_key(|(name, n)| (std::cmp::Reverse(*n), *name));
    let all = ActivityChoice {
        name: "All".to_owned(),
        href: href(""),
        count: values.len(),
        is_current: given[at].is_empty(),
    };
    let others = counts
        .into_iter()
        .take(SOURCES)
        .map(|(name, count)| ActivityChoice {
            name: text::excerpt(name, 30),
            href: href(name),
            count,
            is_current: given[at] == name,
        });
    std::iter::once(all).chain(others).collect()
}
