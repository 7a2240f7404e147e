//! Histories for tests, in every form.

use heirloom_window::Form;
use proptest::prelude::*;
use serde_json::{Value, json};

/// Whether the model thinks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Plain,
    Thinking,
}

/// What happens next in a history.
#[derive(Debug, Clone)]
pub(crate) enum Step {
    /// A person says that many characters.
    User(usize),
    /// The model calls these tools at once: which tool, and how long its answer is.
    Calls(Vec<(u8, usize)>),
    /// The model says that many characters and calls nothing.
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

/// The messages of a history, and after how many of them a request is made.
pub(crate) fn history(form: Form, kind: Kind, steps: &[Step]) -> (Vec<String>, Vec<usize>) {
    let mut out = Vec::new();
    let mut requests = Vec::new();
    if form == Form::Openai {
        out.push(json!({"role": "system", "content": "You are careful."}));
    }
    let mut waits = false;
    for (nth, step) in steps.iter().enumerate() {
        match step {
            Step::User(length) => {
                // A user speaks after the model did.
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

fn user(form: Form, text: &str) -> Value {
    match form {
        Form::Responses => json!({"type": "message", "role": "user",
            "content": [{"type": "input_text", "text": text}], "extra": 1}),
        // Empty turns are refused there.
        Form::Anthropic if text.is_empty() => json!({"role": "user", "content": "ok"}),
        Form::Openai | Form::Anthropic => json!({"role": "user", "content": text, "extra": 1}),
    }
}

fn says(form: Form, kind: Kind, text: &str) -> Value {
    match (form, kind) {
        (Form::Responses, _) => json!({"type": "message", "role": "assistant",
            "content": [{"type": "output_text", "text": text}]}),
        (Form::Anthropic, Kind::Thinking) => json!({"role": "assistant", "content": [
            {"type": "thinking", "thinking": "hm", "signature": "c2ln"}, {"type": "text", "text": text}]}),
        (Form::Openai | Form::Anthropic, _) => json!({"role": "assistant", "content": text}),
    }
}

fn called(form: Form, kind: Kind, nth: usize, calls: &[(u8, usize)], out: &mut Vec<Value>) {
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
        Form::Openai => {
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
        Form::Anthropic => {
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
        Form::Responses => {
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

/// Text of that many characters with names, paths, errors and letters of more than one byte.
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
