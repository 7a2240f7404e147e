//! Answers to tool calls: warnings before a call, and what is recorded or shortened after it.

use super::session_state::HookSessionState;
use super::{HookRequest, Hooks, failure_warning};
use heirloom_agents::failures::Subject;
use heirloom_agents::failures::command_result::CommandShape;
use heirloom_agents::hooks::{HookAnswer, ToolUse, shorten_texts};
use heirloom_engine::{Engine, TASK_MAIN};
use heirloom_fs::project_fs;
use heirloom_model::text::EscapedPath;
use heirloom_model::{Fault, Scope, limits, text};
use heirloom_store::Change;
use heirloom_window::Policy;
use std::path::Path;

impl Hooks<'_> {
    pub(super) fn before_tool(
        &self,
        request: &HookRequest<'_>,
        state: &mut HookSessionState,
    ) -> Result<HookAnswer, Fault> {
        let Some(tool) = &request.event.tool else {
            return Ok(HookAnswer::default());
        };
        let mut lines = Vec::new();
        for subject in failure_subjects(self.engine, request, tool) {
            let Some(record) = self.failure_of(&subject)? else {
                continue;
            };
            // Also if it was told before: it is about to happen now. What the session did itself is in its conversation.
            if !self.is_own(&record, request) && state.mark_warned(&subject.prefix()) {
                lines.push(failure_warning::warning(&record));
                state.mark_delivered([record.id]);
            }
        }
        Ok(self.build_answer(&lines.join("\n"), limits::HOOK_TEXT_CHARS_MAX))
    }

    pub(super) fn after_tool(
        &self,
        request: &HookRequest<'_>,
        tool: &ToolUse,
        state: &mut HookSessionState,
    ) -> Result<HookAnswer, Fault> {
        self.ingest_signals(request, state)?;
        let answer = self.record_tool_outcome(request, tool, state)?;
        if tool.failure.is_some() {
            return Ok(answer);
        }
        let output = match (request.shorten, &tool.response) {
            (Some(policy), Some(response)) => self.shortened_output(tool, response, policy)?,
            _ => None,
        };
        Ok(HookAnswer {
            replacement_output: output,
            ..answer
        })
    }

    /// Records the files that the session changed for the first time.
    pub(super) fn record_changed_files(
        &self,
        request: &HookRequest<'_>,
        subjects: &[Subject],
        state: &mut HookSessionState,
    ) -> Result<(), Fault> {
        let files = subjects.iter().filter_map(|subject| match subject {
            Subject::Edit(file) => Some(file.as_str()),
            Subject::Command(_) => None,
        });
        let mut new_files: Vec<&str> = Vec::new();
        for file in files.filter(|file| !state.has_file(file)) {
            // Files from a transcript are recorded without a task.
            if !crate::Transcripts::new(self.engine).has_file(file, None)? {
                new_files.push(file);
            }
        }
        if new_files.is_empty() {
            return Ok(());
        }
        let source = request.host.as_str();
        let scope = Scope {
            task: Some(TASK_MAIN.to_owned()),
            ..request.scope()
        };
        let scope = self.engine.redaction().redact_scope(scope);
        let changes = new_files.iter().map(|file| {
            self.engine.tasks().file_change(
                self.engine.redaction().redact_text(file).as_text(),
                scope.clone(),
                source,
            )
        });
        self.engine.apply(&changes.collect::<Vec<Change>>())?;
        for file in new_files {
            state.add_file(file);
        }
        Ok(())
    }

    /// Returns the output with previews in place of long texts, which are stored in full first.
    fn shortened_output(
        &self,
        tool: &ToolUse,
        response: &serde_json::Value,
        policy: &Policy,
    ) -> Result<Option<serde_json::Value>, Fault> {
        if policy.is_critical(&tool.name) {
            return Ok(None);
        }
        let (most, preview) = policy.lengths(&tool.name);
        let mut problem = None;
        let short = shorten_texts(response, most, &mut |whole| match self
            .engine
            .window()
            .store_output(&tool.name, whole)
        {
            Ok((id, path)) => Some(preview_of(whole, preview, &id, &path)),
            Err(fault) => {
                problem = Some(fault);
                None
            }
        });
        match problem {
            Some(fault) => Err(fault),
            None => Ok(short),
        }
    }
}

/// Returns the actions of a tool call that may fail: a command, edits of files.
pub(super) fn failure_subjects(
    engine: &Engine,
    request: &HookRequest<'_>,
    tool: &ToolUse,
) -> Vec<Subject> {
    let mut subjects = Vec::new();
    if let Some(command) = tool
        .command
        .as_deref()
        .filter(|text| !CommandShape::parse(text).is_lookup())
    {
        subjects.push(Subject::Command(
            engine.redaction().redact_input(command).into_owned(),
        ));
    }
    let cwd = request.event.cwd.as_deref().map(Path::new);
    for file in &tool.files {
        let absolute = match cwd {
            Some(cwd) if Path::new(file).is_relative() => cwd.join(file),
            _ => file.into(),
        };
        let inside = project_fs::normalise_project_path(engine.root(), &absolute.to_string_lossy());
        if let Ok(inside) = inside {
            subjects.push(Subject::Edit(
                engine.redaction().redact_input(&inside).into_owned(),
            ));
        }
    }
    subjects
}

/// Returns the beginning and end of a text, and the path of the full text.
fn preview_of(whole: &str, chars: usize, id: &str, path: &Path) -> String {
    let half = chars / 2;
    let (head, tail) = (text::clip(whole, half), text::clip_start(whole, half));
    let left_out = text::chars(whole).saturating_sub(text::chars(head) + text::chars(tail));
    format!(
        "{head}\n[… {left_out} characters are left out here; all of it: {}, or `heirloom expand {id}`]\n{tail}",
        path.to_escaped()
    )
}
