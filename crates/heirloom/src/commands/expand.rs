//! `heirloom expand`.

use crate::store_access::CliSession;
use heirloom_engine::{ArchivedContent, ExpandedContent};
use heirloom_model::{ErrorKind, Fault};
use serde_json::json;

/// Print the full content that a window shortened or left out
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The id from a shortened output, a summary or a report
    id: String,
    /// The session that needs it: its window keeps the text complete from now on
    #[arg(long, value_name = "ID")]
    session: Option<String>,
}

pub(crate) fn run(args: Args, session: &mut CliSession) -> Result<u8, Fault> {
    let found = find_content(&args, session)?;
    let file = found.file.to_string_lossy().into_owned();
    match found.content {
        ArchivedContent::Text(text) if session.out.json => {
            let value = json!({"id": found.id, "kind": "output", "file": file, "text": text});
            session.out.value(&value);
        }
        ArchivedContent::Text(text) => session.out.data(&text),
        ArchivedContent::Messages(messages) if session.out.json => {
            // The original JSON text; parsing it into a value would change the order of the fields.
            let head = json!({"id": found.id, "kind": "messages", "file": file}).to_string();
            let head = head.strip_suffix('}').unwrap_or(&head);
            let all = messages.join(",");
            session
                .out
                .data(&format!("{head},\"messages\":[{all}]}}\n"));
        }
        ArchivedContent::Messages(messages) => {
            session
                .out
                .data(&format!("[\n{}\n]\n", messages.join(",\n")));
        }
    }
    Ok(0)
}

/// Finds the content in the project's memory, else in the user's own, which has windows without a project.
fn find_content(args: &Args, session: &mut CliSession) -> Result<ExpandedContent, Fault> {
    let session_id = args.session.as_deref();
    let missing = match session
        .open()
        .and_then(|engine| engine.window().expand(&args.id, session_id))
    {
        Err(fault) if fault.kind == ErrorKind::NotFound => fault,
        other => return other,
    };
    match session
        .user_memory()
        .map(|engine| engine.window().expand(&args.id, session_id))
    {
        Some(Err(fault)) if fault.kind == ErrorKind::NotFound => Err(missing),
        Some(other) => other,
        None => Err(missing),
    }
}
