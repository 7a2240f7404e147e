//! Knowledge page: lists, searches and corrects knowledge.

pub(super) mod conflict;
mod edit;
mod entry_history;
mod rows;

pub(super) use rows::row_of;

use rows::category_names;

use super::view::knowledge::{CategoryFilter, EditForm, KnowledgeView};
use super::view::{number, plural};
use super::{PageError, RequestContext, Shell, record_label, render};
use crate::App;
use axum::Router;
use axum::extract::{Path, Query, State};
use axum::response::Response;
use axum::routing::{get, post};
use heirloom_engine::{Engine, Filter, QuerySyntax, RecallRequest};
use heirloom_model::{Fault, Kind, Permission, Record, RecordId, mark, text};
use heirloom_search::recall::{Ranked, RecallItem};
use serde::Deserialize;
use std::collections::BTreeMap;

/// Page size of the list.
const PAGE: usize = 25;
/// Maximum number of entries with a similar meaning, if none contains the words of the filter.
const MEANT: usize = 5;
/// Maximum number of entries for which categories are counted.
const COUNTED: usize = 1_000;

/// Query parameters.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(super) struct KnowledgeParams {
    category: String,
    f: String,
    after: String,
    conflict: usize,
    new: Option<String>,
    edit: Option<String>,
}

/// Returns the routes.
pub(super) fn routes() -> Router<App> {
    Router::new()
        .route("/knowledge", get(list).post(edit::create))
        .route("/knowledge/{id}", get(open).post(edit::save))
        .route("/conflicts/{id}", post(conflict::decide))
}

async fn list(
    State(app): State<App>,
    context: RequestContext,
    Query(params): Query<KnowledgeParams>,
) -> Result<Response, PageError> {
    let view = app.with_engine(context.resolve_project(Permission::Read)?, move |engine| {
        load(engine, &context, &params, None)
    });
    render(&view.await?)
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
    let (mut records, next) = list_records(engine, params)?;
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
        (Some(record), None) => Some(entry_history::load(engine, context, record)?),
        (Some(_) | None, _) => None,
    };
    let edit = edited.map(|record| edit_form(record, context, params));
    let conflict = match open.is_none() && params.f.is_empty() && params.after.is_empty() {
        true => conflict::conflict_view(
            &conflicts,
            params.conflict,
            &super::request_context::times(engine),
        ),
        false => None,
    };
    Ok(KnowledgeView {
        headline: headline(all, conflicts.len()),
        is_empty: all == 0 && opened.is_none(),
        conflict,
        categories: categories(engine, params, all)?,
        filter: text::replace_control_chars(&params.f),
        filter_encoded: record_label::percent_encode(&params.f),
        category: text::replace_control_chars(&params.category),
        is_new: params.new.is_some(),
        rows,
        edit,
        next,
        drawer,
        list: list_path(params, &params.category, ""),
        shell,
    })
}

fn headline(all: usize, conflicts: usize) -> String {
    let entries = plural(all, "entry", "entries");
    match (all, conflicts) {
        (0, _) => "Nothing is known yet.".to_owned(),
        (_, 0) => format!("{entries}, none in conflict."),
        (_, n) => format!("{entries}, {n} of them in conflict."),
    }
}

/// Loads the entries of this page, and the path of the next one.
fn list_records(
    engine: &Engine,
    params: &KnowledgeParams,
) -> Result<(Vec<Record>, Option<String>), Fault> {
    let category = Some(params.category.as_str()).filter(|name| !name.is_empty());
    if !params.f.trim().is_empty() {
        return Ok((search(engine, params.f.trim(), category)?, None));
    }
    let mut filter = Filter::current(&[Kind::Knowledge], engine.now()).limit(PAGE + 1);
    filter.category = category.map(str::to_owned);
    if !params.after.is_empty() {
        filter.after = Some(engine.records().resolve_id(&params.after)?);
    }
    let mut records = engine.records().find(&filter)?;
    let has_more = records.len() > PAGE;
    records.truncate(PAGE);
    let last = records.last().filter(|_| has_more);
    let next = last.map(|last| list_path(params, &params.category, &last.id.to_string()));
    Ok((records, next))
}

