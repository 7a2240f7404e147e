//! `/api/memory/episodes`: attempts at tasks and their outcomes.

use super::field_checks::{deserialize_count, deserialize_small_count, parse_time};
use super::json_body::JsonBody;
use super::json_types::{self, Episode, WriteOutcome};
use super::pagination::{List, page_size, parse_cursor};
use super::query_params::QueryParams;
use crate::{Access, App, Problem};
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use heirloom_engine::{Filter, NewEpisode};
use heirloom_model::kinds::EpisodeAction;
use heirloom_model::{Kind, Record, Scope};
use serde::Deserialize;
use utoipa::{IntoParams, ToSchema};

/// Action of an episode.
#[derive(Debug, Clone, Copy, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum ActionParam {
    Attempted,
    Completed,
    Failed,
    Retried,
}

impl ActionParam {
    fn to_model(self) -> EpisodeAction {
        match self {
            Self::Attempted => EpisodeAction::Attempted,
            Self::Completed => EpisodeAction::Completed,
            Self::Failed => EpisodeAction::Failed,
            Self::Retried => EpisodeAction::Retried,
        }
    }
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct EpisodeQuery {
    /// The project; by default the token's project or the served one.
    project: Option<String>,
    /// Only of this task.
    #[serde(alias = "task")]
    task_id: Option<String>,
    /// Only by this agent.
    #[serde(alias = "agent")]
    agent_id: Option<String>,
    /// Only with this action.
    #[param(inline)]
    action: Option<ActionParam>,
    /// Recorded at this time or later.
    #[param(format = DateTime)]
    since: Option<String>,
    /// Recorded before this time.
    #[param(format = DateTime)]
    until: Option<String>,
    /// `next` of the previous page.
    cursor: Option<String>,
    /// Maximum number of items.
    #[param(minimum = 1, maximum = 1000, default = 50)]
    limit: Option<usize>,
}

/// Lists episodes, newest first.
#[utoipa::path(get, path = "/episodes", operation_id = "list_episodes", tag = "episodes", params(EpisodeQuery), responses((status = 200, body = List<Episode>)))]
pub(super) async fn list(
    State(app): State<App>,
    access: Access,
    QueryParams(params): QueryParams<EpisodeQuery>,
) -> Result<Json<List<Episode>>, Problem> {
    let project = access.resolve_project(params.project.as_deref())?;
    let most = page_size(params.limit)?;
    let after = parse_cursor(params.cursor.as_deref())?;
    let since = parse_time("since", params.since.as_deref())?;
    let until = parse_time("until", params.until.as_deref())?;
    let answer = app.compute_with_engine(project, move |engine| {
        let mut filter = Filter::current(&[Kind::Episode], engine.now()).limit(most);
        filter.scope = Scope {
            task: params.task_id,
            agent: params.agent_id,
            ..Scope::default()
        };
        filter.after = after;
        filter.recorded_from = since;
        filter.recorded_before = until;
        let page = match params.action.map(ActionParam::to_model) {
            None => engine.records().page(&filter, None)?,
            Some(action) => {
                let with = |record: &Record| record.attr_str("action") == Some(action.as_str());
                engine.records().page(&filter, Some(&with))?
            }
        };
        Ok(List::from_page(&page, json_types::episode))
    });
    Ok(Json(answer.await?))
}

#[derive(Debug, Deserialize, ToSchema)]
pub(super) struct EpisodeRequest {
    /// The project; by default the token's project or the served one.
    project: Option<String>,
    /// The task; created if it does not exist.
    #[schema(min_length = 1)]
    #[serde(alias = "task")]
    task_id: String,
    /// The agent that made the attempt.
    #[serde(alias = "agent")]
    agent_id: Option<String>,
    #[schema(inline)]
    action: ActionParam,
    /// The approach.
    approach: Option<String>,
    /// The outcome.
    outcome: Option<String>,
    #[serde(default, deserialize_with = "deserialize_count")]
    duration_ms: Option<u64>,
    #[serde(default, deserialize_with = "deserialize_count")]
    tokens_in: Option<u64>,
    #[serde(default, deserialize_with = "deserialize_count")]
    tokens_out: Option<u64>,
    /// Source; the agent by default.
    source: Option<String>,
    phase: Option<String>,
    #[serde(alias = "session")]
    session_id: Option<String>,
    plan: Option<String>,
    #[schema(minimum = 1)]
    #[serde(default, deserialize_with = "deserialize_small_count")]
    iteration: Option<u32>,
}

/// Appends an episode.
#[utoipa::path(post, path = "/episodes", operation_id = "log_episode", tag = "episodes", request_body(content = EpisodeRequest), responses((status = 201, body = WriteOutcome)))]
pub(super) async fn add(
    State(app): State<App>,
    access: Access,
    JsonBody(body): JsonBody<EpisodeRequest>,
) -> Result<(StatusCode, Json<WriteOutcome>), Problem> {
    let project = access.resolve_project(body.project.as_deref())?;
    let named = body.source.as_deref().or(body.agent_id.as_deref());
    let source = access.resolve_source(named)?;
    let agent = access.resolve_source(body.agent_id.as_deref().or(Some(&source)))?;
    let new = NewEpisode {
        source: Some(source),
        scope: Scope {
            plan: body.plan,
            session: body.session_id,
            task: Some(body.task_id),
            agent: Some(agent),
            phase: body.phase,
            iteration: body.iteration,
            group: None,
        },
        action: body.action.to_model(),
        approach: body.approach,
        outcome: body.outcome,
        duration_ms: body.duration_ms,
        tokens_in: body.tokens_in,
        tokens_out: body.tokens_out,
    };
    let applied = app
        .with_engine(project, move |engine| engine.tasks().log_episode(new))
        .await?;
    Ok((StatusCode::CREATED, Json(applied.into())))
}
