//! Decisions about items of the inbox: one item, a pair, or a selection.

use crate::App;
use crate::page::form_fields::FormFields;
use crate::page::request_context::redirect_back;
use crate::page::toast::{done_message, toast_and_refresh};
use crate::page::view::knowledge::RemovedRow;
use crate::page::{PageError, RequestContext, Toast, record_label, render};
use axum::extract::{Path, State};
use axum::response::Response;
use heirloom_engine::{Engine, TaskChange};
use heirloom_model::{Fault, Mark, Permission, Record, RecordId, limits};

/// Decides about one item.
pub(super) async fn decide(
    State(app): State<App>,
    context: RequestContext,
    Path(id): Path<String>,
    fields: FormFields,
) -> Result<Response, PageError> {
    let choice = fields.get("choice").to_owned();
    let by = context.actor_name();
    let project = context.resolve_project(permission_for(&choice))?;
    let done = app.with_engine(project, move |engine| {
        let record = engine.records().get(engine.records().resolve_id(&id)?)?;
        let (id, done) = apply(engine, &record, &choice, &by)?;
        Ok((id, record_label::name(&record), done))
    });
    let (id, name, done) = done.await?;
    answer(&context, &id.to_string(), name, done)
}

/// Returns the permission that a decision requires: to accept means to decide for a person.
fn permission_for(choice: &str) -> Permission {
    match choice {
        "accept" => Permission::Decide,
        _ => Permission::Change,
    }
}

/// Applies a decision; returns the changed record and the word for it.
fn apply(
    engine: &Engine,
    record: &Record,
    choice: &str,
    by: &str,
) -> Result<(RecordId, &'static str), Fault> {
    let is_proposal = record.is_pending_proposal();
    match choice {
        "accept" if is_proposal => Ok((
            engine.records().proposals().accept(record.id)?.id,
            "accepted",
        )),
        "accept" | "keep" => {
            let marked = engine
                .records()
                .mark_as(record.id, Mark::Useful(true), by)?;
            Ok((marked.id, "kept"))
        }
        "reject" if is_proposal => Ok((
            engine.records().proposals().reject(record.id, by)?,
            "rejected",
        )),
        "reject" | "retire" => Ok((engine.records().forget_as(record.id, by)?, "retired")),
        "unblock" => {
            let task = record.key.as_deref().unwrap_or_default();
            let change = TaskChange {
                blocked_reason: Some(String::new()),
                ..TaskChange::default()
            };
            Ok((engine.tasks().set(task, &change, by)?.id, "unblocked"))
        }
        _ => Err(Fault::usage(
            "choose accept, reject, keep, retire or unblock",
        )),
    }
}

/// Decides about a selection; one undo reverts all decisions.
pub(super) async fn decide_many(
    State(app): State<App>,
    context: RequestContext,
    fields: FormFields,
) -> Result<Response, PageError> {
    let choice = fields.get("choice").to_owned();
    let ids: Vec<String> = fields.values("id").map(str::to_owned).collect();
    if ids.is_empty() {
        return Err(Fault::usage("no item is selected").into());
    }
    if ids.len() > limits::BULK_CHANGES_MAX {
        let what = format!(
            "{} items are selected; the limit is {}",
            ids.len(),
            limits::BULK_CHANGES_MAX
        );
        return Err(Fault::usage(what).into());
    }
    let by = context.actor_name();
    let project = context.resolve_project(permission_for(&choice))?;
    let done = app.with_engine(project, move |engine| {
        // All ids are checked before the first change.
        let mut records = Vec::new();
        for id in &ids {
            records.push(engine.records().get(engine.records().resolve_id(id)?)?);
        }
        let mut changed = Vec::new();
        for record in &records {
            changed.push(apply(engine, record, &choice, &by)?.0.to_string());
        }
        Ok(changed)
    });
    let changed = done.await?.join(",");
    match context.is_part {
        false => Ok(redirect_back("/inbox", "decided", &changed)),
        true => toast_and_refresh(&context, "decided", &changed),
    }
}

/// Keeps one of two duplicates, or both.
pub(super) async fn decide_pair(
    State(app): State<App>,
    context: RequestContext,
    fields: FormFields,
) -> Result<Response, PageError> {
    let given = |name: &str| fields.get(name).to_owned();
    let (older, newer, keep) = (given("older"), given("newer"), given("keep"));
    let by = context.actor_name();
    let project = context.resolve_project(Permission::Change)?;
    let done = app.with_engine(project, move |engine| {
        let records = engine.records();
        let (older, newer) = (records.resolve_id(&older)?, records.resolve_id(&newer)?);
        let name = |id| Ok::<_, Fault>(record_label::name(&records.get(id)?));
        Ok(match keep.as_str() {
            "newer" => (name(older)?, "retired", records.forget(older)?.to_string()),
            "older" => (name(newer)?, "retired", records.forget(newer)?.to_string()),
            "both" => {
                records.mark_as(older, Mark::Useful(true), &by)?;
                records.mark_as(newer, Mark::Useful(true), &by)?;
                (name(older)?, "kept", format!("{older},{newer}"))
            }
            _ => return Err(Fault::usage("keep the newer, the older, or both")),
        })
    });
    let (name, done, undo) = done.await?;
    answer(&context, &undo, name, done)
}

/// Answers a decision: the line that replaces the row, or a redirect to the inbox.
fn answer(
    context: &RequestContext,
    undo: &str,
    name: String,
    done: &'static str,
) -> Result<Response, PageError> {
    if !context.is_part {
        return Ok(redirect_back("/inbox", done, undo));
    }
    let what = done_message(done);
    render(&RemovedRow {
        id: undo.replace(',', "-"),
        toast: Toast::of(context, format!("{name}: {what}"), undo),
        name,
        what: what.to_owned(),
    })
}
