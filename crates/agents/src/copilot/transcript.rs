//! Conversations of GitHub Copilot CLI: `events.jsonl` in a folder for each session; a line is an event.

use super::hooks::{clean_output, exit_code_line};
use crate::json_fields::{
    Field, as_count, as_integer, as_keyword, as_nonblank_string, as_object, as_string, as_time,
    for_each_element, is_true, parse_object,
};
use crate::transcripts::transcript_format::{EventReader, NoScan, TranscriptFormat};
use crate::transcripts::{
    EventBody, EventSink, FileEdit, ToolAction, ToolOutcome, TranscriptEvent, TranscriptHeader,
    TurnAuthor, call_line, patched_files,
};
use crate::{AgentProgram, ProgramFolder};
use heirloom_model::event_stream::Usage;
use serde::Deserialize;

/// Stored conversations.
pub(crate) const TRANSCRIPTS: TranscriptFormat = TranscriptFormat {
    folders: &[ProgramFolder {
        variable: Some("COPILOT_HOME"),
        below_home: ".copilot",
        inside: "session-state",
    }],
    clean_output,
    read_only_tools: &["view", "grep", "glob", "rg", "report_intent", "update_todo"],
    ..TranscriptFormat::new(
        read_header,
        || Box::new(NoScan(Copilot)),
        |_, name| name == "events.jsonl",
    )
};

/// A line.
#[derive(Deserialize)]
struct CopilotLine<'a> {
    #[serde(borrow, rename = "type")]
    kind: Field<'a>,
    #[serde(borrow)]
    id: Field<'a>,
    #[serde(borrow)]
    timestamp: Field<'a>,
    #[serde(borrow)]
    data: Field<'a>,
}

/// Content of an event, with the fields of all kinds.
#[derive(Deserialize)]
struct EventData<'a> {
    #[serde(borrow, rename = "sessionId")]
    session: Field<'a>,
    #[serde(borrow, rename = "startTime")]
    started: Field<'a>,
    #[serde(borrow)]
    context: Field<'a>,
    #[serde(borrow)]
    cwd: Field<'a>,
    #[serde(borrow)]
    content: Field<'a>,
    #[serde(borrow)]
    source: Field<'a>,
    #[serde(borrow, rename = "summaryContent")]
    summary: Field<'a>,
    #[serde(borrow, rename = "toolRequests")]
    requests: Field<'a>,
    #[serde(borrow, rename = "parentToolCallId")]
    parent: Field<'a>,
    #[serde(borrow, rename = "toolCallId")]
    call: Field<'a>,
    #[serde(borrow)]
    name: Field<'a>,
    #[serde(borrow)]
    arguments: Field<'a>,
    #[serde(borrow)]
    success: Field<'a>,
    #[serde(borrow)]
    result: Field<'a>,
    #[serde(borrow)]
    error: Field<'a>,
    #[serde(borrow)]
    message: Field<'a>,
    #[serde(borrow)]
    code: Field<'a>,
    #[serde(borrow, rename = "shellExecution")]
    shell: Field<'a>,
    #[serde(borrow, rename = "exitCode")]
    exit_code: Field<'a>,
    #[serde(borrow)]
    usage: Field<'a>,
}

/// Arguments of the tools that change files or run commands.
#[derive(Deserialize)]
struct CallArguments<'a> {
    #[serde(borrow)]
    command: Field<'a>,
    #[serde(borrow)]
    path: Field<'a>,
    #[serde(borrow)]
    file_text: Field<'a>,
    #[serde(borrow)]
    old_str: Field<'a>,
    #[serde(borrow)]
    new_str: Field<'a>,
    #[serde(borrow)]
    input: Field<'a>,
}

/// Tokens of one answer.
#[derive(Deserialize)]
struct TokenCounts<'a> {
    #[serde(borrow, rename = "inputTokens")]
    input: Field<'a>,
    #[serde(borrow, rename = "cacheReadTokens")]
    cached: Field<'a>,
    #[serde(borrow, rename = "outputTokens")]
    output: Field<'a>,
}

fn read_header(text: &str, head: &mut TranscriptHeader) -> bool {
    let Ok(line) = parse_object::<CopilotLine<'_>>(text) else {
        return false;
    };
    let data = as_object::<EventData<'_>>(line.data);
    let Some(data) = data.filter(|_| as_keyword(line.kind) == "session.start") else {
        return false;
    };
    head.session = as_nonblank_string(data.session);
    let context = as_object::<EventData<'_>>(data.context);
    head.folder = context.and_then(|context| as_nonblank_string(context.cwd));
    head.began = as_time(data.started).or_else(|| as_time(line.timestamp));
    true
}

