//! `/api/recall`: search over all kinds; `/api/tried`: similar past attempts.

use super::field_checks::{deserialize_size, deserialize_words, parse_time};
use super::json_body::JsonBody;
use super::json_types::{self, Episode};
use super::pagination::List;
use super::query_params::QueryParams;
use super::recall_types::{RecallHit, recall_hit, round_score};
use crate::{Access, App, Problem};
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use heirloom_engine::{ConversationHits, RecallRequest, SimilarAttemptsReport};
use heirloom_model::{Kind, Scope};
use heirloom_search::recall::Ranked;
use heirloom_search::recall::query::is_turn_kind;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

#[derive(Debug, Deserialize, IntoParams, ToSchema)]
#[into_params(parameter_in = Query)]
pub(super) struct RecallParams {
    /// The project; by default the token's project or the served one.
    project: Option<String>,
    /// The query; `kind:error task:42 "two words"` filter it.
    #[serde(alias = "q", alias = "text")]
    query: String,
    /// Maximum number of hits; 10 by default, or as many as fit the budget.
    #[param(minimum = 1, maximum = 1000)]
    #[schema(minimum = 1, maximum = 1000)]
    #[serde(default, deserialize_with = "deserialize_size")]
    #[serde(alias = "limit")]
    k: Option<usize>,
    /// Maximum number of tokens of text.
    #[param(minimum = 1)]
    #[schema(minimum = 1)]
    #[serde(default, deserialize_with = "deserialize_size")]
    budget_tokens: Option<usize>,
    /// Only these kinds, separated by commas or, in a body, as a list; `message` for conversation turns.
    #[serde(alias = "kind", default, deserialize_with = "deserialize_words")]
    kinds: Option<String>,
    /// Only of this task.
    #[serde(alias = "task")]
    task_id: Option<String>,
    /// Only of this session.
    #[serde(alias = "session")]
    session_id: Option<String>,
    /// Only by this agent.
    #[serde(alias = "agent")]
    agent_id: Option<String>,
    /// Ranks records of this task higher.
    near_task: Option<String>,
    /// Searches memory as of this time.
    #[param(format = DateTime)]
    #[schema(format = DateTime)]
    as_of: Option<String>,
    /// Relevance from which a hit is returned, 0 to 1; by default weak hits are left out, and 0 returns them too.
    #[param(minimum = 0, maximum = 1)]
    #[schema(minimum = 0, maximum = 1)]
    min_relevance: Option<f64>,
    /// Includes the parts of each score.
    #[serde(default)]
    explain: bool,
    /// Turns of conversations in the answer: `best`, one of each of three conversations, which is the default without
    /// kinds; `all` that fit; `none`.
    #[serde(default)]
    conversations: Option<WantedConversations>,
    /// Lists turns among `hits`, as before they had a list of their own. Only for the first version.
    #[serde(default)]
    messages: bool,
}

/// Turns of conversations in an answer.
#[derive(Debug, Clone, Copy, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum WantedConversations {
    Best,
    All,
    None,
}

/// Search results.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct RecallResponse {
    /// The records, best first; ties are ordered oldest first. Conversations do not affect them.
    hits: Vec<RecallHit>,
    /// Turns of conversations, best first.
    conversations: Vec<RecallHit>,
    /// Number of hits that were left out because their relevance is too low.
    weak: usize,
    /// Duration in microseconds.
    took_us: u64,
    /// Remarks about the query.
    notes: Vec<String>,
}

/// Searches memory over all kinds, best hits first.
#[utoipa::path(get, path = "/recall", operation_id = "get_recall", tag = "recall", params(RecallParams), responses((status = 200, body = RecallResponse)))]
pub(super) async fn ask(
    State(app): State<App>,
    access: Access,
    QueryParams(params): QueryParams<RecallParams>,
) -> Result<Json<RecallResponse>, Problem> {
    respond(&app, &access, params).await
}

/// Same as `GET`, for queries that are too long for a URL.
#[utoipa::path(post, path = "/recall", operation_id = "recall", tag = "recall", request_body = RecallParams, responses((status = 200, body = RecallResponse)))]
pub(super) async fn ask_long(
    State(app): State<App>,
    access: Access,
    JsonBody(params): JsonBody<RecallParams>,
) -> Result<Json<RecallResponse>, Problem> {
    respond(&app, &access, params).await
}

