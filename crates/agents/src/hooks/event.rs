//! Hook event of an agent program, for all versions of its format.

use super::json_members::{as_string, parse_members};
use super::tool_use::ToolUse;
use crate::AgentProgram;
use heirloom_model::limits;
use heirloom_model::text_decoding::{decode_text, repair_json};

/// A hook event. Fields that are missing or of an unknown form are `None`.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct HookEvent {
    /// Id of the session.
    pub session: Option<String>,
    /// Path of the transcript.
    pub transcript: Option<String>,
    /// Working folder of the agent.
    pub cwd: Option<String>,
    /// Id of the subagent that caused the event.
    pub agent_id: Option<String>,
    /// Type of that subagent.
    pub agent_type: Option<String>,
    /// Path of the subagent's transcript.
    pub agent_transcript: Option<String>,
    /// Reason of a session start, or origin of a prompt.
    pub source: Option<String>,
    /// True if the environment shows that a script or another agent started the program.
    pub is_of_script: bool,
    /// The words of the prompt that a person typed; empty if the program wrote all of it.
    pub prompt: Option<String>,
    /// The tool use.
    pub tool: Option<ToolUse>,
    /// Last message of the agent.
    pub last_message: Option<String>,
    /// Reason of a session end.
    pub reason: Option<String>,
    /// True if the agent goes on because a hook asked for it at the end of the turn.
    pub is_continued_by_hook: bool,
    /// True if the program does not read the answer.
    pub drops_answer: bool,
    /// Program that sent the event, if it is another one that reads the settings of this one.
    pub other_sender: Option<AgentProgram>,
    /// Error of the JSON parser, if the event is malformed.
    pub parse_error: Option<String>,
}

/// Parses an event of `program` from any bytes.
///
/// Of a truncated event, the members before the cut are used.
pub fn read_event(program: AgentProgram, bytes: &[u8]) -> HookEvent {
    let end = bytes.len().min(limits::HOOK_INPUT_BYTES_MAX);
    let whole = decode_text(&bytes[..end]);
    let whole = repair_json(&whole);
    let (mut fields, parse_error) = parse_members(&whole);
    let hooks = program.hooks();
    let drops_answer = hooks.is_some_and(|hooks| (hooks.drops_answer)(&fields));
    let other_sender = hooks.and_then(|hooks| (hooks.other_sender)(&fields));
    if let Some(prepare_members) = hooks.and_then(|hooks| hooks.prepare_members) {
        prepare_members(&mut fields);
    }
    let as_string = |name: &str| fields.get(name).and_then(|raw| as_string(raw));
    let some = |name: &str| as_string(name).filter(|content| !content.is_empty());
    HookEvent {
        session: some("session_id"),
        transcript: some("transcript_path"),
        cwd: some("cwd"),
        agent_id: some("agent_id"),
        agent_type: some("agent_type"),
        agent_transcript: some("agent_transcript_path"),
        source: some("source"),
        is_of_script: false,
        prompt: some("prompt").map(|prompt| program.person_text(&prompt).into_owned()),
        tool: ToolUse::from_fields(program, &fields),
        last_message: some("last_assistant_message").or_else(|| some("prompt_response")),
        reason: some("reason"),
        is_continued_by_hook: fields
            .get("stop_hook_active")
            .is_some_and(|raw| raw.get() == "true"),
        drops_answer,
        other_sender,
        parse_error,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> HookEvent {
        read_event(AgentProgram::ClaudeCode, text.as_bytes())
    }

    #[test]
    fn read_event_reads_known_fields_and_ignores_others() {
        let event = read(
            r#"{"session_id":"s","cwd":"/p","prompt":"fix it","new":{"a":[1,{}]},"source":"user","agent_id":"a1","agent_type":"Explore","agent_transcript_path":"/a","transcript_path":"/t"}"#,
        );
        assert_eq!(event.session.as_deref(), Some("s"));
        assert_eq!(event.prompt.as_deref(), Some("fix it"));
        assert_eq!(event.agent_id.as_deref(), Some("a1"));
        assert_eq!(event.agent_type.as_deref(), Some("Explore"));
        assert_eq!(event.agent_transcript.as_deref(), Some("/a"));
        assert_eq!(event.parse_error, None);
        let event = read(r#"{"session_id":7,"cwd":null,"prompt":"","tool_input":3}"#);
        assert_eq!(event, HookEvent::default());
    }

    #[test]
    fn read_event_truncated_input_keeps_leading_members() {
        let event = read(r#"{"session_id":"s","cwd":"/p","tool_name":"Bash","tool_response":"aaa"#);
        assert_eq!(event.session.as_deref(), Some("s"));
        assert_eq!(event.tool.unwrap().name, "Bash");
        assert!(event.parse_error.is_some());
        for odd in [
            "",
            "null",
            "[1]",
            "\"x\"",
            "{",
            "{\"a\"",
            "nonsense",
            "{\"a\":1,}",
        ] {
            assert!(read(odd).parse_error.is_some(), "{odd}");
        }
    }

    #[test]
    fn read_event_over_size_limit_reads_up_to_limit() {
        let head = r#"{"session_id":"s","prompt":""#;
        let fits = limits::HOOK_INPUT_BYTES_MAX - head.len() - 2;
        let whole = format!("{head}{}\"}}", "x".repeat(fits));
        assert_eq!(read(&whole).prompt.unwrap().len(), fits);
        let over = format!("{head}{}\"}}", "x".repeat(fits + 1));
        assert_eq!(
            read(&over).prompt.as_deref().map(str::len),
            Some(fits + 1),
            "only the last brace is beyond"
        );
        let over = format!("{head}{}\"}}", "x".repeat(fits + 2));
        assert_eq!(read(&over).prompt, None);
        assert_eq!(read(&over).session.as_deref(), Some("s"));
    }

    #[test]
    fn read_event_tolerates_invalid_bytes_and_deep_nesting() {
        let event = read_event(
            AgentProgram::Codex,
            b"{\"session_id\":\"s\",\"prompt\":\"a\xff\xfeb\"}",
        );
        assert_eq!(event.prompt.as_deref(), Some("a\u{fffd}\u{fffd}b"));
        let event = read(r#"{"prompt":"\ud800","session_id":"s"}"#);
        let half = Some("\u{fffd}".to_owned());
        assert_eq!((event.prompt, event.session.as_deref()), (half, Some("s")));
        let deep = format!("{{\"tool_input\":{}1", "[".repeat(100_000));
        assert!(read(&deep).parse_error.is_some());
        let named = format!(
            "{{\"tool_name\":\"T\",\"tool_input\":{}{}}}",
            "[".repeat(10_000),
            "]".repeat(10_000)
        );
        assert_eq!(read(&named).tool.unwrap().name, "T");
    }
}
