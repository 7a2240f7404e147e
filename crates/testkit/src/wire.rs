//! Wire formats: render a turn as a body or as a list of events.
//!
//! Pure, without HTTP. Each format's module has `whole` (one JSON body) and
//! `events` (the stream).

mod anthropic;
mod chat;
mod gemini;
mod responses;

use serde_json::{Value, json};

use crate::model_script::Turn;
use crate::request::{Api, RecordedRequest};

/// Seconds since 1970 in answers that carry a time: fixed, so that recorded
/// answers are the same on every run.
const CREATED_S: u64 = 1_795_000_000;

/// A piece of streamed text. Short, so that a signal line arrives in pieces as
/// it does from a real model.
const PIECE_CHARS: usize = 24;

/// One server-sent event.
#[derive(Debug)]
pub(crate) struct SseEvent {
    /// The `event:` field, where the format has one.
    name: Option<String>,
    data: String,
}

impl SseEvent {
    fn named(data: &Value) -> SseEvent {
        SseEvent {
            name: data["type"].as_str().map(str::to_owned),
            data: data.to_string(),
        }
    }

    fn plain(data: &(impl ToString + ?Sized)) -> SseEvent {
        SseEvent {
            name: None,
            data: data.to_string(),
        }
    }

    /// Renders the event as sent.
    pub(crate) fn render(&self) -> String {
        match &self.name {
            Some(name) => format!("event: {name}\ndata: {}\n\n", self.data),
            None => format!("data: {}\n\n", self.data),
        }
    }
}

/// An answer: the turn, its request and its serial number.
#[derive(Debug)]
pub(crate) struct AnswerContext<'a> {
    /// Request that is answered.
    pub(crate) request: &'a RecordedRequest,
    /// Number of the answer, from 1: makes its ids unique.
    pub(crate) serial: usize,
    turn: &'a Turn,
}

impl<'a> AnswerContext<'a> {
    /// Creates the answer `turn` to `request`.
    pub(crate) fn new(
        request: &'a RecordedRequest,
        turn: &'a Turn,
        serial: usize,
    ) -> AnswerContext<'a> {
        AnswerContext {
            request,
            serial,
            turn,
        }
    }

    /// Renders the answer as one JSON body.
    pub(crate) fn render_body(&self) -> Value {
        match self.request.api {
            Api::AnthropicMessages => anthropic::render_body(self),
            Api::ChatCompletions => chat::render_body(self),
            Api::Responses => responses::render_body(self),
            Api::Gemini => gemini::render_body(self),
            Api::Other => json!({}),
        }
    }

    /// Renders the answer as a stream.
    pub(crate) fn events(&self) -> Vec<SseEvent> {
        match self.request.api {
            Api::AnthropicMessages => anthropic::events(self),
            Api::ChatCompletions => chat::events(self),
            Api::Responses => responses::events(self),
            Api::Gemini => gemini::events(self),
            Api::Other => Vec::new(),
        }
    }

    fn id(&self, prefix: &str) -> String {
        format!("{prefix}_{:04}", self.serial)
    }

    fn tool_id(&self, prefix: &str, index: usize) -> String {
        format!("{prefix}_{:04}_{index}", self.serial)
    }

    /// A plausible count: four bytes of JSON a token.
    fn input_tokens(&self) -> usize {
        self.request.body.to_string().len() / 4 + 1
    }

    fn output_tokens(&self) -> usize {
        let tools: usize = self
            .turn
            .tool_calls
            .iter()
            .map(|call| call.name.len() + call.input.to_string().len())
            .sum();
        (self.turn.text.len() + tools) / 4 + 1
    }
}

/// The error body of `api` for an HTTP status.
pub(crate) fn error_body(api: Api, status: u16) -> Value {
    let message = format!("scripted fault {status}");
    let kind = match status {
        400 => "invalid_request_error",
        401 | 403 => "authentication_error",
        429 => "rate_limit_error",
        529 => "overloaded_error",
        _ => "api_error",
    };
    match api {
        Api::AnthropicMessages => {
            json!({"type": "error", "error": {"type": kind, "message": message}})
        }
        Api::Gemini => {
            let name = match status {
                400 => "INVALID_ARGUMENT",
                429 => "RESOURCE_EXHAUSTED",
                503 | 529 => "UNAVAILABLE",
                _ => "INTERNAL",
            };
            json!({"error": {"code": status, "message": message, "status": name}})
        }
        Api::ChatCompletions | Api::Responses | Api::Other => {
            json!({"error": {"message": message, "type": kind, "code": kind, "param": null}})
        }
    }
}

/// `text` in pieces of [`PIECE_CHARS`] characters; none for empty text.
fn pieces(text: &str) -> Vec<String> {
    let chars: Vec<char> = text.chars().collect();
    chars
        .chunks(PIECE_CHARS)
        .map(|piece| piece.iter().collect())
        .collect()
}
