//! Which names were said, by which message last.

use super::text_of;
use crate::conversation::Conversation;
use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap, HashSet};

/// A set of names by their numbers.
#[derive(Debug, Clone, Default)]
pub(super) struct Words(HashSet<u32>);

impl Words {
    pub(super) fn contains(&self, word: u32) -> bool {
        self.0.contains(&word)
    }
}

/// The names of a conversation.
pub(super) struct Seen {
    numbers: RefCell<HashMap<String, u32>>,
    /// What each message says.
    pub(super) said: Vec<Words>,
    /// The length of each message's text.
    pub(super) chars: Vec<usize>,
    answers: Vec<bool>,
    heard: usize,
    /// The last message that said a name.
    source: HashMap<u32, usize>,
    fetched: HashSet<u32>,
}

impl Seen {
    pub(super) fn new(whole: &Conversation) -> Self {
        let mut out = Self {
            numbers: RefCell::default(),
            said: Vec::new(),
            chars: Vec::new(),
            answers: Vec::new(),
            heard: 0,
            source: HashMap::new(),
            fetched: HashSet::new(),
        };
        for (at, message) in whole.messages.iter().enumerate() {
            let text = text_of(whole, at, &[]);
            let words = out.words(&text);
            out.said.push(words);
            out.chars.push(crate::size::chars(&text));
            out.answers.push(message.answers());
        }
        out
    }

    /// The names in a text.
    pub(super) fn words(&self, text: &str) -> Words {
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
        Words(out)
    }

    /// Hears every message before `at`.
    pub(super) fn hear(&mut self, at: usize) {
        while self.heard < at {
            for word in &self.said[self.heard].0 {
                self.source.insert(*word, self.heard);
            }
            self.heard += 1;
        }
    }

    /// The names that message `at` uses and that were heard before.
    pub(super) fn used(&self, at: usize) -> Vec<u32> {
        let known = |word: &&u32| self.source.contains_key(word);
        self.said[at].0.iter().filter(known).copied().collect()
    }

    /// Those last said by an output of the last three messages.
    pub(super) fn fresh(&self, used: &[u32], at: usize) -> Vec<u32> {
        let is = |word: &&u32| {
            let source = self.source[*word];
            source + 3 >= at && self.answers[source]
        };
        used.iter().filter(is).copied().collect()
    }

    /// Those that the last fifteen messages do not say.
    pub(super) fn old(&self, used: &[u32], at: usize) -> Vec<u32> {
        let tail = &self.said[at.saturating_sub(15)..at];
        let is = |word: &&u32| !tail.iter().any(|said| said.contains(**word));
        used.iter().filter(is).copied().collect()
    }

    /// The outputs that would be fetched again for names that are missed: two of one output at least,
    /// and what was fetched once is there.
    pub(super) fn fetch(&mut self, missed: &[u32]) -> Vec<usize> {
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
            self.fetched.extend(&self.said[*output].0);
        }
        out
    }
}

/// Runs of six word characters, dots, slashes and hyphens at least that begin with a letter.
fn names(text: &str) -> impl Iterator<Item = &str> {
    let begins = |c: char| c.is_ascii_alphabetic() || c == '_';
    let goes_on = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '/' | '-');
    text.split(move |c| !goes_on(c)).filter_map(move |run| {
        let name = &run[run.find(begins)?..];
        (name.chars().count() >= 6).then_some(name)
    })
}
