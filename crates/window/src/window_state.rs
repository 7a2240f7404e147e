//! State between two calls: cached decisions, and data that cannot be recomputed.

use crate::compaction_plan::Plan;
use crate::compaction_policy::Policy;
use crate::conversation::Conversation;
use crate::message::ChatMessage;
use crate::output_truncation::OriginalRef;
use crate::segment_ids::summary_id;
use crate::summary::{SummaryBuilder, SummaryMessage, SummaryTask, TextFilter};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// Maximum number of cached texts; beyond it the cache is cleared.
const TEXTS_MAX: usize = 4_096;

/// State of a window. Only data that cannot be recomputed is serialised.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct WindowState {
    /// Summaries of external writers, by the id of the messages that they replace.
    #[serde(rename = "summaries")]
    pub summaries: BTreeMap<String, String>,
    /// Expanded outputs by id, with the length of the history at that time in inner messages: later outputs with the
    /// same text, and results of calls that name the id, are not shortened.
    #[serde(rename = "expanded")]
    pub expanded: BTreeMap<String, usize>,
    #[serde(skip)]
    cached_plan: Option<CachedPlan>,
    #[serde(skip)]
    texts: HashMap<(u128, u64), CachedText>,
    /// Summary builder and the number of non-system messages it covers.
    #[serde(skip)]
    digest: SummaryBuilder,
    /// Filtered messages of the builder.
    #[serde(skip)]
    summarised: Vec<SummaryMessage>,
}

/// A generated text with the reference to its original.
#[derive(Debug, Clone)]
pub(crate) struct CachedText {
    pub(crate) text: Arc<str>,
    pub(crate) whole: OriginalRef,
}

#[derive(Debug, Clone)]
struct CachedPlan {
    plan: Plan,
    chain: u128,
    policy: Policy,
}

impl WindowState {
    /// Takes the cached plan if it matches the history; otherwise creates a new one.
    pub(crate) fn take_plan(&mut self, conversation: &Conversation, policy: &Policy) -> Plan {
        let held = self.cached_plan.take().filter(|held| {
            let end = held.plan.seen.checked_sub(1);
            held.policy == *policy
                && end.is_some_and(|end| conversation.chain.get(end) == Some(&held.chain))
                && held.plan.fits(conversation)
        });
        if let Some(held) = held {
            return held.plan;
        }
        self.texts.clear();
        self.forget_summarised();
        Plan::new(conversation)
    }

    /// Caches the plan for the next call.
    pub(crate) fn store_plan(&mut self, conversation: &Conversation, policy: &Policy, plan: Plan) {
        let Some(end) = plan.seen.checked_sub(1) else {
            return;
        };
        self.cached_plan = Some(CachedPlan {
            chain: conversation.chain[end],
            policy: policy.clone(),
            plan,
        });
    }

    /// Returns the cached text of a key.
    pub(crate) fn cached(&self, key: (u128, u64)) -> Option<CachedText> {
        self.texts.get(&key).cloned()
    }

    /// Returns the cached text of a key, or computes and caches it.
    pub(crate) fn cached_or_insert(
        &mut self,
        key: (u128, u64),
        write: impl FnOnce() -> CachedText,
    ) -> CachedText {
        if self.texts.len() >= TEXTS_MAX {
            self.texts.clear();
        }
        self.texts.entry(key).or_insert_with(write).clone()
    }

    fn forget_summarised(&mut self) {
        self.digest = SummaryBuilder::default();
        self.summarised.clear();
    }

    /// Writes the summary of messages, continuing the cached builder.
    pub(crate) fn summarise(
        &mut self,
        messages: &[ChatMessage],
        task: &SummaryTask<'_>,
        filter: &dyn TextFilter,
    ) -> String {
        if self.digest.len() > messages.len() {
            self.forget_summarised();
        }
        let from = self.digest.len();
        let more = SummaryMessage::from_messages(&messages[from..], filter);
        self.digest.extend(&more);
        self.summarised.extend(more);
        self.digest.write(&self.summarised, task)
    }

    /// Returns the latest external summary of messages from `from` on, and the end of its range.
    pub(crate) fn external_summary(
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
