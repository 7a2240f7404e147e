//! Tasks: what was tried, why it failed, and what is left.

mod errors;
mod one;

use super::look::{back, times};
use super::records::told_and_changed;
use super::view::plural;
use super::view::tasks::{List, Row};
use super::{Look, Shell, Wrong, html, told};
use crate::App;
use crate::page::fields::Fields;
use axum::Router;
use axum::extract::{Path, Query, State};
use axum::response::Response;
use axum::routing::{get, post};
use heirloom_engine::{Engine, Filter, TaskChange};
use heirloom_model::kinds::{Task, TaskState};
use heirloom_model::{Deed, Fault, Kind, KindData, Record, text};
use serde::Deserialize;

/// Tasks on one page, and how many are looked through for it.
const PAGE: usize = 40;
const READ: usize = 400;

/// What the address asks for.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
struct Asked {
    state: String,
    after: String,
}

/// Their addresses.
pub(super) fn routes() -> Router<App> {
    Router::new()
        .route("/tasks", get(list))
        .route("/tasks/{id}", get(one::show).post(set))
        .route("/errors", get(errors::list))
        .route("/errors/{id}", post(errors::resolve))
}

async fn list(
    State(app): State<App>,
    look: Look,
    Query(asked): Query<Asked>,
) -> Result<Response, Wrong> {
    let project = look.project(Deed::Read)?;
    let view = app.ask(project, move |engine| load(engine, &look, &asked));
    html(&view.await?)
}

/// How a task stands, in a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stand {
    Open,
    Blocked,
    Done,
    Failed,
}

impl Stand {
    fn of(record: &Record) -> Self {
        let Ok(task) = Task::of(record) else {
            return Self::Open;
        };
        let is_blocked = task.blocked_reason.is_some_and(|why| !why.is_empty());
        match (task.state, is_blocked) {
            (Some(TaskState::Done), _) => Self::Done,
            (Some(TaskState::Failed), _) => Self::Failed,
            (Some(TaskState::Open) | None, true) => Self::Blocked,
            (Some(TaskState::Open) | None, false) => Self::Open,
        }
    }

    fn words(self) -> (&'static str, &'static str, &'static str) {
        match self {
            Self::Open => ("open", "k-task", "task"),
            Self::Blocked => ("blocked", "warn", "pause"),
            Self::Done => ("done", "ok", "check"),
            Self::Failed => ("failed", "bad", "cross"),
        }
    }
}

fn load(engine: &Engine, look: &Look, asked: &Asked) -> Result<List, Fault> {
    let shell = Shell::load(engine, look, "tasks", "Tasks")?;
    let times = times(engine);
    let mut filter = Filter::current(&[Kind::Task], engine.now()).limit(READ);
    if !asked.after.is_empty() {
        filter.after = Some(engine.resolve_id(&asked.after)?);
    }
    let found = engine.find(&filter)?;
    let is_all = found.len() < READ;
    let stands: Vec<Stand> = found.iter().map(Stand::of).collect();
    let count = |stand: Stand| stands.iter().filter(|one| **one == stand).count();
    let (open, blocked) = (count(Stand::Open), count(Stand::Blocked));
    let mut fitting = found
        .iter()
        .zip(&stands)
        .filter(|(_, stand)| match asked.state.as_str() {
            "" => true,
            state => stand.words().0 == state,
        });
    let page: Vec<_> = fitting.by_ref().take(PAGE).collect();
    let has_more = fitting.next().is_some() || !is_all;
    let next = page
        .last()
        .filter(|_| has_more)
        .map(|(record, _)| record.id);
    let row = |(record, stand): &(&Record, &Stand)| {
        let (state, class, icon) = stand.words();
        let task = Task::of(record).unwrap_or_default();
        let mut meta = vec![text::printable(&record.text), told::who(&record.source)];
        if let Some(phase) = &record.scope.phase {
            meta.push(text::printable(&phase.to_lowercase()));
        }
        meta.extend(
            task.blocked_reason
                .filter(|why| !why.is_empty())
                .map(|why| text::printable(&why)),
        );
        Row {
            id: record.id.to_string(),
            href: told::task_href(record.key.as_deref().unwrap_or_default()),
            title: told::task_title(record),
            meta,
            state: state.to_owned(),
            class,
            icon,
            at: times.brief(record.recorded_at),
        }
    };
    let state = |name: &'static str, key: &str| {
        let href = match key {
            "" => "/tasks".to_owned(),
            key => format!("/tasks?state={key}"),
        };
        (name, href, asked.state == key)
    };
    Ok(List {
        shell,
        headline: match (found.len(), is_all) {
            (0, _) => "No task yet.".to_owned(),
            (n, true) => format!(
                "{}: {open} open, {blocked} blocked.",
                plural(n, "task", "tasks")
            ),
            (n, false) => format!("Of the newest {n} tasks {open} are open, {blocked} blocked."),
        },
        states: vec![
            state("All", ""),
            state("Open", "open"),
            state("Blocked", "blocked"),
            state("Done", "done"),
            state("Failed", "failed"),
        ],
        rows: page.iter().map(row).collect(),
        next: next.map_or_else(String::new, |id| {
            format!("/tasks?state={}&after={id}", told::encoded(&asked.state))
        }),
    })
}

/// Says where a task stands.
async fn set(
    State(app): State<App>,
    look: Look,
    Path(id): Path<String>,
    fields: Fields,
) -> Result<Response, Wrong> {
    let (state, done) = match fields.get("state") {
        "done" => (TaskState::Done, "done"),
        _ => (TaskState::Open, "reopened"),
    };
    let to = told::task_href(&id);
    let project = look.project(Deed::Change)?;
    let undo = app.ask(project, move |engine| {
        engine.task(&id)?;
        let change = TaskChange {
            state: Some(state),
            ..TaskChange::default()
        };
        Ok(engine.set_task(&id, &change, "user")?.id.to_string())
    });
    let undo = undo.await?;
    match look.is_part {
        false => Ok(back(&to, done, &undo)),
        true => told_and_changed(&look, done, &undo),
    }
}
