//! Outdated statements: two opposite statements are never told in one context.

use heirloom_model::kinds::Knowledge;
use heirloom_model::statement::Statement;
use heirloom_model::{Authority, Kind, Record, RecordId, mark};
use std::cmp::Reverse;
use std::collections::HashSet;

/// Number of the newest statements that are compared with each other.
const COMPARED_MAX: usize = 200;

/// Returns the records that another one of these outdates: of two opposite statements the one of lower authority, and
/// of equal authority the earlier one. A pinned record is never outdated.
pub(in crate::engine) fn outdated_records<'r>(
    records: impl IntoIterator<Item = &'r Record>,
) -> HashSet<RecordId> {
    let is_statement = |record: &&Record| record.kind == Kind::Knowledge;
    let mut records: Vec<&Record> = records.into_iter().filter(is_statement).collect();
    records.sort_by_key(|record| {
        let rank = (mark::is_pinned(&record.attrs), Authority::of_record(record));
        Reverse((rank, Knowledge::last_stated_at(record), record.id))
    });
    records.truncate(COMPARED_MAX);
    let read: Vec<(&Record, Statement)> = (records.into_iter())
        .map(|record| (record, Statement::from_text(&record.text)))
        .collect();
    let mut outdated = HashSet::new();
    for (place, (record, statement)) in read.iter().enumerate() {
        if outdated.contains(&record.id) {
            continue;
        }
        for (other, theirs) in read.iter().skip(place + 1) {
            let effect = match Knowledge::last_stated_at(other) <= Knowledge::last_stated_at(record)
            {
                true => statement.effect_on(theirs),
                false => theirs.effect_on(statement),
            };
            if effect.is_some() && !mark::is_pinned(&other.attrs) {
                outdated.insert(other.id);
            }
        }
    }
    outdated
}
