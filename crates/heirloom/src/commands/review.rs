//! `heirloom review`.

use crate::open::Session;
use heirloom_engine::{Engine, Retire};
use heirloom_model::{Fault, RecordId, text};
use serde_json::json;

/// Look for duplicates, contradictions, stale and never-used records; changes nothing by itself
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Retire what says the same as another in the same words; undo brings it back
    #[arg(long)]
    apply: bool,
    /// Retire what speaks of files that are gone as well
    #[arg(long, requires = "apply")]
    yes: bool,
}

pub(crate) fn run(args: Args, session: &mut Session) -> Result<u8, Fault> {
    let engine = session.open()?;
    let found = engine.review()?;
    let retired = match (args.apply, args.yes) {
        (false, _) => Vec::new(),
        (true, false) => engine.apply_review(Retire::Duplicates)?,
        (true, true) => engine.apply_review(Retire::DuplicatesAndStale)?,
    };
    let names = |ids: &[RecordId]| ids.iter().map(ToString::to_string).collect::<Vec<_>>();
    if session.out.json {
        let duplicates = found.duplicates.iter().map(|one| {
            json!({"id": one.keep.to_string(), "duplicates": names(&one.others), "exact": one.exact})
        });
        let contradictions = found.contradictions.iter();
        let contradictions = contradictions.map(|(older, newer)| names(&[*older, *newer]));
        let stale = found.stale.iter();
        let stale = stale.map(|one| json!({"id": one.id.to_string(), "paths": one.paths}));
        session.out.value(&json!({
            "duplicates": duplicates.collect::<Vec<_>>(),
            "contradictions": contradictions.collect::<Vec<_>>(),
            "stale": stale.collect::<Vec<_>>(),
            "unused": names(&found.unused),
            "retired": names(&retired),
        }));
        return Ok(0);
    }
    for one in &found.duplicates {
        let how = if one.exact {
            "same words"
        } else {
            "nearly the same"
        };
        show(&engine, session, how, one.keep)?;
        for other in &one.others {
            show(&engine, session, "", *other)?;
        }
    }
    for (older, newer) in &found.contradictions {
        show(&engine, session, "contradicts", *older)?;
        show(&engine, session, "", *newer)?;
    }
    for one in &found.stale {
        show(
            &engine,
            session,
            &format!("gone: {}", one.paths.join(", ")),
            one.id,
        )?;
    }
    for id in &found.unused {
        show(&engine, session, "never used", *id)?;
    }
    session.out.talk(&match retired.len() {
        0 if args.apply => "nothing was retired".to_owned(),
        0 => "nothing was changed; --apply retires duplicates in the same words".to_owned(),
        n => format!("{n} retired; heirloom undo ID brings one back"),
    });
    Ok(0)
}

fn show(engine: &Engine, session: &mut Session, what: &str, id: RecordId) -> Result<(), Fault> {
    let words = text::excerpt(&engine.get(id)?.text, 90);
    session.out.line(&format!("{what:16} {id}  {words}"));
    Ok(())
}
