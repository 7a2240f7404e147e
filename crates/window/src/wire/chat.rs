//! OpenAI chat completions.

use super::{content, content_parts, message, present, read_metadata, span, string, unknown};
use crate::markers;
use crate::message::{ChatMessage, ChatRole, MessagePart, ToolCall, ToolOutput};
use crate::token_estimate::chars;
use serde::Deserialize;
use serde_json::value::RawValue;
use std::borrow::Cow;

#[derive(Deserialize)]
struct RawMessage<'a> {
    #[serde(borrow)]
    role: Cow<'a, str>,
    #[serde(borrow, default)]
    content: Option<&'a RawValue>,
    #[serde(borrow, default)]
    tool_calls: Option<Vec<&'a RawValue>>,
    #[serde(borrow, default)]
    tool_call_id: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    function_call: Option<&'a RawValue>,
    #[serde(borrow, default)]
    name: Option<Cow<'a, str>>,
}

#[derive(Deserialize)]
struct RawToolCall<'a> {
    #[serde(borrow, default)]
    id: Cow<'a, str>,
    #[serde(borrow, default)]
    function: Option<RawFunction<'a>>,
    #[serde(borrow, default)]
    custom: Option<RawFunction<'a>>,
}

#[derive(Deserialize)]
struct RawFunction<'a> {
    #[serde(borrow, default)]
    name: Cow<'a, str>,
    #[serde(borrow, default)]
    arguments: Option<&'a RawValue>,
    #[serde(borrow, default)]
    input: Option<&'a RawValue>,
}

impl RawFunction<'_> {
    fn arguments(&self) -> String {
        let value = self.arguments.or(self.input);
        value.map_or_else(String::new, |value| {
            string(value).map_or_else(|| value.get().to_owned(), Cow::into_owned)
        })
    }
}

/// Parses one message of a chat.
pub(super) fn read(raw: &str) -> Result<ChatMessage, String> {
    let chat: RawMessage<'_> = serde_json::from_str(raw).map_err(|error| error.to_string())?;
    let role = match chat.role.as_ref() {
        "system" | "developer" => ChatRole::System,
        "user" => ChatRole::User,
        "assistant" => ChatRole::Assistant,
        "tool" | "function" => ChatRole::Tool,
        other => return Err(format!("role `{other}` is not one of a chat")),
    };
    let mut out = message(role, Vec::new());
    let value = present(chat.content);
    if role == ChatRole::Tool {
        let id = match (&chat.tool_call_id, &chat.name) {
            (Some(id), _) => id.to_string(),
            // Legacy function calls have no ids.
            (None, Some(name)) => format!("function:{name}"),
            (None, None) => return Err("a tool result has no call id".to_owned()),
        };
        out.parts.push(output_part(raw, id, value));
    } else {
        out.parts = value.map_or_else(Vec::new, |value| content_parts(raw, value));
        let calls = chat.tool_calls.unwrap_or_default();
        let old_call = present(chat.function_call);
        if role == ChatRole::Assistant {
            for call in calls {
                out.parts.push(tool_call(raw, call)?);
            }
            if let Some(call) = old_call {
                out.parts.push(function_call(raw, call)?);
            }
        } else {
            // Only the model calls tools: in other roles it is inert data.
            let inert = calls.into_iter().chain(old_call);
            out.parts.extend(inert.map(|call| unknown(raw, call)));
        }
        let own = out
            .texts()
            .next()
            .and_then(|text| markers::classify_message(role, text));
        out.inserted = own;
    }
    read_metadata(raw, &mut out);
    Ok(out)
}

fn output_part(raw: &str, call_id: String, value: Option<&RawValue>) -> MessagePart {
    let (text, others) = value.map_or_else(Default::default, |value| content(raw, value));
    MessagePart::Output(ToolOutput {
        call_id,
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

fn function_call(raw: &str, call: &RawValue) -> Result<MessagePart, String> {
    let read: RawFunction<'_> =
        serde_json::from_str(call.get()).map_err(|error| error.to_string())?;
    Ok(MessagePart::Call(ToolCall {
        id: format!("function:{}", read.name),
        name: read.name.to_string(),
        arguments: read.arguments(),
        span: span(raw, call.get()),
    }))
}

fn tool_call(raw: &str, call: &RawValue) -> Result<MessagePart, String> {
    let read: RawToolCall<'_> =
        serde_json::from_str(call.get()).map_err(|error| format!("a tool call: {error}"))?;
    let function = read.function.or(read.custom);
    Ok(MessagePart::Call(ToolCall {
        id: read.id.to_string(),
        name: function
            .as_ref()
            .map_or_else(String::new, |function| function.name.to_string()),
        arguments: function.map_or_else(String::new, |function| function.arguments()),
        span: span(raw, call.get()),
    }))
}
