//! `/api/memory/working`: what one agent holds while it works, for its token alone.

use super::shape::{Asked, Body, Where};
use crate::{Access, App, Problem};
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use heirloom_engine::working::{WorkingMemory, WorkingProblem};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use utoipa::ToSchema;

/// What an agent holds.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Working {
    agent_id: String,
    current_plan: Option<String>,
    active_constraints: Vec<String>,
    task_context: BTreeMap<String, Value>,
    scratchpad: Vec<String>,
    #[schema(format = DateTime)]
    updated_at: String,
}

impl From<WorkingMemory> for Working {
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
pub(super) struct NewWorking {
    /// The project; without it the one that is served, or the token's.
    project: Option<String>,
    /// The agent; else the token's role.
    agent_id: Option<String>,
    current_plan: Option<String>,
    #[serde(default)]
    active_constraints: Vec<String>,
    #[serde(default)]
    task_context: BTreeMap<String, Value>,
    #[serde(default)]
    scratchpad: Vec<String>,
}

/// What the token's agent holds; empty if it has held nothing yet.
#[utoipa::path(get, path = "/working", tag = "memory", params(Where), responses((status = 200, body = Working)))]
pub(super) async fn show(
    State(app): State<App>,
    access: Access,
    Asked(asked): Asked<Where>,
) -> Result<Json<Working>, Problem> {
    let project = access.project(asked.project.as_deref())?;
    if let Some(held) = app.held().get(&access.holder, project.as_deref()) {
        return Ok(Json(held.into()));
    }
    let (agent, session) = (access.role.source().to_owned(), access.holder.to_string());
    let taken = app.ask(project.clone(), move |engine| {
        let kept = match engine.settings().snapshot_on_shutdown {
            true => engine.take_working(&agent, &session)?,
            false => None,
        };
        match kept {
            Some(kept) => Ok(kept),
            None => WorkingMemory::new(&agent, &session, engine.now())
                .map_err(|bad| heirloom_model::Fault::usage(bad.to_string())),
        }
    });
    let memory = taken.await?;
    app.held().put(&access.holder, project, memory.clone());
    Ok(Json(memory.into()))
}

/// Puts what the token's agent holds in the place of what it held.
#[utoipa::path(put, path = "/working", tag = "memory", request_body = NewWorking, responses((status = 200, body = Working)))]
pub(super) async fn hold(
    State(app): State<App>,
    access: Access,
    Body(said): Body<NewWorking>,
) -> Result<Json<Working>, Problem> {
    let project = access.project(said.project.as_deref())?;
    let agent = said.agent_id.clone();
    let agent = agent.unwrap_or_else(|| access.role.source().to_owned());
    let now = app.ask(project.clone(), |engine| Ok(engine.now())).await?;
    let filled = || {
        let mut memory = WorkingMemory::new(&agent, &access.holder, now)?;
        memory.plan(said.current_plan.as_deref(), now)?;
        for constraint in &said.active_constraints {
            memory.constrain(constraint, now)?;
        }
        for (name, value) in &said.task_context {
            memory.know(name, value.clone(), now)?;
        }
        for note in &said.scratchpad {
            memory.note(note, now)?;
        }
        memory.snapshot()?;
        Ok(memory)
    };
    let memory = filled().map_err(|bad: WorkingProblem| {
        Problem::new(StatusCode::UNPROCESSABLE_ENTITY, bad.to_string())
    })?;
    app.held().put(&access.holder, project, memory.clone());
    Ok(Json(memory.into()))
}

/// Forgets what the token's agent held.
#[utoipa::path(delete, path = "/working", tag = "memory", params(Where), responses((status = 204)))]
pub(super) async fn forget(
    State(app): State<App>,
    access: Access,
    Asked(asked): Asked<Where>,
) -> Result<StatusCode, Problem> {
    let project = access.project(asked.project.as_deref())?;
    app.held().forget(&access.holder, project.as_deref());
    Ok(StatusCode::NO_CONTENT)
}
