//! Invalid or oversized input: the result is a valid window, or an error with the message's index.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use heirloom_window::protocol_validation::check;
use heirloom_window::{CompactedWindow, Conversation, Policy, WindowState, WireFormat, compact};
use serde_json::{Value, json};

fn window(form: WireFormat, messages: &Value) -> (Conversation, CompactedWindow) {
    let history = Conversation::parse(&messages.to_string(), Some(form)).unwrap();
    let made = compact(&history, &Policy::default(), &mut WindowState::default());
    let out = made.to_json(&history);
    let again = Conversation::parse(&out, Some(form)).unwrap();
    assert_eq!(check(&again), Vec::new(), "{out}");
    let twice = compact(&again, &Policy::default(), &mut WindowState::default());
    assert_eq!(twice.to_json(&again), out);
    (history, made)
}

fn actions(made: &CompactedWindow) -> Vec<&str> {
    made.report
        .actions
        .iter()
        .map(|action| action.as_str())
        .collect()
}

fn call(id: &str) -> Value {
    json!({"id": id, "type": "function", "function": {"name": "bash", "arguments": "{}"}})
}

fn chat_call(ids: &[&str]) -> Value {
    let calls: Vec<Value> = ids.iter().map(|id| call(id)).collect();
    json!({"role": "assistant", "content": null, "tool_calls": calls})
}

fn chat_answer(id: &str, text: &str) -> Value {
    json!({"role": "tool", "tool_call_id": id, "content": text})
}

fn user(text: &str) -> Value {
    json!({"role": "user", "content": text})
}

#[test]
fn result_without_call_is_omitted_and_archived() {
    let (history, made) = window(
        WireFormat::Openai,
        &json!([user("hi"), chat_answer("x", "lost"), {"role": "assistant", "content": "yes"}]),
    );
    assert_eq!(actions(&made), ["orphan"]);
    assert_eq!(made.messages.len(), 2);
    assert_eq!(made.report.dropped.len(), 1);
    assert!(history.archive(&made.report.dropped[0]).contains("lost"));
}

#[test]
fn call_without_result_gets_placeholder() {
    for (form, messages) in [
        (
            WireFormat::Openai,
            json!([
                user("hi"),
                chat_call(&["a", "b"]),
                chat_answer("b", "1"),
                user("stop")
            ]),
        ),
        (
            WireFormat::Anthropic,
            json!([user("hi"), {"role": "assistant", "content": [
            {"type": "tool_use", "id": "a", "name": "bash", "input": {}}]}, user("stop")]),
        ),
        (
            WireFormat::Responses,
            json!([user("hi"), {"type": "function_call", "call_id": "a", "name": "bash",
            "arguments": "{}"}, user("stop")]),
        ),
    ] {
        let (_, made) = window(form, &messages);
        assert_eq!(actions(&made), ["missing"], "{form:?}");
    }
    // A call at the end still waits for its result.
    let (_, made) = window(WireFormat::Openai, &json!([user("hi"), chat_call(&["a"])]));
    assert!(made.report.actions.is_empty());
}

#[test]
fn late_result_is_replaced_by_placeholder() {
    let late = json!([
        user("hi"),
        chat_call(&["a"]),
        user("wait"),
        chat_answer("a", "late")
    ]);
    let (_, made) = window(WireFormat::Openai, &late);
    assert_eq!(actions(&made), ["missing", "orphan"]);
    // Results may be in another order than the calls.
    let swapped = json!([
        user("hi"),
        chat_call(&["a", "b"]),
        chat_answer("b", "2"),
        chat_answer("a", "1")
    ]);
    assert!(
        window(WireFormat::Openai, &swapped)
            .1
            .report
            .actions
            .is_empty()
    );
}

