//! Proposals, findings and reports: the points of an agent's last messages.

mod points;

use crate::cues::{Cues, ReportCues};
use crate::event_place::EventPlace;
use crate::{Candidate, LessonContent, SourceKind, Speaker};
use heirloom_agents::failures::has_side_effects;
use heirloom_agents::transcripts::{EventBody, ToolAction, TranscriptEvent};
use heirloom_model::text::replace_control_chars;
use points::{ReportPoint, report_points};
use serde::{Deserialize, Serialize};

/// Greatest number of points that are kept from the reports of earlier turns.
const POINTS_MAX: usize = 16;
/// Greatest number of bytes of a report.
const REPORT_BYTES_MAX: usize = 8 << 10;

/// Greatest number of bytes of a prompt that are read.
const PROMPT_BYTES_MAX: usize = 2 << 10;

/// Kind of a request, by which its answer is worth something later.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum ReportRequest {
    /// The answer explains the code.
    Explanation,
    /// The answer is a proposal.
    Proposal,
    #[default]
    Other,
}

/// A message that may be a report.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
struct Report {
    text: String,
    /// True if files had been changed before it.
    is_after_changes: bool,
    request: ReportRequest,
    place: EventPlace,
}

/// A point of a report of an earlier turn.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
struct KeptPoint {
    point: ReportPoint,
    is_after_changes: bool,
    place: EventPlace,
}

/// State of this source.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Reports {
    /// Last message, if it is long.
    last: Option<Report>,
    /// Points of the last messages of earlier turns.
    points: Vec<KeptPoint>,
    has_changes: bool,
    /// The last request.
    request: ReportRequest,
}

impl Reports {
    /// Reads an event.
    pub(crate) fn push(&mut self, position: u64, event: &TranscriptEvent, cues: &Cues) {
        match &event.body {
            EventBody::AssistantText(text) if event.agent.is_none() => {
                if text.len() < cues.reports.size.chars_min {
                    return;
                }
                let end = text.floor_char_boundary(REPORT_BYTES_MAX);
                self.last = Some(Report {
                    text: replace_control_chars(text.get(..end).unwrap_or_default()),
                    is_after_changes: self.has_changes,
                    request: self.request,
                    place: EventPlace::of(position, event),
                });
            }
            EventBody::Prompt(prompt) if event.agent.is_none() => {
                self.end_turn(&cues.reports);
                self.request = ReportRequest::read(prompt, &cues.reports);
            }
            EventBody::Call { action, .. } => {
                let is_change = match action {
                    ToolAction::Edit(_) => true,
                    ToolAction::Command(command) => !self.has_changes && has_side_effects(command),
                    ToolAction::Plan(_) | ToolAction::Other(_) => return,
                };
                self.has_changes |= is_change;
                // A message before further work is no report.
                if is_change && event.agent.is_none() {
                    self.last = None;
                }
            }
            EventBody::FileChanged(_) => self.has_changes = true,
            EventBody::AssistantText(_)
            | EventBody::Prompt(_)
            | EventBody::ConversationStart(_)
            | EventBody::Summary(_)
            | EventBody::Result { .. }
            | EventBody::AbandonedPrompt(_)
            | EventBody::TokenUsage(_) => {}
        }
    }

    fn end_turn(&mut self, cues: &ReportCues) {
        if let Some(report) = self.last.take() {
            self.points.extend(report.points(cues));
            let surplus = self.points.len().saturating_sub(POINTS_MAX);
            self.points.drain(..surplus);
        }
    }

    /// Adds the candidates found so far.
    pub(crate) fn add_candidates(&self, cues: &Cues, out: &mut Vec<Candidate>) {
        let cues = &cues.reports;
        let last = self.last.iter().flat_map(|report| report.points(cues));
        out.extend(
            self.points
                .iter()
                .cloned()
                .chain(last)
                .map(|kept| kept.into_candidate(cues)),
        );
    }
}

impl ReportRequest {
    fn read(prompt: &str, cues: &ReportCues) -> Self {
        let end = prompt.floor_char_boundary(PROMPT_BYTES_MAX);
        let head = prompt.get(..end).unwrap_or_default();
        let lower = head.trim_start().to_lowercase();
        if cues.phrases.explanation_requests.begins(&lower) {
            Self::Explanation
        } else if cues.phrases.proposal_requests.is_in(&lower) {
            Self::Proposal
        } else {
            Self::Other
        }
    }
}

impl Report {
    fn points(&self, cues: &ReportCues) -> Vec<KeptPoint> {
        let is_told = match self.request {
            ReportRequest::Explanation => false,
            ReportRequest::Proposal => true,
            // Of six points that readers judged none was worth keeping.
            ReportRequest::Other => self.is_after_changes,
        };
        if !is_told {
            return Vec::new();
        }
        let points = report_points(&self.text, cues, self.is_after_changes);
        let kept = points.into_iter().map(|point| KeptPoint {
            point,
            is_after_changes: self.is_after_changes,
            place: self.place.clone(),
        });
        kept.collect()
    }
}

impl KeptPoint {
    fn into_candidate(self, cues: &ReportCues) -> Candidate {
        let (worth, category) = match self.is_after_changes {
            true => (cues.worth.report, "fact"),
            false => (cues.worth.proposal, "decision"),
        };
        Candidate {
            source: SourceKind::Report,
            speaker: Speaker::Agent,
            worth: worth * self.point.strength,
            evidence: vec![self.place.evidence(&self.point.text)],
            content: LessonContent::Knowledge {
                category: category.to_owned(),
                key: None,
                text: self.point.text,
                rationale: None,
            },
            at: self.place.at,
            agent: None,
        }
    }
}
