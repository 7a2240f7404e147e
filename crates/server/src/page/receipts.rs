//! Receipt pages: included and omitted items of contexts, with reasons.

mod budget_chart;

use super::request_context::times;
use super::view::chart::share;
use super::view::receipts::{ItemRow, ReceiptListView, ReceiptRow, ReceiptView, SectionRow};
use super::view::{Times, number, percent, plural};
use super::{PageError, RequestContext, Shell, record_label, render};
use crate::App;
use axum::Router;
use axum::extract::{Path, Query, State};
use axum::response::Response;
use axum::routing::get;
use heirloom_engine::{AsOf, ContextRequest, Engine, Filter, StoredReceipt};
use heirloom_model::record::Attrs;
use heirloom_model::{Budget, Fault, Kind, Permission, Record, RecordId, limits, text};
use serde::Deserialize;
use serde_json::Value;
use std::collections::HashMap;

/// Number of recent receipts next to the open one.
const RECENT: usize = 6;

/// Query parameters.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
struct ReceiptParams {
    show: String,
    again: Option<String>,
}

/// Returns the routes.
pub(super) fn routes() -> Router<App> {
    Router::new()
        .route("/receipts", get(list))
        .route("/receipts/{id}", get(open))
}

async fn list(State(app): State<App>, context: RequestContext) -> Result<Response, PageError> {
    let project = context.resolve_project(Permission::Read)?;
    let view = app.with_engine(project, move |engine| {
        let shell = Shell::load(engine, &context, "receipts", "Receipts")?;
        let times = times(engine);
        let all = engine.contexts().receipt_heads(limits::RECEIPTS_KEPT)?;
        let rows = all
            .iter()
            .map(|one| receipt_row(&one.receipt, &times, false));
        let rows: Vec<_> = rows.collect();
        let headline = match (rows.len(), all.first()) {
            (0, _) | (_, None) => "No context was given yet.".to_owned(),
            (n, Some(newest)) => format!(
                "{}, the newest {}.",
                plural(n, "context was given", "contexts were given"),
                times.full(newest.receipt.at)
            ),
        };
        Ok(ReceiptListView {
            shell,
            headline,
            rows,
        })
    });
    render(&view.await?)
}

async fn open(
    State(app): State<App>,
    context: RequestContext,
    Path(id): Path<String>,
    Query(params): Query<ReceiptParams>,
) -> Result<Response, PageError> {
    let project = context.resolve_project(Permission::Read)?;
    let view = app.with_engine(project, move |engine| load(engine, &context, &id, &params));
    render(&view.await?)
}

/// JSON body of a receipt.
pub(super) struct ReceiptBody<'a>(pub(super) &'a Attrs);

impl ReceiptBody<'_> {
    fn text(&self, name: &str) -> Option<String> {
        let value = self.0.get(name)?.as_str()?;
        Some(text::replace_control_chars(value))
    }

    fn number(&self, name: &str) -> u64 {
        self.0.get(name).and_then(Value::as_u64).unwrap_or(0)
    }

    pub(super) fn is_tokens(&self) -> bool {
        self.0.get("unit").and_then(Value::as_str) == Some("tokens")
    }

    /// Returns the used size, in the unit of the budget.
    pub(super) fn used(&self) -> u64 {
        self.number(if self.is_tokens() { "tokens" } else { "chars" })
    }

    pub(super) fn budget(&self) -> u64 {
        self.number("budget")
    }

    fn title(&self) -> String {
        let task = self
            .text("task")
            .map(|task| record_label::task_label(&task));
        let phase = self.text("phase").map(|phase| phase.to_lowercase());
        let title: Vec<_> = [task, phase].into_iter().flatten().collect();
        match title.is_empty() {
            true => self
                .text("query")
                .map_or_else(|| "no task".to_owned(), |q| text::excerpt(&q, 40)),
            false => title.join(" "),
        }
    }
}

fn receipt_row(receipt: &StoredReceipt, times: &Times, is_current: bool) -> ReceiptRow {
    let body = ReceiptBody(&receipt.body);
    let agent = body
        .text("agent")
        .unwrap_or_else(|| "no agent named".to_owned());
    let part = percent(body.used(), body.budget());
    ReceiptRow {
        id: receipt.id.to_string(),
        title: body.title(),
        detail: format!("{agent}, {}", times.full(receipt.at)),
        used: number(body.used()),
        bar: share(&format!("{part} % of its budget"), part, "f-accent", true),
        is_current,
    }
}

