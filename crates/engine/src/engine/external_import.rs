//! Import of data from other tools as one import batch.

mod foreign_tables;
mod imported_memory;

pub use foreign_tables::{TableColumns, read_foreign_tables};

use super::outputs::OutputSource;
use super::record_import::{ImportReport, ImportWriter};
use super::session_history_import::HistorySource;
use super::shared_context_import::SharedFile;
use crate::engine::Imports;
use heirloom_formats::external_memory::ImportedMemory;
use heirloom_formats::knowledge_graph;
use heirloom_formats::mirror;
use heirloom_formats::shared_context::{self, SharedEntry};
use heirloom_model::conflict::can_arbitrate;
use heirloom_model::kinds::Knowledge;
use heirloom_model::record::{Attrs, check_name};
use heirloom_model::{Confidence, Fault, MergeRule, Record, limits};
use heirloom_store::Change;

/// Source of records if the file name is not a valid source.
const SOURCE: &str = "import";

/// Data that another tool left.
#[derive(Debug, Clone, PartialEq)]
pub struct ExternalSource {
    /// Path, as it is shown.
    pub path: String,
    /// Name of the format in `heirloom import`.
    pub format: &'static str,
    /// The content.
    pub content: ExternalContent,
}

/// Content by format.
#[derive(Debug, Clone, PartialEq)]
pub enum ExternalContent {
    /// Markdown pages whose bullets are rules: rules for agents, files of a workspace.
    Rules(Vec<RulesFile>),
    /// Shared context: headings are category and key, bullets are values.
    Shared(Vec<SharedFile>),
    /// A `memory.json`.
    Mirror(Vec<u8>),
    /// A knowledge graph as lines of JSON.
    Graph(Vec<u8>),
    /// Session histories and plan outputs.
    Histories(Vec<HistorySource>, Vec<OutputSource>),
    /// Entries and conversations of another program's memory.
    Memory(ImportedMemory),
}

/// Page of rules, one in each bullet.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RulesFile {
    /// The file.
    pub file: SharedFile,
    /// Category of all its rules; `None` if its headings name them.
    pub about: Option<&'static str>,
    /// Fields that all its rules carry, such as the files to which they apply.
    pub origin: Attrs,
}

/// Report of an import of several parts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ExternalImportReport {
    /// Totals.
    pub total: ImportReport,
    /// Counts of each part, in order.
    pub parts: Vec<ExternalPartReport>,
}

/// Counts of one part of an import.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ExternalPartReport {
    /// Entries that are new.
    pub created: u64,
    /// Entries that were stored already.
    pub known: u64,
    /// New entries that contained a secret.
    pub redacted: u64,
}

