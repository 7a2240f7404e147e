//! `heirloom history`.

use crate::open::Session;
use crate::{output, wire};
use heirloom_model::{Fault, Record};

/// Show what a record was before and what became of it
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The record
    id: String,
}

pub(crate) fn run(args: Args, session: &mut Session) -> Result<u8, Fault> {
    let engine = session.open()?;
    let id = engine.resolve_id(&args.id)?;
    let chain = engine.history(id)?;
    if session.out.json {
        session.out.value(&wire::list("records", &chain));
    } else {
        session
            .out
            .line(&output::table(&chain.iter().map(row).collect::<Vec<_>>()));
    }
    Ok(0)
}

fn row(record: &Record) -> Vec<String> {
    let state = match (record.retired_at, record.replaced_by) {
        (None, _) => "current".to_owned(),
        (Some(at), None) => format!("retired {at}"),
        (Some(_), Some(by)) => format!("replaced by {by}"),
    };
    vec![
        record.recorded_at.to_string(),
        record.id.to_string(),
        record.source.clone(),
        state,
        heirloom_model::text::excerpt(&record.text, 80),
    ]
}
