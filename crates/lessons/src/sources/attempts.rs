//! Attempts that were undone: an approach that was edited in, undone, and the reason in the words of the agent or the person.
//!
//! An edit is undone by Git (`git checkout`, `restore`, `stash drop`, `reset`, `revert`), by an edit that restores the
//! old lines, or by a person's request. Without a reason nothing is kept: a line that was added to look at a value is no
//! approach.

mod attempt_text;
#[cfg(test)]
mod tests;

use super::working_tree::{LineSteps, TreeStep, WorkingTree, is_among};
use crate::bounded_text::bounded;
use crate::cues::{AttemptCues, Cues};
use crate::event_place::{EventPlace, call_name};
use crate::project_paths::ProjectPaths;
use crate::{Candidate, LessonContent, SourceKind, Speaker};
use attempt_text::{approach_of, change_text, read_message, request_to_undo};
use heirloom_agents::transcripts::{EventBody, FileEdit, ToolAction, ToolOutcome, TranscriptEvent};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// Edits in place that are kept.
const EDITS_MAX: usize = 12;
/// Edits of one call that are read.
const CALL_EDITS_MAX: usize = 6;
/// Calls without a result that are kept.
const CALLS_MAX: usize = 10;
/// Undone attempts that are kept.
const UNDONE_MAX: usize = 6;
/// Bytes of the old and of the new lines of an edit.
const LINES_BYTES_MAX: usize = 400;
/// Bytes of a sentence.
const SENTENCE_BYTES_MAX: usize = 260;
/// Bytes of a path.
const PATH_BYTES_MAX: usize = 160;
/// Events between an edit or undo and the words about it.
const NEAR_EVENTS: u64 = 8;

/// Sentence with its place.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
struct Said {
    place: EventPlace,
    text: String,
}

/// Edit that is in place.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
struct PlacedEdit {
    place: EventPlace,
    path: String,
    removed: String,
    added: String,
    /// Announcement of the agent.
    intent: String,
    is_committed: bool,
}

/// Attempt that was undone.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
struct UndoneAttempt {
    place: EventPlace,
    undone_at: u64,
    approach: String,
    change: String,
    files: Vec<String>,
    reason: Option<Said>,
    is_of_person: bool,
}

/// Call whose result is not known.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct AttemptCall {
    call: String,
    edits: Vec<PlacedEdit>,
    steps: LineSteps,
}

/// State of this source.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Attempts {
    calls: VecDeque<AttemptCall>,
    edits: VecDeque<PlacedEdit>,
    undone: VecDeque<UndoneAttempt>,
    tree: WorkingTree,
    intent: Said,
    /// True if a command followed the announcement.
    has_run_since_intent: bool,
    reason: Said,
    paths: ProjectPaths,
}

impl Attempts {
    /// Names the project's folder.
    pub(crate) fn set_project_folder(&mut self, folder: &str) {
        self.paths.set_project(folder);
    }

    /// Reads an event.
    pub(crate) fn push(&mut self, position: u64, event: &TranscriptEvent, cues: &Cues) {
        let place = EventPlace::of(position, event);
        let cues = &cues.failures.attempts;
        match &event.body {
            EventBody::ConversationStart(_) => {
                (self.calls, self.edits) = (VecDeque::new(), VecDeque::new());
                self.tree = WorkingTree::default();
            }
            EventBody::Prompt(prompt) if event.agent.is_none() => {
                self.read_prompt(prompt, &place, cues);
            }
            EventBody::AssistantText(text) => self.read_text(text, &place, cues),
            EventBody::Call { call, action, .. } => self.add_call(&place, call, action),
            EventBody::Result { call, outcome, .. } => self.add_result(&place, call, *outcome),
            EventBody::Prompt(_)
            | EventBody::Summary(_)
            | EventBody::FileChanged(_)
            | EventBody::AbandonedPrompt(_)
            | EventBody::TokenUsage(_) => {}
        }
    }

