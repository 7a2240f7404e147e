//! The inner form: what a message says, whichever provider's form it came in.
//!
//! An inner message keeps the place of its original, so that what nothing touches is written back
//! byte for byte. One original is one inner message, but for an Anthropic user message that holds
//! blocks of ours: those are inner messages of their own.

use std::ops::Range;

/// A provider's form of a conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Form {
    /// OpenAI chat completions: `{role, content, tool_calls, tool_call_id}`.
    Openai,
    /// Anthropic messages: `{role, content: [blocks]}`, the system prompt beside them.
    Anthropic,
    /// OpenAI Responses: a flat list of items.
    Responses,
}

impl Form {
    /// Its name, as options and reports spell it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Openai => "openai",
            Self::Anthropic => "anthropic",
            Self::Responses => "responses",
        }
    }

    /// The form of that name.
    pub fn of(name: &str) -> Option<Self> {
        [Self::Openai, Self::Anthropic, Self::Responses]
            .into_iter()
            .find(|form| form.as_str() == name)
    }
}

/// Who speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Role {
    /// The rules: `system` and `developer`.
    System,
    /// A person, or the program in a person's place.
    User,
    /// The model.
    Assistant,
    /// The answers of tools, and nothing else.
    Tool,
}

/// What we put into a window ourselves, recognised when it comes back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Own {
    /// A reminder of the goal.
    Anchor,
    /// What older messages came to.
    Summary,
}

/// What an output is that was shortened before it came.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Left {
    /// A preview.
    Preview,
    /// A stub.
    Stub,
}

/// A call of a tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call {
    /// What its result names.
    pub id: String,
    /// The tool.
    pub name: String,
    /// The arguments as text: JSON, or whatever the model wrote.
    pub arguments: String,
    /// Where it stands in the original.
    pub span: Range<usize>,
}

/// What a tool answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Output {
    /// The call that it answers.
    pub call_id: String,
    /// Its text; several blocks of text are joined by a newline.
    pub text: String,
    /// The characters of `text`.
    pub chars: usize,
    /// Where it stands in the original.
    pub span: Range<usize>,
    /// Where the JSON value with the text stands in the original; `None` if it has none.
    pub value: Option<Range<usize>>,
    /// Images and unknown blocks inside the value, which are kept whole.
    pub others: Vec<Range<usize>>,
    /// The call: message and part. `None` for an orphan.
    pub call: Option<(usize, usize)>,
    /// The tool's name, from the call.
    pub tool: String,
    /// The id of a shortened text that the call asked for.
    pub asks: Option<String>,
    /// The number of that name among the conversation's tools.
    pub tool_number: usize,
    /// What is left of a longer one, if it came so.
    pub left: Option<Left>,
}

/// One piece of a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Part {
    /// Words of whoever speaks.
    Text {
        /// The words.
        text: String,
        /// Where it stands in the original.
        span: Range<usize>,
    },
    /// A call of a tool.
    Call(Call),
    /// The answer of a tool.
    Output(Output),
    /// What the model thought, signed or not.
    Thinking {
        /// Its length in characters.
        chars: usize,
        /// Where it stands in the original.
        span: Range<usize>,
    },
    /// A picture or a file; its bytes say nothing about its tokens.
    Image {
        /// Where it stands in the original.
        span: Range<usize>,
    },
    /// Something else, kept or dropped whole.
    Unknown {
        /// Its length in characters.
        chars: usize,
        /// Where it stands in the original.
        span: Range<usize>,
    },
}

impl Part {
    /// Where it stands in the original.
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

/// One message in the inner form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// The index of its original in the input.
    pub outer: usize,
    /// Who speaks.
    pub role: Role,
    /// What is said, in order.
    pub parts: Vec<Part>,
    /// When, in milliseconds since 1970, if the original says so.
    pub time_ms: Option<i64>,
    /// The input tokens of the request that this message answered, as the provider counted them.
    pub usage: Option<u64>,
    /// Whether it is ours.
    pub own: Option<Own>,
    /// Its characters, as [`crate::size`] counts them.
    pub chars: usize,
    /// Where the content stands in the original, if that is a turn of blocks.
    pub content: Option<Range<usize>>,
    /// What identifies the original's bytes.
    pub hash: [u8; 16],
}

impl Message {
    /// Its texts, in order.
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        self.parts.iter().filter_map(|part| match part {
            Part::Text { text, .. } => Some(text.as_str()),
            Part::Call(_)
            | Part::Output(_)
            | Part::Thinking { .. }
            | Part::Image { .. }
            | Part::Unknown { .. } => None,
        })
    }

    /// Its calls of tools, in order.
    pub fn calls(&self) -> impl Iterator<Item = &Call> {
        self.parts.iter().filter_map(|part| match part {
            Part::Call(call) => Some(call),
            Part::Text { .. }
            | Part::Output(_)
            | Part::Thinking { .. }
            | Part::Image { .. }
            | Part::Unknown { .. } => None,
        })
    }

    /// Its answers of tools, in order.
    pub fn outputs(&self) -> impl Iterator<Item = &Output> {
        self.parts.iter().filter_map(|part| match part {
            Part::Output(output) => Some(output),
            Part::Text { .. }
            | Part::Call(_)
            | Part::Thinking { .. }
            | Part::Image { .. }
            | Part::Unknown { .. } => None,
        })
    }

    /// Whether it answers calls of tools, whatever else it holds.
    pub fn answers(&self) -> bool {
        self.outputs().next().is_some()
    }

    /// Its texts as one.
    pub fn text(&self) -> String {
        self.texts().collect::<Vec<_>>().join("\n")
    }
}
