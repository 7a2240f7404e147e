//! What can be done to any record: mark, retire, bring back, purge, undo.

use super::fields::Fields;
use super::look::back;
use super::shell::done_words;
use super::view::knowledge::{Answer, Gone, ToastOnly};
use super::{Look, Toast, Wrong, html, knowledge, told};
use crate::App;
use axum::Router;
use axum::extract::{Path, State};
use axum::http::HeaderValue;
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::{get, post};
use heirloom_engine::{Engine, Selection, Undone};
use heirloom_model::{Deed, Fault, Mark, RecordId};

/// Their addresses.
pub(super) fn routes() -> Router<App> {
    Router::new()
        .route("/records/{id}", get(find))
        .route("/records/{id}/mark", post(mark))
        .route("/records/{id}/retire", post(retire))
        .route("/records/{id}/restore", post(restore))
        .route("/records/{id}/purge", post(purge))
        .route("/undo/{id}", post(undo))
}

/// Leads to the page of a record.
async fn find(
    State(app): State<App>,
    look: Look,
    Path(id): Path<String>,
) -> Result<Response, Wrong> {
    let to = app.ask(look.project(Deed::Read)?, move |engine| {
        let record = engine.get(engine.resolve_id(&id)?)?;
        Ok(match told::href(&record) {
            to if to.starts_with("/records/") => format!("/knowledge/{}", record.id),
            to => to,
        })
    });
    Ok(Redirect::to(&to.await?).into_response())
}

/// What the script of the page does behind an answer: asks for the page anew.
pub(crate) fn changed(mut response: Response) -> Response {
    response
        .headers_mut()
        .insert("hx-trigger", HeaderValue::from_static("heirloom:changed"));
    response
}

/// Answers a change that the page shows by asking for itself anew.
pub(crate) fn told_and_changed(look: &Look, done: &str, undo: &str) -> Result<Response, Wrong> {
    let toast = Toast::of(look, done_words(done), undo);
    let is_target = false;
    Ok(changed(html(&ToastOnly { toast, is_target })?))
}

async fn mark(
    State(app): State<App>,
    look: Look,
    Path(id): Path<String>,
    fields: Fields,
) -> Result<Response, Wrong> {
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
    let to = fields.back("/knowledge");
    let by = look.name();
    if !look.is_part {
        let id = app
            .ask(look.project(Deed::Change)?, move |engine| {
                marked(engine, &id, mark, &by)
            })
            .await?;
        return Ok(back(&to, done, &id.to_string()));
    }
    let as_what = fields.get("as").to_owned();
    let of = look.clone();
    let (id, name, row) = app
        .ask(look.project(Deed::Change)?, move |engine| {
            let id = marked(engine, &id, mark, &by)?;
            let row = match as_what.as_str() {
                "row" => Some(knowledge::row_of(engine, id, &of)?),
                _ => None,
            };
            Ok((id, told::name(&engine.get(id)?), (row, as_what)))
        })
        .await?;
    let undo = id.to_string();
    match row {
        (Some(row), _) => html(&Answer {
            row,
            toast: Toast::of(&look, done_words(done), &undo),
        }),
        (None, as_what) if as_what == "line" => gone(&look, id, name, done),
        (None, _) => told_and_changed(&look, done, &undo),
    }
}

fn marked(engine: &Engine, id: &str, mark: Mark, by: &str) -> Result<RecordId, Fault> {
    Ok(engine.mark_for(engine.resolve_id(id)?, mark, by)?.id)
}

/// The line that stands where something was retired or kept.
fn gone(look: &Look, id: RecordId, name: String, done: &str) -> Result<Response, Wrong> {
    let what = done_words(done);
    html(&Gone {
        id: id.to_string(),
        toast: Toast::of(look, format!("{name}: {what}"), &id.to_string()),
        name,
        what: what.to_owned(),
    })
}

async fn retire(
    State(app): State<App>,
    look: Look,
    Path(id): Path<String>,
    fields: Fields,
) -> Result<Response, Wrong> {
    let (id, name) = app
        .ask(look.project(Deed::Change)?, move |engine| {
            let id = engine.resolve_id(&id)?;
            let name = told::name(&engine.get(id)?);
            Ok((engine.forget(id)?, name))
        })
        .await?;
    match (look.is_part, fields.get("as")) {
        (false, _) => Ok(back(&fields.back("/knowledge"), "retired", &id.to_string())),
        (true, "line") => gone(&look, id, name, "retired"),
        (true, _) => told_and_changed(&look, "retired", &id.to_string()),
    }
}

/// Brings an older version back, whatever holds now.
async fn restore(
    State(app): State<App>,
    look: Look,
    Path(id): Path<String>,
    fields: Fields,
) -> Result<Response, Wrong> {
    let id = app
        .ask(look.project(Deed::Change)?, move |engine| {
            let id = engine.resolve_id(&id)?;
            engine.bring_back(id)?;
            Ok(id)
        })
        .await?;
    match look.is_part {
        false => Ok(back(&fields.back("/knowledge"), "saved", &id.to_string())),
        true => told_and_changed(&look, "saved", &id.to_string()),
    }
}

async fn purge(
    State(app): State<App>,
    look: Look,
    Path(id): Path<String>,
    fields: Fields,
) -> Result<Response, Wrong> {
    app.ask(look.project(Deed::Administer)?, move |engine| {
        let id = engine.resolve_id(&id)?;
        engine.purge(&Selection::Records(vec![id]))
    })
    .await?;
    match look.is_part {
        false => Ok(back(&fields.back("/knowledge"), "purged", "")),
        true => told_and_changed(&look, "purged", ""),
    }
}

/// Takes the last thing back that happened to one record or to several, the last of them first.
async fn undo(
    State(app): State<App>,
    look: Look,
    Path(ids): Path<String>,
    fields: Fields,
) -> Result<Response, Wrong> {
    let by = look.name();
    let last = app
        .ask(look.project(Deed::Change)?, move |engine| {
            let mut last = None;
            for id in ids.split(',').rev().take(UNDONE_MAX) {
                last = Some(engine.undo_for(engine.resolve_id(id)?, &by)?);
            }
            Ok(last)
        })
        .await?;
    let again = last.map_or_else(String::new, |undone| undone_id(undone).to_string());
    if !look.is_part {
        return Ok(back(&fields.back("/"), "undone", &again));
    }
    undone(&look)
}

/// Says that something was taken back; the page asks for itself anew.
pub(crate) fn undone(look: &Look) -> Result<Response, Wrong> {
    let toast = Toast::of(look, done_words("undone"), "");
    let is_target = true;
    Ok(changed(html(&ToastOnly { toast, is_target })?))
}

/// Records that one undo takes back at most.
const UNDONE_MAX: usize = 20;

/// The record whose undoing does it again.
fn undone_id(undone: Undone) -> RecordId {
    match undone {
        Undone::Restored { id, .. }
        | Undone::Uncreated { id }
        | Undone::Reopened { id, .. }
        | Undone::Resolved { id, .. }
        | Undone::Marked { id, .. } => id,
        Undone::Reversed { batch, .. } => batch,
    }
}
