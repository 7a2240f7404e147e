//! Which words begin a signal line.

use aho_corasick::AhoCorasick;
use heirloom_model::limits::{NAME_BYTES_MAX, SIGNAL_PREFIXES_MAX};
use heirloom_model::text;

/// The prefixes of signal lines, checked and ready to be searched for.
#[derive(Debug, Clone)]
pub struct SignalRules {
    prefixes: Vec<Prefix>,
    finder: Option<AhoCorasick>,
}

/// One word before the colon.
#[derive(Debug, Clone)]
pub(super) struct Prefix {
    pub(super) word: String,
    pub(super) family: Family,
}

/// What stands after a prefix.
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
    /// More words than a parser looks for.
    #[error("{0} signal prefixes are more than the {SIGNAL_PREFIXES_MAX} that may be active")]
    TooMany(usize),
    /// Not a word.
    #[error(
        "`{0}` is no signal prefix: it must begin with a letter, hold only letters, digits, `_`, `-` and `.`, \
         and have at most {NAME_BYTES_MAX} bytes"
    )]
    NoWord(String),
    /// A word that begins memory lines and status lines.
    #[error("`{0}` cannot be the prefix of both memory and status lines")]
    Both(String),
}

impl SignalRules {
    /// Rules with these words before the colon; one colon at a word's end is ignored, so are repetitions.
    ///
    /// # Errors
    /// A word that is none, that stands in both lists, or more than [`SIGNAL_PREFIXES_MAX`] words.
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
                Some(_) => return Err(BadPrefix::Both(word)),
                None => prefixes.push(Prefix { word, family }),
            }
        }
        if prefixes.len() > SIGNAL_PREFIXES_MAX {
            return Err(BadPrefix::TooMany(prefixes.len()));
        }
        Ok(Self::of(prefixes))
    }

    fn of(mut prefixes: Vec<Prefix>) -> Self {
        // The longest first: where one word begins another, both are tried, the whole one first.
        prefixes.sort_by_key(|prefix| std::cmp::Reverse(prefix.word.len()));
        let words = prefixes.iter().map(|prefix| prefix.word.as_str());
        // Not having a searcher only costs speed: then every line is read.
        let finder = AhoCorasick::new(words.chain(["```", "~~~"])).ok();
        Self { prefixes, finder }
    }

    pub(super) fn prefixes(&self) -> &[Prefix] {
        &self.prefixes
    }

    /// Where, at or after `from`, the next line lies that may be a signal or a fence.
    pub(super) fn next_hit(&self, bytes: &[u8], from: usize) -> Option<usize> {
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
        Self::of(vec![
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
        Err(BadPrefix::NoWord(text::excerpt(given, 60)))
    }
}
