//! Decision before a request: an anchor, a step, or nothing.

mod summary_cut;

use super::{CompactionAction, Plan, measure, stale_saves};
use crate::cache_pricing::CacheMatch;
use crate::conversation::Conversation;
use crate::message::MessagePart;
use crate::policy_lookup::PolicyLookup;
use crate::token_estimate::round_to_tokens;
use summary_cut::KeepLimits;

/// Percentage of the target that a step reduces an oversized window to.
const RELIEF_PERCENT: usize = 70;
/// Minimum number of messages that a summary keeps, whatever their length.
const KEEP_MIN: usize = 4;

impl Plan {
    /// Decides the window of a request with everything seen so far.
    pub(crate) fn decide(&mut self, conversation: &Conversation, policy: &PolicyLookup<'_>) {
        self.actions.clear();
        let mut changed = None;
        if self.seen >= self.start && self.seen > self.system_end {
            changed = self.apply_change(conversation, policy);
        }
        self.add_cost(policy, changed);
        self.turns += 1;
    }

    /// Applies the step or anchor that is due; returns the size of the unchanged prefix, characters.
    fn apply_change(
        &mut self,
        conversation: &Conversation,
        policy: &PolicyLookup<'_>,
    ) -> Option<usize> {
        let stale_to = self.stale_to(conversation, policy.stale_threshold);
        self.scan(stale_to);
        let anchor = self.next_anchor(conversation, policy, false);
        let coming = anchor.map_or(0, |anchor| anchor.size);
        let total = self.total() + coming;
        let target = self.chars_of(policy.summary_threshold);
        let over = policy.summary_threshold > 0 && total > target;
        let cold = self.is_cold(conversation, policy);
        let relief = target / 100 * RELIEF_PERCENT;
        let worth = self.free > 0 && (cold || self.step_pays(policy));
        let mut changed = None;
        if over && total.saturating_sub(self.free) > relief {
            let keep = KeepLimits {
                most: policy.messages_to_keep,
                least: KEEP_MIN.min(policy.messages_to_keep),
                chars: relief.saturating_sub(coming),
            };
            changed = self.summarise(conversation, policy, keep, CompactionAction::Summary);
        }
        if changed.is_none() && self.free > 0 && (worth || over) {
            changed = Some(self.make_stale(conversation, policy, stale_to));
        }
        let fallback = self.chars_of(policy.fallback_tokens);
        if policy.fallback_tokens > 0 && self.total() + coming > fallback {
            let keep = KeepLimits {
                most: policy.fallback_messages,
                least: policy.fallback_messages / 2,
                chars: fallback.saturating_sub(coming),
            };
            changed = self
                .summarise(conversation, policy, keep, CompactionAction::Fallback)
                .or(changed);
        }
        self.place_anchor(conversation, policy, changed.is_some());
        if changed.is_some() {
            self.steps += 1;
        }
        changed
    }

    /// Returns the message before which outputs are stale by age.
    fn stale_to(&self, conversation: &Conversation, threshold: usize) -> usize {
        self.nth_from_end(conversation, threshold)
    }

    /// Returns the message from which `count` messages follow that are not inserted.
    fn nth_from_end(&self, conversation: &Conversation, count: usize) -> usize {
        let mut left = count;
        let mut at = self.seen;
        while at > self.summary_end && left > 0 {
            at -= 1;
            if conversation.messages[at].inserted.is_none() {
                left -= 1;
            }
        }
        at
    }

    fn scan(&mut self, to: usize) {
        while self.scanned < to {
            let at = self.scanned;
            self.scanned += 1;
            let saves = self
                .entry(at)
                .map_or(0, |entry| std::mem::take(&mut entry.saves));
            self.add_free(at, saves);
        }
    }

    /// Adds characters that a step can save at a message.
    pub(super) fn add_free(&mut self, at: usize, saves: usize) {
        if saves > 0 {
            self.first_free = if self.free == 0 {
                at
            } else {
                self.first_free.min(at)
            };
            self.free += saves;
        }
    }

