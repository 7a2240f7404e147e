//! Rows of the list, with the usage of each entry in contexts.

use super::criteria::KnowledgeParams;
use crate::page::request_context::times;
use crate::page::view::chart::spark;
use crate::page::view::knowledge::KnowledgeRow;
use crate::page::view::{Html, Times, plural, render_text};
use crate::page::{RequestContext, record_label};
use heirloom_engine::{Conflict, Engine, RecordUsage};
use heirloom_model::kinds::Knowledge;
use heirloom_model::{Fault, KindData, Record, RecordId, mark, text};
use std::collections::HashSet;

/// Categories offered for a new entry.
pub(super) const CATEGORIES: [&str; 6] = [
    "architecture",
    "convention",
    "decision",
    "fact",
    "learning",
    "preference",
];

/// Returns the offered categories and the entry's own.
pub(crate) fn category_names(own: &str) -> Vec<String> {
    let mut names: Vec<String> = CATEGORIES.map(str::to_owned).to_vec();
    if !names.iter().any(|name| name == own) {
        names.push(own.to_owned());
    }
    names
}

/// Counts the uses of a record in contexts on each of the last seven days, oldest first.
fn by_day(used: &RecordUsage, times: &Times) -> [u64; 7] {
    let mut days = [0; 7];
    for at in &used.delivery_times {
        if let Ok(back @ 0..7) = usize::try_from(times.days_ago(*at)) {
            days[6 - back] += 1;
        }
    }
    days
}

pub(super) fn load(
    engine: &Engine,
    context: &RequestContext,
    records: &[Record],
    conflicts: &[Conflict],
) -> Result<Vec<KnowledgeRow>, Fault> {
    let times = times(engine);
    let place = KnowledgeParams::of_path(&context.path);
    let ids: Vec<RecordId> = records.iter().map(|record| record.id).collect();
    let uses = engine.contexts().delivery_counts(&ids)?;
    let open: HashSet<RecordId> = conflicts.iter().map(|one| one.winner.id).collect();
    let row = |record: &Record| {
        let used = uses.get(&record.id);
        let days = used.map_or([0; 7], |used| by_day(used, &times));
        let used = used.map_or(0, |used| used.count);
        KnowledgeRow {
            is_conflict: open.contains(&record.id),
            is_selected: place.select == "page",
            edit: place.edit_path(record.id),
            href: place.path_here(&format!("/knowledge/{}", record.id)),
            back: place.path_here("/knowledge"),
            ..row(record, context, &times, (used, days))
        }
    };
    Ok(records.iter().map(row).collect())
}

/// Loads the row of one entry.
pub(crate) fn row_of(
    engine: &Engine,
    id: RecordId,
    context: &RequestContext,
) -> Result<KnowledgeRow, Fault> {
    let record = engine.records().get(id)?;
    let conflicts = engine.conflicts().list()?;
    let rows = load(engine, context, std::slice::from_ref(&record), &conflicts)?;
    let mut rows = rows.into_iter();
    rows.next()
        .ok_or_else(|| Fault::failed("an entry has no row"))
}

fn row(
    record: &Record,
    context: &RequestContext,
    times: &Times,
    (used, days): (u64, [u64; 7]),
) -> KnowledgeRow {
    // Attributes of another version must not hide the text.
    let knowledge = Knowledge::from_record(record).ok();
    let confirmed = knowledge
        .as_ref()
        .map_or(0, |knowledge| knowledge.confirmations);
    let mut meta = vec![
        text::replace_control_chars(record.category().unwrap_or("fact")),
        record_label::source_label(&record.source),
        format!("confidence {:.2}", record.confidence.get()),
    ];
    if confirmed > 0 {
        meta.push(format!("confirmed {confirmed}×"));
    }
    if record.is_pending_proposal() {
        meta.push("proposed".to_owned());
    }
    let why = knowledge.and_then(|knowledge| knowledge.rationale);
    KnowledgeRow {
        id: record.id.to_string(),
        key: text::replace_control_chars(record_label::given_key(record)),
        name: record_label::name(record),
        words: record_label::text_html(record),
        why: why.map_or_else(Html::default, |why| {
            Html::from_markup(format!(
                " <span class=\"soft\">Because {}</span>",
                render_text(&text::excerpt(&why, 200))
            ))
        }),
        meta,
        is_pinned: mark::is_pinned(&record.attrs),
        is_muted: mark::is_muted(&record.attrs),
        is_conflict: false,
        is_on: false,
        is_selected: false,
        href: String::new(),
        edit: String::new(),
        back: String::new(),
        spark: spark("Used in contexts", &days),
        uses: plural(usize::try_from(used).unwrap_or(usize::MAX), "use", "uses"),
        at: times.brief(record.recorded_at),
        csrf: context.csrf.clone(),
    }
}
