//! Report of an import, as text and as JSON.

use crate::store_access::CliSession;
use heirloom_engine::ImportReport;
use heirloom_model::text::counted;
use serde_json::json;

/// Prints the result of an import.
pub(super) fn print_report(report: &ImportReport, is_dry_run: bool, session: &mut CliSession) {
    if session.out.json {
        return session.out.value(&report_value(report));
    }
    print_report_text(report, is_dry_run, session);
}

/// Formats the result of an import as JSON.
pub(in crate::commands) fn report_value(report: &ImportReport) -> serde_json::Value {
    let diagnostics = report.diagnostics.iter();
    let diagnostics = diagnostics.map(|d| json!({"line": d.line, "message": d.message}));
    let mut value = json!({
        "created": report.created,
        "known": report.known,
        "import": report.batch.map(|id| id.to_string()),
        "diagnostics": diagnostics.collect::<Vec<_>>(),
    });
    if !report.omissions.is_empty() {
        let omissions = report.omissions.iter();
        let omissions = omissions.map(|(reason, count)| json!({"reason": reason, "count": count}));
        value["left_out"] = omissions.collect();
    }
    if let Some(redacted) = report.redacted {
        value["redacted"] = json!(redacted);
    }
    value
}

/// Prints the result of an import for a person.
pub(in crate::commands) fn print_report_text(
    report: &ImportReport,
    is_dry_run: bool,
    session: &mut CliSession,
) {
    print_diagnostics(report, session);
    let done = match is_dry_run {
        true => "would be imported",
        false => "imported",
    };
    let (created, known) = (report.created, report.known);
    let mut summary = format!(
        "{} {done}, {known} already known",
        counted(created, "record", "records")
    );
    if let Some(redacted) = report.redacted.filter(|redacted| *redacted > 0) {
        summary.push_str(&format!(
            ", {redacted} without {} secrets",
            if redacted == 1 { "its" } else { "their" }
        ));
    }
    session.out.line(&summary);
    for (reason, count) in &report.omissions {
        session.out.talk(&format!("left out: {count} {reason}"));
    }
    if let Some(import) = report.batch {
        let hint = format!("  heirloom undo {import}   undoes the whole import");
        session.out.talk(&hint);
    }
}

/// Prints the parts that could not be read.
pub(in crate::commands) fn print_diagnostics(report: &ImportReport, session: &mut CliSession) {
    for diagnostic in &report.diagnostics {
        let message = match diagnostic.line {
            0 => diagnostic.message.clone(),
            line => format!("line {line}: {}", diagnostic.message),
        };
        session.out.talk(&message);
    }
}
