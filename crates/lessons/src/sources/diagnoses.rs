//! Diagnoses: what an agent found to be the cause of a problem, with the change that confirmed it.
//!
//! Explanations are read sentence by sentence. A diagnosis is announced: by words such as "Root cause:" before it, or by
//! the heading of its section. It may therefore have several sentences, and it needs no cue phrase of its own.

mod announcement;

use crate::Candidate;
use crate::bounded_text::bounded;
use crate::code_tokens::{TokenKind, code_tokens, contains_token};
use crate::cues::Cues;
use crate::event_place::EventPlace;
use crate::project_paths::ProjectPaths;
use crate::{LessonContent, SourceKind, Speaker};
use announcement::{AnnouncedCause, announced_causes};
use heirloom_agents::transcripts::{EventBody, FileEdit, ToolAction, TranscriptEvent};
use heirloom_model::text;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// Diagnoses that are kept.
const KEPT_MAX: usize = 12;
/// Diagnoses of a session that become candidates.
const CANDIDATES_MAX: usize = 6;
/// Events after a diagnosis in which an edit confirms it.
const EDIT_EVENTS: u64 = 80;
/// Bytes of an edit that are read.
const EDIT_BYTES_MAX: usize = 8_000;
/// Bytes of a text that are read.
const TEXT_BYTES_MAX: usize = 8 << 10;
/// Bytes of a message that may announce something, at least.
const TEXT_BYTES_MIN: usize = 40;
/// Code tokens of a diagnosis that are compared.
const TOKENS_MAX: usize = 6;
/// Bytes of a code token.
const TOKEN_BYTES_MAX: usize = 60;
/// Characters of a record.
const RECORD_CHARS_MAX: usize = 395;
/// Bytes of the name of a changed file.
const FILE_BYTES_MAX: usize = 100;

/// A diagnosis.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
struct Diagnosis {
    place: EventPlace,
    cause: AnnouncedCause,
    /// Code tokens in lower case.
    tokens: Vec<String>,
    /// First file that was changed after it and has one of its code tokens.
    file: String,
    /// True if files were changed in the same turn before it: it belongs to the report.
    is_after_changes: bool,
}

/// State of this source.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Diagnoses {
    kept: VecDeque<Diagnosis>,
    paths: ProjectPaths,
    /// True if files were changed since the last prompt.
    has_changes: bool,
}

