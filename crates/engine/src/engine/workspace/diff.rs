//! What is to be done so that the records are what the workspace files say.

use super::Engine;
use super::sync::{Scanned, retire};
use crate::workspace::Place;
use heirloom_model::kinds::Note;
use heirloom_model::likeness::Likeness;
use heirloom_model::{Action, Fault, Kind, KindData, Merge, Record, RecordId, Scope, limits};
use heirloom_store::{Change, Filter, When};
use serde_json::json;
use std::collections::{HashMap, HashSet};

/// The category of these records, and who is named as their source.
pub(super) const WORKSPACE: &str = "workspace";
/// Share of the words that an entry keeps when it is edited, for the new one to take the place of the old.
const ALIKE_MIN: f64 = 0.4;

/// An entry that is to be a record.
pub(super) struct Want {
    pub(super) digest: String,
    pub(super) place: Place,
    pub(super) heading: String,
    pub(super) words: String,
    /// Whether its file could not be read: its record stays if there is one, and none is made.
    pub(super) is_kept: bool,
}

impl Want {
    /// What is known of a file that cannot be read.
    pub(super) fn kept(digest: &str, place: &Place) -> Self {
        Self {
            digest: digest.to_owned(),
            place: place.clone(),
            heading: String::new(),
            words: String::new(),
            is_kept: true,
        }
    }
}

/// The changes, in order.
pub(super) fn changes(engine: &Engine, scanned: &Scanned) -> Result<Vec<Change>, Fault> {
    let known = Filter::current(&[Kind::Note], engine.now()).category(WORKSPACE);
    let mut known = engine.find(&known)?;
    known.retain(is_entry);
    let wanted: HashSet<&str> = scanned
        .wants
        .iter()
        .map(|want| want.digest.as_str())
        .collect();
    let here: HashSet<&str> = known
        .iter()
        .filter_map(|record| record.key.as_deref())
        .collect();
    let is_gone = |record: &&Record| {
        let digest = record.key.as_deref().unwrap_or_default();
        let file = record.attr_str("file").unwrap_or_default();
        !wanted.contains(digest) && !scanned.unread.contains(file)
    };
    let mut gone: Vec<&Record> = known.iter().filter(is_gone).collect();
    gone.reverse();
    let missing = scanned.wants.iter();
    let missing = missing.filter(|want| !want.is_kept && !here.contains(want.digest.as_str()));
    let mut missing: Vec<&Want> = missing.collect();
    let mut changes = Vec::new();
    if !missing.is_empty() {
        bring_back(engine, &mut missing, &mut changes)?;
    }
    let pairs = pairs(&gone, &missing);
    for want in missing {
        let record = Box::new(record(engine, want));
        changes.push(match pairs.get(want.digest.as_str()) {
            Some(&id) => Change::Revise { id, record },
            None => Change::Put {
                record,
                merge: Merge::Replace,
            },
        });
    }
    let replaced: HashSet<RecordId> = pairs.values().copied().collect();
    let left = gone.iter().filter(|record| !replaced.contains(&record.id));
    changes.extend(left.map(|record| retire(engine, record.id, WORKSPACE)));
    Ok(changes)
}

/// Whether a record is an entry of a file: others may use the same category.
fn is_entry(record: &Record) -> bool {
    record.source == WORKSPACE && record.attrs.contains_key("line")
}

/// Takes out of `missing` what was a record before: one that was retired because its entry was gone comes back, one
/// that somebody forgot stays forgotten.
fn bring_back(
    engine: &Engine,
    missing: &mut Vec<&Want>,
    changes: &mut Vec<Change>,
) -> Result<(), Fault> {
    let mut ever = Filter::current(&[Kind::Note], engine.now()).category(WORKSPACE);
    ever.when = When::Ever;
    let mut past: HashMap<String, Record> = HashMap::new();
    for record in engine.find(&ever.oldest_first())? {
        if !is_entry(&record) {
            continue;
        }
        if let Some(key) = record.key.clone().filter(|_| record.replaced_by.is_none()) {
            past.insert(key, record);
        }
    }
    let mut left = Vec::new();
    for want in missing.drain(..) {
        let Some(record) = past.get(&want.digest) else {
            left.push(want);
            continue;
        };
        if was_retired_by(engine, record.id, WORKSPACE)? {
            changes.push(Change::Restore {
                id: record.id,
                at: engine.now(),
                by: WORKSPACE.to_owned(),
            });
        }
    }
    *missing = left;
    Ok(())
}

/// Whether the last that happened to a record is that `by` retired it.
pub(super) fn was_retired_by(engine: &Engine, id: RecordId, by: &str) -> Result<bool, Fault> {
    let events = engine.audit_of(id)?;
    let last = events.iter().max_by_key(|event| event.at);
    Ok(last.is_some_and(|event| event.action == Action::Retired && event.by == by))
}

/// Which record each edited entry takes the place of: the one under the same heading that it is most alike, or the
/// only one there.
fn pairs<'w>(gone: &[&Record], missing: &[&'w Want]) -> HashMap<&'w str, RecordId> {
    type Sides<'g, 'w> = (Vec<&'g Record>, Vec<&'w Want>);
    let mut by_heading: HashMap<(&str, &str), Sides<'_, 'w>> = HashMap::new();
    for &record in gone {
        let attr = |name| record.attr_str(name).unwrap_or_default();
        let place = (attr("file"), attr("heading"));
        by_heading.entry(place).or_default().0.push(record);
    }
    for &want in missing {
        let place = (want.place.file.as_str(), want.heading.as_str());
        if let Some(sides) = by_heading.get_mut(&place) {
            sides.1.push(want);
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
        let mut old: Vec<_> = old.iter().map(|r| (r.id, Likeness::of(&r.text))).collect();
        for want in new {
            let words = Likeness::of(&want.words);
            let alike = old
                .iter()
                .map(|(_, known)| known.share_in(&words))
                .enumerate();
            let best = alike.max_by(|a, b| a.1.total_cmp(&b.1));
            if let Some((at, _)) = best.filter(|(_, share)| *share >= ALIKE_MIN) {
                pairs.insert(want.digest.as_str(), old.remove(at).0);
            }
        }
    }
    pairs
}

fn record(engine: &Engine, want: &Want) -> Record {
    let mut record = engine.draft(Kind::Note, &want.words, Scope::default(), WORKSPACE);
    record.key = Some(want.digest.clone());
    let mut note = Note {
        category: WORKSPACE.to_owned(),
        extra: Default::default(),
    };
    let place = [
        ("file", json!(want.place.file)),
        ("line", json!(want.place.line)),
        ("heading", json!(want.heading)),
    ];
    note.extra
        .extend(place.map(|(name, value)| (name.to_owned(), value)));
    record.attrs = note.to_attrs();
    record
}
