//! `/api/sessions`: conversations and their turns.

use super::json_body::JsonBody;
use super::pagination::{List, page_size};
use super::query_params::{ProjectQuery, QueryParams};
use super::recall_types::round_score;
use super::session_types::{MessageInfo, SessionInfo, message_info, session_info};
use crate::{Access, App, Problem};
use axum::Json;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use heirloom_engine::NewTurn;
use heirloom_model::{Permission, Role as Speaker};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct SessionQuery {
    /// The project; by default the token's project or the served one.
    project: Option<String>,
    /// Only of this task.
    #[serde(alias = "task")]
    task_id: Option<String>,
    /// Maximum number of items.
    #[param(minimum = 1, maximum = 1000, default = 50)]
    limit: Option<usize>,
}

/// Lists conversations, newest first.
#[utoipa::path(get, path = "/sessions", operation_id = "list_sessions", tag = "sessions", params(SessionQuery), responses((status = 200, body = List<SessionInfo>)))]
pub(super) async fn list(
    State(app): State<App>,
    access: Access,
    QueryParams(params): QueryParams<SessionQuery>,
) -> Result<Json<List<SessionInfo>>, Problem> {
    let project = access.resolve_project(params.project.as_deref())?;
    let most = page_size(params.limit)?;
    let found = app.with_engine(project, move |engine| {
        engine
            .sessions()
            .sessions_of(params.task_id.as_deref(), most)
    });
    let found = found.await?;
    Ok(Json(List::complete(
        found.iter().map(session_info).collect(),
    )))
}

/// Returns one conversation without its turns.
#[utoipa::path(get, path = "/sessions/{id}", operation_id = "get_session", tag = "sessions", params(("id" = String, Path,), ProjectQuery), responses((status = 200, body = SessionInfo)))]
pub(super) async fn show(
    State(app): State<App>,
    access: Access,
    Path(given): Path<String>,
    QueryParams(params): QueryParams<ProjectQuery>,
) -> Result<Json<SessionInfo>, Problem> {
    let project = access.resolve_project(params.project.as_deref())?;
    let found = app.with_engine(project, move |engine| {
        engine.sessions().session_page(&given, 0, 0)
    });
    Ok(Json(session_info(&found.await?.0)))
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct MessageQuery {
    /// The project; by default the token's project or the served one.
    project: Option<String>,
    /// `next` of the previous page.
    cursor: Option<u64>,
    /// Maximum number of items.
    #[param(minimum = 1, maximum = 1000, default = 50)]
    limit: Option<usize>,
}

/// Lists the turns of a conversation, oldest first.
#[utoipa::path(get, path = "/sessions/{id}/messages", operation_id = "list_messages", tag = "sessions", params(("id" = String, Path,), MessageQuery), responses((status = 200, body = List<MessageInfo>)))]
pub(super) async fn messages(
    State(app): State<App>,
    access: Access,
    Path(given): Path<String>,
    QueryParams(params): QueryParams<MessageQuery>,
) -> Result<Json<List<MessageInfo>>, Problem> {
    let project = access.resolve_project(params.project.as_deref())?;
    let most = page_size(params.limit)?;
    // The store uses signed integers.
    let from = params.cursor.unwrap_or(0).min(i64::MAX as u64);
    let found = app.with_engine(project, move |engine| {
        let (session, messages) = engine.sessions().session_page(&given, from, most)?;
        let is_full = messages.len() == most;
        let next = messages.last().filter(|_| is_full);
        Ok(List {
            next: next.map(|last| (last.seq + 1).to_string()),
            items: messages
                .iter()
                .map(|message| message_info(&session.id, message))
                .collect(),
        })
    });
    Ok(Json(found.await?))
}

/// Role of the speaker.
#[derive(Debug, Clone, Copy, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum RoleParam {
    User,
    Assistant,
    System,
    Tool,
    ToolCall,
    ToolResult,
}

impl RoleParam {
    fn to_model(self) -> Speaker {
        match self {
            Self::User => Speaker::User,
            Self::Assistant => Speaker::Assistant,
            Self::System => Speaker::System,
            Self::ToolCall => Speaker::ToolCall,
            Self::Tool | Self::ToolResult => Speaker::ToolResult,
        }
    }
}

