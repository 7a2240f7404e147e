//! Report of a compaction.

use crate::compaction_plan::CompactionAction;
use crate::composition::ShortenedOutput;

/// Range of input messages that are not in the window.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DroppedRange {
    /// Index of the first message in the input.
    pub from: usize,
    /// Index after the last message.
    pub to: usize,
    /// Id of the archived messages, derived from their content.
    pub id: String,
    /// Range of inner messages.
    pub inner_range: std::ops::Range<usize>,
}

/// The summary in a window and the messages that it replaces.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SummaryInfo {
    /// Id derived from the content of the replaced messages; a text under this id in
    /// [`crate::WindowState::summaries`] is used as the summary.
    pub id: String,
    /// Range of the replaced inner messages.
    pub inner_range: std::ops::Range<usize>,
    /// Maximum length of such a text, characters; longer ones are truncated.
    pub chars_max: usize,
    /// True if an external writer wrote it.
    pub is_external: bool,
}

/// Report of one compaction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CompactionReport {
    /// Estimated tokens of the whole history.
    pub tokens_before: usize,
    /// Estimated tokens of the window.
    pub tokens_after: usize,
    /// Characters per token, in thousandths.
    pub chars_per_token_mils: usize,
    /// True if the history's `usage` calibrated that figure; else it is four.
    pub is_calibrated: bool,
    /// Tokens before and after by the model's own tokenizer, if counted; no threshold uses them.
    pub exact_tokens: Option<(usize, usize)>,
    /// Index in the input of the first message that is not summarised.
    pub boundary: usize,
    /// Measures in effect in this window.
    pub actions: Vec<CompactionAction>,
    /// True if this request does not begin with the previous one, so the prompt cache breaks.
    pub is_rewritten: bool,
    /// Index in the output of the first message that the last step changed.
    pub first_changed: Option<usize>,
    /// Indexes in the output after which a cache breakpoint pays, at most 4, ascending.
    pub breakpoints: Vec<usize>,
    /// Number of omitted thinking parts.
    pub thinking_dropped: usize,
    /// Shortened outputs.
    pub shortened: Vec<ShortenedOutput>,
    /// The summary in the window, if any; an external writer may replace it.
    pub summary: Option<SummaryInfo>,
    /// Dropped messages.
    pub dropped: Vec<DroppedRange>,
    /// Cost of all requests so far with a cache and without compaction, in tokens of uncached input.
    pub cost_none: u64,
    /// The same cost with compaction.
    pub cost_window: u64,
    /// Reason why the window exceeds its target, if it does.
    pub over_budget_reason: Option<String>,
}

impl CompactionReport {
    /// Renders the report as JSON on one line.
    pub fn to_json(&self) -> String {
        let actions: Vec<&str> = self.actions.iter().map(|action| action.as_str()).collect();
        let shortened: Vec<serde_json::Value> = self
            .shortened
            .iter()
            .map(|one| {
                serde_json::json!({
                    "index": one.index, "id": one.id, "tool": one.tool,
                    "chars_before": one.chars_before, "chars_after": one.chars_after,
                })
            })
            .collect();
        let dropped: Vec<serde_json::Value> = self
            .dropped
            .iter()
            .map(|one| serde_json::json!({"from": one.from, "to": one.to, "id": one.id}))
            .collect();
        serde_json::json!({
            "tokens_before": self.exact_tokens.map_or(self.tokens_before, |(before, _)| before),
            "tokens_after": self.exact_tokens.map_or(self.tokens_after, |(_, after)| after),
            "counting": if self.exact_tokens.is_some() { "exact" } else { "estimate" },
            "estimate": {"tokens_before": self.tokens_before, "tokens_after": self.tokens_after},
            "chars_per_token": (self.chars_per_token_mils as f64) / 1_000.0,
            "calibrated": self.is_calibrated,
            "boundary": self.boundary,
            "actions": actions,
            "stepped": self.is_rewritten,
            "first_changed": self.first_changed,
            "breakpoints": self.breakpoints,
            "thinking_dropped": self.thinking_dropped,
            "summary": self.summary.as_ref().map(|one| serde_json::json!({"id": one.id, "written": one.is_external})),
            "shortened": shortened,
            "dropped": dropped,
            "cost": {"none": self.cost_none, "window": self.cost_window},
            "over": self.over_budget_reason,
        })
        .to_string()
    }
}
