//! `/api/tasks`: tasks with their steps.

use super::field_checks::{deserialize_count, deserialize_small_count};
use super::json_body::JsonBody;
use super::json_types::{self, AnyRecord, WriteOutcome};
use super::pagination::{List, page_size, parse_cursor};
use super::query_params::{ProjectQuery, QueryParams};
use crate::{Access, App, Problem};
use axum::Json;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use heirloom_engine::{Filter, NewEpisode, TaskChange, TaskDetails};
use heirloom_model::kinds::{EpisodeAction, StepState, TaskState};
use heirloom_model::{Kind, Record};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

/// State of a task.
#[derive(Debug, Clone, Copy, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum TaskStateParam {
    Open,
    Done,
    Failed,
}

impl TaskStateParam {
    fn to_model(self) -> TaskState {
        match self {
            Self::Open => TaskState::Open,
            Self::Done => TaskState::Done,
            Self::Failed => TaskState::Failed,
        }
    }
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct TaskQuery {
    /// The project; by default the token's project or the served one.
    project: Option<String>,
    /// Only in this state.
    #[param(inline)]
    state: Option<TaskStateParam>,
    /// `next` of the previous page.
    cursor: Option<String>,
    /// Maximum number of items.
    #[param(minimum = 1, maximum = 1000, default = 50)]
    limit: Option<usize>,
}

/// A task.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Task {
    /// Id of the task, as people and agents use it.
    task_id: String,
    /// Id of the record.
    id: String,
    project: String,
    /// Given title, otherwise its type and id.
    title: String,
    /// open, done or failed.
    state: String,
    #[serde(rename = "type")]
    task_type: Option<String>,
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
    let attr = |name: &str| record.attr_str(name).map(str::to_owned);
    Task {
        task_id: record.key.clone().unwrap_or_default(),
        id: record.id.to_string(),
        project: record.project.as_str().to_owned(),
        title: attr("title").unwrap_or_else(|| record.text.clone()),
        state: attr("state").unwrap_or_else(|| "open".to_owned()),
        task_type: attr("type"),
        phase: record.scope.phase.clone(),
        branch: attr("branch"),
        pr_number: record
            .attrs
            .get("pr_number")
            .and_then(serde_json::Value::as_u64),
        blocked_reason: attr("blocked_reason"),
        iteration: record.scope.iteration,
        source: record.source.clone(),
        updated_at: record.recorded_at.to_string(),
    }
}

/// Lists tasks, newest first.
#[utoipa::path(get, path = "/tasks", operation_id = "list_tasks", tag = "tasks", params(TaskQuery), responses((status = 200, body = List<Task>)))]
pub(super) async fn list(
    State(app): State<App>,
    access: Access,
    QueryParams(params): QueryParams<TaskQuery>,
) -> Result<Json<List<Task>>, Problem> {
    let project = access.resolve_project(params.project.as_deref())?;
    let most = page_size(params.limit)?;
    let after = parse_cursor(params.cursor.as_deref())?;
    let answer = app.compute_with_engine(project, move |engine| {
        let mut filter = Filter::current(&[Kind::Task], engine.now()).limit(most);
        filter.after = after;
        let page = match params.state.map(TaskStateParam::to_model) {
            None => engine.records().page(&filter, None)?,
            Some(state) => {
                let is_in = |record: &Record| record.state().unwrap_or("open") == state.as_str();
                engine.records().page(&filter, Some(&is_in))?
            }
        };
        Ok(List::from_page(&page, task))
    });
    Ok(Json(answer.await?))
}

/// A task with its steps, files and open errors, each list oldest first.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct TaskResponse {
    #[serde(flatten)]
    task: Task,
    completed_steps: Vec<AnyRecord>,
    pending_steps: Vec<AnyRecord>,
    files: Vec<AnyRecord>,
    open_errors: Vec<AnyRecord>,
}

/// Returns a task with its steps, files and open errors.
#[utoipa::path(get, path = "/tasks/{id}", operation_id = "get_task", tag = "tasks", params(("id" = String, Path,), ProjectQuery), responses((status = 200, body = TaskResponse)))]
pub(super) async fn show(
    State(app): State<App>,
    access: Access,
    Path(given): Path<String>,
    QueryParams(params): QueryParams<ProjectQuery>,
) -> Result<Json<TaskResponse>, Problem> {
    let project = access.resolve_project(params.project.as_deref())?;
    let found: TaskDetails = app
        .with_engine(project, move |engine| engine.tasks().get(&given))
        .await?;
    let all = |records: &[Record]| records.iter().map(json_types::record).collect();
    Ok(Json(TaskResponse {
        task: task(&found.task),
        completed_steps: all(&found.completed),
        pending_steps: all(&found.pending),
        files: all(&found.files),
        open_errors: all(&found.open_errors),
    }))
}

#[derive(Debug, Deserialize, ToSchema)]
pub(super) struct TaskRequest {
    /// The project; by default the token's project or the served one.
    project: Option<String>,
    /// issue, pr, or any other word.
    r#type: Option<String>,
    /// Title in a person's words; an empty text removes it.
    title: Option<String>,
    phase: Option<String>,
    branch: Option<String>,
    #[serde(default, deserialize_with = "deserialize_count")]
    pr_number: Option<u64>,
    /// Reason why it is blocked; an empty text removes it.
    blocked_reason: Option<String>,
    #[schema(inline)]
    state: Option<TaskStateParam>,
    #[schema(minimum = 1)]
    #[serde(default, deserialize_with = "deserialize_small_count")]
    iteration: Option<u32>,
    /// Source; the token's role by default.
    source: Option<String>,
}