/// Event parser of a Copilot CLI transcript.
#[derive(Debug)]
struct Copilot;

impl EventReader for Copilot {
    fn read_line(&mut self, at: u64, text: &str, out: EventSink<'_>) -> Option<()> {
        let line: CopilotLine<'_> = parse_object(text).ok()?;
        let Some(data) = as_object::<EventData<'_>>(line.data) else {
            return Some(());
        };
        let id = as_nonblank_string(line.id).unwrap_or_else(|| at.to_string());
        let when = as_time(line.timestamp);
        // A subagent is known by the call that started it.
        let agent = as_nonblank_string(data.parent);
        // A skill and the program itself name themselves as the source of a message.
        let author = match as_keyword(data.source) {
            "" | "user" => TurnAuthor::Person,
            _ => TurnAuthor::Other,
        };
        let mut emit = |id: String, body: EventBody| {
            out(TranscriptEvent {
                id,
                at: when,
                agent: agent.clone(),
                author,
                body,
            });
        };
        match as_keyword(line.kind) {
            "user.message" => {
                let prompt = as_string(data.content).unwrap_or_default();
                let words = AgentProgram::Copilot.person_text(&prompt);
                if !words.trim().is_empty() {
                    emit(id, EventBody::Prompt(words.trim().to_owned()));
                }
            }
            "assistant.message" => {
                if let Some(said) = as_nonblank_string(data.content) {
                    emit(id.clone(), EventBody::AssistantText(said));
                }
                for_each_element(data.requests, &mut |raw| {
                    if let Some(request) = as_object::<EventData<'_>>(Some(raw)) {
                        let call = as_nonblank_string(request.call).unwrap_or_else(|| id.clone());
                        let tool = as_string(request.name).unwrap_or_default();
                        let action = tool_action(&tool, request.arguments);
                        let name = format!("call {call}");
                        emit(name, EventBody::Call { call, tool, action });
                    }
                });
            }
            "tool.execution_complete" => {
                let call = as_nonblank_string(data.call).unwrap_or(id);
                let (outcome, text) = tool_result(&data);
                let name = format!("result {call}");
                let body = EventBody::Result {
                    call,
                    outcome,
                    text,
                };
                emit(name, body);
            }
            "session.compaction_complete" => {
                if let Some(summary) = as_nonblank_string(data.summary) {
                    emit(id, EventBody::Summary(summary));
                }
            }
            "session.usage_record" => {
                if let Some(tokens) = as_object::<TokenCounts<'_>>(data.usage) {
                    let cached = as_count(tokens.cached);
                    let used = Usage {
                        input: as_count(tokens.input).saturating_sub(cached),
                        cached,
                        output: as_count(tokens.output),
                    };
                    emit(id, EventBody::TokenUsage(used));
                }
            }
            _ => {}
        }
        Some(())
    }
}

/// Returns the purpose of a call.
fn tool_action(tool: &str, arguments: Field<'_>) -> ToolAction {
    let read = as_object::<CallArguments<'_>>(arguments);
    let action = read.and_then(|read| match tool {
        "bash" | "powershell" => as_nonblank_string(read.command).map(ToolAction::Command),
        "create" | "edit" | "str_replace_editor" => {
            let path = as_nonblank_string(read.path)?;
            let removed = as_string(read.old_str).unwrap_or_default();
            let added = as_string(read.new_str).or_else(|| as_string(read.file_text));
            let edit = FileEdit::replacing(path, &removed, &added.unwrap_or_default());
            Some(ToolAction::Edit(vec![edit]))
        }
        "apply_patch" => {
            let patch = as_nonblank_string(read.input)?;
            Some(patched_files(&patch))
                .filter(|files| !files.is_empty())
                .map(ToolAction::Edit)
        }
        _ => None,
    });
    action.unwrap_or_else(|| ToolAction::Other(call_line(arguments.map_or("", |raw| raw.get()))))
}

