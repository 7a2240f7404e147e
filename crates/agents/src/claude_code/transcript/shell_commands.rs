//! Commands that a person gave to the shell.

use super::LineContext;
use crate::transcripts::{EventBody, ToolAction, ToolOutcome};

/// Returns the id and body of the event of a command that a person gave to the shell with `!`, or of its output, which is
/// the next line. The status is not recorded, and so the outcome is unknown.
pub(super) fn shell_event(place: &LineContext, text: &str) -> Option<(String, EventBody)> {
    let text = text.trim();
    let element = |name: &str| {
        let (_, rest) = text.split_once(&format!("<{name}>"))?;
        Some(rest.split_once(&format!("</{name}>"))?.0.trim())
    };
    if text.starts_with("<bash-input>") {
        let command = element("bash-input").filter(|command| !command.is_empty())?;
        let body = EventBody::Call {
            call: place.id.clone(),
            tool: "run".to_owned(),
            action: ToolAction::Command(command.to_owned()),
        };
        return Some((format!("call {}", place.id), body));
    }
    if !text.starts_with("<bash-stdout>") || place.parent.is_empty() {
        return None;
    }
    let outputs = [element("bash-stdout"), element("bash-stderr")];
    let outputs: Vec<&str> = outputs.into_iter().flatten().collect();
    let body = EventBody::Result {
        call: place.parent.clone(),
        outcome: ToolOutcome::Rejected,
        text: outputs.join("\n").trim().to_owned(),
    };
    Some((format!("result {}", place.parent), body))
}
