//! Page of pinned and muted records.

use super::request_context::times;
use super::view::marks::{MarkedRow, MarksView};
use super::view::{Times, number, plural};
use super::{PageError, RequestContext, Shell, record_label, render};
use crate::App;
use axum::Router;
use axum::extract::State;
use axum::response::Response;
use axum::routing::get;
use heirloom_engine::Filter;
use heirloom_model::{Kind, Permission, Record, RecordId, limits, mark, text};

/// Maximum number of records that are searched for muted ones.
const READ: usize = 2_000;

/// Returns the routes.
pub(super) fn routes() -> Router<App> {
    Router::new().route("/marks", get(marks))
}

fn row(record: &Record, times: &Times, used: u64) -> MarkedRow {
    let used = usize::try_from(used).unwrap_or(usize::MAX);
    MarkedRow {
        id: record.id.to_string(),
        kind: record.kind.as_str(),
        href: record_label::href(record),
        name: record_label::name(record),
        words: record_label::text_html(record),
        meta: format!(
            "{}, {}, {}",
            record_label::source_label(&record.source),
            times.day(record.recorded_at),
            plural(used, "use", "uses")
        ),
    }
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
        let rows = |records: &[Record]| -> Vec<MarkedRow> {
            let used = |id| uses.get(&id).map_or(0, |used| used.count);
            let shown = records.iter().take(limits::MARKED_ROWS_SHOWN_MAX);
            shown
                .map(|record| row(record, &times, used(record.id)))
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
