//! The agent's plan or to-do list, as it was at the end.

use crate::event_place::EventPlace;
use crate::{Candidate, LessonContent, LessonStep, SourceKind, Speaker};
use heirloom_agents::transcripts::{EventBody, ToolAction, TranscriptEvent};
use heirloom_model::text;
use serde::{Deserialize, Serialize};

/// Greatest number of steps of a plan.
const STEPS_MAX: usize = 40;
/// Greatest number of characters of a step.
const STEP_CHARS_MAX: usize = 200;
/// Worth of a plan. Steps do not count as records.
const WORTH: f32 = 0.7;

/// State of this source.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Plans {
    steps: Vec<LessonStep>,
    place: EventPlace,
}

impl Plans {
    /// Reads an event.
    pub(crate) fn push(&mut self, position: u64, event: &TranscriptEvent) {
        let EventBody::Call {
            action: ToolAction::Plan(items),
            ..
        } = &event.body
        else {
            return;
        };
        // The plan of a subagent is a part of the work.
        if event.agent.is_some() || items.is_empty() {
            return;
        }
        let step = |item: &heirloom_agents::transcripts::PlanItem| {
            let end = item.text.floor_char_boundary(STEP_CHARS_MAX * 8);
            LessonStep {
                text: text::excerpt(item.text.get(..end).unwrap_or_default(), STEP_CHARS_MAX),
                is_done: item.is_done,
            }
        };
        let steps: Vec<LessonStep> = items
            .iter()
            .map(step)
            .filter(|step| !step.text.is_empty())
            .take(STEPS_MAX)
            .collect();
        if !steps.is_empty() {
            self.steps = steps;
            self.place = EventPlace::of(position, event);
        }
    }

    /// Adds the candidates found so far.
    pub(crate) fn add_candidates(&self, out: &mut Vec<Candidate>) {
        let Some(first) = self.steps.first() else {
            return;
        };
        out.push(Candidate {
            source: SourceKind::Plan,
            speaker: Speaker::Agent,
            content: LessonContent::Steps(self.steps.clone()),
            worth: WORTH,
            evidence: vec![self.place.evidence(&first.text)],
            at: self.place.at,
            agent: None,
        });
    }
}
