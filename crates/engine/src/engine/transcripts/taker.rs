//! From what a transcript tells to turns and records.

use super::super::outputs::id_of;
use super::super::transfer::Taking;
use super::Engine;
use super::acting::Called;
use super::reading::{END_BYTES, end_of};
use super::state::State;
use crate::signals::SignalParser;
use crate::transcripts::{Agent, Event, Head, Told, preview, without_own};
use heirloom_model::limits::{TRANSCRIPT_HELD_MAX, TRANSCRIPT_TEXT_CHARS_MAX};
use heirloom_model::record::Attrs;
use heirloom_model::{Fault, Message, Role, Scope, Session, Timestamp, text};
use heirloom_store::Change;
use serde_json::json;
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::path::PathBuf;

/// Ends of a longer answer that are searched for secrets before they are shortened, bytes: longer than any key.
const CLEANED_BYTES: usize = 32 << 10;

/// What is told of one conversation on its way into an import.
pub(super) struct Taker<'t, 'e, 'x> {
    pub(super) engine: &'e Engine,
    pub(super) agent: Agent,
    pub(super) taking: &'x mut Taking<'t>,
    pub(super) parser: SignalParser,
    /// Where the project lay, and the folder below it.
    pub(super) base: PathBuf,
    pub(super) folder: PathBuf,
    subagent: Option<String>,
    parent: Option<String>,
    pub(super) session: String,
    /// The session as it is here.
    known: Option<Session>,
    /// Whether the session is written, or here.
    is_there: bool,
    pub(super) state: State,
    read_to: u64,
    last_at: Option<Timestamp>,
    began: Option<Timestamp>,
    held: Vec<Change>,
    newest: Option<heirloom_model::RecordId>,
    pub(super) calls: HashMap<String, (String, Called)>,
    pub(super) files: HashSet<String>,
    /// Values of keys that were told, the newest of each.
    pub(super) keyed: Vec<(String, Change)>,
    last_line: Option<(u64, Vec<u8>)>,
    /// Whether what failed and was not mended is open at the end.
    pub(super) settles: bool,
}

impl<'t, 'e, 'x> Taker<'t, 'e, 'x> {
    pub(super) fn new(
        engine: &'e Engine,
        agent: Agent,
        (base, folder): (PathBuf, PathBuf),
        head: &Head,
        session: String,
        known: Option<Session>,
        taking: &'x mut Taking<'t>,
    ) -> Result<Self, Fault> {
        let parser = SignalParser::new(&engine.signal_rules()?);
        let parent = head.session.clone().filter(|_| head.agent.is_some());
        Ok(Self {
            engine,
            agent,
            taking,
            parser,
            base,
            folder,
            subagent: head.agent.clone(),
            parent: parent.filter(|parent| *parent != session),
            session,
            is_there: known.is_some(),
            known,
            state: State::default(),
            read_to: 0,
            last_at: None,
            began: head.began,
            held: Vec::new(),
            newest: None,
            calls: HashMap::new(),
            files: HashSet::new(),
            keyed: Vec::new(),
            last_line: None,
            settles: false,
        })
    }

    /// The session that what comes belongs to.
    pub(super) fn session_id(&self) -> &str {
        &self.session
    }

    /// Goes on from what was known.
    pub(super) fn begin(&mut self, state: State) {
        self.read_to = state.offset;
        self.state = state;
    }

    /// The file was read to `offset`; its last line begins at `at`.
    pub(super) fn read_to(&mut self, offset: u64, at: u64, line: &[u8]) {
        self.read_to = offset;
        let from = line.len().saturating_sub(END_BYTES);
        let (known, end) = self.last_line.get_or_insert_default();
        *known = at;
        end.clear();
        end.extend_from_slice(&line[from..]);
    }

