//! Knowledge page: lists, filters and corrects knowledge.

mod bulk;
pub(super) mod conflict;
mod criteria;
mod edit;
mod entry_history;
mod export;
mod receipt_uses;
mod related_entries;
mod rows;
mod selection;
mod text_search;

pub(super) use rows::row_of;

use criteria::{Criteria, EntryState, KnowledgeParams, Sort};
use rows::category_names;
use selection::Selection;

use super::view::knowledge::{
    CategoryFilter, EditForm, FilterChoice, FilterForm, KnowledgeView, PageLinks,
};
use super::view::{number, plural};
use super::{PageError, RequestContext, Shell, record_label, render};
use crate::App;
use axum::Router;
use axum::extract::{Path, Query, State};
use axum::http::{HeaderMap, HeaderValue};
use axum::response::Response;
use axum::routing::{get, post};
use heirloom_engine::Engine;
use heirloom_model::{Fault, Kind, Permission, Record, RecordId, mark, text};

/// Returns the routes.
pub(super) fn routes() -> Router<App> {
    Router::new()
        .route("/knowledge", get(list).post(edit::create))
        .route("/knowledge/bulk", post(bulk::change))
        .route("/knowledge/export", get(export::download))
        .route("/knowledge/{id}", get(open).post(edit::save))
        .route("/conflicts/{id}", post(conflict::decide))
}

async fn list(
    State(app): State<App>,
    context: RequestContext,
    headers: HeaderMap,
    Query(params): Query<KnowledgeParams>,
) -> Result<Response, PageError> {
    // The filter form also sends its empty fields, which the URL does not need.
    let is_filter = headers.get("hx-target").is_some_and(|id| id == "list");
    let address = params.path_here("/knowledge");
    let view = app.with_engine(context.resolve_project(Permission::Read)?, move |engine| {
        load(engine, &context, &params, None)
    });
    let mut response = render(&view.await?)?;
    if let (true, Ok(address)) = (is_filter, HeaderValue::from_str(&address)) {
        response.headers_mut().insert("hx-push-url", address);
    }
    Ok(response)
}

async fn open(
    State(app): State<App>,
    context: RequestContext,
    Path(id): Path<String>,
    Query(params): Query<KnowledgeParams>,
) -> Result<Response, PageError> {
    let view = app.with_engine(context.resolve_project(Permission::Read)?, move |engine| {
        let id = engine.records().resolve_id(&id)?;
        load(engine, &context, &params, Some(id))
    });
    render(&view.await?)
}

fn load(
    engine: &Engine,
    context: &RequestContext,
    params: &KnowledgeParams,
    open: Option<RecordId>,
) -> Result<KnowledgeView, Fault> {
    let shell = Shell::load(engine, context, "knowledge", "Knowledge")?;
    let counts = engine.records().counts()?;
    let all = counts.iter().find(|(kind, _)| *kind == Kind::Knowledge);
    let all = usize::try_from(all.map_or(0, |(_, n)| *n)).unwrap_or(usize::MAX);
    let conflicts = engine.conflicts().list()?;
    let opened = open.map(|id| engine.records().get(id)).transpose()?;
    let is_edited = |record: &&Record| params.edit.is_some() && record.retired_at.is_none();
    let edited = opened.as_ref().filter(is_edited);
    let mut selection = Selection::load(engine, params, &conflicts, all)?;
    let mut records = std::mem::take(&mut selection.records);
    if let Some(record) = &opened
        && edited.is_none()
        && record.retired_at.is_none()
        && record.kind == Kind::Knowledge
        && !records.iter().any(|one| one.id == record.id)
    {
        records.insert(0, record.clone());
    }
    records.retain(|record| edited.is_none_or(|edited| edited.id != record.id));
    let mut rows = rows::load(engine, context, &records, &conflicts)?;
    for row in &mut rows {
        row.is_on = open.is_some_and(|id| row.id == id.to_string());
    }
    let drawer = match (&opened, edited) {
        (Some(record), None) => Some(entry_history::load(engine, context, params, record)?),
        (Some(_) | None, _) => None,
    };
    let edit = edited.map(|record| edit_form(record, context, params));
    let is_first = params.has_all_but_category() && params.after.is_empty();
    let times = super::request_context::times(engine);
    let conflict = match edit.is_none() && is_first {
        true => conflict::conflict_view(&conflicts, params.conflict, &times),
        false => None,
    };
    Ok(KnowledgeView {
        headline: headline(all, conflicts.len()),
        is_empty: all == 0 && opened.is_none(),
        conflict,
        pages: page_links(params, &selection),
        filters: filter_form(params, &selection),
        is_new: params.new.is_some(),
        rows,
        edit,
        drawer,
        list: params.path_here("/knowledge"),
        shell,
    })
}

