//! `/api/tasks`: tasks, their steps and their errors.

use super::shape::{Asked, Body, List, Where, count, cursor, limit, small};
use super::wire::{self, AnyRecord, Outcome};
use crate::{Access, App, Problem};
use axum::Json;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use heirloom_engine::{Filter, TaskChange, TaskDetails};
use heirloom_model::kinds::{StepState, TaskState};
use heirloom_model::{Kind, Record, Scope};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

/// Where a task stands.
#[derive(Debug, Clone, Copy, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum Standing {
    Open,
    Done,
    Failed,
}

impl Standing {
    fn typed(self) -> TaskState {
        match self {
            Self::Open => TaskState::Open,
            Self::Done => TaskState::Done,
            Self::Failed => TaskState::Failed,
        }
    }
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct Asking {
    /// The project; without it the one that is served, or the token's.
    project: Option<String>,
    /// Only in this state.
    #[param(inline)]
    state: Option<Standing>,
    /// `next` of the part before.
    cursor: Option<String>,
    /// At most so many items.
    #[param(minimum = 1, maximum = 1000, default = 50)]
    limit: Option<usize>,
}

/// A task.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Task {
    /// Its id, as people and agents call it.
    task_id: String,
    /// The record's id.
    id: String,
    project: String,
    title: String,
    /// open, done or failed.
    state: String,
    #[serde(rename = "type")]
    sort: Option<String>,
    phase: Option<String>,
    branch: Option<String>,
    pr_number: Option<u64>,
    blocked_reason: Option<String>,
    iteration: Option<u32>,
    source: String,
    #[schema(format = DateTime)]
    updated_at: String,
}

fn task(record: &Record) -> Task {
    let said = |name: &str| record.attr_str(name).map(str::to_owned);
    Task {
        task_id: record.key.clone().unwrap_or_default(),
        id: record.id.to_string(),
        project: record.project.as_str().to_owned(),
        title: record.text.clone(),
        state: said("state").unwrap_or_else(|| "open".to_owned()),
        sort: said("type"),
        phase: record.scope.phase.clone(),
        branch: said("branch"),
        pr_number: record
            .attrs
            .get("pr_number")
            .and_then(serde_json::Value::as_u64),
        blocked_reason: said("blocked_reason"),
        iteration: record.scope.iteration,
        source: record.source.clone(),
        updated_at: record.recorded_at.to_string(),
    }
}

/// Tasks, newest first.
#[utoipa::path(get, path = "/tasks", tag = "tasks", params(Asking), responses((status = 200, body = List<Task>)))]
pub(super) async fn list(
    State(app): State<App>,
    access: Access,
    Asked(asked): Asked<Asking>,
) -> Result<Json<List<Task>>, Problem> {
    let project = access.project(asked.project.as_deref())?;
    let most = limit(asked.limit)?;
    let after = cursor(asked.cursor.as_deref())?;
    let answer = app.compute(project, move |engine| {
        let mut filter = Filter::current(&[Kind::Task], engine.now()).limit(most);
        filter.after = after;
        let page = match asked.state.map(Standing::typed) {
            None => engine.page(&filter, None)?,
            Some(state) => {
                let is_in = |record: &Record| record.state().unwrap_or("open") == state.as_str();
                engine.page(&filter, Some(&is_in))?
            }
        };
        Ok(List::of(&page, task))
    });
    Ok(Json(answer.await?))
}

/// A task with everything that hangs on it, each list oldest first.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = WholeTask)]
pub(super) struct Whole {
    #[serde(flatten)]
    task: Task,
    completed_steps: Vec<AnyRecord>,
    pending_steps: Vec<AnyRecord>,
    files: Vec<AnyRecord>,
    open_errors: Vec<AnyRecord>,
}

/// A task with its steps, files and open errors.
#[utoipa::path(get, path = "/tasks/{id}", tag = "tasks", params(("id" = String, Path,), Where), responses((status = 200, body = Whole)))]
pub(super) async fn show(
    State(app): State<App>,
    access: Access,
    Path(given): Path<String>,
    Asked(asked): Asked<Where>,
) -> Result<Json<Whole>, Problem> {
    let project = access.project(asked.project.as_deref())?;
    let found: TaskDetails = app.ask(project, move |engine| engine.task(&given)).await?;
    let all = |records: &[Record]| records.iter().map(wire::record).collect();
    Ok(Json(Whole {
        task: task(&found.task),
        completed_steps: all(&found.completed),
        pending_steps: all(&found.pending),
        files: all(&found.files),
        open_errors: all(&found.open_errors),
    }))
}