    /// Takes one thing that is told.
    pub(super) fn take(&mut self, told: Told) -> Result<(), Fault> {
        let at = self.time(told.at);
        let agent = told.agent.or_else(|| self.subagent.clone());
        match told.event {
            Event::Begins(session) => self.switch(session, at)?,
            Event::Prompt(said) => self.say(Role::User, &said, &told.id, at, agent),
            Event::Said(said) => {
                self.signals(&said, &told.id, at, agent.as_deref())?;
                self.say(Role::Assistant, &said, &told.id, at, agent);
            }
            Event::Summary(said) => self.say(Role::System, &said, &told.id, at, agent),
            Event::Call { call, tool, act } => self.call(call, tool, act, at, agent),
            Event::Result { call, failed, text } => {
                self.result(&call, failed, &text, &told.id, at, agent)?;
            }
            Event::Changed(file) => self.changed(&file, at, agent.as_deref())?,
            Event::Used(used) => {
                let usage = &mut self.state.usage;
                usage.input = usage.input.saturating_add(used.input);
                usage.cached = usage.cached.saturating_add(used.cached);
                usage.output = usage.output.saturating_add(used.output);
            }
        }
        if self.held.len() >= TRANSCRIPT_HELD_MAX {
            self.write_held()?;
            self.keep_state()?;
        }
        Ok(())
    }

    /// A time that is not in the future: whoever wrote it had a clock of their own.
    fn time(&mut self, at: Option<Timestamp>) -> Timestamp {
        let now = self.engine.now();
        let at = at.or(self.last_at).or(self.began).unwrap_or(now).min(now);
        self.began.get_or_insert(at);
        self.last_at = self.last_at.max(Some(at));
        at
    }

    fn say(&mut self, role: Role, said: &str, id: &str, at: Timestamp, agent: Option<String>) {
        let said = without_own(said);
        let said = shortened(self.engine, said.trim(), TRANSCRIPT_TEXT_CHARS_MAX);
        self.turn(role, agent, said, Attrs::new(), id, at);
    }

    pub(super) fn turn(
        &mut self,
        role: Role,
        sender: Option<String>,
        said: String,
        attrs: Attrs,
        id: &str,
        at: Timestamp,
    ) {
        if said.trim().is_empty() {
            return;
        }
        let id = self.id("turn", id, at);
        let message = Message {
            id,
            seq: 0,
            role,
            sender,
            tokens: u32::try_from(text::tokens(&said)).unwrap_or(u32::MAX),
            text: said,
            attrs,
            at,
        };
        self.newest = Some(id);
        self.held.push(Change::TakeMessage {
            session: self.session.clone(),
            message: Box::new(message),
        });
    }

    /// An id that the same thing has whenever it is read. Names that a program gives are the same in a copy of a
    /// conversation; places in a file are not.
    pub(super) fn id(&self, what: &str, id: &str, at: Timestamp) -> heirloom_model::RecordId {
        let is_place = id.bytes().all(|b| b.is_ascii_digit());
        let session = if is_place { self.session.as_str() } else { "" };
        id_of(at, &[what, self.agent.as_str(), session, id])
    }

    pub(super) fn scope(&self, agent: Option<&str>) -> Scope {
        Scope {
            session: Some(self.session.clone()),
            agent: agent.map(str::to_owned),
            ..Scope::default()
        }
    }

    pub(super) fn hold(&mut self, change: Change) {
        self.held.push(change);
    }

    /// Holds a record under an id of its own, from the time when it was said; what is here stays as it is.
    pub(super) fn hold_as(&mut self, change: Change, id: heirloom_model::RecordId, at: Timestamp) {
        if let Some(change) = kept_as(change, id, at) {
            self.hold(change);
        }
    }

    /// Another conversation of the same file begins.
    fn switch(&mut self, session: String, at: Timestamp) -> Result<(), Fault> {
        self.settle_signals();
        self.write_held()?;
        let known = self.engine.session_here(&session)?;
        self.is_there = known.is_some();
        self.known = known;
        self.session = session;
        (self.began, self.last_at) = (Some(at), Some(at));
        self.state = State::default();
        self.files.clear();
        self.calls.clear();
        Ok(())
    }

