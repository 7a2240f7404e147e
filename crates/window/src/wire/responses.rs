//! OpenAI Responses: a flat list of items.

use super::{content, content_parts, message, present, read_metadata, span, string};
use crate::markers;
use crate::message::{ChatMessage, ChatRole, MessagePart, ToolCall, ToolOutput};
use crate::token_estimate::chars;
use serde::Deserialize;
use serde_json::value::RawValue;
use std::borrow::Cow;

#[derive(Deserialize)]
struct RawItem<'a> {
    #[serde(borrow, rename = "type", default)]
    kind: Cow<'a, str>,
    #[serde(borrow, default)]
    role: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    content: Option<&'a RawValue>,
    #[serde(borrow, default)]
    call_id: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    name: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    arguments: Option<&'a RawValue>,
    #[serde(borrow, default)]
    input: Option<&'a RawValue>,
    #[serde(borrow, default)]
    action: Option<&'a RawValue>,
    #[serde(borrow, default)]
    output: Option<&'a RawValue>,
}

/// Parses one item.
pub(super) fn read(raw: &str) -> Result<ChatMessage, String> {
    let item: RawItem<'_> = serde_json::from_str(raw).map_err(|error| error.to_string())?;
    let kind = match item.kind.as_ref() {
        "" if item.role.is_some() => "message",
        "" => return Err("an item with neither a type nor a role".to_owned()),
        kind => kind,
    };
    let mut out = if kind == "message" {
        message_item(raw, &item)?
    } else if let (true, Some(id)) = (kind.ends_with("_call"), &item.call_id) {
        let arguments = present(item.arguments)
            .or(present(item.input))
            .or(present(item.action));
        let call = ToolCall {
            id: id.to_string(),
            name: item
                .name
                .as_ref()
                .map_or_else(|| kind.trim_end_matches("_call").to_owned(), Cow::to_string),
            arguments: arguments.map_or_else(String::new, |value| {
                string(value).map_or_else(|| value.get().to_owned(), Cow::into_owned)
            }),
            span: 0..raw.len(),
        };
        message(ChatRole::Assistant, vec![MessagePart::Call(call)])
    } else if let (true, Some(id)) = (kind.ends_with("_output"), &item.call_id) {
        message(
            ChatRole::Tool,
            vec![output_part(raw, id, present(item.output))],
        )
    } else {
        // Reasoning, server-side calls and references belong to the model and are kept whole.
        let (chars, span) = (chars(raw), 0..raw.len());
        let part = if kind == "reasoning" {
            MessagePart::Thinking { chars, span }
        } else {
            MessagePart::Unknown { chars, span }
        };
        message(ChatRole::Assistant, vec![part])
    };
    read_metadata(raw, &mut out);
    Ok(out)
}

fn message_item(raw: &str, item: &RawItem<'_>) -> Result<ChatMessage, String> {
    let role = match item.role.as_deref() {
        Some("system" | "developer") => ChatRole::System,
        Some("user") => ChatRole::User,
        Some("assistant") => ChatRole::Assistant,
        other => {
            return Err(format!(
                "role `{}` is not one of a message item",
                other.unwrap_or_default()
            ));
        }
    };
    let parts = present(item.content).map_or_else(Vec::new, |content| content_parts(raw, content));
    let mut out = message(role, parts);
    let own = out
        .texts()
        .next()
        .and_then(|text| markers::classify_message(role, text));
    out.inserted = own;
    Ok(out)
}

fn output_part(raw: &str, call_id: &str, value: Option<&RawValue>) -> MessagePart {
    let (text, others) = value.map_or_else(Default::default, |value| content(raw, value));
    MessagePart::Output(ToolOutput {
        call_id: call_id.to_owned(),
        chars: chars(&text),
        text,
        span: 0..raw.len(),
        value_span: value.map(|value| span(raw, value.get())),
        other_blocks: others,
        call: None,
        tool: String::new(),
        expand_id: None,
        tool_index: 0,
        shortened_form: None,
    })
}
