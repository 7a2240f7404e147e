//! Sync of the team's files into records.

use super::Engine;
use super::diff::{retire, was_retired_by};
use super::scanned_entries::{FileScan, TeamFileEntry};
use crate::engine::TeamSharing;
use heirloom_formats::workspace::{self, EntryLocation, TeamFile};
use heirloom_model::kinds::Knowledge;
use heirloom_model::record::SOURCE_TEAM;
use heirloom_model::{Confidence, Fault, Kind, KindData, MergeRule, Record, RecordId, Scope, text};
use heirloom_store::{AsOf, Change, Filter};
use serde_json::json;
use std::collections::{HashMap, HashSet};

/// Source of records shared by the team.
pub(in super::super) const TEAM: &str = SOURCE_TEAM;

impl FileScan {
    /// Adds the entries of a file; an invalid file name becomes a note.
    pub(super) fn add_team(&mut self, engine: &Engine, path: &str, shown: &str, page: TeamFile) {
        let Some(category) = workspace::category_of_file_name(path) else {
            self.notes.push(format!(
                "{shown}: the name is not a valid category; the file is not read"
            ));
            return;
        };
        let mut known: HashSet<String> = self
            .teams
            .iter()
            .map(|team_entry| team_entry.name.clone())
            .collect();
        for mut entry in page.entries {
            entry.text = engine
                .redaction()
                .redact_input(&entry.text)
                .trim()
                .to_owned();
            entry.key = entry
                .key
                .map(|key| engine.redaction().redact_input(&key).into_owned());
            entry.why = entry
                .why
                .map(|why| engine.redaction().redact_input(&why).into_owned());
            let key = entry.key.clone().unwrap_or_default();
            let why = entry.why.clone().unwrap_or_default();
            let by_hand = text::hash_parts(&[&category, &entry.text]);
            let name = entry.id.map_or(by_hand, |id| id.to_string());
            if !known.insert(name.clone()) {
                let line = entry.line;
                self.notes.push(format!(
                    "{shown}:{line}: duplicate of an entry in another file; not read"
                ));
                continue;
            }
            self.teams.push(TeamFileEntry {
                digest: text::hash_parts(&[&name, &category, &key, &why, &entry.text]),
                place: EntryLocation {
                    file: shown.to_owned(),
                    line: entry.line,
                },
                category: category.clone(),
                name,
                entry,
            });
        }
    }
}

