//! `/api/analytics`: what worked; `/api/status`: what there is.

use super::shape::{Asked, Where};
use crate::{Access, App, Problem};
use axum::Json;
use axum::extract::State;
use heirloom_engine::analytics as room;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use utoipa::{IntoParams, ToSchema};

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct Asking {
    /// The project; without it the one that is served, or the token's.
    project: Option<String>,
    /// Only of this task.
    task_id: Option<String>,
}

/// Tries that have something in common.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = AnalyticsGroup)]
pub(super) struct Group {
    /// The approach, agent, category or week; `null` where it was not said.
    name: Option<String>,
    attempts: usize,
    successes: usize,
    failures: usize,
    /// Successes of the tries whose end is known; `null` where none is.
    rate: Option<f64>,
    median_duration_ms: Option<u64>,
    median_tokens: Option<u64>,
}

/// What failed again and again, and never worked.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Failing {
    approach: String,
    failures: usize,
    tasks: Vec<String>,
    last_outcome: Option<String>,
    #[schema(format = DateTime)]
    last_at: String,
}

/// What worked and what did not.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Analytics {
    by_approach: Vec<Group>,
    by_agent: Vec<Group>,
    by_category: Vec<Group>,
    /// Weeks of UTC.
    by_week: Vec<Group>,
    repeated_failures: Vec<Failing>,
}

/// Success rates, durations and tokens over current episodes.
#[utoipa::path(get, path = "/analytics", tag = "analytics", params(Asking), responses((status = 200, body = Analytics)))]
pub(super) async fn analytics(
    State(app): State<App>,
    access: Access,
    Asked(asked): Asked<Asking>,
) -> Result<Json<Analytics>, Problem> {
    let project = access.project(asked.project.as_deref())?;
    let found = app.compute(project, move |engine| {
        engine.analytics(asked.task_id.as_deref())
    });
    let found = found.await?;
    let failing = found.repeated_failures.into_iter().map(|one| Failing {
        approach: one.approach,
        failures: one.failures,
        tasks: one.tasks,
        last_outcome: one.last_outcome,
        last_at: one.last_at.to_string(),
    });
    Ok(Json(Analytics {
        by_approach: groups(found.by_approach),
        by_agent: groups(found.by_agent),
        by_category: groups(found.by_category),
        by_week: groups(found.by_week),
        repeated_failures: failing.collect(),
    }))
}

fn groups(groups: Vec<room::Group>) -> Vec<Group> {
    let group = |group: room::Group| Group {
        name: group.name,
        attempts: group.attempts,
        successes: group.successes,
        failures: group.failures,
        rate: group.rate,
        median_duration_ms: group.median_duration_ms,
        median_tokens: group.median_tokens,
    };
    groups.into_iter().map(group).collect()
}

/// What there is.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Status {
    project: String,
    version: String,
    schema_version: u32,
    size_bytes: u64,
    /// Current records by kind.
    counts: BTreeMap<String, u64>,
    #[schema(format = DateTime)]
    last_write: Option<String>,
}

/// What the project holds, and how large the store is.
#[utoipa::path(get, path = "/status", tag = "analytics", params(Where), responses((status = 200, body = Status)))]
pub(super) async fn status(
    State(app): State<App>,
    access: Access,
    Asked(asked): Asked<Where>,
) -> Result<Json<Status>, Problem> {
    let project = access.project(asked.project.as_deref())?;
    let version = app.options().version;
    let answer = app.ask(project, move |engine| {
        let store = engine.describe_store()?;
        let counts = engine.counts()?.into_iter();
        Ok(Status {
            project: engine.project().as_str().to_owned(),
            version: version.to_owned(),
            schema_version: store.schema_version,
            size_bytes: store.size_bytes,
            counts: counts
                .map(|(kind, count)| (kind.as_str().to_owned(), count))
                .collect(),
            last_write: engine.last_write()?.map(|at| at.to_string()),
        })
    });
    Ok(Json(answer.await?))
}