    /// Adds the candidates found so far.
    pub(crate) fn add_candidates(&self, cues: &Cues, out: &mut Vec<Candidate>) {
        let worth = cues.failures.attempts.worth;
        out.extend(self.undone.iter().filter_map(|undone| {
            let reason = undone.reason.as_ref()?;
            Some(Candidate {
                source: SourceKind::Attempt,
                speaker: match undone.is_of_person {
                    true => Speaker::Person,
                    false => Speaker::Agent,
                },
                content: LessonContent::Attempt {
                    approach: undone.approach.clone(),
                    change: undone.change.clone(),
                    reason: reason.text.clone(),
                    files: undone.files.clone(),
                },
                worth,
                evidence: vec![
                    undone.place.evidence(&undone.approach),
                    reason.place.evidence(&reason.text),
                ],
                at: undone.place.at,
                agent: undone.place.agent.clone(),
            })
        }));
    }

    /// A person who asks to take the work back undoes the edits since their last request.
    fn read_prompt(&mut self, prompt: &str, place: &EventPlace, cues: &AttemptCues) {
        if let Some(reason) = request_to_undo(prompt, cues) {
            let edits: Vec<PlacedEdit> = self.edits.drain(..).collect();
            self.reason = Said {
                place: place.clone(),
                text: bounded(&reason, SENTENCE_BYTES_MAX),
            };
            self.add_undone(&edits, place.position, true);
        }
        // Another request: what is in place now was accepted.
        self.edits.clear();
        self.intent = Said::default();
    }

    fn read_text(&mut self, text: &str, place: &EventPlace, cues: &AttemptCues) {
        let message = read_message(text, cues);
        let said = |text: String| Said {
            place: place.clone(),
            text: bounded(&text, SENTENCE_BYTES_MAX),
        };
        if let Some(reason) = message.reason {
            self.reason = said(reason);
            let is_near = |undone: &&mut UndoneAttempt| {
                undone.reason.is_none() && place.position <= undone.undone_at + NEAR_EVENTS
            };
            for undone in self.undone.iter_mut().filter(is_near) {
                undone.reason = Some(self.reason.clone());
            }
        }
        match message.intent {
            Some(intent) => {
                self.intent = said(intent);
                self.has_run_since_intent = false;
            }
            // The announcement was about the command.
            None if self.has_run_since_intent => self.intent = Said::default(),
            None => {}
        }
    }

    fn add_call(&mut self, place: &EventPlace, call: &str, action: &ToolAction) {
        let mut pending = AttemptCall {
            call: call_name(call),
            edits: Vec::new(),
            steps: LineSteps::default(),
        };
        match action {
            ToolAction::Command(line) => {
                pending.steps = LineSteps::read(line);
                self.has_run_since_intent = true;
            }
            ToolAction::Edit(edits) => {
                let edits = edits.iter().take(CALL_EDITS_MAX);
                pending.edits = edits.map(|edit| self.placed_edit(place, edit)).collect();
            }
            ToolAction::Plan(_) | ToolAction::Other(_) => {}
        }
        if pending.edits.is_empty() && pending.steps.steps.is_empty() {
            return;
        }
        if self.calls.len() == CALLS_MAX {
            self.calls.pop_front();
        }
        self.calls.push_back(pending);
    }

    fn placed_edit(&self, place: &EventPlace, edit: &FileEdit) -> PlacedEdit {
        let is_near = place.position <= self.intent.place.position + NEAR_EVENTS;
        PlacedEdit {
            place: place.clone(),
            path: bounded(&edit.path, PATH_BYTES_MAX),
            removed: bounded(edit.removed.trim(), LINES_BYTES_MAX),
            added: bounded(edit.added.trim(), LINES_BYTES_MAX),
            intent: match is_near {
                true => self.intent.text.clone(),
                false => String::new(),
            },
            is_committed: false,
        }
    }

