//! `heirloom import jsonl`: the lines of an export.

use super::import_label;
use super::input_file::read;
use crate::export_format::{self, ExportLine};
use heirloom_engine::{Engine, ImportBundle, ImportReport};
use heirloom_model::signal::Diagnostic;
use heirloom_model::text::counted;
use heirloom_model::text_decoding::{decode_text, repair_json};
use heirloom_model::{Fault, limits};
use std::path::Path;

/// Imports the lines of an export; reports the other lines.
pub(super) fn import_jsonl(engine: &Engine, path: &Path) -> Result<ImportReport, Fault> {
    let bytes = read(path)?;
    let text = decode_text(&bytes);
    let mut bundle = ImportBundle::default();
    let (mut diagnostics, mut unreported) = (Vec::new(), 0);
    for (number, line) in (1_u64..).zip(text.split('\n')) {
        if line.trim().is_empty() {
            continue;
        }
        let parsed = serde_json::from_str(&repair_json(line))
            .map_err(|error| format!("invalid JSON: {error}"))
            .and_then(|value| export_format::parse(value, engine.project()));
        match parsed {
            Ok(ExportLine::Record(record)) => bundle.records.push((number, *record)),
            Ok(ExportLine::Session(session)) => bundle.sessions.push(session),
            Ok(ExportLine::Message(session, message)) => {
                bundle.messages.entry(session).or_default().push(message);
            }
            Ok(ExportLine::Lapse(id, lapse)) => {
                bundle.validity_gaps.entry(id).or_default().push(lapse)
            }
            Err(_) if diagnostics.len() > limits::DIAGNOSTICS_MAX => unreported += 1,
            Err(message) => diagnostics.push(Diagnostic {
                line: number,
                message,
            }),
        }
    }
    let nothing_fits = bundle.records.is_empty() && !diagnostics.is_empty();
    let mut report = engine
        .imports()
        .import_bundle(bundle, &import_label("jsonl", path))?;
    let is_bare = |one: &Diagnostic| one.message == export_format::MISSING_ID;
    if nothing_fits && diagnostics.iter().all(is_bare) {
        let count = diagnostics.len() + unreported;
        let message = format!(
            "{} not an export: `heirloom remember --stdin` takes lines such as {{\"text\": \"…\"}}",
            counted(count, "line is", "lines are")
        );
        diagnostics = vec![Diagnostic { line: 0, message }];
        unreported = 0;
    }
    report.diagnostics.append(&mut diagnostics);
    report.diagnostics.sort_by_key(|diagnostic| diagnostic.line);
    unreported += report
        .diagnostics
        .len()
        .saturating_sub(limits::DIAGNOSTICS_MAX);
    if unreported > 0 {
        report.diagnostics.truncate(limits::DIAGNOSTICS_MAX);
        let line = report.diagnostics.last().map_or(0, |last| last.line);
        let limit = limits::DIAGNOSTICS_MAX;
        let message = format!(
            "{} not imported; the first {limit} are shown",
            counted(unreported, "more line was", "more lines were")
        );
        report.diagnostics.push(Diagnostic { line, message });
    }
    Ok(report)
}
