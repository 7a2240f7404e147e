//! Parsing of every wire format to the inner form.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use heirloom_window::{ChatRole, Conversation, InsertedMessage, WireFormat};

fn roles(json: &str, form: WireFormat) -> Vec<ChatRole> {
    let read = Conversation::parse(json, None).unwrap();
    assert_eq!(read.format, form, "{json}");
    read.messages.iter().map(|message| message.role).collect()
}

#[test]
fn chat_messages_are_parsed() {
    let json = r#"[{"role":"system","content":"be brief"},{"role":"user","content":[{"type":"text","text":"hi \"you\""}]},
        {"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"cat","arguments":"{\"path\":\"x\"}"}}]},
        {"role":"tool","tool_call_id":"a","content":"1\n2"}]"#;
    use ChatRole::{Assistant, System, Tool, User};
    assert_eq!(
        roles(json, WireFormat::Openai),
        [System, User, Assistant, Tool]
    );
    let read = Conversation::parse(json, None).unwrap();
    assert_eq!(read.messages[1].text(), "hi \"you\"");
    let output = read.messages[3].outputs().next().unwrap();
    assert_eq!((output.tool.as_str(), output.call), ("cat", Some((2, 0))));
}

#[test]
fn anthropic_messages_split_at_inserted_blocks() {
    let json = r#"{"model":"m","system":"be brief","messages":[{"role":"user","content":"hi"},
        {"role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"s"},{"type":"tool_use","id":"t","name":"Read","input":{"file_path":"/a"}}]},
        {"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":[{"type":"text","text":"x"},{"type":"image","source":{}}]},{"type":"text","text":"[TASK ANCHOR — Reminder] Your CURRENT GOAL is: \"hi\""}]}]}"#;
    use ChatRole::{Assistant, Tool, User};
    assert_eq!(
        roles(json, WireFormat::Anthropic),
        [User, Assistant, Tool, User]
    );
    let read = Conversation::parse(json, None).unwrap();
    assert_eq!(read.messages[3].inserted, Some(InsertedMessage::Anchor));
    assert_eq!(read.messages[3].source_index, read.messages[2].source_index);
    let output = read.messages[2].outputs().next().unwrap();
    assert_eq!(
        (
            output.tool.as_str(),
            output.other_blocks.len(),
            output.chars
        ),
        ("Read", 1, 1)
    );
}

#[test]
fn responses_items_are_parsed() {
    let json = r#"{"input":[{"type":"message","role":"user","content":[{"type":"input_text","text":"hi"}]},
        {"type":"reasoning","summary":[]},{"type":"function_call","call_id":"c","name":"sh","arguments":"ls"},
        {"type":"function_call_output","call_id":"c","output":"a"},{"role":"assistant","content":"done"}]}"#;
    use ChatRole::{Assistant, Tool, User};
    assert_eq!(
        roles(json, WireFormat::Responses),
        [User, Assistant, Assistant, Tool, Assistant]
    );
}

#[test]
fn broken_message_is_refused_with_index() {
    for (json, index, says) in [
        (
            r#"[{"role":"user","content":"a"},{"role":"us"#,
            Some(1),
            "ends inside",
        ),
        (
            r#"{"messages":[{"role":"user","content":"a"},{"ro"#,
            Some(1),
            "ends inside",
        ),
        (
            r#"[{"role":"user","content":"a"},{"role":"wizard"}]"#,
            Some(1),
            "wizard",
        ),
        (
            r#"[{"role":"tool","content":"a"}]"#,
            Some(0),
            "has no call id",
        ),
        (r#"{"model":"m"}"#, None, "neither"),
        ("hello", None, "neither"),
        ("", None, "neither"),
    ] {
        let refusal = Conversation::parse(json, None).unwrap_err();
        assert_eq!(refusal.index, index, "{json}: {refusal}");
        assert!(refusal.to_string().contains(says), "{json}: {refusal}");
    }
}