/// Returns the outcome of a tool and its output.
fn tool_result(data: &EventData<'_>) -> (ToolOutcome, String) {
    if !is_true(data.success) {
        let error = as_object::<EventData<'_>>(data.error);
        let is_denied = error
            .as_ref()
            .is_some_and(|error| matches!(as_keyword(error.code), "rejected" | "denied"));
        let text = error.and_then(|error| as_string(error.message));
        let outcome = match is_denied {
            true => ToolOutcome::Rejected,
            false => ToolOutcome::Failed,
        };
        return (outcome, text.unwrap_or_default());
    }
    let result = as_object::<EventData<'_>>(data.result);
    let text = result.and_then(|result| as_string(result.content));
    let text = without_guidance(&text.unwrap_or_default());
    let shell = as_object::<EventData<'_>>(data.shell);
    let code = shell.and_then(|shell| as_integer(shell.exit_code));
    let code = code.or_else(|| exit_code_line(&text));
    let outcome = match code {
        Some(code) if code != 0 => ToolOutcome::Failed,
        Some(_) | None => ToolOutcome::Succeeded,
    };
    (outcome, text)
}

/// Removes what hooks added to an output.
fn without_guidance(text: &str) -> String {
    let added = text.rfind("\n\nTool \"").filter(|at| {
        let line = text[at + 2..].lines().next().unwrap_or_default();
        line.ends_with(" Additional guidance from postToolUse hooks:")
    });
    text[..added.unwrap_or(text.len())].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn events(lines: &[&str]) -> Vec<TranscriptEvent> {
        let mut all = Vec::new();
        for (n, line) in lines.iter().enumerate() {
            let read = Copilot.read_line(n as u64, line, &mut |event| all.push(event));
            assert!(read.is_some(), "{line}");
        }
        all
    }

    #[test]
    fn header_is_that_of_the_session_start() {
        let line = r#"{"type":"session.start","data":{"sessionId":"s1","startTime":"2026-11-27T19:45:29.767Z","context":{"cwd":"/p","branch":"main"}},"id":"e0"}"#;
        let mut head = TranscriptHeader::default();
        assert!(!read_header(
            r#"{"type":"hook.start","data":{}}"#,
            &mut head
        ));
        assert!(read_header(line, &mut head));
        assert_eq!(head.session.as_deref(), Some("s1"));
        assert_eq!(head.folder.as_deref(), Some("/p"));
        assert!(head.began.is_some());
    }

    #[test]
    fn events_of_a_session_are_read() {
        let read = events(&[
            r#"{"type":"user.message","data":{"content":"Fix it","transformedContent":"<system_reminder>x</system_reminder>"},"id":"e1"}"#,
            r#"{"type":"assistant.message","data":{"content":"I run it.","toolRequests":[{"toolCallId":"c1","name":"bash","arguments":{"command":"make"}},{"toolCallId":"c2","name":"edit","arguments":{"path":"a.rs","old_str":"x","new_str":"y"}}]},"id":"e2"}"#,
            r#"{"type":"tool.execution_complete","data":{"toolCallId":"c1","success":true,"shellExecution":{"exitCode":2},"result":{"content":"no rule\n<shellId: 0 completed with exit code 2>\n\nTool \"bash\" succeeded. Additional guidance from postToolUse hooks:\n<heirloom-memory>x</heirloom-memory>"}},"id":"e3"}"#,
            r#"{"type":"tool.execution_complete","data":{"toolCallId":"c2","success":false,"error":{"message":"no match","code":"failure"}},"id":"e4"}"#,
            r#"{"type":"assistant.message","data":{"content":"aside","parentToolCallId":"c9"},"id":"e5"}"#,
            r#"{"type":"session.shutdown","data":{},"id":"e6"}"#,
        ]);
        let bodies: Vec<_> = read.iter().map(|event| &event.body).collect();
        assert_eq!(bodies[0], &EventBody::Prompt("Fix it".to_owned()));
        assert_eq!(bodies[1], &EventBody::AssistantText("I run it.".to_owned()));
        assert!(
            matches!(bodies[2], EventBody::Call { action: ToolAction::Command(command), .. } if command == "make")
        );
        assert!(
            matches!(bodies[3], EventBody::Call { action: ToolAction::Edit(files), .. } if files[0].path == "a.rs")
        );
        assert!(
            matches!(bodies[4], EventBody::Result { outcome: ToolOutcome::Failed, text, .. } if !text.contains("heirloom"))
        );
        assert!(
            matches!(bodies[5], EventBody::Result { outcome: ToolOutcome::Failed, text, .. } if text == "no match")
        );
        assert_eq!(read[6].agent.as_deref(), Some("c9"));
        assert_eq!(read.len(), 7);
    }
}
