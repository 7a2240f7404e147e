//! Fields of the lines of a transcript of Codex.

use crate::json_fields::Field;
use serde::Deserialize;

/// A line of a transcript.
#[derive(Deserialize)]
pub(super) struct CodexLine<'a> {
    #[serde(borrow)]
    pub(super) timestamp: Field<'a>,
    #[serde(borrow, rename = "type")]
    pub(super) kind: Field<'a>,
    #[serde(borrow)]
    pub(super) payload: Field<'a>,
}

/// The content of a line.
#[derive(Deserialize)]
pub(super) struct CodexPayload<'a> {
    #[serde(borrow, rename = "type")]
    pub(super) kind: Field<'a>,
    #[serde(borrow)]
    pub(super) id: Field<'a>,
    #[serde(borrow, rename = "forked_from_id")]
    pub(super) forked_from: Field<'a>,
    #[serde(borrow, rename = "turn_id")]
    pub(super) turn: Field<'a>,
    #[serde(borrow)]
    pub(super) cwd: Field<'a>,
    #[serde(borrow)]
    pub(super) source: Field<'a>,
    #[serde(borrow)]
    pub(super) originator: Field<'a>,
    #[serde(borrow, rename = "kind")]
    pub(super) message_kind: Field<'a>,
    #[serde(borrow)]
    pub(super) timestamp: Field<'a>,
    #[serde(borrow)]
    pub(super) role: Field<'a>,
    #[serde(borrow)]
    pub(super) content: Field<'a>,
    #[serde(borrow)]
    pub(super) message: Field<'a>,
    #[serde(borrow)]
    pub(super) name: Field<'a>,
    #[serde(borrow)]
    pub(super) arguments: Field<'a>,
    #[serde(borrow)]
    pub(super) input: Field<'a>,
    #[serde(borrow)]
    pub(super) action: Field<'a>,
    #[serde(borrow)]
    pub(super) call_id: Field<'a>,
    #[serde(borrow)]
    pub(super) output: Field<'a>,
    #[serde(borrow)]
    pub(super) info: Field<'a>,
    #[serde(borrow)]
    pub(super) num_turns: Field<'a>,
    #[serde(borrow)]
    pub(super) replacement_history: Field<'a>,
}

/// Arguments of a tool call.
#[derive(Deserialize)]
pub(super) struct CallArguments<'a> {
    #[serde(borrow)]
    pub(super) command: Field<'a>,
    #[serde(borrow)]
    pub(super) cmd: Field<'a>,
    #[serde(borrow)]
    pub(super) input: Field<'a>,
    #[serde(borrow)]
    pub(super) plan: Field<'a>,
}

/// Output of a tool call.
#[derive(Deserialize)]
pub(super) struct CallOutput<'a> {
    #[serde(borrow)]
    pub(super) output: Field<'a>,
    #[serde(borrow)]
    pub(super) content: Field<'a>,
    #[serde(borrow)]
    pub(super) success: Field<'a>,
    #[serde(borrow)]
    pub(super) metadata: Field<'a>,
}

/// Metadata of an output.
#[derive(Deserialize)]
pub(super) struct OutputMetadata<'a> {
    #[serde(borrow)]
    pub(super) exit_code: Field<'a>,
}

/// Token counts of an event.
#[derive(Deserialize)]
pub(super) struct TokenInfo<'a> {
    #[serde(borrow)]
    pub(super) last_token_usage: Field<'a>,
}

/// Tokens of an answer.
#[derive(Deserialize)]
pub(super) struct CodexUsage<'a> {
    #[serde(borrow)]
    pub(super) input_tokens: Field<'a>,
    #[serde(borrow)]
    pub(super) cached_input_tokens: Field<'a>,
    #[serde(borrow)]
    pub(super) output_tokens: Field<'a>,
}
