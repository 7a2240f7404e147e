//! `heirloom expand`.

use crate::open::Session;
use heirloom_engine::{Expanded, Whole};
use heirloom_model::{ErrorKind, Fault};
use serde_json::json;

/// Print the whole of what a window shortened or left out
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The id that a shortened output, a summary or a report says
    id: String,
    /// The session that asks: its window leaves the text whole from here on
    #[arg(long, value_name = "ID")]
    session: Option<String>,
}

pub(crate) fn run(args: Args, session: &mut Session) -> Result<u8, Fault> {
    let found = find(&args, session)?;
    let file = found.file.display().to_string();
    match found.whole {
        Whole::Text(text) if session.out.json => {
            let value = json!({"id": found.id, "kind": "output", "file": file, "text": text});
            session.out.value(&value);
        }
        Whole::Text(text) => session.out.data(&text),
        Whole::Messages(messages) if session.out.json => {
            // As they came: a value would have their fields in another order.
            let head = json!({"id": found.id, "kind": "messages", "file": file}).to_string();
            let head = head.strip_suffix('}').unwrap_or(&head);
            let all = messages.join(",");
            session
                .out
                .data(&format!("{head},\"messages\":[{all}]}}\n"));
        }
        Whole::Messages(messages) => {
            session
                .out
                .data(&format!("[\n{}\n]\n", messages.join(",\n")));
        }
    }
    Ok(0)
}

/// In the project's memory; else in the person's own, where windows without a project are kept.
fn find(args: &Args, session: &mut Session) -> Result<Expanded, Fault> {
    let of = args.session.as_deref();
    let missing = match session
        .open()
        .and_then(|engine| engine.expand(&args.id, of))
    {
        Err(fault) if fault.kind == ErrorKind::NotFound => fault,
        other => return other,
    };
    match session
        .user_memory()
        .map(|engine| engine.expand(&args.id, of))
    {
        Some(Err(fault)) if fault.kind == ErrorKind::NotFound => Err(missing),
        Some(other) => other,
        None => Err(missing),
    }
}