/// Creates a task, or updates the given fields of an existing one.
#[utoipa::path(put, path = "/tasks/{id}", operation_id = "set_task", tag = "tasks", params(("id" = String, Path,)), request_body(content = TaskRequest), responses((status = 200, body = WriteOutcome), (status = 201, body = WriteOutcome)))]
pub(super) async fn set(
    State(app): State<App>,
    access: Access,
    Path(given): Path<String>,
    JsonBody(body): JsonBody<TaskRequest>,
) -> Result<(StatusCode, Json<WriteOutcome>), Problem> {
    let project = access.resolve_project(body.project.as_deref())?;
    let source = access.resolve_source(body.source.as_deref())?;
    let change = TaskChange {
        task_type: body.r#type,
        title: body.title,
        phase: body.phase,
        branch: body.branch,
        pr_number: body.pr_number,
        blocked_reason: body.blocked_reason,
        state: body.state.map(TaskStateParam::to_model),
        iteration: body.iteration,
    };
    let applied = app.with_engine(project, move |engine| {
        engine.tasks().set(&given, &change, &source)
    });
    let outcome = WriteOutcome::from(applied.await?);
    Ok((super::knowledge::creation_status(&outcome), Json(outcome)))
}

/// Final state of a task.
#[derive(Debug, Clone, Copy, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum FinalState {
    Done,
    Failed,
}

#[derive(Debug, Deserialize, ToSchema)]
pub(super) struct EndTaskRequest {
    /// The project; by default the token's project or the served one.
    project: Option<String>,
    #[schema(inline)]
    state: FinalState,
    #[serde(alias = "agent")]
    agent_id: Option<String>,
    /// The approach.
    approach: Option<String>,
    /// The outcome.
    outcome: Option<String>,
}

/// Result of ending a task.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct EndTaskResponse {
    task_id: String,
    state: String,
    /// Id of the logged episode.
    episode: String,
}

/// Ends a task as done or failed, and logs an episode.
#[utoipa::path(post, path = "/tasks/{id}/end", operation_id = "end_task", tag = "tasks", params(("id" = String, Path,)), request_body(content = EndTaskRequest), responses((status = 200, body = EndTaskResponse)))]
pub(super) async fn finish(
    State(app): State<App>,
    access: Access,
    Path(given): Path<String>,
    JsonBody(body): JsonBody<EndTaskRequest>,
) -> Result<Json<EndTaskResponse>, Problem> {
    let project = access.resolve_project(body.project.as_deref())?;
    let source = access.resolve_source(body.agent_id.as_deref())?;
    let state = match body.state {
        FinalState::Done => TaskState::Done,
        FinalState::Failed => TaskState::Failed,
    };
    let answer = app.with_engine(project, move |engine| {
        let mut end = NewEpisode::new(&given, EpisodeAction::Completed);
        end.scope.agent = body.agent_id.or_else(|| Some(source.clone()));
        end.source = Some(source);
        end.approach = body.approach;
        end.outcome = body.outcome;
        let episode = engine.tasks().end_task(state, end)?;
        Ok(EndTaskResponse {
            task_id: given,
            state: state.as_str().to_owned(),
            episode: episode.to_string(),
        })
    });
    Ok(Json(answer.await?))
}

/// State of a step.
#[derive(Debug, Clone, Copy, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum StepStateParam {
    Pending,
    Done,
}

#[derive(Debug, Deserialize, ToSchema)]
pub(super) struct NewStep {
    /// The project; by default the token's project or the served one.
    project: Option<String>,
    #[schema(min_length = 1, pattern = r"\S")]
    text: String,
    #[schema(inline)]
    state: StepStateParam,
    /// Source; the token's role by default.
    #[serde(alias = "agent")]
    agent_id: Option<String>,
}

/// Records a step of a task; `done` completes the pending step with the same text.
#[utoipa::path(post, path = "/tasks/{id}/steps", operation_id = "record_step", tag = "tasks", params(("id" = String, Path,)), request_body(content = NewStep), responses((status = 200, body = WriteOutcome), (status = 201, body = WriteOutcome)))]
pub(super) async fn step(
    State(app): State<App>,
    access: Access,
    Path(given): Path<String>,
    JsonBody(body): JsonBody<NewStep>,
) -> Result<(StatusCode, Json<WriteOutcome>), Problem> {
    let project = access.resolve_project(body.project.as_deref())?;
    let source = access.resolve_source(body.agent_id.as_deref())?;
    let state = match body.state {
        StepStateParam::Pending => StepState::Pending,
        StepStateParam::Done => StepState::Done,
    };
    let applied = app.with_engine(project, move |engine| {
        engine.tasks().step(&given, &body.text, state, &source)
    });
    let outcome = WriteOutcome::from(applied.await?);
    Ok((super::knowledge::creation_status(&outcome), Json(outcome)))
}