impl Diagnoses {
    /// Reads an event.
    pub(crate) fn push(&mut self, position: u64, event: &TranscriptEvent, cues: &Cues) {
        match &event.body {
            EventBody::AssistantText(said) if event.agent.is_none() => {
                if said.len() >= TEXT_BYTES_MIN {
                    self.add_text(&EventPlace::of(position, event), said, cues);
                }
            }
            EventBody::Prompt(_) if event.agent.is_none() => self.has_changes = false,
            EventBody::Call {
                action: ToolAction::Edit(edits),
                ..
            } => {
                self.has_changes = true;
                for edit in edits {
                    self.paths.add(&edit.path);
                    self.compare_edit(position, edit);
                }
            }
            EventBody::FileChanged(path) => {
                self.has_changes = true;
                self.paths.add(path);
            }
            EventBody::AssistantText(_)
            | EventBody::Prompt(_)
            | EventBody::Call { .. }
            | EventBody::ConversationStart(_)
            | EventBody::Summary(_)
            | EventBody::Result { .. }
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
        let mut found: Vec<Candidate> = self
            .kept
            .iter()
            .map(|one| one.candidate(&self.paths, cues))
            .collect();
        found.sort_by(|one, other| other.worth.total_cmp(&one.worth));
        found.truncate(CANDIDATES_MAX);
        out.extend(found);
    }

    fn add_text(&mut self, place: &EventPlace, said: &str, cues: &Cues) {
        let end = said.floor_char_boundary(TEXT_BYTES_MAX);
        let head = said.get(..end).unwrap_or_default();
        for cause in announced_causes(head, cues) {
            let tokens: Vec<String> = code_tokens(&cause.text)
                .iter()
                .filter(|token| token.kind != TokenKind::Number && token.text.len() >= 3)
                .map(|token| bounded(&token.text.to_lowercase(), TOKEN_BYTES_MAX))
                .take(TOKENS_MAX)
                .collect();
            let is_known = |one: &Diagnosis| {
                one.cause.text == cause.text
                    || !tokens.is_empty() && tokens.iter().all(|token| one.tokens.contains(token))
            };
            // A later text about the same things is better informed; a report repeats what is known.
            self.kept
                .retain(|one| !is_known(one) || one.place.agent != place.agent || self.has_changes);
            if self.kept.iter().any(is_known) {
                continue;
            }
            if self.kept.len() == KEPT_MAX {
                self.remove_least();
            }
            self.kept.push_back(Diagnosis {
                place: place.clone(),
                cause,
                tokens,
                file: String::new(),
                is_after_changes: self.has_changes,
            });
        }
    }

    /// Removes the oldest diagnosis that nothing confirmed, or the oldest one.
    fn remove_least(&mut self) {
        let unconfirmed = self.kept.iter().position(|one| !one.is_confirmed());
        self.kept.remove(unconfirmed.unwrap_or(0));
    }

    fn compare_edit(&mut self, position: u64, edit: &FileEdit) {
        let is_open = |one: &Diagnosis| {
            one.file.is_empty()
                && one.cause.is_fault
                && position <= one.place.position + EDIT_EVENTS
        };
        if !self.kept.iter().any(is_open) || is_secondary(&edit.path) {
            return;
        }
        let added = bounded(&edit.added, EDIT_BYTES_MAX).to_lowercase();
        let removed = bounded(&edit.removed, EDIT_BYTES_MAX).to_lowercase();
        let all = format!("{added}\n{removed}\n{}", edit.path.to_lowercase());
        for one in self.kept.iter_mut().filter(|one| is_open(one)) {
            if one.tokens.iter().any(|token| contains_token(&all, token)) {
                one.file = bounded(&edit.path, FILE_BYTES_MAX * 3);
            }
        }
    }
}

/// Returns true for a file that describes or tests a change.
fn is_secondary(path: &str) -> bool {
    let lower = path.to_lowercase();
    let is_text = [".md", ".txt", ".rst", ".adoc"]
        .iter()
        .any(|end| lower.ends_with(end));
    is_text || lower.contains("test") || lower.contains("spec")
}

impl Diagnosis {
    /// Returns true if an edit agrees with the diagnosis, or came before the report that states it.
    fn is_confirmed(&self) -> bool {
        !self.file.is_empty() || self.is_after_changes || self.cause.fix.is_some()
    }

    fn candidate(&self, paths: &ProjectPaths, cues: &Cues) -> Candidate {
        let worth = &cues.explanations.diagnosis;
        let mut value = match self.is_confirmed() {
            true => worth.confirmed,
            false => worth.unconfirmed,
        };
        if self.cause.fix.is_some() {
            value += worth.fix_bonus;
        }
        if self.tokens.len() > 1 {
            value += worth.tokens_bonus;
        }
        Candidate {
            source: SourceKind::Explanation,
            speaker: Speaker::Agent,
            content: LessonContent::Knowledge {
                category: "learning".to_owned(),
                key: None,
                text: self.text(paths),
                rationale: None,
            },
            worth: (value * 100.0).round() / 100.0,
            evidence: vec![self.place.evidence(&self.cause.text)],
            at: self.place.at,
            agent: self.place.agent.clone(),
        }
    }

    fn text(&self, paths: &ProjectPaths) -> String {
        let file = paths.display(&self.file);
        let end = match (&self.cause.fix, file.is_empty()) {
            (Some(fix), _) => format!(" Fix: {fix}"),
            (None, false)
                if self
                    .tokens
                    .iter()
                    .any(|token| *token == file.to_lowercase()) =>
            {
                String::new()
            }
            (None, false) => format!(" Fixed in `{}`.", bounded(&file, FILE_BYTES_MAX)),
            (None, true) => String::new(),
        };
        let text = format!("{}{end}", self.cause.text);
        match text::chars(&text) <= RECORD_CHARS_MAX {
            true => text,
            false => self.cause.text.clone(),
        }
    }
}
