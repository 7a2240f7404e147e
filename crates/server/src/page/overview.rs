//! Overview page: lessons that later sessions received, and pending decisions.

pub(super) mod latest_events;
mod lesson_chart;
mod lesson_image;
mod lesson_outcomes;
mod lesson_section;
mod pending_decisions;
mod session_receipts;

use super::pending_items::PendingItems;
use super::settings::first_steps::load_first_steps;
use super::task_title::task_title;
use super::tasks::TaskStatus;
use super::view::chart::spark;
use super::view::overview::{KindRow, OpenTaskRow, OverviewView};
use super::view::setup::FirstSteps;
use super::view::{Times, number, plural};
use super::{PageError, RequestContext, Shell, record_label, render};
use crate::App;
use crate::local_setup::LocalSetup;
use crate::records_by_id::find_any;
use axum::Router;
use axum::extract::{Path, Query, State};
use axum::http::header;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use heirloom_engine::{Engine, Filter};
use heirloom_model::kinds::ErrorRecord;
use heirloom_model::{Action, Authority, Event, Fault, Kind, Permission, Record, RecordId};
use lesson_outcomes::LessonReport;
use serde::Deserialize;

/// Days in the charts.
const DAYS: i32 = 7;
/// Maximum number of records of the week that are read; above it they are not counted by day.
const WEEK_RECORDS: usize = 2_000;
/// Maximum number of read events.
const EVENTS: usize = 300;
/// Maximum number of shown open tasks.
const TASKS: usize = 5;
/// Maximum number of tasks that are searched for open ones.
const TASKS_READ: usize = 60;

/// Query parameters.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
struct OverviewParams {
    /// Id of the shown lesson.
    lesson: String,
}

/// Returns the routes.
pub(super) fn routes() -> Router<App> {
    Router::new()
        .route("/", get(show))
        .route("/lessons/{file}", get(show_image))
}

async fn show(
    State(app): State<App>,
    context: RequestContext,
    Query(params): Query<OverviewParams>,
) -> Result<Response, PageError> {
    let setup = app.options().setup.clone();
    let view = app
        .with_engine(context.resolve_project(Permission::Read)?, move |engine| {
            load(engine, &context, &params.lesson, setup.as_deref())
        })
        .await?;
    render(&view)
}

/// Answers a lesson as an image: `/lessons/ID.svg`.
async fn show_image(
    State(app): State<App>,
    context: RequestContext,
    Path(file): Path<String>,
) -> Result<Response, PageError> {
    let project = context.resolve_project(Permission::Read)?;
    let svg = app.with_engine(project, move |engine| {
        let week = Week::load(engine)?;
        let report = lesson_outcomes::load(engine, &week)?;
        let id = file.trim_end_matches(".svg");
        let mut lessons = report.lessons.iter();
        let lesson = lessons.find(|one| one.record.id.to_string() == id);
        let lesson = lesson.ok_or_else(|| {
            Fault::not_found("no lesson of this week has this id")
                .hint("the overview lists the lessons of the last seven days")
        })?;
        Ok(lesson_image::draw(
            lesson,
            &week.times,
            &engine.display_name(),
        ))
    });
    let kind = [(header::CONTENT_TYPE, "image/svg+xml; charset=utf-8")];
    Ok((kind, svg.await?).into_response())
}

/// Records and events of the last days, read once for all parts of the page.
pub(super) struct Week {
    pub(super) times: Times,
    /// Newest first; empty if there are too many.
    pub(super) records: Vec<Record>,
    pub(super) is_whole: bool,
    /// Newest first.
    pub(super) events: Vec<Event>,
}

impl Week {
    fn load(engine: &Engine) -> Result<Self, Fault> {
        let times = super::request_context::times(engine);
        let of_week = week_filter(engine, &times, &[]).limit(WEEK_RECORDS);
        let is_whole = engine.records().count(&of_week)? < WEEK_RECORDS;
        let mut records = match is_whole {
            true => engine.records().find(&of_week)?,
            false => Vec::new(),
        };
        records.reverse();
        Ok(Self {
            is_whole,
            records,
            events: engine.records().audit(EVENTS)?,
            times,
        })
    }

    /// Counts new records of a kind by day, oldest first.
    pub(super) fn by_day(&self, kind: Option<Kind>) -> Vec<u64> {
        let mut days = vec![0_u64; 7];
        for record in &self.records {
            let back = usize::try_from(self.times.days_ago(record.recorded_at));
            if let Ok(back) = back
                && back < days.len()
                && kind.is_none_or(|kind| kind == record.kind)
            {
                days[6 - back] += 1;
            }
        }
        days
    }

    /// Counts the records whose text a person changed. A new version with the old text is no correction.
    fn count_corrections(&self, engine: &Engine) -> Result<usize, Fault> {
        let from = self.times.midnight(DAYS - 1);
        let replaced: Vec<(RecordId, RecordId)> = (self.events.iter())
            .filter(|event| event.at >= from && event.action == Action::Replaced)
            .filter(|event| Authority::of_source(&event.by) == Authority::Person)
            .filter_map(|event| event.record.zip(event.other))
            .collect();
        let ids = replaced.iter().flat_map(|(new, old)| [*new, *old]);
        let texts = find_any(engine, ids)?;
        let text = |id| texts.get(&id).map(|record| record.text.as_str());
        let corrected = (replaced.iter())
            .filter(|(new, old)| text(*old).is_some() && text(*new) != text(*old))
            .count();
        Ok(corrected)
    }
}

