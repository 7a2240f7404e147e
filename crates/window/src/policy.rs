//! How a window is kept: every number of it.

use crate::message::Output;
use crate::prices::{FAMILIES, Family};
use heirloom_model::Fault;
use heirloom_model::limits::CHARS_PER_TOKEN;
use heirloom_model::text::hash16;
use serde::{Deserialize, Serialize};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ops::Deref;

/// Whether a prompt cache serves the longest common beginning, or only what was marked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CacheMatch {
    /// The longest beginning that a request shares with the one before.
    Prefix,
    /// Only whole earlier requests, and the system prompt.
    Exact,
}

/// A set of defaults.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Profile {
    /// A window of 40,000 tokens.
    Default,
    /// A window of 60,000 tokens.
    Large,
    /// The short previews of the programs that this window learned from.
    Seed,
}

/// What one tool's outputs may be; what is absent is as for any tool.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ToolRule {
    /// Characters above which an output is shortened at entry.
    pub max_length: Option<usize>,
    /// Characters that it is shortened to.
    pub preview_length: Option<usize>,
    /// Whether it never becomes stale.
    pub critical: Option<bool>,
}

/// The keys of a policy file and of the section `[window]`, each optional.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct PolicyKeys {
    /// The defaults of what is absent.
    pub profile: Option<Profile>,
    /// See [`Policy::read_tools`].
    pub read_tools: Option<Vec<String>>,
    /// See [`Policy::read_max_length`].
    pub read_max_length: Option<usize>,
    /// See [`Policy::read_preview_length`].
    pub read_preview_length: Option<usize>,
    /// See [`Policy::critical_tools`].
    pub critical_tools: Option<Vec<String>>,
    /// See [`Policy::critical_max_length`].
    pub critical_max_length: Option<usize>,
    /// See [`Policy::critical_preview_length`].
    pub critical_preview_length: Option<usize>,
    /// See [`Policy::max_output_length`].
    pub max_output_length: Option<usize>,
    /// See [`Policy::preview_length`].
    pub preview_length: Option<usize>,
    /// See [`Policy::stale_threshold`].
    pub stale_threshold: Option<usize>,
    /// See [`Policy::summary_threshold`].
    pub summary_threshold: Option<usize>,
    /// See [`Policy::messages_to_keep`].
    pub messages_to_keep: Option<usize>,
    /// See [`Policy::task_anchor_interval`].
    pub task_anchor_interval: Option<usize>,
    /// See [`Policy::fallback_tokens`].
    pub fallback_tokens: Option<usize>,
    /// See [`Policy::fallback_messages`].
    pub fallback_messages: Option<usize>,
    /// See [`Policy::step_min_tokens`].
    pub step_min_tokens: Option<usize>,
    /// See [`Policy::expected_turns`].
    pub expected_turns: Option<u32>,
    /// See [`Policy::cache_match`].
    pub cache_match: Option<CacheMatch>,
    /// What a token written to the cache costs, of one that is not cached.
    pub cache_write: Option<f64>,
    /// What a token read from the cache costs, of one that is not cached.
    pub cache_read: Option<f64>,
    /// See [`Policy::cache_lifetime_s`].
    pub cache_lifetime_s: Option<u32>,
    /// The rows of [`Policy::prices`], as [`Family::parse`] reads them.
    pub prices: Option<Vec<String>>,
    /// See [`Policy::tools`].
    pub tools: Option<BTreeMap<String, ToolRule>>,
}

/// A whole policy. Lengths are in characters, thresholds in tokens.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Policy {
    /// Tools that read files.
    pub read_tools: Vec<String>,
    /// Characters above which what such a tool read is shortened at entry.
    pub read_max_length: usize,
    /// Characters that it is shortened to.
    pub read_preview_length: usize,
    /// Patterns of tools whose outputs never become stale: `*` is any run of characters, `?` one.
    pub critical_tools: Vec<String>,
    /// Characters above which their outputs are shortened at entry.
    pub critical_max_length: usize,
    /// Characters that those are shortened to.
    pub critical_preview_length: usize,
    /// Characters above which any other output is shortened at entry.
    pub max_output_length: usize,
    /// Characters that it is shortened to.
    pub preview_length: usize,
    /// Messages after which an output is stale.
    pub stale_threshold: usize,
    /// Tokens above which older messages become a summary: the target. 0 is never.
    pub summary_threshold: usize,
    /// Messages that a summary leaves as they are.
    pub messages_to_keep: usize,
    /// Calls of tools between two anchors. 0 is no anchors.
    pub task_anchor_interval: usize,
    /// Tokens above which the last messages alone are kept, whatever a summary would save. 0 is never.
    pub fallback_tokens: usize,
    /// Messages that are kept then, and half of them at least.
    pub fallback_messages: usize,
    /// Tokens that a step has to free at least.
    pub step_min_tokens: usize,
    /// Turns that are expected still to come.
    pub expected_turns: u32,
    /// What the service's cache serves.
    pub cache_match: CacheMatch,
    /// Thousandths of a token's price that one written to the cache costs.
    pub cache_write_mils: u64,
    /// Thousandths of a token's price that one read from the cache costs.
    pub cache_read_mils: u64,
    /// Seconds after which an idle cache is cold. 0 is never.
    pub cache_lifetime_s: u32,
    /// The caches of families of models, which hold instead for those: the first row that has a model.
    pub prices: Vec<Family>,
    /// Rules of single tools by pattern; the first in order that fits decides.
    pub tools: BTreeMap<String, ToolRule>,
}

