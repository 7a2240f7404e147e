//! Summary cut: the messages that a summary replaces, and the window that remains.

use crate::compaction_plan::{CompactionAction, Plan, Segment, SummarySize};
use crate::conversation::Conversation;
use crate::markers;
use crate::message::{ChatMessage, ChatRole, InsertedMessage, WireFormat};
use crate::policy_lookup::PolicyLookup;
use crate::segment_ids::segment_id;
use crate::token_estimate::{counted_message_chars, round_to_tokens};

/// Maximum length of verbatim user text in a summary, characters: 8,000 tokens.
const USERS_CHARS_MAX: usize = 32_000;
/// Overhead of the user section of a summary, characters.
const USERS_FRAME_CHARS: usize = 240;
/// Overhead of one user message in a summary, characters.
const SAID_CHARS: usize = 48;
/// Maximum length of a summary without user text, characters.
const BODY_CHARS_MAX: usize = crate::summary::BODY_CHARS;

/// Limits for the messages that a summary keeps.
#[derive(Clone, Copy)]
pub(super) struct KeepLimits {
    /// Maximum number of messages.
    pub(super) most: usize,
    /// Minimum number of messages, whatever their length.
    pub(super) least: usize,
    /// Target size of the window, characters.
    pub(super) chars: usize,
}

impl Plan {
    /// Moves older messages into the summary; returns the size of the unchanged prefix.
    pub(super) fn summarise(
        &mut self,
        conversation: &Conversation,
        policy: &PolicyLookup<'_>,
        keep: KeepLimits,
        action: CompactionAction,
    ) -> Option<usize> {
        let places: Vec<usize> = (self.summary_end + 1..self.seen)
            .filter(|at| self.can_cut(conversation, *at))
            .collect();
        let wanted = self.nth_from_end(conversation, keep.most);
        let least = self.nth_from_end(conversation, keep.least);
        let from = places
            .iter()
            .position(|at| *at >= wanted)
            .or_else(|| places.len().checked_sub(1))?;
        let target = self.chars_of(policy.summary_threshold).max(keep.chars);
        let mut chosen = None;
        for cut in places[from..].iter().copied() {
            let after = self.after_cut(conversation, cut);
            if !after.shrinks {
                continue;
            }
            // Fewer messages than `least` stay only if more would exceed the target.
            if chosen.is_some() && cut > least && self.total_at(&chosen) <= target {
                break;
            }
            let fits = after.total <= keep.chars;
            chosen = Some(after);
            if fits {
                break;
            }
        }
        let after = chosen?;
        self.actions.push(action);
        self.used_fallback |= action == CompactionAction::Fallback;
        self.cut_at(conversation, after);
        let stale_to = self.stale_to(conversation, policy.stale_threshold);
        let cut = self.summary_end;
        self.recompute_from(conversation, policy, cut, stale_to.max(cut));
        Some(self.prompt_chars + self.system_size)
    }

    fn total_at(&self, after: &Option<CutOutcome>) -> usize {
        after.as_ref().map_or(usize::MAX, |after| after.total)
    }

    /// Returns true if the window may begin with this message: no result loses its call, and no turn of the model is
    /// split.
    fn can_cut(&self, conversation: &Conversation, at: usize) -> bool {
        let message = &conversation.messages[at];
        if message.inserted.is_some() || message.has_outputs() || self.orphans.contains(&at) {
            return false;
        }
        let before = &conversation.messages[at - 1];
        let same_turn = before.role == ChatRole::Assistant && message.role == ChatRole::Assistant;
        let same_outer = before.source_index == message.source_index && before.inserted.is_none();
        let open = conversation.format == WireFormat::Responses
            && (at..self.seen).any(|later| {
                conversation.messages[later]
                    .outputs()
                    .any(|output| output.call.is_some_and(|(call, _)| call < at))
            });
        !same_turn && !same_outer && !open
    }

