//! Entries as rows, with how often contexts told them.

use crate::page::look::times;
use crate::page::view::chart::spark;
use crate::page::view::knowledge::Row;
use crate::page::view::{Html, Times, plural, said};
use crate::page::{Look, told};
use heirloom_engine::{Conflict, Engine, Use};
use heirloom_model::kinds::Knowledge;
use heirloom_model::{Fault, KindData, Record, RecordId, mark, text};
use std::collections::HashSet;

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

/// How often contexts of each of the last seven days told a record, oldest first.
fn by_day(used: &Use, times: &Times) -> [u64; 7] {
    let mut days = [0; 7];
    for at in &used.at {
        if let Ok(back @ 0..7) = usize::try_from(times.days_ago(*at)) {
            days[6 - back] += 1;
        }
    }
    days
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
    let open: HashSet<RecordId> = conflicts.iter().map(|one| one.winner.id).collect();
    let row = |record: &Record| {
        let used = uses.get(&record.id);
        let days = used.map_or([0; 7], |used| by_day(used, &times));
        let used = used.map_or(0, |used| used.times);
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
    // Attributes of another version are no reason to keep the text back: it is shown without them.
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
