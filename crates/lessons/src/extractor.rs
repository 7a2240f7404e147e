//! The extractor: passes events to the sources and collects their candidates.

use crate::cues::Cues;
use crate::judgement::Judgement;
use crate::prompt_template::template_input;
use crate::selection::{Withdrawals, select_lessons};
use crate::sources::Sources;
use crate::wishes::Wish;
use crate::{Candidate, Lesson};
use heirloom_agents::transcripts::{EventBody, TranscriptEvent};
use serde::{Deserialize, Serialize};

/// Extractor of a conversation's lessons. Its state is bounded and can be stored between two turns.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct LessonExtractor {
    /// Number of events so far.
    events: u64,
    /// Number of requests of the person so far.
    #[serde(default)]
    requests: u64,
    sources: Sources,
    #[serde(default)]
    withdrawals: Withdrawals,
}

impl LessonExtractor {
    /// Reads the next event of the conversation. Its texts are redacted and without text that Heirloom injected.
    pub fn push(&mut self, event: &TranscriptEvent) {
        let input = if let EventBody::Prompt(prompt) = &event.body {
            template_input(prompt)
        } else {
            None
        };
        match input {
            // A template holds instructions to the agent; only the input in it are a person's words.
            Some(input) => self.push_event(&TranscriptEvent {
                body: EventBody::Prompt(input.to_owned()),
                ..event.clone()
            }),
            None => self.push_event(event),
        }
    }

    /// Names the project's folder, so that paths and folders of commands are shown relative to it. The state keeps it.
    #[must_use]
    pub fn with_project_folder(mut self, folder: &str) -> Self {
        self.sources.set_project_folder(folder);
        self
    }

    fn push_event(&mut self, event: &TranscriptEvent) {
        let cues = Cues::get();
        self.sources.push(self.events, event, cues);
        self.withdrawals.push(self.events, event, cues);
        self.events += 1;
        let is_request = matches!(&event.body, EventBody::Prompt(prompt) if !prompt.is_empty());
        self.requests += u64::from(is_request && event.agent.is_none());
    }

    /// Returns the candidates found so far.
    pub fn candidates(&self) -> Vec<Candidate> {
        self.sources.candidates(Cues::get())
    }

    /// Returns the candidates with the decision on each, the kept ones first and the most useful first.
    pub fn lessons(&self) -> Vec<Lesson> {
        self.judged_lessons(None)
    }

    /// Returns the lessons with the decisions that a model changed and the words of the person that it added.
    pub fn judged_lessons(&self, judgement: Option<&Judgement>) -> Vec<Lesson> {
        select_lessons(
            self.candidates(),
            self.requests,
            &self.withdrawals,
            judgement,
            Cues::get(),
        )
    }

    /// Returns the sentences of the person that would be preferences if they came back in other sessions.
    pub fn wishes(&self) -> &[Wish] {
        self.sources.wishes()
    }

    /// Returns a title of the session, made from its first request, of at most 80 characters.
    pub fn title(&self) -> Option<String> {
        self.sources.title(Cues::get())
    }
}
