//! Anthropic messages.

use super::{array, beside, content, message, plain_block, present, span, string, unknown};
use crate::message::{Call, Message, Output, Own, Part, Role};
use crate::own;
use crate::size::chars;
use serde::Deserialize;
use serde_json::value::RawValue;
use std::borrow::Cow;

#[derive(Deserialize)]
struct Turn<'a> {
    #[serde(borrow)]
    role: Cow<'a, str>,
    #[serde(borrow, default)]
    content: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Block<'a> {
    #[serde(borrow, rename = "type", default)]
    kind: Cow<'a, str>,
    #[serde(borrow, default)]
    id: Cow<'a, str>,
    #[serde(borrow, default)]
    name: Cow<'a, str>,
    #[serde(borrow, default)]
    input: Option<&'a RawValue>,
    #[serde(borrow, default)]
    tool_use_id: Cow<'a, str>,
    #[serde(borrow, default)]
    content: Option<&'a RawValue>,
}

/// The inner messages of one turn: more than one where blocks of ours stand among its own.
pub(super) fn read(raw: &str) -> Result<Vec<Message>, String> {
    let turn: Turn<'_> = serde_json::from_str(raw).map_err(|error| error.to_string())?;
    let role = match turn.role.as_ref() {
        "user" => Role::User,
        "assistant" => Role::Assistant,
        "system" => return Err("a system prompt stands beside the messages here".to_owned()),
        other => return Err(format!("role `{other}` is neither user nor assistant")),
    };
    let parts = parts(raw, role, present(turn.content))?;
    if answers_late(&parts) {
        return Err("its answers of tools stand behind other blocks".to_owned());
    }
    let mut out = divide(role, parts);
    for message in &mut out {
        message.content = turn.content.map(|content| span(raw, content.get()));
    }
    if let Some(last) = out.last_mut() {
        beside(raw, last);
    }
    Ok(out)
}

fn parts(raw: &str, role: Role, value: Option<&RawValue>) -> Result<Vec<Part>, String> {
    let Some(value) = value else {
        return Ok(Vec::new());
    };
    if let Some(text) = string(value) {
        return Ok(vec![Part::Text {
            text: text.into_owned(),
            span: span(raw, value.get()),
        }]);
    }
    let blocks = array(value).ok_or("its content is neither text nor blocks")?;
    blocks
        .into_iter()
        .map(|block| part(raw, role, block))
        .collect()
}

/// Whether an answer of a tool stands behind anything else: the provider takes them only in front.
fn answers_late(parts: &[Part]) -> bool {
    let is_answer = |part: &Part| matches!(part, Part::Output(_));
    parts
        .iter()
        .skip_while(|part| is_answer(part))
        .any(is_answer)
}

fn part(raw: &str, role: Role, value: &RawValue) -> Result<Part, String> {
    let block: Block<'_> =
        serde_json::from_str(value.get()).map_err(|error| format!("a block: {error}"))?;
    let place = span(raw, value.get());
    Ok(match block.kind.as_ref() {
        // Only the model calls and thinks, and it never answers its calls.
        "tool_use" | "thinking" | "redacted_thinking" if role != Role::Assistant => {
            unknown(raw, value)
        }
        "tool_result" if role == Role::Assistant => unknown(raw, value),
        "tool_use" => Part::Call(Call {
            id: block.id.to_string(),
            name: block.name.to_string(),
            arguments: block
                .input
                .map_or_else(String::new, |input| input.get().to_owned()),
            span: place,
        }),
        "tool_result" => {
            let inside = present(block.content);
            let (text, others) = inside.map_or_else(Default::default, |value| content(raw, value));
            Part::Output(Output {
                call_id: block.tool_use_id.to_string(),
                chars: chars(&text),
                text,
                span: place,
                value: inside.map(|inside| span(raw, inside.get())),
                others,
                call: None,
                tool: String::new(),
                asks: None,
                tool_number: 0,
                left: None,
            })
        }
        "thinking" | "redacted_thinking" => Part::Thinking {
            chars: chars(value.get()),
            span: place,
        },
        _ => plain_block(raw, value),
    })
}

/// Cuts a turn where blocks of ours begin and end.
fn divide(role: Role, parts: Vec<Part>) -> Vec<Message> {
    let mut out: Vec<Message> = Vec::new();
    for part in parts {
        let own = own_of(role, &part);
        match out.last_mut() {
            Some(last) if last.own.is_none() && own.is_none() => last.parts.push(part),
            _ => {
                let mut next = message(role, vec![part]);
                next.own = own;
                out.push(next);
            }
        }
    }
    if out.is_empty() {
        out.push(message(role, Vec::new()));
    }
    for message in &mut out {
        let only_answers = message
            .parts
            .iter()
            .all(|part| matches!(part, Part::Output(_)));
        if message.role == Role::User && only_answers && !message.parts.is_empty() {
            message.role = Role::Tool;
        }
    }
    out
}

fn own_of(role: Role, part: &Part) -> Option<Own> {
    match part {
        Part::Text { text, .. } => own::message(role, text),
        Part::Call(_)
        | Part::Output(_)
        | Part::Thinking { .. }
        | Part::Image { .. }
        | Part::Unknown { .. } => None,
    }
}