    fn add_result(&mut self, place: &EventPlace, call: &str, outcome: ToolOutcome) {
        let call = call_name(call);
        let Some(at) = self.calls.iter().rposition(|one| one.call == call) else {
            return;
        };
        let Some(pending) = self.calls.remove(at) else {
            return;
        };
        if outcome == ToolOutcome::Rejected {
            return;
        }
        let has_failed = outcome == ToolOutcome::Failed;
        for step in pending.steps.done(has_failed) {
            self.apply_step(step, place.position);
        }
        if !has_failed {
            for edit in pending.edits {
                self.add_edit(edit, place.position);
            }
        }
    }

    fn apply_step(&mut self, step: &TreeStep, position: u64) {
        match step {
            TreeStep::Undo(files) => self.undo(files, false, position),
            TreeStep::UndoCommits => self.undo(&[], true, position),
            TreeStep::Discard if self.tree.is_put_aside => self.undo(&[], false, position),
            TreeStep::Commit => self
                .edits
                .iter_mut()
                .for_each(|one| one.is_committed = true),
            TreeStep::PutAside
            | TreeStep::TakeBack
            | TreeStep::Discard
            | TreeStep::CheckOut(_)
            | TreeStep::NameBranch(_) => {}
        }
        self.tree.apply(step);
    }

    fn undo(&mut self, files: &[String], has_committed: bool, position: u64) {
        let is_undone =
            |one: &PlacedEdit| (has_committed || !one.is_committed) && is_among(&one.path, files);
        let (undone, left): (Vec<PlacedEdit>, Vec<PlacedEdit>) =
            self.edits.drain(..).partition(is_undone);
        self.edits = left.into();
        self.add_undone(&undone, position, false);
    }

    fn add_edit(&mut self, edit: PlacedEdit, position: u64) {
        if self.tree.is_put_aside {
            // The work goes on without the edits that were put aside.
            self.undo(&[], false, position);
            self.tree.is_put_aside = false;
        }
        self.paths.add(&edit.path);
        let is_reversed = |one: &PlacedEdit| {
            let restores = edit.added.contains(&one.removed) && edit.removed.contains(&one.added);
            one.path == edit.path && !one.added.is_empty() && one.added != one.removed && restores
        };
        if let Some(at) = self.edits.iter().rposition(is_reversed) {
            let undone = self.edits.remove(at);
            self.add_undone(undone.as_slice(), position, false);
            return;
        }
        if self.edits.len() == EDITS_MAX {
            self.edits.pop_front();
        }
        self.edits.push_back(edit);
    }

    /// Adds edits that were undone together as one attempt.
    fn add_undone(&mut self, edits: &[PlacedEdit], position: u64, is_of_person: bool) {
        let Some(last) = edits.last() else {
            return;
        };
        let has_reason = position <= self.reason.place.position + NEAR_EVENTS
            && self.reason.place.position > last.place.position;
        let reason = Some(&self.reason).filter(|_| has_reason && !self.reason.text.is_empty());
        let intent = edits.iter().rfind(|edit| !edit.intent.is_empty());
        let mut files: Vec<String> = Vec::new();
        for edit in edits {
            let file = self.paths.display(&edit.path);
            if !files.contains(&file) {
                files.push(file);
            }
        }
        let change = change_text(&last.removed, &last.added);
        let undone = UndoneAttempt {
            place: last.place.clone(),
            undone_at: position,
            approach: approach_of(
                intent.map_or("", |edit| &edit.intent),
                reason.map_or("", |reason| &reason.text),
                &change,
            ),
            change,
            files,
            reason: reason.cloned(),
            is_of_person,
        };
        if self.undone.len() == UNDONE_MAX {
            self.undone.pop_front();
        }
        self.undone.push_back(undone);
        // The words were about this attempt.
        self.reason = Said::default();
    }
}