/// Item of a receipt.
pub(super) struct ReceiptItem {
    pub(super) section: usize,
    pub(super) id: Option<RecordId>,
    pub(super) file: Option<String>,
    pub(super) words: String,
    pub(super) chars: u64,
    /// Size in the unit of the budget.
    pub(super) size: u64,
    pub(super) score: Option<f64>,
    pub(super) relevance: Option<f64>,
    pub(super) is_in: bool,
    pub(super) reason: String,
}

/// Returns the sections (name, characters, number of further omitted items) and the items of a receipt.
pub(super) fn parse_items(body: &ReceiptBody<'_>) -> (Vec<(String, u64, u64)>, Vec<ReceiptItem>) {
    let text_of =
        |value: &Value, name: &str| value.get(name)?.as_str().map(text::replace_control_chars);
    let number_of =
        |value: &Value, name: &str| value.get(name).and_then(Value::as_u64).unwrap_or(0);
    let (mut sections, mut pieces) = (Vec::new(), Vec::new());
    for (at, section) in super::overview::list(body.0.get("sections"))
        .iter()
        .enumerate()
    {
        let name = text_of(section, "name").unwrap_or_default();
        sections.push((
            name,
            number_of(section, "chars"),
            number_of(section, "more_left_out"),
        ));
        for item in super::overview::list(section.get("items")) {
            let chars = number_of(item, "chars");
            let size = if body.is_tokens() {
                number_of(item, "tokens")
            } else {
                chars
            };
            pieces.push(ReceiptItem {
                section: at,
                id: item
                    .get("id")
                    .and_then(Value::as_str)
                    .and_then(|id| id.parse().ok()),
                file: text_of(item, "file"),
                words: text_of(item, "text").unwrap_or_default(),
                chars,
                size,
                score: item.get("score").and_then(Value::as_f64),
                relevance: item.get("relevance").and_then(Value::as_f64),
                is_in: item.get("included") == Some(&Value::Bool(true)),
                reason: text_of(item, "reason").unwrap_or_default(),
            });
        }
    }
    (sections, pieces)
}

/// Returns the chart series of a section.
pub(super) fn series(section: usize) -> usize {
    section % 7 + 1
}

fn load(
    engine: &Engine,
    context: &RequestContext,
    id: &str,
    params: &ReceiptParams,
) -> Result<ReceiptView, Fault> {
    let receipt = engine.contexts().receipt(id)?;
    let body = ReceiptBody(&receipt.body);
    let times = times(engine);
    let (sections, pieces) = parse_items(&body);
    let records = records(engine, &pieces)?;
    let unit = if body.is_tokens() {
        "Tokens"
    } else {
        "Characters"
    };
    let inside = pieces.iter().filter(|piece| piece.is_in).count();
    let outside = pieces.len() - inside
        + sections
            .iter()
            .map(|(_, _, more)| usize::try_from(*more).unwrap_or(0))
            .sum::<usize>();
    let agent = body
        .text("agent")
        .unwrap_or_else(|| "no agent named".to_owned());
    let show = |name, query: &str, n, key: &str| {
        (
            name,
            format!("/receipts/{}{query}", receipt.id),
            n,
            params.show == key,
        )
    };
    let recent = engine.contexts().receipts(RECENT)?;
    let rows = rows(&body, &params.show, &sections, &pieces, &records);
    Ok(ReceiptView {
        shell: Shell::load(engine, context, "receipts", "Receipt")?,
        id: receipt.id.to_string(),
        noun: format!(
            "Receipt · {agent}, {}, {}",
            body.title(),
            times.full(receipt.at)
        ),
        headline: format!(
            "{} got in, {} did not: {} of {} {}.",
            plural(inside, "item", "items"),
            number(outside as u64),
            number(body.used()),
            number(body.budget()),
            unit.to_lowercase()
        ),
        session: body
            .text("session")
            .map(|id| (record_label::short_id(&id), record_label::session_href(&id))),
        asked: body
            .text("query")
            .map_or_else(String::new, |q| text::excerpt(q.trim_end_matches('.'), 120)),
        svg: budget_chart::render_chart(&body, &sections, &pieces),
        shows: vec![
            show("All", "", inside + outside, ""),
            show("In", "?show=in", inside, "in"),
            show("Cut", "?show=cut", outside, "cut"),
        ],
        sections: rows,
        notes: notes(&body),
        unit,
        recent: recent
            .iter()
            .map(|one| receipt_row(one, &times, one.id == receipt.id))
            .collect(),
        again: match params.again.is_some() {
            true => Some(escape_lines(
                &engine.contexts().build(&request(&body))?.text,
            )),
            false => None,
        },
    })
}

