//! Prefixes that begin a signal line.

use super::diff_hunk::HUNK_START;
use super::enclosing_blocks::ENVELOPE_TAGS;
use aho_corasick::{AhoCorasick, MatchKind};
use heirloom_model::limits::{NAME_BYTES_MAX, SIGNAL_PREFIXES_MAX};
use heirloom_model::text;

/// The validated prefixes of signal lines, with a compiled searcher.
#[derive(Debug, Clone)]
pub struct SignalRules {
    prefixes: Vec<Prefix>,
    finder: Option<AhoCorasick>,
}

/// One prefix: the word before the colon.
#[derive(Debug, Clone)]
pub(super) struct Prefix {
    pub(super) word: String,
    pub(super) family: Family,
}

/// Kind of line that a prefix begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Family {
    /// A verb and its text.
    Memory,
    /// The name of a status and a message.
    Status,
}

/// A word that cannot begin a signal line.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadPrefix {
    /// More words than a parser searches for.
    #[error("{0} signal prefixes are more than the {SIGNAL_PREFIXES_MAX} that may be active")]
    TooMany(usize),
    /// An invalid word.
    #[error(
        "`{0}` is not a signal prefix: it must begin with a letter, contain only letters, digits, `_`, `-` and `.`, \
         and have at most {NAME_BYTES_MAX} bytes"
    )]
    InvalidWord(String),
    /// A word that is both a memory and a status prefix.
    #[error("`{0}` cannot be the prefix of both memory and status lines")]
    AmbiguousWord(String),
}

impl SignalRules {
    /// Creates rules with these words before the colon. One colon at the end of a word and repetitions are ignored.
    ///
    /// # Errors
    ///
    /// A word is invalid or in both lists, or there are more than [`SIGNAL_PREFIXES_MAX`] words.
    pub fn new<S: AsRef<str>>(
        memory_prefixes: &[S],
        status_prefixes: &[S],
    ) -> Result<Self, BadPrefix> {
        let mut prefixes: Vec<Prefix> = Vec::new();
        let memory = memory_prefixes.iter().map(|word| (word, Family::Memory));
        let status = status_prefixes.iter().map(|word| (word, Family::Status));
        for (word, family) in memory.chain(status) {
            let word = check_word(word.as_ref())?;
            match prefixes.iter().find(|known| known.word == word) {
                Some(known) if known.family == family => {}
                Some(_) => return Err(BadPrefix::AmbiguousWord(word)),
                None => prefixes.push(Prefix { word, family }),
            }
        }
        if prefixes.len() > SIGNAL_PREFIXES_MAX {
            return Err(BadPrefix::TooMany(prefixes.len()));
        }
        Ok(Self::from_prefixes(prefixes))
    }

    fn from_prefixes(mut prefixes: Vec<Prefix>) -> Self {
        // Longest first: if one word is a prefix of another, both are tried, the longer one first.
        prefixes.sort_by_key(|prefix| std::cmp::Reverse(prefix.word.len()));
        let words = prefixes.iter().map(|prefix| prefix.word.as_str());
        // Only leftmost searches use vector instructions: ten times faster than stepping through states. Without a
        // searcher every line is parsed, which is only slower.
        let finder = AhoCorasick::builder()
            .match_kind(MatchKind::LeftmostFirst)
            .build(words.chain(["```", "~~~", HUNK_START]).chain(ENVELOPE_TAGS))
            .ok();
        Self { prefixes, finder }
    }

    pub(super) fn prefixes(&self) -> &[Prefix] {
        &self.prefixes
    }

    /// Returns the offset, at or after `from`, of the next match in a line that may be a signal or a fence.
    pub(super) fn find_candidate(&self, bytes: &[u8], from: usize) -> Option<usize> {
        match &self.finder {
            Some(finder) => finder.find(&bytes[from..]).map(|hit| from + hit.start()),
            None => Some(from),
        }
    }
}

impl Default for SignalRules {
    /// `HEIRLOOM_MEMORY` and `HEIRLOOM_STATUS`, with `AGENTIUM_…` as aliases.
    fn default() -> Self {
        let prefix = |word: &str, family| Prefix {
            word: word.to_owned(),
            family,
        };
        Self::from_prefixes(vec![
            prefix("HEIRLOOM_MEMORY", Family::Memory),
            prefix("AGENTIUM_MEMORY", Family::Memory),
            prefix("HEIRLOOM_STATUS", Family::Status),
            prefix("AGENTIUM_STATUS", Family::Status),
        ])
    }
}

fn check_word(given: &str) -> Result<String, BadPrefix> {
    let word = given.trim();
    let word = word.strip_suffix(':').unwrap_or(word);
    let inner = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.');
    let fits = word.len() <= NAME_BYTES_MAX
        && word.starts_with(char::is_alphabetic)
        && word.chars().all(inner);
    if fits {
        Ok(word.to_owned())
    } else {
        Err(BadPrefix::InvalidWord(text::excerpt(given, 60)))
    }
}
