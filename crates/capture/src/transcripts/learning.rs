//! Learning while a transcript is imported.

use super::attribution::FormerRoots;
use super::entry_ids::EntryOwner;
use super::importer::TranscriptImporter;
use super::learning_mode::LearningMode;
use super::transcript_input::Source;
use super::two_pass_reader::head_of;
use crate::Transcripts;
use crate::lessons::{ConversationLearner, LearningState, add_repeated_wishes};
use heirloom_agents::AgentProgram;
use heirloom_agents::transcripts::{EventBody, SupersededLineScan, TranscriptEvent};
use heirloom_engine::{Coverage, LearnedConversation, LessonBatch, TASK_MAIN};
use heirloom_model::{Fault, RecordId, Timestamp};
use std::path::{Path, PathBuf};

impl TranscriptImporter<'_, '_, '_> {
    /// Creates the learner of the current session; `None` if learning is switched off. With hooks, the conversation has
    /// a batch of its own, whose id follows from the session and from the batch before, so that a hook that runs after
    /// a crash continues it.
    pub(super) fn load_learner(&mut self) {
        let is_on = self.engine.settings().learns && !self.writer.is_dry_run();
        let state = self.known.as_ref().map(LearningState::of_session);
        self.learner = is_on.then(|| {
            ConversationLearner::new(state.unwrap_or_default()).with_project_folder(&self.base)
        });
        if self.mode == LearningMode::Import {
            return;
        }
        let began = self.session_start();
        if let Some(learner) = &mut self.learner {
            let former = learner.state.conversation_batch;
            let batch = former.filter(|_| !self.is_conversation_reverted);
            let batch = batch.unwrap_or_else(|| {
                let former = former.map(|id| id.to_string()).unwrap_or_default();
                let project = self.engine.project().as_str();
                let parts = ["conversation", project, &self.session, &former];
                RecordId::from_parts(began, &parts)
            });
            self.writer.continue_batch(batch);
            learner.state.conversation_batch = Some(batch);
        }
    }

    /// Returns the time at which the session began.
    fn session_start(&self) -> Timestamp {
        let known = self.known.as_ref().map(|known| known.started_at);
        known.or(self.began).unwrap_or_else(|| self.engine.now())
    }

    /// Returns the offset at which reading begins: before that of the import if the extractor has not read as far.
    pub(super) fn learning_start(&mut self, offset: u64, size: Option<u64>) -> u64 {
        match &mut self.learner {
            Some(learner) => learner.start(offset, size).min(offset),
            None => offset,
        }
    }

    /// Returns true if no line before `offset` has to be read again.
    pub(super) fn continues_at(&self, offset: u64) -> bool {
        (self.learner.as_ref()).is_none_or(|learner| learner.continues_at(offset))
    }

    /// Passes an event to the extractor.
    pub(super) fn learn(&mut self, event: &TranscriptEvent) -> Result<(), Fault> {
        if let EventBody::ConversationStart(_) = event.body {
            return self.store_lessons();
        }
        let Some(mut learner) = self.learner.take() else {
            return Ok(());
        };
        let time = self.known_time(event.at);
        let mut event = event.clone();
        event.id = self.entry_owner().message_id(&event, time).to_string();
        event.at = Some(time);
        event.agent = event.agent.or_else(|| self.subagent.clone());
        event.author = event.author.or(self.author);
        learner.push(self.engine, self.agent, &event);
        self.learner = Some(learner);
        Ok(())
    }

    /// Records that the extractor has read the file to `offset`.
    pub(super) fn learned_to(&mut self, offset: u64) {
        if let Some(learner) = &mut self.learner {
            learner.state.offset = offset;
        }
    }

    /// Stores the lessons of the current session; the session itself is stored by the caller.
    pub(super) fn store_lessons(&mut self) -> Result<(), Fault> {
        if !self
            .learner
            .as_ref()
            .is_some_and(|learner| learner.has_news)
        {
            return Ok(());
        }
        self.write_queued()?;
        self.writer.report_so_far()?;
        let began_at = self.session_start();
        let (Some(learner), true) = (&mut self.learner, self.is_there) else {
            return Ok(());
        };
        let has_ended = self.mode != LearningMode::Live;
        let is_of_subagent = self.subagent.is_some();
        let mut lessons = learner.lessons(is_of_subagent, has_ended);
        if !is_of_subagent {
            learner.state.wishes =
                add_repeated_wishes(self.engine, &self.session, learner, &mut lessons)?;
        }
        let task = self.known.as_ref().and_then(|known| known.task.as_deref());
        let conversation = LearnedConversation {
            session: &self.session,
            source: self.agent.as_str(),
            task: task.unwrap_or(TASK_MAIN),
            began_at,
            ended_at: self.last_at.unwrap_or_else(|| self.engine.now()),
            coverage: Coverage::Everything,
        };
        let batch = match self.mode {
            LearningMode::Import => LessonBatch::Given(self.writer.batch().clone()),
            LearningMode::Live | LearningMode::SessionEnd => LessonBatch::OfSession,
        };
        let ledger = &mut learner.state.ledger;
        let report = (self.engine.sessions().lessons()).reconcile(
            &conversation,
            &lessons,
            ledger,
            &batch,
        )?;
        learner.has_news = false;
        if report.batch == Some(self.writer.batch().id) {
            self.writer.report_other_writes();
        }
        self.learned.add(&report);
        if self.mode == LearningMode::Live {
            learner.keep_extractor();
        }
        self.has_new_state = self.mode == LearningMode::Live || !learner.state.is_empty();
        Ok(())
    }

    /// Keeps what the extractor read before a deadline, for the next import.
    pub(super) fn suspend_learning(&mut self) {
        if let Some(learner) = &mut self.learner
            && self.mode != LearningMode::Import
            && learner.has_news
        {
            learner.keep_extractor();
            self.has_new_state = true;
        }
    }
}

