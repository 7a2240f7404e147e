//! Wire formats: parse the messages of providers.

mod anthropic;
mod chat;
mod responses;

use crate::markers;
use crate::message::{ChatMessage, ChatRole, MessagePart, WireFormat};
use crate::token_estimate::{ENVELOPE_CHARS, IMAGE_CHARS, chars};
use serde::Deserialize;
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::ops::Range;

/// Parses one original to inner messages; errors describe the problem.
pub(crate) fn read(form: WireFormat, outer: usize, raw: &str) -> Result<Vec<ChatMessage>, String> {
    let mut messages = match form {
        WireFormat::Openai => vec![chat::read(raw)?],
        WireFormat::Anthropic => anthropic::read(raw)?,
        WireFormat::Responses => vec![responses::read(raw)?],
    };
    let hash = *blake3::hash(raw.as_bytes()).as_bytes();
    for (at, message) in messages.iter_mut().enumerate() {
        for part in &mut message.parts {
            if let MessagePart::Output(output) = part {
                output.shortened_form = markers::classify_output(&output.text);
            }
        }
        message.source_index = outer;
        message.hash.copy_from_slice(&hash[..16]);
        message.hash[15] ^= u8::try_from(at & 0xFF).unwrap_or(0);
        message.chars = ENVELOPE_CHARS + message.parts.iter().map(part_chars).sum::<usize>();
    }
    Ok(messages)
}

/// Counts the characters of a part.
pub(crate) fn part_chars(part: &MessagePart) -> usize {
    match part {
        MessagePart::Text { text, .. } => chars(text),
        // A newline, the name, a space, the arguments.
        MessagePart::Call(call) => 2 + chars(&call.name) + chars(&call.arguments),
        MessagePart::Output(output) => output.chars + IMAGE_CHARS * output.other_blocks.len(),
        MessagePart::Thinking { chars, .. } | MessagePart::Unknown { chars, .. } => *chars,
        MessagePart::Image { .. } => IMAGE_CHARS,
    }
}

/// Creates an inner message of these parts.
fn message(role: ChatRole, parts: Vec<MessagePart>) -> ChatMessage {
    ChatMessage {
        source_index: 0,
        role,
        parts,
        time_ms: None,
        usage: None,
        inserted: None,
        chars: 0,
        content: None,
        hash: [0; 16],
    }
}

/// Returns the byte range of `inner`, a slice of `raw`.
fn span(raw: &str, inner: &str) -> Range<usize> {
    let start = (inner.as_ptr() as usize).saturating_sub(raw.as_ptr() as usize);
    start..start + inner.len()
}

/// Returns a JSON string's value, if it is a string.
fn string(raw: &RawValue) -> Option<Cow<'_, str>> {
    let json = raw.get();
    if !json.starts_with('"') {
        return None;
    }
    let inside = &json[1..json.len() - 1];
    if memchr::memchr(b'\\', inside.as_bytes()).is_none() {
        return Some(Cow::Borrowed(inside));
    }
    serde_json::from_str::<String>(json).ok().map(Cow::Owned)
}

/// Returns the elements of a JSON array, if it is an array.
fn array(raw: &RawValue) -> Option<Vec<&RawValue>> {
    raw.get()
        .starts_with('[')
        .then(|| serde_json::from_str(raw.get()).ok())
        .flatten()
}

/// Returns the value unless it is `null`.
fn present(raw: Option<&RawValue>) -> Option<&RawValue> {
    raw.filter(|raw| raw.get() != "null")
}

/// Fields of a content block.
#[derive(Deserialize)]
struct ContentBlock<'a> {
    #[serde(borrow, rename = "type", default)]
    kind: Cow<'a, str>,
    #[serde(borrow, default)]
    text: Option<&'a RawValue>,
}

/// Returns the text of a string or an array of blocks, and the ranges of blocks that are not text.
fn content(raw: &str, value: &RawValue) -> (String, Vec<Range<usize>>) {
    if let Some(text) = string(value) {
        return (text.into_owned(), Vec::new());
    }
    let Some(blocks) = array(value) else {
        // The model sees an object or a number as JSON.
        return (value.get().to_owned(), Vec::new());
    };
    let (mut texts, mut others) = (Vec::new(), Vec::new());
    for block in blocks {
        match block_text(block) {
            Some(text) => texts.push(text),
            None => others.push(span(raw, block.get())),
        }
    }
    (texts.join("\n"), others)
}

