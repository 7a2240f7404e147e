//! The client: memory of a project on a server.

use crate::answers::{
    Change, CompactResponse, Conflict, Context, ExpandedContent, LoggedError, Note, Outcome,
    RecallResponse, Record, RecordHistory, SimilarAttempts, Status, TaskSummary, ToolResult,
};
use crate::errors::Error;
use crate::event_stream::Events;
use crate::operations::{self as op, RequestEffect};
use crate::pages::{Items, Page};
use crate::request_bodies::{ConflictDecision, NewMark, Resolution};
use crate::requests::{
    CompactRequest, ContextQuery, Mark, NewEpisode, NewError, NewKnowledge, NewNote, RecallQuery,
    RecordFilter,
};
use crate::retry::RetryPolicy;
use crate::session::SessionHandle;
use crate::settings::SettingsInput;
use crate::task::TaskBuilder;
use crate::transport::{Transport, WireRequest};
use crate::workspace::Workspace;
use serde_json::Value;
use std::fmt;
use std::time::Duration;

/// Memory of a project on a Heirloom server: the client.
///
/// A clone shares the connections. The token is in no text of an error and in no debug text.
///
/// ```no_run
/// use heirloom_client::{Memory, NewKnowledge, RecallQuery};
///
/// # fn main() -> Result<(), heirloom_client::Error> {
/// let memory = Memory::new()?; // HEIRLOOM_URL, else http://127.0.0.1:7717, and HEIRLOOM_TOKEN
/// memory.remember("Staging is read-only on Fridays")?;
/// memory.remember(NewKnowledge::new("four spaces").category("convention").key("indent"))?;
/// for hit in memory.recall(RecallQuery::new("may I deploy to staging today?").k(3))? {
///     println!("{:?} {}", hit.relevance, hit.text);
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Memory {
    transport: Transport,
}

/// Settings of a client.
#[derive(Clone, Default)]
pub struct MemoryBuilder {
    input: SettingsInput,
}

impl MemoryBuilder {
    /// Sets the address of the server; by default `HEIRLOOM_URL`, else `http://127.0.0.1:7717`.
    #[must_use]
    pub fn url(mut self, url: impl Into<String>) -> Self {
        self.input.url = Some(url.into());
        self
    }

    /// Sets the token of `heirloom token create`; by default `HEIRLOOM_TOKEN`.
    #[must_use]
    pub fn token(mut self, token: impl Into<String>) -> Self {
        self.input.token = Some(token.into());
        self
    }

    /// Sets the project of all requests; by default the token's project or the served one.
    #[must_use]
    pub fn project(mut self, project: impl Into<String>) -> Self {
        self.input.project = Some(project.into());
        self
    }

    /// Sets the maximum time of one attempt of a request; 30 seconds by default.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.input.timeout = Some(timeout);
        self
    }

    /// Sets the number of attempts, the pauses between them and their total time.
    #[must_use]
    pub fn retry(mut self, retry: RetryPolicy) -> Self {
        self.input.retry = Some(retry);
        self
    }

    /// Trusts these certificate authorities, the content of a PEM file, instead of the public ones.
    #[must_use]
    pub fn root_certificates(mut self, pem: impl Into<Vec<u8>>) -> Self {
        self.input.root_certificates = Some(pem.into());
        self
    }

    /// Creates the client without connecting.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for an address, a token or certificates that cannot be used.
    pub fn build(self) -> Result<Memory, Error> {
        Ok(Memory {
            transport: Transport::new(self.input.resolve()?),
        })
    }
}

impl fmt::Debug for MemoryBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemoryBuilder").finish_non_exhaustive()
    }
}

impl fmt::Debug for Memory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let settings = self.transport.settings();
        f.debug_struct("Memory")
            .field("url", &settings.url)
            .field("project", &settings.project)
            .finish()
    }
}

/// Settings of the client, and the requests that it has no method for.
impl Memory {
    /// Creates a client with the address and the token of the environment, without connecting.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for an address or a token that cannot be used.
    pub fn new() -> Result<Self, Error> {
        Self::builder().build()
    }

    /// Returns the settings of a client to fill.
    #[must_use]
    pub fn builder() -> MemoryBuilder {
        MemoryBuilder::default()
    }

    /// Returns a client for one write, which is sent with this key: a repetition has no second effect.
    ///
    /// Without it each write has a random key, which makes the repetitions by the client safe.
    ///
    /// ```no_run
    /// # fn main() -> Result<(), heirloom_client::Error> {
    /// # let memory = heirloom_client::Memory::new()?;
    /// memory.with_idempotency_key("build-1042").log_error("TestLogin: expected 200, got 500")?;
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn with_idempotency_key(&self, key: &str) -> Self {
        Self {
            transport: self.transport.with_idempotency_key(key),
        }
    }

