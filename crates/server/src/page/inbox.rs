//! Inbox page: proposals, conflicts, blocked tasks, open errors, and records to review, each with its decisions.

mod decisions;
mod rows;

use super::pending_items::PendingItems;
use super::request_context::times;
use super::view::inbox::InboxView;
use super::view::{number, plural};
use super::{PageError, RequestContext, Shell, knowledge, render, tasks};
use crate::{App, background_jobs};
use axum::Router;
use axum::extract::State;
use axum::response::{Redirect, Response};
use axum::routing::{get, post};
use heirloom_engine::Engine;
use heirloom_model::{Fault, Permission};

/// Returns the routes.
pub(super) fn routes() -> Router<App> {
    Router::new()
        .route("/inbox", get(show))
        .route("/inbox/bulk", post(decisions::decide_many))
        .route("/inbox/pair", post(decisions::decide_pair))
        .route("/inbox/{id}", post(decisions::decide))
        .route("/review", get(async || Redirect::permanent("/inbox")))
}

async fn show(State(app): State<App>, context: RequestContext) -> Result<Response, PageError> {
    let project = context.resolve_project(Permission::Read)?;
    let of = project.clone();
    let loaded = app.with_engine(project, move |engine| {
        let items = PendingItems::load(engine, &context)?;
        Ok((load(engine, &context, &items)?, items.reviewed.is_due))
    });
    let (view, is_due) = loaded.await?;
    if is_due {
        background_jobs::start_review(&app, of);
    }
    render(&view)
}

fn load(
    engine: &Engine,
    context: &RequestContext,
    items: &PendingItems,
) -> Result<InboxView, Fault> {
    let times = times(engine);
    let uses = rows::Uses::load(engine, items)?;
    let conflicts = 0..items.conflicts.len().min(rows::ROWS);
    let parts = [
        ("Proposals", "#proposals", items.proposals.len()),
        ("Conflicts", "#conflicts", items.conflicts.len()),
        ("Blocked", "#blocked", items.blocked.len()),
        ("Open errors", "#errors", items.errors_count),
        ("Nearly the same", "#review", items.pairs.len()),
        ("Stale", "#stale", items.stale.len()),
        ("Never used", "#unused", items.unused.len()),
    ];
    Ok(InboxView {
        headline: match items.count() {
            0 => "Nothing waits for you.".to_owned(),
            n => format!("{} for you.", plural(n, "item waits", "items wait")),
        },
        parts: parts.into_iter().filter(|(_, _, n)| *n > 0).collect(),
        proposals: rows::proposals(items, &times, &uses),
        conflicts: conflicts
            .filter_map(|at| knowledge::conflict::conflict_view(&items.conflicts, at, &times))
            .collect(),
        blocked: rows::blocked(engine, items, &times)?,
        errors: items
            .errors
            .iter()
            .take(rows::ROWS)
            .map(|one| tasks::open_error_row(one, context, &times))
            .collect(),
        pairs: rows::pairs(items, &times, &uses),
        stale: rows::stale(items, &times, &uses),
        unused: rows::unused(items, &times, &uses),
        comparing: match items.reviewed.report {
            Some(_) => String::new(),
            None => format!("{} entries", number(items.reviewed.entries)),
        },
        shell: Shell::load(engine, context, "inbox", "Inbox")?,
    })
}
