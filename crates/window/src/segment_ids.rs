//! Ids of summaries and of dropped messages, derived from their content.

use crate::conversation::Conversation;

/// Returns the id of the summary of all messages before `to`, derived from their content.
pub(crate) fn summary_id(conversation: &Conversation, to: usize) -> String {
    let chain = to
        .checked_sub(1)
        .and_then(|last| conversation.chain.get(last));
    format!("sum-{:032x}", chain.copied().unwrap_or(0))
}

/// Returns the id of dropped messages, derived from their content.
pub(crate) fn segment_id(conversation: &Conversation, from: usize, to: usize) -> String {
    let mut hasher = blake3::Hasher::new();
    for message in &conversation.messages[from..to] {
        hasher.update(&message.hash);
    }
    let mut hex = hasher.finalize().to_hex().to_string();
    hex.truncate(16);
    format!("arc-{hex}")
}
