//! `/api/memory/episodes`: what was tried, and how it went.

use super::shape::{Asked, Body, List, count, cursor, limit, small, time};
use super::wire::{self, Episode, Outcome};
use crate::{Access, App, Problem};
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use heirloom_engine::{Filter, NewEpisode};
use heirloom_model::kinds::EpisodeAction;
use heirloom_model::{Kind, Record, Scope};
use serde::Deserialize;
use utoipa::{IntoParams, ToSchema};

/// What was done.
#[derive(Debug, Clone, Copy, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum Action {
    Attempted,
    Completed,
    Failed,
    Retried,
}

impl Action {
    fn typed(self) -> EpisodeAction {
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
pub(super) struct Asking {
    /// The project; without it the one that is served, or the token's.
    project: Option<String>,
    /// Only of this task.
    task_id: Option<String>,
    /// Only by this agent.
    agent_id: Option<String>,
    /// Only with this action.
    #[param(inline)]
    action: Option<Action>,
    /// Told at this time or later.
    #[param(format = DateTime)]
    since: Option<String>,
    /// Told before this time.
    #[param(format = DateTime)]
    until: Option<String>,
    /// `next` of the part before.
    cursor: Option<String>,
    /// At most so many items.
    #[param(minimum = 1, maximum = 1000, default = 50)]
    limit: Option<usize>,
}

/// What was tried, newest first.
#[utoipa::path(get, path = "/episodes", tag = "memory", params(Asking), responses((status = 200, body = List<Episode>)))]
pub(super) async fn list(
    State(app): State<App>,
    access: Access,
    Asked(asked): Asked<Asking>,
) -> Result<Json<List<Episode>>, Problem> {
    let project = access.project(asked.project.as_deref())?;
    let most = limit(asked.limit)?;
    let after = cursor(asked.cursor.as_deref())?;
    let since = time("since", asked.since.as_deref())?;
    let until = time("until", asked.until.as_deref())?;
    let answer = app.compute(project, move |engine| {
        let mut filter = Filter::current(&[Kind::Episode], engine.now()).limit(most);
        filter.scope = Scope {
            task: asked.task_id,
            agent: asked.agent_id,
            ..Scope::default()
        };
        filter.after = after;
        filter.recorded_from = since;
        filter.recorded_before = until;
        let page = match asked.action.map(Action::typed) {
            None => engine.page(&filter, None)?,
            Some(action) => {
                let with = |record: &Record| record.attr_str("action") == Some(action.as_str());
                engine.page(&filter, Some(&with))?
            }
        };
        Ok(List::of(&page, wire::episode))
    });
    Ok(Json(answer.await?))
}

#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = NewEpisode)]
pub(super) struct New {
    /// The project; without it the one that is served, or the token's.
    project: Option<String>,
    /// The task; one that is not known yet is created.
    #[schema(min_length = 1)]
    task_id: String,
    /// The agent that tried.
    agent_id: Option<String>,
    #[schema(inline)]
    action: Action,
    /// What was tried.
    approach: Option<String>,
    /// How it went.
    outcome: Option<String>,
    #[serde(default, deserialize_with = "count")]
    duration_ms: Option<u64>,
    #[serde(default, deserialize_with = "count")]
    tokens_in: Option<u64>,
    #[serde(default, deserialize_with = "count")]
    tokens_out: Option<u64>,
    /// Who says so; else the agent.
    source: Option<String>,
    phase: Option<String>,
    session_id: Option<String>,
    plan: Option<String>,
    #[schema(minimum = 1)]
    #[serde(default, deserialize_with = "small")]
    iteration: Option<u32>,
}

/// Appends an episode.
#[utoipa::path(post, path = "/episodes", tag = "memory", request_body(content = New), responses((status = 201, body = Outcome)))]
pub(super) async fn add(
    State(app): State<App>,
    access: Access,
    Body(said): Body<New>,
) -> Result<(StatusCode, Json<Outcome>), Problem> {
    let project = access.project(said.project.as_deref())?;
    let named = said.source.as_deref().or(said.agent_id.as_deref());
    let new = NewEpisode {
        source: Some(access.source(named)?),
        scope: Scope {
            plan: said.plan,
            session: said.session_id,
            task: Some(said.task_id),
            agent: said.agent_id,
            phase: said.phase,
            iteration: said.iteration,
            group: None,
        },
        action: said.action.typed(),
        approach: said.approach,
        outcome: said.outcome,
        duration_ms: said.duration_ms,
        tokens_in: said.tokens_in,
        tokens_out: said.tokens_out,
    };
    let applied = app
        .ask(project, move |engine| engine.log_episode(new))
        .await?;
    Ok((StatusCode::CREATED, Json(applied.into())))
}
