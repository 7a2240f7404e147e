//! `heirloom doctor`.

use crate::installing::Hooks;
use crate::open::Session;
use crate::output;
use heirloom_engine::{Check, Level, Mended, Salvaged};
use heirloom_model::Fault;
use serde_json::{Value, json};

/// Look for damage in the memory of this project; --repair mends what can be mended
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Changes nothing without --repair. A damaged database is kept as heirloom.db.damaged-TIME, and its readable rows go into a new one. Exit code 1 if something is bad; warnings are not."
)]
pub(crate) struct Args {
    /// Tighten permissions, remove what was left over, rebuild indexes and the mirror, recover the rows of a
    /// damaged database
    #[arg(long)]
    repair: bool,
}

pub(crate) fn run(args: Args, session: &mut Session) -> Result<u8, Fault> {
    let doctor = session.doctor()?;
    let mended = args.repair.then(|| doctor.repair());
    let mut checks = doctor.examine();
    let start = session.start()?;
    checks.push(Hooks::of(&session.env, &start, &doctor.place.folder).check());
    let is_ok = checks.iter().all(|check| check.level != Level::Bad)
        && mended
            .as_ref()
            .is_none_or(|mended| mended.failed.is_empty());
    if session.out.json {
        let checks: Vec<_> = checks.iter().map(check_value).collect();
        let mut value = json!({"ok": is_ok, "checks": checks});
        if let (Some(mended), Some(object)) = (&mended, value.as_object_mut()) {
            object.insert("repair".to_owned(), mended_value(mended));
        }
        session.out.value(&value);
        return Ok(u8::from(!is_ok));
    }
    for line in mended.iter().flat_map(|mended| &mended.done) {
        session.out.line(line);
    }
    for fault in mended.iter().flat_map(|mended| &mended.failed) {
        session.out.fault(fault);
    }
    let rows: Vec<_> = checks.iter().map(row).collect();
    for line in output::table(&rows).lines() {
        session.out.line(line);
    }
    for check in checks.iter().filter(|check| check.level != Level::Ok) {
        if let Some(hint) = &check.hint {
            session.out.talk(&format!("  {}: {hint}", check.name));
        }
    }
    Ok(u8::from(!is_ok))
}

fn row(check: &Check) -> Vec<String> {
    let level = match check.level {
        Level::Ok => "ok",
        Level::Warn => "WARN",
        Level::Bad => "BAD",
    };
    vec![
        level.to_owned(),
        check.name.to_owned(),
        check.message.clone(),
    ]
}

fn check_value(check: &Check) -> Value {
    json!({
        "name": check.name,
        "ok": check.level != Level::Bad,
        "level": check.level.as_str(),
        "message": check.message,
        "hint": check.hint,
    })
}

fn mended_value(mended: &Mended) -> Value {
    let failed: Vec<_> = mended.failed.iter().map(|fault| &fault.message).collect();
    let kept: Vec<_> = mended
        .kept
        .iter()
        .map(|path| path.display().to_string())
        .collect();
    json!({
        "done": mended.done,
        "failed": failed,
        "kept": kept,
        "recovered": mended.salvaged.as_ref().map(salvaged_value),
    })
}

fn salvaged_value(salvaged: &Salvaged) -> Value {
    json!({
        "rows": salvaged.rows,
        "pages_bad": salvaged.pages_bad,
        "rows_bad": salvaged.rows_bad,
        "journal_pages_bad": salvaged.journal_pages_bad,
        "renamed": salvaged.renamed,
        "retired": salvaged.retired,
        "sessions_made": salvaged.sessions_made,
        "rows_left_out": salvaged.rows_left_out,
    })
}
