//! Transcript importer: turns a transcript's events into turns and records.

use super::Engine;
use super::entry_ids::EntryOwner;
use super::import_state::{END_BYTES, State, end_of};
use super::learning_mode::LearningMode;
use crate::failures::shortened;
use crate::lessons::ConversationLearner;
use crate::lessons::author_attrs;
use heirloom_agents::AgentProgram;
use heirloom_agents::signals::SignalParser;
use heirloom_agents::transcripts::{
    ConversationOrigin, EventBody, TranscriptEvent, TranscriptHeader, TurnAuthor,
    without_injected_text,
};
use heirloom_engine::{ImportWriter, LessonsReport};
use heirloom_model::limits::{TRANSCRIPT_BUFFERED_CHANGES_MAX, TRANSCRIPT_TEXT_CHARS_MAX};
use heirloom_model::record::Attrs;
use heirloom_model::{Fault, Message, RecordId, Role, Scope, Session, Timestamp, text};
use heirloom_store::Change;
use serde_json::json;
use std::collections::{HashMap, HashSet};
use std::path::PathBuf;

/// Call without its result.
#[derive(Debug)]
pub(super) enum PendingCall {
    /// A command.
    Command(String),
    /// Edit of files.
    Edit(Vec<String>),
    /// A call of Heirloom, whose result is stored already.
    Own,
    /// Another tool.
    Other,
}

/// State of one transcript's import.
pub(super) struct TranscriptImporter<'t, 'e, 'x> {
    pub(super) engine: &'e Engine,
    pub(super) agent: AgentProgram,
    pub(super) writer: &'x mut ImportWriter<'t>,
    pub(super) parser: SignalParser,
    /// Project root when the transcript was recorded, and the working folder.
    pub(super) base: PathBuf,
    pub(super) folder: PathBuf,
    pub(super) subagent: Option<String>,
    /// Author of the prompts of the whole conversation.
    pub(super) author: TurnAuthor,
    parent: Option<String>,
    /// First one of the conversations that were forked from each other.
    origin: Option<ConversationOrigin>,
    pub(super) session: String,
    /// The stored session.
    pub(super) known: Option<Session>,
    /// True if the session is stored or written by this import.
    pub(super) is_there: bool,
    pub(super) state: State,
    read_to: u64,
    pub(super) last_at: Option<Timestamp>,
    pub(super) began: Option<Timestamp>,
    queued: Vec<Change>,
    newest: Option<RecordId>,
    pub(super) calls: HashMap<String, (String, PendingCall)>,
    pub(super) files: HashSet<String>,
    /// Newest value of each key from signals.
    pub(super) keyed: Vec<(String, Change)>,
    last_line: Option<(u64, Vec<u8>)>,
    /// True if unresolved failures become open errors at the end.
    pub(super) records_open_failures: bool,
    pub(super) mode: LearningMode,
    /// True if messages of an earlier import are no longer stored.
    pub(super) is_conversation_reverted: bool,
    /// The learner of the current session, if learning is switched on.
    pub(super) learner: Option<ConversationLearner>,
    /// Counts of all sessions of the file.
    pub(super) learned: LessonsReport,
    /// True if the state of learning must be stored.
    pub(super) has_new_state: bool,
}

impl<'t, 'e, 'x> TranscriptImporter<'t, 'e, 'x> {
    pub(super) fn new(
        engine: &'e Engine,
        agent: AgentProgram,
        (base, folder): (PathBuf, PathBuf),
        head: &TranscriptHeader,
        session: String,
        known: Option<Session>,
        writer: &'x mut ImportWriter<'t>,
    ) -> Result<Self, Fault> {
        let parser = SignalParser::new(engine.contexts().signal_rules()?);
        let parent = head.session.clone().filter(|_| head.agent.is_some());
        Ok(Self {
            engine,
            agent,
            writer,
            parser,
            base,
            folder,
            subagent: head.agent.clone(),
            author: head.author,
            parent: parent.filter(|parent| *parent != session),
            origin: head.origin.clone(),
            session,
            is_there: known.is_some(),
            known,
            state: State::default(),
            read_to: 0,
            last_at: None,
            began: head.began,
            queued: Vec::new(),
            newest: None,
            calls: HashMap::new(),
            files: HashSet::new(),
            keyed: Vec::new(),
            last_line: None,
            records_open_failures: false,
            mode: LearningMode::Import,
            is_conversation_reverted: false,
            learner: None,
            learned: LessonsReport::default(),
            has_new_state: false,
        })
    }

    /// Returns the session of the current events.
    pub(super) fn session_id(&self) -> &str {
        &self.session
    }

    /// Continues from a stored state.
    pub(super) fn start(&mut self, state: State) {
        self.read_to = state.offset;
        self.state = state;
    }