#[test]
fn repeated_ids_are_distinguished_by_position() {
    let messages = json!([
        user("hi"),
        chat_call(&["c"]),
        chat_answer("c", "1"),
        chat_call(&["c"]),
        chat_answer("c", "2")
    ]);
    let (_, made) = window(WireFormat::Openai, &messages);
    assert_eq!(made.messages.len(), 5);
    let refused =
        |form, messages: Value| Conversation::parse(&messages.to_string(), Some(form)).unwrap_err();
    let twice = refused(
        WireFormat::Openai,
        json!([user("hi"), chat_call(&["c", "c"])]),
    );
    assert_eq!(twice.index, Some(1));
    let tool = json!({"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "b", "input": {}}]});
    let answer = json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a", "content": "x"}]});
    let twice = refused(
        WireFormat::Anthropic,
        json!([user("hi"), tool, answer, tool]),
    );
    assert_eq!(twice.index, Some(3));
}

#[test]
fn unrepairable_message_is_refused_with_index() {
    for (form, messages, index) in [
        (
            WireFormat::Anthropic,
            json!([user("hi"), {"role": "system", "content": "x"}]),
            1,
        ),
        (
            WireFormat::Anthropic,
            json!([{"role": "user", "content": [{"type": "text", "text": "x"},
            {"type": "tool_result", "tool_use_id": "a"}]}]),
            0,
        ),
        (
            WireFormat::Anthropic,
            json!([user("hi"), {"role": "tool", "content": "x"}]),
            1,
        ),
        (WireFormat::Openai, json!([user("hi"), 7]), 1),
        (
            WireFormat::Openai,
            json!([user("hi"), {"role": "user", "role ": 1, "tool_calls": 3}]),
            1,
        ),
        (
            WireFormat::Responses,
            json!([user("hi"), {"type": "message", "role": "elf"}]),
            1,
        ),
        (WireFormat::Responses, json!([user("hi"), {}]), 1),
    ] {
        let refusal = Conversation::parse(&messages.to_string(), Some(form)).unwrap_err();
        assert_eq!(refusal.index, Some(index), "{refusal}");
    }
}

#[test]
fn empty_turns_and_late_system_prompt_are_accepted() {
    let (_, made) = window(
        WireFormat::Anthropic,
        &json!([user("hi"), {"role": "assistant", "content": []}, user(""), user("there")]),
    );
    assert_eq!(made.messages.len(), 2);
    let (_, made) = window(
        WireFormat::Openai,
        &json!([user("hi"), {"role": "assistant", "content": ""}, {"role": "system", "content": "be brief"}, user("")]),
    );
    assert_eq!(made.messages.len(), 4);
    assert_eq!(window(WireFormat::Openai, &json!([])).1.messages.len(), 0);
}

#[test]
fn oversized_message_is_reported() {
    let huge = "read this. ".repeat(40_000);
    let (_, made) = window(WireFormat::Openai, &json!([user(&huge)]));
    assert_eq!(made.messages.len(), 1);
    assert!(
        made.report
            .over_budget_reason
            .is_some_and(|why| why.contains("last request"))
    );
    // An older one is summarised.
    let next = json!([user(&huge), {"role": "assistant", "content": "read"},
        user("Now write down in one sentence what it said, please."), {"role": "assistant", "content": "It said: read."},
        user("And now mend the parser of the file, if you please.")]);
    let (history, made) = window(WireFormat::Openai, &next);
    assert_eq!(made.report.over_budget_reason, None);
    assert!(history.archive(&made.report.dropped[0]).contains(&huge));
}

#[test]
fn huge_output_becomes_preview() {
    let line = "this is a line of a log that never ends, and it is in part 77\n";
    let mut text = line.repeat(100_000_000 / line.len());
    text.push_str("error: the disk is full\n");
    let messages = json!([user("hi"), chat_call(&["a"]), chat_answer("a", &text)]);
    let history = Conversation::parse(&messages.to_string(), None).unwrap();
    let made = compact(&history, &Policy::default(), &mut WindowState::default());
    assert!(made.messages[2].len() < 2_400);
    assert!(made.messages[2].contains("the disk is full"));
    assert!(made.overflows(&history).any(|one| one.text == text));
}

#[test]
fn images_are_kept_whole() {
    let data = "iVBORw0KGgo".repeat(50_000);
    let picture = json!({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": data}});
    let messages = json!([{"role": "user", "content": [picture, {"type": "text", "text": "what is it?"}]},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "bash", "input": {}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a", "content": [
            {"type": "text", "text": "x".repeat(9_000)}, picture]}]}]);
    let (_, made) = window(WireFormat::Anthropic, &messages);
    assert!(
        made.report.tokens_after < 5_000,
        "{}",
        made.report.tokens_after
    );
    assert!(made.messages[0].contains(&data) && made.messages[2].contains(&data));
    assert!(!made.messages[2].contains(&"x".repeat(2_500)));
}

