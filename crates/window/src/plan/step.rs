//! What is decided before a request: an anchor, a step, or nothing.

use super::{Action, Placed, Plan, Room, Segment, measure, stale_saves};
use crate::compose::segment_id;
use crate::conversation::Conversation;
use crate::message::{Form, Message, Own, Part, Role};
use crate::own;
use crate::policy::{CacheMatch, Rules};
use crate::size::{message_chars, whole};

/// The share of the target, in hundredths, that a window is brought under when it was over it.
const RELIEF_PERCENT: usize = 70;
/// Messages that a summary leaves as they are, however long they are.
const KEEP_MIN: usize = 4;
/// Most characters of users' words that a summary says verbatim: 8,000 tokens.
const USERS_CHARS_MAX: usize = 32_000;
/// Characters that a summary needs before the first of them.
const USERS_FRAME_CHARS: usize = 240;
/// Characters that a summary needs around one user's words.
const SAID_CHARS: usize = 48;
/// Characters of a summary besides those.
const BODY_CHARS_MAX: usize = crate::digest::BODY_CHARS;

impl Plan {
    /// Decides the window of a request that holds everything seen so far.
    pub(crate) fn decide(&mut self, conversation: &Conversation, policy: &Rules<'_>) {
        self.actions.clear();
        let mut changed = None;
        if self.seen >= self.start && self.seen > self.system_end {
            changed = self.change(conversation, policy);
        }
        self.account(policy, changed);
        self.turns += 1;
    }

    /// Makes the step or the anchor that is due; the characters of the window that stay as they were.
    fn change(&mut self, conversation: &Conversation, policy: &Rules<'_>) -> Option<usize> {
        let stale_to = self.stale_to(conversation, policy.stale_threshold);
        self.scan(stale_to);
        let anchor = self.next_anchor(conversation, policy, false);
        let coming = anchor.map_or(0, |anchor| anchor.size);
        let total = self.total() + coming;
        let target = self.chars_of(policy.summary_threshold);
        let over = policy.summary_threshold > 0 && total > target;
        let cold = self.is_cold(conversation, policy);
        let relief = target / 100 * RELIEF_PERCENT;
        let worth = self.free > 0 && (cold || self.pays(policy));
        let mut changed = None;
        if over && total.saturating_sub(self.free) > relief {
            let keep = Keep {
                most: policy.messages_to_keep,
                least: KEEP_MIN.min(policy.messages_to_keep),
                chars: relief.saturating_sub(coming),
            };
            changed = self.summarise(conversation, policy, keep, Action::Summary);
        }
        if changed.is_none() && self.free > 0 && (worth || over) {
            changed = Some(self.go_stale(conversation, policy, stale_to));
        }
        let fallback = self.chars_of(policy.fallback_tokens);
        if policy.fallback_tokens > 0 && self.total() + coming > fallback {
            let keep = Keep {
                most: policy.fallback_messages,
                least: policy.fallback_messages / 2,
                chars: fallback.saturating_sub(coming),
            };
            changed = self
                .summarise(conversation, policy, keep, Action::Fallback)
                .or(changed);
        }
        self.put_anchor(conversation, policy, changed.is_some());
        if changed.is_some() {
            self.steps += 1;
        }
        changed
    }

    /// The message before which outputs are old enough to be stale.
    fn stale_to(&self, conversation: &Conversation, threshold: usize) -> usize {
        self.back(conversation, threshold)
    }

