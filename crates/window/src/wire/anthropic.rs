//! Anthropic messages.

use super::{array, content, message, plain_block, present, read_metadata, span, string, unknown};
use crate::markers;
use crate::message::{ChatMessage, ChatRole, InsertedMessage, MessagePart, ToolCall, ToolOutput};
use crate::token_estimate::chars;
use serde::Deserialize;
use serde_json::value::RawValue;
use std::borrow::Cow;

#[derive(Deserialize)]
struct RawTurn<'a> {
    #[serde(borrow)]
    role: Cow<'a, str>,
    #[serde(borrow, default)]
    content: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct RawBlock<'a> {
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

/// Parses one turn; it gives several inner messages if it contains inserted blocks.
pub(super) fn read(raw: &str) -> Result<Vec<ChatMessage>, String> {
    let turn: RawTurn<'_> = serde_json::from_str(raw).map_err(|error| error.to_string())?;
    let role = match turn.role.as_ref() {
        "user" => ChatRole::User,
        "assistant" => ChatRole::Assistant,
        "system" => {
            return Err("a system prompt is not allowed among Anthropic messages".to_owned());
        }
        other => return Err(format!("role `{other}` is neither user nor assistant")),
    };
    let parts = parts(raw, role, present(turn.content))?;
    if has_late_outputs(&parts) {
        return Err("its tool results come after other blocks".to_owned());
    }
    let mut out = split_at_inserted(role, parts);
    for message in &mut out {
        message.content = turn.content.map(|content| span(raw, content.get()));
    }
    if let Some(last) = out.last_mut() {
        read_metadata(raw, last);
    }
    Ok(out)
}

fn parts(raw: &str, role: ChatRole, value: Option<&RawValue>) -> Result<Vec<MessagePart>, String> {
    let Some(value) = value else {
        return Ok(Vec::new());
    };
    if let Some(text) = string(value) {
        return Ok(vec![MessagePart::Text {
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

/// Returns true if a tool result follows another block: the provider accepts results only at the beginning.
fn has_late_outputs(parts: &[MessagePart]) -> bool {
    let is_answer = |part: &MessagePart| matches!(part, MessagePart::Output(_));
    parts
        .iter()
        .skip_while(|part| is_answer(part))
        .any(is_answer)
}

fn part(raw: &str, role: ChatRole, value: &RawValue) -> Result<MessagePart, String> {
    let block: RawBlock<'_> =
        serde_json::from_str(value.get()).map_err(|error| format!("a block: {error}"))?;
    let place = span(raw, value.get());
    Ok(match block.kind.as_ref() {
        // Only the model calls and thinks, and it never holds results.
        "tool_use" | "thinking" | "redacted_thinking" if role != ChatRole::Assistant => {
            unknown(raw, value)
        }
        "tool_result" if role == ChatRole::Assistant => unknown(raw, value),
        "tool_use" => MessagePart::Call(ToolCall {
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
            MessagePart::Output(ToolOutput {
                call_id: block.tool_use_id.to_string(),
                chars: chars(&text),
                text,
                span: place,
                value_span: inside.map(|inside| span(raw, inside.get())),
                other_blocks: others,
                call: None,
                tool: String::new(),
                expand_id: None,
                tool_index: 0,
                shortened_form: None,
            })
        }
        "thinking" | "redacted_thinking" => MessagePart::Thinking {
            chars: chars(value.get()),
            span: place,
        },
        _ => plain_block(raw, value),
    })
}

/// Splits a turn at inserted blocks.
fn split_at_inserted(role: ChatRole, parts: Vec<MessagePart>) -> Vec<ChatMessage> {
    let mut out: Vec<ChatMessage> = Vec::new();
    for part in parts {
        let own = inserted_kind(role, &part);
        match out.last_mut() {
            Some(last) if last.inserted.is_none() && own.is_none() => last.parts.push(part),
            _ => {
                let mut next = message(role, vec![part]);
                next.inserted = own;
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
            .all(|part| matches!(part, MessagePart::Output(_)));
        if message.role == ChatRole::User && only_answers && !message.parts.is_empty() {
            message.role = ChatRole::Tool;
        }
    }
    out
}

fn inserted_kind(role: ChatRole, part: &MessagePart) -> Option<InsertedMessage> {
    match part {
        MessagePart::Text { text, .. } => markers::classify_message(role, text),
        MessagePart::Call(_)
        | MessagePart::Output(_)
        | MessagePart::Thinking { .. }
        | MessagePart::Image { .. }
        | MessagePart::Unknown { .. } => None,
    }
}
