//! Input that no provider would take, and input that is larger than any window: a window that may be
//! sent, or a refusal that says which message.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use heirloom_window::check::check;
use heirloom_window::{Compacted, Conversation, Form, Policy, State, compact};
use serde_json::{Value, json};

fn window(form: Form, messages: &Value) -> (Conversation, Compacted) {
    let history = Conversation::parse(&messages.to_string(), Some(form)).unwrap();
    let made = compact(&history, &Policy::default(), &mut State::default());
    let out = made.to_json(&history);
    let again = Conversation::parse(&out, Some(form)).unwrap();
    assert_eq!(check(&again), Vec::new(), "{out}");
    let twice = compact(&again, &Policy::default(), &mut State::default());
    assert_eq!(twice.to_json(&again), out);
    (history, made)
}

fn actions(made: &Compacted) -> Vec<&str> {
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
fn an_answer_without_a_call_is_left_out_and_kept() {
    let (history, made) = window(
        Form::Openai,
        &json!([user("hi"), chat_answer("x", "lost"), {"role": "assistant", "content": "yes"}]),
    );
    assert_eq!(actions(&made), ["orphan"]);
    assert_eq!(made.messages.len(), 2);
    assert_eq!(made.report.dropped.len(), 1);
    assert!(history.archive(&made.report.dropped[0]).contains("lost"));
}

#[test]
fn a_call_without_an_answer_gets_one() {
    for (form, messages) in [
        (
            Form::Openai,
            json!([
                user("hi"),
                chat_call(&["a", "b"]),
                chat_answer("b", "1"),
                user("stop")
            ]),
        ),
        (
            Form::Anthropic,
            json!([user("hi"), {"role": "assistant", "content": [
            {"type": "tool_use", "id": "a", "name": "bash", "input": {}}]}, user("stop")]),
        ),
        (
            Form::Responses,
            json!([user("hi"), {"type": "function_call", "call_id": "a", "name": "bash",
            "arguments": "{}"}, user("stop")]),
        ),
    ] {
        let (_, made) = window(form, &messages);
        assert_eq!(actions(&made), ["missing"], "{form:?}");
    }
    // At the end it waits for its answer.
    let (_, made) = window(Form::Openai, &json!([user("hi"), chat_call(&["a"])]));
    assert!(made.report.actions.is_empty());
}

#[test]
fn an_answer_that_comes_too_late_stands_where_none_is_expected() {
    let late = json!([
        user("hi"),
        chat_call(&["a"]),
        user("wait"),
        chat_answer("a", "late")
    ]);
    let (_, made) = window(Form::Openai, &late);
    assert_eq!(actions(&made), ["missing", "orphan"]);
    // In another order than the calls is no matter.
    let swapped = json!([
        user("hi"),
        chat_call(&["a", "b"]),
        chat_answer("b", "2"),
        chat_answer("a", "1")
    ]);
    assert!(window(Form::Openai, &swapped).1.report.actions.is_empty());
}

#[test]
fn ids_that_come_again_are_told_apart_by_their_places() {
    let messages = json!([
        user("hi"),
        chat_call(&["c"]),
        chat_answer("c", "1"),
        chat_call(&["c"]),
        chat_answer("c", "2")
    ]);
    let (_, made) = window(Form::Openai, &messages);
    assert_eq!(made.messages.len(), 5);
    let refused =
        |form, messages: Value| Conversation::parse(&messages.to_string(), Some(form)).unwrap_err();
    let twice = refused(Form::Openai, json!([user("hi"), chat_call(&["c", "c"])]));
    assert_eq!(twice.index, Some(1));
    let tool = json!({"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "b", "input": {}}]});
    let answer = json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a", "content": "x"}]});
    let twice = refused(Form::Anthropic, json!([user("hi"), tool, answer, tool]));
    assert_eq!(twice.index, Some(3));
}

#[test]
fn what_a_provider_refuses_and_nobody_can_mend_is_refused_with_its_index() {
    for (form, messages, index) in [
        (
            Form::Anthropic,
            json!([user("hi"), {"role": "system", "content": "x"}]),
            1,
        ),
        (
            Form::Anthropic,
            json!([{"role": "user", "content": [{"type": "text", "text": "x"},
            {"type": "tool_result", "tool_use_id": "a"}]}]),
            0,
        ),
        (
            Form::Anthropic,
            json!([user("hi"), {"role": "tool", "content": "x"}]),
            1,
        ),
        (Form::Openai, json!([user("hi"), 7]), 1),
        (
            Form::Openai,
            json!([user("hi"), {"role": "user", "role ": 1, "tool_calls": 3}]),
            1,
        ),
        (
            Form::Responses,
            json!([user("hi"), {"type": "message", "role": "elf"}]),
            1,
        ),
        (Form::Responses, json!([user("hi"), {}]), 1),
    ] {
        let refusal = Conversation::parse(&messages.to_string(), Some(form)).unwrap_err();
        assert_eq!(refusal.index, Some(index), "{refusal}");
    }
}

#[test]
fn empty_turns_and_a_system_prompt_in_the_middle_are_no_obstacle() {
    let (_, made) = window(
        Form::Anthropic,
        &json!([user("hi"), {"role": "assistant", "content": []}, user(""), user("there")]),
    );
    assert_eq!(made.messages.len(), 2);
    let (_, made) = window(
        Form::Openai,
        &json!([user("hi"), {"role": "assistant", "content": ""}, {"role": "system", "content": "be brief"}, user("")]),
    );
    assert_eq!(made.messages.len(), 4);
    assert_eq!(window(Form::Openai, &json!([])).1.messages.len(), 0);
}

#[test]
fn a_message_larger_than_the_window_is_said() {
    let huge = "read this. ".repeat(40_000);
    let (_, made) = window(Form::Openai, &json!([user(&huge)]));
    assert_eq!(made.messages.len(), 1);
    assert!(
        made.report
            .over
            .is_some_and(|why| why.contains("last request"))
    );
    // An older one goes into the summary.
    let next = json!([user(&huge), {"role": "assistant", "content": "read"},
        user("Now write down in one sentence what it said, please."), {"role": "assistant", "content": "It said: read."},
        user("And now mend the parser of the file, if you please.")]);
    let (history, made) = window(Form::Openai, &next);
    assert_eq!(made.report.over, None);
    assert!(history.archive(&made.report.dropped[0]).contains(&huge));
}

#[test]
fn an_output_of_a_hundred_megabytes_is_a_preview() {
    let line = "this is a line of a log that never ends, and it is in part 77\n";
    let mut text = line.repeat(100_000_000 / line.len());
    text.push_str("error: the disk is full\n");
    let messages = json!([user("hi"), chat_call(&["a"]), chat_answer("a", &text)]);
    let history = Conversation::parse(&messages.to_string(), None).unwrap();
    let made = compact(&history, &Policy::default(), &mut State::default());
    assert!(made.messages[2].len() < 2_400);
    assert!(made.messages[2].contains("the disk is full"));
    assert!(made.overflows(&history).any(|one| one.text == text));
}

#[test]
fn pictures_are_kept_whole() {
    let data = "iVBORw0KGgo".repeat(50_000);
    let picture = json!({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": data}});
    let messages = json!([{"role": "user", "content": [picture, {"type": "text", "text": "what is it?"}]},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "bash", "input": {}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a", "content": [
            {"type": "text", "text": "x".repeat(9_000)}, picture]}]}]);
    let (_, made) = window(Form::Anthropic, &messages);
    assert!(
        made.report.tokens_after < 5_000,
        "{}",
        made.report.tokens_after
    );
    assert!(made.messages[0].contains(&data) && made.messages[2].contains(&data));
    assert!(!made.messages[2].contains(&"x".repeat(2_500)));
}

#[test]
fn a_history_that_was_edited_goes_on_cleanly() {
    let mut messages = vec![user(
        "Find out why the parser loses the last line of a file.",
    )];
    let mut state = State::default();
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
        let without = compact(&history, &Policy::default(), &mut State::default());
        assert_eq!(with.messages, without.messages, "{nth}");
        assert_eq!(with.report, without.report, "{nth}");
    }
}