    /// Writes what is held, behind the session that it belongs to.
    fn write_held(&mut self) -> Result<(), Fault> {
        let keyed = std::mem::take(&mut self.keyed);
        self.held
            .extend(keyed.into_iter().map(|(_, change)| change));
        if self.held.is_empty() {
            return Ok(());
        }
        self.reach();
        if let Some(newest) = self.newest.take() {
            self.state.mark(newest);
        }
        if !self.is_there {
            let session = Box::new(self.session_now());
            self.taking.add(0, Change::TakeSession(session))?;
            self.is_there = true;
        }
        for change in std::mem::take(&mut self.held) {
            self.taking.add(0, change)?;
        }
        Ok(())
    }

    fn reach(&mut self) {
        self.state.offset = self.read_to;
        self.state.last = (self.last_line.as_ref()).map(|(at, end)| (*at, end_of(end)));
    }

    /// The session with what is known of it now.
    fn session_now(&self) -> Session {
        let fallback = self.began.unwrap_or_else(|| self.engine.now());
        let mut session = self.known.clone().unwrap_or_else(|| Session {
            project: self.engine.project.clone(),
            id: self.session.clone(),
            agent: Some(self.agent.as_str().to_owned()),
            task: None,
            started_at: fallback,
            ended_at: None,
            attrs: Attrs::new(),
        });
        session.ended_at = session.ended_at.max(self.last_at);
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
        session
    }

    /// Keeps how far the conversation was taken in: what was added is written first.
    fn keep_state(&mut self) -> Result<(), Fault> {
        self.taking.so_far()?;
        if self.taking.is_dry() {
            return Ok(());
        }
        let session = self.session_now();
        self.engine.put_session(&session)?;
        self.known = Some(session);
        Ok(())
    }

    /// Writes what is left. What was read `goes_on` is known to the session.
    pub(super) fn end(&mut self, goes_on: bool) -> Result<(), Fault> {
        self.settle_signals();
        if self.settles {
            self.settle_commands();
        }
        let before = self.state.clone();
        let was_there = self.is_there;
        self.write_held()?;
        self.reach();
        let has_words = !self.state.marks.is_empty();
        let moved = before.offset != self.state.offset || before.marks != self.state.marks;
        // A session that comes with these changes says it already.
        if was_there && goes_on && has_words && moved && self.agent != Agent::Aider {
            self.keep_state()?;
        }
        Ok(())
    }
}

/// A record that stays what it is where it is here already.
pub(super) fn kept_as(
    change: Change,
    id: heirloom_model::RecordId,
    at: Timestamp,
) -> Option<Change> {
    let Change::Put { mut record, .. } = change else {
        return None;
    };
    record.id = id;
    record.recorded_at = at;
    let merge = heirloom_model::Merge::Keep;
    Some(Change::Put { record, merge })
}

/// A text without its secrets, and no longer than it may be. The secrets are looked for first: half of one is none.
pub(super) fn shortened(engine: &Engine, said: &str, chars_max: usize) -> String {
    let most = CLEANED_BYTES.max(chars_max);
    if said.len() <= 2 * most {
        return preview(&engine.clean(said), chars_max).into_owned();
    }
    let first = &said[..said.floor_char_boundary(most)];
    let last = &said[said.ceil_char_boundary(said.len() - most)..];
    let gap = said.len() - first.len() - last.len();
    let ends: [Cow<'_, str>; 2] = [engine.clean(first), engine.clean(last)];
    let joined = format!("{}\n[… {gap} bytes are not kept …]\n{}", ends[0], ends[1]);
    preview(&joined, chars_max).into_owned()
}

/// What is searched for the line that says what failed: both ends of a long output, without secrets.
pub(in crate::engine) fn shortened_output(engine: &Engine, said: &str) -> String {
    shortened(engine, said, CLEANED_BYTES)
}
