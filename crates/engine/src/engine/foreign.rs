//! What other tools left, taken in as one import.

use super::Engine;
use super::histories::HistorySource;
use super::outputs::OutputSource;
use super::shared::SharedFile;
use super::transfer::{ImportReport, Taking};
use crate::shared::{self, SharedEntry};
use crate::{graph, mirror};
use heirloom_model::conflict::may_arbitrate;
use heirloom_model::kinds::Knowledge;
use heirloom_model::record::check_name;
use heirloom_model::{Confidence, Fault, Merge, Record, limits};
use heirloom_store::Change;

/// Who is named as the source where a file's name is none.
const SOURCE: &str = "import";

/// Something that another tool left.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ForeignPart {
    /// Where it is, as it is told.
    pub path: String,
    /// The format, as `import` calls it.
    pub format: &'static str,
    /// What it says.
    pub content: Foreign,
}

/// What another tool left, by its form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Foreign {
    /// Pages whose bullets each say something: rules for agents, the files of a workspace.
    Rules(Vec<RulesFile>),
    /// Shared context: headings are category and key, bullets the value.
    Shared(Vec<SharedFile>),
    /// A `memory.json`.
    Mirror(Vec<u8>),
    /// A knowledge graph as lines of JSON.
    Graph(Vec<u8>),
    /// Histories of sessions and outputs of plans.
    Past(Vec<HistorySource>, Vec<OutputSource>),
}

/// A page whose bullets each say something.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RulesFile {
    /// The file.
    pub file: SharedFile,
    /// What all of it is about, as a category; `None` if its headings say so.
    pub about: Option<&'static str>,
}

/// What an import of several parts brought.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ForeignReport {
    /// All of it.
    pub whole: ImportReport,
    /// Each part's share, in their order.
    pub parts: Vec<PartReport>,
}

/// What one part of an import brought.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PartReport {
    /// Entries that are new.
    pub created: u64,
    /// Entries that were here already.
    pub known: u64,
    /// How many of the new ones had a secret.
    pub redacted: u64,
}

impl Engine {
    /// Takes what other tools left in as one import, which `undo` takes back as one; what is here already stays as it
    /// is, so that the same once more changes nothing. What cannot be read is told, the rest comes in.
    ///
    /// `source` says where it comes from. A dry one writes nothing and says what would come.
    pub fn import_foreign(
        &self,
        parts: &[ForeignPart],
        source: &str,
        dry: bool,
    ) -> Result<ForeignReport, Fault> {
        let mut taking = Taking::new(self, source)?.in_a_session().counting_secrets();
        if dry {
            taking = taking.dry();
        }
        let mut reports = Vec::new();
        for part in parts {
            let taken = self.take_part(part, &mut taking);
            reports.push(taken.map_err(|fault| taking.abandon(fault))?);
        }
        let whole = taking.end()?;
        let parts = reports;
        Ok(ForeignReport { whole, parts })
    }

    fn take_part(&self, part: &ForeignPart, taking: &mut Taking<'_>) -> Result<PartReport, Fault> {
        let before = counts(taking.so_far()?);
        match &part.content {
            Foreign::Rules(files) => {
                for rules in files {
                    self.take_rules(rules, taking)?;
                }
            }
            Foreign::Shared(files) => self.take_shared(files, taking)?,
            Foreign::Mirror(bytes) => match mirror::parse(bytes) {
                Ok(parsed) => self.take_mirror(parsed, taking)?,
                Err(problem) => taking.diagnose(format!("{}: {problem}; skipped", part.path)),
            },
            Foreign::Graph(bytes) => self.take_graph(&part.path, bytes, taking)?,
            Foreign::Past(histories, outputs) => {
                self.take_histories(histories, outputs, taking)?;
            }
        }
        let after = counts(taking.so_far()?);
        Ok(PartReport {
            created: after.created - before.created,
            known: after.known - before.known,
            redacted: after.redacted - before.redacted,
        })
    }

    fn take_rules(&self, rules: &RulesFile, taking: &mut Taking<'_>) -> Result<(), Fault> {
        let path = &rules.file.path;
        let page = shared::rules(&rules.file.text, rules.about);
        for found in page.diagnostics {
            taking.diagnose(format!("{path}:{}: {}", found.line, found.message));
        }
        for entry in page.entries {
            self.take_entry(path, entry, taking)?;
        }
        Ok(())
    }

    fn take_graph(&self, path: &str, bytes: &[u8], taking: &mut Taking<'_>) -> Result<(), Fault> {
        let graph = graph::parse(bytes);
        for found in graph.diagnostics {
            taking.diagnose(format!("{path}:{}: {}", found.line, found.message));
        }
        for said in graph.statements {
            let (line, size) = (said.line, said.text.len());
            if size > limits::RECORD_TEXT_BYTES_MAX {
                taking.diagnose(format!("{path}:{line}: {size} bytes are too many; skipped"));
                continue;
            }
            let fact = self.clean_fact(&said.fact);
            let mut change = self.fact_change(&fact, SOURCE)?;
            if let Change::Put { record, .. } = &mut change {
                if check_name("source", path).is_ok() && path.contains('.') && !may_arbitrate(path)
                {
                    record.source = path.to_owned();
                }
                record.attrs.remove("proposal");
                record.confidence = Confidence::of_source(SOURCE);
            }
            taking.add(line, change)?;
        }
        Ok(())
    }

    fn take_entry(
        &self,
        path: &str,
        entry: SharedEntry,
        taking: &mut Taking<'_>,
    ) -> Result<(), Fault> {
        let (line, size) = (entry.line, entry.text.len());
        if size > limits::RECORD_TEXT_BYTES_MAX {
            taking.diagnose(format!("{path}:{line}: {size} bytes are too many; skipped"));
            return Ok(());
        }
        let record = Box::new(self.rule_record(path, entry));
        let merge = Merge::Keep;
        taking.add(line, Change::Put { record, merge })
    }

    /// An entry as knowledge that its file says, known by its words as if somebody had said it here.
    fn rule_record(&self, path: &str, entry: SharedEntry) -> Record {
        let mut record = self.shared_record(entry);
        record.key = Some(Knowledge::key(&record.text));
        // No file speaks for the person or for a part of Heirloom, whatever it is called.
        if check_name("source", path).is_ok() && path.contains('.') && !may_arbitrate(path) {
            record.source = path.to_owned();
        }
        record.confidence = Confidence::of_source(SOURCE);
        record
    }
}

fn counts(report: &ImportReport) -> PartReport {
    PartReport {
        created: report.created,
        known: report.known,
        redacted: report.redacted.unwrap_or_default(),
    }
}
