//! An event of an agent program, whatever its version says of it.

use super::host::Host;
use super::tool::ToolUse;
use heirloom_model::limits;
use serde::Deserializer;
use serde::de::{IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;
use std::collections::HashMap;
use std::fmt;

/// What an event says. Whatever is missing, or has another form than is known, is not there.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct HookEvent {
    /// The session.
    pub session: Option<String>,
    /// The file with the conversation.
    pub transcript: Option<String>,
    /// The folder that the agent works in.
    pub cwd: Option<String>,
    /// The subagent that it happens in.
    pub agent_id: Option<String>,
    /// What sort of subagent that is.
    pub agent_type: Option<String>,
    /// The file with the conversation of a subagent.
    pub agent_transcript: Option<String>,
    /// Why a session begins, or who sent a prompt.
    pub source: Option<String>,
    /// The prompt.
    pub prompt: Option<String>,
    /// The use of a tool.
    pub tool: Option<ToolUse>,
    /// The agent's last words.
    pub last_message: Option<String>,
    /// Why a session ends.
    pub reason: Option<String>,
    /// What could not be read.
    pub problem: Option<String>,
}

/// The members of a JSON object, as they came.
pub(super) type Fields<'a> = HashMap<String, &'a RawValue>;

/// Reads an event of `host`: bytes in, whatever they are.
///
/// Of an event that is cut off somewhere, everything before the cut counts.
pub fn read_event(host: Host, bytes: &[u8]) -> HookEvent {
    let end = bytes.len().min(limits::HOOK_INPUT_BYTES_MAX);
    let whole = String::from_utf8_lossy(&bytes[..end]);
    let (fields, problem) = fields(whole.trim_start_matches('\u{feff}'));
    let string = |name: &str| fields.get(name).and_then(|raw| string(raw));
    let some = |name: &str| string(name).filter(|said| !said.is_empty());
    HookEvent {
        session: some("session_id"),
        transcript: some("transcript_path"),
        cwd: some("cwd"),
        agent_id: some("agent_id"),
        agent_type: some("agent_type"),
        agent_transcript: some("agent_transcript_path"),
        source: some("source"),
        prompt: some("prompt"),
        tool: ToolUse::of(host, &fields),
        last_message: some("last_assistant_message").or_else(|| some("prompt_response")),
        reason: some("reason"),
        problem,
    }
}

/// The members of an object, and what is wrong with it.
fn fields(text: &str) -> (Fields<'_>, Option<String>) {
    let mut fields = Fields::new();
    let mut reader = serde_json::Deserializer::from_str(text);
    let read = reader.deserialize_map(Members(&mut fields));
    let problem = read.err().map(|error| error.to_string());
    (fields, problem)
}

/// A string; none for anything else.
pub(super) fn string(raw: &RawValue) -> Option<String> {
    raw.get()
        .starts_with('"')
        .then(|| serde_json::from_str(raw.get()).ok())
        .flatten()
}

/// The members of an object inside of an event; none for anything else.
pub(super) fn members(raw: &RawValue) -> Fields<'_> {
    fields(raw.get()).0
}

/// Puts down each member as it comes: those before a mistake stay.
struct Members<'f, 'a>(&'f mut Fields<'a>);

impl<'a> Visitor<'a> for Members<'_, 'a> {
    type Value = ();

    fn expecting(&self, form: &mut fmt::Formatter<'_>) -> fmt::Result {
        form.write_str("an event, which is an object")
    }

    fn visit_map<M: MapAccess<'a>>(self, mut map: M) -> Result<(), M::Error> {
        const MEMBERS_MAX: usize = 1_000;
        while let Some(name) = map.next_key::<String>()? {
            if self.0.len() < MEMBERS_MAX {
                let value: &'a RawValue = map.next_value()?;
                self.0.insert(name, value);
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> HookEvent {
        read_event(Host::ClaudeCode, text.as_bytes())
    }

    #[test]
    fn what_is_there_is_read_and_what_is_unknown_is_passed_over() {
        let event = read(
            r#"{"session_id":"s","cwd":"/p","prompt":"fix it","new":{"a":[1,{}]},"source":"user","agent_id":"a1","agent_type":"Explore","agent_transcript_path":"/a","transcript_path":"/t"}"#,
        );
        assert_eq!(event.session.as_deref(), Some("s"));
        assert_eq!(event.prompt.as_deref(), Some("fix it"));
        assert_eq!(event.agent_id.as_deref(), Some("a1"));
        assert_eq!(event.agent_type.as_deref(), Some("Explore"));
        assert_eq!(event.agent_transcript.as_deref(), Some("/a"));
        assert_eq!(event.problem, None);
        let event = read(r#"{"session_id":7,"cwd":null,"prompt":"","tool_input":3}"#);
        assert_eq!(event, HookEvent::default());
    }

    #[test]
    fn of_what_is_cut_off_the_beginning_counts() {
        let event = read(r#"{"session_id":"s","cwd":"/p","tool_name":"Bash","tool_response":"aaa"#);
        assert_eq!(event.session.as_deref(), Some("s"));
        assert_eq!(event.tool.unwrap().name, "Bash");
        assert!(event.problem.is_some());
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
            assert!(read(odd).problem.is_some(), "{odd}");
        }
    }

    #[test]
    fn an_event_over_the_cap_is_read_to_it() {
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
    fn bytes_that_are_no_text_and_strings_that_are_none_do_no_harm() {
        let event = read_event(
            Host::Codex,
            b"{\"session_id\":\"s\",\"prompt\":\"a\xff\xfeb\"}",
        );
        assert_eq!(event.prompt.as_deref(), Some("a\u{fffd}\u{fffd}b"));
        let event = read(r#"{"prompt":"\ud800","session_id":"s"}"#);
        assert_eq!((event.prompt, event.session.as_deref()), (None, Some("s")));
        let deep = format!("{{\"tool_input\":{}1", "[".repeat(100_000));
        assert!(read(&deep).problem.is_some());
        let named = format!(
            "{{\"tool_name\":\"T\",\"tool_input\":{}{}}}",
            "[".repeat(10_000),
            "]".repeat(10_000)
        );
        assert_eq!(read(&named).tool.unwrap().name, "T");
    }
}
