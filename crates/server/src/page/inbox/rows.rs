//! Rows of the inbox.

use crate::page::pending_items::PendingItems;
use crate::page::record_label;
use crate::page::task_title::task_title;
use crate::page::view::inbox::{DuplicatePair, InboxChoice, InboxRow};
use crate::page::view::{Html, Times, diff, plural, render_text};
use heirloom_engine::{Engine, LessonSource};
use heirloom_model::similarity::ComparableText;
use heirloom_model::{Fault, Record, RecordId, limits, text};
use std::collections::HashMap;

/// Maximum number of rows in each section.
pub(super) const ROWS: usize = 20;

/// Numbers of contexts that contained a record.
pub(super) struct Uses(HashMap<RecordId, u64>);

impl Uses {
    /// Loads the numbers of the shown records.
    pub(super) fn load(engine: &Engine, items: &PendingItems) -> Result<Self, Fault> {
        let pairs = items.pairs.iter().flat_map(|(a, b)| [a.id, b.id]);
        let stale = items.stale.iter().map(|(record, _)| record.id);
        let others = items.proposals.iter().chain(&items.unused);
        let ids: Vec<RecordId> = pairs
            .chain(stale)
            .chain(others.map(|record| record.id))
            .collect();
        let found = engine.contexts().delivery_counts(&ids)?;
        let counts = found.into_iter().map(|(id, one)| (id, one.count));
        Ok(Self(counts.collect()))
    }

    fn label(&self, id: RecordId) -> String {
        let n = self.0.get(&id).copied().unwrap_or(0);
        let n = usize::try_from(n).unwrap_or(usize::MAX);
        match n {
            0 => "in no context yet".to_owned(),
            n => format!("in {}", plural(n, "context", "contexts")),
        }
    }
}

const ACCEPT: InboxChoice = choice("accept", "Accept", "y");
const REJECT: InboxChoice = choice("reject", "Reject", "x");
const KEEP: InboxChoice = choice("keep", "Still true", "y");
const RETIRE: InboxChoice = choice("retire", "Retire", "x");
const UNBLOCK: InboxChoice = choice("unblock", "Unblock", "y");

const fn choice(value: &'static str, label: &'static str, key: &'static str) -> InboxChoice {
    InboxChoice { value, label, key }
}

fn row(record: &Record, why: Html, meta: String, choices: Vec<InboxChoice>) -> InboxRow {
    InboxRow {
        id: record.id.to_string(),
        kind: record.kind.as_str(),
        href: record_label::href(record),
        name: record_label::name(record),
        words: record_label::text_html(record),
        why,
        meta,
        choices,
        is_selectable: true,
    }
}

fn meta(record: &Record, times: &Times, uses: &Uses) -> String {
    format!(
        "{}, {}, {}",
        record_label::source_label(&record.source),
        times.day(record.recorded_at),
        uses.label(record.id)
    )
}

/// Returns the rows of proposals, each with the line of the session that supports it.
pub(super) fn proposals(items: &PendingItems, times: &Times, uses: &Uses) -> Vec<InboxRow> {
    let rows = items.proposals.iter().take(ROWS).map(|record| {
        let why = LessonSource::of_record(record).map_or_else(String::new, |source| {
            let line = source.evidence.first().map(|evidence| &*evidence.line);
            format!("from {}: {}", source.author(), line.unwrap_or_default())
        });
        let choices = vec![ACCEPT, REJECT];
        row(
            record,
            render_text(&why),
            meta(record, times, uses),
            choices,
        )
    });
    rows.collect()
}

/// Returns the rows of blocked tasks.
pub(super) fn blocked(
    engine: &Engine,
    items: &PendingItems,
    times: &Times,
) -> Result<Vec<InboxRow>, Fault> {
    let rows = items.blocked.iter().take(ROWS).map(|(record, why)| {
        let why = render_text(&text::replace_control_chars(why));
        let at = times.full(record.recorded_at);
        let mut row = row(record, why, format!("changed {at}"), vec![UNBLOCK]);
        row.name = task_title(engine, record)?;
        row.words = Html::default();
        row.is_selectable = false;
        Ok(row)
    });
    rows.collect()
}

/// Returns the rows of records that name missing files.
pub(super) fn stale(items: &PendingItems, times: &Times, uses: &Uses) -> Vec<InboxRow> {
    let rows = items.stale.iter().take(ROWS).map(|(record, paths)| {
        let paths: Vec<_> = paths
            .iter()
            .take(3)
            .map(|path| format!("`{path}`"))
            .collect();
        let why = format!(
            "{} no longer in the project",
            match paths.len() {
                1 => format!("{} is", paths.concat()),
                _ => format!("{} are", paths.join(", ")),
            }
        );
        row(
            record,
            render_text(&why),
            meta(record, times, uses),
            vec![KEEP, RETIRE],
        )
    });
    rows.collect()
}

/// Returns the rows of records that were never used.
pub(super) fn unused(items: &PendingItems, times: &Times, uses: &Uses) -> Vec<InboxRow> {
    let rows = items.unused.iter().take(ROWS).map(|record| {
        let why = render_text(&format!(
            "known for more than {} days of use, never confirmed",
            limits::PROPOSAL_USE_DAYS_MAX
        ));
        row(record, why, meta(record, times, uses), vec![KEEP, RETIRE])
    });
    rows.collect()
}

/// Returns the rows of records with nearly the same text.
pub(super) fn pairs(items: &PendingItems, times: &Times, uses: &Uses) -> Vec<DuplicatePair> {
    let rows = items.pairs.iter().take(ROWS).map(|(older, newer)| {
        let comparable = ComparableText::from_text(&older.text);
        let overlap = comparable.overlap(&ComparableText::from_text(&newer.text));
        DuplicatePair {
            older: older.id.to_string(),
            newer: newer.id.to_string(),
            older_name: record_label::name(older),
            newer_name: record_label::name(newer),
            alike: format!("{:.0} % alike", overlap * 100.0),
            diff: diff(&older.text, &newer.text),
            older_meta: meta(older, times, uses),
            newer_meta: meta(newer, times, uses),
        }
    });
    rows.collect()
}
