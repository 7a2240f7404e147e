//! Conversations: a history given as an array of messages or a request body.

use crate::message::{ChatMessage, MessagePart, ToolOutput, WireFormat};
use crate::token_estimate::chars;
use crate::wire;
use heirloom_model::Fault;
use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, SeqAccess, Visitor};
use serde_json::value::RawValue;
use std::collections::HashMap;
use std::fmt;

/// Error for a history that cannot be parsed: position and reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParseError {
    /// Index of the message in the input, if the error belongs to one.
    pub index: Option<usize>,
    /// Description of the problem.
    pub reason: String,
}

impl ParseError {
    pub(crate) fn at(index: usize, reason: impl Into<String>) -> Self {
        Self {
            index: Some(index),
            reason: reason.into(),
        }
    }

    fn without_index(reason: impl Into<String>) -> Self {
        Self {
            index: None,
            reason: reason.into(),
        }
    }
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.index {
            Some(index) => write!(f, "message {index}: {}", self.reason),
            None => f.write_str(&self.reason),
        }
    }
}

impl std::error::Error for ParseError {}

impl From<ParseError> for Fault {
    fn from(refusal: ParseError) -> Self {
        Self::usage(refusal.to_string())
            .hint("give an array of messages or a whole request body; indexes count from 0")
    }
}

/// A history in the inner form, with its original bytes.
#[derive(Debug, Clone)]
pub struct Conversation {
    /// Wire format.
    pub format: WireFormat,
    /// Model from the request body or the caller; the key for prices.
    pub model: Option<String>,
    /// Inner messages, in order.
    pub messages: Vec<ChatMessage>,
    /// Original messages, byte for byte.
    pub(crate) sources: Vec<Box<str>>,
    /// JSON text before the first and after the last original.
    pub(crate) surrounding_json: (String, String),
    /// Length of the separate system prompt and tools, characters.
    pub(crate) prompt_chars: usize,
    /// The separate system prompt and tools.
    pub(crate) prompt_parts: Vec<Box<str>>,
    /// Index after the last inserted message; 0 without inserted messages.
    pub(crate) inserted_end: usize,
    /// Prefix hashes: for each message the hash of all messages up to it.
    pub(crate) chain: Vec<u128>,
    /// Position of the last call by id: message and part.
    calls: HashMap<String, (usize, usize)>,
    /// Index by tool name; 0 for orphans.
    tool_indexes: HashMap<String, usize>,
}

#[derive(Deserialize)]
struct RequestBody<'a> {
    #[serde(borrow, default)]
    messages: Option<&'a RawValue>,
    #[serde(borrow, default)]
    input: Option<&'a RawValue>,
    #[serde(borrow, default)]
    system: Option<&'a RawValue>,
    #[serde(borrow, default)]
    instructions: Option<&'a RawValue>,
    #[serde(borrow, default)]
    tools: Option<&'a RawValue>,
    #[serde(borrow, default)]
    model: Option<&'a RawValue>,
}

impl Conversation {
    /// Creates an empty history of this format, as a bare array.
    pub fn new(format: WireFormat) -> Self {
        Self {
            format,
            model: None,
            messages: Vec::new(),
            sources: Vec::new(),
            surrounding_json: ("[".to_owned(), "]".to_owned()),
            prompt_chars: 0,
            prompt_parts: Vec::new(),
            inserted_end: 0,
            chain: Vec::new(),
            calls: HashMap::new(),
            tool_indexes: HashMap::from([(String::new(), 0)]),
        }
    }

