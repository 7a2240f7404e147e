//! Hook protocol: the events of each program, and what its answers can do.

use super::answer_fields::AnswerFields;
use super::json_members::JsonMembers;
use crate::AgentProgram;
use serde_json::Value;
use std::borrow::Cow;

/// Kind of a hook event, independent of the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum HookEventKind {
    /// A session starts, resumes, or restarts after a compaction.
    SessionStart,
    /// A prompt was submitted.
    Prompt,
    /// A tool is about to be used.
    BeforeTool,
    /// A tool was used.
    AfterTool,
    /// A tool was used and failed.
    ToolFailed,
    /// The conversation is about to be compacted.
    BeforeCompaction,
    /// A turn ends.
    TurnEnd,
    /// A subagent begins.
    SubagentStart,
    /// A subagent ends.
    SubagentEnd,
    /// The session ends.
    SessionEnd,
}

/// Specification of one hook event that an installation subscribes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HookSpec {
    /// Name of the event in the program.
    pub event: &'static str,
    /// Kind of the event.
    pub kind: HookEventKind,
    /// True if an answer can add text to the model's context.
    pub can_inject: bool,
    /// Tools for which the hook is called; `None` means all.
    pub matcher: Option<&'static str>,
    /// Timeout of the hook, in the program's own unit.
    pub timeout: u32,
}

/// Returns the specification of an event for all tools.
pub(crate) const fn spec(
    event: &'static str,
    kind: HookEventKind,
    can_inject: bool,
    timeout: u32,
) -> HookSpec {
    HookSpec {
        event,
        kind,
        can_inject,
        matcher: None,
        timeout,
    }
}

/// Restricts a specification to some tools.
pub(crate) const fn for_tools(spec: HookSpec, matcher: &'static str) -> HookSpec {
    HookSpec {
        matcher: Some(matcher),
        ..spec
    }
}

/// Hook events and answers of one program.
pub struct HookProtocol {
    /// Events that an installation subscribes to. Other events are not worth the cost of a process.
    pub(crate) specs: &'static [HookSpec],
    /// Gives the members of an event their usual names; `None` if they have them.
    pub(crate) prepare_members: Option<for<'a> fn(&mut JsonMembers<'a>)>,
    /// Returns true for an event whose answer is not read, although that of other events with its name is.
    pub(crate) drops_answer: for<'a, 'b> fn(&'b JsonMembers<'a>) -> bool,
    /// Returns the program that sent an event, if it is another one that reads the settings of this one.
    pub(crate) other_sender: for<'a, 'b> fn(&'b JsonMembers<'a>) -> Option<AgentProgram>,
    /// Adds text for the model to an answer; `None` for the usual field of `hookSpecificOutput`.
    pub(crate) set_context: Option<fn(&str, &mut AnswerFields)>,
    /// True if the response of a tool is JSON in a string.
    pub(crate) has_json_output: bool,
    /// Removes what the program adds to the output of a tool.
    pub(crate) clean_output: for<'t> fn(&'t str) -> Cow<'t, str>,
    /// Adds a replacement of a tool's output to an answer; `None` if the program cannot replace it.
    pub(crate) replace_output: Option<fn(&Value, &mut AnswerFields)>,
    /// Adds a request to the agent to an answer at the end of a turn. The program gives it to the agent as a prompt and
    /// marks the next end of a turn, so that no request loops. `None` if the program has no such answer.
    pub(crate) ask_agent: Option<fn(&str, &mut AnswerFields)>,
    /// Returns the exit code that the program writes into a line of a command's output.
    pub(crate) exit_code_line: Option<fn(&str) -> Option<i64>>,
    /// True if the program shows the field `systemMessage` of an answer to the person.
    pub(crate) shows_notices: bool,
    /// True if responses have a field `error`, filled for a failure.
    pub(crate) has_error_field: bool,
    /// True if the events tell the outcome of every command.
    pub(crate) reports_outcomes: bool,
    /// Returns the agent's messages in a line of the transcript; the flag selects those of subagents. `None` if the
    /// transcript is not line-based and messages arrive with events.
    pub(crate) messages_of_line: Option<fn(&str, bool) -> Vec<String>>,
    /// Variable from which it is known that a script started the program.
    pub(crate) script_variable: Option<ScriptVariable>,
    /// True if transcripts mark the lines of subagents.
    pub(crate) marks_subagent_lines: bool,
    /// Transcript that the program writes some time after the events; `None` if it writes before it calls a hook.
    pub(crate) late_transcript: Option<LateTranscript>,
}

