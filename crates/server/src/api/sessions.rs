//! `/api/sessions`: conversations, their turns, and window compaction.

use super::extractors::{JsonBody, ProjectQuery, QueryParams, deserialize_small_count};
use super::json_types::{self, MessageInfo, SessionInfo};
use super::pagination::{List, page_size};
use crate::{Access, App, Problem};
use axum::Json;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use heirloom_engine::{ArchivedContent, NewTurn, Policy, WindowRequest, WireFormat};
use heirloom_model::{Fault, Permission, Role as Speaker};
use serde::{Deserialize, Serialize};
use serde_json::Value;
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
#[utoipa::path(get, path = "/sessions", tag = "sessions", params(SessionQuery), responses((status = 200, body = List<SessionInfo>)))]
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
        found.iter().map(json_types::session_info).collect(),
    )))
}

/// Returns one conversation without its turns.
#[utoipa::path(get, path = "/sessions/{id}", tag = "sessions", params(("id" = String, Path,), ProjectQuery), responses((status = 200, body = SessionInfo)))]
pub(super) async fn show(
    State(app): State<App>,
    access: Access,
    Path(given): Path<String>,
    QueryParams(params): QueryParams<ProjectQuery>,
) -> Result<Json<SessionInfo>, Problem> {
    let project = access.resolve_project(params.project.as_deref())?;
    let found = app.with_engine(project, move |engine| {
        engine.records().session_page(&given, 0, 0)
    });
    Ok(Json(json_types::session_info(&found.await?.0)))
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
#[utoipa::path(get, path = "/sessions/{id}/messages", tag = "sessions", params(("id" = String, Path,), MessageQuery), responses((status = 200, body = List<MessageInfo>)))]
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
        let (session, messages) = engine.records().session_page(&given, from, most)?;
        let is_full = messages.len() == most;
        let next = messages.last().filter(|_| is_full);
        Ok(List {
            next: next.map(|last| (last.seq + 1).to_string()),
            items: messages
                .iter()
                .map(|message| json_types::message_info(&session.id, message))
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
#[schema(as = NewMessage)]
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
    agent_id: Option<String>,
}

/// Position of an added turn.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Added)]
pub(super) struct AddedMessage {
    id: String,
    session_id: String,
    seq: u64,
}

/// Appends a turn; creates the conversation if it does not exist.
#[utoipa::path(post, path = "/sessions/{id}/messages", tag = "sessions", params(("id" = String, Path,)), request_body(content = MessageRequest), responses((status = 201, body = AddedMessage)))]
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
#[schema(as = Summary)]
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
#[utoipa::path(get, path = "/sessions/{id}/summary", tag = "sessions", params(("id" = String, Path,), ProjectQuery), responses((status = 200, body = SessionSummary)))]
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
    session_id: Option<String>,
    /// Maximum number of hits.
    #[param(minimum = 1, maximum = 1000, default = 10)]
    k: Option<usize>,
}

/// A found turn.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = FoundMessage)]
pub(super) struct FoundMessage {
    #[serde(flatten)]
    turn: MessageInfo,
    score: f64,
}

/// Searches conversation turns, best first.
#[utoipa::path(get, path = "/messages", tag = "sessions", params(MessageSearchQuery), responses((status = 200, body = List<FoundMessage>)))]
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
        turn: json_types::message_info(&session, &message),
        score: json_types::round_score(score),
    });
    Ok(Json(List::complete(items.collect())))
}

/// Wire format of the messages.
#[derive(Debug, Clone, Copy, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum FormatParam {
    Openai,
    Anthropic,
    Responses,
    Auto,
}

#[derive(Debug, Deserialize)]
pub(super) struct CompactRequest {
    /// The project; by default the token's project or the served one.
    project: Option<String>,
    /// An array of messages, or a whole request body.
    messages: Box<serde_json::value::RawValue>,
    /// The conversation; omitted messages are archived under it.
    session_id: Option<String>,
    agent_id: Option<String>,
    /// The group of the conversation; requires a session.
    group: Option<String>,
    /// The model.
    model: Option<String>,
    format: Option<FormatParam>,
    /// Size of the window in tokens; configured by default.
    #[serde(default, deserialize_with = "deserialize_small_count")]
    target_tokens: Option<u32>,
}

/// A compacted window.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Compacted)]
pub(super) struct CompactResponse {
    /// Messages to send, in the format of the request.
    #[schema(value_type = Value)]
    messages: Box<serde_json::value::RawValue>,
    /// Report of the compaction.
    #[schema(value_type = Object)]
    report: Box<serde_json::value::RawValue>,
    notes: Vec<String>,
}

