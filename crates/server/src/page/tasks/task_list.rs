//! List of tasks, with a filter by status.

use crate::App;
use crate::page::request_context::times;
use crate::page::view::plural;
use crate::page::view::tasks::{TaskListView, TaskRow};
use crate::page::{PageError, RequestContext, Shell, record_label, render};
use axum::extract::{Query, State};
use axum::response::Response;
use heirloom_engine::{Engine, Filter};
use heirloom_model::kinds::{Task, TaskState};
use heirloom_model::{Fault, Kind, KindData, Permission, Record, text};
use serde::Deserialize;

/// Page size, and maximum number of tasks that are read for a page.
const PAGE: usize = 40;
const READ: usize = 400;

/// Query parameters.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(super) struct TaskListParams {
    state: String,
    after: String,
}

/// Shows the list.
pub(super) async fn show(
    State(app): State<App>,
    context: RequestContext,
    Query(params): Query<TaskListParams>,
) -> Result<Response, PageError> {
    let project = context.resolve_project(Permission::Read)?;
    let view = app.with_engine(project, move |engine| load(engine, &context, &params));
    render(&view.await?)
}

/// Status of a task in the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TaskStatus {
    Open,
    Blocked,
    Done,
    Failed,
}

impl TaskStatus {
    fn of(record: &Record) -> Self {
        let Ok(task) = Task::from_record(record) else {
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

fn load(
    engine: &Engine,
    context: &RequestContext,
    params: &TaskListParams,
) -> Result<TaskListView, Fault> {
    let shell = Shell::load(engine, context, "tasks", "Tasks")?;
    let times = times(engine);
    let mut filter = Filter::current(&[Kind::Task], engine.now()).limit(READ);
    if !params.after.is_empty() {
        filter.after = Some(engine.records().resolve_id(&params.after)?);
    }
    let found = engine.records().find(&filter)?;
    let is_all = found.len() < READ;
    let stands: Vec<TaskStatus> = found.iter().map(TaskStatus::of).collect();
    let count = |stand: TaskStatus| stands.iter().filter(|one| **one == stand).count();
    let (open, blocked) = (count(TaskStatus::Open), count(TaskStatus::Blocked));
    let mut fitting = found
        .iter()
        .zip(&stands)
        .filter(|(_, stand)| match params.state.as_str() {
            "" => true,
            state => stand.words().0 == state,
        });
    let page: Vec<_> = fitting.by_ref().take(PAGE).collect();
    let has_more = fitting.next().is_some() || !is_all;
    let next = page
        .last()
        .filter(|_| has_more)
        .map(|(record, _)| record.id);
    let row = |(record, stand): &(&Record, &TaskStatus)| {
        let (state, class, icon) = stand.words();
        let task = Task::from_record(record).unwrap_or_default();
        let mut meta = vec![
            text::replace_control_chars(&record.text),
            record_label::source_label(&record.source),
        ];
        if let Some(phase) = &record.scope.phase {
            meta.push(text::replace_control_chars(&phase.to_lowercase()));
        }
        meta.extend(
            task.blocked_reason
                .filter(|why| !why.is_empty())
                .map(|why| text::replace_control_chars(&why)),
        );
        TaskRow {
            id: record.id.to_string(),
            href: record_label::task_href(record.key.as_deref().unwrap_or_default()),
            title: record_label::task_title(record),
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
        (name, href, params.state == key)
    };
    Ok(TaskListView {
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
            format!(
                "/tasks?state={}&after={id}",
                record_label::percent_encode(&params.state)
            )
        }),
    })
}
