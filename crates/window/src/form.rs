//! From a provider's bytes to inner messages.

mod anthropic;
mod chat;
mod responses;

use crate::message::{Form, Message, Part, Role};
use crate::own;
use crate::size::{ENVELOPE_CHARS, IMAGE_CHARS, chars};
use serde::Deserialize;
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::ops::Range;

/// The inner messages of one original; the reason if it cannot be one.
pub(crate) fn read(form: Form, outer: usize, raw: &str) -> Result<Vec<Message>, String> {
    let mut messages = match form {
        Form::Openai => vec![chat::read(raw)?],
        Form::Anthropic => anthropic::read(raw)?,
        Form::Responses => vec![responses::read(raw)?],
    };
    let hash = *blake3::hash(raw.as_bytes()).as_bytes();
    for (at, message) in messages.iter_mut().enumerate() {
        for part in &mut message.parts {
            if let Part::Output(output) = part {
                output.left = own::left(&output.text);
            }
        }
        message.outer = outer;
        message.hash.copy_from_slice(&hash[..16]);
        message.hash[15] ^= u8::try_from(at & 0xFF).unwrap_or(0);
        message.chars = ENVELOPE_CHARS + message.parts.iter().map(part_chars).sum::<usize>();
    }
    Ok(messages)
}

/// The characters of a part, as the window counts them.
pub(crate) fn part_chars(part: &Part) -> usize {
    match part {
        Part::Text { text, .. } => chars(text),
        // A newline, the name, a space, the arguments.
        Part::Call(call) => 2 + chars(&call.name) + chars(&call.arguments),
        Part::Output(output) => output.chars + IMAGE_CHARS * output.others.len(),
        Part::Thinking { chars, .. } | Part::Unknown { chars, .. } => *chars,
        Part::Image { .. } => IMAGE_CHARS,
    }
}

/// An inner message of those parts.
fn message(role: Role, parts: Vec<Part>) -> Message {
    Message {
        outer: 0,
        role,
        parts,
        time_ms: None,
        usage: None,
        own: None,
        chars: 0,
        content: None,
        hash: [0; 16],
    }
}

/// Where `inner`, a slice of `raw`, stands in it.
fn span(raw: &str, inner: &str) -> Range<usize> {
    let start = (inner.as_ptr() as usize).saturating_sub(raw.as_ptr() as usize);
    start..start + inner.len()
}

/// The string that a JSON value is, if it is one.
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

/// The elements of a JSON array, if it is one.
fn array(raw: &RawValue) -> Option<Vec<&RawValue>> {
    raw.get()
        .starts_with('[')
        .then(|| serde_json::from_str(raw.get()).ok())
        .flatten()
}

/// A value that is there and is not `null`.
fn present(raw: Option<&RawValue>) -> Option<&RawValue> {
    raw.filter(|raw| raw.get() != "null")
}

/// What every block of content may say.
#[derive(Deserialize)]
struct Block<'a> {
    #[serde(borrow, rename = "type", default)]
    kind: Cow<'a, str>,
    #[serde(borrow, default)]
    text: Option<&'a RawValue>,
}

/// The text of a value that is a string or an array of blocks, and the blocks that are no text.
fn content(raw: &str, value: &RawValue) -> (String, Vec<Range<usize>>) {
    if let Some(text) = string(value) {
        return (text.into_owned(), Vec::new());
    }
    let Some(blocks) = array(value) else {
        // An object or a number: its JSON is what the model sees.
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

/// The text of a block that is only text.
fn block_text(block: &RawValue) -> Option<String> {
    let read: Block<'_> = serde_json::from_str(block.get()).ok()?;
    if !matches!(
        read.kind.as_ref(),
        "text" | "input_text" | "output_text" | "refusal"
    ) {
        return None;
    }
    string(read.text?).map(Cow::into_owned)
}

/// A part for a block of a kind that the forms share: text, picture, or unknown.
fn plain_block(raw: &str, block: &RawValue) -> Part {
    let span = span(raw, block.get());
    if let Some(text) = block_text(block) {
        return Part::Text { text, span };
    }
    let kind = serde_json::from_str::<Block<'_>>(block.get())
        .map(|block| block.kind.into_owned())
        .unwrap_or_default();
    match kind.as_str() {
        "image" | "image_url" | "input_image" | "input_file" | "file" | "document"
        | "input_audio" => Part::Image { span },
        _ => unknown(raw, block),
    }
}

/// A part that is kept or dropped whole.
fn unknown(raw: &str, value: &RawValue) -> Part {
    Part::Unknown {
        chars: chars(value.get()),
        span: span(raw, value.get()),
    }
}

/// The parts of a message's content: a string, blocks, or something unknown.
fn content_parts(raw: &str, value: &RawValue) -> Vec<Part> {
    let whole = span(raw, value.get());
    if let Some(text) = string(value) {
        let text = text.into_owned();
        return vec![Part::Text { text, span: whole }];
    }
    match array(value) {
        Some(blocks) => blocks
            .into_iter()
            .map(|block| plain_block(raw, block))
            .collect(),
        None => vec![unknown(raw, value)],
    }
}

/// What any message may say besides its content.
#[derive(Deserialize)]
struct Beside<'a> {
    #[serde(borrow, default)]
    timestamp: Option<&'a RawValue>,
    #[serde(borrow, default)]
    created_at: Option<&'a RawValue>,
    #[serde(borrow, default)]
    usage: Option<&'a RawValue>,
}

/// Tokens as providers count them.
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

/// Fills in the time and the usage of a message that says them.
fn beside(raw: &str, message: &mut Message) {
    // The usual message says neither, and reading it twice costs.
    if !["\"timestamp\"", "\"created_at\"", "\"usage\""]
        .iter()
        .any(|key| memchr::memmem::find(raw.as_bytes(), key.as_bytes()).is_some())
    {
        return;
    }
    let Ok(beside) = serde_json::from_str::<Beside<'_>>(raw) else {
        return;
    };
    message.time_ms = present(beside.timestamp)
        .or(present(beside.created_at))
        .and_then(time_ms);
    message.usage = beside
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

/// A time as text (RFC 3339), in seconds or in milliseconds.
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
