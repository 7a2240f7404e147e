//! OpenAI Responses: a flat list of items.

use super::{beside, content, content_parts, message, present, span, string};
use crate::message::{Call, Message, Output, Part, Role};
use crate::own;
use crate::size::chars;
use serde::Deserialize;
use serde_json::value::RawValue;
use std::borrow::Cow;

#[derive(Deserialize)]
struct Item<'a> {
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

/// One item.
pub(super) fn read(raw: &str) -> Result<Message, String> {
    let item: Item<'_> = serde_json::from_str(raw).map_err(|error| error.to_string())?;
    let kind = match item.kind.as_ref() {
        "" if item.role.is_some() => "message",
        "" => return Err("an item with neither a type nor a role".to_owned()),
        kind => kind,
    };
    let mut out = if kind == "message" {
        said(raw, &item)?
    } else if let (true, Some(id)) = (kind.ends_with("_call"), &item.call_id) {
        let arguments = present(item.arguments)
            .or(present(item.input))
            .or(present(item.action));
        let call = Call {
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
        message(Role::Assistant, vec![Part::Call(call)])
    } else if let (true, Some(id)) = (kind.ends_with("_output"), &item.call_id) {
        message(Role::Tool, vec![answer(raw, id, present(item.output))])
    } else {
        // Reasoning, calls that the service answers itself, references: the model's, kept whole.
        let (chars, span) = (chars(raw), 0..raw.len());
        let part = if kind == "reasoning" {
            Part::Thinking { chars, span }
        } else {
            Part::Unknown { chars, span }
        };
        message(Role::Assistant, vec![part])
    };
    beside(raw, &mut out);
    Ok(out)
}

fn said(raw: &str, item: &Item<'_>) -> Result<Message, String> {
    let role = match item.role.as_deref() {
        Some("system" | "developer") => Role::System,
        Some("user") => Role::User,
        Some("assistant") => Role::Assistant,
        other => {
            return Err(format!(
                "role `{}` is not one of a message item",
                other.unwrap_or_default()
            ));
        }
    };
    let parts = present(item.content).map_or_else(Vec::new, |content| content_parts(raw, content));
    let mut out = message(role, parts);
    let own = out.texts().next().and_then(|text| own::message(role, text));
    out.own = own;
    Ok(out)
}

fn answer(raw: &str, call_id: &str, value: Option<&RawValue>) -> Part {
    let (text, others) = value.map_or_else(Default::default, |value| content(raw, value));
    Part::Output(Output {
        call_id: call_id.to_owned(),
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
