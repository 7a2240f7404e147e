//! Rules by people.

use crate::Candidate;
use crate::cues::Cues;
use heirloom_agents::transcripts::TranscriptEvent;
use serde::{Deserialize, Serialize};

/// State of this source.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct PersonRules {}

impl PersonRules {
    /// Reads an event.
    pub(crate) fn push(&mut self, _position: u64, _event: &TranscriptEvent, _cues: &Cues) {}

    /// Adds the candidates found so far.
    pub(crate) fn add_candidates(&self, _cues: &Cues, _out: &mut Vec<Candidate>) {}
}
