//! Which program wrote a line.

use super::json::{Field, is_object, object_of, word};
use heirloom_model::stream::StreamFormat;
use serde::Deserialize;

#[derive(Deserialize)]
struct Line<'a> {
    #[serde(borrow, rename = "type")]
    kind: Field<'a>,
    #[serde(borrow)]
    subtype: Field<'a>,
    #[serde(borrow)]
    session_id: Field<'a>,
    #[serde(borrow, rename = "sessionId")]
    transcript_session_id: Field<'a>,
    #[serde(borrow)]
    message: Field<'a>,
    #[serde(borrow)]
    event: Field<'a>,
    #[serde(borrow)]
    item: Field<'a>,
    #[serde(borrow)]
    thread_id: Field<'a>,
    #[serde(borrow)]
    role: Field<'a>,
    #[serde(borrow)]
    tool_id: Field<'a>,
    #[serde(borrow)]
    severity: Field<'a>,
    #[serde(borrow)]
    status: Field<'a>,
}

/// The format of the stream to which this line belongs, if a known program writes such lines.
///
/// The type alone is not enough: plain output may show a line of somebody's log or of a stored
/// transcript, and taking it for the beginning of a stream would lose all that follows.
pub(super) fn detect(line: &str) -> Option<StreamFormat> {
    let line: Line<'_> = object_of(line).ok()?;
    if line.transcript_session_id.is_some() {
        return None;
    }
    let is_claude = match word(line.kind) {
        "system" => line.subtype.is_some() && line.session_id.is_some(),
        "assistant" | "user" => is_object(line.message),
        "result" => line.subtype.is_some(),
        "stream_event" => is_object(line.event),
        _ => false,
    };
    let is_codex = match word(line.kind) {
        "thread.started" => line.thread_id.is_some(),
        "turn.started" | "turn.completed" | "turn.failed" => true,
        "item.started" | "item.updated" | "item.completed" => is_object(line.item),
        "error" => line.message.is_some() && line.severity.is_none(),
        _ => false,
    };
    let is_gemini = match word(line.kind) {
        "init" => line.session_id.is_some(),
        "message" => line.role.is_some(),
        "tool_use" | "tool_result" => line.tool_id.is_some(),
        "error" => line.severity.is_some(),
        "result" => line.status.is_some() && line.subtype.is_none(),
        _ => false,
    };
    match (is_claude, is_codex, is_gemini) {
        (true, _, _) => Some(StreamFormat::ClaudeStream),
        (_, true, _) => Some(StreamFormat::CodexJson),
        (_, _, true) => Some(StreamFormat::GeminiStream),
        (false, false, false) => None,
    }
}
