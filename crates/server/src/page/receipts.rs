//! Receipt pages: included and omitted items of contexts, with reasons, and the text that was sent.
//!
//! `/receipts/RECEIPT?record=RECORD#sent` is the permanent link to the lines of one record in the text: they are
//! marked, and the mark has the id `sent`. Without such lines the heading of the text has this id.

mod body;
mod budget_chart;
mod comparison;
mod detail;
mod difference;
mod item_records;
mod receipt_list;
mod sent_text;
mod wording;

use super::view::chart::share;
use super::view::receipts::RecentReceipt;
use super::view::{Times, number, percent};
use super::{PageError, RequestContext, render};
use crate::App;
use axum::Router;
use axum::extract::{Path, Query, State};
use axum::response::Response;
use axum::routing::get;
use body::ReceiptBody;
use heirloom_engine::StoredReceipt;
use heirloom_model::Permission;
use serde::Deserialize;

/// Query parameters of a receipt.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
struct ReceiptParams {
    /// `in`, `cut`, or empty for all items.
    show: String,
    /// Present to compare with the context that the same request would get now.
    again: Option<String>,
    /// Present to compare with the previous context of the session or the task.
    previous: Option<String>,
    /// Present to unfold the text.
    text: Option<String>,
    /// Id of the record whose lines are marked in the text.
    record: Option<String>,
}

/// Query parameters of the list.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
struct ReceiptListParams {
    /// Session of the contexts; empty for all.
    session: String,
    /// Task of the contexts; empty for all.
    task: String,
    /// Present to list only contexts with items that did not fit.
    cut: Option<String>,
    /// Present to list all stored receipts.
    all: Option<String>,
}

/// Returns the routes.
pub(super) fn routes() -> Router<App> {
    Router::new()
        .route("/receipts", get(list))
        .route("/receipts/{id}", get(open))
}

async fn list(
    State(app): State<App>,
    context: RequestContext,
    Query(params): Query<ReceiptListParams>,
) -> Result<Response, PageError> {
    let project = context.resolve_project(Permission::Read)?;
    let view = app.with_engine(project, move |engine| {
        receipt_list::load(engine, &context, &params)
    });
    render(&view.await?)
}

async fn open(
    State(app): State<App>,
    context: RequestContext,
    Path(id): Path<String>,
    Query(params): Query<ReceiptParams>,
) -> Result<Response, PageError> {
    let project = context.resolve_project(Permission::Read)?;
    let view = app.with_engine(project, move |engine| {
        detail::load(engine, &context, &id, &params)
    });
    render(&view.await?)
}

/// Returns the row of a receipt next to the open one.
fn recent_receipt(receipt: &StoredReceipt, times: &Times, is_current: bool) -> RecentReceipt {
    let body = ReceiptBody(&receipt.body);
    let part = percent(body.used(), body.budget());
    let mut detail = vec![times.full(receipt.at)];
    detail.extend(body.text("agent"));
    detail.push(format!(
        "{part} % of {} {}",
        number(body.budget()),
        body.unit()
    ));
    RecentReceipt {
        id: receipt.id.to_string(),
        title: body.title(),
        detail: detail.join(", "),
        bar: share(&format!("{part} % of its budget"), part, "f-accent", true),
        is_current,
    }
}
