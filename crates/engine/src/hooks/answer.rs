//! What a hook answers, in the words of the program that asked.

use super::host::{Host, Wanted};
use serde_json::{Value, json};

/// What is to be said.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Answer {
    /// Text for the model; empty = none.
    pub context: String,
    /// What the model sees in the place of the tool's output.
    pub output: Option<Value>,
}

/// The answer as the program reads it; empty for nothing, which every program takes as a yes.
///
/// Only keys that the program knows: Codex refuses others. Nothing at all for an event that cannot put text before the
/// model.
pub fn render(host: Host, wanted: &Wanted, answer: &Answer) -> String {
    if !wanted.hears {
        return String::new();
    }
    let mut specific = serde_json::Map::new();
    if !answer.context.is_empty() {
        specific.insert("additionalContext".to_owned(), json!(answer.context));
    }
    let mut whole = serde_json::Map::new();
    match (host, &answer.output) {
        (Host::ClaudeCode, Some(output)) => {
            specific.insert("updatedToolOutput".to_owned(), output.clone());
        }
        (Host::Gemini, Some(output)) => {
            let said = output
                .as_str()
                .map_or_else(|| output.to_string(), str::to_owned);
            whole.insert("decision".to_owned(), json!("deny"));
            whole.insert("reason".to_owned(), json!(said));
        }
        // Its newest releases take no output in the place of a tool's.
        (Host::Codex, Some(_)) | (_, None) => {}
    }
    if !specific.is_empty() {
        specific.insert("hookEventName".to_owned(), json!(wanted.event));
        whole.insert("hookSpecificOutput".to_owned(), Value::Object(specific));
    }
    if whole.is_empty() {
        return String::new();
    }
    format!("{}\n", Value::Object(whole))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(host: Host, event: &str, answer: &Answer) -> Value {
        let said = render(host, host.event(event).unwrap(), answer);
        if said.is_empty() {
            return Value::Null;
        }
        serde_json::from_str(&said).unwrap()
    }

    #[test]
    fn each_program_hears_its_own_form() {
        let text = Answer {
            context: "x".to_owned(),
            output: None,
        };
        for (host, event) in [
            (Host::ClaudeCode, "SessionStart"),
            (Host::ClaudeCode, "PostToolUseFailure"),
            (Host::Codex, "UserPromptSubmit"),
            (Host::Codex, "PreToolUse"),
            (Host::Gemini, "BeforeAgent"),
        ] {
            let expected =
                json!({"hookSpecificOutput": {"hookEventName": event, "additionalContext": "x"}});
            assert_eq!(said(host, event, &text), expected);
            assert_eq!(said(host, event, &Answer::default()), Value::Null);
        }
        for (host, event) in [
            (Host::ClaudeCode, "Stop"),
            (Host::Codex, "Stop"),
            (Host::Gemini, "AfterAgent"),
            (Host::Codex, "PreCompact"),
            (Host::ClaudeCode, "SessionEnd"),
        ] {
            assert_eq!(said(host, event, &text), Value::Null, "{event}");
        }
    }

    #[test]
    fn an_output_is_replaced_where_it_can_be() {
        let short = Answer {
            context: String::new(),
            output: Some(json!("short")),
        };
        assert_eq!(
            said(Host::ClaudeCode, "PostToolUse", &short),
            json!({"hookSpecificOutput": {"hookEventName": "PostToolUse", "updatedToolOutput": "short"}})
        );
        assert_eq!(
            said(Host::Gemini, "AfterTool", &short),
            json!({"decision": "deny", "reason": "short"})
        );
        assert_eq!(said(Host::Codex, "PostToolUse", &short), Value::Null);
    }
}