    /// Records that the file was read to `offset` and that its last line begins at `at`.
    pub(super) fn read_to(&mut self, offset: u64, at: u64, line: &[u8]) {
        self.read_to = offset;
        let from = line.len().saturating_sub(END_BYTES);
        let (known, end) = self.last_line.get_or_insert_default();
        *known = at;
        end.clear();
        end.extend_from_slice(&line[from..]);
    }

    /// Processes one event.
    pub(super) fn take(&mut self, event: TranscriptEvent) -> Result<(), Fault> {
        let at = self.event_time(event.at);
        let agent = event.agent.or_else(|| self.subagent.clone());
        let author = event.author.or(self.author);
        match event.body {
            EventBody::ConversationStart(session) => self.switch_session(session, at)?,
            EventBody::Prompt(text) => {
                let text = message_text(self.engine, &text);
                let attrs = author_attrs(author);
                self.add_turn(Role::User, agent, text, attrs, &event.id, at);
            }
            // It is not in the conversation that the person went on with.
            EventBody::AbandonedPrompt(_) => {}
            EventBody::AssistantText(text) => {
                self.process_signals(&text, &event.id, at, agent.as_deref())?;
                self.add_message(Role::Assistant, &text, &event.id, at, agent);
            }
            EventBody::Summary(text) => self.add_message(Role::System, &text, &event.id, at, agent),
            EventBody::Call {
                call,
                tool,
                action: act,
            } => self.add_call(call, tool, act, at, agent),
            EventBody::Result {
                call,
                outcome: failed,
                text,
            } => {
                let text = self.agent.clean_output(&text);
                self.add_result(&call, failed, &text, &event.id, at, agent)?;
            }
            EventBody::FileChanged(file) => self.add_changed_file(&file, at, agent.as_deref())?,
            EventBody::TokenUsage(used) => {
                let usage = &mut self.state.usage;
                usage.input = usage.input.saturating_add(used.input);
                usage.cached = usage.cached.saturating_add(used.cached);
                usage.output = usage.output.saturating_add(used.output);
            }
        }
        if self.queued.len() >= TRANSCRIPT_BUFFERED_CHANGES_MAX {
            self.write_queued()?;
            self.store_state()?;
        }
        Ok(())
    }

    /// Returns the time of an event, at most now, because the recording machine's clock may differ.
    fn event_time(&mut self, at: Option<Timestamp>) -> Timestamp {
        let at = self.known_time(at);
        self.began.get_or_insert(at);
        self.last_at = self.last_at.max(Some(at));
        at
    }

    /// Returns the time of an event. A copied one without a time is as old as the original conversation.
    pub(super) fn known_time(&self, at: Option<Timestamp>) -> Timestamp {
        let now = self.engine.now();
        let origin = self.origin.as_ref().map(|origin| origin.began);
        let at = at.or(self.last_at).or(origin).or(self.began);
        at.unwrap_or(now).min(now)
    }

    fn add_message(
        &mut self,
        role: Role,
        text: &str,
        id: &str,
        at: Timestamp,
        agent: Option<String>,
    ) {
        let text = message_text(self.engine, text);
        self.add_turn(role, agent, text, Attrs::new(), id, at);
    }

    pub(super) fn add_turn(
        &mut self,
        role: Role,
        sender: Option<String>,
        text: String,
        attrs: Attrs,
        id: &str,
        at: Timestamp,
    ) {
        if text.trim().is_empty() {
            return;
        }
        let id = self.entry_id("turn", id, at);
        let message = Message {
            id,
            seq: 0,
            role,
            sender,
            tokens: u32::try_from(text::tokens(&text)).unwrap_or(u32::MAX),
            text,
            attrs,
            at,
        };
        self.newest = Some(id);
        self.queued.push(Change::ImportMessage {
            session: self.session.clone(),
            message: Box::new(message),
        });
    }

    /// Returns a stable id, so that a repeated import finds the same entry.
    pub(super) fn entry_id(&self, what: &str, id: &str, at: Timestamp) -> RecordId {
        self.entry_owner().entry_id(what, id, at)
    }