/// Filter for records of the week, oldest first. Ids ascend with time except after clock changes, so the scan starts
/// one day earlier.
fn week_filter(engine: &Engine, times: &Times, kinds: &[Kind]) -> Filter {
    Filter {
        recorded_from: Some(times.midnight(DAYS - 1)),
        after: Some(RecordId::min_at(times.midnight(DAYS))),
        ..Filter::current(kinds, engine.now()).oldest_first()
    }
}

fn load(
    engine: &Engine,
    context: &RequestContext,
    lesson: &str,
    setup: Option<&dyn LocalSetup>,
) -> Result<OverviewView, Fault> {
    let shell = Shell::load(engine, context, "overview", "Overview")?;
    let week = Week::load(engine)?;
    let counts = engine.records().counts()?;
    let all: u64 = counts.iter().map(|(_, n)| n).sum();
    let report = lesson_outcomes::load(engine, &week)?;
    let new = match week.is_whole {
        true => plural(week.records.len(), "record new", "records new"),
        false => format!("more than {} records new", number(WEEK_RECORDS as u64)),
    };
    let resolved = week_filter(engine, &week.times, &[Kind::Error]).state(ErrorRecord::RESOLVED);
    let resolved = engine.records().count(&resolved)?;
    let corrected = week.count_corrections(engine)?;
    let is_empty = all == 0 && report.sessions.is_empty();
    let pending = PendingItems::load(engine, context)?;
    let (tasks, tasks_all) = open_tasks(engine, &counts)?;
    Ok(OverviewView {
        headline: headline(&report),
        sub: match all {
            0 => "The memory is empty.".to_owned(),
            _ => format!(
                "In the last 7 days: {new}, {corrected} corrected, {} resolved.",
                plural(resolved, "error", "errors")
            ),
        },
        is_empty,
        lesson: lesson_section::build(engine, &report, lesson, &week.times)?,
        first_steps: match is_empty {
            true => load_first_steps(engine, setup)?,
            false => FirstSteps::default(),
        },
        waiting: pending_decisions::rows(&pending, &week.times),
        latest: latest_events::load(engine, &week)?,
        tasks,
        tasks_all,
        records: plural(
            usize::try_from(all).unwrap_or(usize::MAX),
            "record",
            "records",
        ),
        kinds: kinds(&counts, &week),
        shell,
    })
}

/// Returns the headline: how far lessons reached, and which failures came again.
fn headline(report: &LessonReport) -> String {
    let sessions = report.sessions.len();
    let reach = match (sessions, report.heirs) {
        (0, _) => return "No session in the last 7 days.".to_owned(),
        (1, 0) => return "One session in the last 7 days, with nothing inherited yet.".to_owned(),
        (n, 0) => {
            return format!("{n} sessions in the last 7 days, none with an earlier lesson.");
        }
        (n, heirs) => format!("{heirs} of {n} sessions started with earlier lessons"),
    };
    match report.repeated {
        0 => format!("{reach}; no known failure came again."),
        n => format!(
            "{reach}; {} came again.",
            plural(n, "known failure", "known failures")
        ),
    }
}

fn kinds(counts: &[(Kind, u64)], week: &Week) -> Vec<KindRow> {
    let mut counts = counts.to_vec();
    counts.sort_by_key(|(kind, n)| (std::cmp::Reverse(*n), *kind));
    let row = |(kind, n): (Kind, u64)| {
        let days = week.by_day(Some(kind));
        let new: u64 = days.iter().sum();
        KindRow {
            kind: kind.as_str(),
            count: number(n),
            new: match week.is_whole {
                true => format!("+{new}"),
                false => String::new(),
            },
            spark: match week.is_whole {
                true => spark(&format!("{kind}, new"), &days),
                false => super::view::Html::default(),
            },
        }
    };
    counts.into_iter().map(row).collect()
}

fn open_tasks(
    engine: &Engine,
    counts: &[(Kind, u64)],
) -> Result<(Vec<OpenTaskRow>, String), Fault> {
    let filter = Filter::current(&[Kind::Task], engine.now()).limit(TASKS_READ);
    let mut rows = Vec::new();
    for record in engine.records().find(&filter)? {
        let status = TaskStatus::load(engine, &record)?;
        if status.is_over() {
            continue;
        }
        rows.push(open_task(engine, &record, &status)?);
        if rows.len() == TASKS {
            break;
        }
    }
    let all = counts.iter().find(|(kind, _)| *kind == Kind::Task);
    let all = all.map_or(0, |(_, n)| *n);
    Ok((rows, format!("All {}", number(all))))
}

/// Loads a task with its progress. Errors without a task are shown under pending decisions.
fn open_task(engine: &Engine, record: &Record, status: &TaskStatus) -> Result<OpenTaskRow, Fault> {
    let id = record.key.as_deref().unwrap_or_default();
    let progress = engine.tasks().progress(id)?;
    let detail = match (status, progress.steps) {
        (TaskStatus::Blocked(why), _) => why.clone(),
        (TaskStatus::Failing, 0) => plural(progress.open_errors, "open error", "open errors"),
        (_, 0) => format!("by {}", record_label::source_label(&record.source)),
        (_, steps) => format!(
            "{} of {steps} steps, {}",
            progress.done,
            record_label::source_label(&record.source)
        ),
    };
    let (class, icon) = status.style();
    Ok(OpenTaskRow {
        href: record_label::task_href(id),
        title: task_title(engine, record)?,
        detail,
        state: status.label(),
        class,
        icon,
    })
}