#[derive(Debug, Deserialize, ToSchema)]
pub(super) struct MessageRequest {
    /// The project; by default the token's project or the served one.
    project: Option<String>,
    #[schema(inline)]
    role: RoleParam,
    /// Name of the sender, if the role is not enough.
    sender: Option<String>,
    /// Text of the message.
    #[serde(alias = "content")]
    #[schema(min_length = 1, pattern = r"\S")]
    text: String,
    /// Task of the conversation, if it is new.
    #[serde(alias = "task")]
    task_id: Option<String>,
    /// Agent of the conversation, if it is new.
    #[serde(alias = "agent")]
    agent_id: Option<String>,
    /// True for data of a program, such as a mark for removed items: no prompt and no search shows it.
    #[serde(default)]
    machine: bool,
}

/// Position of an added turn.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct AddedMessage {
    id: String,
    session_id: String,
    seq: u64,
}

/// Appends a turn; creates the conversation if it does not exist.
#[utoipa::path(post, path = "/sessions/{id}/messages", operation_id = "add_message", tag = "sessions", params(("id" = String, Path,)), request_body(content = MessageRequest), responses((status = 201, body = AddedMessage)))]
pub(super) async fn add(
    State(app): State<App>,
    access: Access,
    Path(given): Path<String>,
    JsonBody(body): JsonBody<MessageRequest>,
) -> Result<(StatusCode, Json<AddedMessage>), Problem> {
    access.require(Permission::Add)?;
    let project = access.resolve_project(body.project.as_deref())?;
    let turn = NewTurn {
        role: body.role.to_model(),
        sender: body.sender,
        task: body.task_id,
        agent: body.agent_id,
        text: body.text,
        machine: body.machine,
    };
    let added = app.with_engine(project, move |engine| {
        engine.sessions().add_turn(&given, &turn)
    });
    let added = added.await?;
    Ok((
        StatusCode::CREATED,
        Json(AddedMessage {
            id: added.id.to_string(),
            session_id: added.session,
            seq: added.seq,
        }),
    ))
}

/// Summary of a conversation.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct SessionSummary {
    session_id: String,
    /// Number of summarised interactions.
    interactions: usize,
    /// Number of interactions included in full.
    live: usize,
    /// One line for each recent interaction, oldest first.
    recent: Vec<String>,
    /// Lines for older interactions, oldest first.
    older: Vec<String>,
}

/// Returns an extractive summary of a conversation.
#[utoipa::path(get, path = "/sessions/{id}/summary", operation_id = "get_session_summary", tag = "sessions", params(("id" = String, Path,), ProjectQuery), responses((status = 200, body = SessionSummary)))]
pub(super) async fn summary(
    State(app): State<App>,
    access: Access,
    Path(given): Path<String>,
    QueryParams(params): QueryParams<ProjectQuery>,
) -> Result<Json<SessionSummary>, Problem> {
    let project = access.resolve_project(params.project.as_deref())?;
    let found = app.with_engine(project, move |engine| {
        let summary = engine.sessions().session_summary(&given)?;
        Ok(SessionSummary {
            session_id: given,
            interactions: summary.interactions,
            live: summary.live,
            recent: summary.recent,
            older: summary.older,
        })
    });
    Ok(Json(found.await?))
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct MessageSearchQuery {
    /// The project; by default the token's project or the served one.
    project: Option<String>,
    /// Search words.
    query: String,
    /// Only in this conversation.
    #[serde(alias = "session")]
    session_id: Option<String>,
    /// Maximum number of hits.
    #[param(minimum = 1, maximum = 1000, default = 10)]
    k: Option<usize>,
}

/// A found turn.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct FoundMessage {
    #[serde(flatten)]
    turn: MessageInfo,
    score: f64,
}

/// Searches conversation turns, best first.
#[utoipa::path(get, path = "/messages", operation_id = "search_messages", tag = "sessions", params(MessageSearchQuery), responses((status = 200, body = List<FoundMessage>)))]
pub(super) async fn search(
    State(app): State<App>,
    access: Access,
    QueryParams(params): QueryParams<MessageSearchQuery>,
) -> Result<Json<List<FoundMessage>>, Problem> {
    let project = access.resolve_project(params.project.as_deref())?;
    let k = params.k.unwrap_or(10);
    let found = app.compute_with_engine(project, move |engine| {
        engine
            .sessions()
            .search_sessions(&params.query, params.session_id.as_deref(), k)
    });
    let items = found.await?.into_iter();
    let items = items.map(|(session, message, score)| FoundMessage {
        turn: message_info(&session, &message),
        score: round_score(score),
    });
    Ok(Json(List::complete(items.collect())))
}
