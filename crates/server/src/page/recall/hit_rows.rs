//! Rows of hits: records, turns of conversations, and weak ones.

use super::explanation;
use super::query_words::QueryWords;
use super::score_parts;
use crate::page::record_label;
use crate::page::view::recall::HitRow;
use crate::page::view::{Times, plural};
use heirloom_model::record_meaning::record_meaning;
use heirloom_model::{Message, Record, RecordId, mark, text};
use heirloom_search::recall::{Ranked, RecallItem, is_relevant};
use heirloom_search::relevance::{Grade, TELL_MIN};
use std::collections::HashMap;

/// Hits of a query by section. A turn that is stored several times is one hit.
#[derive(Debug, Default)]
pub(super) struct HitSections {
    /// Records that reach the floor.
    pub(super) records: Vec<Ranked>,
    /// Turns that reach the floor.
    pub(super) turns: Vec<Ranked>,
    /// Hits below the floor.
    pub(super) weak: Vec<Ranked>,
    /// Number of copies of turns, by the id of the turn that is shown.
    copies: HashMap<RecordId, usize>,
}

impl HitSections {
    /// Returns true if a listed hit is strongly relevant.
    pub(super) fn has_strong_hit(&self) -> bool {
        (self.records.iter().chain(&self.turns)).any(|hit| is_relevant(hit, TELL_MIN))
    }

    /// Divides the hits of a query, which are in the order of recall, at a relevance.
    pub(super) fn of(hits: impl IntoIterator<Item = Ranked>, floor: f64) -> Self {
        let mut sections = Self::default();
        let mut shown: HashMap<(&'static str, String), RecordId> = HashMap::new();
        for hit in hits {
            if let RecallItem::Turn { message, .. } = &hit.item {
                let same = (message.role.as_str(), text::normalize(&message.text));
                if let Some(first) = shown.get(&same) {
                    *sections.copies.entry(*first).or_insert(1) += 1;
                    continue;
                }
                shown.insert(same, message.id);
            }
            let section = match (&hit.item, is_relevant(&hit, floor)) {
                (_, false) => &mut sections.weak,
                (RecallItem::Record(_), true) => &mut sections.records,
                (RecallItem::Turn { .. }, true) => &mut sections.turns,
            };
            section.push(hit);
        }
        sections
    }

    /// Returns the number of copies of a hit that are stored.
    fn copies_of(&self, hit: &Ranked) -> usize {
        self.copies.get(&hit.item.id()).copied().unwrap_or(1)
    }
}

/// Builds the rows of the hits of one query.
pub(super) struct HitRows<'p> {
    pub(super) words: &'p QueryWords,
    pub(super) times: &'p Times,
    /// Positions of open conflicts, by the id of the record in effect.
    pub(super) conflicts: &'p HashMap<RecordId, usize>,
    pub(super) sections: &'p HitSections,
}