impl Default for Policy {
    fn default() -> Self {
        Self::profile(Profile::Default)
    }
}

impl Policy {
    /// The defaults of a profile.
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
            prices: FAMILIES
                .iter()
                .filter_map(|row| Family::parse(row).ok())
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
            }
        }
        policy
    }

    /// The same with another target for the whole window, in tokens.
    pub fn with_target(mut self, tokens: usize) -> Self {
        self.summary_threshold = tokens;
        self
    }

    /// Whether outputs of that tool never become stale.
    pub fn is_critical(&self, tool: &str) -> bool {
        self.rule(tool)
            .and_then(|rule| rule.critical)
            .unwrap_or_else(|| self.in_critical(tool))
    }

    /// Whether that tool reads files.
    pub fn is_read(&self, tool: &str) -> bool {
        self.read_tools.iter().any(|name| fits(name, tool))
    }

    /// Characters above which an output of that tool is shortened, and to how many.
    pub fn lengths(&self, tool: &str) -> (usize, usize) {
        let (max, preview) = if self.in_critical(tool) {
            (self.critical_max_length, self.critical_preview_length)
        } else if self.is_read(tool) {
            (self.read_max_length, self.read_preview_length)
        } else {
            (self.max_output_length, self.preview_length)
        };
        let rule = self.rule(tool);
        let max = rule.and_then(|rule| rule.max_length).unwrap_or(max);
        let preview = rule.and_then(|rule| rule.preview_length).unwrap_or(preview);
        // A preview has room for where the rest is, and is no longer than what needs none.
        let max = max.max(PREVIEW_CHARS_MIN);
        (max, preview.clamp(PREVIEW_CHARS_MIN, max))
    }

    fn in_critical(&self, tool: &str) -> bool {
        self.critical_tools.iter().any(|glob| fits(glob, tool))
    }

    fn rule(&self, tool: &str) -> Option<&ToolRule> {
        self.tools
            .iter()
            .find(|(glob, _)| fits(glob, tool))
            .map(|(_, rule)| rule)
    }
}

/// What a policy says of one tool.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Tool {
    /// Characters above which its outputs are shortened.
    pub(crate) max: usize,
    /// Characters that they are shortened to.
    pub(crate) preview: usize,
    /// Whether they never become stale.
    pub(crate) critical: bool,
    /// Whether it reads files.
    pub(crate) read: bool,
}

/// A policy in use: what it says of a tool is found out once.
pub(crate) struct Rules<'a> {
    policy: &'a Policy,
    /// By the tool's number in the conversation.
    tools: RefCell<Vec<Option<Tool>>>,
    /// See [`crate::State::expanded`].
    expanded: BTreeMap<String, usize>,
}

/// What holds for an output that was asked for again.
const WHOLE: Tool = Tool {
    max: usize::MAX,
    preview: usize::MAX,
    critical: true,
    read: false,
};

impl<'a> Rules<'a> {
    pub(crate) fn new(policy: &'a Policy, expanded: &BTreeMap<String, usize>) -> Self {
        Self {
            policy,
            tools: RefCell::default(),
            expanded: expanded.clone(),
        }
    }

    /// Whether an output was asked for again, and leaves room for anything else.
    fn stays_whole(&self, output: &Output) -> bool {
        let target = self.policy.summary_threshold;
        let fits = target == 0 || output.chars <= target.saturating_mul(CHARS_PER_TOKEN) / 2;
        let behind = |id: &str| {
            let from = self.expanded.get(id);
            output
                .call
                .zip(from)
                .is_some_and(|((call, _), from)| call >= *from)
        };
        output.left.is_none()
            && output.chars > PREVIEW_CHARS_MIN
            && fits
            && (output.asks.as_deref().is_some_and(behind) || behind(&hash16(&output.text)))
    }

