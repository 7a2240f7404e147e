//! OpenAI Responses.

use serde_json::{Value, json};

use super::{AnswerContext, CREATED_S, SseEvent, pieces};

fn response(call: &AnswerContext<'_>, status: &str, output: &[Value]) -> Value {
    let mut response = json!({
        "id": call.id("resp"),
        "object": "response",
        "created_at": CREATED_S,
        "status": status,
        "model": call.request.model(),
        "output": output,
        "error": null,
        "incomplete_details": null,
        "usage": null,
    });
    if status == "completed" {
        let (input, produced) = (call.input_tokens(), call.output_tokens());
        response["usage"] = json!({
            "input_tokens": input,
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens": produced,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": input + produced,
        });
    }
    response
}

fn text_part(text: &str) -> Value {
    json!({"type": "output_text", "text": text, "annotations": []})
}

fn message(call: &AnswerContext<'_>, status: &str, content: &[Value]) -> Value {
    json!({
        "type": "message",
        "id": call.id("msg"),
        "role": "assistant",
        "status": status,
        "content": content,
    })
}

fn function_call(call: &AnswerContext<'_>, index: usize, status: &str, arguments: &str) -> Value {
    let tool = &call.turn.tool_calls[index];
    let (space, name) = match tool.name.split_once('/') {
        Some((space, name)) => (Some(space), name),
        None => (None, tool.name.as_str()),
    };
    let mut item = json!({
        "type": "function_call",
        "id": call.tool_id("fc", index),
        "call_id": call.tool_id("call", index),
        "name": name,
        "arguments": arguments,
        "status": status,
    });
    if let Some(space) = space {
        item["namespace"] = json!(space);
    }
    item
}

fn output(call: &AnswerContext<'_>) -> Vec<Value> {
    let mut items = Vec::new();
    if !call.turn.text.is_empty() {
        items.push(message(call, "completed", &[text_part(&call.turn.text)]));
    }
    for (index, tool) in call.turn.tool_calls.iter().enumerate() {
        items.push(function_call(
            call,
            index,
            "completed",
            &tool.input.to_string(),
        ));
    }
    items
}

/// Renders the answer as one body.
pub(super) fn render_body(call: &AnswerContext<'_>) -> Value {
    response(call, "completed", &output(call))
}

/// Renders the answer as a stream.
pub(super) fn events(call: &AnswerContext<'_>) -> Vec<SseEvent> {
    let started = response(call, "in_progress", &[]);
    let mut events = vec![
        json!({"type": "response.created", "response": started}),
        json!({"type": "response.in_progress", "response": started}),
    ];
    let items = output(call);
    for (position, item) in items.iter().enumerate() {
        if item["type"] == "message" {
            text_events(call, &mut events, position);
        } else {
            let first_tool = items.len() - call.turn.tool_calls.len();
            tool_events(call, &mut events, position, position - first_tool);
        }
        events.push(json!({
            "type": "response.output_item.done", "output_index": position, "item": item,
        }));
    }
    let done = response(call, "completed", &items);
    events.push(json!({"type": "response.completed", "response": done}));
    for (number, event) in events.iter_mut().enumerate() {
        event["sequence_number"] = json!(number);
    }
    events.iter().map(SseEvent::named).collect()
}

fn text_events(call: &AnswerContext<'_>, events: &mut Vec<Value>, position: usize) {
    let text = &call.turn.text;
    let at = |kind: &str| {
        json!({
            "type": kind,
            "item_id": call.id("msg"),
            "output_index": position,
            "content_index": 0,
        })
    };
    events.push(json!({
        "type": "response.output_item.added",
        "output_index": position,
        "item": message(call, "in_progress", &[]),
    }));
    let mut part = at("response.content_part.added");
    part["part"] = text_part("");
    events.push(part);
    for piece in pieces(text) {
        let mut delta = at("response.output_text.delta");
        delta["delta"] = json!(piece);
        events.push(delta);
    }
    let mut done = at("response.output_text.done");
    done["text"] = json!(text);
    events.push(done);
    let mut part = at("response.content_part.done");
    part["part"] = text_part(text);
    events.push(part);
}

fn tool_events(call: &AnswerContext<'_>, events: &mut Vec<Value>, position: usize, index: usize) {
    let arguments = call.turn.tool_calls[index].input.to_string();
    let at = |kind: &str| {
        json!({
            "type": kind,
            "item_id": call.tool_id("fc", index),
            "output_index": position,
        })
    };
    events.push(json!({
        "type": "response.output_item.added",
        "output_index": position,
        "item": function_call(call, index, "in_progress", ""),
    }));
    for piece in pieces(&arguments) {
        let mut delta = at("response.function_call_arguments.delta");
        delta["delta"] = json!(piece);
        events.push(delta);
    }
    let mut done = at("response.function_call_arguments.done");
    done["arguments"] = json!(arguments);
    events.push(done);
}