    /// Returns the conversation by which entries are identified.
    pub(super) fn entry_owner(&self) -> EntryOwner<'_> {
        EntryOwner {
            agent: self.agent,
            session: &self.session,
            origin: self.origin.as_ref(),
        }
    }

    pub(super) fn scope(&self, agent: Option<&str>) -> Scope {
        Scope {
            session: Some(self.session.clone()),
            agent: agent.map(str::to_owned),
            ..Scope::default()
        }
    }

    pub(super) fn queue(&mut self, change: Change) {
        self.queued.push(change);
    }

    /// Queues a record with a stable id and its original time; a stored record stays unchanged.
    pub(super) fn queue_as(&mut self, change: Change, id: RecordId, at: Timestamp) {
        if let Some(change) = keep_existing(change, id, at) {
            self.queue(change);
        }
    }

    /// Switches to another conversation in the same file.
    fn switch_session(&mut self, session: String, at: Timestamp) -> Result<(), Fault> {
        self.record_open_signals();
        self.write_queued()?;
        if std::mem::take(&mut self.has_new_state) {
            self.store_state()?;
        }
        let known = self.engine.sessions().find(&session)?;
        self.is_there = known.is_some();
        self.known = known;
        self.session = session;
        (self.began, self.last_at) = (Some(at), Some(at));
        self.state = State::default();
        self.files.clear();
        self.calls.clear();
        self.load_learner();
        Ok(())
    }

    /// Writes the queued changes after the session that they belong to.
    pub(super) fn write_queued(&mut self) -> Result<(), Fault> {
        let keyed = std::mem::take(&mut self.keyed);
        self.queued
            .extend(keyed.into_iter().map(|(_, change)| change));
        if self.queued.is_empty() {
            return Ok(());
        }
        self.update_offset();
        if let Some(newest) = self.newest.take() {
            self.state.mark(newest);
        }
        if !self.is_there {
            let session = Box::new(self.current_session());
            self.writer.add(0, Change::ImportSession(session))?;
            self.is_there = true;
        }
        for change in std::mem::take(&mut self.queued) {
            self.writer.add(0, change)?;
        }
        Ok(())
    }

    fn update_offset(&mut self) {
        self.state.offset = self.read_to;
        // Without a new line, the last one of the import before stays.
        if let Some((at, end)) = &self.last_line {
            self.state.last = Some((*at, end_of(end)));
        }
    }

    /// Returns the session with its current state.
    fn current_session(&self) -> Session {
        let fallback = self.began.unwrap_or_else(|| self.engine.now());
        let mut session = self.known.clone().unwrap_or_else(|| Session {
            project: self.engine.project().clone(),
            id: self.session.clone(),
            agent: Some(self.agent.as_str().to_owned()),
            task: None,
            started_at: fallback,
            ended_at: None,
            attrs: Attrs::new(),
        });
        if self.mode != LearningMode::Live {
            session.ended_at = session.ended_at.max(self.last_at);
        }
        if !session.attrs.contains_key("cwd") {
            let folder: PathBuf = self.folder.components().collect();
            session.attrs.insert("cwd".to_owned(), json!(folder));
        }
        if let Some(parent) = &self.parent {
            session.attrs.insert("parent".to_owned(), json!(parent));
        }
        if let Some(agent) = &self.subagent {
            session.attrs.insert("agent_id".to_owned(), json!(agent));
        }
        self.state.put(&mut session.attrs);
        if let Some(learner) = &self.learner
            && !learner.state.is_empty()
        {
            learner.state.put(&mut session.attrs);
        }
        session
    }

    /// Stores the import state, after the entries that it covers.
    fn store_state(&mut self) -> Result<(), Fault> {
        self.writer.report_so_far()?;
        if self.writer.is_dry_run() {
            return Ok(());
        }
        let session = self.current_session();
        self.engine.sessions().put_session(&session)?;
        self.known = Some(session);
        Ok(())
    }

    /// Writes the remaining changes; with `goes_on` the offset is stored for the next import. Lessons are stored if
    /// the file was read to its end.
    pub(super) fn end(&mut self, goes_on: bool, is_complete: bool) -> Result<(), Fault> {
        self.record_open_signals();
        if self.records_open_failures {
            self.record_open_commands();
        }
        let before = self.state.clone();
        let was_there = self.is_there;
        self.write_queued()?;
        self.update_offset();
        let has_words = !self.state.marks.is_empty();
        let moved = before.offset != self.state.offset || before.marks != self.state.marks;
        match is_complete {
            true => self.store_lessons()?,
            false => self.suspend_learning(),
        }
        // A session that is created by these changes contains the state already.
        let has_progress =
            was_there && goes_on && has_words && moved && self.agent.appends_transcripts();
        if has_progress || (self.has_new_state && self.is_there) {
            self.store_state()?;
        }
        Ok(())
    }
}

/// Converts a change into one that keeps a stored record unchanged.
pub(super) fn keep_existing(change: Change, id: RecordId, at: Timestamp) -> Option<Change> {
    let Change::Put { mut record, .. } = change else {
        return None;
    };
    record.id = id;
    record.recorded_at = at;
    let merge = heirloom_model::MergeRule::Keep;
    Some(Change::Put { record, merge })
}

/// Returns the text of a message as it is stored.
fn message_text(engine: &Engine, text: &str) -> String {
    let text = without_injected_text(text);
    shortened(engine, text.trim(), TRANSCRIPT_TEXT_CHARS_MAX)
}
