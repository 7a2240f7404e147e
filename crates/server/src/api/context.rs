//! `/api/context`: what is known, inside a budget; `/api/receipts`: what contexts held.

use super::shape::{Asked, Body, List, Newest, Where, limit};
use crate::{Access, App, Problem};
use axum::Json;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use heirloom_engine::{ContextRequest, ReceiptPart, StoredReceipt};
use heirloom_model::context::Context as Made;
use heirloom_model::{Budget, limits, text};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::{IntoParams, ToSchema};

#[derive(Debug, Deserialize, IntoParams, ToSchema)]
#[into_params(parameter_in = Query)]
#[schema(as = ContextRequest)]
pub(super) struct Asking {
    /// The project; without it the one that is served, or the token's.
    project: Option<String>,
    /// The current task.
    task_id: Option<String>,
    /// The current phase.
    phase: Option<String>,
    /// The agent that is asked.
    agent_id: Option<String>,
    /// The plan that it works on: PLAN or STAGE/PLAN.
    plan: Option<String>,
    /// The group that it belongs to.
    group: Option<String>,
    /// The session that goes on.
    session_id: Option<String>,
    /// Words to ask memory with besides.
    query: Option<String>,
    /// The agent with directives: `coder[input:a.md][tail:50]`.
    invocation: Option<String>,
    /// At most so many characters.
    budget_chars: Option<usize>,
    /// At most so many tokens.
    budget_tokens: Option<usize>,
}

/// A context with its receipt.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Context {
    text: String,
    chars: usize,
    tokens: usize,
    sections: Vec<Section>,
    notes: Vec<String>,
    /// The receipt's id; `null` for a context without text.
    receipt: Option<String>,
}

/// A section of a context.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Section {
    name: String,
    chars: usize,
    items: Vec<Item>,
}

/// Something that is in a context, or is left out.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Item {
    id: Option<String>,
    file: Option<String>,
    text: String,
    score: Option<f64>,
    chars: usize,
    tokens: usize,
    included: bool,
    /// Why it is in, or why not.
    reason: String,
}

/// Makes the context for the next prompt.
#[utoipa::path(get, path = "/context", tag = "context", params(Asking), responses((status = 200, body = Context)))]
pub(super) async fn make(
    State(app): State<App>,
    access: Access,
    Asked(asked): Asked<Asking>,
) -> Result<Json<Context>, Problem> {
    answer(&app, &access, asked).await
}

/// As `GET`, for what is too long for an address.
#[utoipa::path(post, path = "/context", tag = "context", request_body = Asking, responses((status = 200, body = Context)))]
pub(super) async fn make_long(
    State(app): State<App>,
    access: Access,
    Body(asked): Body<Asking>,
) -> Result<Json<Context>, Problem> {
    answer(&app, &access, asked).await
}

async fn answer(app: &App, access: &Access, asked: Asking) -> Result<Json<Context>, Problem> {
    let project = access.project(asked.project.as_deref())?;
    let budget = match (asked.budget_chars, asked.budget_tokens) {
        // Of two budgets the smaller one holds.
        (Some(chars), Some(tokens)) if chars / limits::CHARS_PER_TOKEN <= tokens => {
            Some(Budget::Chars(chars))
        }
        (_, Some(tokens)) => Some(Budget::Tokens(tokens)),
        (chars, None) => chars.map(Budget::Chars),
    };
    within(
        "budget_chars",
        asked.budget_chars,
        limits::CONTEXT_BUDGET_CHARS_MAX,
    )?;
    within(
        "budget_tokens",
        asked.budget_tokens,
        limits::RECALL_BUDGET_TOKENS_MAX,
    )?;
    let request = ContextRequest {
        task: asked.task_id,
        phase: asked.phase,
        budget,
        agent: asked.agent_id,
        plan: asked.plan,
        group: asked.group,
        session: asked.session_id,
        query: asked.query,
        invocation: asked.invocation,
    };
    let answer = app.compute(project, move |engine| {
        let made = engine.context(&request)?;
        // Who waits for a prompt gets it, whatever becomes of the receipt.
        let kept = engine.keep_receipt(&request, &made, None);
        let receipt = kept.ok().flatten().map(|id| id.to_string());
        Ok(context(made, receipt))
    });
    Ok(Json(answer.await?))
}

