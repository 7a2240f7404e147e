//! Issues, plans and specifications that the session read, and package scripts.

mod binding_lines;
mod document_calls;
mod package_scripts;

use crate::cues::Cues;
use crate::event_place::{EventPlace, call_name};
use crate::{Candidate, LessonContent, SourceKind, Speaker};
use binding_lines::{BindingLine, BindingLines, LineKind};
use document_calls::{DocumentKind, document_kind, is_document_tool};
use heirloom_agents::transcripts::{EventBody, ToolAction, ToolOutcome, TranscriptEvent};
use package_scripts::{PackageScripts, read_package_scripts};
use serde::{Deserialize, Serialize};

/// Greatest number of calls without a result that are kept.
const PENDING_MAX: usize = 24;
/// Greatest number of packages.
const PACKAGES_MAX: usize = 3;
/// Smallest number of characters of the lines in a record.
const LINES_CHARS_MIN: usize = 50;
/// Greatest number of characters of a record.
const TEXT_CHARS_MAX: usize = 390;

/// A call that reads a document.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
struct PendingDocument {
    call: String,
    kind: DocumentKind,
}

/// State of this source.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Documents {
    pending: Vec<PendingDocument>,
    lines: BindingLines,
    packages: Vec<(PackageScripts, EventPlace)>,
}

impl Documents {
    /// Reads an event.
    pub(crate) fn push(&mut self, position: u64, event: &TranscriptEvent, cues: &Cues) {
        match &event.body {
            EventBody::Call { call, tool, action } => {
                let kind = match action {
                    ToolAction::Command(line) => document_kind(line, cues),
                    ToolAction::Other(input) => is_document_tool(tool, input, &cues.documents),
                    ToolAction::Edit(_) | ToolAction::Plan(_) => None,
                };
                if let Some(kind) = kind {
                    if self.pending.len() >= PENDING_MAX {
                        self.pending.remove(0);
                    }
                    self.pending.push(PendingDocument {
                        call: call_name(call),
                        kind,
                    });
                }
            }
            EventBody::Result {
                call,
                outcome,
                text,
            } => {
                let call = call_name(call);
                let Some(at) = self.pending.iter().position(|pending| pending.call == call) else {
                    return;
                };
                let pending = self.pending.remove(at);
                if *outcome == ToolOutcome::Succeeded {
                    let place = EventPlace::of(position, event);
                    self.read_document(&pending.kind, text, &place, cues);
                }
            }
            EventBody::Prompt(_)
            | EventBody::AssistantText(_)
            | EventBody::ConversationStart(_)
            | EventBody::Summary(_)
            | EventBody::FileChanged(_)
            | EventBody::AbandonedPrompt(_)
            | EventBody::TokenUsage(_) => {}
        }
    }

    fn read_document(&mut self, kind: &DocumentKind, text: &str, place: &EventPlace, cues: &Cues) {
        match kind {
            DocumentKind::Issue => self.lines.read("issues", text, place, &cues.documents),
            DocumentKind::File(name) => self.lines.read(name, text, place, &cues.documents),
            DocumentKind::Package => {
                let Some(scripts) = read_package_scripts(text) else {
                    return;
                };
                let is_new = !self
                    .packages
                    .iter()
                    .any(|(known, _)| known.name == scripts.name);
                if is_new && self.packages.len() < PACKAGES_MAX {
                    self.packages.push((scripts, place.clone()));
                }
            }
        }
    }

    /// Adds the candidates found so far.
    pub(crate) fn add_candidates(&self, cues: &Cues, out: &mut Vec<Candidate>) {
        let worth = &cues.documents.worth;
        let completion = self.lines.of_kind(LineKind::Completion, true);
        self.add_lines("Definition of done", &completion, worth.repeated, out);
        let constraints = self.lines.of_kind(LineKind::Constraint, false);
        self.add_lines("Constraints", &constraints, worth.constraint, out);
        let requirements = self.lines.of_kind(LineKind::Requirement, false);
        self.add_lines("Requirements", &requirements, worth.constraint, out);
        for (package, place) in &self.packages {
            let mut record = DocumentRecord::new("fact", package.text(), worth.scripts);
            record.key = Some(format!("command:scripts:{}", package.name));
            out.push(record.into_candidate(place));
        }
    }

    /// Adds one record that merges lines.
    fn add_lines(&self, title: &str, lines: &[&BindingLine], worth: f32, out: &mut Vec<Candidate>) {
        let Some(first) = lines.first() else {
            return;
        };
        let mut text = format!("{title} in the {} that this session read:", first.document);
        let title_chars = text.chars().count();
        for line in lines {
            let sentence = line.text.trim_end_matches(['.', ';', ',']);
            if text.chars().count() + sentence.chars().count() + 2 > TEXT_CHARS_MAX
                || line.document != first.document
            {
                continue;
            }
            text.push(' ');
            text.push_str(sentence);
            text.push('.');
        }
        if text.chars().count() >= title_chars + LINES_CHARS_MIN {
            let record = DocumentRecord::new("convention", text, worth);
            out.push(record.into_candidate(&first.place));
        }
    }
}

/// Record from a document.
struct DocumentRecord {
    category: &'static str,
    key: Option<String>,
    text: String,
    worth: f32,
}

impl DocumentRecord {
    fn new(category: &'static str, text: String, worth: f32) -> Self {
        Self {
            category,
            key: None,
            text,
            worth,
        }
    }

    fn into_candidate(self, place: &EventPlace) -> Candidate {
        Candidate {
            source: SourceKind::Document,
            speaker: Speaker::Program,
            evidence: vec![place.evidence(&self.text)],
            content: LessonContent::Knowledge {
                category: self.category.to_owned(),
                key: self.key,
                text: self.text,
                rationale: None,
            },
            worth: self.worth,
            at: place.at,
            agent: place.agent.clone(),
        }
    }
}
