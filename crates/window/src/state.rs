//! What is kept between two calls: decisions, which can always be made again, and what cannot.

use crate::compose::summary_id;
use crate::conversation::Conversation;
use crate::digest::{Digest, Task};
use crate::message::Message;
use crate::plan::Plan;
use crate::policy::Policy;
use crate::shorten::Whole;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// Most texts that are remembered: beyond it the cache begins anew.
const TEXTS_MAX: usize = 4_096;

/// The state of a window. What is written out is only what cannot be computed again.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct State {
    /// Summaries that somebody else wrote, by the id of the messages that they stand for.
    pub summaries: BTreeMap<String, String>,
    /// Outputs that were asked for again, by id, and the length of the history then, in inner messages: what comes
    /// behind with the same text, or as the answer of a call that names the id, is not shortened.
    pub expanded: BTreeMap<String, usize>,
    #[serde(skip)]
    held: Option<Held>,
    #[serde(skip)]
    texts: HashMap<(u128, u64), Left>,
    /// What summaries know, and of how many messages from the first on that is no system prompt.
    #[serde(skip)]
    digest: Digest,
}

/// A text of ours, and where what it is of is kept.
#[derive(Debug, Clone)]
pub(crate) struct Left {
    pub(crate) text: Arc<str>,
    pub(crate) whole: Whole,
}

#[derive(Debug, Clone)]
struct Held {
    plan: Plan,
    chain: u128,
    policy: Policy,
}

impl State {
    /// The plan for as much of the history as it still fits; a new one if the history was edited.
    pub(crate) fn plan(&mut self, conversation: &Conversation, policy: &Policy) -> Plan {
        let held = self.held.take().filter(|held| {
            let end = held.plan.seen.checked_sub(1);
            held.policy == *policy
                && end.is_some_and(|end| conversation.chain.get(end) == Some(&held.chain))
                && held.plan.fits(conversation)
        });
        if let Some(held) = held {
            return held.plan;
        }
        self.texts.clear();
        self.digest = Digest::default();
        Plan::new(conversation)
    }

    /// Keeps the plan for the next call.
    pub(crate) fn keep(&mut self, conversation: &Conversation, policy: &Policy, plan: Plan) {
        let Some(end) = plan.seen.checked_sub(1) else {
            return;
        };
        self.held = Some(Held {
            chain: conversation.chain[end],
            policy: policy.clone(),
            plan,
        });
    }

    /// What is left under that key, if it was written.
    pub(crate) fn known(&self, key: (u128, u64)) -> Option<Left> {
        self.texts.get(&key).cloned()
    }

    /// What is left under that key, written once.
    pub(crate) fn left(&mut self, key: (u128, u64), write: impl FnOnce() -> Left) -> Left {
        if self.texts.len() >= TEXTS_MAX {
            self.texts.clear();
        }
        self.texts.entry(key).or_insert_with(write).clone()
    }

    /// The summary of messages, with what earlier ones knew already in hand.
    pub(crate) fn summarise(&mut self, messages: &[Message], task: &Task<'_>) -> String {
        if self.digest.len() > messages.len() {
            self.digest = Digest::default();
        }
        self.digest.extend(&messages[self.digest.len()..]);
        self.digest.write(messages, task)
    }

    /// The latest summary that somebody else wrote for messages from `from` on, and where they end.
    pub(crate) fn written(
        &self,
        conversation: &Conversation,
        from: usize,
        to: usize,
    ) -> Option<(String, usize)> {
        if self.summaries.is_empty() {
            return None;
        }
        (from + 1..=to).rev().find_map(|end| {
            let text = self.summaries.get(&summary_id(conversation, end))?;
            Some((text.clone(), end))
        })
    }
}
