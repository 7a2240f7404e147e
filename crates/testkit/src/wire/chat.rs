//! OpenAI Chat Completions.

use serde_json::{Value, json};

use super::{AnswerContext, CREATED_S, SseEvent, pieces};

fn finish_reason(call: &AnswerContext<'_>) -> &'static str {
    if call.turn.tool_calls.is_empty() {
        "stop"
    } else {
        "tool_calls"
    }
}

fn usage(call: &AnswerContext<'_>) -> Value {
    let (input, output) = (call.input_tokens(), call.output_tokens());
    json!({"prompt_tokens": input, "completion_tokens": output, "total_tokens": input + output})
}

/// Renders the answer as one body.
pub(super) fn render_body(call: &AnswerContext<'_>) -> Value {
    let mut message = json!({"role": "assistant", "content": call.turn.text});
    if !call.turn.tool_calls.is_empty() {
        let calls = call.turn.tool_calls.iter().enumerate();
        let calls: Vec<Value> = calls
            .map(|(index, tool)| {
                json!({
                    "id": call.tool_id("call", index),
                    "type": "function",
                    "function": {"name": tool.name, "arguments": tool.input.to_string()},
                })
            })
            .collect();
        message["tool_calls"] = Value::Array(calls);
    }
    json!({
        "id": call.id("chatcmpl"),
        "object": "chat.completion",
        "created": CREATED_S,
        "model": call.request.model(),
        "choices": [{"index": 0, "message": message, "finish_reason": finish_reason(call)}],
        "usage": usage(call),
    })
}

/// Renders the answer as a stream.
pub(super) fn events(call: &AnswerContext<'_>) -> Vec<SseEvent> {
    let mut events = vec![chunk(
        call,
        &json!({"role": "assistant", "content": ""}),
        None,
    )];
    for text in pieces(&call.turn.text) {
        events.push(chunk(call, &json!({"content": text}), None));
    }
    for (index, tool) in call.turn.tool_calls.iter().enumerate() {
        let start = json!({"tool_calls": [{
            "index": index,
            "id": call.tool_id("call", index),
            "type": "function",
            "function": {"name": tool.name, "arguments": ""},
        }]});
        events.push(chunk(call, &start, None));
        for text in pieces(&tool.input.to_string()) {
            let delta = json!({"tool_calls": [{"index": index, "function": {"arguments": text}}]});
            events.push(chunk(call, &delta, None));
        }
    }
    events.push(chunk(call, &json!({}), Some(finish_reason(call))));
    if call.request.body["stream_options"]["include_usage"] == true {
        let mut last = envelope(call);
        last["choices"] = json!([]);
        last["usage"] = usage(call);
        events.push(SseEvent::plain(&last));
    }
    events.push(SseEvent::plain("[DONE]"));
    events
}

fn envelope(call: &AnswerContext<'_>) -> Value {
    json!({
        "id": call.id("chatcmpl"),
        "object": "chat.completion.chunk",
        "created": CREATED_S,
        "model": call.request.model(),
    })
}

fn chunk(call: &AnswerContext<'_>, delta: &Value, finish_reason: Option<&str>) -> SseEvent {
    let mut chunk = envelope(call);
    chunk["choices"] = json!([{"index": 0, "delta": delta, "finish_reason": finish_reason}]);
    SseEvent::plain(&chunk)
}
