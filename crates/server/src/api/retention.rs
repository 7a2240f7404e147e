//! `/api/prune`: retires records beyond their retention.

use super::json_body::JsonBody;
use crate::{Access, App, Problem};
use axum::Json;
use axum::extract::State;
use heirloom_model::{Permission, limits};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

#[derive(Debug, Deserialize, ToSchema)]
pub(super) struct PruneRequest {
    /// The project; by default the token's project or the served one.
    project: Option<String>,
    /// Retires the records; otherwise they are only listed.
    #[serde(default)]
    apply: bool,
}

/// Records that were retired; without `apply`, those that would be.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct PruneReport {
    applied: bool,
    /// Number of episodes beyond their retention.
    episodes: usize,
    /// Number of artifacts beyond their retention.
    artifacts: usize,
    /// The records, oldest first, at most 1,000; `POST /api/undo/{id}` restores one.
    ids: Vec<String>,
    /// True if more records are beyond their retention: repeat the request.
    more: bool,
}

/// Retires attempts and artifacts beyond their retention; only lists them without `apply`.
///
/// The settings `retention.episodes_days` and `retention.artifacts_days` apply. Failures without a later success of
/// their task stay, and so does what a person said, pinned or restored. The server does the same once a day. Not for
/// the role agent.
#[utoipa::path(post, path = "/prune", operation_id = "prune_records", tag = "administration", request_body(content = PruneRequest), responses((status = 200, body = PruneReport)))]
pub(super) async fn prune(
    State(app): State<App>,
    access: Access,
    JsonBody(body): JsonBody<PruneRequest>,
) -> Result<Json<PruneReport>, Problem> {
    access.require(Permission::Change)?;
    let project = access.resolve_project(body.project.as_deref())?;
    let applied = body.apply;
    let report = app.with_engine(project, move |engine| {
        let most = limits::PRUNE_STEP_RECORDS_MAX;
        let maintenance = engine.maintenance();
        let (found, more) = match applied {
            true => {
                let found = maintenance.prune(most)?;
                let is_full = found.records().count() == most;
                (
                    found,
                    is_full && maintenance.prunable(1)?.records().next().is_some(),
                )
            }
            false => {
                let found = maintenance.prunable(most + 1)?;
                let more = found.records().count() > most;
                (found, more)
            }
        };
        let ids = found.records().take(most);
        let ids: Vec<String> = ids.map(|record| record.id.to_string()).collect();
        let episodes = found.episodes.len().min(most);
        Ok(PruneReport {
            applied,
            episodes,
            artifacts: ids.len() - episodes,
            ids,
            more,
        })
    });
    Ok(Json(report.await?))
}
