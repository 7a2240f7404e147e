//! `/api/sessions`: conversations and their turns, and the window that is kept of them.

use super::shape::{Asked, Body, List, Where, limit, small};
use super::wire::{self, Talk, Turn};
use crate::{Access, App, Problem};
use axum::Json;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use heirloom_engine::{Form, NewTurn, Policy, Whole, WindowRequest};
use heirloom_model::{Deed, Fault, Role as Speaker};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::{IntoParams, ToSchema};

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct Asking {
    /// The project; without it the one that is served, or the token's.
    project: Option<String>,
    /// Only of this task.
    task_id: Option<String>,
    /// At most so many items.
    #[param(minimum = 1, maximum = 1000, default = 50)]
    limit: Option<usize>,
}

/// The newest conversations, newest first.
#[utoipa::path(get, path = "/sessions", tag = "sessions", params(Asking), responses((status = 200, body = List<Talk>)))]
pub(super) async fn list(
    State(app): State<App>,
    access: Access,
    Asked(asked): Asked<Asking>,
) -> Result<Json<List<Talk>>, Problem> {
    let project = access.project(asked.project.as_deref())?;
    let most = limit(asked.limit)?;
    let found = app.ask(project, move |engine| {
        engine.sessions_of(asked.task_id.as_deref(), most)
    });
    let found = found.await?;
    Ok(Json(List::whole(found.iter().map(wire::talk).collect())))
}

/// One conversation, without its turns.
#[utoipa::path(get, path = "/sessions/{id}", tag = "sessions", params(("id" = String, Path,), Where), responses((status = 200, body = Talk)))]
pub(super) async fn show(
    State(app): State<App>,
    access: Access,
    Path(given): Path<String>,
    Asked(asked): Asked<Where>,
) -> Result<Json<Talk>, Problem> {
    let project = access.project(asked.project.as_deref())?;
    let found = app.ask(project, move |engine| engine.session_page(&given, 0, 0));
    Ok(Json(wire::talk(&found.await?.0)))
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct Turns {
    /// The project; without it the one that is served, or the token's.
    project: Option<String>,
    /// `next` of the part before.
    cursor: Option<u64>,
    /// At most so many items.
    #[param(minimum = 1, maximum = 1000, default = 50)]
    limit: Option<usize>,
}

/// The turns of a conversation, oldest first.
#[utoipa::path(get, path = "/sessions/{id}/messages", tag = "sessions", params(("id" = String, Path,), Turns), responses((status = 200, body = List<Turn>)))]
pub(super) async fn messages(
    State(app): State<App>,
    access: Access,
    Path(given): Path<String>,
    Asked(asked): Asked<Turns>,
) -> Result<Json<List<Turn>>, Problem> {
    let project = access.project(asked.project.as_deref())?;
    let most = limit(asked.limit)?;
    // Places are counted by the store in numbers with a sign.
    let from = asked.cursor.unwrap_or(0).min(i64::MAX as u64);
    let found = app.ask(project, move |engine| {
        let (session, messages) = engine.session_page(&given, from, most)?;
        let is_full = messages.len() == most;
        let next = messages.last().filter(|_| is_full);
        Ok(List {
            next: next.map(|last| (last.seq + 1).to_string()),
            items: messages
                .iter()
                .map(|message| wire::turn(&session.id, message))
                .collect(),
        })
    });
    Ok(Json(found.await?))
}

/// Who speaks.
#[derive(Debug, Clone, Copy, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum Speaking {
    User,
    Assistant,
    System,
    Tool,
    ToolCall,
    ToolResult,
}

