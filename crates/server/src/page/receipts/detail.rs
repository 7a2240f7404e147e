//! Receipt page: chart, items with reasons, the text that was sent, and differences to other contexts.

use super::body::{ItemTotal, ReceiptBody, ReceiptItem, ReceiptSection, sum, total};
use super::budget_chart::{render_chart, series};
use super::item_records::load_records;
use super::wording::{self, CutReason, item_kind, item_name, section_name};
use super::{ReceiptParams, comparison, recent_receipt, sent_text};
use crate::page::request_context::times;
use crate::page::view::chart::share;
use crate::page::view::receipts::{ItemRow, ReceiptView, SectionRow, SentText};
use crate::page::view::{number, percent, plural, render_text};
use crate::page::{RequestContext, Shell, record_label};
use crate::records_by_id::{RecordsById, find_any};
use heirloom_engine::{Engine, StoredReceipt};
use heirloom_model::{Fault, RecordId, limits, text};

/// Number of recent receipts next to the open one.
const RECENT: usize = 6;
/// Number of items of a section that are listed among all items although they are not relevant; more are counted.
const IRRELEVANT_SHOWN: usize = 3;

/// Loads the page of the receipt whose id begins with `id`.
pub(super) fn load(
    engine: &Engine,
    context: &RequestContext,
    id: &str,
    params: &ReceiptParams,
) -> Result<ReceiptView, Fault> {
    let receipt = engine.contexts().receipt(id)?;
    let body = ReceiptBody(&receipt.body);
    let times = times(engine);
    let sections = body.sections();
    let records = load_records(engine, &sections)?;
    let inside = sum(sections.iter().map(ReceiptSection::included)).count;
    let outside = sum(sections.iter().map(ReceiptSection::left_out)).count;
    let href = format!("/receipts/{}", receipt.id);
    let show =
        |name, query: &str, n, key: &str| (name, format!("{href}{query}"), n, params.show == key);
    let chart = render_chart(body, &sections);
    let legend = chart.legend.into_iter();
    let recent = engine.contexts().receipt_heads(RECENT)?;
    let mut noun = vec![times.full(receipt.at)];
    noun.extend(body.text("agent"));
    noun.extend(body.task());
    Ok(ReceiptView {
        shell: Shell::load(engine, context, "receipts", "Receipt")?,
        id: receipt.id.to_string(),
        noun: format!("Receipt · {}", noun.join(", ")),
        headline: format!(
            "{} got in, {} did not: {} of {} {}.",
            plural(inside, "item", "items"),
            number(outside as u64),
            number(body.used()),
            number(body.budget()),
            body.unit()
        ),
        session: body
            .text("session")
            .map(|id| (record_label::short_id(&id), record_label::session_href(&id))),
        asked: body
            .text("query")
            .map_or_else(String::new, |q| text::excerpt(q.trim_end_matches('.'), 120)),
        svg: chart.svg,
        legend: legend
            .map(|entry| (entry.swatch, entry.name, entry.size))
            .collect(),
        shows: vec![
            show("All", "", inside + outside, ""),
            show("In", "?show=in", inside, "in"),
            show("Cut", "?show=cut", outside, "cut"),
        ],
        sections: section_rows(&receipt, &params.show, &sections, &records),
        notes: body.notes(),
        unit: if body.is_tokens() {
            "Tokens"
        } else {
            "Characters"
        },
        has_characters: body.is_tokens(),
        sent: load_sent_text(engine, body, &sections, params)?,
        recent: recent
            .iter()
            .map(|one| recent_receipt(&one.receipt, &times, one.receipt.id == receipt.id))
            .collect(),
        difference: match (&params.again, &params.previous) {
            (Some(_), _) => Some(comparison::compare_with_now(engine, &receipt, &sections)?),
            (None, Some(_)) => Some(comparison::compare_with_previous(
                engine, &receipt, &sections, &times,
            )?),
            (None, None) => None,
        },
    })
}

/// Returns the rows of the sections, filtered by inclusion.
fn section_rows(
    receipt: &StoredReceipt,
    show: &str,
    sections: &[ReceiptSection],
    records: &RecordsById,
) -> Vec<SectionRow> {
    let body = ReceiptBody(&receipt.body);
    let rows = sections.iter().enumerate().map(|(at, section)| {
        let part = percent(section.size, body.budget());
        let why = common_reason(section);
        let irrelevant = irrelevant_items(section, body);
        let is_folded = show.is_empty() && irrelevant.count > IRRELEVANT_SHOWN;
        let is_shown = |item: &&ReceiptItem| match show {
            "in" => item.is_in,
            "cut" => !item.is_in,
            _ => !is_folded || !is_irrelevant(item, body),
        };
        let items = section.items.iter().filter(is_shown);
        let row = |item| ItemRow {
            why: match item_reason(item, body, records) {
                reason if item.is_in && reason == why => String::new(),
                reason => reason,
            },
            ..item_row(receipt, section, item, records)
        };
        SectionRow {
            series: series(at),
            name: section_name(&section.name),
            size: number(section.size),
            chars: number(section.chars as u64),
            share: share(
                &format!("{part} % of the budget"),
                part,
                &format!("c{}", series(at)),
                true,
            ),
            items: items.map(row).collect(),
            why,
            folded: match is_folded {
                true => format!(
                    "{} not relevant enough, {} {}.",
                    number(irrelevant.count as u64),
                    number(irrelevant.size),
                    body.unit()
                ),
                false => String::new(),
            },
            more: match (section.more, show) {
                (0, _) | (_, "in") => String::new(),
                (n, _) => format!(
                    "and {} more that did not get in, {} {}",
                    number(n as u64),
                    number(section.more_size),
                    body.unit()
                ),
            },
        }
    });
    rows.filter(|section| !section.items.is_empty() || !section.folded.is_empty())
        .collect()
}

