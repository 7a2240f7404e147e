//! The extractor: passes events to the sources and collects their candidates.

use crate::cues::Cues;
use crate::selection::{Withdrawals, select_lessons};
use crate::sources::Sources;
use crate::{Candidate, Lesson};
use heirloom_agents::transcripts::TranscriptEvent;
use serde::{Deserialize, Serialize};

/// Extractor of a conversation's lessons. Its state is bounded and can be stored between two turns.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct LessonExtractor {
    /// Number of events so far.
    events: u64,
    sources: Sources,
    #[serde(default)]
    withdrawals: Withdrawals,
}

impl LessonExtractor {
    /// Reads the next event of the conversation. Its texts are redacted and without text that Heirloom injected.
    pub fn push(&mut self, event: &TranscriptEvent) {
        let cues = Cues::get();
        self.sources.push(self.events, event, cues);
        self.withdrawals.push(self.events, event, &cues.selection);
        self.events += 1;
    }

    /// Returns the candidates found so far.
    pub fn candidates(&self) -> Vec<Candidate> {
        self.sources.candidates(Cues::get())
    }

    /// Returns the candidates with the decision on each, the kept ones first and the most useful first.
    pub fn lessons(&self) -> Vec<Lesson> {
        select_lessons(self.candidates(), &self.withdrawals, &Cues::get().selection)
    }

    /// Returns a title of the session, made from its first request, of at most 80 characters.
    pub fn title(&self) -> Option<String> {
        self.sources.title(Cues::get())
    }
}
