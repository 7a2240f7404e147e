//! Failures that a change resolved: the same command failed, something changed, and it succeeded.
//!
//! Failures of one command are chained: an error is resolved as soon as the command fails for another reason that it
//! reaches later, because the change in between removed its cause.

mod change;
mod closed_failure;
mod open_failure;
mod plausibility;
mod remark;
mod resolution;
mod run_result;
#[cfg(test)]
mod tests;

use crate::Candidate;
use crate::bounded_text::bounded;
use crate::command_run::CommandRun;
use crate::cues::Cues;
use crate::event_place::EventPlace;
use crate::project_paths::ProjectPaths;
use change::{Change, ChangeLog};
use closed_failure::{ClosedFailure, Closing};
use heirloom_agents::failures::command_result::{CommandShape, CommandState};
use heirloom_agents::failures::{Failure, error_lines, is_heirloom_command, names_failing_tests};
use heirloom_agents::transcripts::{EventBody, ToolAction, ToolOutcome, TranscriptEvent, preview};
use heirloom_model::limits::HOOK_COMMAND_CHARS_MAX;
use heirloom_model::text;
use open_failure::{FailureStage, OpenFailure, output_line};
use remark::{Remark, read_remarks};
use run_result::run_result;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// Calls without a result that are kept.
const CALLS_MAX: usize = 10;
/// Open failures that are kept.
const OPEN_MAX: usize = 8;
/// Errors of one output that are kept.
const ERRORS_MAX: usize = 3;
/// Resolved failures that are kept.
const CLOSED_MAX: usize = 14;
/// Remarks that are kept.
const REMARKS_MAX: usize = 6;
/// Paths of edited files that are kept.
const EDITED_MAX: usize = 20;
/// Bytes of an edited file's path.
const EDITED_BYTES_MAX: usize = 60;
/// Bytes of a call id.
const CALL_BYTES_MAX: usize = 80;
/// Characters of an output that are read, as hooks do.
const OUTPUT_CHARS_MAX: usize = 32 << 10;
/// Events after a failure in which the agent says that it expected it.
const REACTION_EVENTS: u64 = 4;
/// Events after which a variant of a failed command is another command.
const VARIANT_EVENTS: u64 = 80;

/// A call whose result is not known.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct PendingCall {
    call: String,
    run: Option<CommandRun>,
    #[serde(default)]
    shape: CommandShape,
    /// The command line on one line, as failures are told.
    command: String,
    changes: Vec<Change>,
}

/// State of this source.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Failures {
    calls: VecDeque<PendingCall>,
    open: VecDeque<OpenFailure>,
    closed: VecDeque<ClosedFailure>,
    changes: ChangeLog,
    remarks: VecDeque<Remark>,
    /// Ends of paths of edited files, in lower case.
    edited: VecDeque<String>,
    paths: ProjectPaths,
}

impl Failures {
    /// Reads an event.
    pub(crate) fn push(&mut self, position: u64, event: &TranscriptEvent, cues: &Cues) {
        let place = EventPlace::of(position, event);
        match &event.body {
            EventBody::ConversationStart(_) => {
                self.calls.clear();
                self.open.clear();
                self.changes.clear();
                self.remarks.clear();
            }
            EventBody::AssistantText(said) => self.add_remarks(&place, said, cues),
            EventBody::Call { call, action, .. } => self.add_call(place, call, action, cues),
            EventBody::Result {
                call,
                outcome,
                text,
            } => self.add_result(&place, call, *outcome, text, cues),
            EventBody::FileChanged(path) => {
                let edit = heirloom_agents::transcripts::FileEdit::of_path(path.clone());
                let change = Change::of_edit(place, &edit, &[], &cues.failures);
                self.add_change(change);
            }
            EventBody::Prompt(_) | EventBody::Summary(_) | EventBody::TokenUsage(_) => {}
        }
    }

    /// Names the project's folder.
    pub(crate) fn set_project_folder(&mut self, folder: &str) {
        self.paths.set_project(folder);
    }

    /// Adds the candidates found so far.
    pub(crate) fn add_candidates(&self, cues: &Cues, out: &mut Vec<Candidate>) {
        let worth = &cues.failures.worth;
        out.extend(
            self.closed
                .iter()
                .filter(|closed| closed.worth >= worth.least)
                .map(ClosedFailure::candidate),
        );
    }

