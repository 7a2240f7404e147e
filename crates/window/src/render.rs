//! Rendering: pieces to messages in the input's wire format.

use crate::composition::{MISSING_OUTPUT_TEXT, WindowPiece, is_inserted};
use crate::conversation::Conversation;
use crate::markers::LEFT_OUT_TEXT;
use crate::message::{ChatMessage, ChatRole, MessagePart, ToolOutput, WireFormat};
use std::ops::Range;
use std::sync::Arc;

/// Renders a window as JSON messages, and returns for each piece the index of its message.
pub(crate) fn messages(
    conversation: &Conversation,
    pieces: &[WindowPiece],
) -> (Vec<String>, Vec<usize>) {
    match conversation.format {
        WireFormat::Openai | WireFormat::Responses => {
            let all = pieces.iter().map(|piece| single(conversation, piece));
            (all.collect(), (0..pieces.len()).collect())
        }
        WireFormat::Anthropic => turns(conversation, pieces),
    }
}

fn turns(conversation: &Conversation, pieces: &[WindowPiece]) -> (Vec<String>, Vec<usize>) {
    let (mut out, mut places) = (Vec::new(), Vec::new());
    for group in groups(conversation, pieces) {
        let model = !is_user(conversation, &pieces[group.start]);
        let made = turn(conversation, &pieces[group.clone()]);
        if model && out.is_empty() && made.is_some() {
            // The first turn must be a user turn.
            let content = block(LEFT_OUT_TEXT);
            out.push(format!("{{\"role\":\"user\",\"content\":[{content}]}}"));
        }
        places.extend(group.map(|_| out.len()));
        out.extend(made);
    }
    (out, places)
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// Renders a piece for formats in which each inner message is one message.
fn single(conversation: &Conversation, piece: &WindowPiece) -> String {
    let chat = conversation.format == WireFormat::Openai;
    match piece {
        WindowPiece::Unchanged(at) => raw(conversation, *at).to_owned(),
        WindowPiece::Edited { at, outputs, .. } => edited(conversation, *at, outputs),
        WindowPiece::MissingOutput(id) if chat => format!(
            "{{\"role\":\"tool\",\"tool_call_id\":{},\"content\":{}}}",
            quoted(id),
            quoted(MISSING_OUTPUT_TEXT)
        ),
        WindowPiece::MissingOutput(id) => format!(
            "{{\"type\":\"function_call_output\",\"call_id\":{},\"output\":{}}}",
            quoted(id),
            quoted(MISSING_OUTPUT_TEXT)
        ),
        WindowPiece::Anchor { text, .. } if chat => chat_message("system", text),
        WindowPiece::Summary { text, .. } if chat => chat_message("user", text),
        WindowPiece::Anchor { text, .. } => responses_item("developer", text),
        WindowPiece::Summary { text, .. } => responses_item("user", text),
    }
}

fn chat_message(role: &str, text: &str) -> String {
    format!("{{\"role\":\"{role}\",\"content\":{}}}", quoted(text))
}

fn responses_item(role: &str, text: &str) -> String {
    format!(
        "{{\"type\":\"message\",\"role\":\"{role}\",\"content\":[{{\"type\":\"input_text\",\"text\":{}}}]}}",
        quoted(text)
    )
}

fn raw(conversation: &Conversation, at: usize) -> &str {
    &conversation.sources[conversation.messages[at].source_index]
}

/// Renders a message with replaced outputs.
fn edited(conversation: &Conversation, at: usize, outputs: &[(usize, Arc<str>)]) -> String {
    let raw = raw(conversation, at);
    let edits = edits(conversation, at, outputs, raw);
    splice(raw, 0..raw.len(), &edits)
}

fn edits(
    conversation: &Conversation,
    at: usize,
    outputs: &[(usize, Arc<str>)],
    raw: &str,
) -> Vec<(Range<usize>, String)> {
    let parts = &conversation.messages[at].parts;
    outputs
        .iter()
        .filter_map(|(part, text)| match parts.get(*part) {
            Some(MessagePart::Output(output)) => {
                let value = output.value_span.clone()?;
                Some((value, output_value(conversation.format, raw, output, text)))
            }
            _ => None,
        })
        .collect()
}

/// Renders the JSON value of an output: text alone, or before the images that came with it.
fn output_value(form: WireFormat, raw: &str, output: &ToolOutput, text: &str) -> String {
    if output.other_blocks.is_empty() {
        return quoted(text);
    }
    let kind = match form {
        WireFormat::Openai | WireFormat::Anthropic => "text",
        WireFormat::Responses => "input_text",
    };
    let mut out = format!("[{{\"type\":\"{kind}\",\"text\":{}}}", quoted(text));
    for other in &output.other_blocks {
        out.push(',');
        out.push_str(&raw[other.clone()]);
    }
    out.push(']');
    out
}

/// Replaces ranges inside a range of a text. `edits` are ordered and do not overlap.
fn splice(raw: &str, within: Range<usize>, edits: &[(Range<usize>, String)]) -> String {
    let mut out = String::with_capacity(within.len());
    let mut at = within.start;
    for (range, text) in edits {
        if range.start < at || range.end > within.end {
            continue;
        }
        out.push_str(&raw[at..range.start]);
        out.push_str(text);
        at = range.end;
    }
    out.push_str(&raw[at..within.end]);
    out
}

/// Groups pieces into turns: pieces of one original, and user turns adjacent to inserted text.
fn groups(conversation: &Conversation, pieces: &[WindowPiece]) -> Vec<Range<usize>> {
    let mut out: Vec<Range<usize>> = Vec::new();
    for (at, piece) in pieces.iter().enumerate() {
        let outer_here = source_of(conversation, piece);
        match out.last_mut() {
            Some(last)
                if outer_here.is_some()
                    && outer_here == source_of(conversation, &pieces[at - 1]) =>
            {
                last.end = at + 1;
            }
            _ => out.push(at..at + 1),
        }
    }
    let ours = |group: &Range<usize>| {
        pieces[group.clone()]
            .iter()
            .any(|piece| is_inserted(conversation, piece))
    };
    let user = |group: &Range<usize>| is_user(conversation, &pieces[group.start]);
    // Adjacent user turns are joined if one of them holds inserted text.
    let mut joined: Vec<Range<usize>> = Vec::new();
    for run in out.chunk_by(|a, b| user(a) && user(b)) {
        match (run.first(), run.last()) {
            (Some(first), Some(last)) if run.iter().any(ours) => {
                joined.push(first.start..last.end);
            }
            _ => joined.extend_from_slice(run),
        }
    }
    joined
}

fn source_of(conversation: &Conversation, piece: &WindowPiece) -> Option<usize> {
    match piece {
        WindowPiece::Unchanged(at) | WindowPiece::Edited { at, .. } => {
            Some(conversation.messages[*at].source_index)
        }
        WindowPiece::MissingOutput(_)
        | WindowPiece::Anchor { .. }
        | WindowPiece::Summary { .. } => None,
    }
}

fn is_user(conversation: &Conversation, piece: &WindowPiece) -> bool {
    match piece {
        WindowPiece::Unchanged(at) | WindowPiece::Edited { at, .. } => {
            conversation.messages[*at].role != ChatRole::Assistant
        }
        WindowPiece::MissingOutput(_)
        | WindowPiece::Anchor { .. }
        | WindowPiece::Summary { .. } => true,
    }
}

/// Renders one turn of blocks; `None` if it is empty.
fn turn(conversation: &Conversation, group: &[WindowPiece]) -> Option<String> {
    if let Some(raw) = unchanged_source(conversation, group) {
        return Some(raw.to_owned());
    }
    // Tool results must come first in a turn.
    let mut answers: Vec<String> = Vec::new();
    let mut others: Vec<String> = Vec::new();
    for piece in group {
        match piece {
            WindowPiece::Unchanged(at) => {
                blocks(conversation, *at, &[], &[], &mut answers, &mut others)
            }
            WindowPiece::Edited {
                at,
                outputs,
                without,
            } => blocks(
                conversation,
                *at,
                outputs,
                without,
                &mut answers,
                &mut others,
            ),
            WindowPiece::MissingOutput(id) => answers.push(format!(
                "{{\"type\":\"tool_result\",\"tool_use_id\":{},\"content\":{}}}",
                quoted(id),
                quoted(MISSING_OUTPUT_TEXT)
            )),
            WindowPiece::Anchor { text, .. } | WindowPiece::Summary { text, .. } => {
                others.push(block(text))
            }
        }
    }
    answers.append(&mut others);
    if answers.is_empty() {
        return None;
    }
    let content = format!("[{}]", answers.join(","));
    let base = group.iter().rev().find_map(|piece| match piece {
        WindowPiece::Unchanged(at) | WindowPiece::Edited { at, .. } => {
            let span = conversation.messages[*at].content.clone()?;
            Some((raw(conversation, *at), span))
        }
        WindowPiece::MissingOutput(_)
        | WindowPiece::Anchor { .. }
        | WindowPiece::Summary { .. } => None,
    });
    Some(match base {
        Some((raw, span)) => splice(raw, 0..raw.len(), &[(span, content)]),
        None => format!("{{\"role\":\"user\",\"content\":{content}}}"),
    })
}

fn block(text: &str) -> String {
    format!("{{\"type\":\"text\",\"text\":{}}}", quoted(text))
}

/// Returns the original if the group is exactly that message, unchanged.
fn unchanged_source<'a>(conversation: &'a Conversation, group: &[WindowPiece]) -> Option<&'a str> {
    let Some(WindowPiece::Unchanged(first)) = group.first() else {
        return None;
    };
    let outer = conversation.messages[*first].source_index;
    let is_outer = |message: &ChatMessage| message.source_index == outer;
    let all = conversation.messages[*first..]
        .iter()
        .take_while(|message| is_outer(message))
        .count();
    let starts = *first == 0 || !is_outer(&conversation.messages[*first - 1]);
    let whole = starts
        && group.len() == all
        && group
            .iter()
            .enumerate()
            .all(|(nth, piece)| *piece == WindowPiece::Unchanged(first + nth));
    whole.then(|| raw(conversation, *first))
}

