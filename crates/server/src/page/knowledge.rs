//! Knowledge: what agents are told, whether it is true, and correcting it.

mod change;
mod conflict;
mod drawer;
mod rows;

pub(super) use rows::row_of;

use rows::category_names;

use super::view::knowledge::{Category, Edit, View};
use super::view::{number, plural};
use super::{Look, Shell, Wrong, html, told};
use crate::App;
use axum::Router;
use axum::extract::{Path, Query, State};
use axum::response::Response;
use axum::routing::{get, post};
use heirloom_engine::recall::{Item, Ranked};
use heirloom_engine::{Engine, Filter, Reading, RecallRequest};
use heirloom_model::{Deed, Fault, Kind, Record, RecordId, mark, text};
use serde::Deserialize;
use std::collections::BTreeMap;

/// Entries on one page.
const PAGE: usize = 25;
/// Entries that mean what a filter says, where none has its words.
const MEANT: usize = 5;
/// Up to so many entries their categories are counted.
const COUNTED: usize = 1_000;

/// What the address asks for.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(super) struct Asked {
    category: String,
    f: String,
    after: String,
    conflict: usize,
    new: Option<String>,
    edit: Option<String>,
}

/// Their addresses.
pub(super) fn routes() -> Router<App> {
    Router::new()
        .route("/knowledge", get(list).post(change::create))
        .route("/knowledge/{id}", get(open).post(change::save))
        .route("/conflicts/{id}", post(conflict::decide))
}

async fn list(
    State(app): State<App>,
    look: Look,
    Query(asked): Query<Asked>,
) -> Result<Response, Wrong> {
    let view = app.ask(look.project(Deed::Read)?, move |engine| {
        load(engine, &look, &asked, None)
    });
    html(&view.await?)
}

async fn open(
    State(app): State<App>,
    look: Look,
    Path(id): Path<String>,
    Query(asked): Query<Asked>,
) -> Result<Response, Wrong> {
    let view = app.ask(look.project(Deed::Read)?, move |engine| {
        let id = engine.resolve_id(&id)?;
        load(engine, &look, &asked, Some(id))
    });
    html(&view.await?)
}

