//! Inconsistent histories in every wire format: accepted ones give valid windows that lose nothing.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use heirloom_window::protocol_validation::check;
use heirloom_window::{Conversation, Policy, WindowPiece, WindowState, WireFormat, compact};
use proptest::prelude::*;
use serde_json::{Value, json};

const TEXTS: [&str; 9] = [
    "",
    "hi",
    "Find out why the parser loses the last line of a file.",
    "[TASK ANCHOR — Reminder] Your CURRENT GOAL is: \"x\"\nYou have made 7 tool calls. Go.",
    "[CONVERSATION SUMMARY — Heirloom]\nthings\nTool calls so far: 3\nThe messages themselves: arc-1",
    "[Stale output from bash — compressed] aaa… (9 chars, use bash if needed, id 0123456789abcdef)",
    "aaa\n[full output: overflow/overflow_0123456789abcdef_bash.txt, 9 chars, id 0123456789abcdef]",
    "<system-reminder>you are reminded of nothing in particular at all</system-reminder>",
    "long ",
];

fn text() -> impl Strategy<Value = String> {
    (0..TEXTS.len(), 1_usize..500).prop_map(|(which, times)| match TEXTS[which] {
        "long " => "long words of some_thing\n".repeat(times),
        text => text.to_owned(),
    })
}

/// A message: role, content, and the call that it makes or answers.
fn message(form: WireFormat) -> impl Strategy<Value = Value> {
    (0_u8..12, text(), 0_u8..6, any::<bool>()).prop_map(move |(kind, text, id, thinks)| {
        let id = format!("c{id}");
        match form {
            WireFormat::Openai => chat(kind, &text, &id),
            WireFormat::Anthropic => turn(kind, &text, &id, thinks),
            WireFormat::Responses => item(kind, &text, &id),
        }
    })
}

fn chat(kind: u8, text: &str, id: &str) -> Value {
    match kind {
        0 => json!({"role": "system", "content": text}),
        1 | 2 => json!({"role": "user", "content": text}),
        3 => json!({"role": "assistant", "content": text}),
        4 | 5 => json!({"role": "assistant", "content": null, "tool_calls": [
            {"id": id, "function": {"name": "bash", "arguments": text}}]}),
        6..=8 => json!({"role": "tool", "tool_call_id": id, "content": text}),
        // Only the model calls tools.
        9 => json!({"role": "system", "content": text, "tool_calls": [
            {"id": id, "function": {"name": "bash", "arguments": text}}]}),
        10 => json!({"role": "user", "content": text, "tool_calls": [
            {"id": id, "function": {"name": "cat", "arguments": text}}]}),
        _ => json!({"role": "developer", "function_call": {"name": id, "arguments": text}}),
    }
}

fn turn(kind: u8, text: &str, id: &str, thinks: bool) -> Value {
    let mut blocks = Vec::new();
    if thinks && (3..6).contains(&kind) {
        blocks.push(json!({"type": "thinking", "thinking": "hm", "signature": "s"}));
    }
    match kind {
        0 => {
            json!({"role": "user", "content": [{"type": "text", "text": text}, {"type": "image", "source": {}}]})
        }
        1 | 2 => json!({"role": "user", "content": text}),
        3 => {
            blocks.push(json!({"type": "text", "text": text}));
            json!({"role": "assistant", "content": blocks})
        }
        4 | 5 => {
            blocks.push(json!({"type": "tool_use", "id": format!("{id}{}", text.len()), "name": "Read", "input": {"path": text}}));
            json!({"role": "assistant", "content": blocks})
        }
        9 => json!({"role": "user", "content": [
            {"type": "tool_use", "id": format!("{id}{}", text.len()), "name": "Read", "input": {"path": text}}]}),
        10 => json!({"role": "assistant", "content": [
            {"type": "tool_result", "tool_use_id": format!("{id}{}", text.len()), "content": text}]}),
        11 => {
            json!({"role": "user", "content": [{"type": "thinking", "thinking": text, "signature": "s"}]})
        }
        _ => json!({"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": format!("{id}{}", text.len() % 9), "content": text},
            {"type": "text", "text": text}]}),
    }
}

fn item(kind: u8, text: &str, id: &str) -> Value {
    match kind {
        0 => json!({"type": "reasoning", "summary": text}),
        1 | 2 => json!({"role": "user", "content": text}),
        3 => {
            json!({"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text}]})
        }
        4 | 5 => {
            json!({"type": "function_call", "call_id": format!("{id}{}", text.len()), "name": "cat", "arguments": text})
        }
        _ => {
            json!({"type": "function_call_output", "call_id": format!("{id}{}", text.len() % 9), "output": text})
        }
    }
}

fn policy() -> Policy {
    Policy {
        max_output_length: 600,
        preview_length: 400,
        read_max_length: 600,
        read_preview_length: 400,
        stale_threshold: 3,
        summary_threshold: 1_500,
        messages_to_keep: 4,
        step_min_tokens: 100,
        fallback_tokens: 3_000,
        fallback_messages: 4,
        ..Policy::default()
    }
}

fn sound(form: WireFormat, messages: &[Value]) -> Result<(), TestCaseError> {
    // Refused messages are skipped; the rest is a history.
    let mut history = Conversation::new(form);
    let mut state = WindowState::default();
    for message in messages {
        if history.push(&message.to_string()).is_err() {
            continue;
        }
        let made = compact(&history, &policy(), &mut state);
        let alone = compact(&history, &policy(), &mut WindowState::default());
        prop_assert_eq!(&made.messages, &alone.messages);
        let before = check(&history);
        let window = Conversation::parse(&made.to_json(&history), Some(form)).unwrap();
        for finding in check(&window) {
            prop_assert!(
                before.iter().any(|known| known.rule == finding.rule),
                "{:?}\n{:#?}\nfrom {:#?}",
                finding,
                made.messages,
                messages
            );
        }
        let mut held = vec![false; history.messages.len()];
        for piece in &made.pieces {
            if let WindowPiece::Unchanged(at) | WindowPiece::Edited { at, .. } = piece {
                held[*at] = true;
            }
        }
        for dropped in &made.report.dropped {
            held[dropped.inner_range.clone()].fill(true);
        }
        for (message, held) in history.messages.iter().zip(held) {
            prop_assert!(held || message.inserted.is_some());
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn invalid_chats_give_valid_windows(messages in prop::collection::vec(message(WireFormat::Openai), 1..40)) {
        sound(WireFormat::Openai, &messages)?;
    }

    #[test]
    fn invalid_turns_give_valid_windows(messages in prop::collection::vec(message(WireFormat::Anthropic), 1..40)) {
        sound(WireFormat::Anthropic, &messages)?;
    }

    #[test]
    fn invalid_items_give_valid_windows(messages in prop::collection::vec(message(WireFormat::Responses), 1..40)) {
        sound(WireFormat::Responses, &messages)?;
    }
}
