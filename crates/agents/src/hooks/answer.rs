//! Rendering of hook answers in the format of each program.

use super::answer_fields::AnswerFields;
use super::protocol::{HookEventKind, HookSpec};
use crate::AgentProgram;
use serde_json::{Value, json};

/// Answer to a hook event.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct HookAnswer {
    /// Text for the model; may be empty.
    pub context: String,
    /// Replacement for the tool's output.
    pub replacement_output: Option<Value>,
    /// Request to the agent at the end of its turn.
    pub request: Option<String>,
    /// Line for the person, not for the model.
    pub notice: Option<String>,
}

/// Renders an answer as the program expects it; an empty string, which every program accepts, if there is nothing to
/// answer.
///
/// Uses only keys that the program knows, because Codex rejects others. Renders no text for an event that cannot
/// inject any, and a request only at the end of a turn.
pub fn render_answer(program: AgentProgram, spec: &HookSpec, answer: &HookAnswer) -> String {
    let mut fields = AnswerFields::default();
    let ask_agent = program.hooks().and_then(|hooks| hooks.ask_agent);
    if let (Some(request), Some(ask_agent), HookEventKind::TurnEnd) =
        (&answer.request, ask_agent, spec.kind)
    {
        ask_agent(request, &mut fields);
        return format!("{}\n", Value::Object(fields.whole));
    }
    if !spec.can_inject {
        return String::new();
    }
    let mut context = answer.context.clone();
    if let Some(notice) = &answer.notice {
        if program.hooks().is_some_and(|hooks| hooks.shows_notices) {
            fields.set("systemMessage", json!(notice));
        } else {
            // The agent is the only one who can pass it on.
            context = match context.is_empty() {
                true => notice.clone(),
                false => format!("{notice}\n\n{context}"),
            };
        }
    }
    if !context.is_empty() {
        match program.hooks().and_then(|hooks| hooks.set_context) {
            Some(set_context) => set_context(&context, &mut fields),
            None => fields.set_specific("additionalContext", json!(context)),
        }
    }
    let replace = program.hooks().and_then(|hooks| hooks.replace_output);
    if let (Some(output), Some(replace)) = (&answer.replacement_output, replace) {
        replace(output, &mut fields);
    }
    if !fields.specific.is_empty() {
        fields.set_specific("hookEventName", json!(spec.event));
        let specific = std::mem::take(&mut fields.specific);
        fields.set("hookSpecificOutput", Value::Object(specific));
    }
    if fields.whole.is_empty() {
        return String::new();
    }
    format!("{}\n", Value::Object(fields.whole))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rendered(program: AgentProgram, event: &str, answer: &HookAnswer) -> Value {
        let rendered = render_answer(program, program.hook_spec(event).unwrap(), answer);
        if rendered.is_empty() {
            return Value::Null;
        }
        serde_json::from_str(&rendered).unwrap()
    }

    #[test]
    fn render_answer_context_in_format_of_program() {
        let text = HookAnswer {
            context: "x".to_owned(),
            ..HookAnswer::default()
        };
        for (program, event) in [
            (AgentProgram::ClaudeCode, "SessionStart"),
            (AgentProgram::ClaudeCode, "PostToolUseFailure"),
            (AgentProgram::Codex, "UserPromptSubmit"),
            (AgentProgram::Codex, "PreToolUse"),
            (AgentProgram::Gemini, "BeforeAgent"),
        ] {
            let expected =
                json!({"hookSpecificOutput": {"hookEventName": event, "additionalContext": "x"}});
            assert_eq!(rendered(program, event, &text), expected);
            assert_eq!(
                rendered(program, event, &HookAnswer::default()),
                Value::Null
            );
        }
        for (program, event) in [
            (AgentProgram::ClaudeCode, "Stop"),
            (AgentProgram::Codex, "Stop"),
            (AgentProgram::Gemini, "AfterAgent"),
            (AgentProgram::Codex, "PreCompact"),
            (AgentProgram::ClaudeCode, "SessionEnd"),
        ] {
            assert_eq!(rendered(program, event, &text), Value::Null, "{event}");
        }
    }

    #[test]
    fn render_answer_replaces_output_where_supported() {
        let short = HookAnswer {
            replacement_output: Some(json!("short")),
            ..HookAnswer::default()
        };
        assert_eq!(
            rendered(AgentProgram::ClaudeCode, "PostToolUse", &short),
            json!({"hookSpecificOutput": {"hookEventName": "PostToolUse", "updatedToolOutput": "short"}})
        );
        assert_eq!(
            rendered(AgentProgram::Gemini, "AfterTool", &short),
            json!({"decision": "deny", "reason": "short"})
        );
        assert_eq!(
            rendered(AgentProgram::Codex, "PostToolUse", &short),
            Value::Null
        );
    }

    #[test]
    fn render_answer_asks_at_end_of_turn_where_supported() {
        let request = HookAnswer {
            request: Some("note it".to_owned()),
            ..HookAnswer::default()
        };
        let block = json!({"decision": "block", "reason": "note it"});
        for (program, event, expected) in [
            (AgentProgram::ClaudeCode, "Stop", block.clone()),
            (AgentProgram::Codex, "Stop", block),
            (AgentProgram::ClaudeCode, "SubagentStop", Value::Null),
            (AgentProgram::ClaudeCode, "PostToolUse", Value::Null),
            (AgentProgram::ClaudeCode, "SessionEnd", Value::Null),
            (AgentProgram::Gemini, "AfterAgent", Value::Null),
            (AgentProgram::Opencode, "session.idle", Value::Null),
        ] {
            assert_eq!(
                rendered(program, event, &request),
                expected,
                "{program} {event}"
            );
        }
    }
}
