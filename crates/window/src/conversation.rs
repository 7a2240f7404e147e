//! A whole history: an array of messages, or a request body that holds one.

use crate::form;
use crate::message::{Form, Message, Output, Part};
use crate::size::chars;
use heirloom_model::Fault;
use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, SeqAccess, Visitor};
use serde_json::value::RawValue;
use std::collections::HashMap;
use std::fmt;

/// Why a history is no conversation: where, and what is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// The index of the message in the input, if one is to blame.
    pub index: Option<usize>,
    /// What is wrong with it.
    pub reason: String,
}

impl Refusal {
    pub(crate) fn at(index: usize, reason: impl Into<String>) -> Self {
        Self {
            index: Some(index),
            reason: reason.into(),
        }
    }

    fn whole(reason: impl Into<String>) -> Self {
        Self {
            index: None,
            reason: reason.into(),
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.index {
            Some(index) => write!(f, "message {index}: {}", self.reason),
            None => f.write_str(&self.reason),
        }
    }
}

impl std::error::Error for Refusal {}

impl From<Refusal> for Fault {
    fn from(refusal: Refusal) -> Self {
        Self::usage(refusal.to_string())
            .hint("give an array of messages or a whole request body; indexes count from 0")
    }
}

/// A history in the inner form, with the bytes that it came in.
#[derive(Debug, Clone)]
pub struct Conversation {
    /// The provider's form.
    pub form: Form,
    /// The model, if a request body or somebody else says it: prices are looked up by it.
    pub model: Option<String>,
    /// The inner messages, in order.
    pub messages: Vec<Message>,
    /// The originals, byte for byte.
    pub(crate) outers: Vec<Box<str>>,
    /// What stood before the first and behind the last original.
    pub(crate) around: (String, String),
    /// Characters of the system prompt and the tools that stand beside the messages.
    pub(crate) beside_chars: usize,
    /// That system prompt and those tools.
    pub(crate) beside: Vec<Box<str>>,
    /// Behind the last message of ours; 0 if there is none.
    pub(crate) own_end: usize,
    /// What identifies all messages up to each, itself included.
    pub(crate) chain: Vec<u128>,
    /// The last call of each id: message and part.
    calls: HashMap<String, (usize, usize)>,
    /// The number of each tool; an orphan's is 0.
    tools: HashMap<String, usize>,
}

#[derive(Deserialize)]
struct Body<'a> {
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
    /// An empty history of that form, as a bare array.
    pub fn new(form: Form) -> Self {
        Self {
            form,
            model: None,
            messages: Vec::new(),
            outers: Vec::new(),
            around: ("[".to_owned(), "]".to_owned()),
            beside_chars: 0,
            beside: Vec::new(),
            own_end: 0,
            chain: Vec::new(),
            calls: HashMap::new(),
            tools: HashMap::from([(String::new(), 0)]),
        }
    }