impl Transcripts<'_> {
    /// Returns a learner that has read a session's conversation in a transcript; `None` if the file has another one.
    pub(crate) fn read_for_learning(
        &self,
        agent: AgentProgram,
        path: &Path,
        session: &str,
    ) -> Result<Option<ConversationLearner>, Fault> {
        let source = Source::new(path)?;
        let Some(head) = head_of(agent, &source)? else {
            return Ok(None);
        };
        let mut scan = SupersededLineScan::new(agent);
        if scan.is_needed() {
            source.each_line(0, &mut |line| {
                scan.read_line(line.at, line.bytes.unwrap_or_default());
                Ok(true)
            })?;
        }
        let mut current = self.session_name(&head);
        let folder = agent.recorded_folder(path, &head).map(PathBuf::from);
        let folder = folder.unwrap_or_else(|| self.engine.root().to_path_buf());
        let base = self.base_of(&folder, &FormerRoots::default());
        let mut learner = ConversationLearner::default().with_project_folder(&base);
        let mut is_found = false;
        let origin = head.origin.as_ref();
        let mut last = origin.map(|origin| origin.began).or(head.began);
        let owner = EntryOwner {
            agent,
            session,
            origin,
        };
        let now = self.engine.now();
        let mut take = |mut event: TranscriptEvent| {
            if let EventBody::ConversationStart(name) = &event.body {
                current = Some(name.clone());
            }
            if current.as_deref() == Some(session) {
                is_found = true;
                last = event.at.or(last);
                let time = last.unwrap_or(now).min(now);
                event.id = owner.message_id(&event, time).to_string();
                event.at = Some(time);
                event.agent = event.agent.or_else(|| head.agent.clone());
                event.author = event.author.or(head.author);
                learner.push(self.engine, agent, &event);
            }
        };
        let mut reader = scan.into_reader();
        source.each_line(0, &mut |line| {
            reader.read_line(line.at, line.bytes.unwrap_or_default(), &mut take);
            Ok(true)
        })?;
        reader.finish(&mut take);
        Ok(is_found.then_some(learner))
    }
}
