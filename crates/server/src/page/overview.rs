//! Overview page: reuse of memory between sessions, and pending decisions.

mod latest_events;
mod memory_arcs;
mod pending_decisions;

pub(super) use memory_arcs::list;

use super::view::chart::spark;
use super::view::overview::{KindRow, OpenTaskRow, OverviewView};
use super::view::{Times, number, plural};
use super::{PageError, RequestContext, Shell, record_label, render};
use crate::App;
use axum::extract::State;
use axum::response::Response;
use heirloom_engine::{Engine, Filter};
use heirloom_model::kinds::{ErrorRecord, Task, TaskState};
use heirloom_model::{Action, Event, Fault, Kind, KindData, Permission, Record, RecordId};

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

/// Shows the overview.
pub(super) async fn show(
    State(app): State<App>,
    context: RequestContext,
) -> Result<Response, PageError> {
    let view = app
        .with_engine(context.resolve_project(Permission::Read)?, move |engine| {
            load(engine, &context)
        })
        .await?;
    render(&view)
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

    fn count_events(&self, action: Action) -> usize {
        let from = self.times.midnight(DAYS - 1);
        let of_week = self.events.iter().filter(|event| event.at >= from);
        of_week.filter(|event| event.action == action).count()
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

fn load(engine: &Engine, context: &RequestContext) -> Result<OverviewView, Fault> {
    let shell = Shell::load(engine, context, "overview", "Overview")?;
    let week = Week::load(engine)?;
    let counts = engine.records().counts()?;
    let all: u64 = counts.iter().map(|(_, n)| n).sum();
    let (arcs, inherited) = memory_arcs::load(engine, &week)?;
    let new = match week.is_whole {
        true => plural(week.records.len(), "record new", "records new"),
        false => format!("more than {} records new", number(WEEK_RECORDS as u64)),
    };
    let resolved = week_filter(engine, &week.times, &[Kind::Error]).state(ErrorRecord::RESOLVED);
    let resolved = engine.records().count(&resolved)?;
    let corrected = week.count_events(Action::Replaced);
    let (tasks, tasks_all) = open_tasks(engine, &counts)?;
    Ok(OverviewView {
        headline: inherited.headline(),
        sub: match all {
            0 => "The memory is empty.".to_owned(),
            _ => format!(
                "This week: {new}, {corrected} corrected, {} resolved.",
                plural(resolved, "error", "errors")
            ),
        },
        is_empty: all == 0 && inherited.sessions == 0,
        arcs,
        waiting: pending_decisions::load(engine, &week.times)?,
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
        let Ok(task) = Task::from_record(&record) else {
            continue;
        };
        if matches!(task.state, Some(TaskState::Done | TaskState::Failed)) {
            continue;
        }
        rows.push(open_task(engine, &record, &task)?);
        if rows.len() == TASKS {
            break;
        }
    }
    let all = counts.iter().find(|(kind, _)| *kind == Kind::Task);
    let all = all.map_or(0, |(_, n)| *n);
    Ok((rows, format!("All {}", number(all))))
}

/// Loads a task with its progress. Errors without a task are shown under pending decisions.
fn open_task(engine: &Engine, record: &Record, task: &Task) -> Result<OpenTaskRow, Fault> {
    let id = record.key.as_deref().unwrap_or_default();
    let known = engine.tasks().progress(id)?;
    let errors = known.open_errors;
    let blocked = task.blocked_reason.as_deref().filter(|why| !why.is_empty());
    let (state, class, icon) = match (blocked, errors, record.scope.phase.as_deref()) {
        (Some(_), ..) => ("blocked", "warn", "pause"),
        (None, 1.., _) => ("failing", "bad", "cross"),
        (None, 0, Some(phase)) => (phase, "k-task", "task"),
        (None, 0, None) => ("open", "soft", "dash"),
    };
    let detail = match (blocked, known.steps) {
        (Some(why), _) => why.to_owned(),
        (None, 0) => plural(errors, "open error", "open errors"),
        (None, steps) => format!(
            "{} of {steps} steps, {}",
            known.done,
            record_label::source_label(&record.source)
        ),
    };
    Ok(OpenTaskRow {
        href: record_label::task_href(id),
        title: record_label::task_title(record),
        detail: heirloom_model::text::replace_control_chars(&detail),
        state: heirloom_model::text::replace_control_chars(&state.to_lowercase()),
        class,
        icon,
    })
}
