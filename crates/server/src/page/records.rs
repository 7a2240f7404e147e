//! Changes to any record: mark, retire, restore, purge, undo.

use super::form_fields::FormFields;
use super::request_context::redirect_back;
use super::toast::{done_message, toast_and_refresh, with_refresh_trigger};
use super::view::knowledge::{RemovedRow, RowUpdate, ToastView};
use super::{PageError, RequestContext, Toast, knowledge, record_label, render};
use crate::App;
use axum::Router;
use axum::extract::{Path, State};
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::{get, post};
use heirloom_engine::{Engine, PurgeTarget, UndoReport};
use heirloom_model::{Fault, Mark, Permission, RecordId, limits};

/// Returns the routes.
pub(super) fn routes() -> Router<App> {
    Router::new()
        .route("/records/{id}", get(redirect_to_record))
        .route("/records/{id}/mark", post(mark))
        .route("/records/{id}/retire", post(retire))
        .route("/records/{id}/restore", post(restore))
        .route("/records/{id}/purge", post(purge))
        .route("/undo/{id}", post(undo))
}

/// Redirects to the page of a record.
async fn redirect_to_record(
    State(app): State<App>,
    context: RequestContext,
    Path(id): Path<String>,
) -> Result<Response, PageError> {
    let to = app.with_engine(context.resolve_project(Permission::Read)?, move |engine| {
        let record = engine.records().get(engine.records().resolve_id(&id)?)?;
        Ok(match record_label::href(&record) {
            to if to.starts_with("/records/") => format!("/knowledge/{}", record.id),
            to => to,
        })
    });
    Ok(Redirect::to(&to.await?).into_response())
}

async fn mark(
    State(app): State<App>,
    context: RequestContext,
    Path(id): Path<String>,
    fields: FormFields,
) -> Result<Response, PageError> {
    let (mark, done) = match fields.get("mark") {
        "pin" => (Mark::Pinned(true), "pinned"),
        "unpin" => (Mark::Pinned(false), "unpinned"),
        "mute" => (Mark::Muted(true), "muted"),
        "unmute" => (Mark::Muted(false), "unmuted"),
        "useful" => (Mark::Useful(true), "useful"),
        "not-useful" => (Mark::Useful(false), "not-useful"),
        "keep" => (Mark::Useful(true), "kept"),
        other => {
            let what = format!("`{}` is no mark", heirloom_model::text::excerpt(other, 40));
            return Err(Fault::usage(what).into());
        }
    };
    let to = fields.return_path("/knowledge");
    let by = context.actor_name();
    if !context.is_part {
        let id = app
            .with_engine(
                context.resolve_project(Permission::Change)?,
                move |engine| apply_mark(engine, &id, mark, &by),
            )
            .await?;
        return Ok(redirect_back(&to, done, &id.to_string()));
    }
    let as_what = fields.get("as").to_owned();
    let of = context.clone();
    let (id, name, row) = app
        .with_engine(
            context.resolve_project(Permission::Change)?,
            move |engine| {
                let id = apply_mark(engine, &id, mark, &by)?;
                let row = match as_what.as_str() {
                    "row" => Some(knowledge::row_of(engine, id, &of)?),
                    _ => None,
                };
                Ok((
                    id,
                    record_label::name(&engine.records().get(id)?),
                    (row, as_what),
                ))
            },
        )
        .await?;
    let undo = id.to_string();
    match row {
        (Some(row), _) => render(&RowUpdate {
            row,
            toast: Toast::of(&context, done_message(done), &undo),
        }),
        (None, as_what) if as_what == "line" => removed_row(&context, id, name, done),
        (None, _) => toast_and_refresh(&context, done, &undo),
    }
}

fn apply_mark(engine: &Engine, id: &str, mark: Mark, by: &str) -> Result<RecordId, Fault> {
    Ok(engine
        .records()
        .mark_as(engine.records().resolve_id(id)?, mark, by)?
        .id)
}

