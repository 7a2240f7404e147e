//! From pieces to the bytes of the form that came in.

use crate::compose::{MISSING, Piece, is_ours};
use crate::conversation::Conversation;
use crate::message::{Form, Message, Output, Part, Role};
use crate::own::LEFT_OUT;
use std::ops::Range;
use std::sync::Arc;

/// The messages of a window as JSON, and which of them each piece is in.
pub(crate) fn messages(conversation: &Conversation, pieces: &[Piece]) -> (Vec<String>, Vec<usize>) {
    match conversation.form {
        Form::Openai | Form::Responses => {
            let all = pieces.iter().map(|piece| single(conversation, piece));
            (all.collect(), (0..pieces.len()).collect())
        }
        Form::Anthropic => turns(conversation, pieces),
    }
}

fn turns(conversation: &Conversation, pieces: &[Piece]) -> (Vec<String>, Vec<usize>) {
    let (mut out, mut places) = (Vec::new(), Vec::new());
    for group in groups(conversation, pieces) {
        let model = !is_user(conversation, &pieces[group.start]);
        let made = turn(conversation, &pieces[group.clone()]);
        if model && out.is_empty() && made.is_some() {
            // The first turn has to be a user's.
            let content = block(LEFT_OUT);
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

/// A piece where each inner message is one of the provider's.
fn single(conversation: &Conversation, piece: &Piece) -> String {
    let chat = conversation.form == Form::Openai;
    match piece {
        Piece::Kept(at) => raw(conversation, *at).to_owned(),
        Piece::Edited { at, outputs, .. } => edited(conversation, *at, outputs),
        Piece::Missing(id) if chat => format!(
            "{{\"role\":\"tool\",\"tool_call_id\":{},\"content\":{}}}",
            quoted(id),
            quoted(MISSING)
        ),
        Piece::Missing(id) => format!(
            "{{\"type\":\"function_call_output\",\"call_id\":{},\"output\":{}}}",
            quoted(id),
            quoted(MISSING)
        ),
        Piece::Anchor { text, .. } if chat => said("system", text),
        Piece::Summary { text, .. } if chat => said("user", text),
        Piece::Anchor { text, .. } => item("developer", text),
        Piece::Summary { text, .. } => item("user", text),
    }
}

fn said(role: &str, text: &str) -> String {
    format!("{{\"role\":\"{role}\",\"content\":{}}}", quoted(text))
}

fn item(role: &str, text: &str) -> String {
    format!(
        "{{\"type\":\"message\",\"role\":\"{role}\",\"content\":[{{\"type\":\"input_text\",\"text\":{}}}]}}",
        quoted(text)
    )
}

fn raw(conversation: &Conversation, at: usize) -> &str {
    &conversation.outers[conversation.messages[at].outer]
}

/// A message with other outputs.
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
            Some(Part::Output(output)) => {
                let value = output.value.clone()?;
                Some((value, value_of(conversation.form, raw, output, text)))
            }
            _ => None,
        })
        .collect()
}

/// The JSON value of an output: text alone, or in front of the pictures that came with it.
fn value_of(form: Form, raw: &str, output: &Output, text: &str) -> String {
    if output.others.is_empty() {
        return quoted(text);
    }
    let kind = match form {
        Form::Openai | Form::Anthropic => "text",
        Form::Responses => "input_text",
    };
    let mut out = format!("[{{\"type\":\"{kind}\",\"text\":{}}}", quoted(text));
    for other in &output.others {
        out.push(',');
        out.push_str(&raw[other.clone()]);
    }
    out.push(']');
    out
}

/// A range of a text with some ranges inside it replaced. `edits` are in order and apart.
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

