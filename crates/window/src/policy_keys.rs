//! Keys of a compaction policy in files, and their resolution to a policy.

use crate::cache_pricing::{CacheMatch, CachePricing, parse_mils};
use crate::compaction_policy::{Policy, Profile, ToolRule};
use heirloom_model::Fault;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Keys of a policy file and of the section `[window]`, each optional.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct PolicyKeys {
    /// Profile with the defaults of absent keys.
    #[serde(rename = "profile")]
    pub profile: Option<Profile>,
    /// See [`Policy::read_tools`].
    #[serde(rename = "read_tools")]
    pub read_tools: Option<Vec<String>>,
    /// See [`Policy::read_max_length`].
    #[serde(rename = "read_max_length")]
    pub read_max_length: Option<usize>,
    /// See [`Policy::read_preview_length`].
    #[serde(rename = "read_preview_length")]
    pub read_preview_length: Option<usize>,
    /// See [`Policy::critical_tools`].
    #[serde(rename = "critical_tools")]
    pub critical_tools: Option<Vec<String>>,
    /// See [`Policy::critical_max_length`].
    #[serde(rename = "critical_max_length")]
    pub critical_max_length: Option<usize>,
    /// See [`Policy::critical_preview_length`].
    #[serde(rename = "critical_preview_length")]
    pub critical_preview_length: Option<usize>,
    /// See [`Policy::max_output_length`].
    #[serde(rename = "max_output_length")]
    pub max_output_length: Option<usize>,
    /// See [`Policy::preview_length`].
    #[serde(rename = "preview_length")]
    pub preview_length: Option<usize>,
    /// See [`Policy::stale_threshold`].
    #[serde(rename = "stale_threshold")]
    pub stale_threshold: Option<usize>,
    /// See [`Policy::summary_threshold`].
    #[serde(rename = "summary_threshold")]
    pub summary_threshold: Option<usize>,
    /// See [`Policy::messages_to_keep`].
    #[serde(rename = "messages_to_keep")]
    pub messages_to_keep: Option<usize>,
    /// See [`Policy::task_anchor_interval`].
    #[serde(rename = "task_anchor_interval")]
    pub task_anchor_interval: Option<usize>,
    /// See [`Policy::fallback_tokens`].
    #[serde(rename = "fallback_tokens")]
    pub fallback_tokens: Option<usize>,
    /// See [`Policy::fallback_messages`].
    #[serde(rename = "fallback_messages")]
    pub fallback_messages: Option<usize>,
    /// See [`Policy::step_min_tokens`].
    #[serde(rename = "step_min_tokens")]
    pub step_min_tokens: Option<usize>,
    /// See [`Policy::expected_turns`].
    #[serde(rename = "expected_turns")]
    pub expected_turns: Option<u32>,
    /// See [`Policy::cache_match`].
    #[serde(rename = "cache_match")]
    pub cache_match: Option<CacheMatch>,
    /// Price of a token written to the cache, relative to an uncached one.
    #[serde(rename = "cache_write")]
    pub cache_write: Option<f64>,
    /// Price of a token read from the cache, relative to an uncached one.
    #[serde(rename = "cache_read")]
    pub cache_read: Option<f64>,
    /// See [`Policy::cache_lifetime_s`].
    #[serde(rename = "cache_lifetime_s")]
    pub cache_lifetime_s: Option<u32>,
    /// Rows of [`Policy::prices`], as [`CachePricing::parse`] reads them.
    #[serde(rename = "prices")]
    pub prices: Option<Vec<String>>,
    /// See [`Policy::tools`].
    #[serde(rename = "tools")]
    pub tools: Option<BTreeMap<String, ToolRule>>,
}

impl PolicyKeys {
    /// Resolves the keys with their profile's defaults.
    ///
    /// # Errors
    ///
    /// An impossible number, with the name of its key.
    pub fn policy(self) -> Result<Policy, Fault> {
        let base = Policy::profile(self.profile.unwrap_or(Profile::Default));
        let prices = self.cache_pricing_rows(&base)?;
        let policy = Policy {
            read_tools: self.read_tools.unwrap_or(base.read_tools),
            read_max_length: self.read_max_length.unwrap_or(base.read_max_length),
            read_preview_length: self.read_preview_length.unwrap_or(base.read_preview_length),
            critical_tools: self.critical_tools.unwrap_or(base.critical_tools),
            critical_max_length: self.critical_max_length.unwrap_or(base.critical_max_length),
            critical_preview_length: self
                .critical_preview_length
                .unwrap_or(base.critical_preview_length),
            max_output_length: self.max_output_length.unwrap_or(base.max_output_length),
            preview_length: self.preview_length.unwrap_or(base.preview_length),
            stale_threshold: self.stale_threshold.unwrap_or(base.stale_threshold),
            summary_threshold: self.summary_threshold.unwrap_or(base.summary_threshold),
            messages_to_keep: self.messages_to_keep.unwrap_or(base.messages_to_keep),
            task_anchor_interval: self
                .task_anchor_interval
                .unwrap_or(base.task_anchor_interval),
            fallback_tokens: self.fallback_tokens.unwrap_or(base.fallback_tokens),
            fallback_messages: self.fallback_messages.unwrap_or(base.fallback_messages),
            step_min_tokens: self.step_min_tokens.unwrap_or(base.step_min_tokens),
            expected_turns: self.expected_turns.unwrap_or(base.expected_turns),
            cache_match: self.cache_match.unwrap_or(base.cache_match),
            cache_write_mils: parse_mils("cache_write", self.cache_write, base.cache_write_mils)?,
            cache_read_mils: parse_mils("cache_read", self.cache_read, base.cache_read_mils)?,
            cache_lifetime_s: self.cache_lifetime_s.unwrap_or(base.cache_lifetime_s),
            prices,
            tools: self.tools.unwrap_or(base.tools),
        };
        check_minimum("messages_to_keep", policy.messages_to_keep, 1)?;
        check_minimum("fallback_messages", policy.fallback_messages, 2)?;
        Ok(policy)
    }