    /// Returns true if the tokens that a step frees outweigh writing the rest of the window to the cache again.
    fn step_pays(&self, policy: &PolicyLookup<'_>) -> bool {
        if self.free < self.chars_of(policy.step_min_tokens) {
            return false;
        }
        let behind = self.first_free.saturating_sub(self.origin);
        let tail: usize = self.entries[behind.min(self.entries.len())..]
            .iter()
            .map(|entry| entry.size)
            .sum();
        let tail = tail.saturating_sub(self.free) as u128;
        let turns = u128::from(policy.expected_turns);
        let saved = self.free as u128 * turns * u128::from(policy.cache_read_mils);
        let more = policy
            .cache_write_mils
            .saturating_sub(policy.cache_read_mils);
        saved >= tail * u128::from(more)
    }

    /// Returns true if the provider's cache has expired since the last request.
    fn is_cold(&self, conversation: &Conversation, policy: &PolicyLookup<'_>) -> bool {
        let now = conversation.messages[..self.seen]
            .last()
            .and_then(|message| message.time_ms);
        match (self.request_time, now) {
            (Some(before), Some(now)) if policy.cache_lifetime_s > 0 => {
                now.saturating_sub(before) > i64::from(policy.cache_lifetime_s) * 1_000
            }
            _ => false,
        }
    }

    /// Makes outputs before `to`, and repeated reads, stale; returns the size of the unchanged prefix.
    fn make_stale(
        &mut self,
        conversation: &Conversation,
        policy: &PolicyLookup<'_>,
        to: usize,
    ) -> usize {
        let first = self.first_free;
        if self.again.iter().any(|(at, _)| *at >= to) {
            self.actions.push(CompactionAction::Repeat);
        }
        self.actions.push(CompactionAction::Stale);
        self.recompute_from(conversation, policy, first, to);
        let before: usize = self.entries[..first - self.origin]
            .iter()
            .map(|entry| entry.size)
            .sum();
        let anchors: usize = self
            .anchors
            .iter()
            .filter(|anchor| anchor.after < first)
            .map(|anchor| anchor.size)
            .sum();
        self.prompt_chars
            + self.system_size
            + self.pinned_size
            + self.summary_size.message
            + before
            + anchors
    }

    /// Recomputes the messages from `first` on after a step: stubs before `to`, no thinking.
    fn recompute_from(
        &mut self,
        conversation: &Conversation,
        policy: &PolicyLookup<'_>,
        first: usize,
        to: usize,
    ) {
        self.stale_end = self.stale_end.max(to);
        self.repeated.append(&mut self.again);
        self.repeated.retain(|(at, _)| *at >= self.summary_end);
        self.without_thinking.push((first, self.seen));
        self.first_changed = first;
        for at in first..self.seen {
            let message = &conversation.messages[at];
            if message.inserted.is_some() || self.orphans.contains(&at) {
                continue;
            }
            let mut entry = measure(conversation.format, policy, message);
            entry.goal = self.goal_at(at);
            entry.size -= entry.thinking;
            entry.thinking = 0;
            for (part, output) in message.parts.iter().enumerate() {
                if let MessagePart::Output(output) = output
                    && self.is_stale(policy, at, part, output)
                {
                    let saves = stale_saves(policy.limits_for(output), output);
                    entry.size -= saves;
                    entry.saves -= saves;
                }
            }
            entry.size = round_to_tokens(entry.size);
            if let Some(place) = self.entry(at) {
                *place = entry;
            }
        }
        self.scanned = self.stale_end;
        self.free = 0;
        self.active_size = self.entries.iter().map(|entry| entry.size).sum();
    }

    /// Adds the cost of this request, with and without compaction.
    fn add_cost(&mut self, policy: &PolicyLookup<'_>, changed: Option<usize>) {
        let price = |total: usize, cached: usize| {
            let cached = cached.min(total);
            cached as u64 * policy.cache_read_mils
                + (total - cached) as u64 * policy.cache_write_mils
        };
        let total = self.total();
        let cached = match (changed, policy.cache_match) {
            (None, _) => self.window_before,
            (Some(prefix_size), CacheMatch::Prefix) => prefix_size.min(self.window_before),
            (Some(prefix_size), CacheMatch::Exact) => {
                prefix_size.min(self.prompt_chars + self.system_size)
            }
        };
        self.cost_window += price(total, cached) / 4;
        self.cost_none += price(self.raw_size, self.raw_before) / 4;
        self.window_before = total;
        self.raw_before = self.raw_size;
    }
}
