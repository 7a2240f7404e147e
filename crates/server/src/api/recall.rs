//! `/api/recall`: one question over everything; `/api/tried`: what was tried that is like an approach.

use super::shape::{Asked, Body, List, time};
use super::wire::{self, Episode, Hit};
use crate::{Access, App, Problem};
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use heirloom_engine::recall::ask::is_turn;
use heirloom_engine::{RecallRequest, TriedReport};
use heirloom_model::{Kind, Scope};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

#[derive(Debug, Deserialize, IntoParams, ToSchema)]
#[into_params(parameter_in = Query)]
#[schema(as = RecallRequest)]
pub(super) struct Asking {
    /// The project; without it the one that is served, or the token's.
    project: Option<String>,
    /// The question; `kind:error task:42 "two words"` narrow it.
    #[serde(alias = "q", alias = "text")]
    query: String,
    /// At most so many hits; 10, or what fits the budget.
    #[param(minimum = 1, maximum = 1000)]
    #[schema(minimum = 1, maximum = 1000)]
    k: Option<usize>,
    /// At most so many tokens of text.
    #[param(minimum = 1)]
    #[schema(minimum = 1)]
    budget_tokens: Option<usize>,
    /// Only these kinds, separated by commas; `message` for turns of conversations.
    kinds: Option<String>,
    /// Only of this task.
    task_id: Option<String>,
    /// Only of this session.
    session_id: Option<String>,
    /// Only by this agent.
    agent_id: Option<String>,
    /// What belongs to this task ranks higher.
    near_task: Option<String>,
    /// What was current at this time.
    #[param(format = DateTime)]
    #[schema(format = DateTime)]
    as_of: Option<String>,
    /// What each score is made of.
    #[serde(default)]
    explain: bool,
}

/// What was recalled.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Recalled {
    /// The hits, best first; on a tie the older first.
    hits: Vec<Hit>,
    /// Microseconds that it took.
    took_us: u64,
    /// What is worth knowing about the question.
    notes: Vec<String>,
}

/// Asks memory: what fits the question best, whatever its kind.
#[utoipa::path(get, path = "/recall", tag = "recall", params(Asking), responses((status = 200, body = Recalled)))]
pub(super) async fn ask(
    State(app): State<App>,
    access: Access,
    Asked(asked): Asked<Asking>,
) -> Result<Json<Recalled>, Problem> {
    answer(&app, &access, asked).await
}

/// As `GET`, for questions that are too long for an address.
#[utoipa::path(post, path = "/recall", tag = "recall", request_body = Asking, responses((status = 200, body = Recalled)))]
pub(super) async fn ask_long(
    State(app): State<App>,
    access: Access,
    Body(asked): Body<Asking>,
) -> Result<Json<Recalled>, Problem> {
    answer(&app, &access, asked).await
}

async fn answer(app: &App, access: &Access, asked: Asking) -> Result<Json<Recalled>, Problem> {
    let project = access.project(asked.project.as_deref())?;
    let (kinds, turns) = kinds_of(asked.kinds.as_deref())?;
    let request = RecallRequest {
        question: asked.query,
        k: asked.k,
        budget_tokens: asked.budget_tokens,
        kinds,
        turns,
        scope: Scope {
            task: asked.task_id,
            agent: asked.agent_id,
            session: asked.session_id,
            ..Scope::default()
        },
        near: Scope {
            task: asked.near_task,
            ..Scope::default()
        },
        as_of: time("as_of", asked.as_of.as_deref())?,
        ..RecallRequest::default()
    };
    let explain = asked.explain;
    let answer = app.compute(project, move |engine| {
        let recalled = engine.recall(&request)?;
        let hits = recalled.hits.iter().map(|hit| wire::hit(hit, explain));
        Ok(Recalled {
            hits: hits.collect(),
            took_us: recalled.took_us,
            notes: recalled.notes,
        })
    });
    Ok(Json(answer.await?))
}

fn kinds_of(given: Option<&str>) -> Result<(Vec<Kind>, bool), Problem> {
    let mut kinds = Vec::new();
    let mut turns = false;
    let named = given.unwrap_or("").split(',').map(str::trim);
    for name in named.filter(|name| !name.is_empty()) {
        if is_turn(name) {
            turns = true;
            continue;
        }
        let kind = name.parse::<Kind>();
        kinds.push(
            kind.map_err(|bad| Problem::new(StatusCode::BAD_REQUEST, format!("{bad}, message")))?,
        );
    }
    Ok((kinds, turns))
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct Trying {
    /// The project; without it the one that is served, or the token's.
    project: Option<String>,
    /// What is to be tried.
    approach: String,
    /// Only in this task.
    task_id: Option<String>,
}

/// A try that is like what is to be tried.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Like {
    #[serde(flatten)]
    episode: Episode,
    score: f64,
    /// Whether it is the same approach or one like it, and not only near.
    alike: bool,
}

/// What was tried.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct TriedBefore {
    #[serde(flatten)]
    list: List<Like>,
    /// Whether one that is alike has failed.
    failed: bool,
}

/// What was tried before that is like an approach: what worked first.
#[utoipa::path(get, path = "/tried", tag = "recall", params(Trying), responses((status = 200, body = TriedBefore)))]
pub(super) async fn tried(
    State(app): State<App>,
    access: Access,
    Asked(asked): Asked<Trying>,
) -> Result<Json<TriedBefore>, Problem> {
    let project = access.project(asked.project.as_deref())?;
    let answer = app.compute(project, move |engine| {
        let TriedReport { tried, failed } =
            engine.tried(&asked.approach, asked.task_id.as_deref())?;
        let like = tried.iter().map(|one| Like {
            episode: wire::episode(&one.record),
            score: wire::rounded(one.score),
            alike: one.alike,
        });
        Ok(TriedBefore {
            list: List::whole(like.collect()),
            failed,
        })
    });
    Ok(Json(answer.await?))
}
