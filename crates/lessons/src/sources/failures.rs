//! Failures that a change resolved: the same command failed, something changed, and it succeeded.
//!
//! Failures of one command are chained: an error is resolved as soon as the command fails for another reason that it
//! reaches later, because the change in between removed its cause.

mod change;
mod change_log;
mod closed_failure;
mod finished_run;
mod fix_worth;
mod open_failure;
mod plausibility;
mod remark;
mod resolution;
mod run_place;
mod run_result;
#[cfg(test)]
mod tests;
mod typed_form;

use crate::Candidate;
use crate::bounded_text::bounded;
use crate::command_run::CommandRun;
use crate::cues::Cues;
use crate::event_place::EventPlace;
use crate::project_paths::ProjectPaths;
use crate::sources::working_tree::{LineSteps, WorkingTree};
use change::Change;
use change_log::ChangeLog;
use closed_failure::{ClosedFailure, Ending};
use finished_run::FinishedRun;
use heirloom_agents::failures::command_result::{CommandShape, CommandState};
use heirloom_agents::failures::{
    Failure, error_lines, is_deliberate_failure, is_heirloom_command, names_all_failing_tests,
    names_failing_tests,
};
use heirloom_agents::transcripts::{EventBody, ToolAction, ToolOutcome, TranscriptEvent, preview};
use heirloom_model::limits::HOOK_COMMAND_CHARS_MAX;
use heirloom_model::text;
use open_failure::{FailureStage, OpenFailure, output_line};
use remark::{Remark, read_remarks};
use run_place::RunPlace;
use run_result::run_result;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use typed_form::TypedForm;

/// Calls without a result that are kept.
const CALLS_MAX: usize = 10;
/// Open failures that are kept.
const OPEN_MAX: usize = 8;
/// Errors of one output that are kept.
const ERRORS_MAX: usize = 3;
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
    /// Effects of the command line on the working tree.
    steps: LineSteps,
    /// True if the command is made to fail.
    is_deliberate: bool,
}

/// Command line and output of a run that failed.
struct ShownFailure<'s> {
    /// The command line on one line, as failures are told.
    command: &'s str,
    output: &'s str,
    is_lookup: bool,
    /// True if the output has only some lines of the run's own, so that an error that it lacks need not be gone.
    is_cut: bool,
}

