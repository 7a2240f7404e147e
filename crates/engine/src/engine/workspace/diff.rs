//! Diff between workspace files and their records.

use super::Engine;
use super::scanned_entries::{FileEntry, FileScan};
use heirloom_model::kinds::Note;
use heirloom_model::similarity::ComparableText;
use heirloom_model::{
    Action, Event, Fault, Kind, KindData, MergeRule, Record, RecordId, Scope, limits,
};
use heirloom_store::{AsOf, Change, Filter};
use serde_json::json;
use std::collections::{HashMap, HashSet};

/// Category and source of these records.
pub(super) const WORKSPACE: &str = "workspace";
/// Prefix of the actor of record changes that follow from an agent's file change; the agent's name comes after it.
pub(super) const FOLLOWS: &str = "workspace: ";
/// Minimum share of common words for an edited entry to replace its record.
const SIMILARITY_MIN: f64 = 0.4;

/// Returns the changes that bring the records in line with the files, in order.
pub(super) fn changes(engine: &Engine, scan: &FileScan, by: &str) -> Result<Vec<Change>, Fault> {
    let known = Filter::current(&[Kind::Note], engine.now()).category(WORKSPACE);
    let mut known = engine.records().find(&known)?;
    known.retain(is_entry);
    let wanted: HashSet<&str> = scan
        .wants
        .iter()
        .map(|entry| entry.digest.as_str())
        .collect();
    let stored: HashSet<&str> = known
        .iter()
        .filter_map(|record| record.key.as_deref())
        .collect();
    let is_gone = |record: &&Record| {
        let digest = record.key.as_deref().unwrap_or_default();
        let file = record.attr_str("file").unwrap_or_default();
        !wanted.contains(digest) && !scan.unread.contains(file)
    };
    let mut gone: Vec<&Record> = known.iter().filter(is_gone).collect();
    gone.reverse();
    let missing = scan.wants.iter();
    let missing =
        missing.filter(|entry| !entry.is_unreadable && !stored.contains(entry.digest.as_str()));
    let mut missing: Vec<&FileEntry> = missing.collect();
    let mut changes = Vec::new();
    if !missing.is_empty() {
        restore_former(engine, &mut missing, &mut changes, by)?;
    }
    let pairs = pairs(&gone, &missing);
    for entry in missing {
        let record = Box::new(record(engine, entry, by));
        changes.push(match pairs.get(entry.digest.as_str()) {
            Some(&id) => Change::Revise { id, record },
            None => Change::Put {
                record,
                merge: MergeRule::Replace,
            },
        });
    }
    let replaced: HashSet<RecordId> = pairs.values().copied().collect();
    let left = gone.iter().filter(|record| !replaced.contains(&record.id));
    changes.extend(left.map(|record| retire(engine, record.id, by)));
    Ok(changes)
}

/// Returns true if a record is an entry of a file; other records may use the same category.
pub(super) fn is_entry(record: &Record) -> bool {
    record.source == WORKSPACE && record.attrs.contains_key("line")
}

/// Removes from `missing` the entries that had a record before: it is restored if it was retired because its entry
/// was gone, but not if a user retired it.
fn restore_former(
    engine: &Engine,
    missing: &mut Vec<&FileEntry>,
    changes: &mut Vec<Change>,
    by: &str,
) -> Result<(), Fault> {
    let mut ever = Filter::current(&[Kind::Note], engine.now()).category(WORKSPACE);
    ever.as_of = AsOf::Ever;
    let mut past: HashMap<String, Record> = HashMap::new();
    for record in engine.records().find(&ever.oldest_first())? {
        if !is_entry(&record) {
            continue;
        }
        if let Some(key) = record.key.clone().filter(|_| record.replaced_by.is_none()) {
            past.insert(key, record);
        }
    }
    let mut left = Vec::new();
    for entry in missing.drain(..) {
        let Some(record) = past.get(&entry.digest) else {
            left.push(entry);
            continue;
        };
        if was_retired_by(engine, record.id, WORKSPACE)? {
            changes.push(Change::Restore {
                id: record.id,
                at: engine.now(),
                by: by.to_owned(),
            });
        }
    }
    *missing = left;
    Ok(())
}

/// Returns true if the last event of a record is its retirement by `by`.
pub(super) fn was_retired_by(engine: &Engine, id: RecordId, by: &str) -> Result<bool, Fault> {
    let events = engine.records().record_audit(id)?;
    let last = events.iter().max_by_key(|event| event.at);
    let follows = |event: &Event| by == WORKSPACE && event.by.starts_with(FOLLOWS);
    Ok(last
        .is_some_and(|event| event.action == Action::Retired && (event.by == by || follows(event))))
}

/// Returns the change that retires a record whose entry is gone.
pub(super) fn retire(engine: &Engine, id: RecordId, by: &str) -> Change {
    Change::Retire {
        id,
        at: engine.now(),
        by: by.to_owned(),
    }
}

/// Assigns records to edited entries: under each heading the most similar one, or the only one.
fn pairs<'w>(gone: &[&Record], missing: &[&'w FileEntry]) -> HashMap<&'w str, RecordId> {
    type Sides<'g, 'w> = (Vec<&'g Record>, Vec<&'w FileEntry>);
    let mut by_heading: HashMap<(&str, &str), Sides<'_, 'w>> = HashMap::new();
    for &record in gone {
        let attr = |name| record.attr_str(name).unwrap_or_default();
        let place = (attr("file"), attr("heading"));
        by_heading.entry(place).or_default().0.push(record);
    }
    for &entry in missing {
        let place = (entry.place.file.as_str(), entry.heading.as_str());
        if let Some(sides) = by_heading.get_mut(&place) {
            sides.1.push(entry);
        }
    }
    let mut pairs = HashMap::new();
    for (old, new) in by_heading.into_values() {
        if let ([one], [other]) = (old.as_slice(), new.as_slice()) {
            pairs.insert(other.digest.as_str(), one.id);
            continue;
        }
        if old.len().saturating_mul(new.len()) > limits::WORKSPACE_PAIRS_MAX {
            continue;
        }
        let mut old: Vec<_> = old
            .iter()
            .map(|r| (r.id, ComparableText::from_text(&r.text)))
            .collect();
        for entry in new {
            let words = ComparableText::from_text(&entry.words);
            let alike = old
                .iter()
                .map(|(_, known)| known.share_in(&words))
                .enumerate();
            let best = alike.max_by(|a, b| a.1.total_cmp(&b.1));
            if let Some((at, _)) = best.filter(|(_, share)| *share >= SIMILARITY_MIN) {
                pairs.insert(entry.digest.as_str(), old.remove(at).0);
            }
        }
    }
    pairs
}

fn record(engine: &Engine, entry: &FileEntry, by: &str) -> Record {
    let scope = Scope {
        group: entry.group.clone(),
        ..Scope::default()
    };
    let mut record = engine
        .records()
        .draft(Kind::Note, &entry.words, scope, WORKSPACE);
    record.key = Some(entry.digest.clone());
    let mut note = Note {
        category: WORKSPACE.to_owned(),
        extra: Default::default(),
    };
    let place = [
        ("file", json!(entry.place.file)),
        ("line", json!(entry.place.line)),
        ("heading", json!(entry.heading)),
    ];
    note.extra
        .extend(place.map(|(name, value)| (name.to_owned(), value)));
    if let Some(agent) = by.strip_prefix(FOLLOWS) {
        note.extra.insert("by".to_owned(), json!(agent));
    }
    record.attrs = note.to_attrs();
    record
}
