//! `/api/context`: contexts within a budget; `/api/receipts`: what earlier contexts contained.

use super::json_body::JsonBody;
use super::pagination::{List, page_size};
use super::query_params::{NewestQuery, ProjectQuery, QueryParams};
use super::recall_types::round_score;
use crate::app::is_found;
use crate::{Access, App, Problem};
use axum::Json;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use heirloom_engine::{ContextRequest, Engine, ReceiptPart, StoredReceipt};
use heirloom_model::context::Context as EngineContext;
use heirloom_model::{Budget, limits, text};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::{IntoParams, ToSchema};

#[derive(Debug, Deserialize, IntoParams, ToSchema)]
#[into_params(parameter_in = Query)]
pub(super) struct ContextParams {
    /// The project; by default the token's project or the served one.
    project: Option<String>,
    /// The current task.
    #[serde(alias = "task")]
    task_id: Option<String>,
    /// The current phase.
    phase: Option<String>,
    /// The agent that gets the context.
    #[serde(alias = "agent")]
    agent_id: Option<String>,
    /// The agent's plan: PLAN or STAGE/PLAN.
    plan: Option<String>,
    /// The agent's group.
    group: Option<String>,
    /// The session that is continued.
    #[serde(alias = "session")]
    session_id: Option<String>,
    /// Additional search words.
    query: Option<String>,
    /// The agent with directives: `coder[input:a.md][tail:50]`.
    invocation: Option<String>,
    /// Maximum number of characters.
    budget_chars: Option<usize>,
    /// Maximum number of tokens.
    budget_tokens: Option<usize>,
}

/// A context with its receipt.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Context {
    text: String,
    chars: usize,
    tokens: usize,
    sections: Vec<ContextSection>,
    notes: Vec<String>,
    /// The receipt's id; `null` for a context without text.
    receipt: Option<String>,
}

/// A section of a context.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct ContextSection {
    name: String,
    chars: usize,
    items: Vec<ContextItem>,
}

/// An item that was included in a context or left out.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct ContextItem {
    id: Option<String>,
    file: Option<String>,
    text: String,
    score: Option<f64>,
    /// Calibrated relevance to the question, 0 to 1, if it was compared.
    #[serde(skip_serializing_if = "Option::is_none")]
    relevance: Option<f64>,
    /// Worth in the selection, if it competed.
    #[serde(skip_serializing_if = "Option::is_none")]
    worth: Option<f64>,
    chars: usize,
    tokens: usize,
    included: bool,
    /// Reason for inclusion or omission.
    reason: String,
}

/// Returns the context for the next prompt.
#[utoipa::path(get, path = "/context", operation_id = "get_context", tag = "context", params(ContextParams), responses((status = 200, body = Context)))]
pub(super) async fn make(
    State(app): State<App>,
    access: Access,
    QueryParams(params): QueryParams<ContextParams>,
) -> Result<Json<Context>, Problem> {
    respond(&app, &access, params).await
}

/// Same as `GET`, for parameters that are too long for a URL.
#[utoipa::path(post, path = "/context", operation_id = "build_context", tag = "context", request_body = ContextParams, responses((status = 200, body = Context)))]
pub(super) async fn make_long(
    State(app): State<App>,
    access: Access,
    JsonBody(params): JsonBody<ContextParams>,
) -> Result<Json<Context>, Problem> {
    respond(&app, &access, params).await
}

async fn respond(
    app: &App,
    access: &Access,
    params: ContextParams,
) -> Result<Json<Context>, Problem> {
    let project = access.resolve_project(params.project.as_deref())?;
    let budget = match (params.budget_chars, params.budget_tokens) {
        // The smaller of two budgets applies.
        (Some(chars), Some(tokens)) if chars / limits::CHARS_PER_TOKEN <= tokens => {
            Some(Budget::Chars(chars))
        }
        (_, Some(tokens)) => Some(Budget::Tokens(tokens)),
        (chars, None) => chars.map(Budget::Chars),
    };
    check_range(
        "budget_chars",
        params.budget_chars,
        limits::CONTEXT_BUDGET_CHARS_MAX,
    )?;
    check_range(
        "budget_tokens",
        params.budget_tokens,
        limits::RECALL_BUDGET_TOKENS_MAX,
    )?;
    let request = ContextRequest {
        task: params.task_id,
        phase: params.phase,
        budget,
        agent: params.agent_id,
        plan: params.plan,
        group: params.group,
        session: params.session_id,
        query: params.query,
        prompt: None,
        invocation: params.invocation,
        separate_rules: false,
    };
    let answer = app.compute_with_engine(project, move |engine| {
        let context = engine.contexts().build(&request)?;
        // The context is returned even if its receipt cannot be stored.
        let stored = engine.contexts().store_receipt(&request, &context, None);
        let receipt = stored.ok().flatten().map(|id| id.to_string());
        Ok(context_json(context, receipt))
    });
    Ok(Json(answer.await?))
}