/// State of this source.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Failures {
    calls: VecDeque<PendingCall>,
    open: VecDeque<OpenFailure>,
    closed: VecDeque<ClosedFailure>,
    changes: ChangeLog,
    tree: WorkingTree,
    /// True if a command changed the folder, so that the folder of later ones is unknown.
    has_moved: bool,
    /// Number of calls so far.
    call_count: u64,
    remarks: VecDeque<Remark>,
    /// Command that the person typed last.
    typed: TypedForm,
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
                (self.tree, self.has_moved) = (WorkingTree::default(), false);
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
            EventBody::Prompt(prompt) if event.agent.is_none() => {
                let failed = self.open.make_contiguous();
                self.typed = TypedForm::read(prompt, failed, self.call_count).unwrap_or_default();
            }
            EventBody::Prompt(_)
            | EventBody::Summary(_)
            | EventBody::AbandonedPrompt(_)
            | EventBody::TokenUsage(_) => {}
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
        self.call_count += 1;
        let mut pending = PendingCall {
            call: bounded(call, CALL_BYTES_MAX),
            run: None,
            command: String::new(),
            changes: Vec::new(),
            steps: LineSteps::default(),
            is_deliberate: false,
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
                pending.is_deliberate = is_deliberate_failure(line);
                pending.steps = LineSteps::read(line);
                if !self.open.is_empty() {
                    pending
                        .changes
                        .extend(Change::of_command(place, line, &cues.failures));
                }
            }
            ToolAction::Edit(edits) => {
                let words = self.open_words();
                for edit in edits.iter().take(EDITS_MAX) {
                    let change = Change::of_edit(place.clone(), edit, &words, &cues.failures);
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
            let ran = self.finished_run(place, &succeeded, &pending);
            self.add_success(&ran, cues);
        }
        let blamed = result
            .blamed
            .and_then(|number| Some((number, pending.shape.parts.get(number)?)));
        let is_done = result.state == CommandState::Succeeded || outcome == ToolOutcome::Succeeded;
        if let Some((number, part)) = blamed {
            let run = run.with_failed_part(&result.parts, number, part);
            let ran = self.finished_run(place, &run, &pending);
            let shown = ShownFailure {
                command: &pending.command,
                output: &output,
                is_lookup: part.is_lookup || pending.is_deliberate,
                is_cut: pending.shape.shows_part_of_output() && !names_all_failing_tests(&output),
            };
            self.add_failure(&ran, &shown, cues);
        } else if is_done {
            self.add_changes(pending.changes.clone(), place);
        }
        if blamed.is_some() || is_done {
            self.apply_steps(&pending, blamed.is_some());
        }
    }

    /// Adds changes that were made when their call ended.
    fn add_changes(&mut self, changes: Vec<Change>, place: &EventPlace) {
        for mut change in changes {
            change.place.position = place.position;
            self.add_change(change);
        }
    }

    fn finished_run<'r>(
        &self,
        place: &'r EventPlace,
        run: &'r CommandRun,
        pending: &'r PendingCall,
    ) -> FinishedRun<'r> {
        let tree = pending.steps.tree_of_run(&self.tree);
        FinishedRun {
            place,
            run,
            ran_at: RunPlace::new(run, &tree, self.has_moved, &self.paths),
            own: &pending.changes,
        }
    }

    /// Does what the command line did to the working tree and the folder.
    fn apply_steps(&mut self, pending: &PendingCall, has_failed: bool) {
        for step in pending.steps.done(has_failed) {
            self.changes.apply(step, self.tree.is_put_aside);
            self.tree.apply(step);
        }
        self.has_moved |= pending.run.as_ref().is_some_and(|run| run.folder.is_some());
    }

    fn add_change(&mut self, change: Change) {
        if !change.path.is_empty() {
            if self.tree.is_put_aside {
                // The work goes on without the edits that were put aside.
                self.changes.undo(&[], false);
                self.tree.is_put_aside = false;
            }
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
        self.changes.add(change);
    }

    fn add_failure(&mut self, ran: &FinishedRun<'_>, shown: &ShownFailure<'_>, cues: &Cues) {
        let found = self.failures_in(ran, shown, cues);
        let names_tests = names_failing_tests(shown.output);
        let stage = match found.first() {
            // A run that names failing tests shows the failures of all tests.
            Some(_) if names_tests => FailureStage::Test,
            Some(first) => first.stage,
            None => return,
        };
        let has_started = found.iter().all(|one| one.has_started(&cues.failures));
        let line = output_line(shown.output);
        let (mut gone, mut known) = (Vec::new(), Vec::new());
        for (number, open) in self.open.iter_mut().enumerate() {
            if open.first.agent != ran.place.agent || !open.ran_at.is_same_tree(&ran.ran_at) {
                continue;
            }
            let is_shown = open.is_shown_by(ran.run, &ran.ran_at, stage);
            let is_again = |one: &OpenFailure| one.key == open.key || one.is_same_test(open);
            if found.iter().any(is_again) || is_shown && open.is_in(&line) {
                open.attempts += 1;
                (open.last, open.last_at) = (ran.place.position, ran.place.at);
                open.last_call = self.call_count;
                if open.run.prefix == ran.run.prefix {
                    // Variables that were set when it failed again are not what helped.
                    open.run = ran.run.clone();
                }
                known.push(open.key.clone());
            } else if is_shown && !shown.is_cut {
                gone.push(number);
            }
        }
        for number in gone.into_iter().rev() {
            let ending = Ending::OtherFailure {
                names_tests,
                has_started,
            };
            self.close(number, ran, ending, cues);
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

    /// Returns the failures that a run shows.
    fn failures_in(
        &self,
        ran: &FinishedRun<'_>,
        shown: &ShownFailure<'_>,
        cues: &Cues,
    ) -> Vec<OpenFailure> {
        let output = shown.output;
        let mut found: Vec<OpenFailure> = Vec::new();
        for error in error_lines(output, ERRORS_MAX) {
            let failure = Failure {
                command: shown.command.to_owned(),
                error,
                prefix: ran.run.prefix.clone(),
            };
            let (place, run) = (ran.place.clone(), ran.run.clone());
            let mut open = OpenFailure::new(place, run, &failure, output, &cues.failures);
            open.ran_at = ran.ran_at.clone();
            open.last_call = self.call_count;
            let is_edited = |file: &String| {
                let mut edited = self.edited.iter();
                edited.any(|edited| edited.ends_with(file.as_str()))
            };
            open.is_new_code = open.files.iter().any(is_edited);
            if open.is_worth_tracking(shown.is_lookup)
                && !found.iter().any(|known| known.key == open.key)
            {
                found.push(open);
            }
        }
        found
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
}

/// Edits of one call that are read.
const EDITS_MAX: usize = 6;