    /// Parses an array of messages or a request body. Without `form`, the format is detected.
    ///
    /// # Errors
    ///
    /// Truncated JSON, and roles or items unknown to the format, with the message's index.
    pub fn parse(text: &str, form: Option<WireFormat>) -> Result<Self, ParseError> {
        let start = text.trim_start();
        let (list, body) = if start.starts_with('[') {
            (start.trim_end(), None)
        } else if start.starts_with('{') {
            let body: RequestBody<'_> = match serde_json::from_str(start) {
                Ok(body) => body,
                Err(error) => return Err(truncated_body_error(start, &error)),
            };
            let list = body.messages.or(body.input).ok_or_else(|| {
                ParseError::without_index("the request body has neither `messages` nor `input`")
            })?;
            (list.get(), Some(body))
        } else {
            return Err(ParseError::without_index(
                "neither a JSON array nor a JSON object",
            ));
        };
        if !list.starts_with('[') {
            return Err(ParseError::without_index(
                "`messages` or `input` is not an array",
            ));
        }
        let elements = parse_array(list)?;
        let form = form.unwrap_or_else(|| detect_format(body.as_ref(), &elements));
        let mut out = Self::new(form);
        let at = list.as_ptr() as usize - text.as_ptr() as usize;
        out.surrounding_json = (
            text[..=at].to_owned(),
            text[at + list.len() - 1..].to_owned(),
        );
        if let Some(body) = body {
            let model = body.model.map(|model| serde_json::from_str(model.get()));
            out.model = model.and_then(Result::ok);
            out.prompt_parts = [body.system, body.instructions, body.tools]
                .into_iter()
                .flatten()
                .map(|value| value.get().into())
                .collect();
            out.prompt_chars = out.prompt_parts.iter().map(|text| chars(text)).sum();
        }
        for element in elements {
            out.push(element.get())?;
        }
        Ok(out)
    }

    /// Appends one message, given as the JSON of its wire format.
    ///
    /// # Errors
    ///
    /// As [`Conversation::parse`]; the conversation is then unchanged.
    pub fn push(&mut self, raw: &str) -> Result<(), ParseError> {
        let outer = self.sources.len();
        let read = wire::read(self.format, outer, raw).map_err(|why| ParseError::at(outer, why))?;
        self.check_call_ids(outer, &read)?;
        for mut message in read {
            let index = self.messages.len();
            for (at, part) in message.parts.iter_mut().enumerate() {
                match part {
                    MessagePart::Call(call) => {
                        self.calls.insert(call.id.clone(), (index, at));
                    }
                    MessagePart::Output(output) => self.resolve_call(output),
                    MessagePart::Text { .. }
                    | MessagePart::Thinking { .. }
                    | MessagePart::Image { .. }
                    | MessagePart::Unknown { .. } => {}
                }
            }
            let link = u128::from_le_bytes(message.hash);
            let before = self.chain.last().copied().unwrap_or(0);
            self.chain.push(
                (before.rotate_left(29) ^ link)
                    .wrapping_mul(0x9E37_79B9_7F4A_7C15_F39C_C060_5CED_C835)
                    .rotate_left(64),
            );
            if message.inserted.is_some() {
                self.inserted_end = index + 1;
            }
            self.messages.push(message);
        }
        self.sources.push(raw.into());
        Ok(())
    }

    /// Resolves the call of a result, and its tool.
    fn resolve_call(&mut self, output: &mut ToolOutput) {
        output.call = self.calls.get(&output.call_id).copied();
        let call = output
            .call
            .and_then(|(message, at)| self.messages.get(message)?.parts.get(at));
        if let Some(MessagePart::Call(call)) = call {
            output.tool.clone_from(&call.name);
            output.expand_id = expand_id_of(&call.arguments);
        }
        let next = self.tool_indexes.len();
        output.tool_index = match self.tool_indexes.get(&output.tool) {
            Some(number) => *number,
            None => *self.tool_indexes.entry(output.tool.clone()).or_insert(next),
        };
    }

    /// Rejects two calls with one id, which cannot be distinguished.
    fn check_call_ids(&self, outer: usize, read: &[ChatMessage]) -> Result<(), ParseError> {
        let mut ids: Vec<&str> = Vec::new();
        for call in read.iter().flat_map(ChatMessage::calls) {
            let anywhere = self.format != WireFormat::Openai && self.calls.contains_key(&call.id);
            if anywhere || ids.contains(&call.id.as_str()) {
                let reason = format!("the call id `{}` occurs twice", call.id);
                return Err(ParseError::at(outer, reason));
            }
            ids.push(&call.id);
        }
        Ok(())
    }

    /// Returns all texts that a model reads, including the tools and the separate system prompt.
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        let prompt_parts = self.prompt_parts.iter().map(|text| &**text);
        let message_parts = self.messages.iter().flat_map(|message| &message.parts);
        prompt_parts
            .chain(message_parts.flat_map(|part| match part {
                MessagePart::Text { text, .. } => [text.as_str(), ""],
                MessagePart::Call(call) => [call.name.as_str(), call.arguments.as_str()],
                MessagePart::Output(output) => [output.text.as_str(), ""],
                MessagePart::Thinking { .. }
                | MessagePart::Image { .. }
                | MessagePart::Unknown { .. } => ["", ""],
            }))
            .filter(|text| !text.is_empty())
    }

    /// Returns the number of originals.
    pub fn len(&self) -> usize {
        self.sources.len()
    }

    /// Returns true if there are no messages.
    pub fn is_empty(&self) -> bool {
        self.sources.is_empty()
    }
}

