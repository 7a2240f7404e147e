//! Receipts: what got into a context, what did not, and why.

mod budget;

use super::look::times;
use super::view::chart::share;
use super::view::receipts::{Item, List, Section, Short, View};
use super::view::{Times, number, percent, plural};
use super::{Look, Shell, Wrong, html, told};
use crate::App;
use axum::Router;
use axum::extract::{Path, Query, State};
use axum::response::Response;
use axum::routing::get;
use heirloom_engine::{ContextRequest, Engine, Filter, StoredReceipt, When};
use heirloom_model::record::Attrs;
use heirloom_model::{Budget, Deed, Fault, Kind, Record, RecordId, limits, text};
use serde::Deserialize;
use serde_json::Value;
use std::collections::HashMap;

/// Receipts beside the one that is open.
const BESIDE: usize = 6;

/// What the address asks for.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
struct Asked {
    show: String,
    again: Option<String>,
}

/// Their addresses.
pub(super) fn routes() -> Router<App> {
    Router::new()
        .route("/receipts", get(list))
        .route("/receipts/{id}", get(open))
}

async fn list(State(app): State<App>, look: Look) -> Result<Response, Wrong> {
    let project = look.project(Deed::Read)?;
    let view = app.ask(project, move |engine| {
        let shell = Shell::load(engine, &look, "receipts", "Receipts")?;
        let times = times(engine);
        let all = engine.receipt_heads(limits::RECEIPTS_KEPT)?;
        let rows = all.iter().map(|one| short(&one.receipt, &times, false));
        let rows: Vec<_> = rows.collect();
        let headline = match (rows.len(), all.first()) {
            (0, _) | (_, None) => "No context was given yet.".to_owned(),
            (n, Some(newest)) => format!(
                "{}, the newest {}.",
                plural(n, "context was given", "contexts were given"),
                times.full(newest.receipt.at)
            ),
        };
        Ok(List {
            shell,
            headline,
            rows,
        })
    });
    html(&view.await?)
}

async fn open(
    State(app): State<App>,
    look: Look,
    Path(id): Path<String>,
    Query(asked): Query<Asked>,
) -> Result<Response, Wrong> {
    let project = look.project(Deed::Read)?;
    let view = app.ask(project, move |engine| load(engine, &look, &id, &asked));
    html(&view.await?)
}

/// A receipt's own words and numbers.
pub(super) struct Body<'a>(pub(super) &'a Attrs);

impl Body<'_> {
    fn text(&self, name: &str) -> Option<String> {
        let said = self.0.get(name)?.as_str()?;
        Some(text::printable(said))
    }

    fn number(&self, name: &str) -> u64 {
        self.0.get(name).and_then(Value::as_u64).unwrap_or(0)
    }

    pub(super) fn is_tokens(&self) -> bool {
        self.0.get("unit").and_then(Value::as_str) == Some("tokens")
    }

    /// What the context had, in the unit of its budget.
    pub(super) fn used(&self) -> u64 {
        self.number(if self.is_tokens() { "tokens" } else { "chars" })
    }

    pub(super) fn budget(&self) -> u64 {
        self.number("budget")
    }

    fn title(&self) -> String {
        let task = self.text("task").map(|task| told::task(&task));
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

fn short(receipt: &StoredReceipt, times: &Times, is_current: bool) -> Short {
    let body = Body(&receipt.body);
    let agent = body
        .text("agent")
        .unwrap_or_else(|| "no agent named".to_owned());
    let part = percent(body.used(), body.budget());
    Short {
        id: receipt.id.to_string(),
        title: body.title(),
        detail: format!("{agent}, {}", times.full(receipt.at)),
        used: number(body.used()),
        bar: share(&format!("{part} % of its budget"), part, "f-accent", true),
        is_current,
    }
}

/// One item as the receipt has it.
pub(super) struct Piece {
    pub(super) section: usize,
    pub(super) id: Option<RecordId>,
    pub(super) file: Option<String>,
    pub(super) words: String,
    pub(super) chars: u64,
    /// In the unit of the budget.
    pub(super) size: u64,
    pub(super) score: Option<f64>,
    pub(super) is_in: bool,
    pub(super) reason: String,
}

/// The sections of a receipt by name, with their characters and what was left out besides, and their items.
pub(super) fn pieces(body: &Body<'_>) -> (Vec<(String, u64, u64)>, Vec<Piece>) {
    let text_of = |value: &Value, name: &str| value.get(name)?.as_str().map(text::printable);
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
            pieces.push(Piece {
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
                is_in: item.get("included") == Some(&Value::Bool(true)),
                reason: text_of(item, "reason").unwrap_or_default(),
            });
        }
    }
    (sections, pieces)
}

