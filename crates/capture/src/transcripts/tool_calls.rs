//! Tool calls in transcripts: calls, results and changed files.

use super::entry_ids::result_id;
use super::import_state::{FailureCause, OpenFailure};
use super::importer::{PendingCall, TranscriptImporter};
use crate::Transcripts;
use crate::failures::is_command_failure;
use crate::failures::{describe_failure, shortened, shortened_output};
use heirloom_agents::failures::{Subject, is_heirloom_command, is_probe};
use heirloom_agents::transcripts::{
    PlanItem, ToolAction, ToolOutcome, is_read_only_tool, without_injected_text,
};
use heirloom_engine::TASK_MAIN;
use heirloom_model::kinds::Artifact;
use heirloom_model::limits::{
    TRANSCRIPT_CALL_CHARS_MAX, TRANSCRIPT_CALLS_MAX, TRANSCRIPT_RESULT_CHARS_MAX,
    TRANSCRIPT_TEXT_CHARS_MAX,
};
use heirloom_model::record::Attrs;
use heirloom_model::{Fault, Kind, Role, Timestamp, text};
use heirloom_store::Filter;
use serde_json::json;

impl TranscriptImporter<'_, '_, '_> {
    pub(super) fn add_call(
        &mut self,
        call: String,
        tool: String,
        act: ToolAction,
        at: Timestamp,
        agent: Option<String>,
    ) {
        let (text, called) = match act {
            ToolAction::Command(command) => {
                let command = shortened(self.engine, &command, TRANSCRIPT_TEXT_CHARS_MAX);
                let text = text::excerpt(&command, TRANSCRIPT_CALL_CHARS_MAX);
                let called = match is_heirloom_command(&command) {
                    true => PendingCall::Own,
                    false => PendingCall::Command(command),
                };
                (text, called)
            }
            ToolAction::Edit(edits) => {
                let files: Vec<String> = edits.into_iter().map(|edit| edit.path).collect();
                (files.join(", "), PendingCall::Edit(files))
            }
            ToolAction::Plan(items) => (plan_line(&items), PendingCall::Other),
            ToolAction::Other(_) if tool.contains("heirloom") => (String::new(), PendingCall::Own),
            ToolAction::Other(text) => (text, PendingCall::Other),
        };
        let text = format!(
            "{tool}: {}",
            text::excerpt(&text, TRANSCRIPT_CALL_CHARS_MAX)
        );
        let mut attrs = Attrs::new();
        attrs.insert("call".to_owned(), json!(call));
        self.add_turn(
            Role::ToolCall,
            agent,
            text,
            attrs,
            &format!("call {call}"),
            at,
        );
        if self.calls.len() >= TRANSCRIPT_CALLS_MAX {
            self.calls.clear();
        }
        self.calls.insert(call, (tool, called));
    }

    pub(super) fn add_result(
        &mut self,
        call: &str,
        failed: ToolOutcome,
        text: &str,
        id: &str,
        at: Timestamp,
        agent: Option<String>,
    ) -> Result<(), Fault> {
        let (tool, called) = match self.calls.remove(call) {
            Some((tool, called)) => (tool, called),
            None => (String::new(), PendingCall::Other),
        };
        // Left out: contents of files, which are in the project, and results of edits, which are in their calls.
        let shows = failed == ToolOutcome::Succeeded
            && match &called {
                PendingCall::Command(command) => is_probe(command),
                PendingCall::Edit(_) => true,
                PendingCall::Own | PendingCall::Other => is_read_only_tool(&tool),
            };
        let is_left_out = shows || matches!(called, PendingCall::Own);
        let id = result_id(id, call).into_owned();
        match (called, failed) {
            (PendingCall::Command(command), ToolOutcome::Failed)
                if is_command_failure(&command, text) =>
            {
                let text = shortened_output(self.engine, text);
                let failure = describe_failure(&Subject::Command(command), &text);
                self.state.open(OpenFailure {
                    id: id.clone(),
                    at,
                    what: FailureCause::Command(failure),
                    agent: agent.clone(),
                });
            }
            (PendingCall::Command(command), ToolOutcome::Succeeded) => {
                self.handle_success(&command, text, at)?
            }
            (PendingCall::Edit(files), ToolOutcome::Succeeded) => {
                for file in files {
                    self.add_changed_file(&file, at, agent.as_deref())?;
                }
            }
            (
                PendingCall::Command(_)
                | PendingCall::Edit(_)
                | PendingCall::Own
                | PendingCall::Other,
                _,
            ) => {}
        }
        if is_left_out {
            return Ok(());
        }
        let text = without_injected_text(text);
        let text = shortened(self.engine, text.trim(), TRANSCRIPT_RESULT_CHARS_MAX);
        let mut attrs = Attrs::new();
        attrs.insert("call".to_owned(), json!(call));
        if failed != ToolOutcome::Succeeded {
            let how = if failed == ToolOutcome::Failed {
                "failed"
            } else {
                "stopped"
            };
            attrs.insert(how.to_owned(), json!(true));
        }
        let sender = agent.or(Some(tool).filter(|tool| !tool.is_empty()));
        self.add_turn(Role::ToolResult, sender, text, attrs, &id, at);
        Ok(())
    }

    /// Records a changed file once for each conversation.
    pub(super) fn add_changed_file(
        &mut self,
        named: &str,
        at: Timestamp,
        agent: Option<&str>,
    ) -> Result<(), Fault> {
        let Some(file) =
            crate::Transcripts::new(self.engine).file_inside(&self.base, &self.folder, named)
        else {
            return Ok(());
        };
        let is_new = self.files.insert(file.clone());
        if is_new && !crate::Transcripts::new(self.engine).has_file(&file, Some(TASK_MAIN))? {
            let scope = self.engine.redaction().redact_scope(self.scope(agent));
            let path = self.engine.redaction().redact_text(&file);
            let change =
                (self.engine)
                    .tasks()
                    .file_change(path.as_text(), scope, self.agent.as_str());
            let id = self.entry_id("file", &format!("{} {file}", self.session), at);
            self.queue_as(change, id, at);
        }
        Ok(())
    }
}

/// Returns the open items of a plan on one line, or the done ones if none is open.
fn plan_line(items: &[PlanItem]) -> String {
    let is_open = items.iter().any(|item| !item.is_done);
    let of_state = items.iter().filter(|item| item.is_done != is_open);
    of_state
        .map(|item| &*item.text)
        .collect::<Vec<_>>()
        .join("; ")
}

impl Transcripts<'_> {
    /// Returns true if the file is recorded for this task, or for none.
    pub(crate) fn has_file(&self, file: &str, task: Option<&str>) -> Result<bool, Fault> {
        let filter = Filter::current(&[Kind::Artifact], self.engine.now())
            .key(&Artifact::key(
                &self.engine.redaction().redact_input(file),
                task,
            ))
            .limit(1);
        Ok(!self.engine.records().find(&filter)?.is_empty())
    }
}
