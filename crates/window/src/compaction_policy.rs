//! Compaction policy: all thresholds, tool rules, and cache prices.

use crate::cache_pricing::{CacheMatch, CachePricing, DEFAULT_PRICING};
use crate::name_pattern::matches_pattern;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// Minimum length of a preview, characters: less has no space for the reference to the full text.
pub(crate) const PREVIEW_CHARS_MIN: usize = 300;

/// A set of defaults.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Profile {
    /// A window of 40,000 tokens.
    #[serde(rename = "default")]
    Default,
    /// A window of 60,000 tokens.
    #[serde(rename = "large")]
    Large,
    /// Short previews, and a stub for each old output at once, as in the programs that this policy derives from.
    #[serde(rename = "seed")]
    Seed,
}

/// Rule for one tool's outputs; absent fields have the general values.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ToolRule {
    /// Length above which an output is shortened when it is first sent, characters.
    #[serde(rename = "max_length")]
    pub max_length: Option<usize>,
    /// Length of the preview, characters.
    #[serde(rename = "preview_length")]
    pub preview_length: Option<usize>,
    /// True if its outputs never become stale.
    #[serde(rename = "critical")]
    pub critical: Option<bool>,
}

/// Complete policy. Lengths are in characters, thresholds in tokens.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Policy {
    /// Names of tools that read files.
    #[serde(rename = "read_tools")]
    pub read_tools: Vec<String>,
    /// Length above which their outputs are shortened when first sent.
    #[serde(rename = "read_max_length")]
    pub read_max_length: usize,
    /// Length of the preview, characters.
    #[serde(rename = "read_preview_length")]
    pub read_preview_length: usize,
    /// Patterns of tools whose outputs never become stale: `*` matches any run of characters, `?` one.
    #[serde(rename = "critical_tools")]
    pub critical_tools: Vec<String>,
    /// Length above which their outputs are shortened when first sent.
    #[serde(rename = "critical_max_length")]
    pub critical_max_length: usize,
    /// Length of their previews.
    #[serde(rename = "critical_preview_length")]
    pub critical_preview_length: usize,
    /// Length above which any other output is shortened when first sent.
    #[serde(rename = "max_output_length")]
    pub max_output_length: usize,
    /// Length of the preview, characters.
    #[serde(rename = "preview_length")]
    pub preview_length: usize,
    /// Number of messages after which an output is stale.
    #[serde(rename = "stale_threshold")]
    pub stale_threshold: usize,
    /// Target size: above it older messages are summarised. 0 disables it.
    #[serde(rename = "summary_threshold")]
    pub summary_threshold: usize,
    /// Number of messages that a summary keeps.
    #[serde(rename = "messages_to_keep")]
    pub messages_to_keep: usize,
    /// Number of tool calls between two anchors. 0 disables anchors.
    #[serde(rename = "task_anchor_interval")]
    pub task_anchor_interval: usize,
    /// Size above which only the last messages are kept, whatever a summary would save. 0 disables it.
    #[serde(rename = "fallback_tokens")]
    pub fallback_tokens: usize,
    /// Maximum number of messages kept then; the minimum is half of it.
    #[serde(rename = "fallback_messages")]
    pub fallback_messages: usize,
    /// Minimum number of tokens that a step must free.
    #[serde(rename = "step_min_tokens")]
    pub step_min_tokens: usize,
    /// Expected number of further turns.
    #[serde(rename = "expected_turns")]
    pub expected_turns: u32,
    /// Matching rule of the service's prompt cache.
    #[serde(rename = "cache_match")]
    pub cache_match: CacheMatch,
    /// Price of a token written to the cache, in thousandths of an uncached one.
    #[serde(rename = "cache_write_mils")]
    pub cache_write_mils: u64,
    /// Price of a token read from the cache, in thousandths of an uncached one.
    #[serde(rename = "cache_read_mils")]
    pub cache_read_mils: u64,
    /// Lifetime of an idle cache, seconds. 0 is unlimited.
    #[serde(rename = "cache_lifetime_s")]
    pub cache_lifetime_s: u32,
    /// Cache prices of model families; the first matching row overrides the fields above.
    #[serde(rename = "prices")]
    pub prices: Vec<CachePricing>,
    /// Rules of tools by pattern; the first matching one in order applies.
    #[serde(rename = "tools")]
    pub tools: BTreeMap<String, ToolRule>,
}

impl Default for Policy {
    fn default() -> Self {
        Self::profile(Profile::Default)
    }
}