/// The series of a section, always the same for its place.
pub(super) fn series(section: usize) -> usize {
    section % 7 + 1
}

fn load(engine: &Engine, look: &Look, id: &str, asked: &Asked) -> Result<View, Fault> {
    let receipt = engine.receipt(id)?;
    let body = Body(&receipt.body);
    let times = times(engine);
    let (sections, pieces) = pieces(&body);
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
            asked.show == key,
        )
    };
    let beside = engine.receipts(BESIDE)?;
    let rows = rows(&body, &asked.show, &sections, &pieces, &records);
    Ok(View {
        shell: Shell::load(engine, look, "receipts", "Receipt")?,
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
            .map(|id| (told::short_id(&id), told::session_href(&id))),
        asked: body
            .text("query")
            .map_or_else(String::new, |q| text::excerpt(q.trim_end_matches('.'), 120)),
        svg: budget::drawn(&body, &sections, &pieces),
        shows: vec![
            show("All", "", inside + outside, ""),
            show("In", "?show=in", inside, "in"),
            show("Cut", "?show=cut", outside, "cut"),
        ],
        sections: rows,
        notes: notes(&body),
        unit,
        recent: beside
            .iter()
            .map(|one| short(one, &times, one.id == receipt.id))
            .collect(),
        again: match asked.again.is_some() {
            true => Some(shown(&engine.context(&request(&body))?.text)),
            false => None,
        },
    })
}

/// The sections with those of their items that are wanted.
fn rows(
    body: &Body<'_>,
    show: &str,
    sections: &[(String, u64, u64)],
    pieces: &[Piece],
    records: &HashMap<RecordId, Record>,
) -> Vec<Section> {
    let wanted = |piece: &&Piece| match show {
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
            Section {
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
                    .filter(wanted)
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

fn notes(body: &Body<'_>) -> Vec<String> {
    let notes = body.0.get("notes").and_then(Value::as_array);
    let notes = notes.into_iter().flatten().filter_map(Value::as_str);
    notes.map(text::printable).collect()
}

/// The request that a receipt is of.
fn request(body: &Body<'_>) -> ContextRequest {
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
    }
}

fn records(engine: &Engine, pieces: &[Piece]) -> Result<HashMap<RecordId, Record>, Fault> {
    let ids: Vec<RecordId> = pieces.iter().filter_map(|piece| piece.id).collect();
    if ids.is_empty() {
        return Ok(HashMap::new());
    }
    let limit = ids.len();
    let filter = Filter {
        when: When::Ever,
        ..Filter::current(&[], engine.now())
    };
    let found = engine.find(&filter.ids(ids).limit(limit))?;
    Ok(found
        .into_iter()
        .map(|record| (record.id, record))
        .collect())
}

fn item(piece: &Piece, records: &HashMap<RecordId, Record>) -> Item {
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
    if let Some(key) = record.map(told::key).filter(|key| has_key(key)) {
        words = format!("{}: {words}", text::printable(key));
    }
    let score = piece.score.map(|score| format!(", score {score:.2}"));
    Item {
        kind: kind.as_str(),
        href: record.map_or_else(String::new, told::href),
        words,
        size: number(piece.size),
        chars: number(piece.chars),
        why: format!("{}{}", piece.reason, score.unwrap_or_default()),
        is_in: piece.is_in,
    }
}

/// A text of many lines without what a terminal would obey.
fn shown(said: &str) -> String {
    let lines: Vec<_> = said.lines().map(text::printable).collect();
    lines.join("\n")
}
