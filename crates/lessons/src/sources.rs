//! Sources of lessons, one file each.

mod failures;
mod person_rules;

use crate::Candidate;
use crate::cues::Cues;
use heirloom_agents::transcripts::TranscriptEvent;
use serde::{Deserialize, Serialize};

/// State of all sources.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Sources {
    person_rules: person_rules::PersonRules,
    failures: failures::Failures,
}

impl Sources {
    /// Passes an event to every source.
    pub(crate) fn push(&mut self, position: u64, event: &TranscriptEvent, cues: &Cues) {
        self.person_rules.push(position, event, cues);
        self.failures.push(position, event, cues);
    }

    /// Returns the candidates of all sources.
    pub(crate) fn candidates(&self, cues: &Cues) -> Vec<Candidate> {
        let mut all = Vec::new();
        self.person_rules.add_candidates(cues, &mut all);
        self.failures.add_candidates(cues, &mut all);
        all
    }
}
