//! Fields of the lines of a transcript of Gemini CLI.

use crate::json_fields::Field;
use serde::Deserialize;

/// A line of a transcript.
#[derive(Deserialize)]
pub(super) struct GeminiLine<'a> {
    #[serde(borrow, rename = "sessionId")]
    pub(super) session: Field<'a>,
    #[serde(borrow, rename = "projectHash")]
    pub(super) project: Field<'a>,
    #[serde(borrow, rename = "startTime")]
    pub(super) started: Field<'a>,
    #[serde(borrow)]
    pub(super) kind: Field<'a>,
    #[serde(borrow)]
    pub(super) messages: Field<'a>,
    #[serde(borrow, rename = "$set")]
    pub(super) set: Field<'a>,
    #[serde(borrow, rename = "$rewindTo")]
    pub(super) rewind: Field<'a>,
    #[serde(borrow)]
    pub(super) id: Field<'a>,
}

/// A change of the conversation's data.
#[derive(Deserialize)]
pub(super) struct SetUpdate<'a> {
    #[serde(borrow)]
    pub(super) messages: Field<'a>,
}

/// A message.
#[derive(Deserialize)]
pub(super) struct GeminiMessage<'a> {
    #[serde(borrow)]
    pub(super) id: Field<'a>,
    #[serde(borrow)]
    pub(super) timestamp: Field<'a>,
    #[serde(borrow, rename = "type")]
    pub(super) kind: Field<'a>,
    #[serde(borrow)]
    pub(super) content: Field<'a>,
    #[serde(borrow, rename = "displayContent")]
    pub(super) display: Field<'a>,
    #[serde(borrow, rename = "toolCalls")]
    pub(super) calls: Field<'a>,
    #[serde(borrow)]
    pub(super) tokens: Field<'a>,
}

/// A part of a content.
#[derive(Deserialize)]
pub(super) struct GeminiPart<'a> {
    #[serde(borrow)]
    pub(super) text: Field<'a>,
    #[serde(borrow, rename = "functionResponse")]
    pub(super) response: Field<'a>,
}

/// A tool call with its result.
#[derive(Deserialize)]
pub(super) struct GeminiCall<'a> {
    #[serde(borrow)]
    pub(super) id: Field<'a>,
    #[serde(borrow)]
    pub(super) name: Field<'a>,
    #[serde(borrow)]
    pub(super) args: Field<'a>,
    #[serde(borrow)]
    pub(super) result: Field<'a>,
    #[serde(borrow)]
    pub(super) status: Field<'a>,
    #[serde(borrow)]
    pub(super) timestamp: Field<'a>,
}

/// Arguments of a tool call.
#[derive(Deserialize)]
pub(super) struct CallArguments<'a> {
    #[serde(borrow)]
    pub(super) command: Field<'a>,
    #[serde(borrow)]
    pub(super) file_path: Field<'a>,
    #[serde(borrow)]
    pub(super) old_string: Field<'a>,
    #[serde(borrow)]
    pub(super) new_string: Field<'a>,
    #[serde(borrow)]
    pub(super) content: Field<'a>,
    #[serde(borrow)]
    pub(super) todos: Field<'a>,
}

/// The response of a tool.
#[derive(Deserialize)]
pub(super) struct FunctionResponse<'a> {
    #[serde(borrow)]
    pub(super) response: Field<'a>,
    #[serde(borrow)]
    pub(super) output: Field<'a>,
    #[serde(borrow)]
    pub(super) error: Field<'a>,
}

/// Tokens of an answer.
#[derive(Deserialize)]
pub(super) struct GeminiUsage<'a> {
    #[serde(borrow)]
    pub(super) input: Field<'a>,
    #[serde(borrow)]
    pub(super) cached: Field<'a>,
    #[serde(borrow)]
    pub(super) output: Field<'a>,
}