#[test]
fn edited_history_continues_cleanly() {
    let mut messages = vec![user(
        "Find out why the parser loses the last line of a file.",
    )];
    let mut state = WindowState::default();
    for nth in 0..60 {
        let id = format!("call_{nth}");
        messages.push(chat_call(&[&id]));
        messages.push(chat_answer(
            &id,
            &format!("{nth} {}", "some output ".repeat(400)),
        ));
        if nth == 30 {
            // Rewound by ten calls, and another request.
            messages.truncate(41);
            messages.push(user(
                "Never mind the parser: look at the printer instead, please.",
            ));
        }
        let history =
            Conversation::parse(&Value::from(messages.clone()).to_string(), None).unwrap();
        let with = compact(&history, &Policy::default(), &mut state);
        let without = compact(&history, &Policy::default(), &mut WindowState::default());
        assert_eq!(with.messages, without.messages, "{nth}");
        assert_eq!(with.report, without.report, "{nth}");
    }
}

#[test]
fn request_body_keeps_unknown_fields() {
    let body = r#"{ "model": "m", "system": [{"type":"text","text":"be brief"}],
  "messages": [ {"role":"user", "content":"hi", "x_\u00e9": [1.0, 1e2]} ], "max_tokens": 5, "z": {"a":1, "a2":  2} }"#;
    let history = Conversation::parse(body, None).unwrap();
    assert_eq!(history.format, WireFormat::Anthropic);
    let made = compact(&history, &Policy::default(), &mut WindowState::default());
    let out = made.to_json(&history);
    assert_eq!(out.replace([' ', '\n'], ""), body.replace([' ', '\n'], ""));
    assert!(out.contains(r#"{"role":"user", "content":"hi", "x_\u00e9": [1.0, 1e2]}"#));
}

#[test]
fn call_of_other_role_is_inert() {
    let asked = "Find out why the parser loses the last line of a file.";
    for (form, messages) in [
        (
            WireFormat::Openai,
            json!([{"role": "system", "content": "be brief", "tool_calls": [call("a")]},
                chat_answer("a", "lost"), user(asked)]),
        ),
        (
            WireFormat::Openai,
            json!([{"role": "user", "content": asked, "tool_calls": [call("a")]},
                chat_answer("a", "lost"), user("go on")]),
        ),
        (
            WireFormat::Openai,
            json!([{"role": "user", "content": asked, "function_call": {"name": "bash", "arguments": "{}"}},
                {"role": "function", "name": "bash", "content": "lost"}, user("go on")]),
        ),
        (
            WireFormat::Anthropic,
            json!([{"role": "user", "content": [{"type": "tool_use", "id": "a", "name": "bash", "input": {}}]},
                {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a", "content": "lost"}]},
                user(asked)]),
        ),
    ] {
        let (history, made) = window(form, &messages);
        assert_eq!(actions(&made), ["orphan"], "{messages}");
        assert_eq!(made.messages[0], messages[0].to_string());
        assert!(history.archive(&made.report.dropped[0]).contains("lost"));
    }
}

#[test]
fn result_one_turn_late_is_omitted() {
    let turn = |role: &str, block: Value| json!({"role": role, "content": [block]});
    let answer = |id: &str| json!({"type": "tool_result", "tool_use_id": id, "content": "late"});
    let (history, made) = window(
        WireFormat::Anthropic,
        &json!([
            user("Find out why the parser loses the last line of a file."),
            turn(
                "assistant",
                json!({"type": "tool_use", "id": "a", "name": "bash", "input": {}})
            ),
            turn("user", answer("nothing")),
            turn("assistant", json!({"type": "text", "text": "look"})),
            turn("user", answer("a")),
            turn("assistant", json!({"type": "text", "text": "done"})),
        ]),
    );
    assert_eq!(actions(&made), ["missing", "orphan"]);
    assert_eq!(made.report.dropped.len(), 2);
    assert!(history.archive(&made.report.dropped[1]).contains("late"));
}