/// Variable of a program, and a function that returns true for its value if no person is at the program.
pub(crate) type ScriptVariable = (&'static str, fn(&str) -> bool);

/// Transcript that a program writes late.
pub(crate) struct LateTranscript {
    /// Name of its files.
    pub(crate) file: &'static str,
    /// Returns true for the line that the program writes last before it calls the hook of an event.
    pub(crate) is_current: fn(&str, &str) -> bool,
}

impl HookProtocol {
    /// Returns a protocol with these events that adds nothing to texts and reports the outcome of every tool.
    pub(crate) const fn new(specs: &'static [HookSpec]) -> Self {
        Self {
            specs,
            prepare_members: None,
            drops_answer: |_| false,
            other_sender: |_| None,
            set_context: None,
            has_json_output: false,
            clean_output: |text| Cow::Borrowed(text),
            replace_output: None,
            ask_agent: None,
            exit_code_line: None,
            shows_notices: false,
            has_error_field: false,
            reports_outcomes: true,
            messages_of_line: None,
            script_variable: None,
            marks_subagent_lines: false,
            late_transcript: None,
        }
    }
}

impl AgentProgram {
    /// Returns the program with hooks that has this name.
    pub fn hook_program(name: &str) -> Option<Self> {
        Self::with_hooks().find(|program| program.as_str() == name)
    }

    /// Returns the events that an installation subscribes to.
    pub fn hook_specs(self) -> &'static [HookSpec] {
        self.hooks().map_or(&[], |hooks| hooks.specs)
    }

    /// Returns true if hook events report failed tools; otherwise failures are found in the transcript.
    pub fn reports_failures(self) -> bool {
        self.hooks().is_none_or(|hooks| hooks.reports_outcomes)
    }

    /// Returns true if an answer at the end of a turn can ask the agent for something, once.
    pub fn can_ask_agent(self) -> bool {
        self.hooks().is_some_and(|hooks| hooks.ask_agent.is_some())
    }

    /// Returns true if the environment of a hook shows that a script or another agent started the program.
    pub fn is_run_by_script<'v>(self, variable: impl Fn(&str) -> Option<&'v str>) -> bool {
        let known = self.hooks().and_then(|hooks| hooks.script_variable);
        known.is_some_and(|(name, is_script)| variable(name).is_some_and(is_script))
    }

    /// Returns true if transcripts mark the lines of subagents.
    pub fn marks_subagent_lines(self) -> bool {
        self.hooks().is_some_and(|hooks| hooks.marks_subagent_lines)
    }

    /// Returns true if the program writes this transcript some time after the events.
    pub fn writes_late(self, transcript: &str) -> bool {
        let late = self
            .hooks()
            .and_then(|hooks| hooks.late_transcript.as_ref());
        late.is_some_and(|late| {
            transcript.rsplit(std::path::is_separator).next() == Some(late.file)
        })
    }

    /// Returns true if a transcript that is written late has everything before an event, by its last line.
    pub fn is_transcript_current(self, event: &str, last_line: &[u8]) -> bool {
        let late = self
            .hooks()
            .and_then(|hooks| hooks.late_transcript.as_ref());
        late.is_none_or(|late| {
            let line = std::str::from_utf8(last_line);
            line.is_ok_and(|line| (late.is_current)(event, line))
        })
    }

    /// Returns the specification of the event with this name; `None` if installations do not subscribe to it.
    pub fn hook_spec(self, name: &str) -> Option<&'static HookSpec> {
        self.hook_specs().iter().find(|spec| spec.event == name)
    }
}

/// Continues the turn of an agent with a request, as Claude Code and Codex take it.
pub(crate) fn block_end_of_turn(request: &str, answer: &mut AnswerFields) {
    answer.set("decision", Value::from("block"));
    answer.set("reason", Value::from(request));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn specs_are_found_by_name() {
        for program in AgentProgram::with_hooks() {
            assert_eq!(AgentProgram::hook_program(program.as_str()), Some(program));
            for spec in program.hook_specs() {
                assert_eq!(program.hook_spec(spec.event), Some(spec));
            }
        }
        assert_eq!(AgentProgram::Gemini.hook_spec("Stop"), None);
        assert_eq!(AgentProgram::hook_program("vscode"), None);
        assert_eq!(AgentProgram::hook_program("aider"), None);
    }

    #[test]
    fn hook_specs_of_ending_events_cannot_inject() {
        for program in AgentProgram::with_hooks() {
            for spec in program.hook_specs() {
                use HookEventKind::{BeforeCompaction, SessionEnd, SubagentEnd, TurnEnd};
                if matches!(
                    spec.kind,
                    TurnEnd | SubagentEnd | BeforeCompaction | SessionEnd
                ) {
                    assert!(!spec.can_inject, "{spec:?}");
                }
            }
        }
    }
}