fn within(name: &str, given: Option<usize>, most: usize) -> Result<(), Problem> {
    if given.is_none_or(|given| (1..=most).contains(&given)) {
        return Ok(());
    }
    Err(Problem::new(
        StatusCode::BAD_REQUEST,
        format!("`{name}` is from 1 to {most}"),
    ))
}

fn context(made: Made, receipt: Option<String>) -> Context {
    let sections = made.sections.iter().map(|section| {
        let items = section.items.iter().map(|item| Item {
            id: item.id.map(|id| id.to_string()),
            file: item.file.clone(),
            text: item.excerpt.clone(),
            score: item.score,
            chars: item.chars,
            tokens: item.chars.div_ceil(limits::CHARS_PER_TOKEN),
            included: item.included(),
            reason: item.reason.as_str().to_owned(),
        });
        Section {
            name: section.name.to_string(),
            chars: section.chars,
            items: items.collect(),
        }
    });
    Context {
        chars: text::chars(&made.text),
        tokens: text::tokens(&made.text),
        sections: sections.collect(),
        text: made.text,
        notes: made.notes,
        receipt,
    }
}

/// What a receipt says: the request, the budget, the size, and one by one what was in and what was not.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Receipt {
    id: String,
    #[schema(format = DateTime)]
    created_at: String,
    #[serde(flatten)]
    body: Map<String, Value>,
}

fn receipt_of(receipt: StoredReceipt) -> Receipt {
    let mut body = receipt.body;
    body.remove("id");
    body.remove("created_at");
    Receipt {
        id: receipt.id.to_string(),
        created_at: receipt.at.to_string(),
        body,
    }
}

/// The newest receipts, newest first, without their sections.
#[utoipa::path(get, path = "/receipts", tag = "context", params(Newest), responses((status = 200, body = List<Receipt>)))]
pub(super) async fn receipts(
    State(app): State<App>,
    access: Access,
    Asked(asked): Asked<Newest>,
) -> Result<Json<List<Receipt>>, Problem> {
    let project = access.project(asked.project.as_deref())?;
    let most = limit(asked.limit)?;
    let found = app
        .ask(project, move |engine| engine.receipts(most))
        .await?;
    let brief = found.into_iter().map(|mut receipt| {
        receipt.body.remove("sections");
        receipt_of(receipt)
    });
    Ok(Json(List::whole(brief.collect())))
}

/// One receipt, section by section.
#[utoipa::path(get, path = "/receipts/{id}", tag = "context", params(("id" = String, Path,), Where), responses((status = 200, body = Receipt)))]
pub(super) async fn receipt(
    State(app): State<App>,
    access: Access,
    Path(given): Path<String>,
    Asked(asked): Asked<Where>,
) -> Result<Json<Receipt>, Problem> {
    let project = access.project(asked.project.as_deref())?;
    let found = app.ask(project, move |engine| engine.receipt(&given));
    Ok(Json(receipt_of(found.await?)))
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct Two {
    /// The project; without it the one that is served, or the token's.
    project: Option<String>,
    /// The earlier receipt.
    first: String,
    /// The later receipt.
    second: String,
}

/// What came and what went between two contexts.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Difference {
    came: Vec<Piece>,
    went: Vec<Piece>,
    /// Items that are in both.
    stayed: usize,
}

/// An item of a receipt.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Piece {
    section: String,
    /// The record, the file, or the words.
    name: String,
    text: String,
}

/// What came and what went between two receipts.
#[utoipa::path(get, path = "/receipts/diff", tag = "context", params(Two), responses((status = 200, body = Difference)))]
pub(super) async fn difference(
    State(app): State<App>,
    access: Access,
    Asked(asked): Asked<Two>,
) -> Result<Json<Difference>, Problem> {
    let project = access.project(asked.project.as_deref())?;
    let found = app.ask(project, move |engine| {
        engine.receipt_diff(&asked.first, &asked.second)
    });
    let found = found.await?;
    let pieces = |parts: Vec<ReceiptPart>| {
        let piece = |part: ReceiptPart| Piece {
            section: part.section,
            name: part.name,
            text: part.text,
        };
        parts.into_iter().map(piece).collect()
    };
    Ok(Json(Difference {
        came: pieces(found.came),
        went: pieces(found.went),
        stayed: found.stayed,
    }))
}