    /// Computes the window that would begin with message `cut`.
    fn after_cut(&self, conversation: &Conversation, cut: usize) -> CutOutcome {
        let gone = &conversation.messages[self.summary_end..cut];
        let mut pinned: Vec<usize> = [self.goal, self.last_user]
            .into_iter()
            .flatten()
            .filter(|at| *at < cut)
            .collect();
        pinned.sort_unstable();
        pinned.dedup();
        let pinned_size: usize = pinned
            .iter()
            .map(|at| {
                let message = &conversation.messages[*at];
                let answers: usize = message.outputs().map(|output| output.chars).sum();
                round_to_tokens(message.chars.saturating_sub(answers))
            })
            .sum();
        let pinned_said: usize = pinned
            .iter()
            .map(|at| user_text_size(&conversation.messages[*at]))
            .sum();
        let users: usize = self.users_size
            + gone
                .iter()
                .filter(|message| {
                    message.role == ChatRole::User
                        && message.inserted != Some(InsertedMessage::Summary)
                })
                .map(user_text_size)
                .sum::<usize>();
        let replaced: usize = self.entries[..cut - self.origin]
            .iter()
            .map(|entry| entry.size)
            .sum();
        let old = replaced + self.pinned_size + self.summary_size.message;
        let users_room = match users.saturating_sub(pinned_said) {
            0..=SAID_CHARS => 0,
            said => (said + USERS_FRAME_CHARS).min(USERS_CHARS_MAX),
        };
        let body = (replaced / 3
            + self
                .summary_size
                .body
                .saturating_sub(self.summary_size.user_text))
        .min(BODY_CHARS_MAX);
        let plan = self.plan.as_ref().map_or(0, |plan| plan.chars().count());
        let room = SummarySize {
            body: body + users_room,
            user_text: users_room,
            message: counted_message_chars(
                body + users_room + plan + markers::SUMMARY_FRAME_CHARS + 420,
            ),
        };
        let new = pinned_size + room.message;
        CutOutcome {
            cut,
            total: (self.total() + new).saturating_sub(old),
            shrinks: new < old,
            pinned,
            pinned_size,
            users,
            room,
        }
    }

    fn cut_at(&mut self, conversation: &Conversation, after: CutOutcome) {
        let kept_calls: usize = conversation.messages[after.cut..self.seen]
            .iter()
            .map(|message| message.calls().count())
            .sum();
        for at in self.summary_end..after.cut {
            if conversation.messages[at].inserted.is_some() {
                self.replaced.push(at);
            }
        }
        self.segments.push(Segment {
            from: self.summary_end,
            to: after.cut,
            id: segment_id(conversation, self.summary_end, after.cut).into(),
        });
        self.entries.drain(..after.cut - self.origin);
        self.origin = after.cut;
        self.summary_end = after.cut;
        self.summarised_calls = self.calls.saturating_sub(kept_calls);
        self.summary_goal = self.goal;
        self.pinned = after.pinned;
        self.pinned_size = after.pinned_size;
        self.users_size = after.users;
        self.summary_size = after.room;
        self.stale_end = self.stale_end.max(after.cut);
        self.scanned = self.scanned.max(after.cut);
        self.again.retain(|(at, _)| *at >= after.cut);
        self.without_thinking.clear();
        self.missing.retain(|(_, (call, _))| *call >= after.cut);
        self.open.retain(|(call, _)| *call >= after.cut);
        self.reads.retain(|_, (at, _)| *at >= after.cut);
    }
}

struct CutOutcome {
    cut: usize,
    total: usize,
    shrinks: bool,
    pinned: Vec<usize>,
    pinned_size: usize,
    users: usize,
    room: SummarySize,
}

fn user_text_size(message: &ChatMessage) -> usize {
    message
        .texts()
        .map(crate::token_estimate::chars)
        .sum::<usize>()
        + SAID_CHARS
}