impl Policy {
    /// Returns the defaults of a profile.
    pub fn profile(profile: Profile) -> Self {
        let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        let mut policy = Self {
            read_tools: names(&["read_file", "Read", "view", "open", "cat"]),
            read_max_length: 8_000,
            read_preview_length: 4_000,
            critical_tools: names(&[
                "browser_visit",
                "browser_eval",
                "browser_fetch",
                "browser_screenshot",
                "db_query",
                "db_schema",
                "analyze_image",
                "desktop_screenshot",
            ]),
            critical_max_length: 8_000,
            critical_preview_length: 4_000,
            max_output_length: 4_000,
            preview_length: 2_000,
            stale_threshold: 15,
            summary_threshold: 40_000,
            messages_to_keep: 15,
            task_anchor_interval: 5,
            fallback_tokens: 120_000,
            fallback_messages: 20,
            step_min_tokens: 4_000,
            expected_turns: 20,
            cache_match: CacheMatch::Prefix,
            cache_write_mils: 1_250,
            cache_read_mils: 100,
            cache_lifetime_s: 300,
            prices: DEFAULT_PRICING
                .iter()
                .filter_map(|row| CachePricing::parse(row).ok())
                .collect(),
            tools: BTreeMap::new(),
        };
        match profile {
            Profile::Default => {}
            Profile::Large => policy.summary_threshold = 60_000,
            Profile::Seed => {
                policy.max_output_length = 2_000;
                policy.preview_length = 400;
                policy.read_max_length = 2_000;
                policy.read_preview_length = 400;
                // Each old output becomes a stub at once, whatever the cache loses.
                policy.step_min_tokens = 0;
                policy.cache_write_mils = 1_000;
                policy.cache_read_mils = 1_000;
                policy.prices = Vec::new();
            }
        }
        policy
    }

    /// Sets another target size of the window, tokens.
    pub fn with_target(mut self, tokens: usize) -> Self {
        self.summary_threshold = tokens;
        self
    }

    /// Returns true if outputs of the tool never become stale.
    pub fn is_critical(&self, tool: &str) -> bool {
        self.rule(tool)
            .and_then(|rule| rule.critical)
            .unwrap_or_else(|| self.matches_critical(tool))
    }

    /// Returns true if the tool reads files.
    pub fn is_read_tool(&self, tool: &str) -> bool {
        self.read_tools
            .iter()
            .any(|name| matches_pattern(name, tool))
    }

    /// Returns the length above which outputs of the tool are shortened, and the length of their previews.
    pub fn lengths(&self, tool: &str) -> (usize, usize) {
        let (max, preview) = if self.matches_critical(tool) {
            (self.critical_max_length, self.critical_preview_length)
        } else if self.is_read_tool(tool) {
            (self.read_max_length, self.read_preview_length)
        } else {
            (self.max_output_length, self.preview_length)
        };
        let rule = self.rule(tool);
        let max = rule.and_then(|rule| rule.max_length).unwrap_or(max);
        let preview = rule.and_then(|rule| rule.preview_length).unwrap_or(preview);
        // A preview must have space for the reference to the full text, and is never longer than an unshortened
        // output.
        let max = max.max(PREVIEW_CHARS_MIN);
        (max, preview.clamp(PREVIEW_CHARS_MIN, max))
    }

    fn matches_critical(&self, tool: &str) -> bool {
        self.critical_tools
            .iter()
            .any(|glob| matches_pattern(glob, tool))
    }

    fn rule(&self, tool: &str) -> Option<&ToolRule> {
        self.tools
            .iter()
            .find(|(glob, _)| matches_pattern(glob, tool))
            .map(|(_, rule)| rule)
    }

    /// Returns the policy for a model: with the prices of the first matching row, unchanged if none matches.
    pub fn for_model(&self, model: Option<&str>) -> Cow<'_, Self> {
        let family =
            model.and_then(|model| self.prices.iter().find(|row| row.matches_model(model)));
        let Some(family) = family else {
            return Cow::Borrowed(self);
        };
        let (write, read) = (family.cache_write_mils, family.cache_read_mils);
        let (lifetime, is) = (family.cache_lifetime_s, family.cache_match);
        let current = (
            self.cache_write_mils,
            self.cache_read_mils,
            self.cache_lifetime_s,
            self.cache_match,
        );
        if current == (write, read, lifetime, is) {
            return Cow::Borrowed(self);
        }
        let mut policy = self.clone();
        policy.cache_write_mils = write;
        policy.cache_read_mils = read;
        policy.cache_lifetime_s = lifetime;
        policy.cache_match = is;
        Cow::Owned(policy)
    }
}