impl Imports<'_> {
    /// Imports the data of other tools as one batch, which `undo` reverts as a unit. Entries that are stored already
    /// stay unchanged, so a repeated import changes nothing. Unreadable entries get a diagnostic.
    ///
    /// `source` names the origin. A dry run writes nothing and returns the expected counts.
    pub fn import_external(
        &self,
        parts: &[ExternalSource],
        source: &str,
        dry: bool,
    ) -> Result<ExternalImportReport, Fault> {
        let mut writer = ImportWriter::new(self.engine, source)?
            .without_session_counts()
            .counting_secrets();
        if dry {
            writer = writer.into_dry_run();
        }
        let mut reports = Vec::new();
        for part in parts {
            let result = self.add_part(part, &mut writer);
            reports.push(result.map_err(|fault| writer.abort(fault))?);
        }
        let whole = writer.end()?;
        let parts = reports;
        Ok(ExternalImportReport {
            total: whole,
            parts,
        })
    }

    fn add_part(
        &self,
        part: &ExternalSource,
        writer: &mut ImportWriter<'_>,
    ) -> Result<ExternalPartReport, Fault> {
        let before = counts_of(writer.report_so_far()?);
        match &part.content {
            ExternalContent::Rules(files) => {
                for rules in files {
                    self.add_rules(rules, writer)?;
                }
            }
            ExternalContent::Shared(files) => self.add_shared(files, writer)?,
            ExternalContent::Mirror(bytes) => match mirror::parse(bytes) {
                Ok(parsed) => self.add_mirror(parsed, writer)?,
                Err(problem) => writer.diagnose(format!("{}: {problem}; skipped", part.path)),
            },
            ExternalContent::Graph(bytes) => self.add_graph(&part.path, bytes, writer)?,
            ExternalContent::Memory(memory) => self.add_memory(part.format, memory, writer)?,
            ExternalContent::Histories(histories, outputs) => {
                self.engine
                    .sessions()
                    .add_histories(histories, outputs, writer)?;
            }
        }
        let after = counts_of(writer.report_so_far()?);
        Ok(ExternalPartReport {
            created: after.created - before.created,
            known: after.known - before.known,
            redacted: after.redacted - before.redacted,
        })
    }

    fn add_rules(&self, rules: &RulesFile, writer: &mut ImportWriter<'_>) -> Result<(), Fault> {
        let path = &rules.file.path;
        let page = shared_context::parse_rules(&rules.file.text, rules.about);
        for found in page.diagnostics {
            writer.diagnose(format!("{path}:{}: {}", found.line, found.message));
        }
        writer.expect(page.entries.len());
        for entry in page.entries {
            self.add_entry(rules, entry, writer)?;
        }
        Ok(())
    }

    fn add_graph(
        &self,
        path: &str,
        bytes: &[u8],
        writer: &mut ImportWriter<'_>,
    ) -> Result<(), Fault> {
        let graph = knowledge_graph::parse(bytes);
        for found in graph.diagnostics {
            writer.diagnose(format!("{path}:{}: {}", found.line, found.message));
        }
        writer.expect(graph.statements.len());
        for statement in graph.statements {
            let (line, size) = (statement.line, statement.text.len());
            if size > limits::RECORD_TEXT_BYTES_MAX {
                writer.diagnose(format!("{path}:{line}: {size} bytes are too many; skipped"));
                continue;
            }
            let fact = self.engine.graph().redact_fact(&statement.fact);
            let mut change = self.engine.graph().fact_change(&fact, SOURCE)?;
            if let Change::Put { record, .. } = &mut change {
                if check_name("source", path).is_ok() && path.contains('.') && !can_arbitrate(path)
                {
                    record.source = path.to_owned();
                }
                record.attrs.remove("proposal");
                record.confidence = Confidence::of_source(SOURCE);
            }
            writer.add(line, change)?;
        }
        Ok(())
    }

    fn add_entry(
        &self,
        rules: &RulesFile,
        entry: SharedEntry,
        writer: &mut ImportWriter<'_>,
    ) -> Result<(), Fault> {
        let path = &rules.file.path;
        let (line, size) = (entry.line, entry.text.len());
        if size > limits::RECORD_TEXT_BYTES_MAX {
            writer.diagnose(format!("{path}:{line}: {size} bytes are too many; skipped"));
            return Ok(());
        }
        let mut record = Box::new(self.rule_record(path, entry));
        if !rules.origin.is_empty() {
            let origin = serde_json::Value::Object(rules.origin.clone());
            record
                .attrs
                .insert(imported_memory::ORIGIN_ATTR.to_owned(), origin);
        }
        let merge = MergeRule::Keep;
        writer.add(line, Change::Put { record, merge })
    }

    /// Converts an entry into knowledge with the key that the same text would get if a user had entered it.
    fn rule_record(&self, path: &str, entry: SharedEntry) -> Record {
        let mut record = self.shared_record(entry);
        record.key = Some(Knowledge::derive_key(&record.text));
        // A file name must not give the authority of a person or of a part of Heirloom.
        if check_name("source", path).is_ok() && path.contains('.') && !can_arbitrate(path) {
            record.source = path.to_owned();
        }
        record.confidence = Confidence::of_source(SOURCE);
        record
    }
}

fn counts_of(report: &ImportReport) -> ExternalPartReport {
    ExternalPartReport {
        created: report.created,
        known: report.known,
        redacted: report.redacted.unwrap_or_default(),
    }
}
