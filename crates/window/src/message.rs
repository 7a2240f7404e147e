//! Inner form of messages, independent of the provider's wire format.
//!
//! An inner message keeps the position of its original, so that an untouched message is written back byte for byte.
//! One original is one inner message, except an Anthropic user message that contains inserted blocks: those become
//! inner messages of their own.

use std::ops::Range;

/// Wire format of a conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum WireFormat {
    /// OpenAI chat completions: `{role, content, tool_calls, tool_call_id}`.
    Openai,
    /// Anthropic messages: `{role, content: [blocks]}`, with a separate system prompt.
    Anthropic,
    /// OpenAI Responses: a flat list of items.
    Responses,
}

impl WireFormat {
    /// Returns the name used by options and reports.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Openai => "openai",
            Self::Anthropic => "anthropic",
            Self::Responses => "responses",
        }
    }

    /// Returns the format with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Openai, Self::Anthropic, Self::Responses]
            .into_iter()
            .find(|form| form.as_str() == name)
    }
}

/// Role of the message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ChatRole {
    /// Instructions: `system` and `developer`.
    System,
    /// A person, or a program that writes as the user.
    User,
    /// The model.
    Assistant,
    /// Tool results only.
    Tool,
}

/// Kind of a message that this crate inserted into an earlier window.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum InsertedMessage {
    /// A reminder of the goal.
    Anchor,
    /// A summary of older messages.
    Summary,
}

/// Kind of an output that an earlier window shortened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ShortenedForm {
    /// A preview.
    Preview,
    /// A stub.
    Stub,
}

/// Call of a tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolCall {
    /// Id that the result refers to.
    pub id: String,
    /// Name of the tool.
    pub name: String,
    /// Arguments as text, usually JSON.
    pub arguments: String,
    /// Byte range in the original.
    pub span: Range<usize>,
}

/// Result of a tool call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolOutput {
    /// Id of the call.
    pub call_id: String,
    /// Text of the result; several text blocks are joined by newlines.
    pub text: String,
    /// Length of `text`, characters.
    pub chars: usize,
    /// Byte range in the original.
    pub span: Range<usize>,
    /// Byte range of the JSON value with the text in the original, if any.
    pub value_span: Option<Range<usize>>,
    /// Byte ranges of images and unknown blocks inside the value, which are kept whole.
    pub other_blocks: Vec<Range<usize>>,
    /// Position of the call: message and part. `None` for an orphan.
    pub call: Option<(usize, usize)>,
    /// Name of the tool, from the call.
    pub tool: String,
    /// Id of a shortened text that the call requested.
    pub expand_id: Option<String>,
    /// Index of the tool's name in the conversation.
    pub tool_index: usize,
    /// Kind of shortening, if an earlier window shortened it.
    pub shortened_form: Option<ShortenedForm>,
}

/// Content part of a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MessagePart {
    /// Text of the speaker.
    Text {
        /// The text.
        text: String,
        /// Byte range in the original.
        span: Range<usize>,
    },
    /// Call of a tool.
    Call(ToolCall),
    /// A tool result.
    Output(ToolOutput),
    /// Thinking of the model, signed or not.
    Thinking {
        /// Length in characters.
        chars: usize,
        /// Byte range in the original.
        span: Range<usize>,
    },
    /// An image or a file; its byte length says nothing about its tokens.
    Image {
        /// Byte range in the original.
        span: Range<usize>,
    },
    /// Any other block, kept or dropped whole.
    Unknown {
        /// Length in characters.
        chars: usize,
        /// Byte range in the original.
        span: Range<usize>,
    },
}

impl MessagePart {
    /// Byte range in the original.
    pub fn span(&self) -> Range<usize> {
        match self {
            Self::Text { span, .. }
            | Self::Thinking { span, .. }
            | Self::Image { span }
            | Self::Unknown { span, .. } => span.clone(),
            Self::Call(call) => call.span.clone(),
            Self::Output(output) => output.span.clone(),
        }
    }
}

/// A message in the inner form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChatMessage {
    /// Index of its original in the input.
    pub source_index: usize,
    /// Role of the message.
    pub role: ChatRole,
    /// Content parts, in order.
    pub parts: Vec<MessagePart>,
    /// Time in milliseconds since 1970, if the original has one.
    pub time_ms: Option<i64>,
    /// Input tokens of the request that this message answered, as reported by the provider.
    pub usage: Option<u64>,
    /// Kind, if this crate inserted the message.
    pub inserted: Option<InsertedMessage>,
    /// Size in characters, as [`crate::token_estimate`] counts them.
    pub chars: usize,
    /// Byte range of the content in the original, if it is an array of blocks.
    pub content: Option<Range<usize>>,
    /// Hash of the original's bytes.
    pub hash: [u8; 16],
}

impl ChatMessage {
    /// Returns the texts in order.
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        self.parts.iter().filter_map(|part| match part {
            MessagePart::Text { text, .. } => Some(text.as_str()),
            MessagePart::Call(_)
            | MessagePart::Output(_)
            | MessagePart::Thinking { .. }
            | MessagePart::Image { .. }
            | MessagePart::Unknown { .. } => None,
        })
    }

    /// Returns the tool calls in order.
    pub fn calls(&self) -> impl Iterator<Item = &ToolCall> {
        self.parts.iter().filter_map(|part| match part {
            MessagePart::Call(call) => Some(call),
            MessagePart::Text { .. }
            | MessagePart::Output(_)
            | MessagePart::Thinking { .. }
            | MessagePart::Image { .. }
            | MessagePart::Unknown { .. } => None,
        })
    }

    /// Returns the tool results in order.
    pub fn outputs(&self) -> impl Iterator<Item = &ToolOutput> {
        self.parts.iter().filter_map(|part| match part {
            MessagePart::Output(output) => Some(output),
            MessagePart::Text { .. }
            | MessagePart::Call(_)
            | MessagePart::Thinking { .. }
            | MessagePart::Image { .. }
            | MessagePart::Unknown { .. } => None,
        })
    }

    /// Returns true if it contains tool results.
    pub fn has_outputs(&self) -> bool {
        self.outputs().next().is_some()
    }

    /// Returns all texts joined by newlines.
    pub fn text(&self) -> String {
        self.texts().collect::<Vec<_>>().join("\n")
    }
}
