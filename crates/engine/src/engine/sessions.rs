//! Sessions of runs and their turns.

use super::Engine;
use super::new_record::name_fault;
use super::tasks::TASK_MAIN;
use heirloom_model::record::{Attrs, check_name};
use heirloom_model::{
    Fault, Message, RecordId, Role, Scope, Session, bookkeeping, clock, limits, text,
};
use heirloom_store::{Change, StoreError};
use serde_json::json;
use std::collections::VecDeque;

/// Number of the newest runs without a task that are read for their last iteration.
const RUNS_READ_MAX: usize = 200;

/// Attribute of a session whose hooks were called.
pub const HOOKED: &str = "hooks";
/// Attribute of a session with an imported transcript: its import state.
pub const TRANSCRIPT: &str = "transcript";
/// Attribute of a session with the last iteration of a run without a task whose agent started.
pub const STARTED_ITERATION: &str = "started_iteration";

/// New turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewTurn {
    /// Role of the sender.
    pub role: Role,
    /// Sender, if the role is not enough.
    pub sender: Option<String>,
    /// The task of the session, if the session is new.
    pub task: Option<String>,
    /// The agent of the session, if the session is new.
    pub agent: Option<String>,
    /// Text.
    pub text: String,
    /// True for bookkeeping: data of a program that no prompt and no search shows.
    pub machine: bool,
}

/// Position of a new turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TurnAdded {
    /// The session.
    pub session: String,
    /// Position in the session, from 0.
    pub seq: u64,
    /// Id of the turn.
    pub id: RecordId,
}

/// Sessions with their messages, their summaries and snapshots of working memory.
#[derive(Clone, Copy)]
pub struct Sessions<'e> {
    pub(super) engine: &'e Engine,
}

