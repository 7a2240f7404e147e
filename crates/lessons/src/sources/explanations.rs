//! Explanations: sentences of agents that state a cause or a constraint, with what later turns say about them.

mod misleading_output;
mod statement;
#[cfg(test)]
mod tests;

use crate::bounded_text::bounded;
use crate::code_tokens::contains_token;
use crate::cues::Cues;
use crate::event_place::EventPlace;
use crate::{Candidate, LessonContent, SourceKind, Speaker};
use heirloom_agents::transcripts::{EventBody, FileEdit, ToolAction, TranscriptEvent};
use misleading_output::MisleadingOutput;
use serde::{Deserialize, Serialize};
use statement::{Statement, read_statements};
use std::collections::VecDeque;

/// Explanations that are kept.
const KEPT_MAX: usize = 14;
/// Explanations of a session that become candidates.
const CANDIDATES_MAX: usize = 6;
/// Explanations of one text that are kept.
const OF_TEXT_MAX: usize = 3;
/// Events after an explanation in which an edit confirms it, or makes it outdated.
const EDIT_EVENTS: u64 = 24;
/// Events after an explanation in which it is withdrawn.
const WITHDRAWAL_EVENTS: u64 = 60;
/// Bytes of an edit that are read.
const EDIT_BYTES_MAX: usize = 8_000;

/// An explanation.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
struct Explanation {
    place: EventPlace,
    statement: Statement,
    /// True if an edit or command after it has one of its code tokens.
    is_confirmed: bool,
    /// True if an edit agrees with the announced remedy.
    has_remedy: bool,
}

/// State of this source.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Explanations {
    kept: VecDeque<Explanation>,
    misleading: MisleadingOutput,
}

impl Explanations {
    /// Reads an event.
    pub(crate) fn push(&mut self, position: u64, event: &TranscriptEvent, cues: &Cues) {
        match &event.body {
            EventBody::AssistantText(said) => {
                self.add_text(&EventPlace::of(position, event), said, cues)
            }
            EventBody::Call { call, action, .. } => {
                match action {
                    ToolAction::Edit(edits) => self.compare_edits(position, event, edits),
                    ToolAction::Command(line) => self.compare_command(position, event, line),
                    ToolAction::Plan(_) | ToolAction::Other(_) => {}
                }
                self.misleading.add_call(call, action);
            }
            EventBody::Result {
                call,
                outcome,
                text,
            } => {
                self.misleading
                    .add_result(&EventPlace::of(position, event), call, *outcome, text);
            }
            EventBody::ConversationStart(_)
            | EventBody::Prompt(_)
            | EventBody::Summary(_)
            | EventBody::FileChanged(_)
            | EventBody::AbandonedPrompt(_)
            | EventBody::TokenUsage(_) => {}
        }
    }

    /// Adds the candidates found so far, except explanations that a candidate in the list contains.
    pub(crate) fn add_candidates(&self, cues: &Cues, out: &mut Vec<Candidate>) {
        let data = &cues.explanations;
        let is_told = |text: &str| {
            out.iter()
                .any(|candidate| candidate.full_text().contains(text))
        };
        let mut found: Vec<Candidate> = self
            .kept
            .iter()
            .filter(|one| one.is_confirmed || !one.statement.is_cause)
            .filter(|one| !is_told(&one.statement.text))
            .map(|one| one.candidate(data.remedy_bonus, data.most))
            .filter(|candidate| candidate.worth >= data.least)
            .collect();
        found.sort_by(|one, other| other.worth.total_cmp(&one.worth));
        found.truncate(CANDIDATES_MAX);
        out.extend(found);
        self.misleading.add_candidates(out);
    }

