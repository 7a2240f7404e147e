//! The team's files into records: knowledge that came through git.

use super::Engine;
use super::diff::was_retired_by;
use super::sync::{Scanned, retire};
use crate::workspace::{self, Place, TeamEntry, TeamPage};
use heirloom_model::kinds::Knowledge;
use heirloom_model::record::SOURCE_TEAM;
use heirloom_model::{Confidence, Fault, Kind, KindData, Merge, Record, RecordId, Scope, text};
use heirloom_store::{Change, Filter, When};
use serde_json::json;
use std::collections::{HashMap, HashSet};

/// Who is named as the source of what the team shares.
pub(in super::super) const TEAM: &str = SOURCE_TEAM;

/// An entry of a team's file.
pub(super) struct Said {
    pub(super) digest: String,
    pub(super) place: Place,
    category: String,
    /// The entry's id, else what stands for it.
    name: String,
    entry: TeamEntry,
}

impl Scanned {
    /// Adds what a file says; one whose name is no category is told.
    pub(super) fn add_team(&mut self, engine: &Engine, path: &str, shown: &str, page: TeamPage) {
        let Some(category) = workspace::category_of(path) else {
            self.notes
                .push(format!("{shown}: the name is no category; it is not read"));
            return;
        };
        let mut known: HashSet<String> = self.teams.iter().map(|said| said.name.clone()).collect();
        for mut entry in page.entries {
            entry.text = engine.clean(&entry.text).trim().to_owned();
            entry.key = entry.key.map(|key| engine.clean(&key).into_owned());
            entry.why = entry.why.map(|why| engine.clean(&why).into_owned());
            let key = entry.key.clone().unwrap_or_default();
            let why = entry.why.clone().unwrap_or_default();
            let by_hand = text::hash_parts(&[&category, &entry.text]);
            let name = entry.id.map_or(by_hand, |id| id.to_string());
            if !known.insert(name.clone()) {
                let line = entry.line;
                self.notes.push(format!(
                    "{shown}:{line}: another file has this entry; it is not read"
                ));
                continue;
            }
            self.teams.push(Said {
                digest: text::hash_parts(&[&name, &category, &key, &why, &entry.text]),
                place: Place {
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

impl Engine {
    /// The changes that make the records what the team's files say.
    pub(super) fn team_changes(&self, scanned: &mut Scanned) -> Result<Vec<Change>, Fault> {
        let mut tracked: HashMap<String, Record> = HashMap::new();
        for record in self.of_team(When::Current(self.now()))? {
            let name = record.attr_str("entry").unwrap_or_default().to_owned();
            tracked.insert(name, record);
        }
        let is_known = |said: &&Said| {
            let known = tracked.get(&said.name);
            known.is_some_and(|known| known.attr_str("digest") == Some(said.digest.as_str()))
        };
        let (known, news): (Vec<&Said>, Vec<&Said>) = scanned.teams.iter().partition(is_known);
        let mut changes = Vec::new();
        let mut left: HashSet<&str> = known.iter().map(|said| said.name.as_str()).collect();
        if !news.is_empty() {
            let past = self.of_team(When::Ever)?;
            let mut holders = self.holders(&news)?;
            for said in news {
                left.insert(&said.name);
                changes.extend(self.team_change(said, &tracked, &past, &mut holders)?);
            }
        }
        for (name, record) in &tracked {
            let file = record.attr_str("file").unwrap_or_default();
            if !left.contains(name.as_str()) && !scanned.unread.contains(file) {
                changes.push(retire(self, record.id, TEAM));
            }
        }
        Ok(changes)
    }

    fn of_team(&self, when: When) -> Result<Vec<Record>, Fault> {
        let mut filter = Filter::current(&[Kind::Knowledge], self.now()).oldest_first();
        filter.source = Some(TEAM.to_owned());
        filter.when = when;
        let mut found = self.find(&filter)?;
        found.retain(|record| record.attrs.contains_key("entry"));
        Ok(found)
    }

    /// Who has each key of the categories that these entries are of.
    fn holders(&self, news: &[&Said]) -> Result<HashMap<(String, String), Record>, Fault> {
        let categories: HashSet<&str> = news.iter().map(|said| said.category.as_str()).collect();
        let mut holders = HashMap::new();
        for category in categories {
            let all = Filter::current(&[Kind::Knowledge], self.now()).category(category);
            for record in self.find(&all)? {
                if let Some(key) = record.key.clone() {
                    holders.insert((category.to_owned(), key), record);
                }
            }
        }
        Ok(holders)
    }

    fn team_change(
        &self,
        said: &Said,
        tracked: &HashMap<String, Record>,
        past: &[Record],
        holders: &mut HashMap<(String, String), Record>,
    ) -> Result<Vec<Change>, Fault> {
        let mut record = self.team_record(said);
        let place = (
            said.category.clone(),
            record.key.clone().unwrap_or_default(),
        );
        let holder = holders.get(&place).cloned();
        let own = said
            .entry
            .id
            .and_then(|id| holder.as_ref().filter(|h| h.id == id));
        let before = tracked.get(&said.name).or(own).cloned();
        let is_free = |id: RecordId| holder.as_ref().is_none_or(|holder| holder.id == id);
        let changes = match before {
            Some(known) if is_free(known.id) => {
                take_over(&known, &mut record);
                holders.insert(place, record.clone());
                vec![Change::Revise {
                    id: known.id,
                    record: Box::new(record),
                }]
            }
            before => {
                let mut changes: Vec<_> = before
                    .iter()
                    .map(|known| retire(self, known.id, TEAM))
                    .collect();
                let again = past.iter().rfind(|known| {
                    known.retired_at.is_some() && known.attr_str("digest") == Some(&said.digest)
                });
                if let Some(again) = again.filter(|_| before.is_none()) {
                    // What somebody forgot, or decided against, stays so.
                    if again.replaced_by.is_none()
                        && was_retired_by(self, again.id, TEAM)?
                        && holder.is_none()
                    {
                        changes.push(Change::Restore {
                            id: again.id,
                            at: self.now(),
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
                    merge: Merge::Knowledge(self.settings.conflict_policy),
                });
                changes
            }
        };
        Ok(changes)
    }

    fn team_record(&self, said: &Said) -> Record {
        let entry = &said.entry;
        let mut record = self.draft(Kind::Knowledge, &entry.text, Scope::default(), TEAM);
        let key = entry.key.clone().filter(|key| !key.trim().is_empty());
        record.key = Some(key.unwrap_or_else(|| Knowledge::key(&entry.text)));
        // Somebody has looked at what came through git.
        record.confidence = Confidence::FULL;
        let mut knowledge = Knowledge::of_category(&said.category);
        knowledge.rationale.clone_from(&entry.why);
        let place = [
            ("file", json!(said.place.file)),
            ("line", json!(said.place.line)),
            ("entry", json!(said.name)),
            ("digest", json!(said.digest)),
        ];
        (knowledge.extra).extend(place.map(|(name, value)| (name.to_owned(), value)));
        record.attrs = knowledge.to_attrs();
        record
    }
}

/// What is known of a record beside what the entry says goes on with the one that takes its place.
fn take_over(known: &Record, record: &mut Record) {
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