    /// Sends any request of the API, with the retries of the client, and returns its JSON; `null` if it has none.
    ///
    /// The path has its query and starts with `/`. All methods but `GET` and `HEAD` have an idempotency key.
    ///
    /// ```no_run
    /// # fn main() -> Result<(), heirloom_client::Error> {
    /// # let memory = heirloom_client::Memory::new()?;
    /// let artifacts = memory.request("GET", "/api/memory/artifacts?limit=10", None)?;
    /// println!("{}", artifacts["items"]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// All errors of the client.
    pub fn request(&self, method: &str, path: &str, body: Option<&Value>) -> Result<Value, Error> {
        if !path.starts_with('/') {
            return Err(Error::InvalidArgument(format!(
                "the path `{path}` does not begin with `/`"
            )));
        }
        let is_read = matches!(method, "GET" | "HEAD");
        let answer = self.transport.send(&WireRequest {
            method: method.to_owned(),
            path: path.to_owned(),
            body: body.map(|body| body.to_string().into_bytes()),
            effect: if is_read {
                RequestEffect::Read
            } else {
                RequestEffect::Write
            },
        })?;
        if answer.is_empty() {
            return Ok(Value::Null);
        }
        serde_json::from_slice(&answer)
            .map_err(|error| Error::InvalidResponse(format!("{method} {path}: {error}")))
    }

    /// Returns the state of the project and its store.
    pub fn status(&self) -> Result<Status, Error> {
        self.transport.call(&op::GET_STATUS, None, &[])
    }
}

/// Knowledge and records of all kinds.
impl Memory {
    /// Stores knowledge; a later value for a category and key replaces the earlier one.
    pub fn remember(&self, knowledge: impl Into<NewKnowledge>) -> Result<Outcome, Error> {
        let body: NewKnowledge = knowledge.into();
        self.transport.call_with(&op::ADD_KNOWLEDGE, None, &body)
    }

    /// Searches records of all kinds and turns of conversations, best hit first.
    pub fn recall(&self, query: impl Into<RecallQuery>) -> Result<RecallResponse, Error> {
        let body: RecallQuery = query.into();
        self.transport.call_with(&op::RECALL, None, &body)
    }

    /// Builds the context of a prompt; its displayed form is the text.
    pub fn context(&self, query: &ContextQuery) -> Result<Context, Error> {
        self.transport.call_with(&op::BUILD_CONTEXT, None, query)
    }

    /// Returns a record.
    pub fn get(&self, id: &str) -> Result<Record, Error> {
        self.transport.call(&op::GET_RECORD, Some(id), &[])
    }

    /// Lists records, newest first.
    pub fn records(&self, filter: &RecordFilter) -> Items<Record> {
        let texts = [
            ("kind", &filter.kind),
            ("category", &filter.category),
            ("state", &filter.state),
            ("task_id", &filter.task_id),
            ("agent_id", &filter.agent_id),
            ("source", &filter.source),
            ("project", &filter.project),
        ];
        let texts = texts.into_iter();
        let mut query: Vec<_> = texts
            .filter_map(|(name, value)| Some((name, value.clone()?)))
            .collect();
        query.extend(filter.all.map(|all| ("all", all.to_string())));
        self.list(&op::LIST_RECORDS, query)
    }

    /// Retires a record: it is in no context and no recall. [`Memory::undo`] restores it.
    pub fn forget(&self, id: &str) -> Result<Outcome, Error> {
        self.transport.call(&op::RETIRE_RECORD, Some(id), &[])
    }

    /// Undoes the last change of a record, a file change or an import.
    pub fn undo(&self, id: &str) -> Result<Outcome, Error> {
        self.transport.call(&op::UNDO_CHANGE, Some(id), &[])
    }

    /// Marks a record, without changing it.
    pub fn mark(&self, id: &str, mark: Mark) -> Result<Outcome, Error> {
        let body = NewMark { mark };
        self.transport.call_with(&op::MARK_RECORD, Some(id), &body)
    }

    /// Returns the versions and events of a record, oldest first.
    pub fn history(&self, id: &str) -> Result<RecordHistory, Error> {
        self.transport.call(&op::GET_RECORD_HISTORY, Some(id), &[])
    }

    /// Returns the newest changes of all records, newest first.
    pub fn changes(&self, limit: u32) -> Result<Vec<Change>, Error> {
        let query = [("limit", limit.to_string())];
        self.items(&op::LIST_CHANGES, &query)
    }

    /// Returns the keys with different values and no decision.
    pub fn conflicts(&self) -> Result<Vec<Conflict>, Error> {
        self.items(&op::LIST_CONFLICTS, &[])
    }

