//! Entries as rows, with how often contexts told them.

use crate::page::look::times;
use crate::page::view::chart::spark;
use crate::page::view::knowledge::Row;
use crate::page::view::{Html, Times, plural, said};
use crate::page::{Look, told};
use heirloom_engine::{Conflict, Engine};
use heirloom_model::kinds::Knowledge;
use heirloom_model::{Fault, KindData, Record, RecordId, limits, mark, text};
use serde_json::Value;
use std::collections::{HashMap, HashSet};

/// Categories that are offered.
pub(super) const CATEGORIES: [&str; 6] = [
    "architecture",
    "convention",
    "decision",
    "fact",
    "learning",
    "preference",
];

/// The categories that are offered, with the one that an entry has.
pub(crate) fn category_names(own: &str) -> Vec<String> {
    let mut names: Vec<String> = CATEGORIES.map(str::to_owned).to_vec();
    if !names.iter().any(|name| name == own) {
        names.push(own.to_owned());
    }
    names
}

/// How often contexts of the last seven days told each record, by day, oldest first.
pub(crate) fn uses_by_day(
    engine: &Engine,
    times: &Times,
) -> Result<HashMap<RecordId, [u64; 7]>, Fault> {
    let list = |value: Option<&Value>| value.and_then(Value::as_array).cloned().unwrap_or_default();
    let from = times.midnight(6);
    let mut uses: HashMap<RecordId, [u64; 7]> = HashMap::new();
    for receipt in engine.receipts(limits::RECEIPTS_KEPT)? {
        if receipt.at < from {
            break;
        }
        let Ok(back) = usize::try_from(times.days_ago(receipt.at)) else {
            continue;
        };
        for section in list(receipt.body.get("sections")) {
            for item in list(section.get("items")) {
                let id = item.get("id").and_then(Value::as_str);
                let is_in = item.get("included") == Some(&Value::Bool(true));
                let id = id.filter(|_| is_in).and_then(|id| id.parse().ok());
                if let (Some(id), 0..7) = (id, back) {
                    uses.entry(id).or_default()[6 - back] += 1;
                }
            }
        }
    }
    Ok(uses)
}

pub(super) fn load(
    engine: &Engine,
    look: &Look,
    records: &[Record],
    conflicts: &[Conflict],
) -> Result<Vec<Row>, Fault> {
    let times = times(engine);
    let ids: Vec<RecordId> = records.iter().map(|record| record.id).collect();
    let uses = engine.uses(&ids)?;
    let days = uses_by_day(engine, &times)?;
    let open: HashSet<RecordId> = conflicts.iter().map(|one| one.winner.id).collect();
    let row = |record: &Record| {
        let used = uses.get(&record.id).map_or(0, |used| used.times);
        let days = days.get(&record.id).copied().unwrap_or_default();
        row(
            record,
            look,
            &times,
            (used, days),
            open.contains(&record.id),
        )
    };
    Ok(records.iter().map(row).collect())
}

/// The row of one entry.
pub(crate) fn row_of(engine: &Engine, id: RecordId, look: &Look) -> Result<Row, Fault> {
    let record = engine.get(id)?;
    let conflicts = engine.conflicts()?;
    let rows = load(engine, look, std::slice::from_ref(&record), &conflicts)?;
    let mut rows = rows.into_iter();
    rows.next()
        .ok_or_else(|| Fault::failed("an entry has no row"))
}

fn row(
    record: &Record,
    look: &Look,
    times: &Times,
    (used, days): (u64, [u64; 7]),
    is_conflict: bool,
) -> Row {
    let knowledge = Knowledge::of(record).ok();
    let confirmed = knowledge
        .as_ref()
        .map_or(0, |knowledge| knowledge.confirmations);
    let mut meta = vec![
        text::printable(record.category().unwrap_or("fact")),
        told::who(&record.source),
        format!("confidence {:.2}", record.confidence.get()),
    ];
    if confirmed > 0 {
        meta.push(format!("confirmed {confirmed}×"));
    }
    if knowledge
        .as_ref()
        .is_some_and(|knowledge| knowledge.proposal && knowledge.category == "preference")
    {
        meta.push("proposed".to_owned());
    }
    let why = knowledge.and_then(|knowledge| knowledge.rationale);
    Row {
        id: record.id.to_string(),
        key: text::printable(told::key(record)),
        words: told::words(record),
        why: why.map_or_else(Html::default, |why| {
            Html::made(format!(
                " <span class=\"soft\">Because {}</span>",
                said(&text::excerpt(&why, 200))
            ))
        }),
        meta,
        is_pinned: mark::is_pinned(&record.attrs),
        is_muted: mark::is_muted(&record.attrs),
        is_conflict,
        is_on: false,
        spark: spark("Used in contexts", &days),
        uses: plural(usize::try_from(used).unwrap_or(usize::MAX), "use", "uses"),
        at: times.brief(record.recorded_at),
        csrf: look.csrf.clone(),
    }
}