impl HitRows<'_> {
    /// Returns the rows of the first `most` hits.
    pub(super) fn rows(&self, hits: &[Ranked], most: usize) -> Vec<HitRow> {
        let best = hits.first().map_or(1.0, |hit| hit.breakdown.total);
        let numbered = (1..).zip(hits.iter().take(most));
        numbered
            .map(|(rank, hit)| self.row(rank, hit, best))
            .collect()
    }

    fn row(&self, rank: usize, hit: &Ranked, best: f64) -> HitRow {
        let row = match &hit.item {
            RecallItem::Record(record) => self.record_row(record),
            RecallItem::Turn { session, message } => turn_row(session, message),
        };
        let source = record_label::source_label(hit.item.source());
        let time = self.times.brief(hit.item.recorded_at());
        let mut meta = row.meta;
        meta.extend([(source, String::new()), (time, String::new())]);
        let said_text = match &hit.item {
            RecallItem::Record(record) => record_meaning(record),
            RecallItem::Turn { message, .. } => message.text.as_str().into(),
        };
        HitRow {
            id: hit.item.id().to_string(),
            rank,
            meta,
            words: self.words.mark(&said_text),
            why: explanation::sentence(hit, self.words, self.times),
            parts: score_parts::table(hit),
            relevance: hit.relevance.map_or_else(String::new, text::percent),
            grade: hit.grade().map_or("", Grade::as_str),
            bar: score_parts::bar(hit, best),
            folded: self.folded(hit),
            ..row
        }
    }

    /// Returns the parts of a row that are the record's own.
    fn record_row(&self, record: &Record) -> HitRow {
        let task = record_label::named_task(record.scope.task.as_deref());
        let task = task.map(|task| {
            let href = record_label::task_href(task);
            (record_label::task_label(task), href)
        });
        let conflict = self.conflicts.get(&record.id);
        let useful = mark::useful_count(&record.attrs);
        HitRow {
            kind: record.kind.as_str(),
            key: text::replace_control_chars(record_label::given_key(record)),
            href: record_label::href(record),
            meta: task.into_iter().collect(),
            is_pinned: mark::is_pinned(&record.attrs),
            is_muted: mark::is_muted(&record.attrs),
            conflict: conflict.map_or_else(String::new, |at| conflict_href(*at)),
            is_record: true,
            is_useful: useful > 0,
            ..HitRow::default()
        }
    }

    /// Returns the note about near-duplicates and copies of a hit.
    fn folded(&self, hit: &Ranked) -> String {
        match (hit.duplicates.len(), self.sections.copies_of(hit)) {
            (0, 1) => String::new(),
            (0, copies) => format!("Occurs {copies} times in conversations, shown once."),
            (n, _) => format!(
                "{} grouped under it.",
                plural(n, "near-duplicate", "near-duplicates")
            ),
        }
    }
}

/// Returns the parts of a row that are the turn's own.
fn turn_row(session: &str, message: &Message) -> HitRow {
    let of_session = record_label::session_href(session);
    let label = format!("session {}", record_label::short_id(session));
    HitRow {
        kind: "turn",
        href: format!("{of_session}#t-{}", message.seq),
        meta: vec![(label, of_session)],
        ..HitRow::default()
    }
}

/// Returns the address of the open conflict at this position.
pub(super) fn conflict_href(at: usize) -> String {
    format!("/knowledge?conflict={at}#conflict")
}

#[cfg(test)]
mod tests {
    use super::super::explanation::tests::hit;
    use super::*;
    use heirloom_search::relevance::FLOOR;

    #[test]
    fn turn_that_is_stored_twice_is_one_hit() {
        let turn = |words: &str, id: u8| {
            let mut hit = hit(words);
            if let RecallItem::Turn { message, .. } = &mut hit.item {
                message.id = RecordId::from_bytes([id; 16]);
            }
            hit.relevance = Some(0.5);
            hit
        };
        let mut weak = turn("other", 3);
        weak.relevance = Some(0.01);
        let hits = vec![turn("Rate  limit", 1), turn("rate limit", 2), weak];
        let sections = HitSections::of(hits, FLOOR);
        assert_eq!((sections.turns.len(), sections.weak.len()), (1, 1));
        assert_eq!(sections.copies_of(&sections.turns[0]), 2);
        assert_eq!(sections.copies_of(&sections.weak[0]), 1);
    }

    #[test]
    fn hit_little_above_the_floor_is_no_strong_hit() {
        for (relevance, exact, expected) in [
            (Some(FLOOR), 0.0, false),
            (Some(TELL_MIN), 0.0, true),
            (Some(0.01), 1.0, true),
            (None, 0.0, true),
        ] {
            let mut one = hit("rate limit");
            one.relevance = relevance;
            one.breakdown.exact = exact;
            let sections = HitSections::of(vec![one], FLOOR);
            assert_eq!(sections.turns.len(), 1);
            assert_eq!(sections.has_strong_hit(), expected, "{relevance:?} {exact}");
        }
    }
}