fn is_irrelevant(item: &ReceiptItem, body: ReceiptBody<'_>) -> bool {
    !item.is_in && CutReason::of(item, body) == CutReason::NotRelevant
}

/// Returns the listed items that were left out because they are not relevant.
fn irrelevant_items(section: &ReceiptSection, body: ReceiptBody<'_>) -> ItemTotal {
    let items = section.items.iter();
    total(items.filter(|item| is_irrelevant(item, body)))
}

/// Returns the reason of the included items if all have the same one; empty otherwise.
fn common_reason(section: &ReceiptSection) -> String {
    let inside = section.items.iter().filter(|item| item.is_in);
    let mut reasons: Vec<String> = inside.map(wording::inclusion_words).collect();
    let count = reasons.len();
    reasons.dedup();
    match reasons.pop() {
        Some(reason) if reasons.is_empty() && count > 1 => reason,
        _ => String::new(),
    }
}

fn item_reason(item: &ReceiptItem, body: ReceiptBody<'_>, records: &RecordsById) -> String {
    if item.is_in {
        return wording::inclusion_words(item);
    }
    let name_of = |id: &str| {
        let id: RecordId = id.parse().ok()?;
        records.get(&id).map(record_label::name)
    };
    wording::cut_words(item, body, &name_of)
}

/// Returns the row of an item without its reason.
fn item_row(
    receipt: &StoredReceipt,
    section: &ReceiptSection,
    item: &ReceiptItem,
    records: &RecordsById,
) -> ItemRow {
    let record = item.id.and_then(|id| records.get(&id));
    let name = item_name(item, record);
    let has_text = receipt.body.contains_key("text");
    ItemRow {
        kind: item_kind(&section.name, item, record),
        href: record.map_or_else(String::new, record_label::href),
        words: render_text(&name.words),
        file: name.file,
        size: number(item.size),
        chars: number(item.chars as u64),
        why: String::new(),
        line_href: match item.id.filter(|_| item.is_in && has_text) {
            Some(id) => sent_href(receipt.id, id),
            None => String::new(),
        },
        is_in: item.is_in,
    }
}

/// Returns the permanent link to the lines of a record in the text of a receipt.
fn sent_href(receipt: RecordId, record: RecordId) -> String {
    format!("/receipts/{receipt}?record={record}#sent")
}

/// Returns the text that was sent, with the lines of the requested record marked.
fn load_sent_text(
    engine: &Engine,
    body: ReceiptBody<'_>,
    sections: &[ReceiptSection],
    params: &ReceiptParams,
) -> Result<SentText, Fault> {
    let is_open = params.text.is_some() || params.record.is_some();
    let Some(sent) = body.raw("text") else {
        let note = match body.chars() > limits::RECEIPT_TEXT_BYTES_MAX {
            true => format!(
                "The text was not kept: it is over {} bytes.",
                number(limits::RECEIPT_TEXT_BYTES_MAX as u64)
            ),
            false => "The text was not kept: an earlier version of Heirloom stored this receipt, without the text.".to_owned(),
        };
        return Ok(SentText {
            text: None,
            rules: String::new(),
            note,
            is_open,
            has_mark: false,
            size: String::new(),
        });
    };
    let (mut marked, mut note) = (None, String::new());
    if let Some(given) = &params.record {
        let id: Option<RecordId> = given.parse().ok();
        if let Some(id) = id {
            let records = find_any(engine, vec![id])?;
            marked = sent_text::find_lines(sent, sections, id, records.get(&id));
        }
        if marked.is_none() {
            note = "This text has no line of the linked record.".to_owned();
        }
    }
    Ok(SentText {
        has_mark: marked.is_some(),
        text: Some(sent_text::render_text(sent, marked)),
        rules: body.raw("rules").map_or_else(String::new, escape_lines),
        note,
        is_open,
        size: format!("{} characters", number(text::chars(sent) as u64)),
    })
}

/// Replaces control characters and keeps line breaks.
fn escape_lines(value: &str) -> String {
    let lines: Vec<_> = value.lines().map(text::replace_control_chars).collect();
    lines.join("\n")
}
