//! Anthropic Messages.

use serde_json::{Value, json};

use super::{AnswerContext, SseEvent, pieces};

fn stop_reason(call: &AnswerContext<'_>) -> &'static str {
    if call.turn.tool_calls.is_empty() {
        "end_turn"
    } else {
        "tool_use"
    }
}

fn message(
    call: &AnswerContext<'_>,
    content: &Value,
    stop_reason: Option<&str>,
    output: usize,
) -> Value {
    json!({
        "id": call.id("msg"),
        "type": "message",
        "role": "assistant",
        "model": call.request.model(),
        "content": content,
        "stop_reason": stop_reason,
        "stop_sequence": null,
        "usage": {
            "input_tokens": call.input_tokens(),
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": 0,
            "output_tokens": output,
        },
    })
}

/// Renders the answer as one body.
pub(super) fn render_body(call: &AnswerContext<'_>) -> Value {
    let mut content = Vec::new();
    if !call.turn.text.is_empty() {
        content.push(json!({"type": "text", "text": call.turn.text}));
    }
    for (index, tool) in call.turn.tool_calls.iter().enumerate() {
        content.push(json!({
            "type": "tool_use",
            "id": call.tool_id("toolu", index),
            "name": tool.name,
            "input": tool.input,
        }));
    }
    let content = Value::Array(content);
    message(
        call,
        &content,
        Some(stop_reason(call)),
        call.output_tokens(),
    )
}

/// Renders the answer as a stream.
pub(super) fn events(call: &AnswerContext<'_>) -> Vec<SseEvent> {
    let mut events = vec![
        json!({"type": "message_start", "message": message(call, &json!([]), None, 1)}),
        json!({"type": "ping"}),
    ];
    let mut index = 0;
    if !call.turn.text.is_empty() {
        let start = json!({"type": "text", "text": ""});
        let deltas = pieces(&call.turn.text)
            .into_iter()
            .map(|text| json!({"type": "text_delta", "text": text}));
        block(&mut events, index, &start, deltas);
        index += 1;
    }
    for (nth, tool) in call.turn.tool_calls.iter().enumerate() {
        let start = json!({
            "type": "tool_use",
            "id": call.tool_id("toolu", nth),
            "name": tool.name,
            "input": {},
        });
        let deltas = pieces(&tool.input.to_string())
            .into_iter()
            .map(|text| json!({"type": "input_json_delta", "partial_json": text}));
        block(&mut events, index, &start, deltas);
        index += 1;
    }
    events.push(json!({
        "type": "message_delta",
        "delta": {"stop_reason": stop_reason(call), "stop_sequence": null},
        "usage": {"output_tokens": call.output_tokens()},
    }));
    events.push(json!({"type": "message_stop"}));
    events.iter().map(SseEvent::named).collect()
}

fn block(
    events: &mut Vec<Value>,
    index: usize,
    start: &Value,
    deltas: impl Iterator<Item = Value>,
) {
    events.push(json!({"type": "content_block_start", "index": index, "content_block": start}));
    events.extend(
        deltas.map(|delta| json!({"type": "content_block_delta", "index": index, "delta": delta})),
    );
    events.push(json!({"type": "content_block_stop", "index": index}));
}