    pub(crate) fn tool(&self, output: &Output) -> Tool {
        if !self.expanded.is_empty() && self.stays_whole(output) {
            return WHOLE;
        }
        let number = output.tool_number;
        if let Some(Some(tool)) = self.tools.borrow().get(number) {
            return *tool;
        }
        let name = &output.tool;
        let (max, preview) = self.policy.lengths(name);
        let tool = Tool {
            max,
            preview,
            critical: self.policy.is_critical(name),
            read: self.policy.is_read(name),
        };
        let mut tools = self.tools.borrow_mut();
        if tools.len() <= number {
            tools.resize(number + 1, None);
        }
        tools[number] = Some(tool);
        tool
    }
}

impl Deref for Rules<'_> {
    type Target = Policy;

    fn deref(&self) -> &Policy {
        self.policy
    }
}

/// The shortest preview, characters: less has no room for where the rest is.
const PREVIEW_CHARS_MIN: usize = 300;

impl PolicyKeys {
    /// The policy that these keys and their profile's defaults are.
    ///
    /// # Errors
    ///
    /// A number that no window could be kept by, named.
    pub fn policy(self) -> Result<Policy, Fault> {
        let base = Policy::profile(self.profile.unwrap_or(Profile::Default));
        let prices = self.families(&base)?;
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
            cache_write_mils: mils("cache_write", self.cache_write, base.cache_write_mils)?,
            cache_read_mils: mils("cache_read", self.cache_read, base.cache_read_mils)?,
            cache_lifetime_s: self.cache_lifetime_s.unwrap_or(base.cache_lifetime_s),
            prices,
            tools: self.tools.unwrap_or(base.tools),
        };
        at_least("messages_to_keep", policy.messages_to_keep, 1)?;
        at_least("fallback_messages", policy.fallback_messages, 2)?;
        Ok(policy)
    }

    /// The rows that are said; the usual ones if nothing is said of caches: whoever says what a token costs means it.
    fn families(&self, base: &Policy) -> Result<Vec<Family>, Fault> {
        let is_said = self.cache_match.is_some()
            || self.cache_write.is_some()
            || self.cache_read.is_some()
            || self.cache_lifetime_s.is_some();
        match &self.prices {
            Some(rows) => rows
                .iter()
                .map(|row| {
                    Family::parse(row).map_err(|wrong| Fault::usage(format!("`prices`: {wrong}")))
                })
                .collect(),
            None if is_said => Ok(Vec::new()),
            None => Ok(base.prices.clone()),
        }
    }
}

fn at_least(key: &str, value: usize, least: usize) -> Result<(), Fault> {
    if value >= least {
        return Ok(());
    }
    Err(Fault::usage(format!("`{key}` is {value}")).hint(format!("it is {least} at least")))
}

pub(crate) fn mils(key: &str, given: Option<f64>, usual: u64) -> Result<u64, Fault> {
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

/// Whether a pattern is a name: `*` any run of characters, `?` one, and the rest as it is.
pub(crate) fn fits(pattern: &str, name: &str) -> bool {
    let (pattern, name) = (pattern.as_bytes(), name.as_bytes());
    let (mut p, mut n) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while n < name.len() {
        match pattern.get(p) {
            Some(b'*') => {
                star = Some((p, n));
                p += 1;
            }
            Some(byte) if *byte == b'?' || *byte == name[n] => {
                p += 1;
                n += 1;
            }
            _ => {
                let Some((at, eaten)) = star else {
                    return false;
                };
                star = Some((at, eaten + 1));
                p = at + 1;
                n = eaten + 1;
            }
        }
    }
    pattern[p..].iter().all(|byte| *byte == b'*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_are_names_with_stars() {
        for (pattern, name, is) in [
            ("db_*", "db_query", true),
            ("db_*", "adb_query", false),
            ("*", "", true),
            ("*shot", "desktop_screenshot", true),
            ("?at", "cat", true),
            ("cat", "cats", false),
            ("a*b*c", "axxbyyc", true),
            ("a*b*c", "axxbyy", false),
            ("", "", true),
        ] {
            assert_eq!(fits(pattern, name), is, "{pattern} {name}");
        }
    }

    #[test]
    fn keys_are_known_and_numbers_possible() {
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
}
