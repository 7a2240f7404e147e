//! Command palette: jumps to a page, record or project by a few letters.

use super::request_context::times;
use super::view::command_palette::{PaletteItem, PaletteView};
use super::{PageError, RequestContext, Shell, record_label, render};
use crate::App;
use axum::extract::{Query, State};
use axum::response::{IntoResponse, Redirect, Response};
use heirloom_engine::{Engine, Filter, QuerySyntax, RecallRequest};
use heirloom_model::{Fault, Kind, Permission, Record, text};
use heirloom_search::recall::RecallItem;
use serde::Deserialize;

/// Maximum number of offered records.
const OFFERED: usize = 7;

/// Query parameters.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(super) struct PaletteQuery {
    q: String,
}

/// Lists the matches for the typed letters. Without htmx it redirects to recall.
pub(super) async fn show(
    State(app): State<App>,
    context: RequestContext,
    Query(params): Query<PaletteQuery>,
) -> Result<Response, PageError> {
    if !context.is_part {
        let to = format!(
            "/recall?q={}",
            record_label::percent_encode(params.q.trim())
        );
        return Ok(Redirect::to(&to).into_response());
    }
    let project = context.resolve_project(Permission::Read)?;
    let found = app.with_engine(project, move |engine| {
        load(engine, &context, params.q.trim())
    });
    render(&found.await?)
}

fn load(engine: &Engine, context: &RequestContext, q: &str) -> Result<PaletteView, Fault> {
    let times = times(engine);
    let whole = RequestContext {
        is_part: false,
        ..context.clone()
    };
    let shell = Shell::load(engine, &whole, "", "")?;
    let lower = q.to_lowercase();
    let mut jumps = Vec::new();
    for item in shell.nav.into_iter().flat_map(|part| part.items) {
        if item.label.to_lowercase().contains(&lower) {
            let hint = if item.key.is_empty() {
                String::new()
            } else {
                format!("g {}", item.key)
            };
            jumps.push(PaletteItem {
                href: item.href.to_owned(),
                icon: item.icon,
                words: item.label.to_owned(),
                hint,
            });
        }
    }
    jumps.extend(super::projects::palette_items(engine, context, &lower)?);
    if q.is_empty() {
        return Ok(PaletteView { jumps });
    }
    let mut records: Vec<Record> = Vec::new();
    for kind in [Kind::Knowledge, Kind::Task] {
        let mut filter = Filter::current(&[kind], engine.now()).limit(OFFERED);
        filter.key_prefix = Some(q.trim_start_matches('#').to_owned());
        records.extend(engine.records().find(&filter)?);
    }
    let request = RecallRequest {
        question: q.to_owned(),
        syntax: QuerySyntax::Words,
        k: Some(OFFERED),
        kinds: Kind::ALL.to_vec(),
        // A name that is still being typed is relevant to nothing.
        min_relevance: Some(0.0),
        ..RecallRequest::default()
    };
    if q.chars().any(char::is_alphanumeric) {
        for hit in engine.recall().search(&request)?.hits {
            if let RecallItem::Record(record) = hit.item
                && !records.iter().any(|known| known.id == record.id)
            {
                records.push(*record);
            }
        }
    }
    let offers = records.iter().take(OFFERED).map(|record| PaletteItem {
        href: record_label::href(record),
        icon: record.kind.as_str(),
        words: match record_label::given_key(record) {
            "" => record_label::name(record),
            key => text::excerpt(
                &format!(
                    "{}: {}",
                    text::replace_control_chars(key),
                    text::replace_control_chars(&record.text)
                ),
                70,
            ),
        },
        hint: times.day(record.recorded_at),
    });
    jumps.extend(offers);
    Ok(PaletteView { jumps })
}