fn load(
    engine: &Engine,
    look: &Look,
    asked: &Asked,
    open: Option<RecordId>,
) -> Result<View, Fault> {
    let shell = Shell::load(engine, look, "knowledge", "Knowledge")?;
    let counts = engine.counts()?;
    let all = counts.iter().find(|(kind, _)| *kind == Kind::Knowledge);
    let all = usize::try_from(all.map_or(0, |(_, n)| *n)).unwrap_or(usize::MAX);
    let conflicts = engine.conflicts()?;
    let opened = open.map(|id| engine.get(id)).transpose()?;
    let is_edited = |record: &&Record| asked.edit.is_some() && record.retired_at.is_none();
    let edited = opened.as_ref().filter(is_edited);
    let (mut records, next) = found(engine, asked)?;
    if let Some(record) = &opened
        && edited.is_none()
        && record.retired_at.is_none()
        && record.kind == Kind::Knowledge
        && !records.iter().any(|one| one.id == record.id)
    {
        records.insert(0, record.clone());
    }
    records.retain(|record| edited.is_none_or(|edited| edited.id != record.id));
    let mut rows = rows::load(engine, look, &records, &conflicts)?;
    for row in &mut rows {
        row.is_on = open.is_some_and(|id| row.id == id.to_string());
    }
    let drawer = match (&opened, edited) {
        (Some(record), None) => Some(drawer::load(engine, look, record)?),
        (Some(_) | None, _) => None,
    };
    let edit = edited.map(|record| edit_of(record, look, asked));
    let conflict = match open.is_none() && asked.f.is_empty() && asked.after.is_empty() {
        true => conflict::shown(&conflicts, asked.conflict, &super::look::times(engine)),
        false => None,
    };
    Ok(View {
        headline: headline(all, conflicts.len()),
        is_empty: all == 0 && opened.is_none(),
        conflict,
        categories: categories(engine, asked, all)?,
        filter: text::printable(&asked.f),
        filter_encoded: told::encoded(&asked.f),
        category: text::printable(&asked.category),
        is_new: asked.new.is_some(),
        rows,
        edit,
        next,
        drawer,
        list: address(asked, &asked.category, ""),
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

/// The entries of this page, and the address of the next.
fn found(engine: &Engine, asked: &Asked) -> Result<(Vec<Record>, Option<String>), Fault> {
    let category = Some(asked.category.as_str()).filter(|name| !name.is_empty());
    if !asked.f.trim().is_empty() {
        return Ok((searched(engine, asked.f.trim(), category)?, None));
    }
    let mut filter = Filter::current(&[Kind::Knowledge], engine.now()).limit(PAGE + 1);
    filter.category = category.map(str::to_owned);
    if !asked.after.is_empty() {
        filter.after = Some(engine.resolve_id(&asked.after)?);
    }
    let mut records = engine.find(&filter)?;
    let has_more = records.len() > PAGE;
    records.truncate(PAGE);
    let last = records.last().filter(|_| has_more);
    let next = last.map(|last| address(asked, &asked.category, &last.id.to_string()));
    Ok((records, next))
}

/// Entries by the beginning of their key, then by what they say.
fn searched(engine: &Engine, words: &str, category: Option<&str>) -> Result<Vec<Record>, Fault> {
    let mut filter = Filter::current(&[Kind::Knowledge], engine.now()).limit(PAGE);
    filter.key_prefix = Some(words.to_owned());
    filter.category = category.map(str::to_owned);
    let mut records = engine.find(&filter)?;
    let mut hits = recalled(engine, words)?;
    // What has the words; only where nothing has them, what means the same.
    match hits.iter().any(|hit| hit.parts.lexical > 0.0) {
        true => hits.retain(|hit| hit.parts.lexical > 0.0),
        false => hits.truncate(MEANT),
    }
    for hit in hits {
        if let Item::Record(record) = hit.item {
            let fits = category.is_none_or(|name| record.category() == Some(name));
            if fits && !records.iter().any(|known| known.id == record.id) {
                records.push(*record);
            }
        }
    }
    records.truncate(PAGE);
    Ok(records)
}

/// What recall has of knowledge: among everything, which is found sooner than knowledge alone, unless too little of it
/// is left then.
fn recalled(engine: &Engine, words: &str) -> Result<Vec<Ranked>, Fault> {
    let mut request = RecallRequest {
        question: words.to_owned(),
        reading: Reading::Words,
        k: Some(2 * PAGE),
        ..RecallRequest::default()
    };
    let mut hits = engine.recall(&request)?.hits;
    let all = hits.len();
    hits.retain(|hit| matches!(&hit.item, Item::Record(record) if record.kind == Kind::Knowledge));
    if all < 2 * PAGE || hits.len() >= PAGE {
        hits.truncate(PAGE);
        return Ok(hits);
    }
    request.k = Some(PAGE);
    request.kinds = vec![Kind::Knowledge];
    Ok(engine.recall(&request)?.hits)
}

fn categories(engine: &Engine, asked: &Asked, all: usize) -> Result<Vec<Category>, Fault> {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    let is_counted = all <= COUNTED;
    if is_counted {
        let filter = Filter::current(&[Kind::Knowledge], engine.now()).limit(COUNTED);
        for record in engine.find(&filter)? {
            let name = record.category().unwrap_or("fact").to_owned();
            *counts.entry(name).or_default() += 1;
        }
    } else {
        counts.extend(rows::CATEGORIES.map(|name| (name.to_owned(), 0)));
    }
    if !asked.category.is_empty() {
        counts.entry(asked.category.clone()).or_default();
    }
    let mut choices = vec![Category {
        name: "All".to_owned(),
        href: address(asked, "", ""),
        count: number(all as u64),
        is_current: asked.category.is_empty(),
    }];
    choices.extend(counts.into_iter().map(|(name, n)| Category {
        href: address(asked, &name, ""),
        count: if is_counted {
            n.to_string()
        } else {
            String::new()
        },
        is_current: name == asked.category,
        name: text::printable(&name),
    }));
    Ok(choices)
}

/// The address of a list.
fn address(asked: &Asked, category: &str, after: &str) -> String {
    let mut query = Vec::new();
    for (name, value) in [("category", category), ("f", &asked.f), ("after", after)] {
        if !value.is_empty() {
            query.push(format!("{name}={}", told::encoded(value)));
        }
    }
    match query.is_empty() {
        true => "/knowledge".to_owned(),
        false => format!("/knowledge?{}", query.join("&")),
    }
}

fn edit_of(record: &Record, look: &Look, asked: &Asked) -> Edit {
    let own = record.category().unwrap_or("fact");
    let names = category_names(own);
    Edit {
        id: record.id.to_string(),
        key: told::name(record),
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
        csrf: look.csrf.clone(),
        list: address(asked, &asked.category, ""),
    }
}
