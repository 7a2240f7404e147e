//! `heirloom review`.

use crate::acting_agent::require_person;
use crate::store_access::CliSession;
use heirloom_engine::{Engine, ReviewRetirement};
use heirloom_model::{Fault, RecordId, text};
use serde_json::json;
use unicode_width::UnicodeWidthStr;

/// Number of newly learned proposals that are listed.
const LEARNED_MAX: usize = 20;

/// List newly learned proposals; look for duplicates, contradictions, stale and never-used records; changes nothing by default
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Retire records with the same words as another one; undo restores them
    #[arg(long)]
    apply: bool,
    /// Also retire records about files that no longer exist
    #[arg(long, requires = "apply")]
    yes: bool,
}

pub(crate) fn run(args: Args, session: &mut CliSession) -> Result<u8, Fault> {
    if args.apply {
        require_person(session, "retire records")?;
    }
    let engine = session.open()?;
    let learned: Vec<RecordId> = (engine.sessions().lessons().unreviewed(LEARNED_MAX)?.iter())
        .map(|record| record.id)
        .collect();
    let found = engine.conflicts().review()?;
    let retired = match (args.apply, args.yes) {
        (false, _) => Vec::new(),
        (true, false) => engine
            .conflicts()
            .apply_review(ReviewRetirement::Duplicates)?,
        (true, true) => engine
            .conflicts()
            .apply_review(ReviewRetirement::DuplicatesAndStale)?,
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
            "learned": names(&learned),
            "duplicates": duplicates.collect::<Vec<_>>(),
            "contradictions": contradictions.collect::<Vec<_>>(),
            "stale": stale.collect::<Vec<_>>(),
            "unused": names(&found.unused),
            "retired": names(&retired),
        }));
        return Ok(0);
    }
    for id in &learned {
        print_record(&engine, session, "learned", *id)?;
    }
    for one in &found.duplicates {
        let label = if one.exact {
            "same words"
        } else {
            "nearly the same"
        };
        print_record(&engine, session, label, one.keep)?;
        for other in &one.others {
            print_record(&engine, session, "", *other)?;
        }
    }
    for (older, newer) in &found.contradictions {
        print_record(&engine, session, "contradicts", *older)?;
        print_record(&engine, session, "", *newer)?;
    }
    for one in &found.stale {
        print_record(
            &engine,
            session,
            &format!("missing: {}", one.paths.join(", ")),
            one.id,
        )?;
    }
    for id in &found.unused {
        print_record(&engine, session, "never used", *id)?;
    }
    session.out.talk(&match retired.len() {
        0 if args.apply => "nothing was retired".to_owned(),
        0 => "nothing was changed; --apply retires duplicates in the same words".to_owned(),
        n => format!("{n} retired; heirloom undo ID restores one"),
    });
    Ok(0)
}

fn print_record(
    engine: &Engine,
    session: &mut CliSession,
    what: &str,
    id: RecordId,
) -> Result<(), Fault> {
    let words = text::excerpt(&engine.records().get(id)?.text, 90);
    let what = text::replace_control_chars(what);
    let label = format!("{what:16} {}  ", session.out.plain_id(id));
    let painted = format!("{what:16} {}  ", session.out.id(id));
    session.out.labelled_line(&painted, label.width(), &words);
    Ok(())
}
