//! Closing of errors by the tools of a run: the command or the test that failed passes later in the same task.

use super::Observer;
use crate::failures;
use crate::failures::PassEvidence;
use heirloom_engine::TASK_MAIN;
use heirloom_fs::project_fs;
use heirloom_model::event_stream::ToolAction;
use heirloom_model::kinds::ErrorRecord;
use heirloom_model::{Fault, Record};
use std::path::Path;

/// Tool that ended.
#[derive(Debug)]
pub(super) struct FinishedTool {
    action: ToolAction,
    has_failed: bool,
}

impl FinishedTool {
    /// Creates a tool from its result in a stream.
    pub(super) fn new(action: &ToolAction, has_failed: bool) -> Self {
        Self {
            action: action.clone(),
            has_failed,
        }
    }

    /// Creates the tool that changed a file.
    pub(super) fn of_file(path: &str) -> Self {
        Self {
            action: ToolAction {
                files: vec![path.to_owned()],
                ..ToolAction::default()
            },
            has_failed: false,
        }
    }
}

impl Observer<'_> {
    /// Closes the errors of the task about which a tool is evidence, and remembers what the tool changed. Errors are
    /// the store's; then nothing was remembered, and the tool can be processed again.
    pub(super) fn process_tool(&mut self, tool: &FinishedTool) -> Result<(), Fault> {
        let action = &tool.action;
        if let Some(command) = &action.command {
            let command = &*self.engine.redaction().redact_input(command);
            let now = self.engine.now();
            if action.is_background {
                if !tool.has_failed {
                    self.changes.add(&failures::background_change(command), now);
                }
                return Ok(());
            }
            self.close_errors(command, &action.output, tool.has_failed)?;
            if !tool.has_failed {
                for change in failures::command_changes(command) {
                    self.changes.add(&change, now);
                }
            }
        }
        for file in action.files.iter().filter(|_| !tool.has_failed) {
            self.remember_edit(file);
        }
        Ok(())
    }

    fn close_errors(&mut self, command: &str, output: &str, has_failed: bool) -> Result<(), Fault> {
        // The agent's folder is unknown; only an absolute `cd` tells it.
        let folder = failures::folder_of_command(self.engine.root(), Some(""), command)
            .filter(|_| command.trim_start().starts_with("cd /"));
        if has_failed {
            self.failed_runs.add(command, folder.as_deref(), output);
        }
        let evidence = PassEvidence::of_command(command, folder, output, has_failed);
        if evidence.is_empty() {
            return Ok(());
        }
        let is_gone = |error: &Record| evidence.closes(error);
        let change_of = |error: &Record| {
            self.changes
                .resolution_since(ErrorRecord::last_failed_at(error))
        };
        let task = self.scope.task.as_deref();
        // Errors without a task belong to the main one.
        let tasks: &[Option<&str>] = match task {
            None | Some(TASK_MAIN) => &failures::tasks_of_session(),
            Some(_) => &[task],
        };
        failures::close_errors(self.engine, tasks, &is_gone, &change_of, &self.source).map(drop)
    }

    fn remember_edit(&mut self, file: &str) {
        let root = self.engine.root();
        let inside = project_fs::normalise_project_path(root, file);
        let name = match &inside {
            Ok(inside) => inside.as_str(),
            // A file outside of the project may matter too, such as a configuration of the user.
            Err(_) => Path::new(file)
                .file_name()
                .and_then(|name| name.to_str())
                .unwrap_or_default(),
        };
        if !name.is_empty() {
            let name = self.engine.redaction().redact_input(name).into_owned();
            let now = self.engine.now();
            self.changes.add(&format!("edited `{name}`"), now);
        }
    }
}
