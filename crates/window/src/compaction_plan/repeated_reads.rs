//! Repeated reads: an earlier read of a file becomes stale when the file is read again.

use super::{Plan, stale_saves};
use crate::conversation::Conversation;
use crate::message::{ChatMessage, MessagePart, ToolOutput};
use crate::policy_lookup::PolicyLookup;

impl Plan {
    /// Marks earlier reads of the same file as stale at the next step.
    pub(super) fn note_reads(
        &mut self,
        conversation: &Conversation,
        policy: &PolicyLookup<'_>,
        message: &ChatMessage,
        at: usize,
    ) {
        for (part, output) in message.parts.iter().enumerate() {
            let MessagePart::Output(output) = output else {
                continue;
            };
            if !policy.limits_for(output).read {
                continue;
            }
            let Some(what) = read_identity(conversation, output) else {
                continue;
            };
            let Some((earlier, its_part)) = self.reads.insert(what, (at, part)) else {
                continue;
            };
            if earlier < self.summary_end || earlier < self.stale_end {
                continue;
            }
            let saves = match conversation.messages[earlier].parts.get(its_part) {
                Some(MessagePart::Output(output)) => stale_saves(policy.limits_for(output), output),
                _ => 0,
            };
            if saves == 0 {
                continue;
            }
            self.again.push((earlier, its_part));
            if earlier >= self.scanned {
                if let Some(entry) = self.entry(earlier) {
                    entry.saves = entry.saves.saturating_sub(saves);
                }
                self.add_free(earlier, saves);
            }
        }
    }
}

/// Returns the identity of a read: its full arguments, so two ranges of one file differ.
fn read_identity(conversation: &Conversation, output: &ToolOutput) -> Option<String> {
    let (message, part) = output.call?;
    let MessagePart::Call(call) = conversation.messages.get(message)?.parts.get(part)? else {
        return None;
    };
    (!call.arguments.is_empty()).then(|| format!("{} {}", call.name, call.arguments))
}