    /// Returns the given rows; without rows the defaults, or none if cache prices are given, which then apply to all
    /// models.
    fn cache_pricing_rows(&self, base: &Policy) -> Result<Vec<CachePricing>, Fault> {
        let is_said = self.cache_match.is_some()
            || self.cache_write.is_some()
            || self.cache_read.is_some()
            || self.cache_lifetime_s.is_some();
        match &self.prices {
            Some(rows) => rows
                .iter()
                .map(|row| {
                    CachePricing::parse(row)
                        .map_err(|wrong| Fault::usage(format!("`prices`: {wrong}")))
                })
                .collect(),
            None if is_said => Ok(Vec::new()),
            None => Ok(base.prices.clone()),
        }
    }
}

fn check_minimum(key: &str, value: usize, least: usize) -> Result<(), Fault> {
    if value >= least {
        return Ok(());
    }
    Err(Fault::usage(format!("`{key}` is {value}")).hint(format!("it is {least} at least")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compaction_policy::PREVIEW_CHARS_MIN;

    #[test]
    fn policy_keys_reject_unknown_and_impossible_values() {
        let read = |text: &str| toml::from_str::<PolicyKeys>(text);
        assert!(read("summry_threshold = 4").is_err());
        let policy = read("profile = 'seed'\ncache_read = 0.25\n[tools.'db_*']\nmax_length = 9")
            .unwrap()
            .policy()
            .unwrap();
        assert_eq!(
            (policy.max_output_length, policy.cache_read_mils),
            (2_000, 250)
        );
        assert_eq!(
            policy.lengths("db_query"),
            (PREVIEW_CHARS_MIN, PREVIEW_CHARS_MIN)
        );
        assert_eq!(policy.lengths("bash"), (2_000, 400));
        assert!(policy.is_critical("db_query") && !policy.is_critical("bash"));
        for bad in [
            "cache_write = -1.0",
            "messages_to_keep = 0",
            "fallback_messages = 1",
        ] {
            assert!(read(bad).unwrap().policy().is_err(), "{bad}");
        }
        assert_eq!(PolicyKeys::default().policy().unwrap(), Policy::default());
        assert_eq!(Policy::profile(Profile::Large).summary_threshold, 60_000);
    }

    #[test]
    fn first_matching_row_sets_prices() {
        let policy = Policy::default();
        for (model, write, read) in [
            ("claude-sonnet-4-5-20250929", 1_250, 100),
            ("anthropic/claude-opus-4-1", 1_250, 100),
            ("gpt-5-codex", 1_000, 100),
            ("gpt-4.1-mini", 1_000, 250),
            ("gpt-4o", 1_000, 500),
            ("o4-mini", 1_000, 250),
            ("llama3", 1_250, 100),
        ] {
            let found = policy.for_model(Some(model));
            let prices = (found.cache_write_mils, found.cache_read_mils);
            assert_eq!(prices, (write, read), "{model}");
        }
        assert_eq!(*policy.for_model(None), policy);
    }

    #[test]
    fn explicit_cache_price_applies_to_all_models_unless_rows_match() {
        let read = |text: &str| toml::from_str::<PolicyKeys>(text).unwrap().policy();
        let plain = read("cache_read = 0.9").unwrap();
        assert_eq!(plain.for_model(Some("gpt-5")).cache_read_mils, 900);
        let rows = read("cache_read = 0.9\nprices = ['mine-* 2 0.3 60 exact']").unwrap();
        assert_eq!(rows.for_model(Some("gpt-5")).cache_read_mils, 900);
        let mine = rows.for_model(Some("x/mine-1"));
        assert_eq!((mine.cache_write_mils, mine.cache_read_mils), (2_000, 300));
        assert_eq!(
            (mine.cache_lifetime_s, mine.cache_match),
            (60, CacheMatch::Exact)
        );
        for bad in [
            "a 1 2 3",
            "a 1 2 3 often",
            "a x 2 3 exact",
            "a -1 2 3 exact",
            "a 1 2 3.5 exact",
        ] {
            assert!(read(&format!("prices = ['{bad}']")).is_err(), "{bad}");
        }
    }
}