    /// Reads an array of messages or a whole request body; without `form` its own looks decide.
    ///
    /// # Errors
    ///
    /// JSON that ends early, roles and items that the form does not know: with the message's index.
    pub fn parse(text: &str, form: Option<Form>) -> Result<Self, Refusal> {
        let start = text.trim_start();
        let (list, body) = if start.starts_with('[') {
            (start.trim_end(), None)
        } else if start.starts_with('{') {
            let body: Body<'_> = match serde_json::from_str(start) {
                Ok(body) => body,
                Err(error) => return Err(cut_short(start, &error)),
            };
            let list = body.messages.or(body.input).ok_or_else(|| {
                Refusal::whole("the request body has neither `messages` nor `input`")
            })?;
            (list.get(), Some(body))
        } else {
            return Err(Refusal::whole("neither a JSON array nor a JSON object"));
        };
        if !list.starts_with('[') {
            return Err(Refusal::whole("`messages` or `input` is not an array"));
        }
        let elements = elements(list)?;
        let form = form.unwrap_or_else(|| looks(body.as_ref(), &elements));
        let mut out = Self::new(form);
        let at = list.as_ptr() as usize - text.as_ptr() as usize;
        out.around = (
            text[..=at].to_owned(),
            text[at + list.len() - 1..].to_owned(),
        );
        if let Some(body) = body {
            let model = body.model.map(|model| serde_json::from_str(model.get()));
            out.model = model.and_then(Result::ok);
            out.beside = [body.system, body.instructions, body.tools]
                .into_iter()
                .flatten()
                .map(|value| value.get().into())
                .collect();
            out.beside_chars = out.beside.iter().map(|text| chars(text)).sum();
        }
        for element in elements {
            out.push(element.get())?;
        }
        Ok(out)
    }

    /// Adds one message, given as the JSON of its form.
    ///
    /// # Errors
    ///
    /// As [`Conversation::parse`]; the conversation is then as it was.
    pub fn push(&mut self, raw: &str) -> Result<(), Refusal> {
        let outer = self.outers.len();
        let read = form::read(self.form, outer, raw).map_err(|why| Refusal::at(outer, why))?;
        self.refuse_doubles(outer, &read)?;
        for mut message in read {
            let index = self.messages.len();
            for (at, part) in message.parts.iter_mut().enumerate() {
                match part {
                    Part::Call(call) => {
                        self.calls.insert(call.id.clone(), (index, at));
                    }
                    Part::Output(output) => self.name(output),
                    Part::Text { .. }
                    | Part::Thinking { .. }
                    | Part::Image { .. }
                    | Part::Unknown { .. } => {}
                }
            }
            let link = u128::from_le_bytes(message.hash);
            let before = self.chain.last().copied().unwrap_or(0);
            self.chain.push(
                (before.rotate_left(29) ^ link)
                    .wrapping_mul(0x9E37_79B9_7F4A_7C15_F39C_C060_5CED_C835)
                    .rotate_left(64),
            );
            if message.own.is_some() {
                self.own_end = index + 1;
            }
            self.messages.push(message);
        }
        self.outers.push(raw.into());
        Ok(())
    }

    /// Finds the call of an answer, and with it the tool.
    fn name(&mut self, output: &mut Output) {
        output.call = self.calls.get(&output.call_id).copied();
        let call = output
            .call
            .and_then(|(message, at)| self.messages.get(message)?.parts.get(at));
        if let Some(Part::Call(call)) = call {
            output.tool.clone_from(&call.name);
            output.asks = asked_for(&call.arguments);
        }
        let next = self.tools.len();
        output.tool_number = match self.tools.get(&output.tool) {
            Some(number) => *number,
            None => *self.tools.entry(output.tool.clone()).or_insert(next),
        };
    }

    /// Two calls of one id that nothing could tell apart.
    fn refuse_doubles(&self, outer: usize, read: &[Message]) -> Result<(), Refusal> {
        let mut ids: Vec<&str> = Vec::new();
        for call in read.iter().flat_map(Message::calls) {
            let anywhere = self.form != Form::Openai && self.calls.contains_key(&call.id);
            if anywhere || ids.contains(&call.id.as_str()) {
                let reason = format!("the id `{}` of a call is there twice", call.id);
                return Err(Refusal::at(outer, reason));
            }
            ids.push(&call.id);
        }
        Ok(())
    }

    /// Every text that a model reads, the tools and the system prompt beside the messages included.
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        let beside = self.beside.iter().map(|text| &**text);
        let said = self.messages.iter().flat_map(|message| &message.parts);
        beside
            .chain(said.flat_map(|part| match part {
                Part::Text { text, .. } => [text.as_str(), ""],
                Part::Call(call) => [call.name.as_str(), call.arguments.as_str()],
                Part::Output(output) => [output.text.as_str(), ""],
                Part::Thinking { .. } | Part::Image { .. } | Part::Unknown { .. } => ["", ""],
            }))
            .filter(|text| !text.is_empty())
    }

    /// The number of originals.
    pub fn len(&self) -> usize {
        self.outers.len()
    }

    /// Whether nothing was said yet.
    pub fn is_empty(&self) -> bool {
        self.outers.is_empty()
    }
}

/// The id in a call such as `heirloom expand 0123456789abcdef`.
fn asked_for(arguments: &str) -> Option<String> {
    const ASK: &str = "expand ";
    let at = memchr::memmem::find(arguments.as_bytes(), ASK.as_bytes())?;
    let id = arguments.get(at + ASK.len()..)?.get(..16)?;
    let is_id = id.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_id.then(|| id.to_owned())
}

/// The elements of an array; the index of the one at which it ends early or goes wrong.
fn elements(list: &str) -> Result<Vec<&RawValue>, Refusal> {
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
        Err(error) => Err(Refusal::at(out.len(), broken(&error))),
    }
}

fn broken(error: &serde_json::Error) -> String {
    if error.is_eof() {
        format!("the JSON ends inside it ({error})")
    } else {
        format!("not JSON ({error})")
    }
}

/// Where a body that ends early was cut: the message, if it was inside the list.
fn cut_short(body: &str, error: &serde_json::Error) -> Refusal {
    let inside = ["\"messages\"", "\"input\""].iter().find_map(|key| {
        let rest = body[body.find(key)? + key.len()..].trim_start();
        let list = rest.strip_prefix(':')?.trim_start();
        list.starts_with('[').then(|| elements(list).err())?
    });
    match inside {
        Some(refusal) if error.is_eof() => refusal,
        _ => Refusal::whole(broken(error)),
    }
}

/// The form that a history looks like; a plain chat if nothing tells.
fn looks(body: Option<&Body<'_>>, elements: &[&RawValue]) -> Form {
    #[derive(Deserialize)]
    struct Look<'a> {
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
        return Form::Responses;
    }
    for element in elements {
        let Ok(look) = serde_json::from_str::<Look<'_>>(element.get()) else {
            continue;
        };
        let role = look.role.map_or("", RawValue::get);
        let chats = look.tool_calls.is_some()
            || matches!(role, "\"tool\"" | "\"system\"" | "\"developer\"");
        if chats && look.kind.is_none() {
            return Form::Openai;
        }
        if look.kind.is_some_and(|kind| kind.get() != "null") {
            return Form::Responses;
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
                | "document" => return Form::Anthropic,
                "input_text" | "output_text" | "input_image" => return Form::Responses,
                "image_url" | "input_audio" => return Form::Openai,
                _ => {}
            }
        }
    }
    match body {
        Some(body) if body.system.is_some() => Form::Anthropic,
        _ => Form::Openai,
    }
}