    /// The message behind which `count` messages stand that are not ours.
    fn back(&self, conversation: &Conversation, count: usize) -> usize {
        let mut left = count;
        let mut at = self.seen;
        while at > self.cut && left > 0 {
            at -= 1;
            if conversation.messages[at].own.is_none() {
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

    /// Whether what a step frees is worth writing again what stands behind it.
    fn pays(&self, policy: &Rules<'_>) -> bool {
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

    /// Whether the provider's cache has gone cold since the last request.
    fn is_cold(&self, conversation: &Conversation, policy: &Rules<'_>) -> bool {
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

    /// Makes outputs before `to`, and earlier reads, stale; what stays as it was.
    fn go_stale(&mut self, conversation: &Conversation, policy: &Rules<'_>, to: usize) -> usize {
        let first = self.first_free;
        if self.again.iter().any(|(at, _)| *at >= to) {
            self.actions.push(Action::Repeat);
        }
        self.actions.push(Action::Stale);
        self.settle(conversation, policy, first, to);
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
        self.beside + self.system_size + self.pinned_size + self.room.whole + before + anchors
    }

    /// Everything from `first` on as it stands after a step: stubs before `to`, no thoughts.
    fn settle(&mut self, conversation: &Conversation, policy: &Rules<'_>, first: usize, to: usize) {
        self.bound = self.bound.max(to);
        self.repeated.append(&mut self.again);
        self.repeated.retain(|(at, _)| *at >= self.cut);
        self.unthought.push((first, self.seen));
        self.first_changed = first;
        for at in first..self.seen {
            let message = &conversation.messages[at];
            if message.own.is_some() || self.orphans.contains(&at) {
                continue;
            }
            let mut entry = measure(conversation.form, policy, message);
            entry.goal = self.goal_at(at);
            entry.size -= entry.thinking;
            entry.thinking = 0;
            for (part, output) in message.parts.iter().enumerate() {
                if let Part::Output(output) = output
                    && self.is_stale(policy, at, part, output)
                {
                    let saves = stale_saves(policy.tool(output), output);
                    entry.size -= saves;
                    entry.saves -= saves;
                }
            }
            entry.size = whole(entry.size);
            if let Some(place) = self.entry(at) {
                *place = entry;
            }
        }
        self.scanned = self.bound;
        self.free = 0;
        self.active_size = self.entries.iter().map(|entry| entry.size).sum();
    }

    /// The anchor that is due behind the last message, if the protocol allows one there.
    fn next_anchor(
        &self,
        conversation: &Conversation,
        policy: &Rules<'_>,
        stepped: bool,
    ) -> Option<Placed> {
        let since = self.calls.saturating_sub(self.last_anchor);
        if policy.task_anchor_interval == 0 || since < policy.task_anchor_interval {
            return None;
        }
        self.anchor_here(conversation, stepped)
    }

    /// An anchor behind the last message; after a step no other one says the plan.
    fn anchor_here(&self, conversation: &Conversation, stepped: bool) -> Option<Placed> {
        // What is left out is not what the window ends with.
        let after = (self.cut..self.seen).rfind(|at| !self.orphans.contains(at))?;
        let message = &conversation.messages[after];
        let allowed = message.role == Role::Tool && message.own.is_none() && self.open.is_empty();
        let goal = self.goal.filter(|_| allowed)?;
        let plans = stepped || !self.anchors.iter().any(|anchor| anchor.plans);
        let plan = self.plan.as_deref().filter(|_| plans);
        let text = own::anchor(&conversation.messages[goal].text(), self.calls, plan);
        Some(Placed {
            after,
            came: false,
            calls: self.calls,
            goal: Some(goal),
            plans: plan.is_some(),
            size: message_chars(crate::size::chars(&text)),
        })
    }

    /// Places the anchor that is due; after a step only the newest stays.
    fn put_anchor(&mut self, conversation: &Conversation, policy: &Rules<'_>, stepped: bool) {
        let mut next = self.next_anchor(conversation, policy, stepped);
        if stepped {
            if next.is_none() && policy.task_anchor_interval > 0 && self.calls > self.last_anchor {
                next = self.anchor_here(conversation, true);
            }
            let newest = self.anchors.last().copied().filter(|_| next.is_none());
            let (kept, cut) = (newest.map(|anchor| anchor.after), self.cut);
            for anchor in &self.anchors {
                if anchor.came && Some(anchor.after) != kept {
                    self.gone.push(anchor.after);
                }
            }
            self.anchors.clear();
            self.anchors
                .extend(newest.filter(|anchor| anchor.after >= cut));
            if self.anchors.is_empty() && cut > self.system_end {
                self.last_anchor = self.calls_cut;
            }
        }
        if let Some(anchor) = next {
            self.anchors.push(anchor);
            self.last_anchor = anchor.calls;
            self.actions.push(Action::Anchor);
        }
        self.anchors_size = self.anchors.iter().map(|anchor| anchor.size).sum();
    }

    /// Adds what this request costs, with and without a window.
    fn account(&mut self, policy: &Rules<'_>, changed: Option<usize>) {
        let price = |total: usize, cached: usize| {
            let cached = cached.min(total);
            cached as u64 * policy.cache_read_mils
                + (total - cached) as u64 * policy.cache_write_mils
        };
        let total = self.total();
        let cached = match (changed, policy.cache_match) {
            (None, _) => self.window_before,
            (Some(kept), CacheMatch::Prefix) => kept.min(self.window_before),
            (Some(kept), CacheMatch::Exact) => kept.min(self.beside + self.system_size),
        };
        self.cost_window += price(total, cached) / 4;
        self.cost_none += price(self.raw_size, self.raw_before) / 4;
        self.window_before = total;
        self.raw_before = self.raw_size;
    }
}

/// What a summary leaves.
#[derive(Clone, Copy)]
struct Keep {
    /// Messages, if they are short enough.
    most: usize,
    /// Messages, however long they are.
    least: usize,
    /// Characters that the window should have afterwards.
    chars: usize,
}

impl Plan {
    /// Puts older messages into the summary; what of the window stays as it was.
    fn summarise(
        &mut self,
        conversation: &Conversation,
        policy: &Rules<'_>,
        keep: Keep,
        action: Action,
    ) -> Option<usize> {
        let places: Vec<usize> = (self.cut + 1..self.seen)
            .filter(|at| self.may_cut(conversation, *at))
            .collect();
        let wanted = self.back(conversation, keep.most);
        let least = self.back(conversation, keep.least);
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
            // Few messages stay only if more would not fit at all.
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
        self.fell_back |= action == Action::Fallback;
        self.cut_at(conversation, after);
        let stale_to = self.stale_to(conversation, policy.stale_threshold);
        let cut = self.cut;
        self.settle(conversation, policy, cut, stale_to.max(cut));
        Some(self.beside + self.system_size)
    }

    fn total_at(&self, after: &Option<After>) -> usize {
        after.as_ref().map_or(usize::MAX, |after| after.total)
    }

    /// Whether the window may go on with that message: no answer whose call would be gone, and not
    /// in the middle of what the model said at once.
    fn may_cut(&self, conversation: &Conversation, at: usize) -> bool {
        let message = &conversation.messages[at];
        if message.own.is_some() || message.answers() || self.orphans.contains(&at) {
            return false;
        }
        let before = &conversation.messages[at - 1];
        let same_turn = before.role == Role::Assistant && message.role == Role::Assistant;
        let same_outer = before.outer == message.outer && before.own.is_none();
        let open = conversation.form == Form::Responses
            && (at..self.seen).any(|later| {
                conversation.messages[later]
                    .outputs()
                    .any(|output| output.call.is_some_and(|(call, _)| call < at))
            });
        !same_turn && !same_outer && !open
    }

    /// What the window would be if it went on with message `cut`.
    fn after_cut(&self, conversation: &Conversation, cut: usize) -> After {
        let gone = &conversation.messages[self.cut..cut];
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
                whole(message.chars.saturating_sub(answers))
            })
            .sum();
        let pinned_said: usize = pinned
            .iter()
            .map(|at| said_chars(&conversation.messages[*at]))
            .sum();
        let users: usize = self.users_size
            + gone
                .iter()
                .filter(|message| message.role == Role::User && message.own != Some(Own::Summary))
                .map(said_chars)
                .sum::<usize>();
        let replaced: usize = self.entries[..cut - self.origin]
            .iter()
            .map(|entry| entry.size)
            .sum();
        let old = replaced + self.pinned_size + self.room.whole;
        let users_room = match users.saturating_sub(pinned_said) {
            0..=SAID_CHARS => 0,
            said => (said + USERS_FRAME_CHARS).min(USERS_CHARS_MAX),
        };
        let body =
            (replaced / 3 + self.room.body.saturating_sub(self.room.users)).min(BODY_CHARS_MAX);
        let plan = self.plan.as_ref().map_or(0, |plan| plan.chars().count());
        let room = Room {
            body: body + users_room,
            users: users_room,
            whole: message_chars(body + users_room + plan + own::SUMMARY_FRAME_CHARS + 420),
        };
        let new = pinned_size + room.whole;
        After {
            cut,
            total: (self.total() + new).saturating_sub(old),
            shrinks: new < old,
            pinned,
            pinned_size,
            users,
            room,
        }
    }

    fn cut_at(&mut self, conversation: &Conversation, after: After) {
        let kept_calls: usize = conversation.messages[after.cut..self.seen]
            .iter()
            .map(|message| message.calls().count())
            .sum();
        for at in self.cut..after.cut {
            if conversation.messages[at].own.is_some() {
                self.gone.push(at);
            }
        }
        self.segments.push(Segment {
            from: self.cut,
            to: after.cut,
            id: segment_id(conversation, self.cut, after.cut).into(),
        });
        self.entries.drain(..after.cut - self.origin);
        self.origin = after.cut;
        self.cut = after.cut;
        self.calls_cut = self.calls.saturating_sub(kept_calls);
        self.goal_cut = self.goal;
        self.pinned = after.pinned;
        self.pinned_size = after.pinned_size;
        self.users_size = after.users;
        self.room = after.room;
        self.bound = self.bound.max(after.cut);
        self.scanned = self.scanned.max(after.cut);
        self.again.retain(|(at, _)| *at >= after.cut);
        self.unthought.clear();
        self.missing.retain(|(_, (call, _))| *call >= after.cut);
        self.open.retain(|(call, _)| *call >= after.cut);
        self.reads.retain(|_, (at, _)| *at >= after.cut);
    }
}

struct After {
    cut: usize,
    total: usize,
    shrinks: bool,
    pinned: Vec<usize>,
    pinned_size: usize,
    users: usize,
    room: Room,
}

fn said_chars(message: &Message) -> usize {
    message.texts().map(crate::size::chars).sum::<usize>() + SAID_CHARS
}
