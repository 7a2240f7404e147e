//! Gemini `generateContent`.

use serde_json::{Value, json};

use super::{AnswerContext, SseEvent, pieces};

fn tool_parts(call: &AnswerContext<'_>) -> Vec<Value> {
    call.turn
        .tool_calls
        .iter()
        .map(|tool| json!({"functionCall": {"name": tool.name, "args": tool.input}}))
        .collect()
}

fn chunk(call: &AnswerContext<'_>, parts: &[Value], finish_reason: Option<&str>) -> Value {
    let (input, output) = (call.input_tokens(), call.output_tokens());
    let mut candidate = json!({"content": {"role": "model", "parts": parts}, "index": 0});
    if let Some(reason) = finish_reason {
        candidate["finishReason"] = json!(reason);
    }
    json!({
        "candidates": [candidate],
        "usageMetadata": {
            "promptTokenCount": input,
            "candidatesTokenCount": output,
            "totalTokenCount": input + output,
        },
        "modelVersion": call.request.model(),
        "responseId": call.id("gen"),
    })
}

/// Renders the answer as one body.
pub(super) fn render_body(call: &AnswerContext<'_>) -> Value {
    let mut parts = Vec::new();
    if !call.turn.text.is_empty() {
        parts.push(json!({"text": call.turn.text}));
    }
    parts.extend(tool_parts(call));
    chunk(call, &parts, Some("STOP"))
}

/// Renders the answer as a stream: the last chunk has the calls and the finish reason.
pub(super) fn events(call: &AnswerContext<'_>) -> Vec<SseEvent> {
    let mut texts = pieces(&call.turn.text);
    let mut last: Vec<Value> = texts
        .pop()
        .map(|text| json!({"text": text}))
        .into_iter()
        .collect();
    last.extend(tool_parts(call));
    let mut chunks: Vec<Value> = texts
        .iter()
        .map(|text| chunk(call, &[json!({"text": text})], None))
        .collect();
    chunks.push(chunk(call, &last, Some("STOP")));
    chunks.iter().map(SseEvent::plain).collect()
}
