//! Prompt cache prices of model families.

use crate::name_pattern::matches_pattern;
use heirloom_model::Fault;
use serde::{Deserialize, Serialize};

/// Matching rule of a prompt cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CacheMatch {
    /// The longest common prefix with the previous request.
    #[serde(rename = "prefix")]
    Prefix,
    /// Only complete earlier requests, and the system prompt.
    #[serde(rename = "exact")]
    Exact,
}

/// Cache prices of a model family: one row of the table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CachePricing {
    /// Pattern of model names: `*` matches any run of characters, `?` one. A prefix up to `/` in a name is ignored.
    #[serde(rename = "pattern")]
    pub pattern: String,
    /// See [`Policy::cache_write_mils`](crate::Policy::cache_write_mils).
    #[serde(rename = "cache_write_mils")]
    pub cache_write_mils: u64,
    /// See [`Policy::cache_read_mils`](crate::Policy::cache_read_mils).
    #[serde(rename = "cache_read_mils")]
    pub cache_read_mils: u64,
    /// See [`Policy::cache_lifetime_s`](crate::Policy::cache_lifetime_s).
    #[serde(rename = "cache_lifetime_s")]
    pub cache_lifetime_s: u32,
    /// See [`Policy::cache_match`](crate::Policy::cache_match).
    #[serde(rename = "cache_match")]
    pub cache_match: CacheMatch,
}

/// Default rows.
pub const DEFAULT_PRICING: [&str; 8] = [
    "claude-* 1.25 0.1 300 prefix",
    "gpt-5* 1 0.1 300 prefix",
    "gpt-4.1* 1 0.25 300 prefix",
    "gpt-4o* 1 0.5 300 prefix",
    "o1* 1 0.5 300 prefix",
    "o3* 1 0.25 300 prefix",
    "o4* 1 0.25 300 prefix",
    "gemini-* 1 0.25 300 prefix",
];

impl CachePricing {
    /// Parses a row: `PATTERN WRITE READ LIFETIME_S MATCH`; errors describe the problem.
    pub fn parse(row: &str) -> Result<Self, String> {
        let invalid_row =
            || format!("`{row}` does not have the form `PATTERN WRITE READ SECONDS prefix|exact`");
        let words: Vec<&str> = row.split_whitespace().collect();
        let [pattern, write, read, lifetime, is] = words[..] else {
            return Err(invalid_row());
        };
        let price = |word: &str| {
            let price = word.parse::<f64>().map_err(|_| invalid_row())?;
            parse_mils(pattern, Some(price), 0).map_err(|fault| fault.message)
        };
        Ok(Self {
            pattern: pattern.to_owned(),
            cache_write_mils: price(write)?,
            cache_read_mils: price(read)?,
            cache_lifetime_s: lifetime.parse().map_err(|_| invalid_row())?,
            cache_match: match is {
                "prefix" => CacheMatch::Prefix,
                "exact" => CacheMatch::Exact,
                _ => return Err(invalid_row()),
            },
        })
    }

    /// Returns true if the row applies to the model.
    pub fn matches_model(&self, model: &str) -> bool {
        let name = model.rsplit('/').next().unwrap_or(model);
        matches_pattern(&self.pattern, name) || matches_pattern(&self.pattern, model)
    }
}

/// Converts a relative price to thousandths; an absent one is `usual`.
pub(crate) fn parse_mils(key: &str, given: Option<f64>, usual: u64) -> Result<u64, Fault> {
    match given {
        None => Ok(usual),
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "the range was looked at"
        )]
        Some(price) if (0.0..=1_000.0).contains(&price) => Ok((price * 1_000.0).round() as u64),
        Some(price) => Err(Fault::usage(format!("`{key}` is {price}"))
            .hint("it is a share of an uncached token's price, such as 0.1 or 1.25")),
    }
}