fn check_range(name: &str, given: Option<usize>, most: usize) -> Result<(), Problem> {
    if given.is_none_or(|given| (1..=most).contains(&given)) {
        return Ok(());
    }
    Err(Problem::new(
        StatusCode::BAD_REQUEST,
        format!("`{name}` must be from 1 to {most}"),
    ))
}

fn context_json(context: EngineContext, receipt: Option<String>) -> Context {
    let sections = context.sections.iter().map(|section| {
        let items = section.items.iter().map(|item| ContextItem {
            id: item.id.map(|id| id.to_string()),
            file: item.file.clone(),
            text: item.excerpt.clone(),
            score: item.score,
            relevance: item.relevance.map(round_score),
            worth: item.worth.map(round_score),
            chars: item.chars,
            tokens: item.chars.div_ceil(limits::CHARS_PER_TOKEN),
            included: item.is_included(),
            reason: item.reason.text().into_owned(),
        });
        ContextSection {
            name: section.name.to_string(),
            chars: section.chars,
            items: items.collect(),
        }
    });
    Context {
        chars: text::chars(&context.text),
        tokens: text::tokens(&context.text),
        sections: sections.collect(),
        text: context.text,
        notes: context.notes,
        receipt,
    }
}

/// A receipt: the request, the budget, the size, and each item with its reason.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Receipt {
    id: String,
    #[schema(format = DateTime)]
    created_at: String,
    #[serde(flatten)]
    body: Map<String, Value>,
}

fn receipt_json(receipt: StoredReceipt) -> Receipt {
    let mut body = receipt.body;
    body.remove("id");
    body.remove("created_at");
    Receipt {
        id: receipt.id.to_string(),
        created_at: receipt.at.to_string(),
        body,
    }
}

/// Lists the newest receipts, newest first, without their sections.
#[utoipa::path(get, path = "/receipts", operation_id = "list_receipts", tag = "context", params(NewestQuery), responses((status = 200, body = List<Receipt>)))]
pub(super) async fn receipts(
    State(app): State<App>,
    access: Access,
    QueryParams(params): QueryParams<NewestQuery>,
) -> Result<Json<List<Receipt>>, Problem> {
    let project = access.resolve_project(params.project.as_deref())?;
    let most = page_size(params.limit)?;
    let found = app
        .with_engine(project, move |engine| engine.contexts().receipt_heads(most))
        .await?;
    let brief = found.into_iter().map(|head| receipt_json(head.receipt));
    Ok(Json(List::complete(brief.collect())))
}

/// Returns one receipt with its sections.
#[utoipa::path(get, path = "/receipts/{id}", operation_id = "get_receipt", tag = "context", params(("id" = String, Path,), ProjectQuery), responses((status = 200, body = Receipt)))]
pub(super) async fn receipt(
    State(app): State<App>,
    access: Access,
    Path(given): Path<String>,
    QueryParams(params): QueryParams<ProjectQuery>,
) -> Result<Json<Receipt>, Problem> {
    let (requested, receipt_id) = (params.project.as_deref(), given.clone());
    let has = move |engine: &Engine| is_found(engine.contexts().receipt(&receipt_id));
    let project = app.project_with(&access, requested, has).await?;
    let found = app.with_engine(project, move |engine| engine.contexts().receipt(&given));
    Ok(Json(receipt_json(found.await?)))
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct DiffQuery {
    /// The project; by default the token's project or the served one.
    project: Option<String>,
    /// The earlier receipt.
    first: String,
    /// The later receipt.
    second: String,
}

/// Difference between two contexts.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct ReceiptDiff {
    came: Vec<DiffItem>,
    went: Vec<DiffItem>,
    /// Items that are in both.
    stayed: usize,
}

/// An item of a receipt.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct DiffItem {
    section: String,
    /// The record, the file, or the text.
    name: String,
    text: String,
}

/// Compares the items of two receipts.
#[utoipa::path(get, path = "/receipts/diff", operation_id = "compare_receipts", tag = "context", params(DiffQuery), responses((status = 200, body = ReceiptDiff)))]
pub(super) async fn difference(
    State(app): State<App>,
    access: Access,
    QueryParams(params): QueryParams<DiffQuery>,
) -> Result<Json<ReceiptDiff>, Problem> {
    let project = access.resolve_project(params.project.as_deref())?;
    let found = app.with_engine(project, move |engine| {
        engine
            .contexts()
            .receipt_diff(&params.first, &params.second)
    });
    let found = found.await?;
    let pieces = |parts: Vec<ReceiptPart>| {
        let piece = |part: ReceiptPart| DiffItem {
            section: part.section,
            name: part.name,
            text: part.text,
        };
        parts.into_iter().map(piece).collect()
    };
    Ok(Json(ReceiptDiff {
        came: pieces(found.added),
        went: pieces(found.removed),
        stayed: found.common,
    }))
}
