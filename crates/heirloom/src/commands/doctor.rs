//! `heirloom doctor`.

use crate::health_checks::examine;
use crate::store_access::CliSession;
use heirloom_engine::{CheckLevel, HealthCheck, RepairReport, SalvageReport, SkippedRow};
use heirloom_model::Fault;
use serde_json::{Value, json};

/// Look for damage in the memory of this project; --repair fixes what can be fixed
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Changes nothing without --repair. A damaged database is kept as heirloom.db.damaged-TIME, and its readable rows go into a new one. Exit code 1 if something is bad; warnings are not."
)]
pub(crate) struct Args {
    /// Tighten permissions, remove leftover files, rebuild indexes and the mirror, recover the rows of a damaged
    /// database
    #[arg(long)]
    repair: bool,
}

pub(crate) fn run(args: Args, session: &mut CliSession) -> Result<u8, Fault> {
    let doctor = session.doctor()?;
    if args.repair && doctor.server.is_some() {
        return Err(
            Fault::usage("a database on a server is repaired by its own tools")
                .hint("restore it from its backup, such as of pg_basebackup or pg_dump"),
        );
    }
    let repair = args.repair.then(|| doctor.repair());
    let checks = examine(&doctor, session)?;
    let is_ok = checks.iter().all(|check| check.level != CheckLevel::Bad)
        && repair
            .as_ref()
            .is_none_or(|repair| repair.failed.is_empty());
    if session.out.json {
        let checks: Vec<_> = checks.iter().map(check_value).collect();
        let mut value = json!({"ok": is_ok, "checks": checks});
        if let (Some(repair), Some(object)) = (&repair, value.as_object_mut()) {
            object.insert("repair".to_owned(), repair_value(repair));
        }
        session.out.value(&value);
        return Ok(u8::from(!is_ok));
    }
    for line in repair.iter().flat_map(|repair| &repair.done) {
        session.out.line(line);
    }
    for fault in repair.iter().flat_map(|repair| &repair.failed) {
        session.out.fault(fault);
    }
    let rows: Vec<_> = checks.iter().map(row).collect();
    session.out.wrapped_table(&rows);
    for check in checks.iter().filter(|check| check.level != CheckLevel::Ok) {
        if let Some(hint) = &check.hint {
            session.out.talk(&format!("  {}: {hint}", check.name));
        }
    }
    Ok(u8::from(!is_ok))
}

fn row(check: &HealthCheck) -> Vec<String> {
    let level = match check.level {
        CheckLevel::Ok => "ok",
        CheckLevel::Warn => "WARN",
        CheckLevel::Bad => "BAD",
    };
    vec![
        level.to_owned(),
        check.name.to_owned(),
        check.message.clone(),
    ]
}

fn check_value(check: &HealthCheck) -> Value {
    json!({
        "name": check.name,
        "ok": check.level != CheckLevel::Bad,
        "level": check.level.as_str(),
        "message": check.message,
        "hint": check.hint,
    })
}

fn repair_value(repair: &RepairReport) -> Value {
    let failed: Vec<_> = repair.failed.iter().map(|fault| &fault.message).collect();
    let kept: Vec<_> = repair
        .kept
        .iter()
        .map(|path| path.to_string_lossy().into_owned())
        .collect();
    json!({
        "done": repair.done,
        "failed": failed,
        "kept": kept,
        "recovered": repair.salvaged.as_ref().map(salvaged_value),
    })
}

/// Formats a row that could not be recovered.
fn left_out_value(row: &SkippedRow) -> Value {
    json!({ "table": row.table, "id": row.id, "reason": row.reason })
}

fn salvaged_value(salvaged: &SalvageReport) -> Value {
    json!({
        "rows": salvaged.rows,
        "pages_bad": salvaged.pages_bad,
        "rows_bad": salvaged.rows_bad,
        "journal_pages_bad": salvaged.journal_pages_bad,
        "renamed": salvaged.renamed,
        "retired": salvaged.retired,
        "sessions_made": salvaged.sessions_recreated,
        "rows_left_out": salvaged.rows_skipped,
        "journal_pages_lost": salvaged.journal_pages_lost,
        "left_out": salvaged.skipped.iter().map(left_out_value).collect::<Vec<_>>(),
    })
}
