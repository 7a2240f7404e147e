//! Learner of one conversation: passes its events to the extractor and keeps the state between two readings.

use super::extractor_input::{bounded_name, extractor_input};
use super::learning_state::LearningState;
use heirloom_agents::AgentProgram;
use heirloom_agents::failures::is_heirloom_command;
use heirloom_agents::transcripts::{EventBody, ToolAction, TranscriptEvent, TranscriptReader};
use heirloom_engine::Engine;
use heirloom_lessons::{
    Judgement, Lesson, LessonContent, LessonExtractor, SourceKind, Speaker, Wish,
};
use heirloom_model::limits::TRANSCRIPT_CALLS_MAX;
use std::collections::HashSet;
use std::path::Path;

/// Learner of one conversation.
#[derive(Debug, Default)]
pub(crate) struct ConversationLearner {
    /// The stored state.
    pub(crate) state: LearningState,
    extractor: LessonExtractor,
    /// Calls of Heirloom whose results are memory already.
    own_calls: HashSet<String>,
    /// True if the extractor has read something since the last storing.
    pub(crate) has_news: bool,
}

impl ConversationLearner {
    /// Creates a learner that continues from a stored state.
    pub(crate) fn new(state: LearningState) -> Self {
        Self {
            state,
            ..Self::default()
        }
    }

    /// Names the project's folder when the conversation was recorded, so that lessons have paths relative to it.
    #[must_use]
    pub(crate) fn with_project_folder(mut self, folder: &Path) -> Self {
        self.extractor = self
            .extractor
            .with_project_folder(&folder.to_string_lossy());
        self
    }

    /// Uses the judgement of a model on the lessons.
    #[must_use]
    pub(crate) fn with_judgement(mut self, judgement: Option<Judgement>) -> Self {
        self.state.judgement = judgement;
        self
    }

    /// Returns the offset at which reading begins so that the lessons of the whole conversation are found. `offset` is
    /// where its import continues, `size` the size of the file if it may have grown.
    pub(crate) fn start(&mut self, offset: u64, size: Option<u64>) -> u64 {
        let learned_to = self.state.offset;
        let is_up_to_date = learned_to == offset && size.is_none_or(|size| size <= offset);
        match self.state.extractor.take() {
            Some(extractor) if offset > 0 && learned_to <= offset => {
                self.extractor = extractor;
            }
            _ if offset > 0 && is_up_to_date => {}
            _ => self.state.restart(),
        }
        self.state.offset
    }

    /// Reads the conversation again if it lost lines that the extractor has read, because a person went back.
    pub(crate) fn check_superseded(&mut self, reader: &TranscriptReader) {
        let lost = reader.superseded_before(self.state.offset) as u64;
        if lost != self.state.superseded {
            self.state.restart();
        }
    }

    /// Records how many superseded lines the extractor has read.
    pub(crate) fn count_superseded(&mut self, reader: &TranscriptReader) {
        self.state.superseded = reader.superseded_before(self.state.offset) as u64;
    }

    /// Returns true if the stored extractor has read exactly the part of the file before `offset`.
    pub(crate) fn continues_at(&self, offset: u64) -> bool {
        self.state.extractor.is_some() && self.state.offset == offset
    }

    /// Continues from the stored extractor; returns false if no state is stored.
    pub(crate) fn resume(&mut self) -> bool {
        match self.state.extractor.take() {
            Some(extractor) => {
                self.extractor = extractor;
                true
            }
            None => false,
        }
    }

    /// Reads the next event. Its id is that of the stored message.
    pub(crate) fn push(&mut self, engine: &Engine, program: AgentProgram, event: &TranscriptEvent) {
        if self.is_own(event) {
            return;
        }
        if let Some(event) = extractor_input(engine, program, event) {
            self.extractor.push(&event);
            self.has_news = true;
        }
    }

    /// Returns true for a call of Heirloom and its result.
    fn is_own(&mut self, event: &TranscriptEvent) -> bool {
        match &event.body {
            EventBody::Call { call, tool, action } => {
                let is_own = tool.contains("heirloom")
                    || matches!(action, ToolAction::Command(command) if is_heirloom_command(command));
                if is_own && self.own_calls.len() < TRANSCRIPT_CALLS_MAX {
                    self.own_calls.insert(bounded_name(call).into_owned());
                }
                is_own
            }
            EventBody::Result { call, .. } => self.own_calls.remove(&*bounded_name(call)),
            EventBody::ConversationStart(_)
            | EventBody::Prompt(_)
            | EventBody::AssistantText(_)
            | EventBody::Summary(_)
            | EventBody::FileChanged(_)
            | EventBody::AbandonedPrompt(_)
            | EventBody::TokenUsage(_) => false,
        }
    }

    /// Returns the wishes of the person found so far.
    pub(crate) fn wishes(&self) -> &[Wish] {
        self.extractor.wishes()
    }

    /// Returns the lessons found so far. In a conversation of a subagent no person spoke. The to-do list of an ended
    /// session is history: what is left of it is no step to do.
    pub(crate) fn lessons(&self, is_of_subagent: bool, has_ended: bool) -> Vec<Lesson> {
        let mut lessons = self.extractor.judged_lessons(self.state.judgement.as_ref());
        if has_ended {
            for lesson in &mut lessons {
                if let LessonContent::Steps(steps) = &mut lesson.candidate.content {
                    steps.retain(|step| step.is_done);
                }
            }
        }
        if is_of_subagent {
            lessons.retain(|lesson| {
                let candidate = &lesson.candidate;
                let is_of_session = matches!(
                    candidate.source,
                    SourceKind::Case | SourceKind::Plan | SourceKind::Report
                );
                candidate.speaker != Speaker::Person && !is_of_session
            });
        }
        lessons
    }

    /// Keeps the extractor in the stored state, so that the next reading continues.
    pub(crate) fn keep_extractor(&mut self) {
        self.state.extractor = Some(self.extractor.clone());
    }
}
