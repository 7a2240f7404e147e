//! Anchors: the reminder of the goal after a number of tool calls.

use super::{AnchorPlacement, CompactionAction, Plan};
use crate::conversation::Conversation;
use crate::markers;
use crate::message::ChatRole;
use crate::policy_lookup::PolicyLookup;
use crate::token_estimate::counted_message_chars;

impl Plan {
    /// Returns the anchor due after the last message, if the protocol allows one.
    pub(super) fn next_anchor(
        &self,
        conversation: &Conversation,
        policy: &PolicyLookup<'_>,
        stepped: bool,
    ) -> Option<AnchorPlacement> {
        let since = self.calls.saturating_sub(self.last_anchor);
        if policy.task_anchor_interval == 0 || since < policy.task_anchor_interval {
            return None;
        }
        self.new_anchor(conversation, stepped)
    }

    /// Creates an anchor after the last message; after a step it is the only one with the plan.
    fn new_anchor(&self, conversation: &Conversation, stepped: bool) -> Option<AnchorPlacement> {
        // An omitted message cannot be the end of the window.
        let after = (self.summary_end..self.seen).rfind(|at| !self.orphans.contains(at))?;
        let message = &conversation.messages[after];
        let allowed =
            message.role == ChatRole::Tool && message.inserted.is_none() && self.open.is_empty();
        let goal = self.goal.filter(|_| allowed)?;
        let plans = stepped || !self.anchors.iter().any(|anchor| anchor.has_plan);
        let plan = self.plan.as_deref().filter(|_| plans);
        let text = markers::anchor_text(&conversation.messages[goal].text(), self.calls, plan);
        Some(AnchorPlacement {
            after,
            is_from_history: false,
            calls: self.calls,
            goal: Some(goal),
            has_plan: plan.is_some(),
            size: counted_message_chars(crate::token_estimate::chars(&text)),
        })
    }

    /// Places the anchor that is due; after a step only the newest anchor stays.
    pub(super) fn place_anchor(
        &mut self,
        conversation: &Conversation,
        policy: &PolicyLookup<'_>,
        stepped: bool,
    ) {
        let mut next = self.next_anchor(conversation, policy, stepped);
        if stepped {
            if next.is_none() && policy.task_anchor_interval > 0 && self.calls > self.last_anchor {
                next = self.new_anchor(conversation, true);
            }
            let newest = self.anchors.last().copied().filter(|_| next.is_none());
            let (last_anchor, cut) = (newest.map(|anchor| anchor.after), self.summary_end);
            for anchor in &self.anchors {
                if anchor.is_from_history && Some(anchor.after) != last_anchor {
                    self.replaced.push(anchor.after);
                }
            }
            self.anchors.clear();
            self.anchors
                .extend(newest.filter(|anchor| anchor.after >= cut));
            if self.anchors.is_empty() && cut > self.system_end {
                self.last_anchor = self.summarised_calls;
            }
        }
        if let Some(anchor) = next {
            self.anchors.push(anchor);
            self.last_anchor = anchor.calls;
            self.actions.push(CompactionAction::Anchor);
        }
        self.anchors_size = self.anchors.iter().map(|anchor| anchor.size).sum();
    }
}
