//! Import of shared context files as knowledge.

use super::record_import::{ImportReport, ImportWriter};
use crate::engine::Imports;
use heirloom_formats::shared_context::{self, SharedEntry};
use heirloom_model::kinds::Knowledge;
use heirloom_model::text::counted;
use heirloom_model::{Fault, Kind, KindData, MergeRule, Record, Scope, limits, text};
use heirloom_store::{Change, Filter};
use std::collections::HashMap;
use std::collections::hash_map::Entry;

/// Source of imported records.
const SOURCE: &str = "import";

/// File of shared context.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SharedFile {
    /// Path, as it is shown.
    pub path: String,
    /// Text.
    pub text: String,
}

/// Stored texts by category and key.
type Known = HashMap<String, HashMap<String, String>>;

impl Imports<'_> {
    /// Imports files of shared context as one batch, which `undo` reverts: headings are category and key, bullets are
    /// values.
    ///
    /// Stored values stay unchanged; a different value in a file gets a diagnostic. `source` names the origin.
    pub fn import_shared(&self, files: &[SharedFile], source: &str) -> Result<ImportReport, Fault> {
        let mut writer = ImportWriter::new(self.engine, source)?;
        let result = self.add_shared(files, &mut writer);
        result.map_err(|fault| writer.abort(fault))?;
        writer.end()
    }

    /// Adds files of shared context to an import.
    pub(super) fn add_shared(
        &self,
        files: &[SharedFile],
        writer: &mut ImportWriter<'_>,
    ) -> Result<(), Fault> {
        let mut known = Known::new();
        let mut diagnostics = Vec::new();
        for file in files {
            let page = shared_context::parse(&file.text);
            for found in page.diagnostics {
                diagnostics.push(format!("{}:{}: {}", file.path, found.line, found.message));
            }
            for entry in page.entries {
                let line = entry.line;
                let record = self.shared_record(entry);
                if let Some(other) = self.conflicting_value(&record, &mut known)? {
                    let place = format!("{}:{line}", file.path);
                    diagnostics.push(format!("{place}: {other}"));
                }
                let put = Change::Put {
                    record: Box::new(record),
                    merge: MergeRule::Keep,
                };
                writer.add(line, put)?;
            }
        }
        let omitted = diagnostics.len().saturating_sub(limits::DIAGNOSTICS_MAX);
        diagnostics.truncate(limits::DIAGNOSTICS_MAX);
        if omitted > 0 {
            diagnostics.push(format!(
                "{} not listed",
                counted(omitted, "more line is", "more lines are")
            ));
        }
        diagnostics
            .into_iter()
            .for_each(|line| writer.diagnose(line));
        Ok(())
    }

    pub(super) fn shared_record(&self, entry: SharedEntry) -> Record {
        // Redact before keys are derived from the text.
        let words = self
            .engine
            .redaction()
            .redact_input(&entry.text)
            .into_owned();
        let category = self
            .engine
            .redaction()
            .redact_input(&entry.category)
            .into_owned();
        let key = match entry.key {
            Some(key) => self.engine.redaction().redact_input(&key).into_owned(),
            None => text::hash16(&text::normalize(&words)),
        };
        let mut record =
            self.engine
                .records()
                .draft(Kind::Knowledge, &words, Scope::default(), SOURCE);
        record.key = Some(key);
        record.attrs = Knowledge::with_category(&category).to_attrs();
        record
    }

    /// Returns a diagnostic if another value is known under the record's key, stored or from an earlier file.
    fn conflicting_value(
        &self,
        record: &Record,
        known: &mut Known,
    ) -> Result<Option<String>, Fault> {
        let category = record.category().unwrap_or_default();
        let of_category = match known.entry(category.to_owned()) {
            Entry::Occupied(found) => found.into_mut(),
            Entry::Vacant(place) => {
                let question =
                    Filter::current(&[Kind::Knowledge], self.engine.now()).category(category);
                let found = self.engine.records().find(&question)?.into_iter();
                let keyed = found.filter_map(|record| Some((record.key?, record.text)));
                place.insert(keyed.collect())
            }
        };
        let key = record.key.clone().unwrap_or_default();
        match of_category.entry(key) {
            Entry::Occupied(found)
                if text::normalize(found.get()) != text::normalize(&record.text) =>
            {
                let key = found.key();
                let stored_text = text::excerpt(found.get(), 60);
                Ok(Some(format!(
                    "`{category}/{key}` stays unchanged: `{stored_text}`"
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
