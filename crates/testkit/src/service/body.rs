//! HTTP responses: whole, streamed, cut or stalled.

use std::collections::VecDeque;
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::{Response, StatusCode, header};
use futures_core::Stream;
use serde_json::{Value, json};
use tokio::time::Sleep;

use crate::model_script::{Reply, Turn};
use crate::request::{Api, RecordedRequest};
use crate::wire::{AnswerContext, error_body};

const JSON: &str = "application/json";
const EVENTS: &str = "text/event-stream";

/// Time for the first half of a cut answer to leave before the connection
/// closes: hyper drops unsent bytes when a body fails.
const FLUSH: Duration = Duration::from_millis(30);

/// Pause that is longer than any test.
const STALL: Duration = Duration::from_secs(3600);

/// Renders `reply` in the request's format.
pub(super) fn render(request: &RecordedRequest, reply: &Reply, serial: usize) -> Response<Body> {
    match reply {
        Reply::Turn(turn) | Reply::Delayed(turn, _) => {
            let (kind, text) = full_text(request, turn, serial);
            response(StatusCode::OK, kind, Body::from(text))
        }
        Reply::Status(status) => {
            let body = error_body(request.api, *status).to_string();
            let status = StatusCode::from_u16(*status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
            response(status, JSON, Body::from(body))
        }
        Reply::Raw(status, (name, value), body) => {
            let status = StatusCode::from_u16(*status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
            let mut response = response(status, JSON, Body::from(body.clone()));
            if let Ok(value) = header::HeaderValue::from_str(value) {
                response.headers_mut().insert(*name, value);
            }
            response
        }
        Reply::Cut(turn) => partial_response(
            request,
            turn,
            serial,
            &[BodyStep::Pause(FLUSH), BodyStep::Fail],
        ),
        Reply::Stall(turn) => partial_response(request, turn, serial, &[BodyStep::Pause(STALL)]),
        Reply::InvalidJson => {
            let text = "{\"this is\": no JSON";
            if request.wants_stream() {
                let text = format!("event: message_start\ndata: {text}\n\n");
                response(StatusCode::OK, EVENTS, Body::from(text))
            } else {
                response(StatusCode::OK, JSON, Body::from(text))
            }
        }
    }
}

/// Renders the response to a request that is not a turn.
pub(super) fn side_route(request: &RecordedRequest) -> Response<Body> {
    let path = request.path.split('?').next().unwrap_or("");
    let tokens = request.body.to_string().len() / 4 + 1;
    let (status, body) = match request.method.as_str() {
        "POST" if path.ends_with("/count_tokens") => (200, json!({"input_tokens": tokens})),
        "POST" if path.ends_with(":countTokens") => (200, json!({"totalTokens": tokens})),
        "GET" if path.ends_with("/models") => (200, model_list()),
        "GET" if path == "/" => (200, json!({})),
        "HEAD" => (200, Value::Null),
        // Telemetry and event logging.
        "POST" if !path.contains("/models/") => (200, json!({})),
        _ => (404, error_body(Api::Other, 404)),
    };
    let status = StatusCode::from_u16(status).unwrap_or(StatusCode::NOT_FOUND);
    let body = if body.is_null() {
        String::new()
    } else {
        body.to_string()
    };
    response(status, JSON, Body::from(body))
}

/// Returns one list for all three clients: OpenAI and Anthropic read `data`, Gemini
/// and Codex `models`.
fn model_list() -> Value {
    json!({
        "object": "list",
        "data": [{"id": "scripted", "object": "model", "type": "model", "display_name": "Scripted"}],
        "has_more": false,
        "models": [],
    })
}

fn full_text(request: &RecordedRequest, turn: &Turn, serial: usize) -> (&'static str, String) {
    let call = AnswerContext::new(request, turn, serial);
    if request.wants_stream() {
        (EVENTS, call.events().iter().map(|e| e.render()).collect())
    } else {
        (JSON, call.render_body().to_string())
    }
}

fn partial_response(
    request: &RecordedRequest,
    turn: &Turn,
    serial: usize,
    then: &[BodyStep],
) -> Response<Body> {
    let (kind, text) = full_text(request, turn, serial);
    // Bytes, not characters: a cut may well fall inside one.
    let first = Bytes::copy_from_slice(&text.as_bytes()[..text.len() / 2]);
    let steps = ScriptedBody {
        queue: std::iter::once(BodyStep::Send(first))
            .chain(then.iter().cloned())
            .collect(),
        sleep: None,
    };
    response(StatusCode::OK, kind, Body::from_stream(steps))
}

fn response(status: StatusCode, content_type: &'static str, body: Body) -> Response<Body> {
    let mut response = Response::new(body);
    *response.status_mut() = status;
    response.headers_mut().insert(
        header::CONTENT_TYPE,
        header::HeaderValue::from_static(content_type),
    );
    response
}

#[derive(Clone, Debug)]
enum BodyStep {
    Send(Bytes),
    Pause(Duration),
    Fail,
}

/// A response body with injected faults.
struct ScriptedBody {
    queue: VecDeque<BodyStep>,
    sleep: Option<Pin<Box<Sleep>>>,
}

impl Stream for ScriptedBody {
    type Item = io::Result<Bytes>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        loop {
            if let Some(sleep) = &mut self.sleep {
                if sleep.as_mut().poll(context).is_pending() {
                    return Poll::Pending;
                }
                self.sleep = None;
            }
            match self.queue.pop_front() {
                None => return Poll::Ready(None),
                Some(BodyStep::Send(bytes)) => return Poll::Ready(Some(Ok(bytes))),
                Some(BodyStep::Pause(pause)) => {
                    self.sleep = Some(Box::pin(tokio::time::sleep(pause)))
                }
                Some(BodyStep::Fail) => {
                    return Poll::Ready(Some(Err(io::Error::other("cut on purpose"))));
                }
            }
        }
    }
}
