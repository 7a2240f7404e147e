//! Review page: duplicates, stale and unused records; and the page of pinned and muted records.

use super::form_fields::FormFields;
use super::request_context::{redirect_back, times};
use super::view::knowledge::RemovedRow;
use super::view::review::{DuplicatePair, MarksView, ReviewRow, ReviewView};
use super::view::{Html, Times, diff, number, plural, render_text};
use super::{PageError, RequestContext, Shell, Toast, record_label, render};
use crate::App;
use axum::Router;
use axum::extract::{Query, State};
use axum::response::Response;
use axum::routing::{get, post};
use heirloom_engine::{Engine, Filter, LessonSource};
use heirloom_model::similarity::ComparableText;
use heirloom_model::{Fault, Kind, Mark, Permission, Record, RecordId, limits, mark, text};
use heirloom_search::recall::review::ReviewReport;
use serde::Deserialize;
use std::collections::HashMap;

/// Maximum number of entries that are reviewed without a request.
const AT_ONCE: u64 = 1_000;
/// Maximum number of rows in each section.
const ROWS: usize = 20;
/// Maximum number of records that are searched for muted ones.
const READ: usize = 2_000;

/// Query parameters.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
struct ReviewParams {
    look: Option<String>,
}

/// Returns the routes.
pub(super) fn routes() -> Router<App> {
    Router::new()
        .route("/review", get(show))
        .route("/review/pair", post(decide))
        .route("/marks", get(marks))
}

async fn show(
    State(app): State<App>,
    context: RequestContext,
    Query(params): Query<ReviewParams>,
) -> Result<Response, PageError> {
    let project = context.resolve_project(Permission::Read)?;
    let view = app.with_engine(project, move |engine| {
        load(engine, &context, params.look.is_some())
    });
    render(&view.await?)
}

fn load(engine: &Engine, context: &RequestContext, is_asked: bool) -> Result<ReviewView, Fault> {
    let shell = Shell::load(engine, context, "review", "Review")?;
    let counts = engine.records().counts()?;
    let compared = counts
        .iter()
        .filter(|(kind, _)| matches!(kind, Kind::Knowledge | Kind::Note));
    let compared: u64 = compared.map(|(_, n)| n).sum();
    let waits = compared > AT_ONCE && !is_asked;
    let found = match waits {
        true => ReviewReport::default(),
        false => engine.conflicts().review()?,
    };
    let records = records(engine, &found)?;
    let times = times(engine);
    let uses = engine
        .contexts()
        .delivery_counts(&records.keys().copied().collect::<Vec<_>>())?;
    let used = |id: RecordId| uses.get(&id).map_or(0, |used| used.count);
    let mut pairs: Vec<(RecordId, RecordId)> = Vec::new();
    for one in &found.duplicates {
        pairs.extend(one.others.iter().map(|other| (one.keep, *other)));
    }
    pairs.extend(&found.contradictions);
    let learned = engine.sessions().lessons().unreviewed(ROWS)?;
    let all = learned.len() + pairs.len() + found.stale.len() + found.unused.len();
    let rows = pairs.iter().take(ROWS);
    let rows = rows.filter_map(|(a, b)| {
        Some(duplicate_pair(
            records.get(a)?,
            records.get(b)?,
            &times,
            &used,
        ))
    });
    let pair_rows: Vec<_> = rows.collect();
    let stale = found.stale.iter().take(ROWS).filter_map(|one| {
        let why: Vec<_> = one
            .paths
            .iter()
            .map(|path| format!("`{path}` is gone"))
            .collect();
        Some(row(
            records.get(&one.id)?,
            render_text(&why.join(", ")),
            &times,
            used(one.id),
        ))
    });
    let unused = found.unused.iter().take(ROWS).filter_map(|id| {
        Some(row(
            records.get(id)?,
            render_text("in no context, never confirmed"),
            &times,
            used(*id),
        ))
    });
    Ok(ReviewView {
        headline: match (waits, all) {
            (true, _) => "Not checked yet.".to_owned(),
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
            ("Newly learned", "#l", learned.len()),
            ("Nearly the same", "#d", pairs.len()),
            ("Stale", "#s", found.stale.len()),
            ("Never used", "#n", found.unused.len()),
        ],
        more_pairs: pairs.len().saturating_sub(ROWS),
        learned: (learned.iter())
            .map(|record| learned_row(record, &times, used(record.id)))
            .collect(),
        pairs: pair_rows,
        stale: stale.collect(),
        unused: unused.collect(),
        shell,
    })
}

fn records(engine: &Engine, found: &ReviewReport) -> Result<HashMap<RecordId, Record>, Fault> {
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
    let found = engine
        .records()
        .find(&Filter::current(&[], engine.now()).ids(ids).limit(limit))?;
    Ok(found
        .into_iter()
        .map(|record| (record.id, record))
        .collect())
}

