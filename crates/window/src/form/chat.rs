//! OpenAI chat completions.

use super::{beside, content, content_parts, message, present, span, string, unknown};
use crate::message::{Call, Message, Output, Part, Role};
use crate::own;
use crate::size::chars;
use serde::Deserialize;
use serde_json::value::RawValue;
use std::borrow::Cow;

#[derive(Deserialize)]
struct Chat<'a> {
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
struct ToolCall<'a> {
    #[serde(borrow, default)]
    id: Cow<'a, str>,
    #[serde(borrow, default)]
    function: Option<Function<'a>>,
    #[serde(borrow, default)]
    custom: Option<Function<'a>>,
}

#[derive(Deserialize)]
struct Function<'a> {
    #[serde(borrow, default)]
    name: Cow<'a, str>,
    #[serde(borrow, default)]
    arguments: Option<&'a RawValue>,
    #[serde(borrow, default)]
    input: Option<&'a RawValue>,
}

impl Function<'_> {
    fn arguments(&self) -> String {
        let value = self.arguments.or(self.input);
        value.map_or_else(String::new, |value| {
            string(value).map_or_else(|| value.get().to_owned(), Cow::into_owned)
        })
    }
}

/// One message of a chat.
pub(super) fn read(raw: &str) -> Result<Message, String> {
    let chat: Chat<'_> = serde_json::from_str(raw).map_err(|error| error.to_string())?;
    let role = match chat.role.as_ref() {
        "system" | "developer" => Role::System,
        "user" => Role::User,
        "assistant" => Role::Assistant,
        "tool" | "function" => Role::Tool,
        other => return Err(format!("role `{other}` is not one of a chat")),
    };
    let mut out = message(role, Vec::new());
    let value = present(chat.content);
    if role == Role::Tool {
        let id = match (&chat.tool_call_id, &chat.name) {
            (Some(id), _) => id.to_string(),
            // The form before tool calls had ids.
            (None, Some(name)) => format!("function:{name}"),
            (None, None) => return Err("a tool's answer names no call".to_owned()),
        };
        out.parts.push(answer(raw, id, value));
    } else {
        out.parts = value.map_or_else(Vec::new, |value| content_parts(raw, value));
        let calls = chat.tool_calls.unwrap_or_default();
        let old_call = present(chat.function_call);
        if role == Role::Assistant {
            for call in calls {
                out.parts.push(tool_call(raw, call)?);
            }
            if let Some(call) = old_call {
                out.parts.push(function_call(raw, call)?);
            }
        } else {
            // Only the model calls: elsewhere it is no call, and nothing can answer it.
            let inert = calls.into_iter().chain(old_call);
            out.parts.extend(inert.map(|call| unknown(raw, call)));
        }
        let own = out.texts().next().and_then(|text| own::message(role, text));
        out.own = own;
    }
    beside(raw, &mut out);
    Ok(out)
}

fn answer(raw: &str, call_id: String, value: Option<&RawValue>) -> Part {
    let (text, others) = value.map_or_else(Default::default, |value| content(raw, value));
    Part::Output(Output {
        call_id,
        chars: chars(&text),
        text,
        span: 0..raw.len(),
        value: value.map(|value| span(raw, value.get())),
        others,
        call: None,
        tool: String::new(),
        asks: None,
        tool_number: 0,
        left: None,
    })
}

fn function_call(raw: &str, call: &RawValue) -> Result<Part, String> {
    let read: Function<'_> = serde_json::from_str(call.get()).map_err(|error| error.to_string())?;
    Ok(Part::Call(Call {
        id: format!("function:{}", read.name),
        name: read.name.to_string(),
        arguments: read.arguments(),
        span: span(raw, call.get()),
    }))
}

fn tool_call(raw: &str, call: &RawValue) -> Result<Part, String> {
    let read: ToolCall<'_> =
        serde_json::from_str(call.get()).map_err(|error| format!("a tool call: {error}"))?;
    let function = read.function.or(read.custom);
    Ok(Part::Call(Call {
        id: read.id.to_string(),
        name: function
            .as_ref()
            .map_or_else(String::new, |function| function.name.to_string()),
        arguments: function.map_or_else(String::new, |function| function.arguments()),
        span: span(raw, call.get()),
    }))
}