/// Searches entries by key prefix, then by words.
fn search(engine: &Engine, words: &str, category: Option<&str>) -> Result<Vec<Record>, Fault> {
    let mut filter = Filter::current(&[Kind::Knowledge], engine.now()).limit(PAGE);
    filter.key_prefix = Some(words.to_owned());
    filter.category = category.map(str::to_owned);
    let mut records = engine.records().find(&filter)?;
    let mut hits = recall_knowledge(engine, words)?;
    // Prefer lexical matches; without any, keep the nearest in meaning.
    match hits.iter().any(|hit| hit.breakdown.lexical > 0.0) {
        true => hits.retain(|hit| hit.breakdown.lexical > 0.0),
        false => hits.truncate(MEANT),
    }
    for hit in hits {
        if let RecallItem::Record(record) = hit.item {
            let fits = category.is_none_or(|name| record.category() == Some(name));
            if fits && !records.iter().any(|known| known.id == record.id) {
                records.push(*record);
            }
        }
    }
    records.truncate(PAGE);
    Ok(records)
}

/// Recalls knowledge. A recall over all kinds is faster than a filtered one, which follows only if too few hits are
/// knowledge.
fn recall_knowledge(engine: &Engine, words: &str) -> Result<Vec<Ranked>, Fault> {
    let mut request = RecallRequest {
        question: words.to_owned(),
        syntax: QuerySyntax::Words,
        k: Some(2 * PAGE),
        min_relevance: Some(0.0),
        ..RecallRequest::default()
    };
    let mut hits = engine.recall().search(&request)?.hits;
    let all = hits.len();
    hits.retain(
        |hit| matches!(&hit.item, RecallItem::Record(record) if record.kind == Kind::Knowledge),
    );
    if all < 2 * PAGE || hits.len() >= PAGE {
        hits.truncate(PAGE);
        return Ok(hits);
    }
    request.k = Some(PAGE);
    request.kinds = vec![Kind::Knowledge];
    Ok(engine.recall().search(&request)?.hits)
}

fn categories(
    engine: &Engine,
    params: &KnowledgeParams,
    all: usize,
) -> Result<Vec<CategoryFilter>, Fault> {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    let is_counted = all <= COUNTED;
    if is_counted {
        let filter = Filter::current(&[Kind::Knowledge], engine.now()).limit(COUNTED);
        for record in engine.records().find(&filter)? {
            let name = record.category().unwrap_or("fact").to_owned();
            *counts.entry(name).or_default() += 1;
        }
    } else {
        counts.extend(rows::CATEGORIES.map(|name| (name.to_owned(), 0)));
    }
    if !params.category.is_empty() {
        counts.entry(params.category.clone()).or_default();
    }
    let mut choices = vec![CategoryFilter {
        name: "All".to_owned(),
        href: list_path(params, "", ""),
        count: number(all as u64),
        is_current: params.category.is_empty(),
    }];
    choices.extend(counts.into_iter().map(|(name, n)| CategoryFilter {
        href: list_path(params, &name, ""),
        count: if is_counted {
            n.to_string()
        } else {
            String::new()
        },
        is_current: name == params.category,
        name: text::replace_control_chars(&name),
    }));
    Ok(choices)
}

/// Returns the path of a list.
fn list_path(params: &KnowledgeParams, category: &str, after: &str) -> String {
    let mut query = Vec::new();
    for (name, value) in [("category", category), ("f", &params.f), ("after", after)] {
        if !value.is_empty() {
            query.push(format!("{name}={}", record_label::percent_encode(value)));
        }
    }
    match query.is_empty() {
        true => "/knowledge".to_owned(),
        false => format!("/knowledge?{}", query.join("&")),
    }
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
        list: list_path(params, &params.category, ""),
    }
}