fn duplicate_pair(
    a: &Record,
    b: &Record,
    times: &Times,
    used: &dyn Fn(RecordId) -> u64,
) -> DuplicatePair {
    let (older, newer) = if a.recorded_at <= b.recorded_at {
        (a, b)
    } else {
        (b, a)
    };
    let overlap =
        ComparableText::from_text(&older.text).overlap(&ComparableText::from_text(&newer.text));
    let meta = |record: &Record| {
        format!(
            "{}, {}, {}",
            record_label::source_label(&record.source),
            times.day(record.recorded_at),
            uses_text(used(record.id))
        )
    };
    DuplicatePair {
        older: older.id.to_string(),
        newer: newer.id.to_string(),
        older_name: record_label::name(older),
        newer_name: record_label::name(newer),
        alike: format!("{:.0} % alike", overlap * 100.0),
        diff: diff(&older.text, &newer.text),
        older_meta: meta(older),
        newer_meta: meta(newer),
    }
}

fn uses_text(n: u64) -> String {
    plural(usize::try_from(n).unwrap_or(usize::MAX), "use", "uses")
}

fn row(record: &Record, why: Html, times: &Times, used: u64) -> ReviewRow {
    ReviewRow {
        id: record.id.to_string(),
        kind: record.kind.as_str(),
        href: record_label::href(record),
        name: record_label::name(record),
        words: record_label::text_html(record),
        why,
        meta: format!(
            "{}, {}, {}",
            record_label::source_label(&record.source),
            times.day(record.recorded_at),
            uses_text(used)
        ),
    }
}

/// Returns the row of a learned proposal, with its author and the first line that supports it.
fn learned_row(record: &Record, times: &Times, used: u64) -> ReviewRow {
    let source = LessonSource::of_record(record);
    let why = source.map_or_else(String::new, |source| {
        let line = source.evidence.first().map(|evidence| &*evidence.line);
        format!("from {}: {}", source.author(), line.unwrap_or_default())
    });
    row(record, render_text(&why), times, used)
}

/// Keeps one of two duplicates, or both.
async fn decide(
    State(app): State<App>,
    context: RequestContext,
    fields: FormFields,
) -> Result<Response, PageError> {
    let (older, newer) = (
        fields.get("older").to_owned(),
        fields.get("newer").to_owned(),
    );
    let keep = fields.get("keep").to_owned();
    let by = context.actor_name();
    let project = context.resolve_project(Permission::Change)?;
    let done = app.with_engine(project, move |engine| {
        let (older, newer) = (
            engine.records().resolve_id(&older)?,
            engine.records().resolve_id(&newer)?,
        );
        let name = |id| Ok::<_, Fault>(record_label::name(&engine.records().get(id)?));
        Ok(match keep.as_str() {
            "newer" => (
                name(older)?,
                "retired",
                engine.records().forget(older)?.to_string(),
            ),
            "older" => (
                name(newer)?,
                "retired",
                engine.records().forget(newer)?.to_string(),
            ),
            "both" => {
                engine.records().mark_as(older, Mark::Useful(true), &by)?;
                engine.records().mark_as(newer, Mark::Useful(true), &by)?;
                (name(older)?, "kept", format!("{older},{newer}"))
            }
            _ => return Err(Fault::usage("keep the newer, the older, or both")),
        })
    });
    let (name, done, undo) = done.await?;
    if !context.is_part {
        return Ok(redirect_back("/review", done, &undo));
    }
    let what = super::toast::done_message(done);
    render(&RemovedRow {
        id: undo.replace(',', "-"),
        toast: Toast::of(&context, format!("{name}: {what}"), &undo),
        name,
        what: what.to_owned(),
    })
}

async fn marks(State(app): State<App>, context: RequestContext) -> Result<Response, PageError> {
    let project = context.resolve_project(Permission::Read)?;
    let view = app.with_engine(project, move |engine| {
        let times = times(engine);
        let pinned = engine.records().find(&Filter {
            pinned: true,
            ..Filter::current(&[], engine.now()).limit(READ)
        })?;
        let newest = engine
            .records()
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
        let uses = engine.contexts().delivery_counts(&ids)?;
        let rows = |records: &[Record]| -> Vec<ReviewRow> {
            let used = |id| uses.get(&id).map_or(0, |used| used.count);
            let shown = records.iter().take(limits::FINDINGS_SHOWN_MAX.max(50));
            shown
                .map(|record| row(record, Html::default(), &times, used(record.id)))
                .collect()
        };
        Ok(MarksView {
            shell: Shell::load(engine, &context, "marks", "Pins and mutes")?,
            headline: format!(
                "{} pinned, {} muted.",
                number(pinned.len() as u64),
                text::replace_control_chars(&number(muted.len() as u64))
            ),
            pinned: rows(&pinned),
            muted: rows(&muted),
            is_whole,
        })
    });
    render(&view.await?)
}
