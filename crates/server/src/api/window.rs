//! `/api/compact` and `/api/expand`: compaction of a conversation to the window of a model.

use super::field_checks::deserialize_small_count;
use super::fixed_words::CONTENT_KINDS;
use super::json_body::JsonBody;
use super::query_params::QueryParams;
use crate::{Access, App, Problem};
use axum::Json;
use axum::extract::{Path, State};
use heirloom_engine::{ArchivedContent, Policy, WindowRequest, WireFormat};
use heirloom_model::Fault;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::{IntoParams, ToSchema};

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
    #[serde(alias = "session")]
    session_id: Option<String>,
    #[serde(alias = "agent")]
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
#[utoipa::path(post, path = "/compact", operation_id = "compact_conversation", tag = "window", request_body(content = CompactRequestSchema), responses((status = 200, body = CompactResponse)))]
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
    #[serde(alias = "session")]
    session_id: Option<String>,
}

/// Returns the full text of a shortened output, or omitted messages.
#[utoipa::path(get, path = "/expand/{id}", operation_id = "expand_content", tag = "window", params(("id" = String, Path,), ExpandQuery), responses((status = 200, body = ExpandedContent)))]
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
            ArchivedContent::Text(text) => (CONTENT_KINDS[0], Some(text), None),
            ArchivedContent::Messages(all) => {
                let all = all.iter().map(|one| serde_json::from_str(one));
                let all = all.collect::<Result<Vec<Value>, _>>();
                let all = all.map_err(|error| Fault::failed(error.to_string()))?;
                (CONTENT_KINDS[1], None, Some(all))
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
#[expect(dead_code, reason = "used only for its schema")]
#[schema(as = CompactRequest)]
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
