//! Stable ids of the entries of a transcript, so that a repeated import finds them.

use heirloom_agents::AgentProgram;
use heirloom_agents::transcripts::{ConversationOrigin, EventBody, TranscriptEvent};
use heirloom_model::{RecordId, Timestamp};
use std::borrow::Cow;

/// Conversation whose entries get ids.
#[derive(Debug, Clone, Copy)]
pub(super) struct EntryOwner<'o> {
    /// Program that recorded the conversation.
    pub(super) agent: AgentProgram,
    /// Session of the entries.
    pub(super) session: &'o str,
    /// First one of the conversations that were forked from each other, if the program gives copies other times.
    pub(super) origin: Option<&'o ConversationOrigin>,
}

impl EntryOwner<'_> {
    /// Returns the id of an entry. Names given by the program are stable across copies of a conversation; positions are
    /// only unique within their session.
    pub(super) fn entry_id(self, what: &str, id: &str, at: Timestamp) -> RecordId {
        let is_place = id.bytes().all(|b| b.is_ascii_digit());
        let agent = self.agent.as_str();
        match self.origin {
            Some(origin) if !is_place => {
                RecordId::from_parts(origin.began, &[what, agent, &origin.session, id])
            }
            Some(_) | None => {
                let session = if is_place { self.session } else { "" };
                RecordId::from_parts(at, &[what, agent, session, id])
            }
        }
    }

    /// Returns the id of the message that an event becomes.
    pub(super) fn message_id(self, event: &TranscriptEvent, at: Timestamp) -> RecordId {
        let id = match &event.body {
            EventBody::Call { call, .. } => Cow::Owned(format!("call {call}")),
            EventBody::Result { call, .. } => result_id(&event.id, call),
            EventBody::ConversationStart(_)
            | EventBody::Prompt(_)
            | EventBody::AssistantText(_)
            | EventBody::Summary(_)
            | EventBody::FileChanged(_)
            | EventBody::AbandonedPrompt(_)
            | EventBody::TokenUsage(_) => Cow::Borrowed(&*event.id),
        };
        self.entry_id("turn", &id, at)
    }
}

/// Returns the id of a result: the program's own, or one that follows from its call.
pub(super) fn result_id<'i>(id: &'i str, call: &str) -> Cow<'i, str> {
    match id.starts_with("result ") || call.is_empty() {
        true => Cow::Borrowed(id),
        false => Cow::Owned(format!("result {call}")),
    }
}
