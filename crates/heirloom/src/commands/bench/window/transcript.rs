//! Conversations from transcripts of Claude Code and Codex.

use heirloom_window::WireFormat;
use serde::Deserialize;
use serde_json::value::RawValue;

/// Fields that are read from one line of either program.
#[derive(Debug, Deserialize)]
struct TranscriptEntry<'a> {
    #[serde(rename = "type", default)]
    kind: String,
    #[serde(borrow, default)]
    message: Option<&'a RawValue>,
    #[serde(borrow, default)]
    payload: Option<&'a RawValue>,
    #[serde(rename = "isSidechain", default)]
    is_sidechain: bool,
}

#[derive(Debug, Deserialize)]
struct Payload {
    #[serde(rename = "type", default)]
    kind: String,
}

/// Codex items that are sent to the model.
const MODEL_ITEMS: [&str; 8] = [
    "message",
    "reasoning",
    "function_call",
    "function_call_output",
    "custom_tool_call",
    "custom_tool_call_output",
    "local_shell_call",
    "local_shell_call_output",
];

/// Extracts the messages of a transcript as a JSON array, with their wire format; `None` if the text is not a
/// transcript.
pub(super) fn extract_messages(text: &str) -> Option<(WireFormat, String)> {
    let (mut claude, mut sidechain) = (Vec::new(), Vec::new());
    let mut codex = Vec::new();
    let mut lines = 0;
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        // The transcript of a killed program may end in the middle of a line.
        let Ok(read) = serde_json::from_str::<TranscriptEntry<'_>>(line) else {
            if lines == 0 {
                return None;
            }
            continue;
        };
        lines += 1;
        match (read.kind.as_str(), read.message, read.payload) {
            ("user" | "assistant", Some(message), _) if read.is_sidechain => {
                sidechain.push(message.get())
            }
            ("user" | "assistant", Some(message), _) => claude.push(message.get()),
            ("response_item", _, Some(payload)) => {
                let kind = serde_json::from_str::<Payload>(payload.get()).ok()?.kind;
                if MODEL_ITEMS.contains(&kind.as_str()) {
                    codex.push(payload.get());
                }
            }
            _ => {}
        }
    }
    // In a subagent's transcript all messages are marked as sidechain.
    if claude.is_empty() {
        claude = sidechain;
    }
    let (form, messages) = if claude.is_empty() {
        (WireFormat::Responses, codex)
    } else {
        (WireFormat::Anthropic, claude)
    };
    (!messages.is_empty()).then(|| (form, format!("[{}]", messages.join(","))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extract_messages_returns_only_sent_messages() {
        let claude = "{\"type\":\"summary\"}\n{\"type\":\"user\",\"message\":{\"role\":\"user\",\"content\":\"x\"}}\n\
             {\"type\":\"assistant\",\"isSidechain\":true,\"message\":{}}\n{\"type\":\"assis";
        let (form, extracted) = extract_messages(claude).unwrap();
        assert_eq!(
            (form, extracted.as_str()),
            (
                WireFormat::Anthropic,
                "[{\"role\":\"user\",\"content\":\"x\"}]"
            )
        );
        let codex = "{\"type\":\"session_meta\",\"payload\":{}}\n\
             {\"type\":\"response_item\",\"payload\":{\"type\":\"message\"}}\n\
             {\"type\":\"response_item\",\"payload\":{\"type\":\"ghost_snapshot\"}}";
        let (form, extracted) = extract_messages(codex).unwrap();
        assert_eq!(
            (form, extracted.as_str()),
            (WireFormat::Responses, "[{\"type\":\"message\"}]")
        );
        let helper = "{\"type\":\"user\",\"isSidechain\":true,\"message\":{\"role\":\"user\"}}";
        assert_eq!(extract_messages(helper).unwrap().1, "[{\"role\":\"user\"}]");
        for none in ["{\"messages\": []}", "[]", "", "{\n\"messages\": []}"] {
            assert!(extract_messages(none).is_none(), "{none}");
        }
    }
}