#[derive(Debug, Deserialize, ToSchema)]
pub(super) struct Setting {
    /// The project; without it the one that is served, or the token's.
    project: Option<String>,
    /// issue, pr, or any other word.
    r#type: Option<String>,
    phase: Option<String>,
    branch: Option<String>,
    #[serde(default, deserialize_with = "count")]
    pr_number: Option<u64>,
    /// Why it is blocked; an empty text says that it no longer is.
    blocked_reason: Option<String>,
    #[schema(inline)]
    state: Option<Standing>,
    #[schema(minimum = 1)]
    #[serde(default, deserialize_with = "small")]
    iteration: Option<u32>,
    /// Who says so; else the token's role.
    source: Option<String>,
}

/// Creates a task, or lays what is said over what is known of it.
#[utoipa::path(put, path = "/tasks/{id}", tag = "tasks", params(("id" = String, Path,)), request_body(content = Setting), responses((status = 200, body = Outcome), (status = 201, body = Outcome)))]
pub(super) async fn set(
    State(app): State<App>,
    access: Access,
    Path(given): Path<String>,
    Body(said): Body<Setting>,
) -> Result<(StatusCode, Json<Outcome>), Problem> {
    let project = access.project(said.project.as_deref())?;
    let source = access.source(said.source.as_deref())?;
    let change = TaskChange {
        task_type: said.r#type,
        phase: said.phase,
        branch: said.branch,
        pr_number: said.pr_number,
        blocked_reason: said.blocked_reason,
        state: said.state.map(Standing::typed),
        iteration: said.iteration,
    };
    let applied = app.ask(project, move |engine| {
        engine.set_task(&given, &change, &source)
    });
    let outcome = Outcome::from(applied.await?);
    Ok((super::knowledge::created(&outcome), Json(outcome)))
}

/// How a task ended.
#[derive(Debug, Clone, Copy, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum End {
    Done,
    Failed,
}

#[derive(Debug, Deserialize, ToSchema)]
pub(super) struct Ending {
    /// The project; without it the one that is served, or the token's.
    project: Option<String>,
    #[schema(inline)]
    state: End,
    agent_id: Option<String>,
    /// What was tried.
    approach: Option<String>,
    /// How it went.
    outcome: Option<String>,
}

/// What the end of a task left.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Ended {
    task_id: String,
    state: String,
    /// The episode that was written.
    episode: String,
}

/// Says that a task is finished or given up, and writes the episode.
#[utoipa::path(post, path = "/tasks/{id}/end", tag = "tasks", params(("id" = String, Path,)), request_body(content = Ending), responses((status = 200, body = Ended)))]
pub(super) async fn finish(
    State(app): State<App>,
    access: Access,
    Path(given): Path<String>,
    Body(said): Body<Ending>,
) -> Result<Json<Ended>, Problem> {
    let project = access.project(said.project.as_deref())?;
    access.source(said.agent_id.as_deref())?;
    let state = match said.state {
        End::Done => TaskState::Done,
        End::Failed => TaskState::Failed,
    };
    let answer = app.ask(project, move |engine| {
        let episode =
            engine.finish_task(&given, state, said.agent_id, said.approach, said.outcome)?;
        Ok(Ended {
            task_id: given,
            state: state.as_str().to_owned(),
            episode: episode.to_string(),
        })
    });
    Ok(Json(answer.await?))
}

/// Where a step stands.
#[derive(Debug, Clone, Copy, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum Stand {
    Pending,
    Done,
}

#[derive(Debug, Deserialize, ToSchema)]
pub(super) struct NewStep {
    /// The project; without it the one that is served, or the token's.
    project: Option<String>,
    #[schema(min_length = 1, pattern = r"\S")]
    text: String,
    #[schema(inline)]
    state: Stand,
    /// Who says so; else the token's role.
    agent_id: Option<String>,
}

