//! `heirloom show`.

use crate::json_output;
use crate::store_access::CliSession;
use heirloom_engine::LessonSource;
use heirloom_model::{Fault, Record};
use serde_json::Value;

/// Show one record completely
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The record
    id: String,
    /// In your own memory, which is used in every project
    #[arg(long)]
    user: bool,
    /// Also the lines of the session from which the record was learned
    #[arg(long)]
    source: bool,
}

pub(crate) fn run(args: Args, session: &mut CliSession) -> Result<u8, Fault> {
    let engine = session.open_memory(args.user)?;
    let record = engine
        .records()
        .get(engine.records().resolve_id(&args.id)?)?;
    let mut value = json_output::record(&record);
    let uses = engine.contexts().delivery_counts(&[record.id])?;
    let used = uses.get(&record.id);
    value["used"] = used.map_or(0, |used| used.count).into();
    value["last_used"] = used.map(|used| used.last_at.to_string()).into();
    if session.out.json {
        session.out.value(&value);
        return Ok(0);
    }
    for (name, value) in value.as_object().into_iter().flatten() {
        match value {
            Value::Null => {}
            Value::String(_) if name == "text" => {}
            Value::String(text) => session.out.line(&format!("{name:12} {text}")),
            Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
                session.out.line(&format!("{name:12} {value}"));
            }
        }
    }
    session.out.line("");
    session.out.line(&record.text);
    if args.source {
        print_source(session, &record);
    }
    Ok(0)
}

/// Prints the lines from which a record was learned.
fn print_source(session: &mut CliSession, record: &Record) {
    session.out.line("");
    let Some(source) = LessonSource::of_record(record) else {
        session.out.line("not learned from a session");
        return;
    };
    let (author, id) = (source.author(), &source.session);
    session
        .out
        .line(&format!("learned from {author} in session {id}:"));
    for evidence in &source.evidence {
        session.out.line(&format!("  {}", evidence.line));
    }
}
