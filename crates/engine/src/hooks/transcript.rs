//! The agent's own words in a stored conversation, as it grows.

use super::event::{members, string};
use super::fence::without_fences;
use super::host::Host;
use serde_json::Value;
use serde_json::value::RawValue;

/// The bytes up to the last line that has ended: whoever writes may be in the middle of the next one.
pub fn whole_lines(bytes: &[u8]) -> &[u8] {
    let end = memchr::memrchr(b'\n', bytes).map_or(0, |at| at + 1);
    &bytes[..end]
}

/// What the agent itself said in these lines, message by message; not what tools gave back. Where a conversation has
/// lines of subagents, only those of `by_subagents` or only the others.
pub fn said_in(host: Host, lines: &[u8], by_subagents: bool) -> Vec<String> {
    let lines = lines.split(|byte| *byte == b'\n');
    let lines = lines.filter_map(|line| std::str::from_utf8(line).ok());
    match host {
        Host::ClaudeCode => lines.flat_map(|line| claude(line, by_subagents)).collect(),
        Host::Codex => lines.flat_map(codex).collect(),
        // Its conversations are no lines: what it says comes with its events.
        Host::Gemini => Vec::new(),
    }
}

fn claude(line: &str, by_subagents: bool) -> Vec<String> {
    let Ok(raw) = serde_json::from_str::<&RawValue>(line) else {
        return Vec::new();
    };
    let fields = members(raw);
    let is = |name: &str, wanted: &str| fields.get(name).is_some_and(|raw| raw.get() == wanted);
    if !is("type", "\"assistant\"") || is("isSidechain", "true") != by_subagents {
        return Vec::new();
    }
    let Some(message) = fields.get("message") else {
        return Vec::new();
    };
    texts(members(message).get("content").copied(), "text")
}

fn codex(line: &str) -> Vec<String> {
    let Ok(raw) = serde_json::from_str::<&RawValue>(line) else {
        return Vec::new();
    };
    let fields = members(raw);
    let is_item = fields
        .get("type")
        .is_some_and(|raw| raw.get() == "\"response_item\"");
    let Some(payload) = fields.get("payload").filter(|_| is_item) else {
        return Vec::new();
    };
    let payload = members(payload);
    let is = |name: &str, wanted: &str| {
        payload
            .get(name)
            .and_then(|raw| string(raw))
            .is_some_and(|said| said == wanted)
    };
    if !is("type", "message") || !is("role", "assistant") {
        return Vec::new();
    }
    texts(payload.get("content").copied(), "output_text")
}

/// The texts of a content: itself, or its parts of that type.
fn texts(content: Option<&RawValue>, kind: &str) -> Vec<String> {
    let value = content.and_then(|raw| serde_json::from_str(raw.get()).ok());
    let said = match value {
        Some(Value::String(said)) => vec![said],
        Some(Value::Array(parts)) => parts
            .iter()
            .filter(|part| part["type"] == kind)
            .filter_map(|part| part["text"].as_str().map(str::to_owned))
            .collect(),
        _ => Vec::new(),
    };
    said.iter()
        .map(|said| without_fences(said).into_owned())
        .filter(|said| !said.trim().is_empty())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_agents_own_words() {
        let claude = br#"{"type":"user","message":{"role":"user","content":"HEIRLOOM_MEMORY: KEY_FACT no"}}
{"type":"assistant","isSidechain":false,"message":{"role":"assistant","content":[{"type":"thinking","thinking":"hm"},{"type":"text","text":"one"},{"type":"tool_use","name":"Bash","input":{"text":"no"}}]}}
{"type":"assistant","isSidechain":true,"message":{"content":[{"type":"text","text":"theirs"}]}}
{"type":"user","message":{"content":[{"type":"tool_result","content":"no"}]}}
{"type":"assistant","message":{"content":"two <heirloom-memory>no</heirloom-memory>"}}
nonsense
{"type":"assistant"}
"#;
        assert_eq!(said_in(Host::ClaudeCode, claude, false), ["one", "two "]);
        assert_eq!(said_in(Host::ClaudeCode, claude, true), ["theirs"]);
        let codex = br#"{"type":"session_meta","payload":{}}
{"type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"no"}]}}
{"type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"one"}]}}
{"type":"response_item","payload":{"type":"function_call_output","output":"no"}}
{"type":"event_msg","payload":{"type":"agent_message","message":"one"}}
"#;
        assert_eq!(said_in(Host::Codex, codex, false), ["one"]);
        assert!(said_in(Host::Gemini, codex, false).is_empty());
    }

    #[test]
    fn a_line_that_has_not_ended_waits() {
        for (bytes, whole) in [("", ""), ("a", ""), ("a\nb", "a\n"), ("a\nb\n", "a\nb\n")] {
            assert_eq!(whole_lines(bytes.as_bytes()), whole.as_bytes());
        }
    }
}