/// Records a step of a task; done completes the pending step with the same words.
#[utoipa::path(post, path = "/tasks/{id}/steps", tag = "tasks", params(("id" = String, Path,)), request_body(content = NewStep), responses((status = 200, body = Outcome), (status = 201, body = Outcome)))]
pub(super) async fn step(
    State(app): State<App>,
    access: Access,
    Path(given): Path<String>,
    Body(said): Body<NewStep>,
) -> Result<(StatusCode, Json<Outcome>), Problem> {
    let project = access.project(said.project.as_deref())?;
    let source = access.source(said.agent_id.as_deref())?;
    let state = match said.state {
        Stand::Pending => StepState::Pending,
        Stand::Done => StepState::Done,
    };
    let applied = app.ask(project, move |engine| {
        engine.step(&given, &said.text, state, &source)
    });
    let outcome = Outcome::from(applied.await?);
    Ok((super::knowledge::created(&outcome), Json(outcome)))
}

#[derive(Debug, Deserialize, ToSchema)]
pub(super) struct NewError {
    /// The project; without it the one that is served, or the token's.
    project: Option<String>,
    #[schema(min_length = 1, pattern = r"\S")]
    text: String,
    task_id: Option<String>,
    phase: Option<String>,
    #[schema(minimum = 1)]
    #[serde(default, deserialize_with = "small")]
    iteration: Option<u32>,
    /// Who says so; else the token's role.
    agent_id: Option<String>,
}

/// What became of an error that was told.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Logged {
    #[serde(flatten)]
    outcome: Outcome,
    /// How the same error was resolved before.
    #[serde(skip_serializing_if = "Option::is_none")]
    resolved_before: Option<Resolved>,
}

/// How an error was resolved.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Resolved {
    id: String,
    resolution: String,
}

/// Logs an error: the same once more is counted, one that was resolved is opened anew.
#[utoipa::path(post, path = "/errors", tag = "tasks", request_body(content = NewError), responses((status = 201, body = Logged), (status = 200, body = Logged)))]
pub(super) async fn log_error(
    State(app): State<App>,
    access: Access,
    Body(said): Body<NewError>,
) -> Result<(StatusCode, Json<Logged>), Problem> {
    let project = access.project(said.project.as_deref())?;
    let source = access.source(said.agent_id.as_deref())?;
    let scope = Scope {
        task: said.task_id,
        phase: said.phase,
        iteration: said.iteration,
        agent: said.agent_id,
        ..Scope::default()
    };
    let logged = app.ask(project, move |engine| {
        engine.log_error(&said.text, scope, &source)
    });
    let logged = logged.await?;
    let outcome = Outcome::from(logged.applied);
    let before = logged.resolved_before.map(|before| Resolved {
        id: before.id.to_string(),
        resolution: before.resolution,
    });
    Ok((
        super::knowledge::created(&outcome),
        Json(Logged {
            outcome,
            resolved_before: before,
        }),
    ))
}

#[derive(Debug, Deserialize, ToSchema)]
pub(super) struct Resolving {
    /// The project; without it the one that is served, or the token's.
    project: Option<String>,
    /// How it was resolved.
    #[schema(min_length = 1, pattern = r"\S")]
    resolution: String,
    /// Who says so; else the token's role.
    agent_id: Option<String>,
}

/// Says how an open error was resolved.
#[utoipa::path(post, path = "/errors/{id}/resolve", tag = "tasks", params(("id" = String, Path,)), request_body(content = Resolving), responses((status = 200, body = Outcome)))]
pub(super) async fn resolve_error(
    State(app): State<App>,
    access: Access,
    Path(given): Path<String>,
    Body(said): Body<Resolving>,
) -> Result<Json<Outcome>, Problem> {
    let project = access.project(said.project.as_deref())?;
    let source = access.source(said.agent_id.as_deref())?;
    let wanted = super::shape::id(&given)?;
    let applied = app.ask(project, move |engine| {
        engine.resolve_error(&wanted.to_string(), &said.resolution, &source)
    });
    Ok(Json(Outcome::plain(applied.await?.id, "resolved")))
}