/// Returns the id in a call such as `heirloom expand 0123456789abcdef`.
fn expand_id_of(arguments: &str) -> Option<String> {
    const ASK: &str = "expand ";
    let at = memchr::memmem::find(arguments.as_bytes(), ASK.as_bytes())?;
    let id = arguments.get(at + ASK.len()..)?.get(..16)?;
    let is_id = id.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_id.then(|| id.to_owned())
}

/// Parses the elements of an array; the error has the index of the broken element.
fn parse_array(list: &str) -> Result<Vec<&RawValue>, ParseError> {
    struct Into<'a, 'b>(&'b mut Vec<&'a RawValue>);
    impl<'a> Visitor<'a> for Into<'a, '_> {
        type Value = ();

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an array of messages")
        }

        fn visit_seq<A: SeqAccess<'a>>(self, mut seq: A) -> Result<(), A::Error> {
            while let Some(element) = seq.next_element()? {
                self.0.push(element);
            }
            Ok(())
        }
    }
    impl<'a> DeserializeSeed<'a> for Into<'a, '_> {
        type Value = ();

        fn deserialize<D: Deserializer<'a>>(self, deserializer: D) -> Result<(), D::Error> {
            deserializer.deserialize_seq(self)
        }
    }
    let mut out = Vec::new();
    let mut json = serde_json::Deserializer::from_str(list);
    let read = Into(&mut out)
        .deserialize(&mut json)
        .and_then(|()| json.end());
    match read {
        Ok(()) => Ok(out),
        Err(error) => Err(ParseError::at(out.len(), json_error(&error))),
    }
}

fn json_error(error: &serde_json::Error) -> String {
    if error.is_eof() {
        format!("the JSON ends inside it ({error})")
    } else {
        format!("not JSON ({error})")
    }
}

/// Locates the message in which a truncated body ends.
fn truncated_body_error(body: &str, error: &serde_json::Error) -> ParseError {
    let inside = ["\"messages\"", "\"input\""].iter().find_map(|key| {
        let rest = body[body.find(key)? + key.len()..].trim_start();
        let list = rest.strip_prefix(':')?.trim_start();
        list.starts_with('[').then(|| parse_array(list).err())?
    });
    match inside {
        Some(refusal) if error.is_eof() => refusal,
        _ => ParseError::without_index(json_error(error)),
    }
}

/// Detects the wire format of a history; OpenAI chat by default.
fn detect_format(body: Option<&RequestBody<'_>>, elements: &[&RawValue]) -> WireFormat {
    #[derive(Deserialize)]
    struct FormatProbe<'a> {
        #[serde(borrow, rename = "type", default)]
        kind: Option<&'a RawValue>,
        #[serde(borrow, default)]
        role: Option<&'a RawValue>,
        #[serde(borrow, default)]
        tool_calls: Option<&'a RawValue>,
        #[serde(borrow, default)]
        content: Option<&'a RawValue>,
    }
    if body.is_some_and(|body| body.input.is_some() && body.messages.is_none()) {
        return WireFormat::Responses;
    }
    for element in elements {
        let Ok(look) = serde_json::from_str::<FormatProbe<'_>>(element.get()) else {
            continue;
        };
        let role = look.role.map_or("", RawValue::get);
        let chats = look.tool_calls.is_some()
            || matches!(role, "\"tool\"" | "\"system\"" | "\"developer\"");
        if chats && look.kind.is_none() {
            return WireFormat::Openai;
        }
        if look.kind.is_some_and(|kind| kind.get() != "null") {
            return WireFormat::Responses;
        }
        let Some(content) = look
            .content
            .filter(|content| content.get().starts_with('['))
        else {
            continue;
        };
        #[derive(Deserialize)]
        struct Kind<'a> {
            #[serde(borrow, rename = "type", default)]
            kind: Option<&'a RawValue>,
        }
        let kinds: Vec<Kind<'_>> = serde_json::from_str(content.get()).unwrap_or_default();
        for kind in kinds.iter().filter_map(|kind| kind.kind) {
            match kind.get().trim_matches('"') {
                "tool_use" | "tool_result" | "thinking" | "redacted_thinking" | "image"
                | "document" => return WireFormat::Anthropic,
                "input_text" | "output_text" | "input_image" => return WireFormat::Responses,
                "image_url" | "input_audio" => return WireFormat::Openai,
                _ => {}
            }
        }
    }
    match body {
        Some(body) if body.system.is_some() => WireFormat::Anthropic,
        _ => WireFormat::Openai,
    }
}
