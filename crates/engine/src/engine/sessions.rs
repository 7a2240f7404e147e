//! Conversations of runs: who was told what in which iteration.

use super::Engine;
use super::new_record::bad_name;
use heirloom_model::record::{Attrs, check_name};
use heirloom_model::{Fault, Message, RecordId, Role, Scope, Session, clock, limits, text};
use heirloom_store::Change;
use serde_json::json;
use std::collections::VecDeque;

/// The attribute of a session whose hooks were called.
pub(super) const HOOKED: &str = "hooks";
/// The attribute of a session whose conversation a program wrote down: how far it was read.
pub(super) const TRANSCRIPT: &str = "transcript";

/// One turn that is to be kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewTurn {
    /// Whose turn it was.
    pub role: Role,
    /// Who spoke, where the role does not say it.
    pub sender: Option<String>,
    /// The task of the session, if the session is new.
    pub task: Option<String>,
    /// The agent of the session, if the session is new.
    pub agent: Option<String>,
    /// What was said.
    pub text: String,
}

/// Where a turn was put.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TurnAdded {
    /// The session.
    pub session: String,
    /// The place in it, from 0.
    pub seq: u64,
    /// Its id.
    pub id: RecordId,
}

impl Engine {
    /// A new session for `agent` on `task`, with its first iteration; not stored yet.
    pub(crate) fn new_session(
        &self,
        agent: Option<String>,
        task: Option<String>,
        iteration: u32,
    ) -> Session {
        let now = self.now();
        let mut attrs = Attrs::new();
        attrs.insert("iteration".to_owned(), json!(iteration));
        Session {
            project: self.project.clone(),
            id: self.ids.next(now).to_string(),
            agent,
            task,
            started_at: now,
            ended_at: None,
            attrs,
        }
    }

    /// Stores a session, or what is new of it.
    pub(crate) fn put_session(&self, session: &Session) -> Result<(), Fault> {
        self.writable()?;
        Ok(self.store.put_session(session)?)
    }

    /// The newest session that no agent program held for itself, if there is one: those of hooks and transcripts say
    /// nothing of runs.
    pub fn latest_session(&self) -> Result<Option<Session>, Fault> {
        let is_own = |session: &Session| {
            let names = [HOOKED, TRANSCRIPT];
            !names.iter().any(|name| session.attrs.contains_key(*name))
        };
        for limit in [1, 50, limits::FIND_MAX] {
            let sessions = self.store.sessions(&self.project, None, limit)?;
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

    /// The newest sessions by start, newest first, of one task if it is named; at most `limit`.
    pub fn sessions_of(&self, task: Option<&str>, limit: usize) -> Result<Vec<Session>, Fault> {
        Ok(self.store.sessions(&self.project, task, limit)?)
    }

    /// Says in the newest session, or in a first one, that it has reached the iteration of `scope`.
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

    /// Appends one turn to the session `id`, which comes into being with it; both as one durable step.
    ///
    /// Errors: `Usage` for a turn without text or over [`limits::SESSION_ADD_BYTES_MAX`], or a bad name.
    pub fn add_turn(&self, id: &str, turn: &NewTurn) -> Result<TurnAdded, Fault> {
        let said = turn.text.trim_end();
        if said.trim().is_empty() {
            return Err(
                Fault::usage("the turn has no text").hint("its text comes from standard input")
            );
        }
        if said.len() > limits::SESSION_ADD_BYTES_MAX {
            let most = limits::SESSION_ADD_BYTES_MAX;
            return Err(Fault::usage(format!("the turn has more than {most} bytes")));
        }
        // The store redacts the name of a session; a message must go to the same one.
        let id = self.clean(id.trim()).into_owned();
        check_name("session", &id).map_err(|bad| bad_name(&bad))?;
        let now = self.now();
        let session = Session {
            project: self.project.clone(),
            id: id.clone(),
            agent: turn.agent.clone(),
            task: turn.task.clone(),
            started_at: now,
            ended_at: None,
            attrs: Attrs::new(),
        };
        let message = Message {
            id: self.ids.next(now),
            seq: 0,
            role: turn.role,
            sender: turn.sender.clone(),
            text: said.to_owned(),
            attrs: Attrs::new(),
            tokens: u32::try_from(text::tokens(said)).unwrap_or(u32::MAX),
            at: now,
        };
        let message_id = message.id;
        self.apply(&[
            Change::TakeSession(Box::new(session)),
            Change::TakeMessage {
                session: id.clone(),
                message: Box::new(message),
            },
        ])?;
        let added = self.store.turns(&self.project, &[message_id])?.pop();
        let (session, message) =
            added.ok_or_else(|| Fault::failed("the turn was written and cannot be found"))?;
        Ok(TurnAdded {
            session,
            seq: message.seq,
            id: message.id,
        })
    }

    /// The session `id` with its turns in order: all of them, or the last `last`. Errors: `NotFound`.
    pub fn session(&self, id: &str, last: Option<usize>) -> Result<(Session, Vec<Message>), Fault> {
        const PAGE: usize = 1_000;
        let session = self.store.session(&self.project, id)?;
        let mut turns = VecDeque::new();
        let mut from = 0;
        loop {
            let page = self.store.messages(&self.project, id, from, PAGE)?;
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
    pub(crate) fn append_turns(
        &self,
        session: &Session,
        turns: &[(Role, &str)],
    ) -> Result<(), Fault> {
        self.writable()?;
        let now = self.now();
        let messages: Vec<_> = turns
            .iter()
            .filter(|(_, said)| !said.is_empty())
            .map(|(role, said)| Message {
                id: self.ids.next(now),
                seq: 0,
                role: *role,
                sender: None,
                text: (*said).to_owned(),
                attrs: Attrs::new(),
                tokens: u32::try_from(text::tokens(said)).unwrap_or(u32::MAX),
                at: now,
            })
            .collect();
        self.store
            .append_messages(&self.project, &session.id, &messages)?;
        Ok(())
    }
}

/// Takes over what stays from the session before, and begins behind it: it is the latest one even where a
/// clock went back.
pub(super) fn follow(session: &mut Session, before: &Session) {
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

/// The iteration that a session of a run has reached.
pub(crate) fn iteration_of(session: &Session) -> u32 {
    let iteration = session
        .attrs
        .get("iteration")
        .and_then(serde_json::Value::as_u64);
    iteration.and_then(|n| u32::try_from(n).ok()).unwrap_or(0)
}
