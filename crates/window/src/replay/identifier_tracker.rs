//! Tracks the identifiers of each message and their last occurrence.

use super::text_of;
use crate::conversation::Conversation;
use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap, HashSet};

/// A set of interned identifiers.
#[derive(Debug, Clone, Default)]
pub(super) struct IdentifierSet(HashSet<u32>);

impl IdentifierSet {
    pub(super) fn contains(&self, word: u32) -> bool {
        self.0.contains(&word)
    }
}

/// Identifiers of a conversation.
pub(super) struct IdentifierTracker {
    numbers: RefCell<HashMap<String, u32>>,
    /// Identifiers of each message.
    pub(super) by_message: Vec<IdentifierSet>,
    /// Length of each message's text, characters.
    pub(super) chars: Vec<usize>,
    answers: Vec<bool>,
    processed: usize,
    /// Last message that contains an identifier.
    source: HashMap<u32, usize>,
    fetched: HashSet<u32>,
}

impl IdentifierTracker {
    pub(super) fn new(whole: &Conversation) -> Self {
        let mut out = Self {
            numbers: RefCell::default(),
            by_message: Vec::new(),
            chars: Vec::new(),
            answers: Vec::new(),
            processed: 0,
            source: HashMap::new(),
            fetched: HashSet::new(),
        };
        for (at, message) in whole.messages.iter().enumerate() {
            let text = text_of(whole, at, &[]);
            let words = out.identifiers_in(&text);
            out.by_message.push(words);
            out.chars.push(crate::token_estimate::chars(&text));
            out.answers.push(message.has_outputs());
        }
        out
    }

    /// Returns the identifiers in a text.
    pub(super) fn identifiers_in(&self, text: &str) -> IdentifierSet {
        let mut numbers = self.numbers.borrow_mut();
        let mut out = HashSet::new();
        for name in names(text) {
            let next = u32::try_from(numbers.len()).unwrap_or(u32::MAX);
            let number = match numbers.get(name) {
                Some(number) => *number,
                None => *numbers.entry(name.to_owned()).or_insert(next),
            };
            out.insert(number);
        }
        IdentifierSet(out)
    }

    /// Processes every message before `at`.
    pub(super) fn advance_to(&mut self, at: usize) {
        while self.processed < at {
            for word in &self.by_message[self.processed].0 {
                self.source.insert(*word, self.processed);
            }
            self.processed += 1;
        }
    }

    /// Returns the identifiers of message `at` that occurred before.
    pub(super) fn reused_by(&self, at: usize) -> Vec<u32> {
        let known = |word: &&u32| self.source.contains_key(word);
        self.by_message[at]
            .0
            .iter()
            .filter(known)
            .copied()
            .collect()
    }

    /// Returns those that last occurred in an output of the last three messages.
    pub(super) fn identifiers_in_recent_outputs(&self, used: &[u32], at: usize) -> Vec<u32> {
        let is = |word: &&u32| {
            let source = self.source[*word];
            source + 3 >= at && self.answers[source]
        };
        used.iter().filter(is).copied().collect()
    }

    /// Returns those that are not in the last fifteen messages.
    pub(super) fn outside_tail(&self, used: &[u32], at: usize) -> Vec<u32> {
        let tail = &self.by_message[at.saturating_sub(15)..at];
        let is = |word: &&u32| !tail.iter().any(|identifiers| identifiers.contains(**word));
        used.iter().filter(is).copied().collect()
    }

    /// Returns the outputs that would be fetched again for missing identifiers: those with at least two of them that
    /// were not fetched before.
    pub(super) fn refetch(&mut self, missed: &[u32]) -> Vec<usize> {
        let mut by: BTreeMap<usize, usize> = BTreeMap::new();
        for word in missed.iter().filter(|word| !self.fetched.contains(word)) {
            *by.entry(self.source[word]).or_default() += 1;
        }
        let out: Vec<usize> = by
            .into_iter()
            .filter(|(output, count)| *count >= 2 && self.answers[*output])
            .map(|(output, _)| output)
            .collect();
        for output in &out {
            self.fetched.extend(&self.by_message[*output].0);
        }
        out
    }
}

/// Splits a text into identifiers: at least six word characters, dots, slashes and hyphens, beginning with a letter.
fn names(text: &str) -> impl Iterator<Item = &str> {
    let begins = |c: char| c.is_ascii_alphabetic() || c == '_';
    let goes_on = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '/' | '-');
    text.split(move |c| !goes_on(c)).filter_map(move |run| {
        let name = &run[run.find(begins)?..];
        (name.chars().count() >= 6).then_some(name)
    })
}