fn headline(all: usize, conflicts: usize) -> String {
    let entries = plural(all, "entry", "entries");
    match (all, conflicts) {
        (0, _) => "Nothing is known yet.".to_owned(),
        (_, 0) => format!("{entries}, none in conflict."),
        (_, n) => format!("{entries}, {} of them in conflict.", number(n as u64)),
    }
}

fn page_links(params: &KnowledgeParams, selection: &Selection) -> PageLinks {
    let criteria = Criteria::new(params);
    let by_time = criteria.words.is_empty();
    let (newer_label, older_label) = match criteria.sort {
        Sort::Newest if by_time => ("Newer entries", "Older entries"),
        Sort::Oldest if by_time => ("Older entries", "Newer entries"),
        Sort::Newest | Sort::Oldest | Sort::MostUsed | Sort::Key => {
            ("Previous entries", "Next entries")
        }
    };
    let is_selected = params.select == "page";
    let here = params.path_here("/knowledge");
    let select = match (is_selected, here.contains('?')) {
        (true, _) => here,
        (false, true) => format!("{here}&select=page"),
        (false, false) => format!("{here}?select=page"),
    };
    PageLinks {
        newer: selection.newer.clone(),
        newer_label,
        older: selection.older.clone(),
        older_label,
        select,
        is_selected,
        markdown: params.path("/knowledge/export", &[("format", "md")]),
        json: params.path("/knowledge/export", &[("format", "json")]),
    }
}

fn filter_form(params: &KnowledgeParams, selection: &Selection) -> FilterForm {
    let choice = |value: &str, label: String, current: &str| FilterChoice {
        is_current: value == current,
        value: value.to_owned(),
        label,
    };
    let mut sources = selection.sources.clone();
    if !params.source.is_empty() && !sources.contains(&params.source) {
        sources.push(params.source.clone());
    }
    let state = |name: &'static str| choice(name, name.to_owned(), &params.state);
    let own = selection.categories.get(params.category.as_str());
    let fits = match params.category.is_empty() {
        true => selection.all,
        false => own.copied().unwrap_or_default(),
    };
    let shown = |value: &str| text::replace_control_chars(value);
    FilterForm {
        categories: categories(params, selection),
        category: shown(&params.category),
        words: shown(&params.f),
        words_encoded: record_label::percent_encode(&params.f),
        sources: (sources.iter())
            .map(|source| choice(source, record_label::source_label(source), &params.source))
            .collect(),
        states: EntryState::ALL
            .iter()
            .map(|(name, _)| state(name))
            .collect(),
        sorts: (Sort::ALL.iter())
            .map(|(name, label, _)| choice(name, (*label).to_owned(), &params.sort))
            .collect(),
        task: shown(&params.task),
        from: shown(&params.from),
        until: shown(&params.until),
        chips: params.chips(),
        is_open: [&params.task, &params.from, &params.until]
            .iter()
            .any(|value| !value.is_empty()),
        fits: match fits.n == 1 && !fits.is_more {
            true => "1 entry".to_owned(),
            false => format!("{} entries", fits.label()),
        },
        note: selection.note.clone(),
    }
}

fn categories(params: &KnowledgeParams, selection: &Selection) -> Vec<CategoryFilter> {
    let mut counts = selection.categories.clone();
    if !params.category.is_empty() {
        counts.entry(params.category.clone()).or_default();
    }
    let mut choices = vec![CategoryFilter {
        name: "All".to_owned(),
        href: params.path("/knowledge", &[("category", "")]),
        count: selection.all.label(),
        is_current: params.category.is_empty(),
    }];
    choices.extend(counts.into_iter().map(|(name, count)| CategoryFilter {
        href: params.path("/knowledge", &[("category", &name)]),
        count: count.label(),
        is_current: name == params.category,
        name: text::replace_control_chars(&name),
    }));
    choices
}

fn edit_form(record: &Record, context: &RequestContext, params: &KnowledgeParams) -> EditForm {
    let own = record.category().unwrap_or("fact");
    let names = category_names(own);
    EditForm {
        id: record.id.to_string(),
        key: record_label::name(record),
        text: record.text.clone(),
        categories: names
            .into_iter()
            .map(|name| (name.clone(), name == own))
            .collect(),
        confidence: format!("{:.2}", record.confidence.get()),
        true_from: record
            .true_from
            .map_or_else(String::new, |at| at.to_string()),
        is_pinned: mark::is_pinned(&record.attrs),
        is_muted: mark::is_muted(&record.attrs),
        csrf: context.csrf.clone(),
        list: params.path_here("/knowledge"),
    }
}
