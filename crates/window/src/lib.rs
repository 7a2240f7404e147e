//! Long conversations inside a model's window: messages in, messages out.
//!
//! Pure and deterministic: the same history and policy give the same bytes in every process. The crate reads no files
//! and no clock; shortened and dropped content is returned in full for the caller to store.

pub mod cache_pricing;
mod compaction;
mod compaction_plan;
pub mod compaction_policy;
pub mod compaction_report;
mod composition;
pub mod conversation;
mod markers;
pub mod message;
mod name_pattern;
mod output_truncation;
pub mod policy_keys;
mod policy_lookup;
pub mod protocol_validation;
mod render;
pub mod replay;
mod segment_ids;
#[cfg(test)]
mod stored_form_tests;
pub mod summary;
mod summary_input;
pub mod token_estimate;
mod window_state;
mod wire;

pub use cache_pricing::{CacheMatch, CachePricing};
pub use compaction::{CompactedWindow, Overflow, Window, compact, compact_filtered};
pub use compaction_plan::CompactionAction;
pub use compaction_policy::{Policy, Profile, ToolRule};
pub use compaction_report::{CompactionReport, DroppedRange, SummaryInfo};
pub use composition::{ShortenedOutput, WindowPiece};
pub use conversation::{Conversation, ParseError};
pub use message::{
    ChatMessage, ChatRole, InsertedMessage, MessagePart, ToolCall, ToolOutput, WireFormat,
};
pub use policy_keys::PolicyKeys;
pub use summary::{SummaryMessage, TextFilter, Verbatim};
pub use summary_input::{SummaryTranscript, summary_transcript};
pub use window_state::WindowState;
