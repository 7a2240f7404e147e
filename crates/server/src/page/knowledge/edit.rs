//! Creation and correction of knowledge.

use super::rows::row_of;
use crate::App;
use crate::page::form_fields::FormFields;
use crate::page::request_context::{redirect_back, times};
use crate::page::toast::{done_message, toast_and_refresh};
use crate::page::view::knowledge::{EditConflictView, RowUpdate};
use crate::page::view::{diff, render_text};
use crate::page::{
    PageError, RequestContext, Shell, Toast, record_label, render, render_with_status,
};
use axum::extract::{Path, State};
use axum::http::{HeaderValue, StatusCode};
use axum::response::Response;
use heirloom_engine::{Engine, NewRecord, Revision, RevisionReport};
use heirloom_model::{Confidence, Fault, Permission, RecordId, Timestamp, civil, tz};

/// Source of entries that are written on the page.
const USER: &str = "user";

/// Creates an entry with the user as its source.
pub(super) async fn create(
    State(app): State<App>,
    context: RequestContext,
    fields: FormFields,
) -> Result<Response, PageError> {
    let new = NewRecord {
        text: fields.get("text").to_owned(),
        key: fields.non_empty("key"),
        category: fields.non_empty("category"),
        rationale: fields.non_empty("rationale"),
        source: Some(USER.to_owned()),
        ..NewRecord::default()
    };
    let id = app
        .with_engine(
            context.resolve_project(Permission::Change)?,
            move |engine| Ok(engine.records().remember(new)?.id),
        )
        .await?;
    match context.is_part {
        false => Ok(redirect_back("/knowledge", "created", &id.to_string())),
        true => toast_and_refresh(&context, "created", &id.to_string()),
    }
}

/// Result of saving an entry.
enum SaveOutcome {
    Row(Box<crate::page::view::knowledge::KnowledgeRow>),
    Same(Box<crate::page::view::knowledge::KnowledgeRow>),
    Overtaken(Box<EditConflictView>),
}

/// Updates an entry with optimistic concurrency: rejects a stale version.
pub(super) async fn save(
    State(app): State<App>,
    context: RequestContext,
    Path(id): Path<String>,
    fields: FormFields,
) -> Result<Response, PageError> {
    let revision = Revision {
        text: fields.get("text").to_owned(),
        category: fields.non_empty("category"),
        confidence: parse_confidence(fields.get("confidence"))?,
        true_from: parse_time(fields.get("true_from"))?,
    };
    let to = fields.return_path("/knowledge");
    let of = context.clone();
    let saved = app.with_engine(
        context.resolve_project(Permission::Change)?,
        move |engine| {
            let id = engine.records().resolve_id(&id)?;
            save_in(engine, &of, id, &revision, &fields)
        },
    );
    let (row, done) = match saved.await? {
        SaveOutcome::Overtaken(view) => {
            let mut response = render_with_status(StatusCode::CONFLICT, &*view)?;
            let part = HeaderValue::from_static("#overtaken");
            response.headers_mut().insert("hx-reselect", part);
            return Ok(response);
        }
        SaveOutcome::Row(row) => (row, "saved"),
        SaveOutcome::Same(row) => (row, "unchanged"),
    };
    let undo = if done == "saved" {
        row.id.clone()
    } else {
        String::new()
    };
    if !context.is_part {
        return Ok(redirect_back(&to, done, &undo));
    }
    render(&RowUpdate {
        row: *row,
        toast: Toast::of(&context, done_message(done), &undo),
    })
}

fn save_in(
    engine: &Engine,
    context: &RequestContext,
    id: RecordId,
    revision: &Revision,
    fields: &FormFields,
) -> Result<SaveOutcome, Fault> {
    let revision = &with_confidence(engine, id, revision)?;
    Ok(match engine.records().revise(id, revision, USER)? {
        RevisionReport::Done(applied) => {
            SaveOutcome::Row(Box::new(row_of(engine, applied.id, context)?))
        }
        RevisionReport::Same => SaveOutcome::Same(Box::new(row_of(engine, id, context)?)),
        RevisionReport::Stale(None) => {
            return Err(
                Fault::failed("the entry was retired while you were editing")
                    .hint("open its history to see by whom, and to restore it"),
            );
        }
        RevisionReport::Stale(Some(current)) => {
            let times = times(engine);
            let names = ["text", "category", "confidence", "true_from", "csrf"];
            let again = names.map(|name| (name.to_owned(), fields.raw(name).to_owned()));
            let name = record_label::name(&current);
            SaveOutcome::Overtaken(Box::new(EditConflictView {
                shell: Shell::load(engine, context, "knowledge", "Two versions")?,
                what: match current.source == USER {
                    true => "You saved this in another tab.".to_owned(),
                    false => format!(
                        "{name} was changed by {} while you were editing.",
                        record_label::source_label(&current.source)
                    ),
                },
                name,
                action: format!("/knowledge/{}", current.id),
                theirs: render_text(&current.text),
                theirs_meta: format!(
                    "{}, {}",
                    record_label::source_label(&current.source),
                    times.full(current.recorded_at)
                ),
                mine: render_text(&revision.text),
                diff: diff(&current.text, &revision.text),
                is_line_diff: false,
                draft: format!("/knowledge/{id}"),
                fields: again.to_vec(),
                list: fields.return_path("/knowledge"),
            }))
        }
    })
}

/// Returns the revision with the confidence of a form that leaves it empty: that of a new entry of the user if
/// something else changes, otherwise the stored one.
fn with_confidence(engine: &Engine, id: RecordId, revision: &Revision) -> Result<Revision, Fault> {
    let mut revision = revision.clone();
    if revision.confidence.is_none() {
        let known = engine.records().get(id)?;
        let is_same = revision.text == known.text.trim()
            && (revision.category.is_none() || revision.category.as_deref() == known.category())
            && revision.true_from == known.true_from;
        let confidence = match is_same {
            true => known.confidence,
            false => Confidence::of_source(USER),
        };
        revision.confidence = Some(confidence.get());
    }
    Ok(revision)
}

fn parse_confidence(given: &str) -> Result<Option<f64>, Fault> {
    match given {
        "" => Ok(None),
        given => given.parse().map(Some).map_err(|_| {
            Fault::usage("the confidence is not a number").hint("0 = a guess, 1 = certain")
        }),
    }
}

/// Parses a time, or a date as its midnight in UTC.
fn parse_time(given: &str) -> Result<Option<Timestamp>, Fault> {
    if given.is_empty() {
        return Ok(None);
    }
    if let Ok(at) = given.parse::<Timestamp>() {
        return Ok(Some(at));
    }
    let day: Option<civil::Date> = given.parse().ok();
    let start = day.and_then(|day| day.to_zoned(tz::TimeZone::UTC).ok());
    let start = start.map(|day| day.timestamp());
    start.map(Some).ok_or_else(|| {
        Fault::usage("`true from` is not a date").hint("write it as 2026-05-01, or leave it empty")
    })
}
