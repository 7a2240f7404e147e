//! `/api/memory/working`: working memory of an agent, one per token.

use super::json_body::JsonBody;
use super::query_params::{ProjectQuery, QueryParams};
use crate::{Access, App, Problem};
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use heirloom_engine::working_memory::{WorkingMemory, WorkingMemoryError};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use utoipa::ToSchema;

/// Working memory of an agent.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct WorkingMemoryState {
    agent_id: String,
    current_plan: Option<String>,
    active_constraints: Vec<String>,
    task_context: BTreeMap<String, Value>,
    scratchpad: Vec<String>,
    #[schema(format = DateTime)]
    updated_at: String,
}

impl From<WorkingMemory> for WorkingMemoryState {
    fn from(memory: WorkingMemory) -> Self {
        Self {
            agent_id: memory.agent_id().to_owned(),
            current_plan: memory.current_plan().map(str::to_owned),
            active_constraints: memory.active_constraints().to_vec(),
            task_context: memory.task_context().clone(),
            scratchpad: memory.scratchpad().to_vec(),
            updated_at: memory.updated_at().to_string(),
        }
    }
}

#[derive(Debug, Deserialize, ToSchema)]
pub(super) struct WorkingMemoryRequest {
    /// The project; by default the token's project or the served one.
    project: Option<String>,
    /// The agent; the token's role by default.
    #[serde(alias = "agent")]
    agent_id: Option<String>,
    current_plan: Option<String>,
    #[serde(default)]
    active_constraints: Vec<String>,
    #[serde(default)]
    task_context: BTreeMap<String, Value>,
    #[serde(default)]
    scratchpad: Vec<String>,
}

/// Returns the working memory of the token's agent; empty if none was stored.
#[utoipa::path(get, path = "/working", operation_id = "get_working_memory", tag = "working-memory", params(ProjectQuery), responses((status = 200, body = WorkingMemoryState)))]
pub(super) async fn show(
    State(app): State<App>,
    access: Access,
    QueryParams(params): QueryParams<ProjectQuery>,
) -> Result<Json<WorkingMemoryState>, Problem> {
    let project = access.resolve_project(params.project.as_deref())?;
    if let Some(cached) = app
        .working_memories()
        .get(&access.holder, project.as_deref())
    {
        return Ok(Json(cached.into()));
    }
    let (agent, session) = (access.role.source().to_owned(), access.holder.to_string());
    let loaded = app.with_engine(project.clone(), move |engine| {
        let stored = match engine.settings().snapshot_on_shutdown {
            true => engine.sessions().take_newest_working_memory(&session)?,
            false => None,
        };
        match stored {
            Some(stored) => Ok(stored),
            None => WorkingMemory::new(&agent, &session, engine.now())
                .map_err(|bad| heirloom_model::Fault::usage(bad.to_string())),
        }
    });
    let memory = loaded.await?;
    app.working_memories()
        .put(&access.holder, project, memory.clone());
    Ok(Json(memory.into()))
}

/// Replaces the working memory of the token's agent.
#[utoipa::path(put, path = "/working", operation_id = "set_working_memory", tag = "working-memory", request_body = WorkingMemoryRequest, responses((status = 200, body = WorkingMemoryState)))]
pub(super) async fn hold(
    State(app): State<App>,
    access: Access,
    JsonBody(body): JsonBody<WorkingMemoryRequest>,
) -> Result<Json<WorkingMemoryState>, Problem> {
    let project = access.resolve_project(body.project.as_deref())?;
    let agent = body.agent_id.clone();
    let agent = agent.unwrap_or_else(|| access.role.source().to_owned());
    let now = app
        .with_engine(project.clone(), |engine| Ok(engine.now()))
        .await?;
    let build_memory = || {
        let mut memory = WorkingMemory::new(&agent, &access.holder, now)?;
        memory.set_plan(body.current_plan.as_deref(), now)?;
        for constraint in &body.active_constraints {
            memory.add_constraint(constraint, now)?;
        }
        for (name, value) in &body.task_context {
            memory.set_context(name, value.clone(), now)?;
        }
        for note in &body.scratchpad {
            memory.add_note(note, now)?;
        }
        memory.snapshot()?;
        Ok(memory)
    };
    let memory = build_memory().map_err(|bad: WorkingMemoryError| {
        Problem::new(StatusCode::UNPROCESSABLE_ENTITY, bad.to_string())
    })?;
    app.working_memories()
        .put(&access.holder, project, memory.clone());
    Ok(Json(memory.into()))
}

/// Deletes the working memory of the token's agent.
#[utoipa::path(delete, path = "/working", operation_id = "clear_working_memory", tag = "working-memory", params(ProjectQuery), responses((status = 204)))]
pub(super) async fn forget(
    State(app): State<App>,
    access: Access,
    QueryParams(params): QueryParams<ProjectQuery>,
) -> Result<StatusCode, Problem> {
    let project = access.resolve_project(params.project.as_deref())?;
    app.working_memories()
        .forget(&access.holder, project.as_deref());
    let session = access.holder.to_string();
    let deleted = app.with_engine(project, move |engine| {
        match engine.settings().snapshot_on_shutdown {
            true => engine
                .sessions()
                .take_newest_working_memory(&session)
                .map(drop),
            false => Ok(()),
        }
    });
    deleted.await?;
    Ok(StatusCode::NO_CONTENT)
}