    fn add_remarks(&mut self, place: &EventPlace, said: &str, cues: &Cues) {
        if self.open.is_empty() {
            return;
        }
        let found = read_remarks(said, &cues.failures);
        if found.is_expected {
            for open in &mut self.open {
                open.is_expected |= place.position <= open.last + REACTION_EVENTS;
            }
        }
        if found.withdraws {
            self.remarks.clear();
        }
        for statement in found.statements {
            if self.remarks.len() == REMARKS_MAX {
                self.remarks.pop_front();
            }
            self.remarks.push_back(Remark {
                place: place.clone(),
                text: statement,
            });
        }
    }

    fn add_call(&mut self, place: EventPlace, call: &str, action: &ToolAction, cues: &Cues) {
        let mut pending = PendingCall {
            call: bounded(call, CALL_BYTES_MAX),
            run: None,
            command: String::new(),
            changes: Vec::new(),
            shape: CommandShape::default(),
        };
        match action {
            ToolAction::Command(line) if is_heirloom_command(line) => return,
            ToolAction::Command(line) => {
                pending.shape = CommandShape::parse(line);
                pending.run = Some(CommandRun::of_shape(line, &pending.shape));
                pending.command = bounded(
                    &text::excerpt(line.trim(), HOOK_COMMAND_CHARS_MAX),
                    HOOK_COMMAND_CHARS_MAX,
                );
                if !self.open.is_empty() {
                    pending
                        .changes
                        .extend(Change::of_command(place, line, &cues.failures));
                }
            }
            ToolAction::Edit(edits) => {
                let words = self.open_words();
                for edit in edits.iter().take(EDITS_MAX) {
                    let mut change = Change::of_edit(place.clone(), edit, &words, &cues.failures);
                    if self.open.is_empty() {
                        (change.added, change.removed) = (Vec::new(), Vec::new());
                    }
                    pending.changes.push(change);
                }
            }
            ToolAction::Plan(_) | ToolAction::Other(_) => return,
        }
        if self.calls.len() == CALLS_MAX {
            self.calls.pop_front();
        }
        self.calls.push_back(pending);
    }

    /// Returns the words of all open failures.
    fn open_words(&self) -> Vec<String> {
        self.open
            .iter()
            .flat_map(|open| open.words.iter().cloned())
            .collect()
    }

    fn add_result(
        &mut self,
        place: &EventPlace,
        call: &str,
        outcome: ToolOutcome,
        output: &str,
        cues: &Cues,
    ) {
        let call = bounded(call, CALL_BYTES_MAX);
        let Some(number) = self.calls.iter().rposition(|pending| pending.call == call) else {
            return;
        };
        let Some(pending) = self.calls.remove(number) else {
            return;
        };
        let output = preview(output, OUTPUT_CHARS_MAX);
        let Some(run) = &pending.run else {
            if outcome == ToolOutcome::Succeeded {
                self.add_changes(pending.changes, place);
            }
            return;
        };
        let result = run_result(&pending.shape, outcome, &output, &cues.failures);
        let succeeded = run.succeeded_parts(&result.parts);
        if !succeeded.parts.is_empty() {
            self.add_success(place, &succeeded, &pending.changes, cues);
        }
        let blamed = result
            .blamed
            .and_then(|number| Some((number, pending.shape.parts.get(number)?)));
        if let Some((number, part)) = blamed {
            let run = run.with_failed_part(&result.parts, number, part);
            let command = &pending.command;
            self.add_failure(place, &run, command, &output, part.is_lookup, cues);
        } else if result.state == CommandState::Succeeded || outcome == ToolOutcome::Succeeded {
            self.add_changes(pending.changes, place);
        }
    }

    /// Adds changes that were made when their call ended.
    fn add_changes(&mut self, changes: Vec<Change>, place: &EventPlace) {
        for mut change in changes {
            change.place.position = place.position;
            self.add_change(change);
        }
    }

    fn add_change(&mut self, change: Change) {
        if !change.path.is_empty() {
            self.paths.add(&change.path);
            let start = change.path.len().saturating_sub(EDITED_BYTES_MAX);
            let end = change
                .path
                .get(change.path.ceil_char_boundary(start)..)
                .unwrap_or_default()
                .to_lowercase();
            self.edited.retain(|known| *known != end);
            if self.edited.len() == EDITED_MAX {
                self.edited.pop_front();
            }
            self.edited.push_back(end);
        }
        if !self.open.is_empty() {
            self.changes.add(change);
        }
    }

