//! Taking files of shared context in, as knowledge.

use super::Engine;
use super::transfer::{ImportReport, Taking};
use crate::shared::{self, SharedEntry};
use heirloom_model::kinds::Knowledge;
use heirloom_model::{Fault, Kind, KindData, Merge, Record, Scope, limits, text};
use heirloom_store::{Change, Filter};
use std::collections::HashMap;
use std::collections::hash_map::Entry;

/// Who is named as the source of what an import brings.
const SOURCE: &str = "import";

/// A file of shared context.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SharedFile {
    /// Its path, as it is told.
    pub path: String,
    /// Its text.
    pub text: String,
}

/// What is known by category: the text of each key.
type Known = HashMap<String, HashMap<String, String>>;

impl Engine {
    /// Takes files of shared context in as one import, which `undo` takes back: headings are the category and the
    /// key, bullets the value.
    ///
    /// What is here already stays as it is; where a file says something else, that is told. `source` says where they
    /// come from.
    pub fn import_shared(&self, files: &[SharedFile], source: &str) -> Result<ImportReport, Fault> {
        let mut taking = Taking::new(self, source)?;
        let taken = self.take_shared(files, &mut taking);
        taken.map_err(|fault| taking.abandon(fault))?;
        taking.end()
    }

    /// Adds files of shared context to an import.
    pub(super) fn take_shared(
        &self,
        files: &[SharedFile],
        taking: &mut Taking<'_>,
    ) -> Result<(), Fault> {
        let mut known = Known::new();
        let mut told = Vec::new();
        for file in files {
            let page = shared::parse(&file.text);
            for found in page.diagnostics {
                told.push(format!("{}:{}: {}", file.path, found.line, found.message));
            }
            for entry in page.entries {
                let line = entry.line;
                let record = self.shared_record(entry);
                if let Some(other) = self.other_value(&record, &mut known)? {
                    let place = format!("{}:{line}", file.path);
                    told.push(format!("{place}: {other}"));
                }
                let put = Change::Put {
                    record: Box::new(record),
                    merge: Merge::Keep,
                };
                taking.add(line, put)?;
            }
        }
        let untold = told.len().saturating_sub(limits::DIAGNOSTICS_MAX);
        told.truncate(limits::DIAGNOSTICS_MAX);
        if untold > 0 {
            told.push(format!("{untold} more lines are not told"));
        }
        told.into_iter().for_each(|line| taking.diagnose(line));
        Ok(())
    }

    pub(super) fn shared_record(&self, entry: SharedEntry) -> Record {
        // Without their secrets before a key is made of them.
        let words = self.clean(&entry.text).into_owned();
        let category = self.clean(&entry.category).into_owned();
        let key = match entry.key {
            Some(key) => self.clean(&key).into_owned(),
            None => text::hash16(&text::normal(&words)),
        };
        let mut record = self.draft(Kind::Knowledge, &words, Scope::default(), SOURCE);
        record.key = Some(key);
        record.attrs = Knowledge::of_category(&category).to_attrs();
        record
    }

    /// What to tell if something else is known under the record's key, be it from a file before.
    fn other_value(&self, record: &Record, known: &mut Known) -> Result<Option<String>, Fault> {
        let category = record.category().unwrap_or_default();
        let of_category = match known.entry(category.to_owned()) {
            Entry::Occupied(found) => found.into_mut(),
            Entry::Vacant(place) => {
                let question = Filter::current(&[Kind::Knowledge], self.now()).category(category);
                let found = self.find(&question)?.into_iter();
                let keyed = found.filter_map(|record| Some((record.key?, record.text)));
                place.insert(keyed.collect())
            }
        };
        let key = record.key.clone().unwrap_or_default();
        match of_category.entry(key) {
            Entry::Occupied(found) if text::normal(found.get()) != text::normal(&record.text) => {
                let key = found.key();
                let here = text::excerpt(found.get(), 60);
                Ok(Some(format!(
                    "`{category}/{key}` stays as it is here: `{here}`"
                )))
            }
            Entry::Occupied(_) => Ok(None),
            Entry::Vacant(place) => {
                place.insert(record.text.clone());
                Ok(None)
            }
        }
    }
}