    fn add_text(&mut self, place: &EventPlace, said: &str, cues: &Cues) {
        let read = read_statements(said, cues);
        if read.withdraws {
            let lower = bounded(said, EDIT_BYTES_MAX).to_lowercase();
            let is_recent =
                |one: &Explanation, events: u64| place.position <= one.place.position + events;
            self.kept.retain(|one| {
                let is_named = one
                    .statement
                    .tokens
                    .iter()
                    .any(|token| contains_token(&lower, token));
                let is_meant = is_recent(one, 2) || is_named && is_recent(one, WITHDRAWAL_EVENTS);
                !(is_meant && one.place.agent == place.agent)
            });
        }
        let mut of_text = 0;
        for statement in read.statements {
            let is_told = |one: &Explanation| {
                let is_same_text = one.place.position == place.position;
                one.statement.text == statement.text
                    || is_same_text && statement.has_only_tokens_of(&one.statement)
            };
            if of_text == OF_TEXT_MAX || self.kept.iter().any(is_told) {
                continue;
            }
            of_text += 1;
            if self.kept.len() == KEPT_MAX {
                self.remove_least();
            }
            self.kept.push_back(Explanation {
                place: place.clone(),
                statement,
                ..Explanation::default()
            });
        }
    }

    /// Removes the explanation with the least worth, the oldest one among equals.
    fn remove_least(&mut self) {
        let worth = |one: &Explanation| one.statement.worth;
        let least = self
            .kept
            .iter()
            .enumerate()
            .min_by(|(_, a), (_, b)| worth(a).total_cmp(&worth(b)));
        if let Some(number) = least.map(|(number, _)| number) {
            self.kept.remove(number);
        }
    }

    fn compare_edits(&mut self, position: u64, event: &TranscriptEvent, edits: &[FileEdit]) {
        if !self.kept.iter().any(|one| one.is_open(position, event)) {
            return;
        }
        for edit in edits {
            let added = bounded(&edit.added, EDIT_BYTES_MAX).to_lowercase();
            let removed = bounded(&edit.removed, EDIT_BYTES_MAX).to_lowercase();
            let all = format!("{added}\n{removed}\n{}", edit.path.to_lowercase());
            let is_test = edit.path.contains("test") || edit.path.contains("spec");
            self.kept.retain_mut(|one| {
                if !one.is_open(position, event) {
                    return true;
                }
                one.compare(&all);
                // The missing thing was added.
                let is_outdated = one.statement.is_absence
                    && !is_test
                    && one
                        .statement
                        .tokens
                        .last()
                        .is_some_and(|token| contains_token(&added, token));
                !is_outdated
            });
        }
    }

    fn compare_command(&mut self, position: u64, event: &TranscriptEvent, line: &str) {
        if !self.kept.iter().any(|one| one.is_open(position, event)) {
            return;
        }
        let lower = bounded(line, EDIT_BYTES_MAX).to_lowercase();
        for one in self
            .kept
            .iter_mut()
            .filter(|one| one.is_open(position, event))
        {
            one.compare(&lower);
        }
    }
}

impl Explanation {
    /// Returns true while an edit at this position may belong to the explanation.
    fn is_open(&self, position: u64, event: &TranscriptEvent) -> bool {
        position <= self.place.position + EDIT_EVENTS && self.place.agent == event.agent
    }

    /// Compares the explanation with what was done after it, in lower case.
    fn compare(&mut self, done: &str) {
        self.is_confirmed |= self
            .statement
            .tokens
            .iter()
            .any(|token| contains_token(done, token));
        self.has_remedy |= self.statement.is_remedied_by(done);
    }

    fn candidate(&self, remedy_bonus: f32, most: f32) -> Candidate {
        let bonus = if self.has_remedy { remedy_bonus } else { 0.0 };
        let worth = (self.statement.worth + bonus).min(most);
        Candidate {
            source: SourceKind::Explanation,
            speaker: Speaker::Agent,
            content: LessonContent::Knowledge {
                category: "learning".to_owned(),
                key: None,
                text: self.statement.full_text(self.has_remedy),
                rationale: None,
            },
            worth: (worth * 100.0).round() / 100.0,
            evidence: vec![self.place.evidence(&self.statement.text)],
            at: self.place.at,
            agent: self.place.agent.clone(),
        }
    }
}
