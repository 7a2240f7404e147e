//! Review: what should go, and what people said to carry and to leave out.

use super::fields::Fields;
use super::look::{back, times};
use super::view::knowledge::Gone;
use super::view::review::{Marks, One, Pair, View};
use super::view::{Html, Times, diff, number, plural, said};
use super::{Look, Shell, Toast, Wrong, html, told};
use crate::App;
use axum::Router;
use axum::extract::{Query, State};
use axum::response::Response;
use axum::routing::{get, post};
use heirloom_engine::recall::review::Review;
use heirloom_engine::{Engine, Filter};
use heirloom_model::likeness::Likeness;
use heirloom_model::{Deed, Fault, Kind, Mark, Record, RecordId, limits, mark, text};
use serde::Deserialize;
use std::collections::HashMap;

/// Entries that are looked through without being asked.
const AT_ONCE: u64 = 1_000;
/// Rows of each section.
const ROWS: usize = 20;
/// Records that are looked through for mutes.
const READ: usize = 2_000;

/// What the address asks for.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
struct Asked {
    look: Option<String>,
}

/// Their addresses.
pub(super) fn routes() -> Router<App> {
    Router::new()
        .route("/review", get(show))
        .route("/review/pair", post(decide))
        .route("/marks", get(marks))
}

async fn show(
    State(app): State<App>,
    look: Look,
    Query(asked): Query<Asked>,
) -> Result<Response, Wrong> {
    let project = look.project(Deed::Read)?;
    let view = app.ask(project, move |engine| {
        load(engine, &look, asked.look.is_some())
    });
    html(&view.await?)
}

fn load(engine: &Engine, look: &Look, is_asked: bool) -> Result<View, Fault> {
    let shell = Shell::load(engine, look, "review", "Review")?;
    let counts = engine.counts()?;
    let compared = counts
        .iter()
        .filter(|(kind, _)| matches!(kind, Kind::Knowledge | Kind::Note));
    let compared: u64 = compared.map(|(_, n)| n).sum();
    let waits = compared > AT_ONCE && !is_asked;
    let found = match waits {
        true => Review::default(),
        false => engine.review()?,
    };
    let records = records(engine, &found)?;
    let times = times(engine);
    let uses = engine.uses(&records.keys().copied().collect::<Vec<_>>())?;
    let used = |id: RecordId| uses.get(&id).map_or(0, |used| used.times);
    let mut pairs: Vec<(RecordId, RecordId)> = Vec::new();
    for one in &found.duplicates {
        pairs.extend(one.others.iter().map(|other| (one.keep, *other)));
    }
    pairs.extend(&found.contradictions);
    let all = pairs.len() + found.stale.len() + found.unused.len();
    let rows = pairs.iter().take(ROWS);
    let rows =
        rows.filter_map(|(a, b)| Some(pair(records.get(a)?, records.get(b)?, &times, &used)));
    let pair_rows: Vec<_> = rows.collect();
    let stale = found.stale.iter().take(ROWS).filter_map(|one| {
        let why: Vec<_> = one
            .paths
            .iter()
            .map(|path| format!("`{path}` is gone"))
            .collect();
        Some(row(
            records.get(&one.id)?,
            said(&why.join(", ")),
            &times,
            used(one.id),
        ))
    });
    let unused = found.unused.iter().take(ROWS).filter_map(|id| {
        Some(row(
            records.get(id)?,
            said("in no context, never confirmed"),
            &times,
            used(*id),
        ))
    });
    Ok(View {
        headline: match (waits, all) {
            (true, _) => "Not looked through yet.".to_owned(),
            (false, 0) => "Nothing wants a second look.".to_owned(),
            (false, n) => format!("{} a second look.", plural(n, "thing wants", "things want")),
        },
        to_look: match waits {
            true => format!(
                "{} entries",
                number(compared.min(limits::REVIEW_RECORDS_MAX as u64))
            ),
            false => String::new(),
        },
        parts: vec![
            ("Nearly the same", "#d", pairs.len()),
            ("Stale", "#s", found.stale.len()),
            ("Never used", "#n", found.unused.len()),
        ],
        more_pairs: pairs.len().saturating_sub(ROWS),
        pairs: pair_rows,
        stale: stale.collect(),
        unused: unused.collect(),
        shell,
    })
}

fn records(engine: &Engine, found: &Review) -> Result<HashMap<RecordId, Record>, Fault> {
    let mut ids: Vec<RecordId> = Vec::new();
    for one in found.duplicates.iter().take(ROWS) {
        ids.push(one.keep);
        ids.extend(one.others.iter().take(ROWS));
    }
    for (a, b) in found.contradictions.iter().take(ROWS) {
        ids.extend([*a, *b]);
    }
    ids.extend(found.stale.iter().take(ROWS).map(|one| one.id));
    ids.extend(found.unused.iter().take(ROWS));
    if ids.is_empty() {
        return Ok(HashMap::new());
    }
    let limit = ids.len();
    let found = engine.find(&Filter::current(&[], engine.now()).ids(ids).limit(limit))?;
    Ok(found
        .into_iter()
        .map(|record| (record.id, record))
        .collect())
}