/// Renders the line that replaces a retired or kept record.
fn removed_row(
    context: &RequestContext,
    id: RecordId,
    name: String,
    done: &str,
) -> Result<Response, PageError> {
    let what = done_message(done);
    render(&RemovedRow {
        id: id.to_string(),
        toast: Toast::of(context, format!("{name}: {what}"), &id.to_string()),
        name,
        what: what.to_owned(),
    })
}

async fn retire(
    State(app): State<App>,
    context: RequestContext,
    Path(id): Path<String>,
    fields: FormFields,
) -> Result<Response, PageError> {
    let (id, name) = app
        .with_engine(
            context.resolve_project(Permission::Change)?,
            move |engine| {
                let id = engine.records().resolve_id(&id)?;
                let name = record_label::name(&engine.records().get(id)?);
                Ok((engine.records().forget(id)?, name))
            },
        )
        .await?;
    match (context.is_part, fields.get("as")) {
        (false, _) => Ok(redirect_back(
            &fields.return_path("/knowledge"),
            "retired",
            &id.to_string(),
        )),
        (true, "line") => removed_row(&context, id, name, "retired"),
        (true, _) => toast_and_refresh(&context, "retired", &id.to_string()),
    }
}

/// Restores an older version.
async fn restore(
    State(app): State<App>,
    context: RequestContext,
    Path(id): Path<String>,
    fields: FormFields,
) -> Result<Response, PageError> {
    let id = app
        .with_engine(
            context.resolve_project(Permission::Change)?,
            move |engine| {
                let id = engine.records().resolve_id(&id)?;
                engine.records().restore_record(id)?;
                Ok(id)
            },
        )
        .await?;
    match context.is_part {
        false => Ok(redirect_back(
            &fields.return_path("/knowledge"),
            "saved",
            &id.to_string(),
        )),
        true => toast_and_refresh(&context, "saved", &id.to_string()),
    }
}

async fn purge(
    State(app): State<App>,
    context: RequestContext,
    Path(id): Path<String>,
    fields: FormFields,
) -> Result<Response, PageError> {
    app.with_engine(
        context.resolve_project(Permission::Administer)?,
        move |engine| {
            let id = engine.records().resolve_id(&id)?;
            engine.maintenance().purge(&PurgeTarget::Records(vec![id]))
        },
    )
    .await?;
    match context.is_part {
        false => Ok(redirect_back(
            &fields.return_path("/knowledge"),
            "purged",
            "",
        )),
        true => toast_and_refresh(&context, "purged", ""),
    }
}

/// Undoes the last change of one or several records, the last record first.
async fn undo(
    State(app): State<App>,
    context: RequestContext,
    Path(ids): Path<String>,
    fields: FormFields,
) -> Result<Response, PageError> {
    let by = context.actor_name();
    let undone = app
        .with_engine(
            context.resolve_project(Permission::Change)?,
            move |engine| {
                let ids = ids.split(',').rev().take(limits::BULK_CHANGES_MAX);
                let undone = ids.map(|id| {
                    let id = engine.records().resolve_id(id)?;
                    engine.records().undo_as(id, &by)
                });
                undone.collect::<Result<Vec<_>, _>>()
            },
        )
        .await?;
    let again = undone.into_iter().map(|undone| redo_id(undone).to_string());
    let again = again.collect::<Vec<_>>().join(",");
    if !context.is_part {
        return Ok(redirect_back(&fields.return_path("/"), "undone", &again));
    }
    undone_toast(&context)
}

/// Answers an undo with a toast, and has the page reload.
pub(crate) fn undone_toast(context: &RequestContext) -> Result<Response, PageError> {
    let toast = Toast::of(context, done_message("undone"), "");
    let is_target = true;
    Ok(with_refresh_trigger(render(&ToastView {
        toast,
        is_target,
    })?))
}

/// Returns the record whose undo repeats the change.
fn redo_id(undone: UndoReport) -> RecordId {
    match undone {
        UndoReport::Restored { id, .. }
        | UndoReport::Uncreated { id }
        | UndoReport::Reopened { id, .. }
        | UndoReport::Resolved { id, .. }
        | UndoReport::Marked { id, .. } => id,
        UndoReport::Reversed { batch, .. } => batch,
    }
}
