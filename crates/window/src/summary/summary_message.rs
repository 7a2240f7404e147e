//! Messages that a summary may be made from: their texts passed a filter before anything is cut out of them.

use crate::message::{ChatMessage, MessagePart};
use crate::token_estimate::chars;
use std::borrow::Cow;
use std::ops::Deref;

/// Filter of the texts of a summary, which removes secrets.
///
/// A summary lists words and lines of the messages without the names next to them, so a filter finds no secret in a
/// finished summary.
pub trait TextFilter {
    /// Returns a whole text without what must not be stored.
    fn clean<'t>(&self, text: &'t str) -> Cow<'t, str>;
}

/// Filter that changes nothing, for summaries that are not stored.
#[derive(Debug, Clone, Copy, Default)]
pub struct Verbatim;

impl TextFilter for Verbatim {
    fn clean<'t>(&self, text: &'t str) -> Cow<'t, str> {
        Cow::Borrowed(text)
    }
}

/// Message whose texts passed a filter.
#[derive(Debug, Clone)]
pub struct SummaryMessage(ChatMessage);

impl SummaryMessage {
    /// Filters the texts of a message.
    pub fn new(message: &ChatMessage, filter: &dyn TextFilter) -> Self {
        let mut message = message.clone();
        for part in &mut message.parts {
            match part {
                MessagePart::Text { text, .. } => clean(text, filter),
                MessagePart::Call(call) => {
                    clean(&mut call.name, filter);
                    clean(&mut call.arguments, filter);
                }
                MessagePart::Output(output) => {
                    clean(&mut output.text, filter);
                    output.chars = chars(&output.text);
                }
                MessagePart::Thinking { .. }
                | MessagePart::Image { .. }
                | MessagePart::Unknown { .. } => {}
            }
        }
        Self(message)
    }

    /// Filters the texts of several messages.
    pub fn from_messages(messages: &[ChatMessage], filter: &dyn TextFilter) -> Vec<Self> {
        let new = |message| Self::new(message, filter);
        messages.iter().map(new).collect()
    }
}

impl Deref for SummaryMessage {
    type Target = ChatMessage;

    fn deref(&self) -> &ChatMessage {
        &self.0
    }
}

fn clean(text: &mut String, filter: &dyn TextFilter) {
    if let Cow::Owned(clean) = filter.clean(text) {
        *text = clean;
    }
}