fn pair(a: &Record, b: &Record, times: &Times, used: &dyn Fn(RecordId) -> u64) -> Pair {
    let (older, newer) = if a.recorded_at <= b.recorded_at {
        (a, b)
    } else {
        (b, a)
    };
    let overlap = Likeness::of(&older.text).overlap(&Likeness::of(&newer.text));
    let meta = |record: &Record| {
        format!(
            "{}, {}, {}",
            told::who(&record.source),
            times.day(record.recorded_at),
            uses(used(record.id))
        )
    };
    Pair {
        older: older.id.to_string(),
        newer: newer.id.to_string(),
        older_name: told::name(older),
        newer_name: told::name(newer),
        alike: format!("{:.0} % alike", overlap * 100.0),
        diff: diff(&older.text, &newer.text),
        older_meta: meta(older),
        newer_meta: meta(newer),
    }
}

fn uses(n: u64) -> String {
    plural(usize::try_from(n).unwrap_or(usize::MAX), "use", "uses")
}

fn row(record: &Record, why: Html, times: &Times, used: u64) -> One {
    One {
        id: record.id.to_string(),
        kind: record.kind.as_str(),
        href: told::href(record),
        name: told::name(record),
        words: told::words(record),
        why,
        meta: format!(
            "{}, {}, {}",
            told::who(&record.source),
            times.day(record.recorded_at),
            uses(used)
        ),
    }
}

/// Keeps one of two, or both.
async fn decide(State(app): State<App>, look: Look, fields: Fields) -> Result<Response, Wrong> {
    let (older, newer) = (
        fields.get("older").to_owned(),
        fields.get("newer").to_owned(),
    );
    let keep = fields.get("keep").to_owned();
    let by = look.name();
    let project = look.project(Deed::Change)?;
    let done = app.ask(project, move |engine| {
        let (older, newer) = (engine.resolve_id(&older)?, engine.resolve_id(&newer)?);
        let name = |id| Ok::<_, Fault>(told::name(&engine.get(id)?));
        Ok(match keep.as_str() {
            "newer" => (name(older)?, "retired", engine.forget(older)?.to_string()),
            "older" => (name(newer)?, "retired", engine.forget(newer)?.to_string()),
            "both" => {
                engine.mark_for(older, Mark::Useful(true), &by)?;
                engine.mark_for(newer, Mark::Useful(true), &by)?;
                (name(older)?, "kept", format!("{older},{newer}"))
            }
            _ => return Err(Fault::usage("keep the newer, the older, or both")),
        })
    });
    let (name, done, undo) = done.await?;
    if !look.is_part {
        return Ok(back("/review", done, &undo));
    }
    let what = super::shell::done_words(done);
    html(&Gone {
        id: undo.replace(',', "-"),
        toast: Toast::of(&look, format!("{name}: {what}"), &undo),
        name,
        what: what.to_owned(),
    })
}

async fn marks(State(app): State<App>, look: Look) -> Result<Response, Wrong> {
    let project = look.project(Deed::Read)?;
    let view = app.ask(project, move |engine| {
        let times = times(engine);
        let pinned = engine.find(&Filter {
            pinned: true,
            ..Filter::current(&[], engine.now()).limit(READ)
        })?;
        let newest = engine
            .find(&Filter::current(&[Kind::Knowledge, Kind::Note], engine.now()).limit(READ))?;
        let is_whole = newest.len() < READ;
        let muted: Vec<_> = newest
            .into_iter()
            .filter(|record| mark::is_muted(&record.attrs))
            .collect();
        let ids: Vec<RecordId> = pinned
            .iter()
            .chain(&muted)
            .map(|record| record.id)
            .collect();
        let uses = engine.uses(&ids)?;
        let rows = |records: &[Record]| -> Vec<One> {
            let used = |id| uses.get(&id).map_or(0, |used| used.times);
            let shown = records.iter().take(limits::FINDINGS_SHOWN_MAX.max(50));
            shown
                .map(|record| row(record, Html::default(), &times, used(record.id)))
                .collect()
        };
        Ok(Marks {
            shell: Shell::load(engine, &look, "marks", "Pins and mutes")?,
            headline: format!(
                "{} pinned, {} muted.",
                number(pinned.len() as u64),
                text::printable(&number(muted.len() as u64))
            ),
            pinned: rows(&pinned),
            muted: rows(&muted),
            is_whole,
        })
    });
    html(&view.await?)
}
