//! Histories for tests, in every wire format.

use heirloom_window::WireFormat;
use proptest::prelude::*;
use serde_json::{Value, json};

/// Sort of history: with or without thinking.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Plain,
    Thinking,
}

/// One step of a history.
#[derive(Debug, Clone)]
pub(crate) enum Step {
    /// User text of this length, characters.
    User(usize),
    /// Parallel tool calls: tool index and length of each result.
    Calls(Vec<(u8, usize)>),
    /// Model text of this length without calls, characters.
    Says(usize),
}

/// Random steps that begin with a request.
pub(crate) fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        1 => (0_usize..400).prop_map(Step::User),
        8 => prop::collection::vec((0_u8..4, 0_usize..5_000), 1..4).prop_map(Step::Calls),
        1 => (1_usize..1_500).prop_map(Step::Says),
    ];
    (60_usize..600, prop::collection::vec(step, 1..40)).prop_map(|(first, mut steps)| {
        steps.insert(0, Step::User(first));
        steps
    })
}

const TOOLS: [&str; 4] = ["bash", "Read", "db_query", "grep"];

/// Returns the messages of a history, and the numbers of messages after which a request is made.
pub(crate) fn history(form: WireFormat, kind: Kind, steps: &[Step]) -> (Vec<String>, Vec<usize>) {
    let mut out = Vec::new();
    let mut requests = Vec::new();
    if form == WireFormat::Openai {
        out.push(json!({"role": "system", "content": "You are careful."}));
    }
    let mut waits = false;
    for (nth, step) in steps.iter().enumerate() {
        match step {
            Step::User(length) => {
                // User turns follow model turns.
                if waits {
                    requests.push(out.len());
                    out.push(says(form, kind, "Go on?"));
                }
                out.push(user(form, &words(*length, nth)));
                waits = true;
            }
            Step::Says(length) => {
                if waits {
                    requests.push(out.len());
                    out.push(says(form, kind, &words(*length, nth)));
                    waits = false;
                    out.push(user(form, "continue"));
                    waits = !waits;
                }
            }
            Step::Calls(calls) => {
                if !waits {
                    continue;
                }
                requests.push(out.len());
                called(form, kind, nth, calls, &mut out);
            }
        }
    }
    requests.push(out.len());
    requests.dedup();
    (out.iter().map(Value::to_string).collect(), requests)
}

fn user(form: WireFormat, text: &str) -> Value {
    match form {
        WireFormat::Responses => json!({"type": "message", "role": "user",
            "content": [{"type": "input_text", "text": text}], "extra": 1}),
        // Anthropic rejects empty turns.
        WireFormat::Anthropic if text.is_empty() => json!({"role": "user", "content": "ok"}),
        WireFormat::Openai | WireFormat::Anthropic => {
            json!({"role": "user", "content": text, "extra": 1})
        }
    }
}

fn says(form: WireFormat, kind: Kind, text: &str) -> Value {
    match (form, kind) {
        (WireFormat::Responses, _) => json!({"type": "message", "role": "assistant",
            "content": [{"type": "output_text", "text": text}]}),
        (WireFormat::Anthropic, Kind::Thinking) => json!({"role": "assistant", "content": [
            {"type": "thinking", "thinking": "hm", "signature": "c2ln"}, {"type": "text", "text": text}]}),
        (WireFormat::Openai | WireFormat::Anthropic, _) => {
            json!({"role": "assistant", "content": text})
        }
    }
}

fn called(form: WireFormat, kind: Kind, nth: usize, calls: &[(u8, usize)], out: &mut Vec<Value>) {
    let calls: Vec<(String, &str, String, String)> = calls
        .iter()
        .enumerate()
        .map(|(at, (tool, length))| {
            let tool = TOOLS[usize::from(*tool)];
            let arguments = json!({"path": format!("src/file_{}.rs", length % 3)}).to_string();
            (
                format!("call_{nth}_{at}"),
                tool,
                arguments,
                words(*length, nth * 7 + at),
            )
        })
        .collect();
    match form {
        WireFormat::Openai => {
            let made: Vec<Value> = calls
                .iter()
                .map(|(id, tool, arguments, _)| {
                    json!({"id": id, "type": "function",
                    "function": {"name": tool, "arguments": arguments}})
                })
                .collect();
            out.push(json!({"role": "assistant", "content": "I look.", "tool_calls": made}));
            for (id, _, _, text) in &calls {
                out.push(json!({"role": "tool", "tool_call_id": id, "content": text}));
            }
        }
        WireFormat::Anthropic => {
            let mut blocks = Vec::new();
            if kind == Kind::Thinking {
                blocks.push(json!({"type": "thinking", "thinking": "hm", "signature": "c2ln"}));
            }
            let mut answers = Vec::new();
            for (id, tool, arguments, text) in &calls {
                let input: Value = serde_json::from_str(arguments).unwrap();
                blocks.push(json!({"type": "tool_use", "id": id, "name": tool, "input": input}));
                let content = match text.len() % 3 {
                    0 => json!(text),
                    1 => json!([{"type": "text", "text": text}]),
                    _ => {
                        json!([{"type": "text", "text": text}, {"type": "image", "source": {"type": "base64", "data": "AAAA"}}])
                    }
                };
                answers.push(json!({"type": "tool_result", "tool_use_id": id, "content": content}));
            }
            out.push(json!({"role": "assistant", "content": blocks}));
            out.push(json!({"role": "user", "content": answers}));
        }
        WireFormat::Responses => {
            if kind == Kind::Thinking {
                out.push(json!({"type": "reasoning", "summary": [], "encrypted_content": "eHg="}));
            }
            for (id, tool, arguments, _) in &calls {
                out.push(json!({"type": "function_call", "call_id": id, "name": tool, "arguments": arguments}));
            }
            for (id, _, _, text) in &calls {
                out.push(json!({"type": "function_call_output", "call_id": id, "output": text}));
            }
        }
    }
}

/// Returns text of this length with identifiers, paths, errors and multi-byte characters.
pub(crate) fn words(length: usize, seed: usize) -> String {
    const WORDS: [&str; 9] = [
        "src/engine/window.rs",
        "fn",
        "compaction_step",
        "error: no such file",
        "größer",
        "\n",
        "let",
        "the_quick_brown",
        "\"quoted\"\n",
    ];
    let mut out = String::new();
    let mut at = seed;
    while out.chars().count() < length {
        out.push_str(WORDS[at % WORDS.len()]);
        out.push(' ');
        at = at.wrapping_mul(31).wrapping_add(17) % 1_009;
    }
    out.chars().take(length).collect()
}