/// Returns the text of a text block.
fn block_text(block: &RawValue) -> Option<String> {
    let read: ContentBlock<'_> = serde_json::from_str(block.get()).ok()?;
    if !matches!(
        read.kind.as_ref(),
        "text" | "input_text" | "output_text" | "refusal"
    ) {
        return None;
    }
    string(read.text?).map(Cow::into_owned)
}

/// Parses a block of the kinds that all formats share: text, picture, or unknown.
fn plain_block(raw: &str, block: &RawValue) -> MessagePart {
    let span = span(raw, block.get());
    if let Some(text) = block_text(block) {
        return MessagePart::Text { text, span };
    }
    let kind = serde_json::from_str::<ContentBlock<'_>>(block.get())
        .map(|block| block.kind.into_owned())
        .unwrap_or_default();
    match kind.as_str() {
        "image" | "image_url" | "input_image" | "input_file" | "file" | "document"
        | "input_audio" => MessagePart::Image { span },
        _ => unknown(raw, block),
    }
}

/// Creates a part that is kept or dropped whole.
fn unknown(raw: &str, value: &RawValue) -> MessagePart {
    MessagePart::Unknown {
        chars: chars(value.get()),
        span: span(raw, value.get()),
    }
}

/// Parses the content of a message: a string, blocks, or something unknown.
fn content_parts(raw: &str, value: &RawValue) -> Vec<MessagePart> {
    let whole = span(raw, value.get());
    if let Some(text) = string(value) {
        let text = text.into_owned();
        return vec![MessagePart::Text { text, span: whole }];
    }
    match array(value) {
        Some(blocks) => blocks
            .into_iter()
            .map(|block| plain_block(raw, block))
            .collect(),
        None => vec![unknown(raw, value)],
    }
}

/// Fields of a message other than its content.
#[derive(Deserialize)]
struct RawMetadata<'a> {
    #[serde(borrow, default)]
    timestamp: Option<&'a RawValue>,
    #[serde(borrow, default)]
    created_at: Option<&'a RawValue>,
    #[serde(borrow, default)]
    usage: Option<&'a RawValue>,
}

/// Token usage as providers report it.
#[derive(Deserialize)]
struct Usage {
    #[serde(default)]
    input_tokens: u64,
    #[serde(default)]
    cache_creation_input_tokens: u64,
    #[serde(default)]
    cache_read_input_tokens: u64,
    #[serde(default)]
    prompt_tokens: u64,
}

/// Reads the time and the usage of a message, if present.
fn read_metadata(raw: &str, message: &mut ChatMessage) {
    // Most messages have neither, so a substring search avoids a second parse.
    if !["\"timestamp\"", "\"created_at\"", "\"usage\""]
        .iter()
        .any(|key| memchr::memmem::find(raw.as_bytes(), key.as_bytes()).is_some())
    {
        return;
    }
    let Ok(metadata) = serde_json::from_str::<RawMetadata<'_>>(raw) else {
        return;
    };
    message.time_ms = present(metadata.timestamp)
        .or(present(metadata.created_at))
        .and_then(time_ms);
    message.usage = metadata
        .usage
        .and_then(|usage| serde_json::from_str::<Usage>(usage.get()).ok())
        .map(|usage| {
            usage
                .input_tokens
                .saturating_add(usage.cache_creation_input_tokens)
                .saturating_add(usage.cache_read_input_tokens)
                .saturating_add(usage.prompt_tokens)
        })
        .filter(|tokens| *tokens > 0);
}

/// Parses a time given as RFC 3339 text, in seconds or in milliseconds.
fn time_ms(value: &RawValue) -> Option<i64> {
    if let Some(text) = string(value) {
        let time: heirloom_model::Timestamp = text.parse().ok()?;
        return Some(time.as_millisecond());
    }
    let number: f64 = serde_json::from_str(value.get()).ok()?;
    let ms = if number.abs() < 1e11 {
        number * 1_000.0
    } else {
        number
    };
    #[expect(clippy::cast_possible_truncation, reason = "the range was looked at")]
    (ms.is_finite() && ms.abs() < 2.5e14).then_some(ms as i64)
}
