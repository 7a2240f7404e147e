//! `/api/analytics`: success rates of episodes; `/api/status`: state of the store.

use super::query_params::{ProjectQuery, QueryParams};
use crate::{Access, App, Problem};
use axum::Json;
use axum::extract::State;
use heirloom_engine::analytics as engine_analytics;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use utoipa::{IntoParams, ToSchema};

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct AnalyticsQuery {
    /// The project; by default the token's project or the served one.
    project: Option<String>,
    /// Only of this task.
    #[serde(alias = "task")]
    task_id: Option<String>,
}

/// Attempts with a common property.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct AnalyticsGroup {
    /// The approach, agent, category or week; `null` if unknown.
    name: Option<String>,
    attempts: usize,
    successes: usize,
    failures: usize,
    /// Number of attempts whose result is not known.
    unknown: usize,
    /// Share of successes among attempts with a known outcome; `null` without any.
    rate: Option<f64>,
    median_duration_ms: Option<u64>,
    median_tokens: Option<u64>,
}

/// An approach that failed repeatedly and never succeeded.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct RepeatedFailure {
    approach: String,
    failures: usize,
    tasks: Vec<String>,
    last_outcome: Option<String>,
    #[schema(format = DateTime)]
    last_at: String,
}

/// Success rates by approach, agent, category and week.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Analytics {
    by_approach: Vec<AnalyticsGroup>,
    by_agent: Vec<AnalyticsGroup>,
    by_category: Vec<AnalyticsGroup>,
    /// Calendar weeks in UTC.
    by_week: Vec<AnalyticsGroup>,
    repeated_failures: Vec<RepeatedFailure>,
}

/// Returns success rates, durations and tokens over current episodes.
#[utoipa::path(get, path = "/analytics", operation_id = "get_analytics", tag = "analytics", params(AnalyticsQuery), responses((status = 200, body = Analytics)))]
pub(super) async fn analytics(
    State(app): State<App>,
    access: Access,
    QueryParams(params): QueryParams<AnalyticsQuery>,
) -> Result<Json<Analytics>, Problem> {
    let project = access.resolve_project(params.project.as_deref())?;
    let found = app.compute_with_engine(project, move |engine| {
        engine.tasks().analytics(params.task_id.as_deref())
    });
    let found = found.await?;
    let failing = found
        .repeated_failures
        .into_iter()
        .map(|one| RepeatedFailure {
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

fn groups(groups: Vec<engine_analytics::AttemptGroup>) -> Vec<AnalyticsGroup> {
    let group = |group: engine_analytics::AttemptGroup| AnalyticsGroup {
        unknown: group.unknown(),
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

/// State of the project and the store.
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

/// Returns the record counts of the project and the size of the store.
#[utoipa::path(get, path = "/status", operation_id = "get_status", tag = "analytics", params(ProjectQuery), responses((status = 200, body = Status)))]
pub(super) async fn status(
    State(app): State<App>,
    access: Access,
    QueryParams(params): QueryParams<ProjectQuery>,
) -> Result<Json<Status>, Problem> {
    let project = access.resolve_project(params.project.as_deref())?;
    let version = app.options().version;
    let answer = app.with_engine(project, move |engine| {
        let store = engine.maintenance().describe_store()?;
        let counts = engine.records().counts()?.into_iter();
        Ok(Status {
            project: engine.project().as_str().to_owned(),
            version: version.to_owned(),
            schema_version: store.schema_version,
            size_bytes: store.size_bytes,
            counts: counts
                .map(|(kind, count)| (kind.as_str().to_owned(), count))
                .collect(),
            last_write: engine.records().last_write()?.map(|at| at.to_string()),
        })
    });
    Ok(Json(answer.await?))
}