async fn respond(
    app: &App,
    access: &Access,
    params: RecallParams,
) -> Result<Json<RecallResponse>, Problem> {
    let project = access.resolve_project(params.project.as_deref())?;
    let (kinds, turns) = parse_kinds(params.kinds.as_deref())?;
    let has_kinds = turns || !kinds.is_empty();
    if !params
        .min_relevance
        .is_none_or(|least| (0.0..=1.0).contains(&least))
    {
        return Err(Problem::new(
            StatusCode::BAD_REQUEST,
            "`min_relevance` must be from 0 to 1",
        ));
    }
    let request = RecallRequest {
        question: params.query,
        k: params.k,
        budget_tokens: params.budget_tokens,
        kinds,
        conversations: match params.conversations {
            Some(WantedConversations::All) => ConversationHits::All,
            Some(WantedConversations::None) => ConversationHits::Nothing,
            Some(WantedConversations::Best) => ConversationHits::Best,
            None if has_kinds => ConversationHits::Nothing,
            None => ConversationHits::Best,
        },
        turns,
        scope: Scope {
            task: params.task_id,
            agent: params.agent_id,
            session: params.session_id,
            ..Scope::default()
        },
        near: Scope {
            task: params.near_task,
            ..Scope::default()
        },
        as_of: parse_time("as_of", params.as_of.as_deref())?,
        min_relevance: params.min_relevance,
        ..RecallRequest::default()
    };
    let (explain, has_messages) = (params.explain, params.messages);
    let answer = app.compute_with_engine(project, move |engine| {
        let recalled = engine.recall().search(&request)?;
        let rows = |hits: &[Ranked]| -> Vec<RecallHit> {
            hits.iter().map(|hit| recall_hit(hit, explain)).collect()
        };
        let mut hits = rows(&recalled.hits);
        let mut conversations = rows(&recalled.conversations);
        if has_messages {
            hits.append(&mut conversations);
        }
        Ok(RecallResponse {
            hits,
            conversations,
            weak: recalled.weak,
            took_us: recalled.took_us,
            notes: recalled.notes,
        })
    });
    Ok(Json(answer.await?))
}

fn parse_kinds(given: Option<&str>) -> Result<(Vec<Kind>, bool), Problem> {
    let mut kinds = Vec::new();
    let mut turns = false;
    let named = given.unwrap_or("").split(',').map(str::trim);
    for name in named.filter(|name| !name.is_empty()) {
        if is_turn_kind(name) {
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
pub(super) struct AttemptQuery {
    /// The project; by default the token's project or the served one.
    project: Option<String>,
    /// The planned approach.
    approach: String,
    /// Only in this task.
    #[serde(alias = "task")]
    task_id: Option<String>,
}

/// A past attempt similar to the planned one.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct SimilarAttempt {
    #[serde(flatten)]
    episode: Episode,
    score: f64,
    /// Always true: attempts that are only related are left out.
    alike: bool,
}

/// Similar past attempts.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct SimilarAttempts {
    #[serde(flatten)]
    list: List<SimilarAttempt>,
    /// True if a similar approach has failed.
    failed: bool,
}

/// Finds past attempts similar to an approach, successful ones first.
#[utoipa::path(get, path = "/tried", operation_id = "list_similar_attempts", tag = "recall", params(AttemptQuery), responses((status = 200, body = SimilarAttempts)))]
pub(super) async fn tried(
    State(app): State<App>,
    access: Access,
    QueryParams(params): QueryParams<AttemptQuery>,
) -> Result<Json<SimilarAttempts>, Problem> {
    let project = access.resolve_project(params.project.as_deref())?;
    let answer = app.compute_with_engine(project, move |engine| {
        let SimilarAttemptsReport {
            attempts,
            has_failed: failed,
        } = engine
            .tasks()
            .similar_attempts(&params.approach, params.task_id.as_deref())?;
        let like = attempts.iter().map(|one| SimilarAttempt {
            episode: json_types::episode(&one.record),
            score: round_score(one.score),
            alike: true,
        });
        Ok(SimilarAttempts {
            list: List::complete(like.collect()),
            failed,
        })
    });
    Ok(Json(answer.await?))
}
