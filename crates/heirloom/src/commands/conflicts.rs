//! `heirloom conflicts`.

use crate::store_access::CliSession;
use heirloom_engine::Conflict;
use heirloom_model::{Fault, Record, text};
use serde_json::{Value, json};

/// Show conflicts: different values of one key from different sources, without a decision
///
/// `heirloom resolve` decides.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {}

pub(crate) fn run(_args: Args, session: &mut CliSession) -> Result<u8, Fault> {
    let engine = session.open()?;
    let conflicts = engine.conflicts().list()?;
    if session.out.json {
        let conflicts: Value = conflicts.iter().map(Conflict::to_json).collect();
        session.out.value(&json!({ "conflicts": conflicts }));
        return Ok(0);
    }
    if conflicts.is_empty() {
        session.out.talk("no open conflicts");
        return Ok(0);
    }
    let rows: Vec<_> = conflicts.iter().flat_map(rows).collect();
    session.out.table(&rows, &[0]);
    session
        .out
        .talk("  heirloom resolve ID --keep ID --as user   resolves a conflict");
    Ok(0)
}

fn rows(conflict: &Conflict) -> Vec<Vec<String>> {
    let winner_state = match conflict.is_disputed() {
        true => "disputed",
        false => "won",
    };
    let losers = conflict.losers.iter().map(|loser| ("against", loser));
    let sides = std::iter::once((winner_state, &conflict.winner)).chain(losers);
    sides.map(|(state, record)| row(state, record)).collect()
}

fn row(state: &str, record: &Record) -> Vec<String> {
    vec![
        record.id.to_string(),
        state.to_owned(),
        format!(
            "{}/{}",
            record.category().unwrap_or_default(),
            text::excerpt(record.key.as_deref().unwrap_or_default(), 40)
        ),
        record.source.clone(),
        record.confidence.get().to_string(),
        text::excerpt(&record.text, 80),
    ]
}
