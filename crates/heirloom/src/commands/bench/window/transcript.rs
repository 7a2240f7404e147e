//! Transcripts of Claude Code and Codex as the messages that they hold.

use heirloom_window::Form;
use serde::Deserialize;
use serde_json::value::RawValue;

/// What matters of one line of either program.
#[derive(Debug, Deserialize)]
struct Line<'a> {
    #[serde(rename = "type", default)]
    kind: String,
    #[serde(borrow, default)]
    message: Option<&'a RawValue>,
    #[serde(borrow, default)]
    payload: Option<&'a RawValue>,
    #[serde(rename = "isSidechain", default)]
    aside: bool,
}

#[derive(Debug, Deserialize)]
struct Payload {
    #[serde(rename = "type", default)]
    kind: String,
}

/// Items of Codex that are sent to the model.
const ITEMS: [&str; 8] = [
    "message",
    "reasoning",
    "function_call",
    "function_call_output",
    "custom_tool_call",
    "custom_tool_call_output",
    "local_shell_call",
    "local_shell_call_output",
];

/// The messages of a transcript as an array, and their form; `None` for what is none.
pub(super) fn messages(text: &str) -> Option<(Form, String)> {
    let (mut claude, mut aside) = (Vec::new(), Vec::new());
    let mut codex = Vec::new();
    let mut lines = 0;
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        // A transcript whose program was killed ends in a part of a line.
        let Ok(read) = serde_json::from_str::<Line<'_>>(line) else {
            if lines == 0 {
                return None;
            }
            continue;
        };
        lines += 1;
        match (read.kind.as_str(), read.message, read.payload) {
            ("user" | "assistant", Some(message), _) if read.aside => aside.push(message.get()),
            ("user" | "assistant", Some(message), _) => claude.push(message.get()),
            ("response_item", _, Some(payload)) => {
                let kind = serde_json::from_str::<Payload>(payload.get()).ok()?.kind;
                if ITEMS.contains(&kind.as_str()) {
                    codex.push(payload.get());
                }
            }
            _ => {}
        }
    }
    // The transcript of an agent that another one started is all aside.
    if claude.is_empty() {
        claude = aside;
    }
    let (form, messages) = if claude.is_empty() {
        (Form::Responses, codex)
    } else {
        (Form::Anthropic, claude)
    };
    (!messages.is_empty()).then(|| (form, format!("[{}]", messages.join(","))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_sent_is_taken_and_nothing_else() {
        let claude = "{\"type\":\"summary\"}\n{\"type\":\"user\",\"message\":{\"role\":\"user\",\"content\":\"x\"}}\n\
             {\"type\":\"assistant\",\"isSidechain\":true,\"message\":{}}\n{\"type\":\"assis";
        let (form, said) = messages(claude).unwrap();
        assert_eq!(
            (form, said.as_str()),
            (Form::Anthropic, "[{\"role\":\"user\",\"content\":\"x\"}]")
        );
        let codex = "{\"type\":\"session_meta\",\"payload\":{}}\n\
             {\"type\":\"response_item\",\"payload\":{\"type\":\"message\"}}\n\
             {\"type\":\"response_item\",\"payload\":{\"type\":\"ghost_snapshot\"}}";
        let (form, said) = messages(codex).unwrap();
        assert_eq!(
            (form, said.as_str()),
            (Form::Responses, "[{\"type\":\"message\"}]")
        );
        let helper = "{\"type\":\"user\",\"isSidechain\":true,\"message\":{\"role\":\"user\"}}";
        assert_eq!(messages(helper).unwrap().1, "[{\"role\":\"user\"}]");
        for none in ["{\"messages\": []}", "[]", "", "{\n\"messages\": []}"] {
            assert!(messages(none).is_none(), "{none}");
        }
    }
}