/// Returns the rows of the sections, filtered by inclusion.
fn rows(
    body: &ReceiptBody<'_>,
    show: &str,
    sections: &[(String, u64, u64)],
    pieces: &[ReceiptItem],
    records: &HashMap<RecordId, Record>,
) -> Vec<SectionRow> {
    let is_shown = |piece: &&ReceiptItem| match show {
        "in" => piece.is_in,
        "cut" => !piece.is_in,
        _ => true,
    };
    let rows = sections
        .iter()
        .enumerate()
        .map(|(at, (name, chars, more))| {
            let own = pieces.iter().filter(|piece| piece.section == at);
            let size = if body.is_tokens() {
                chars.div_ceil(limits::CHARS_PER_TOKEN as u64)
            } else {
                *chars
            };
            let part = percent(size, body.budget());
            SectionRow {
                series: series(at),
                name: name.clone(),
                size: number(size),
                chars: number(*chars),
                share: share(
                    &format!("{part} % of the budget"),
                    part,
                    &format!("c{}", series(at)),
                    true,
                ),
                items: own
                    .filter(is_shown)
                    .map(|piece| item(piece, records))
                    .collect(),
                more: match more {
                    0 => String::new(),
                    n => format!("and {} more that did not get in", number(*n)),
                },
            }
        });
    rows.filter(|section| !section.items.is_empty()).collect()
}

fn notes(body: &ReceiptBody<'_>) -> Vec<String> {
    let notes = body.0.get("notes").and_then(Value::as_array);
    let notes = notes.into_iter().flatten().filter_map(Value::as_str);
    notes.map(text::replace_control_chars).collect()
}

/// Rebuilds the context request of a receipt.
fn request(body: &ReceiptBody<'_>) -> ContextRequest {
    let raw = |name: &str| body.0.get(name).and_then(Value::as_str).map(str::to_owned);
    let budget = usize::try_from(body.budget()).unwrap_or(usize::MAX);
    ContextRequest {
        task: raw("task"),
        phase: raw("phase"),
        agent: raw("agent"),
        plan: raw("plan"),
        group: raw("group"),
        session: raw("session"),
        query: raw("query"),
        budget: Some(match body.is_tokens() {
            true => Budget::Tokens(budget),
            false => Budget::Chars(budget),
        }),
        invocation: None,
        separate_rules: false,
    }
}

fn records(engine: &Engine, pieces: &[ReceiptItem]) -> Result<HashMap<RecordId, Record>, Fault> {
    let ids: Vec<RecordId> = pieces.iter().filter_map(|piece| piece.id).collect();
    if ids.is_empty() {
        return Ok(HashMap::new());
    }
    let limit = ids.len();
    let filter = Filter {
        as_of: AsOf::Ever,
        ..Filter::current(&[], engine.now())
    };
    let found = engine.records().find(&filter.ids(ids).limit(limit))?;
    Ok(found
        .into_iter()
        .map(|record| (record.id, record))
        .collect())
}

fn item(piece: &ReceiptItem, records: &HashMap<RecordId, Record>) -> ItemRow {
    let record = piece.id.and_then(|id| records.get(&id));
    let kind = match (record, &piece.file) {
        (Some(record), _) => record.kind,
        (None, Some(_)) => Kind::Note,
        (None, None) => Kind::Output,
    };
    let mut words = match &piece.file {
        Some(file) => file.clone(),
        None => text::excerpt(&piece.words, 110),
    };
    let has_key =
        |key: &&str| !key.is_empty() && !piece.words.trim_start_matches("- ").starts_with(key);
    if let Some(key) = record
        .map(record_label::given_key)
        .filter(|key| has_key(key))
    {
        words = format!("{}: {words}", text::replace_control_chars(key));
    }
    let score = match (piece.relevance, piece.score) {
        (Some(relevance), _) => Some(format!(", {}", text::percent(relevance))),
        (None, score) => score.map(|score| format!(", score {score:.2}")),
    };
    ItemRow {
        kind: kind.as_str(),
        href: record.map_or_else(String::new, record_label::href),
        words,
        size: number(piece.size),
        chars: number(piece.chars),
        why: format!("{}{}", piece.reason, score.unwrap_or_default()),
        is_in: piece.is_in,
    }
}

/// Escapes control characters and keeps line breaks.
fn escape_lines(value: &str) -> String {
    let lines: Vec<_> = value.lines().map(text::replace_control_chars).collect();
    lines.join("\n")
}