/// Which pieces make one turn: those of one original, and what of users stands beside what is ours.
fn groups(conversation: &Conversation, pieces: &[Piece]) -> Vec<Range<usize>> {
    let mut out: Vec<Range<usize>> = Vec::new();
    for (at, piece) in pieces.iter().enumerate() {
        let outer_here = outer(conversation, piece);
        match out.last_mut() {
            Some(last)
                if outer_here.is_some() && outer_here == outer(conversation, &pieces[at - 1]) =>
            {
                last.end = at + 1;
            }
            _ => out.push(at..at + 1),
        }
    }
    let ours = |group: &Range<usize>| {
        pieces[group.clone()]
            .iter()
            .any(|piece| is_ours(conversation, piece))
    };
    let user = |group: &Range<usize>| is_user(conversation, &pieces[group.start]);
    // Users' turns in a row become one where one of them holds something of ours.
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

fn outer(conversation: &Conversation, piece: &Piece) -> Option<usize> {
    match piece {
        Piece::Kept(at) | Piece::Edited { at, .. } => Some(conversation.messages[*at].outer),
        Piece::Missing(_) | Piece::Anchor { .. } | Piece::Summary { .. } => None,
    }
}

fn is_user(conversation: &Conversation, piece: &Piece) -> bool {
    match piece {
        Piece::Kept(at) | Piece::Edited { at, .. } => {
            conversation.messages[*at].role != Role::Assistant
        }
        Piece::Missing(_) | Piece::Anchor { .. } | Piece::Summary { .. } => true,
    }
}

/// One turn of blocks; `None` if nothing of it is left.
fn turn(conversation: &Conversation, group: &[Piece]) -> Option<String> {
    if let Some(raw) = untouched(conversation, group) {
        return Some(raw.to_owned());
    }
    // Answers of tools come first, whatever they were joined with.
    let mut answers: Vec<String> = Vec::new();
    let mut others: Vec<String> = Vec::new();
    for piece in group {
        match piece {
            Piece::Kept(at) => blocks(conversation, *at, &[], &[], &mut answers, &mut others),
            Piece::Edited {
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
            Piece::Missing(id) => answers.push(format!(
                "{{\"type\":\"tool_result\",\"tool_use_id\":{},\"content\":{}}}",
                quoted(id),
                quoted(MISSING)
            )),
            Piece::Anchor { text, .. } | Piece::Summary { text, .. } => others.push(block(text)),
        }
    }
    answers.append(&mut others);
    if answers.is_empty() {
        return None;
    }
    let content = format!("[{}]", answers.join(","));
    let base = group.iter().rev().find_map(|piece| match piece {
        Piece::Kept(at) | Piece::Edited { at, .. } => {
            let span = conversation.messages[*at].content.clone()?;
            Some((raw(conversation, *at), span))
        }
        Piece::Missing(_) | Piece::Anchor { .. } | Piece::Summary { .. } => None,
    });
    Some(match base {
        Some((raw, span)) => splice(raw, 0..raw.len(), &[(span, content)]),
        None => format!("{{\"role\":\"user\",\"content\":{content}}}"),
    })
}

fn block(text: &str) -> String {
    format!("{{\"type\":\"text\",\"text\":{}}}", quoted(text))
}

/// The original, if the group is all of it and nothing else.
fn untouched<'a>(conversation: &'a Conversation, group: &[Piece]) -> Option<&'a str> {
    let Some(Piece::Kept(first)) = group.first() else {
        return None;
    };
    let outer = conversation.messages[*first].outer;
    let is_outer = |message: &Message| message.outer == outer;
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
            .all(|(nth, piece)| *piece == Piece::Kept(first + nth));
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
            Part::Output(output) => answers.push(splice_block(raw, output.span.clone(), &edits)),
            Part::Text { text, .. } if text.trim().is_empty() => {}
            Part::Text { text, span } if raw[span.clone()].starts_with('"') => {
                debug_assert!(!text.is_empty());
                others.push(format!(
                    "{{\"type\":\"text\",\"text\":{}}}",
                    &raw[span.clone()]
                ));
            }
            Part::Text { span, .. }
            | Part::Thinking { span, .. }
            | Part::Image { span }
            | Part::Unknown { span, .. } => others.push(raw[span.clone()].to_owned()),
            Part::Call(call) => others.push(raw[call.span.clone()].to_owned()),
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