impl Speaking {
    fn typed(self) -> Speaker {
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
pub(super) struct New {
    /// The project; without it the one that is served, or the token's.
    project: Option<String>,
    #[schema(inline)]
    role: Speaking,
    /// Who spoke, where the role does not say it.
    sender: Option<String>,
    /// What was said.
    #[serde(alias = "content")]
    #[schema(min_length = 1, pattern = r"\S")]
    text: String,
    /// The task of the conversation, if it is new.
    task_id: Option<String>,
    /// The agent of the conversation, if it is new.
    agent_id: Option<String>,
}

/// Where a turn was put.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Added {
    id: String,
    session_id: String,
    seq: u64,
}

/// Appends a turn; the conversation comes into being with it.
#[utoipa::path(post, path = "/sessions/{id}/messages", tag = "sessions", params(("id" = String, Path,)), request_body(content = New), responses((status = 201, body = Added)))]
pub(super) async fn add(
    State(app): State<App>,
    access: Access,
    Path(given): Path<String>,
    Body(said): Body<New>,
) -> Result<(StatusCode, Json<Added>), Problem> {
    access.may(Deed::Add)?;
    let project = access.project(said.project.as_deref())?;
    let turn = NewTurn {
        role: said.role.typed(),
        sender: said.sender,
        task: said.task_id,
        agent: said.agent_id,
        text: said.text,
    };
    let added = app.ask(project, move |engine| engine.add_turn(&given, &turn));
    let added = added.await?;
    Ok((
        StatusCode::CREATED,
        Json(Added {
            id: added.id.to_string(),
            session_id: added.session,
            seq: added.seq,
        }),
    ))
}

/// What a conversation comes to.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Summary {
    session_id: String,
    /// Interactions that were looked at.
    interactions: usize,
    /// How many of them are told in full.
    live: usize,
    /// A line for each of the last ones, oldest first.
    recent: Vec<String>,
    /// Lines for those that are no longer told in full, oldest first.
    older: Vec<String>,
}

/// What a conversation comes to, in its own words.
#[utoipa::path(get, path = "/sessions/{id}/summary", tag = "sessions", params(("id" = String, Path,), Where), responses((status = 200, body = Summary)))]
pub(super) async fn summary(
    State(app): State<App>,
    access: Access,
    Path(given): Path<String>,
    Asked(asked): Asked<Where>,
) -> Result<Json<Summary>, Problem> {
    let project = access.project(asked.project.as_deref())?;
    let found = app.ask(project, move |engine| {
        let said = engine.session_summary(&given)?;
        Ok(Summary {
            session_id: given,
            interactions: said.interactions,
            live: said.live,
            recent: said.recent,
            older: said.older,
        })
    });
    Ok(Json(found.await?))
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct Seeking {
    /// The project; without it the one that is served, or the token's.
    project: Option<String>,
    /// Words that were said.
    query: String,
    /// Only in this conversation.
    session_id: Option<String>,
    /// At most so many hits.
    #[param(minimum = 1, maximum = 1000, default = 10)]
    k: Option<usize>,
}

/// A turn that was found.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = FoundMessage)]
pub(super) struct Found {
    #[serde(flatten)]
    turn: Turn,
    score: f64,
}

/// Turns that say this, best first.
#[utoipa::path(get, path = "/messages", tag = "sessions", params(Seeking), responses((status = 200, body = List<Found>)))]
pub(super) async fn search(
    State(app): State<App>,
    access: Access,
    Asked(asked): Asked<Seeking>,
) -> Result<Json<List<Found>>, Problem> {
    let project = access.project(asked.project.as_deref())?;
    let k = asked.k.unwrap_or(10);
    let found = app.compute(project, move |engine| {
        engine.search_sessions(&asked.query, asked.session_id.as_deref(), k)
    });
    let items = found.await?.into_iter();
    let items = items.map(|(session, message, score)| Found {
        turn: wire::turn(&session, &message),
        score: wire::rounded(score),
    });
    Ok(Json(List::whole(items.collect())))
}

/// Whose form messages have.
#[derive(Debug, Clone, Copy, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum Format {
    Openai,
    Anthropic,
    Responses,
    Auto,
}

#[derive(Debug, Deserialize)]
pub(super) struct Compacting {
    /// The project; without it the one that is served, or the token's.
    project: Option<String>,
    /// An array of messages, or a whole request body.
    messages: Box<serde_json::value::RawValue>,
    /// The conversation that it is; what is left out is kept for it.
    session_id: Option<String>,
    agent_id: Option<String>,
    /// The group that has it; only with a session.
    group: Option<String>,
    /// The model that it is for.
    model: Option<String>,
    format: Option<Format>,
    /// Tokens of the whole window; else the settings say it.
    #[serde(default, deserialize_with = "small")]
    target_tokens: Option<u32>,
}

/// A window.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Compacted {
    /// What is to be sent, in the shape that came in.
    #[schema(value_type = Value)]
    messages: Box<serde_json::value::RawValue>,
    /// What was done.
    #[schema(value_type = Object)]
    report: Box<serde_json::value::RawValue>,
    notes: Vec<String>,
}

