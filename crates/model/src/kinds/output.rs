//! Attributes of outputs: the last output of an agent in a plan.

use super::{KindData, join_key};
use crate::Kind;
use crate::record::Attrs;
use serde::{Deserialize, Serialize};

/// Last output of an agent in a plan. The record's text is the part that prompts contain.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Output {
    /// Metadata that the agent attached.
    #[serde(default, skip_serializing_if = "Attrs::is_empty")]
    #[serde(rename = "metadata")]
    pub metadata: Attrs,
    /// Full output, if the record's text is only its end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[serde(rename = "full")]
    pub full: Option<String>,
    /// Bytes at its beginning that `full` omits too.
    #[serde(default, skip_serializing_if = "super::is_zero_u64")]
    #[serde(rename = "left_out_bytes")]
    pub left_out_bytes: u64,
    /// Other fields of the file from which it was imported.
    #[serde(default, skip_serializing_if = "Attrs::is_empty")]
    #[serde(rename = "file")]
    pub file: Attrs,
    /// Fields of newer versions.
    #[serde(flatten)]
    pub extra: Attrs,
}

impl Output {
    /// Returns the identity key: one current output per plan and agent.
    pub fn key(plan: &str, agent: &str) -> String {
        join_key(&[plan, agent])
    }
}

impl KindData for Output {
    const KIND: Kind = Kind::Output;
}
