//! `/api/conflicts`: listing and resolving conflicts between sources.

use super::field_checks::parse_id;
use super::json_body::JsonBody;
use super::json_types::{self, Knowledge, WriteOutcome};
use super::pagination::List;
use super::query_params::{ProjectQuery, QueryParams};
use crate::{Access, App, Problem};
use axum::Json;
use axum::extract::{Path, State};
use heirloom_engine::Conflict as EngineConflict;
use heirloom_model::{AccessRole, Permission};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Different values of one key without a decision.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Conflict {
    /// Id of the winner.
    id: String,
    category: String,
    key: Option<String>,
    /// True if neither value is used until the conflict is resolved.
    disputed: bool,
    winner: Knowledge,
    /// Newest first.
    losers: Vec<Knowledge>,
}

fn conflict(open: &EngineConflict) -> Conflict {
    let winner = json_types::knowledge(&open.winner);
    Conflict {
        id: winner.id.clone(),
        category: winner.category.clone(),
        key: winner.key.clone(),
        disputed: open.is_disputed(),
        losers: open.losers.iter().map(json_types::knowledge).collect(),
        winner,
    }
}

/// Lists open conflicts, newest winner first.
#[utoipa::path(get, path = "/conflicts", operation_id = "list_conflicts", tag = "conflicts", params(ProjectQuery), responses((status = 200, body = List<Conflict>)))]
pub(super) async fn list(
    State(app): State<App>,
    access: Access,
    QueryParams(params): QueryParams<ProjectQuery>,
) -> Result<Json<List<Conflict>>, Problem> {
    let project = access.resolve_project(params.project.as_deref())?;
    let found = app
        .with_engine(project, |engine| engine.conflicts().list())
        .await?;
    Ok(Json(List::complete(found.iter().map(conflict).collect())))
}

#[derive(Debug, Deserialize, ToSchema)]
pub(super) struct ResolveRequest {
    /// The project; by default the token's project or the served one.
    project: Option<String>,
    /// Id of the record to keep.
    keep: String,
}

/// Resolves a conflict. Requires the role user, admin or orchestrator.
#[utoipa::path(post, path = "/conflicts/{id}/resolve", operation_id = "resolve_conflict", tag = "conflicts", params(("id" = String, Path,)), request_body(content = ResolveRequest), responses((status = 200, body = WriteOutcome)))]
pub(super) async fn resolve(
    State(app): State<App>,
    access: Access,
    Path(given): Path<String>,
    JsonBody(body): JsonBody<ResolveRequest>,
) -> Result<Json<WriteOutcome>, Problem> {
    access.require(Permission::Decide)?;
    let (conflict_id, keep) = (parse_id(&given)?, parse_id(&body.keep)?);
    let requested = body.project.as_deref();
    let project = app.project_of(&access, requested, conflict_id).await?;
    let role = match access.role {
        AccessRole::Orchestrator => "orchestrator",
        AccessRole::Agent | AccessRole::User | AccessRole::Admin => "user",
    };
    let resolved = app.with_engine(project, move |engine| {
        engine.conflicts().resolve(conflict_id, keep, role)
    });
    let resolved = resolved.await?;
    Ok(Json(WriteOutcome {
        replaced: resolved.retired.map(|id| id.to_string()),
        ..WriteOutcome::simple(resolved.kept, "resolved")
    }))
}
