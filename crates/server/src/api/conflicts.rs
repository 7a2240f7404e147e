//! `/api/conflicts`: where sources disagree, and deciding between them.

use super::shape::{Asked, Body, List, Where, id};
use super::wire::{self, Knowledge, Outcome};
use crate::{Access, App, Problem};
use axum::Json;
use axum::extract::{Path, State};
use heirloom_engine::Conflict as Open;
use heirloom_model::{AccessRole, Deed};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Different values of one key, between which nobody has decided.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Conflict {
    /// The winner's.
    id: String,
    category: String,
    key: Option<String>,
    /// Whether neither side counts before somebody decides.
    disputed: bool,
    winner: Knowledge,
    /// Newest first.
    losers: Vec<Knowledge>,
}

fn conflict(open: &Open) -> Conflict {
    let winner = wire::knowledge(&open.winner);
    Conflict {
        id: winner.id.clone(),
        category: winner.category.clone(),
        key: winner.key.clone(),
        disputed: open.is_disputed(),
        losers: open.losers.iter().map(wire::knowledge).collect(),
        winner,
    }
}

/// Every open conflict, newest winner first.
#[utoipa::path(get, path = "/conflicts", tag = "conflicts", params(Where), responses((status = 200, body = List<Conflict>)))]
pub(super) async fn list(
    State(app): State<App>,
    access: Access,
    Asked(asked): Asked<Where>,
) -> Result<Json<List<Conflict>>, Problem> {
    let project = access.project(asked.project.as_deref())?;
    let found = app.ask(project, |engine| engine.conflicts()).await?;
    Ok(Json(List::whole(found.iter().map(conflict).collect())))
}

#[derive(Debug, Deserialize, ToSchema)]
pub(super) struct Deciding {
    /// The project; without it the one that is served, or the token's.
    project: Option<String>,
    /// The id of what shall hold.
    keep: String,
}

/// Decides a conflict: persons and orchestrators may.
#[utoipa::path(post, path = "/conflicts/{id}/resolve", tag = "conflicts", params(("id" = String, Path,)), request_body(content = Deciding), responses((status = 200, body = Outcome)))]
pub(super) async fn resolve(
    State(app): State<App>,
    access: Access,
    Path(given): Path<String>,
    Body(said): Body<Deciding>,
) -> Result<Json<Outcome>, Problem> {
    access.may(Deed::Decide)?;
    let project = access.project(said.project.as_deref())?;
    let (which, keep) = (id(&given)?, id(&said.keep)?);
    let role = match access.role {
        AccessRole::Orchestrator => "orchestrator",
        AccessRole::Agent | AccessRole::User | AccessRole::Admin => "user",
    };
    let settled = app.ask(project, move |engine| {
        engine.resolve_conflict(which, keep, role)
    });
    let settled = settled.await?;
    Ok(Json(Outcome {
        replaced: settled.retired.map(|id| id.to_string()),
        ..Outcome::plain(settled.kept, "resolved")
    }))
}
