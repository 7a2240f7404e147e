//! The overview: does memory pay, and what needs a person?

mod arcs;
mod latest;
mod waiting;

pub(super) use arcs::list;

use super::view::chart::spark;
use super::view::overview::{KindRow, OpenTask, View};
use super::view::{Times, number, plural};
use super::{Look, Shell, Wrong, html, told};
use crate::App;
use axum::extract::State;
use axum::response::Response;
use heirloom_engine::{Engine, Filter};
use heirloom_model::kinds::{Mistake, Task, TaskState};
use heirloom_model::{Action, Deed, Event, Fault, Kind, KindData, Record, RecordId};

/// Days that the charts show.
const DAYS: i32 = 7;
/// Records of the week that are read; of more, days are not counted.
const WEEK_RECORDS: usize = 2_000;
/// Events that are read.
const EVENTS: usize = 300;
/// Open tasks that are shown.
const TASKS: usize = 5;
/// Tasks that are looked through for open ones.
const TASKS_READ: usize = 60;

/// Answers the overview.
pub(super) async fn show(State(app): State<App>, look: Look) -> Result<Response, Wrong> {
    let view = app
        .ask(look.project(Deed::Read)?, move |engine| load(engine, &look))
        .await?;
    html(&view)
}

/// What of the last days is known, read once for all parts of the page.
pub(super) struct Week {
    pub(super) times: Times,
    /// Newest first; none of it if there is too much.
    pub(super) records: Vec<Record>,
    pub(super) is_whole: bool,
    /// Newest first.
    pub(super) events: Vec<Event>,
}

impl Week {
    fn load(engine: &Engine) -> Result<Self, Fault> {
        let times = super::look::times(engine);
        let of_week = of_week(engine, &times, &[]).limit(WEEK_RECORDS);
        let is_whole = engine.count(&of_week)? < WEEK_RECORDS;
        let mut records = match is_whole {
            true => engine.find(&of_week)?,
            false => Vec::new(),
        };
        records.reverse();
        Ok(Self {
            is_whole,
            records,
            events: engine.audit(EVENTS)?,
            times,
        })
    }

    /// New records of a kind by day, oldest first.
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

    fn happened(&self, action: Action) -> usize {
        let from = self.times.midnight(DAYS - 1);
        let of_week = self.events.iter().filter(|event| event.at >= from);
        of_week.filter(|event| event.action == action).count()
    }
}

/// What was recorded in the week, oldest first. Ids ascend with time, but for a clock that went back: those of a day
/// before are looked at too, and whatever is older is not.
fn of_week(engine: &Engine, times: &Times, kinds: &[Kind]) -> Filter {
    Filter {
        recorded_from: Some(times.midnight(DAYS - 1)),
        after: Some(RecordId::before(times.midnight(DAYS))),
        ..Filter::current(kinds, engine.now()).oldest_first()
    }
}

fn load(engine: &Engine, look: &Look) -> Result<View, Fault> {
    let shell = Shell::load(engine, look, "overview", "Overview")?;
    let week = Week::load(engine)?;
    let counts = engine.counts()?;
    let all: u64 = counts.iter().map(|(_, n)| n).sum();
    let (arcs, inherited) = arcs::load(engine, &week)?;
    let new = match week.is_whole {
        true => plural(week.records.len(), "record new", "records new"),
        false => format!("more than {} records new", number(WEEK_RECORDS as u64)),
    };
    let resolved = of_week(engine, &week.times, &[Kind::Error]).state(Mistake::RESOLVED);
    let resolved = engine.count(&resolved)?;
    let corrected = week.happened(Action::Replaced);
    let (tasks, tasks_all) = open_tasks(engine, &counts)?;
    Ok(View {
        headline: inherited.headline(),
        sub: match all {
            0 => "It is empty as yet.".to_owned(),
            _ => format!(
                "This week: {new}, {corrected} corrected, {} resolved.",
                plural(resolved, "error", "errors")
            ),
        },
        is_empty: all == 0 && inherited.sessions == 0,
        arcs,
        waiting: waiting::load(engine, &week.times)?,
        latest: latest::load(engine, &week)?,
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

fn open_tasks(engine: &Engine, counts: &[(Kind, u64)]) -> Result<(Vec<OpenTask>, String), Fault> {
    let filter = Filter::current(&[Kind::Task], engine.now()).limit(TASKS_READ);
    let mut rows = Vec::new();
    for record in engine.find(&filter)? {
        let Ok(task) = Task::of(&record) else {
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

/// A task and how far it is. Errors of no task are none of it here: they wait beside.
fn open_task(engine: &Engine, record: &Record, task: &Task) -> Result<OpenTask, Fault> {
    let id = record.key.as_deref().unwrap_or_default();
    let known = engine.task_progress(id)?;
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
            told::who(&record.source)
        ),
    };
    Ok(OpenTask {
        href: told::task_href(id),
        title: told::task_title(record),
        detail: heirloom_model::text::printable(&detail),
        state: heirloom_model::text::printable(&state.to_lowercase()),
        class,
        icon,
    })
}
