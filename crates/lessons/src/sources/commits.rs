//! Commits and pull requests that the session made: their choices and reasons.

mod commit_worth;
mod message;

use commit_worth::commit_worth;
pub(super) use message::{CommitMessage, plain_subject, read_commit};

use crate::cues::Cues;
use crate::event_place::{EventPlace, call_name};
use crate::outline::read_outline;
use crate::sentences::{capitalize, sentences};
use crate::shell_line::read_shell_line;
use crate::statements::finish_statement;
use crate::{Candidate, LessonContent, SourceKind, Speaker};
use heirloom_agents::transcripts::{EventBody, ToolAction, ToolOutcome, TranscriptEvent};
use serde::{Deserialize, Serialize};

/// Greatest number of commits whose statements are kept.
const COMMITS_MAX: usize = 16;
/// Greatest number of calls without a result that are kept.
const PENDING_MAX: usize = 8;
/// Greatest number of characters of a record.
const TEXT_CHARS_MAX: usize = 380;

/// Number of words from which on a subject is a statement of its own.
const SUBJECT_WORDS_MIN: usize = 4;

/// Statements of one commit's message.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
struct CommitRecord {
    call: String,
    subject: String,
    /// Sentences that give a reason or name a choice.
    text: String,
    place: EventPlace,
}

/// State of this source.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Commits {
    pending: Vec<CommitRecord>,
    records: Vec<CommitRecord>,
}

impl Commits {
    /// Reads an event.
    pub(crate) fn push(&mut self, position: u64, event: &TranscriptEvent, cues: &Cues) {
        match &event.body {
            EventBody::Call {
                call,
                action: ToolAction::Command(line),
                ..
            } if line.contains("commit")
                || line.contains("create")
                || line.contains("describe") =>
            {
                for command in read_shell_line(line) {
                    let Some(message) = read_commit(&command, &cues.commits) else {
                        continue;
                    };
                    let Some(text) = statement_text(&message, cues) else {
                        continue;
                    };
                    if self.pending.len() >= PENDING_MAX {
                        self.pending.remove(0);
                    }
                    self.pending.push(CommitRecord {
                        call: call_name(call),
                        subject: message.subject,
                        text,
                        place: EventPlace::of(position, event),
                    });
                }
            }
            EventBody::Result { call, outcome, .. } => {
                if self.pending.is_empty() {
                    return;
                }
                let call = call_name(call);
                while let Some(at) = self.pending.iter().position(|record| record.call == call) {
                    let record = self.pending.remove(at);
                    if *outcome == ToolOutcome::Succeeded {
                        self.add_record(record);
                    }
                }
            }
            EventBody::Call { .. }
            | EventBody::ConversationStart(_)
            | EventBody::Prompt(_)
            | EventBody::AssistantText(_)
            | EventBody::Summary(_)
            | EventBody::FileChanged(_)
            | EventBody::AbandonedPrompt(_)
            | EventBody::TokenUsage(_) => {}
        }
    }

    fn add_record(&mut self, record: CommitRecord) {
        // An amended commit replaces the one before it.
        self.records.retain(|known| known.subject != record.subject);
        let record = CommitRecord {
            call: String::new(),
            ..record
        };
        if self.records.len() >= COMMITS_MAX {
            self.records.remove(0);
        }
        self.records.push(record);
    }

    /// Adds the candidates found so far.
    pub(crate) fn add_candidates(&self, cues: &Cues, out: &mut Vec<Candidate>) {
        out.extend(self.records.iter().map(|record| Candidate {
            source: SourceKind::Commit,
            speaker: Speaker::Agent,
            content: LessonContent::Knowledge {
                category: "decision".to_owned(),
                key: None,
                text: record.statement().0,
                rationale: Some(record.statement().1),
            },
            worth: commit_worth(&record.subject, &record.text, cues),
            evidence: vec![record.place.evidence(&record.text)],
            at: record.place.at,
            agent: record.place.agent.clone(),
        }));
    }
}

impl CommitRecord {
    /// Returns the statement and its reason: what the commit does and why, if its subject is a whole statement.
    fn statement(&self) -> (String, String) {
        let subject = plain_subject(&self.subject);
        let is_statement =
            subject.split_whitespace().count() >= SUBJECT_WORDS_MIN && !subject.ends_with('…');
        match is_statement {
            true => (finish_statement(subject), self.text.clone()),
            false => (self.text.clone(), format!("Commit: {}", self.subject)),
        }
    }
}

/// Returns the sentences of a message that give a reason or name a choice.
fn statement_text(message: &CommitMessage, cues: &Cues) -> Option<String> {
    let phrases = &cues.commits.phrases;
    let references = &cues.selection.phrases.inner_references;
    let mut text = String::new();
    // The subject may name the choice that the body explains.
    let mut is_explained = !phrases.choice.is_in(&message.subject.to_lowercase());
    let reserved = message.subject.chars().count() + 10;
    for item in read_outline(&message.body)
        .iter()
        .flat_map(|section| &section.items)
    {
        let item = item.full_text();
        for statement in sentences(&item) {
            let lower = statement.to_lowercase();
            let is_fragment = statement.ends_with([':', ',']) || references.is_in(&lower);
            if is_fragment || is_explained && !phrases.choice.is_in(&lower) {
                continue;
            }
            is_explained = true;
            let gap = if text.is_empty() { "" } else { " " };
            let addition = format!("{gap}{}", finish_statement(&capitalize(statement)));
            if text.chars().count() + addition.chars().count() + reserved <= TEXT_CHARS_MAX {
                text.push_str(&addition);
            }
        }
    }
    (!text.is_empty()).then_some(text)
}