    /// Resolves a conflict; `keep` is the id of the record to keep.
    pub fn resolve_conflict(&self, id: &str, keep: &str) -> Result<Outcome, Error> {
        let body = ConflictDecision {
            keep: keep.to_owned(),
        };
        self.transport
            .call_with(&op::RESOLVE_CONFLICT, Some(id), &body)
    }

    /// Adds a note.
    pub fn add_note(&self, note: impl Into<NewNote>) -> Result<Outcome, Error> {
        let body: NewNote = note.into();
        self.transport.call_with(&op::ADD_NOTE, None, &body)
    }

    /// Lists the notes.
    pub fn notes(&self) -> Items<Note> {
        self.list(&op::LIST_NOTES, Vec::new())
    }
}

/// Attempts and errors.
impl Memory {
    /// Returns similar past attempts at any task; `failed` is true if one of them failed.
    pub fn tried(&self, approach: &str) -> Result<SimilarAttempts, Error> {
        let query = [("approach", approach.to_owned())];
        self.transport
            .call(&op::LIST_SIMILAR_ATTEMPTS, None, &query)
    }

    /// Returns similar past attempts at a task.
    pub fn tried_at(&self, approach: &str, task: &str) -> Result<SimilarAttempts, Error> {
        let query = [
            ("approach", approach.to_owned()),
            ("task_id", task.to_owned()),
        ];
        self.transport
            .call(&op::LIST_SIMILAR_ATTEMPTS, None, &query)
    }

    /// Logs an attempt at a task.
    pub fn log_episode(&self, episode: &NewEpisode) -> Result<Outcome, Error> {
        self.transport.call_with(&op::LOG_EPISODE, None, episode)
    }

    /// Logs an error; `resolved_before` is the fix of the same error in the past, if there is one.
    pub fn log_error(&self, error: impl Into<NewError>) -> Result<LoggedError, Error> {
        let body: NewError = error.into();
        self.transport.call_with(&op::LOG_ERROR, None, &body)
    }

    /// Marks an error as resolved, with the fix.
    pub fn resolve_error(&self, id: &str, resolution: &str) -> Result<Outcome, Error> {
        let body = Resolution {
            resolution: resolution.to_owned(),
        };
        self.transport
            .call_with(&op::RESOLVE_ERROR, Some(id), &body)
    }
}

/// Tasks, conversations, files and events.
impl Memory {
    /// Returns a task to open: [`TaskBuilder::open`] and [`TaskBuilder::run`] open it.
    pub fn task(&self, id: impl Into<String>) -> TaskBuilder {
        TaskBuilder::new(self.transport.clone(), id.into())
    }

    /// Lists the tasks.
    pub fn tasks(&self) -> Items<TaskSummary> {
        self.list(&op::LIST_TASKS, Vec::new())
    }

    /// Returns a conversation; it is created with its first turn.
    pub fn session(&self, id: impl Into<String>) -> SessionHandle {
        SessionHandle::new(self.transport.clone(), id.into())
    }

    /// Reduces a conversation to the size of a window.
    pub fn compact(&self, request: &CompactRequest) -> Result<CompactResponse, Error> {
        self.transport
            .call_with(&op::COMPACT_CONVERSATION, None, request)
    }

    /// Returns content that a compaction left out.
    pub fn expand(&self, id: &str) -> Result<ExpandedContent, Error> {
        self.transport.call(&op::EXPAND_CONTENT, Some(id), &[])
    }

    /// Returns the workspace files: facts, learnings, errors and daily notes.
    pub fn workspace(&self) -> Workspace {
        Workspace::new(self.transport.clone())
    }

    /// Runs a command of Anthropic's memory tool: `{"command": "view", "path": "/memories"}`.
    pub fn memory_tool(&self, command: &Value) -> Result<ToolResult, Error> {
        self.transport
            .call_with(&op::CALL_MEMORY_TOOL, None, command)
    }

    /// Follows the changes of the project, by any process, from now on.
    pub fn events(&self) -> Events {
        Events::new(self.transport.clone(), None)
    }

    /// Follows the changes of the project after this event.
    pub fn events_after(&self, event_id: impl Into<String>) -> Events {
        Events::new(self.transport.clone(), Some(event_id.into()))
    }

    fn items<T: serde::de::DeserializeOwned>(
        &self,
        operation: &'static op::Operation,
        query: &[(&str, String)],
    ) -> Result<Vec<T>, Error> {
        let page: Page<T> = self.transport.call(operation, None, query)?;
        Ok(page.items)
    }

    fn list<T>(
        &self,
        operation: &'static op::Operation,
        query: Vec<(&'static str, String)>,
    ) -> Items<T> {
        Items::new(self.transport.clone(), operation, None, query, None)
    }
}