impl Sessions<'_> {
    /// Returns a session, or `None` if none is stored under this id.
    pub fn find(&self, id: &str) -> Result<Option<Session>, Fault> {
        match self.engine.store.session(&self.engine.project, id) {
            Ok(session) => Ok(Some(session)),
            Err(StoreError::NotFound { .. }) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Returns the number of these messages that are stored.
    pub fn count_messages(&self, ids: &[RecordId]) -> Result<usize, Fault> {
        Ok(self.engine.store.turns(&self.engine.project, ids)?.len())
    }

    /// Creates a session for `agent` on `task`, without storing it.
    pub fn new_session(
        &self,
        agent: Option<String>,
        task: Option<String>,
        iteration: u32,
    ) -> Session {
        let now = self.engine.now();
        let mut attrs = Attrs::new();
        attrs.insert("iteration".to_owned(), json!(iteration));
        Session {
            project: self.engine.project.clone(),
            id: self.engine.ids.next(now).to_string(),
            agent,
            task,
            started_at: now,
            ended_at: None,
            attrs,
        }
    }

    /// Returns the last iteration of the newest runs without a task; 0 if there was none.
    pub fn last_iteration_without_task(&self) -> Result<u32, Fault> {
        let found = self.sessions_of(Some(TASK_MAIN), RUNS_READ_MAX)?;
        let started = found.iter().map(|one| number_of(one, STARTED_ITERATION));
        Ok(started.max().unwrap_or(0))
    }

    /// Stores a session, or its changes.
    pub fn put_session(&self, session: &Session) -> Result<(), Fault> {
        self.engine.require_memory()?;
        Ok(self.engine.store.put_session(session)?)
    }

    /// Returns the newest session of a run. Sessions from hooks and transcripts belong to agent programs and do not
    /// count.
    pub fn latest_session(&self) -> Result<Option<Session>, Fault> {
        let is_own = |session: &Session| {
            let names = [HOOKED, TRANSCRIPT];
            !names.iter().any(|name| session.attrs.contains_key(*name))
        };
        for limit in [1, 50, limits::FIND_MAX] {
            let sessions = self
                .engine
                .store
                .sessions(&self.engine.project, None, limit)?;
            let is_all = sessions.len() < limit;
            if let Some(found) = sessions.into_iter().find(is_own) {
                return Ok(Some(found));
            }
            if is_all {
                break;
            }
        }
        Ok(None)
    }

    /// Returns the newest sessions by start, newest first, of one task if given; at most `limit`.
    pub fn sessions_of(&self, task: Option<&str>, limit: usize) -> Result<Vec<Session>, Fault> {
        Ok(self
            .engine
            .store
            .sessions(&self.engine.project, task, limit)?)
    }

    /// Sets the iteration of the newest session to that of `scope`; creates the first session.
    pub(super) fn reach_iteration(&self, scope: &Scope) -> Result<(), Fault> {
        let session = match (self.latest_session()?, scope.iteration) {
            (Some(mut session), Some(iteration)) => {
                session
                    .attrs
                    .insert("iteration".to_owned(), json!(iteration));
                session
            }
            (Some(_), None) => return Ok(()),
            (None, iteration) => self.new_session(
                scope.agent.clone(),
                scope.task.clone(),
                iteration.unwrap_or(0),
            ),
        };
        self.put_session(&session)
    }

    /// Appends a turn to the session `id`, and creates a missing session in the same transaction.
    ///
    /// Errors: `Usage` for a turn without text or over [`limits::SESSION_ADD_BYTES_MAX`], or an invalid name.
    pub fn add_turn(&self, id: &str, turn: &NewTurn) -> Result<TurnAdded, Fault> {
        let text = turn.text.trim_end();
        if text.trim().is_empty() {
            return Err(
                Fault::usage("the turn has no text").hint("its text comes from standard input")
            );
        }
        if text.len() > limits::SESSION_ADD_BYTES_MAX {
            let most = limits::SESSION_ADD_BYTES_MAX;
            return Err(Fault::usage(format!("the turn has more than {most} bytes")));
        }
        // The store redacts session names, and the message must use the same one.
        let id = self.engine.redaction().redact_input(id.trim()).into_owned();
        check_name("session", &id).map_err(|bad| name_fault(&bad))?;
        let now = self.engine.now();
        let session = Session {
            project: self.engine.project.clone(),
            id: id.clone(),
            agent: turn.agent.clone(),
            task: turn.task.clone(),
            started_at: now,
            ended_at: None,
            attrs: Attrs::new(),
        };
        let mut attrs = Attrs::new();
        if turn.machine {
            bookkeeping::mark_as_machine(&mut attrs);
        }
        let message = Message {
            id: self.engine.ids.next(now),
            seq: 0,
            role: turn.role,
            sender: turn.sender.clone(),
            text: text.to_owned(),
            attrs,
            tokens: u32::try_from(text::tokens(text)).unwrap_or(u32::MAX),
            at: now,
        };
        let message_id = message.id;
        self.engine.apply(&[
            Change::ImportSession(Box::new(session)),
            Change::ImportMessage {
                session: id.clone(),
                message: Box::new(message),
            },
        ])?;
        let added = self
            .engine
            .store
            .turns(&self.engine.project, &[message_id])?
            .pop();
        let (session, message) =
            added.ok_or_else(|| Fault::failed("the turn was written and cannot be found"))?;
        Ok(TurnAdded {
            session,
            seq: message.seq,
            id: message.id,
        })
    }

    /// Returns the session `id` with its turns in order: all of them, or the last `last`. Errors: `NotFound`.
    pub fn get(&self, id: &str, last: Option<usize>) -> Result<(Session, Vec<Message>), Fault> {
        const PAGE: usize = 1_000;
        let session = self.engine.store.session(&self.engine.project, id)?;
        let mut turns = VecDeque::new();
        let mut from = 0;
        loop {
            let page = self
                .engine
                .store
                .messages(&self.engine.project, id, from, PAGE)?;
            let Some(end) = page.last().map(|message| message.seq + 1) else {
                break;
            };
            from = end;
            turns.extend(page);
            if let Some(last) = last {
                turns.drain(..turns.len().saturating_sub(last));
            }
        }
        Ok((session, turns.into()))
    }

    /// Appends turns to a stored session.
    pub fn append_turns(&self, session: &Session, turns: &[(Role, &str)]) -> Result<(), Fault> {
        self.engine.require_memory()?;
        let now = self.engine.now();
        let messages: Vec<_> = turns
            .iter()
            .filter(|(_, text)| !text.is_empty())
            .map(|(role, text)| Message {
                id: self.engine.ids.next(now),
                seq: 0,
                role: *role,
                sender: None,
                text: (*text).to_owned(),
                attrs: Attrs::new(),
                tokens: u32::try_from(text::tokens(text)).unwrap_or(u32::MAX),
                at: now,
            })
            .collect();
        self.engine
            .store
            .append_messages(&self.engine.project, &session.id, &messages)?;
        Ok(())
    }
}

/// Copies lasting attributes of the former session, and moves the start after it, so that it is the latest one even
/// if a clock went back.
pub fn continue_from(session: &mut Session, before: &Session) {
    if let Some(repository) = before.attrs.get("repository") {
        session
            .attrs
            .insert("repository".to_owned(), repository.clone());
    }
    if session.started_at < before.started_at {
        let next = before.started_at.as_microsecond().saturating_add(1);
        session.started_at = clock::from_micros(next);
    }
}

/// Returns the last iteration of a run's session.
pub(crate) fn iteration_of(session: &Session) -> u32 {
    number_of(session, "iteration")
}

fn number_of(session: &Session, name: &str) -> u32 {
    let number = session.attrs.get(name).and_then(serde_json::Value::as_u64);
    number.and_then(|n| u32::try_from(n).ok()).unwrap_or(0)
}
