//! Tests with the recorded output of opencode.

use super::*;
use crate::AgentProgram;
use crate::transcripts::{HeaderReader, SupersededLineScan, ToolAction};

/// Output of `opencode export`, version 1.18.33.
const EXPORT: &str = include_str!(concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/tests/fixtures/opencode-export.json"
));

fn events(text: &str) -> Vec<EventBody> {
    let mut reader = SupersededLineScan::new(AgentProgram::Opencode).into_reader();
    let mut events = Vec::new();
    reader.read_line(0, text.as_bytes(), &mut |event| {
        assert!(!event.id.is_empty());
        events.push(event.body);
    });
    reader.finish(&mut |event| events.push(event.body));
    events
}

#[test]
fn export_is_read_without_injected_parts() {
    let mut header = HeaderReader::new(AgentProgram::Opencode);
    header.read_line(EXPORT.as_bytes());
    let header = header.finish().unwrap();
    assert_eq!(
        header.session.as_deref(),
        Some("ses_df6d36810ffe6MDCD1yJJEWW6z")
    );
    assert_eq!(header.folder.as_deref(), Some("/project"));
    assert_eq!((header.agent, header.began.is_some()), (None, true));

    let events = events(EXPORT);
    let [
        EventBody::Prompt(prompt),
        EventBody::AssistantText(first),
        EventBody::Call { call, tool, action },
        EventBody::Result {
            call: answered,
            outcome,
            text,
        },
        EventBody::TokenUsage(usage),
        EventBody::AssistantText(last),
        EventBody::TokenUsage(_),
    ] = events.as_slice()
    else {
        panic!("{events:?}");
    };
    assert_eq!(prompt, "Line one \"q\" `x`\nFix the login");
    assert_eq!(first, "I look.");
    assert_eq!((call, tool.as_str()), (answered, "bash"));
    let command = "cat notes.txt; exit 3".to_owned();
    assert_eq!(*action, ToolAction::Command(command));
    assert_eq!(*outcome, ToolOutcome::Failed, "the exit code is 3");
    assert!(text.starts_with("Notes."), "{text}");
    assert_eq!((usage.input, usage.cached, usage.output), (8, 3, 5));
    assert!(last.starts_with("I found it."), "{last}");
}

#[test]
fn reverted_messages_and_other_files_are_not_read() {
    let reverted = EXPORT.replacen(
        "\"slug\"",
        "\"revert\": {\"messageID\": \"msg_2092cb77c0014G0rkEtjYLjyI1\"}, \"slug\"",
        1,
    );
    let texts = |events: &[EventBody]| {
        let is_text = |event: &&EventBody| matches!(event, EventBody::AssistantText(_));
        events.iter().filter(is_text).count()
    };
    assert_eq!(texts(&events(&reverted)), 1);
    for text in [
        "",
        "[]",
        "{}",
        "{\"info\": 1, \"messages\": []}",
        "nonsense",
    ] {
        assert!(events(text).is_empty(), "{text}");
        let mut header = HeaderReader::new(AgentProgram::Opencode);
        header.read_line(text.as_bytes());
        assert_eq!(header.finish(), None, "{text}");
    }
}

#[test]
fn edits_and_rejected_calls_are_recognised() {
    let call = |tool: &str, input: &str, state: &str| {
        events(&format!(
            r#"{{"info":{{"id":"ses_1"}},"messages":[{{"info":{{"id":"m","role":"assistant"}},"parts":[{{"id":"p","type":"tool","callID":"c","tool":"{tool}","state":{{"input":{input},{state}}}}}]}}]}}"#
        ))
    };
    for (tool, input, file) in [
        (
            "edit",
            r#"{"filePath":"/p/a.rs","oldString":"y","newString":"x"}"#,
            "/p/a.rs",
        ),
        ("write", r#"{"filePath":"b.rs","content":"x"}"#, "b.rs"),
        (
            "multiedit",
            r#"{"filePath":"d.rs","edits":[{"oldString":"a\nb","newString":"a\nx"}]}"#,
            "d.rs",
        ),
        (
            "apply_patch",
            r#"{"patchText":"*** Begin Patch\n*** Add File: c.rs\n+x\n*** End Patch"}"#,
            "c.rs",
        ),
    ] {
        let events = call(tool, input, r#""status":"running""#);
        let [EventBody::Call { action, .. }] = events.as_slice() else {
            panic!("{events:?}");
        };
        let ToolAction::Edit(edits) = action else {
            panic!("{action:?}");
        };
        assert_eq!((&*edits[0].path, &*edits[0].added), (file, "x"));
    }
    for (error, expected) in [
        ("File not found: x", ToolOutcome::Failed),
        ("Tool execution aborted", ToolOutcome::Rejected),
    ] {
        let state = format!(r#""status":"error","error":"{error}""#);
        let events = call("read", "{}", &state);
        let Some(EventBody::Result { outcome, .. }) = events.last() else {
            panic!("{events:?}");
        };
        assert_eq!(*outcome, expected, "{error}");
    }
}
