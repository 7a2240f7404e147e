//! Agent messages in a growing transcript.

use super::envelope::without_envelopes;
use crate::AgentProgram;
use serde_json::Value;
use serde_json::value::RawValue;

/// Returns the bytes up to the last complete line; the program may be writing the next one.
pub fn complete_lines(bytes: &[u8]) -> &[u8] {
    let end = memchr::memrchr(b'\n', bytes).map_or(0, |at| at + 1);
    &bytes[..end]
}

/// Returns the agent's messages in these lines, without tool output. If the transcript contains lines of subagents,
/// `by_subagents` selects either only those or only the others.
pub fn agent_messages(program: AgentProgram, lines: &[u8], by_subagents: bool) -> Vec<String> {
    let Some(messages) = program.hooks().and_then(|hooks| hooks.messages_of_line) else {
        return Vec::new();
    };
    let lines = lines.split(|byte| *byte == b'\n');
    let lines = lines.filter_map(|line| std::str::from_utf8(line).ok());
    lines
        .flat_map(|line| messages(line, by_subagents))
        .collect()
}

/// Returns the texts of a content: a string, or its parts of this type.
pub(crate) fn texts(content: Option<&RawValue>, kind: &str) -> Vec<String> {
    let value = content.and_then(|raw| serde_json::from_str(raw.get()).ok());
    let text = match value {
        Some(Value::String(text)) => vec![text],
        Some(Value::Array(parts)) => parts
            .iter()
            .filter(|part| part["type"] == kind)
            .filter_map(|part| part["text"].as_str().map(str::to_owned))
            .collect(),
        _ => Vec::new(),
    };
    text.iter()
        .map(|text| without_envelopes(text).into_owned())
        .filter(|text| !text.trim().is_empty())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agent_messages_exclude_users_and_tools() {
        let claude = br#"{"type":"user","message":{"role":"user","content":"HEIRLOOM_MEMORY: KEY_FACT no"}}
{"type":"assistant","isSidechain":false,"message":{"role":"assistant","content":[{"type":"thinking","thinking":"hm"},{"type":"text","text":"one"},{"type":"tool_use","name":"Bash","input":{"text":"no"}}]}}
{"type":"assistant","isSidechain":true,"message":{"content":[{"type":"text","text":"theirs"}]}}
{"type":"user","message":{"content":[{"type":"tool_result","content":"no"}]}}
{"type":"assistant","message":{"content":"two <heirloom-memory>no</heirloom-memory>"}}
nonsense
{"type":"assistant"}
"#;
        assert_eq!(
            agent_messages(AgentProgram::ClaudeCode, claude, false),
            ["one", "two "]
        );
        assert_eq!(
            agent_messages(AgentProgram::ClaudeCode, claude, true),
            ["theirs"]
        );
        let codex = br#"{"type":"session_meta","payload":{}}
{"type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"no"}]}}
{"type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"one"}]}}
{"type":"response_item","payload":{"type":"function_call_output","output":"no"}}
{"type":"event_msg","payload":{"type":"agent_message","message":"one"}}
"#;
        assert_eq!(agent_messages(AgentProgram::Codex, codex, false), ["one"]);
        assert!(agent_messages(AgentProgram::Gemini, codex, false).is_empty());
    }

    #[test]
    fn complete_lines_exclude_unfinished_line() {
        for (bytes, whole) in [("", ""), ("a", ""), ("a\nb", "a\n"), ("a\nb\n", "a\nb\n")] {
            assert_eq!(complete_lines(bytes.as_bytes()), whole.as_bytes());
        }
    }
}