/// Makes a conversation fit a model's window. What is left out is on the disk when it answers: `expand` gives it back.
#[utoipa::path(post, path = "/compact", tag = "sessions", request_body(content = CompactingForm), responses((status = 200, body = Compacted)))]
pub(super) async fn compact(
    State(app): State<App>,
    access: Access,
    Body(said): Body<Compacting>,
) -> Result<Json<Compacted>, Problem> {
    let project = access.project(said.project.as_deref())?;
    let policy = app.options().policy.clone();
    let policy: Policy = match said.target_tokens {
        Some(tokens) => policy.with_target(usize::try_from(tokens).unwrap_or(usize::MAX)),
        None => policy,
    };
    let form = match said.format {
        Some(Format::Openai) => Some(Form::Openai),
        Some(Format::Anthropic) => Some(Form::Anthropic),
        Some(Format::Responses) => Some(Form::Responses),
        Some(Format::Auto) | None => None,
    };
    let answer = app.compute(project, move |engine| {
        let made = engine.compact(&WindowRequest {
            history: said.messages.get(),
            form,
            model: said.model.as_deref(),
            policy: &policy,
            session: said.session_id.as_deref(),
            agent: said.agent_id.as_deref(),
            group: said.group.as_deref(),
        })?;
        let raw = |json: String| {
            serde_json::value::RawValue::from_string(json)
                .map_err(|error| Fault::failed(format!("the window is no JSON: {error}")))
        };
        Ok(Compacted {
            report: raw(made.report.to_json())?,
            messages: raw(made.json)?,
            notes: made.notes,
        })
    });
    Ok(Json(answer.await?))
}

/// What a window holds only in part.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Expanded {
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
pub(super) struct Expanding {
    /// The project; without it the one that is served, or the token's.
    project: Option<String>,
    /// The conversation, which then keeps it whole.
    session_id: Option<String>,
}

/// The full text of a shortened output, or of messages that were left out.
#[utoipa::path(get, path = "/expand/{id}", tag = "sessions", params(("id" = String, Path,), Expanding), responses((status = 200, body = Expanded)))]
pub(super) async fn expand(
    State(app): State<App>,
    access: Access,
    Path(given): Path<String>,
    Asked(asked): Asked<Expanding>,
) -> Result<Json<Expanded>, Problem> {
    let project = access.project(asked.project.as_deref())?;
    let answer = app.ask(project, move |engine| {
        let found = engine.expand(&given, asked.session_id.as_deref())?;
        let (kind, text, messages) = match found.whole {
            Whole::Text(text) => ("output", Some(text), None),
            Whole::Messages(all) => {
                let all = all.iter().map(|one| serde_json::from_str(one));
                let all = all.collect::<Result<Vec<Value>, _>>();
                let all = all.map_err(|error| Fault::failed(error.to_string()))?;
                ("messages", None, Some(all))
            }
        };
        Ok(Expanded {
            id: found.id,
            kind: kind.to_owned(),
            file: found.file.display().to_string(),
            text,
            messages,
        })
    });
    Ok(Json(answer.await?))
}

/// How [`Compacting`] is described: its messages are whatever a provider takes.
#[derive(ToSchema)]
#[schema(as = Compacting)]
#[expect(dead_code, reason = "it is only described")]
struct CompactingForm {
    project: Option<String>,
    /// An array of messages, or a whole request body, in the form of the provider.
    messages: Vec<WindowMessage>,
    /// The conversation that it is; what is left out is kept for it.
    session_id: Option<String>,
    agent_id: Option<String>,
    /// The group that has it; only with a session.
    group: Option<String>,
    /// The model that it is for.
    model: Option<String>,
    #[schema(inline)]
    format: Option<Format>,
    /// Tokens of the whole window; else the settings say it.
    #[schema(minimum = 1)]
    target_tokens: Option<u32>,
}

/// A message, in the form that every provider has; more fields are theirs.
#[derive(ToSchema)]
#[expect(dead_code, reason = "it is only described")]
struct WindowMessage {
    #[schema(inline)]
    role: WindowRole,
    /// A text, or the parts that the provider knows.
    content: Option<Value>,
}

/// Who speaks in it.
#[derive(ToSchema)]
#[schema(rename_all = "lowercase")]
#[expect(dead_code, reason = "it is only described")]
enum WindowRole {
    User,
    Assistant,
}
