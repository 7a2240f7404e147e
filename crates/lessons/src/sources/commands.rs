//! Commands that work: build, test, lint, code generation, trackers.

mod check;
mod check_cycle;
mod classification;
mod command_candidates;
mod command_form;
mod folder;
mod run_outcome;
mod tracker;
mod usage;

pub(crate) use check::is_static_check;
pub(super) use check::{Check, find_checks};

use crate::cues::{CommandCues, Cues};
use crate::event_place::{EventPlace, call_name};
use crate::shell_line::read_shell_line;
use check_cycle::CheckCycle;
use classification::classify_command;
use folder::{FolderTracker, is_folder_lost};
use heirloom_agents::failures::command_result::CommandShape;
use heirloom_agents::transcripts::{EventBody, ToolAction, ToolOutcome, TranscriptEvent};
use run_outcome::{CommandPosition, background_id, is_finished_background};
use serde::{Deserialize, Serialize};
use tracker::{TrackerUse, is_commit};
use usage::{FinishedRun, UsageTable};

/// Greatest number of calls without a result that are kept.
const PENDING_MAX: usize = 16;
/// Name of the tool whose shell keeps its folder between calls.
const SHELL_WITH_FOLDER: &str = "Bash";

/// A run of a command whose result is not known yet.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
struct PendingRun {
    /// Id of the call, or of the background task.
    call: String,
    /// Index of the form.
    usage: usize,
    /// The command as it was run; empty for a long one.
    line: String,
    /// True if it checks the project's quality.
    is_check: bool,
    /// True if the command was narrowed to a part.
    position: CommandPosition,
    place: EventPlace,
}

/// State of this source.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Commands {
    folders: FolderTracker,
    usages: UsageTable,
    pending: Vec<PendingRun>,
    background: Vec<PendingRun>,
    cycle: CheckCycle,
    tracker: TrackerUse,
}

impl Commands {
    /// Reads an event.
    pub(crate) fn push(&mut self, position: u64, event: &TranscriptEvent, cues: &Cues) {
        match &event.body {
            EventBody::Call { call, tool, action } => match action {
                ToolAction::Command(line) => {
                    let place = EventPlace::of(position, event);
                    self.read_command(call, tool, line, &place, &cues.commands);
                }
                ToolAction::Edit(edits) => {
                    for edit in edits {
                        if let Some((folder, _)) = edit.path.rsplit_once('/') {
                            self.folders.add_absolute(folder);
                        }
                    }
                }
                ToolAction::Plan(_) | ToolAction::Other(_) => {}
            },
            EventBody::Result {
                call,
                outcome,
                text,
            } => {
                let place = EventPlace::of(position, event);
                self.read_result(call, *outcome, text, &place);
            }
            EventBody::ConversationStart(_)
            | EventBody::Prompt(_)
            | EventBody::AssistantText(_)
            | EventBody::Summary(_)
            | EventBody::FileChanged(_)
            | EventBody::AbandonedPrompt(_)
            | EventBody::TokenUsage(_) => {}
        }
    }

    fn read_command(
        &mut self,
        call: &str,
        tool: &str,
        line: &str,
        place: &EventPlace,
        cues: &CommandCues,
    ) {
        let commands = read_shell_line(line);
        let mut folder = self.folders.current().to_owned();
        let shape = CommandShape::parse(line);
        for command in &commands {
            if command.word(0) == "cd" {
                folder = FolderTracker::enter(&folder, command.word(1));
                self.folders.add_absolute(&folder);
                continue;
            }
            if is_commit(command) {
                let message = command.here_document.as_deref();
                let subject =
                    message.or_else(|| command.option_values(&["-m", "--message"]).next());
                self.tracker.add_commit(subject.unwrap_or_default());
                self.cycle.end();
                continue;
            }
            if self.tracker.add(command, place, &cues.tracker) {
                continue;
            }
            let Some(known) = classify_command(command, cues) else {
                continue;
            };
            let Some(usage) = self.usages.index_of(known.purpose, &folder, &known.form) else {
                continue;
            };
            if self.pending.len() >= PENDING_MAX {
                self.pending.remove(0);
            }
            self.pending.push(PendingRun {
                call: call_name(call),
                usage,
                line: known.line.unwrap_or_default(),
                is_check: cues
                    .purpose
                    .get(known.purpose)
                    .is_some_and(|purpose| purpose.is_check),
                position: CommandPosition::of(&shape, command),
                place: place.clone(),
            });
        }
        if tool == SHELL_WITH_FOLDER {
            self.folders.set_current(&folder);
        }
    }

    fn read_result(&mut self, call: &str, outcome: ToolOutcome, output: &str, place: &EventPlace) {
        if is_folder_lost(outcome, output) {
            self.folders.set_current("");
        }
        let call = call_name(call);
        if self.pending.iter().any(|run| run.call == call) {
            let (mut finished, waiting) = std::mem::take(&mut self.pending)
                .into_iter()
                .partition(|run| run.call == call);
            self.pending = waiting;
            if let Some(task) = background_id(output) {
                for run in &mut finished {
                    task.clone_into(&mut run.call);
                }
                self.background.append(&mut finished);
                let surplus = self.background.len().saturating_sub(PENDING_MAX);
                self.background.drain(..surplus);
                return;
            }
            self.finish_runs(&finished, outcome, output, place);
        } else if !self.background.is_empty() && is_finished_background(output) {
            let is_named = |run: &PendingRun| output.contains(run.call.as_str());
            let (finished, waiting) = std::mem::take(&mut self.background)
                .into_iter()
                .partition(is_named);
            self.background = waiting;
            let outcome = match output.contains("<exit_code>") && !output.contains("<exit_code>0<")
            {
                true => ToolOutcome::Failed,
                false => outcome,
            };
            self.finish_runs(&finished, outcome, output, place);
        }
    }

    fn finish_runs(
        &mut self,
        runs: &[PendingRun],
        outcome: ToolOutcome,
        output: &str,
        place: &EventPlace,
    ) {
        for run in runs {
            let has_succeeded = run.position.has_succeeded(outcome, output);
            // The duration of a call with several commands is not the duration of one of them.
            let seconds = match (run.place.at, place.at) {
                (Some(from), Some(to))
                    if run.position.is_alone() && outcome != ToolOutcome::Rejected =>
                {
                    seconds_between(from, to)
                }
                _ => None,
            };
            let finished = FinishedRun {
                has_succeeded,
                seconds,
                output,
                line: &run.line,
            };
            self.usages.add_run(run.usage, &run.place, &finished);
            if run.is_check && has_succeeded == Some(true) {
                self.cycle.add_check(run.usage);
            }
        }
    }

    /// Names the project's folder.
    pub(crate) fn set_project_folder(&mut self, folder: &str) {
        self.folders.set_project(folder);
    }
}

/// Returns the number of seconds between two times.
fn seconds_between(from: heirloom_model::Timestamp, to: heirloom_model::Timestamp) -> Option<u32> {
    u32::try_from(to.as_second() - from.as_second()).ok()
}