#[test]
fn a_request_body_keeps_its_shape_and_what_nobody_knows() {
    let body = r#"{ "model": "m", "system": [{"type":"text","text":"be brief"}],
  "messages": [ {"role":"user", "content":"hi", "x_\u00e9": [1.0, 1e2]} ], "max_tokens": 5, "z": {"a":1, "a2":  2} }"#;
    let history = Conversation::parse(body, None).unwrap();
    assert_eq!(history.form, Form::Anthropic);
    let made = compact(&history, &Policy::default(), &mut State::default());
    let out = made.to_json(&history);
    assert_eq!(out.replace([' ', '\n'], ""), body.replace([' ', '\n'], ""));
    assert!(out.contains(r#"{"role":"user", "content":"hi", "x_\u00e9": [1.0, 1e2]}"#));
}

#[test]
fn a_call_that_is_not_the_models_is_no_call() {
    let asked = "Find out why the parser loses the last line of a file.";
    for (form, messages) in [
        (
            Form::Openai,
            json!([{"role": "system", "content": "be brief", "tool_calls": [call("a")]},
                chat_answer("a", "lost"), user(asked)]),
        ),
        (
            Form::Openai,
            json!([{"role": "user", "content": asked, "tool_calls": [call("a")]},
                chat_answer("a", "lost"), user("go on")]),
        ),
        (
            Form::Openai,
            json!([{"role": "user", "content": asked, "function_call": {"name": "bash", "arguments": "{}"}},
                {"role": "function", "name": "bash", "content": "lost"}, user("go on")]),
        ),
        (
            Form::Anthropic,
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
fn an_answer_a_turn_too_late_is_left_out() {
    let turn = |role: &str, block: Value| json!({"role": role, "content": [block]});
    let answer = |id: &str| json!({"type": "tool_result", "tool_use_id": id, "content": "late"});
    let (history, made) = window(
        Form::Anthropic,
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