/// Compacts a conversation to a model's window. Omitted text is archived before the answer is sent; `expand` returns
/// it.
#[utoipa::path(post, path = "/compact", tag = "sessions", request_body(content = CompactRequestSchema), responses((status = 200, body = CompactResponse)))]
pub(super) async fn compact(
    State(app): State<App>,
    access: Access,
    JsonBody(body): JsonBody<CompactRequest>,
) -> Result<Json<CompactResponse>, Problem> {
    let project = access.resolve_project(body.project.as_deref())?;
    let policy = app.options().policy.clone();
    let policy: Policy = match body.target_tokens {
        Some(tokens) => policy.with_target(usize::try_from(tokens).unwrap_or(usize::MAX)),
        None => policy,
    };
    let form = match body.format {
        Some(FormatParam::Openai) => Some(WireFormat::Openai),
        Some(FormatParam::Anthropic) => Some(WireFormat::Anthropic),
        Some(FormatParam::Responses) => Some(WireFormat::Responses),
        Some(FormatParam::Auto) | None => None,
    };
    let answer = app.compute_with_engine(project, move |engine| {
        let compacted = engine.window().compact(&WindowRequest {
            history: body.messages.get(),
            form,
            model: body.model.as_deref(),
            policy: &policy,
            session: body.session_id.as_deref(),
            agent: body.agent_id.as_deref(),
            group: body.group.as_deref(),
        })?;
        let raw = |json: String| {
            serde_json::value::RawValue::from_string(json)
                .map_err(|error| Fault::failed(format!("the window is not valid JSON: {error}")))
        };
        Ok(CompactResponse {
            report: raw(compacted.report.to_json())?,
            messages: raw(compacted.json)?,
            notes: compacted.notes,
        })
    });
    Ok(Json(answer.await?))
}

/// Archived content of a window.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Expanded)]
pub(super) struct ExpandedContent {
    id: String,
    /// output or messages.
    kind: String,
    file: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    messages: Option<Vec<Value>>,
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct ExpandQuery {
    /// The project; by default the token's project or the served one.
    project: Option<String>,
    /// The conversation; its later windows keep the content in full.
    session_id: Option<String>,
}

/// Returns the full text of a shortened output, or omitted messages.
#[utoipa::path(get, path = "/expand/{id}", tag = "sessions", params(("id" = String, Path,), ExpandQuery), responses((status = 200, body = ExpandedContent)))]
pub(super) async fn expand(
    State(app): State<App>,
    access: Access,
    Path(given): Path<String>,
    QueryParams(params): QueryParams<ExpandQuery>,
) -> Result<Json<ExpandedContent>, Problem> {
    let project = access.resolve_project(params.project.as_deref())?;
    let answer = app.with_engine(project, move |engine| {
        let found = engine
            .window()
            .expand(&given, params.session_id.as_deref())?;
        let (kind, text, messages) = match found.content {
            ArchivedContent::Text(text) => ("output", Some(text), None),
            ArchivedContent::Messages(all) => {
                let all = all.iter().map(|one| serde_json::from_str(one));
                let all = all.collect::<Result<Vec<Value>, _>>();
                let all = all.map_err(|error| Fault::failed(error.to_string()))?;
                ("messages", None, Some(all))
            }
        };
        Ok(ExpandedContent {
            id: found.id,
            kind: kind.to_owned(),
            file: found.file.to_string_lossy().into_owned(),
            text,
            messages,
        })
    });
    Ok(Json(answer.await?))
}

/// Schema of [`CompactRequest`]: its messages have the format of the provider.
#[derive(ToSchema)]
#[schema(as = Compacting)]
#[expect(dead_code, reason = "used only for its schema")]
struct CompactRequestSchema {
    project: Option<String>,
    /// An array of messages, or a whole request body, in the format of the provider.
    messages: Vec<WindowMessage>,
    /// The conversation; omitted messages are archived under it.
    session_id: Option<String>,
    agent_id: Option<String>,
    /// The group of the conversation; requires a session.
    group: Option<String>,
    /// The model.
    model: Option<String>,
    #[schema(inline)]
    format: Option<FormatParam>,
    /// Size of the window in tokens; configured by default.
    #[schema(minimum = 1)]
    target_tokens: Option<u32>,
}

/// A message with the fields common to all providers; providers may add more.
#[derive(ToSchema)]
#[expect(dead_code, reason = "used only for its schema")]
struct WindowMessage {
    #[schema(inline)]
    role: WindowRole,
    /// A text, or content parts of the provider.
    content: Option<Value>,
}

/// Role of the message.
#[derive(ToSchema)]
#[schema(rename_all = "lowercase")]
#[expect(dead_code, reason = "used only for its schema")]
enum WindowRole {
    User,
    Assistant,
}