impl TeamSharing<'_> {
    /// Returns the changes that bring the records in line with the team's files.
    pub(super) fn team_changes(&self, scan: &mut FileScan) -> Result<Vec<Change>, Fault> {
        let mut tracked: HashMap<String, Record> = HashMap::new();
        for record in self.team_records(AsOf::Current(self.engine.now()))? {
            let name = record.attr_str("entry").unwrap_or_default().to_owned();
            tracked.insert(name, record);
        }
        let is_known = |team_entry: &&TeamFileEntry| {
            let known = tracked.get(&team_entry.name);
            known.is_some_and(|known| known.attr_str("digest") == Some(team_entry.digest.as_str()))
        };
        let (known, news): (Vec<&TeamFileEntry>, Vec<&TeamFileEntry>) =
            scan.teams.iter().partition(is_known);
        let mut changes = Vec::new();
        let mut left: HashSet<&str> = known
            .iter()
            .map(|team_entry| team_entry.name.as_str())
            .collect();
        if !news.is_empty() {
            let past = self.team_records(AsOf::Ever)?;
            let mut holders = self.holders(&news)?;
            for team_entry in news {
                left.insert(&team_entry.name);
                changes.extend(self.team_change(team_entry, &tracked, &past, &mut holders)?);
            }
        }
        for (name, record) in &tracked {
            let file = record.attr_str("file").unwrap_or_default();
            if !left.contains(name.as_str()) && !scan.unread.contains(file) {
                changes.push(retire(self.engine, record.id, TEAM));
            }
        }
        Ok(changes)
    }

    fn team_records(&self, when: AsOf) -> Result<Vec<Record>, Fault> {
        let mut filter = Filter::current(&[Kind::Knowledge], self.engine.now()).oldest_first();
        filter.source = Some(TEAM.to_owned());
        filter.as_of = when;
        let mut found = self.engine.records().find(&filter)?;
        found.retain(|record| record.attrs.contains_key("entry"));
        Ok(found)
    }

    /// Returns the current record of each key in the categories of these entries.
    fn holders(&self, news: &[&TeamFileEntry]) -> Result<HashMap<(String, String), Record>, Fault> {
        let categories: HashSet<&str> = news
            .iter()
            .map(|team_entry| team_entry.category.as_str())
            .collect();
        let mut holders = HashMap::new();
        for category in categories {
            let all = Filter::current(&[Kind::Knowledge], self.engine.now()).category(category);
            for record in self.engine.records().find(&all)? {
                if let Some(key) = record.key.clone() {
                    holders.insert((category.to_owned(), key), record);
                }
            }
        }
        Ok(holders)
    }

    fn team_change(
        &self,
        team_entry: &TeamFileEntry,
        tracked: &HashMap<String, Record>,
        past: &[Record],
        holders: &mut HashMap<(String, String), Record>,
    ) -> Result<Vec<Change>, Fault> {
        let mut record = self.team_record(team_entry);
        let place = (
            team_entry.category.clone(),
            record.key.clone().unwrap_or_default(),
        );
        let holder = holders.get(&place).cloned();
        let own = team_entry
            .entry
            .id
            .and_then(|id| holder.as_ref().filter(|h| h.id == id));
        let before = tracked.get(&team_entry.name).or(own).cloned();
        let is_free = |id: RecordId| holder.as_ref().is_none_or(|holder| holder.id == id);
        let changes = match before {
            Some(known) if is_free(known.id) => {
                inherit_from(&known, &mut record);
                holders.insert(place, record.clone());
                vec![Change::Revise {
                    id: known.id,
                    record: Box::new(record),
                }]
            }
            before => {
                let mut changes: Vec<_> = before
                    .iter()
                    .map(|known| retire(self.engine, known.id, TEAM))
                    .collect();
                let again = past.iter().rfind(|known| {
                    known.retired_at.is_some()
                        && known.attr_str("digest") == Some(&team_entry.digest)
                });
                if let Some(again) = again.filter(|_| before.is_none()) {
                    // Records that a user retired or decided against stay retired.
                    if again.replaced_by.is_none()
                        && was_retired_by(self.engine, again.id, TEAM)?
                        && holder.is_none()
                    {
                        changes.push(Change::Restore {
                            id: again.id,
                            at: self.engine.now(),
                            by: TEAM.to_owned(),
                        });
                    }
                    return Ok(changes);
                }
                if holder.is_some_and(|holder| holder.text == record.text) {
                    return Ok(changes);
                }
                holders.insert(place, record.clone());
                changes.push(Change::Put {
                    record: Box::new(record),
                    merge: MergeRule::Knowledge(self.engine.settings.conflict_policy),
                });
                changes
            }
        };
        Ok(changes)
    }

    fn team_record(&self, team_entry: &TeamFileEntry) -> Record {
        let entry = &team_entry.entry;
        let mut record =
            self.engine
                .records()
                .draft(Kind::Knowledge, &entry.text, Scope::default(), TEAM);
        let key = entry.key.clone().filter(|key| !key.trim().is_empty());
        record.key = Some(key.unwrap_or_else(|| Knowledge::derive_key(&entry.text)));
        // Entries in git were reviewed by people.
        record.confidence = Confidence::FULL;
        let mut knowledge = Knowledge::with_category(&team_entry.category);
        knowledge.rationale.clone_from(&entry.why);
        let place = [
            ("file", json!(team_entry.place.file)),
            ("line", json!(team_entry.place.line)),
            ("entry", json!(team_entry.name)),
            ("digest", json!(team_entry.digest)),
        ];
        (knowledge.extra).extend(place.map(|(name, value)| (name.to_owned(), value)));
        record.attrs = knowledge.to_attrs();
        record
    }
}

/// Copies scope, confidence and other attributes to the record's successor.
fn inherit_from(known: &Record, record: &mut Record) {
    record.scope = known.scope.clone();
    record.confidence = known.confidence;
    for (name, value) in &known.attrs {
        record
            .attrs
            .entry(name.clone())
            .or_insert_with(|| value.clone());
    }
    if !record.attrs.contains_key("by") && known.source != TEAM {
        record.attrs.insert("by".to_owned(), json!(known.source));
    }
}
