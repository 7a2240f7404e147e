//! What a compaction says of itself.

use crate::compose::Shortened;
use crate::plan::Action;

/// Messages of the input that are not in the window: `from` is the first, `to` the one behind the last.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dropped {
    /// The index of the first in the input.
    pub from: usize,
    /// The index behind the last.
    pub to: usize,
    /// What to ask for to get them: from their content.
    pub id: String,
    /// The same as a range of inner messages.
    pub inner: std::ops::Range<usize>,
}

/// What a summary stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Summarised {
    /// From the content of all messages that it stands for: a text under this id in
    /// [`crate::State::summaries`] takes its place.
    pub id: String,
    /// The inner messages that it stands for.
    pub inner: std::ops::Range<usize>,
    /// Most characters that such a text may have; what is more is cut.
    pub chars_max: usize,
    /// Whether somebody else wrote it.
    pub is_written: bool,
}

/// What a compaction did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    /// Tokens of the whole history.
    pub tokens_before: usize,
    /// Tokens of the window.
    pub tokens_after: usize,
    /// Thousandths of a character that a token was counted as.
    pub chars_per_token_mils: usize,
    /// Whether the history's own `usage` said so; else four characters are a token.
    pub calibrated: bool,
    /// Tokens before and after, where somebody counted those of the model itself; they move no threshold.
    pub counted: Option<(usize, usize)>,
    /// The index in the input of the first message that is not summarised.
    pub boundary: usize,
    /// What this window was made with.
    pub actions: Vec<Action>,
    /// Whether this request begins otherwise than the one before.
    pub stepped: bool,
    /// The index in the output of the first message that the last step changed.
    pub first_changed: Option<usize>,
    /// Indexes in the output behind which a cache breakpoint pays, at most 4, ascending.
    pub breakpoints: Vec<usize>,
    /// Thoughts that were left out.
    pub thinking_dropped: usize,
    /// Outputs that the window holds in part.
    pub shortened: Vec<Shortened>,
    /// The summary in the window, if there is one: what somebody else may write better.
    pub summary: Option<Summarised>,
    /// Messages that the window does not hold.
    pub dropped: Vec<Dropped>,
    /// Price of all requests so far with a cache and no window, in tokens of uncached input.
    pub cost_none: u64,
    /// The same with this window.
    pub cost_window: u64,
    /// Why the window is over its target, if it is.
    pub over: Option<String>,
}

impl Report {
    /// The report as JSON, on one line.
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
            "tokens_before": self.counted.map_or(self.tokens_before, |(before, _)| before),
            "tokens_after": self.counted.map_or(self.tokens_after, |(_, after)| after),
            "counting": if self.counted.is_some() { "exact" } else { "estimate" },
            "estimate": {"tokens_before": self.tokens_before, "tokens_after": self.tokens_after},
            "chars_per_token": (self.chars_per_token_mils as f64) / 1_000.0,
            "calibrated": self.calibrated,
            "boundary": self.boundary,
            "actions": actions,
            "stepped": self.stepped,
            "first_changed": self.first_changed,
            "breakpoints": self.breakpoints,
            "thinking_dropped": self.thinking_dropped,
            "summary": self.summary.as_ref().map(|one| serde_json::json!({"id": one.id, "written": one.is_written})),
            "shortened": shortened,
            "dropped": dropped,
            "cost": {"none": self.cost_none, "window": self.cost_window},
            "over": self.over,
        })
        .to_string()
    }
}