fn blocks(
    conversation: &Conversation,
    at: usize,
    outputs: &[(usize, Arc<str>)],
    without: &[usize],
    answers: &mut Vec<String>,
    others: &mut Vec<String>,
) {
    let raw = raw(conversation, at);
    let edits = edits(conversation, at, outputs, raw);
    for (nth, part) in conversation.messages[at].parts.iter().enumerate() {
        if without.contains(&nth) {
            continue;
        }
        match part {
            MessagePart::Output(output) => {
                answers.push(splice_block(raw, output.span.clone(), &edits))
            }
            MessagePart::Text { text, .. } if text.trim().is_empty() => {}
            MessagePart::Text { text, span } if raw[span.clone()].starts_with('"') => {
                debug_assert!(!text.is_empty());
                others.push(format!(
                    "{{\"type\":\"text\",\"text\":{}}}",
                    &raw[span.clone()]
                ));
            }
            MessagePart::Text { span, .. }
            | MessagePart::Thinking { span, .. }
            | MessagePart::Image { span }
            | MessagePart::Unknown { span, .. } => others.push(raw[span.clone()].to_owned()),
            MessagePart::Call(call) => others.push(raw[call.span.clone()].to_owned()),
        }
    }
}

fn splice_block(raw: &str, span: Range<usize>, edits: &[(Range<usize>, String)]) -> String {
    let inside: Vec<(Range<usize>, String)> = edits
        .iter()
        .filter(|(range, _)| span.start <= range.start && range.end <= span.end)
        .cloned()
        .collect();
    splice(raw, span, &inside)
}
