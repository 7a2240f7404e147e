//! Conversations under construction, from whose events tests take lessons.

use heirloom_agents::transcripts::{EventBody, FileEdit, ToolAction, ToolOutcome, TranscriptEvent};
use heirloom_lessons::{Candidate, Lesson, LessonExtractor, SourceKind, Verdict};
use heirloom_model::Timestamp;

/// Conversation under construction.
#[derive(Default)]
pub(crate) struct Conversation {
    events: Vec<TranscriptEvent>,
    seconds: i64,
}

impl Conversation {
    pub(crate) fn push(mut self, body: EventBody) -> Self {
        self.seconds += 1;
        self.events.push(TranscriptEvent {
            id: format!("event {}", self.events.len()),
            at: Timestamp::from_second(1_800_000_000 + self.seconds).ok(),
            agent: None,
            author: heirloom_agents::transcripts::TurnAuthor::Person,
            body,
        });
        self
    }

    pub(crate) fn prompt(self, text: &str) -> Self {
        self.push(EventBody::Prompt(text.to_owned()))
    }

    pub(crate) fn answer(self, text: &str) -> Self {
        self.push(EventBody::AssistantText(text.to_owned()))
    }

    pub(crate) fn call(
        self,
        tool: &str,
        action: ToolAction,
        outcome: ToolOutcome,
        output: &str,
    ) -> Self {
        let call = format!("call {}", self.events.len());
        let begun = self.push(EventBody::Call {
            call: call.clone(),
            tool: tool.to_owned(),
            action,
        });
        begun.push(EventBody::Result {
            call,
            outcome,
            text: output.to_owned(),
        })
    }

    pub(crate) fn run(self, command: &str, output: &str) -> Self {
        let action = ToolAction::Command(command.to_owned());
        self.call("Bash", action, ToolOutcome::Succeeded, output)
    }

    /// Adds edits with commits whose messages give a reason, each of which is a candidate.
    pub(crate) fn commits(self, count: usize) -> Self {
        (0..count).fold(self, |conversation, number| {
            let topic = ["parser", "writer", "cache", "importer", "scheduler"][number % 5];
            let message = format!(
                "git commit -m 'feat: {topic} {number}' -m 'The {topic} uses module{number} instead of legacy{number}, because queue{number} and store{number} are slow in region{number}.'"
            );
            conversation
                .edit(&format!("src/f{number}.rs"))
                .run(&message, "[main 1]")
        })
    }

    pub(crate) fn fail(self, command: &str, output: &str) -> Self {
        let action = ToolAction::Command(command.to_owned());
        self.call("Bash", action, ToolOutcome::Failed, output)
    }

    pub(crate) fn edit(self, path: &str) -> Self {
        let action = ToolAction::Edit(vec![FileEdit::of_path(path.to_owned())]);
        self.call("Edit", action, ToolOutcome::Succeeded, "ok")
    }

    /// Adds an event of a subagent.
    pub(crate) fn of_subagent(mut self, body: EventBody) -> Self {
        self = self.push(body);
        if let Some(event) = self.events.last_mut() {
            event.agent = Some("explorer".to_owned());
        }
        self
    }

    pub(crate) fn wait(mut self, seconds: i64) -> Self {
        self.seconds += seconds;
        self
    }

    pub(crate) fn extractor(&self) -> LessonExtractor {
        let mut extractor = LessonExtractor::default();
        for event in &self.events {
            extractor.push(event);
        }
        extractor
    }

    pub(crate) fn lessons(&self) -> Vec<Lesson> {
        self.extractor().lessons()
    }

    /// Returns the texts of the candidates of a source.
    pub(crate) fn texts(&self, source: SourceKind) -> Vec<String> {
        let all = self.extractor().candidates();
        let wanted = all.iter().filter(|candidate| candidate.source == source);
        wanted.map(Candidate::full_text).collect()
    }

    /// Returns the texts of the kept lessons of a source.
    pub(crate) fn kept(&self, source: SourceKind) -> Vec<String> {
        let all = self.lessons();
        let wanted = all
            .iter()
            .filter(|lesson| lesson.verdict == Verdict::Kept && lesson.candidate.source == source);
        wanted.map(|lesson| lesson.candidate.full_text()).collect()
    }
}