    fn add_failure(
        &mut self,
        place: &EventPlace,
        run: &CommandRun,
        command: &str,
        output: &str,
        is_lookup: bool,
        cues: &Cues,
    ) {
        let mut found: Vec<OpenFailure> = Vec::new();
        for error in error_lines(output, ERRORS_MAX) {
            let failure = Failure {
                command: command.to_owned(),
                error,
                prefix: run.prefix.clone(),
            };
            let mut open =
                OpenFailure::new(place.clone(), run.clone(), &failure, output, &cues.failures);
            let is_edited = |file: &String| {
                self.edited
                    .iter()
                    .any(|edited| edited.ends_with(file.as_str()))
            };
            open.is_new_code = open.files.iter().any(is_edited);
            if open.is_worth_tracking(is_lookup) && !found.iter().any(|known| known.key == open.key)
            {
                found.push(open);
            }
        }
        let stage = match found.first() {
            // A run that names failing tests shows the failures of all tests.
            Some(_) if names_failing_tests(output) => FailureStage::Test,
            Some(first) => first.stage,
            None => return,
        };
        let line = output_line(output);
        let (mut gone, mut known) = (Vec::new(), Vec::new());
        for (number, open) in self.open.iter_mut().enumerate() {
            if open.first.agent != place.agent {
                continue;
            }
            let is_shown = open.is_shown_by(run, stage);
            if found.iter().any(|one| one.key == open.key) || is_shown && open.is_in(&line) {
                open.attempts += 1;
                open.last = place.position;
                known.push(open.key.clone());
            } else if is_shown {
                gone.push(number);
            }
        }
        for number in gone.into_iter().rev() {
            self.close(number, place, None, cues);
        }
        // A change after which the same error is reported did not explain it.
        if !known.is_empty() {
            self.remarks.clear();
        }
        for open in found {
            if !known.contains(&open.key) {
                self.open_failure(open);
            }
        }
    }

    fn open_failure(&mut self, mut open: OpenFailure) {
        let is_same = |closed: &ClosedFailure| closed.key == open.key && closed.is_by_progress;
        let reopened = self.closed.iter().position(is_same);
        if let Some(closed) = reopened.and_then(|number| self.closed.remove(number)) {
            open.attempts += closed.attempts;
        }
        if self.open.len() == OPEN_MAX {
            self.open.pop_front();
        }
        self.open.push_back(open);
    }

    /// Closes what a success resolves; `own` are the changes that its command line made.
    fn add_success(&mut self, place: &EventPlace, run: &CommandRun, own: &[Change], cues: &Cues) {
        let mut number = 0;
        while let Some(open) = self.open.get(number) {
            let is_near = place.position.saturating_sub(open.last) <= VARIANT_EVENTS;
            let is_same_agent = open.first.agent == place.agent;
            let is_variant = || {
                let part = open.failed_part()?;
                crate::sources::command_variant::find_variant(
                    &open.run,
                    part,
                    run,
                    &open.error,
                    &cues.failures,
                )
            };
            let is_resolved =
                is_same_agent && (open.is_resolved_by(run) || is_near && is_variant().is_some());
            if is_resolved {
                self.close(number, place, Some((run, own)), cues);
            } else {
                number += 1;
            }
        }
        if self.open.is_empty() {
            self.changes.clear();
            self.remarks.clear();
        }
    }

    /// Closes an open failure; `passed` is the run that succeeded, or `None` if the command failed for another reason.
    fn close(
        &mut self,
        number: usize,
        place: &EventPlace,
        passed: Option<(&CommandRun, &[Change])>,
        cues: &Cues,
    ) {
        let Some(open) = self.open.remove(number) else {
            return;
        };
        let changes = self.changes.since(open.last);
        if passed.is_none() && changes.is_empty() {
            // Another error was reported first; nothing shows that this one is gone.
            self.open.insert(number.min(self.open.len()), open);
            return;
        }
        let closing = Closing {
            open: &open,
            changes: &changes,
            remarks: self.remarks.make_contiguous(),
            passed: passed.map(|(run, _)| run),
            own: passed.map(|(_, own)| own).unwrap_or_default(),
            place,
            paths: &self.paths,
            cues: &cues.failures,
        };
        let Some(closed) = closing.closed_failure() else {
            return;
        };
        self.closed
            .retain(|known| known.key != closed.key || known.worth > closed.worth);
        // Several errors that one change resolved are told once.
        let is_told =
            |known: &ClosedFailure| known.key == closed.key || known.is_resolved_alike(&closed);
        if self.closed.iter().any(is_told) {
            return;
        }
        if self.closed.len() == CLOSED_MAX {
            let least = self
                .closed
                .iter()
                .enumerate()
                .min_by(|(_, a), (_, b)| a.worth.total_cmp(&b.worth));
            if let Some(number) = least.map(|(number, _)| number) {
                self.closed.remove(number);
            }
        }
        self.closed.push_back(closed);
    }
}

/// Edits of one call that are read.
const EDITS_MAX: usize = 6;
