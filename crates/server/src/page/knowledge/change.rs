//! Saying something new, and correcting what is there.

use super::rows::row_of;
use crate::App;
use crate::page::fields::Fields;
use crate::page::look::{back, times};
use crate::page::records::told_and_changed;
use crate::page::shell::{Shell, Toast, done_words};
use crate::page::view::knowledge::{Answer, Overtaken};
use crate::page::view::said;
use crate::page::{Look, Wrong, answer, html, told};
use axum::extract::{Path, State};
use axum::http::{HeaderValue, StatusCode};
use axum::response::Response;
use heirloom_engine::{Engine, NewRecord, Revised, Revision};
use heirloom_model::{Deed, Fault, RecordId, Timestamp, civil, tz};

/// Remembers something new, said by the person.
pub(super) async fn create(
    State(app): State<App>,
    look: Look,
    fields: Fields,
) -> Result<Response, Wrong> {
    let new = NewRecord {
        text: fields.get("text").to_owned(),
        key: fields.some("key"),
        category: fields.some("category"),
        rationale: fields.some("rationale"),
        source: Some("user".to_owned()),
        ..NewRecord::default()
    };
    let id = app
        .ask(look.project(Deed::Change)?, move |engine| {
            Ok(engine.remember(new)?.id)
        })
        .await?;
    match look.is_part {
        false => Ok(back("/knowledge", "created", &id.to_string())),
        true => told_and_changed(&look, "created", &id.to_string()),
    }
}

/// What came of saving.
enum Saved {
    Row(Box<crate::page::view::knowledge::Row>),
    Same(Box<crate::page::view::knowledge::Row>),
    Overtaken(Box<Overtaken>),
}

/// Corrects an entry, by whoever saw it as it is.
pub(super) async fn save(
    State(app): State<App>,
    look: Look,
    Path(id): Path<String>,
    fields: Fields,
) -> Result<Response, Wrong> {
    let revision = Revision {
        text: fields.get("text").to_owned(),
        category: fields.some("category"),
        confidence: confidence(fields.get("confidence"))?,
        true_from: time(fields.get("true_from"))?,
    };
    let to = fields.back("/knowledge");
    let of = look.clone();
    let saved = app.ask(look.project(Deed::Change)?, move |engine| {
        let id = engine.resolve_id(&id)?;
        save_in(engine, &of, id, &revision, &fields)
    });
    let (row, done) = match saved.await? {
        Saved::Overtaken(view) => {
            let mut response = answer(StatusCode::CONFLICT, &*view)?;
            let part = HeaderValue::from_static("#overtaken");
            response.headers_mut().insert("hx-reselect", part);
            return Ok(response);
        }
        Saved::Row(row) => (row, "saved"),
        Saved::Same(row) => (row, "unchanged"),
    };
    let undo = if done == "saved" {
        row.id.clone()
    } else {
        String::new()
    };
    if !look.is_part {
        return Ok(back(&to, done, &undo));
    }
    html(&Answer {
        row: *row,
        toast: Toast::of(&look, done_words(done), &undo),
    })
}

fn save_in(
    engine: &Engine,
    look: &Look,
    id: RecordId,
    revision: &Revision,
    fields: &Fields,
) -> Result<Saved, Fault> {
    Ok(match engine.revise(id, revision, "user")? {
        Revised::Done(applied) => Saved::Row(Box::new(row_of(engine, applied.id, look)?)),
        Revised::Same => Saved::Same(Box::new(row_of(engine, id, look)?)),
        Revised::Overtaken(None) => {
            return Err(Fault::failed("the entry was retired while you wrote")
                .hint("its history shows who did it; bring it back there"));
        }
        Revised::Overtaken(Some(current)) => {
            let times = times(engine);
            let names = ["text", "category", "confidence", "true_from", "csrf"];
            let again = names.map(|name| (name.to_owned(), fields.raw(name).to_owned()));
            Saved::Overtaken(Box::new(Overtaken {
                shell: Shell::load(engine, look, "knowledge", "Two versions")?,
                name: told::name(&current),
                action: format!("/knowledge/{}", current.id),
                theirs: said(&current.text),
                theirs_meta: format!(
                    "{}, {}",
                    told::who(&current.source),
                    times.full(current.recorded_at)
                ),
                mine: said(&revision.text),
                fields: again.to_vec(),
                list: "/knowledge".to_owned(),
            }))
        }
    })
}

fn confidence(said: &str) -> Result<Option<f64>, Fault> {
    match said {
        "" => Ok(None),
        said => said.parse().map(Some).map_err(|_| {
            Fault::usage("the confidence is no number").hint("0 = a guess, 1 = certain")
        }),
    }
}

/// A moment, or the beginning of a day.
fn time(said: &str) -> Result<Option<Timestamp>, Fault> {
    if said.is_empty() {
        return Ok(None);
    }
    if let Ok(at) = said.parse::<Timestamp>() {
        return Ok(Some(at));
    }
    let day: Option<civil::Date> = said.parse().ok();
    let start = day.and_then(|day| day.to_zoned(tz::TimeZone::UTC).ok());
    let start = start.map(|day| day.timestamp());
    start.map(Some).ok_or_else(|| {
        Fault::usage("`true from` is no day").hint("write it as 2026-05-01, or leave it empty")
    })
}
