//! `/api/errors`: errors of tasks, and their resolution.

use super::field_checks::{deserialize_small_count, parse_id};
use super::json_body::JsonBody;
use super::json_types::WriteOutcome;
use crate::{Access, App, Problem};
use axum::Json;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use heirloom_model::Scope;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

#[derive(Debug, Deserialize, ToSchema)]
pub(super) struct NewError {
    /// The project; by default the token's project or the served one.
    project: Option<String>,
    #[serde(alias = "content")]
    #[schema(min_length = 1, pattern = r"\S")]
    text: String,
    #[serde(alias = "task")]
    task_id: Option<String>,
    phase: Option<String>,
    #[schema(minimum = 1)]
    #[serde(default, deserialize_with = "deserialize_small_count")]
    iteration: Option<u32>,
    /// Source; the token's role by default.
    #[serde(alias = "agent")]
    agent_id: Option<String>,
}

/// Result of logging an error.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct LoggedError {
    #[serde(flatten)]
    outcome: WriteOutcome,
    /// Resolution of an earlier occurrence.
    #[serde(skip_serializing_if = "Option::is_none")]
    resolved_before: Option<PastResolution>,
}

/// Resolution of an error.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct PastResolution {
    id: String,
    resolution: String,
}

/// Logs an error: a repeated one is counted, a resolved one is reopened.
#[utoipa::path(post, path = "/errors", operation_id = "log_error", tag = "errors", request_body(content = NewError), responses((status = 201, body = LoggedError), (status = 200, body = LoggedError)))]
pub(super) async fn log_error(
    State(app): State<App>,
    access: Access,
    JsonBody(body): JsonBody<NewError>,
) -> Result<(StatusCode, Json<LoggedError>), Problem> {
    let project = access.resolve_project(body.project.as_deref())?;
    let source = access.resolve_source(body.agent_id.as_deref())?;
    let scope = Scope {
        task: body.task_id,
        phase: body.phase,
        iteration: body.iteration,
        agent: body.agent_id.or_else(|| Some(source.clone())),
        ..Scope::default()
    };
    let logged = app.with_engine(project, move |engine| {
        engine.errors().log(&body.text, scope, &source)
    });
    let logged = logged.await?;
    let outcome = WriteOutcome::from(logged.applied);
    let before = logged.resolved_before.map(|before| PastResolution {
        id: before.id.to_string(),
        resolution: before.resolution,
    });
    Ok((
        super::knowledge::creation_status(&outcome),
        Json(LoggedError {
            outcome,
            resolved_before: before,
        }),
    ))
}

#[derive(Debug, Deserialize, ToSchema)]
pub(super) struct ResolveErrorRequest {
    /// The project; by default the token's project or the served one.
    project: Option<String>,
    /// The resolution.
    #[schema(min_length = 1, pattern = r"\S")]
    resolution: String,
    /// Source; the token's role by default.
    #[serde(alias = "agent")]
    agent_id: Option<String>,
}

/// Resolves an open error.
#[utoipa::path(post, path = "/errors/{id}/resolve", operation_id = "resolve_error", tag = "errors", params(("id" = String, Path,)), request_body(content = ResolveErrorRequest), responses((status = 200, body = WriteOutcome)))]
pub(super) async fn resolve_error(
    State(app): State<App>,
    access: Access,
    Path(given): Path<String>,
    JsonBody(body): JsonBody<ResolveErrorRequest>,
) -> Result<Json<WriteOutcome>, Problem> {
    let source = access.resolve_source(body.agent_id.as_deref())?;
    let record_id = parse_id(&given)?;
    let requested = body.project.as_deref();
    let project = app.project_of(&access, requested, record_id).await?;
    let applied = app.with_engine(project, move |engine| {
        engine
            .errors()
            .resolve(&record_id.to_string(), &body.resolution, &source)
    });
    Ok(Json(WriteOutcome {
        outcome: "resolved".to_owned(),
        ..applied.await?.into()
    }))
}
