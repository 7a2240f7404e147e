//! A conversation.

use crate::answers::{AddedMessage, FoundMessage, Message, SessionSummary};
use crate::errors::Error;
use crate::operations as op;
use crate::pages::{Items, Page};
use crate::requests::{MessageRole, NewMessage};
use crate::transport::Transport;
use std::fmt;

/// Conversation. It is created with its first turn, then with the given task and agent.
///
/// ```no_run
/// # fn main() -> Result<(), heirloom_client::Error> {
/// # let memory = heirloom_client::Memory::new()?;
/// let session = memory.session("planning").agent("coder");
/// session.add(heirloom_client::MessageRole::User, "Why is the checkout flaky?")?;
/// for message in session.messages() {
///     println!("{}", message?.text);
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct SessionHandle {
    transport: Transport,
    id: String,
    task: Option<String>,
    agent: Option<String>,
}

impl SessionHandle {
    pub(crate) fn new(transport: Transport, id: String) -> Self {
        Self {
            transport,
            id,
            task: None,
            agent: None,
        }
    }

    /// Sets the task of the conversation, if it is new.
    #[must_use]
    pub fn task(mut self, task: impl Into<String>) -> Self {
        self.task = Some(task.into());
        self
    }

    /// Sets the agent of the conversation, if it is new.
    #[must_use]
    pub fn agent(mut self, agent: impl Into<String>) -> Self {
        self.agent = Some(agent.into());
        self
    }

    /// Returns the id.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Appends a turn.
    pub fn add(&self, role: MessageRole, text: impl Into<String>) -> Result<AddedMessage, Error> {
        self.add_message(NewMessage::new(role, text))
    }

    /// Appends a turn with a sender, or with a task and an agent of its own.
    pub fn add_message(&self, mut message: NewMessage) -> Result<AddedMessage, Error> {
        message.task_id = message.task_id.or_else(|| self.task.clone());
        message.agent_id = message.agent_id.or_else(|| self.agent.clone());
        self.transport
            .call_with(&op::ADD_MESSAGE, Some(&self.id), &message)
    }

    /// Lists all turns, oldest first. A conversation without a turn is not found.
    pub fn messages(&self) -> Items<Message> {
        self.messages_from(0)
    }

    /// Lists the turns from this position, oldest first.
    pub fn messages_from(&self, position: u64) -> Items<Message> {
        Items::new(
            self.transport.clone(),
            &op::LIST_MESSAGES,
            Some(self.id.clone()),
            Vec::new(),
            Some(position.to_string()),
        )
    }

    /// Searches the turns of the conversation, best first.
    pub fn search(&self, query: &str, k: u32) -> Result<Vec<FoundMessage>, Error> {
        let query = [
            ("query", query.to_owned()),
            ("session_id", self.id.clone()),
            ("k", k.to_string()),
        ];
        let page: Page<FoundMessage> = self.transport.call(&op::SEARCH_MESSAGES, None, &query)?;
        Ok(page.items)
    }

    /// Returns an extractive summary.
    pub fn summary(&self) -> Result<SessionSummary, Error> {
        self.transport
            .call(&op::GET_SESSION_SUMMARY, Some(&self.id), &[])
    }
}

impl fmt::Debug for SessionHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("SessionHandle").field(&self.id).finish()
    }
}
