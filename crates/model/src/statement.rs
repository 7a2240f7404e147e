//! Statements: rules, decisions and facts, compared by what they are about, what they use and what they drop.
//!
//! A person who changes a mind seldom repeats the words of the earlier rule: `from now on use Decimal for money, not
//! integer cents` replaces `never use floats for money, always integer cents`. Such statements meet by their subject
//! and by the thing that one uses and the other drops. When in doubt they do not meet.

mod statement_reader;
mod statement_words;

use std::collections::{BTreeMap, BTreeSet};

/// Words of a text that are read, because a rule is a few sentences.
const WORDS_MAX: usize = 120;
/// Fewest words of two statements that are the same up to a negation.
const OPPOSITE_WORDS_MIN: usize = 2;

/// Fewest words of two statements that are the same up to one word.
const SUBSTITUTION_WORDS_MIN: usize = 2;

/// Effect of a statement on an earlier one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum StatementEffect {
    /// Both cannot be meant, but it is not certain which one is; a person decides.
    Contradicts,
    /// It takes the place of the earlier one.
    Replaces,
}

/// Thing that a statement does not use any more, and what it was used for.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
struct DroppedThing {
    thing: BTreeSet<String>,
    topic: BTreeSet<String>,
    /// True if it was used before: `no longer`, `instead of`.
    is_ended: bool,
}

/// Statement, read for comparisons. All words are stems without stop words.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Statement {
    /// All words, affirmed or dropped.
    all: BTreeSet<String>,
    affirmed: BTreeSet<String>,
    /// Things that it uses, as in `uses structlog`.
    used: BTreeSet<String>,
    /// Limit of the use, as in `for local development`.
    topic: BTreeSet<String>,
    dropped: Vec<DroppedThing>,
    /// Assignments, such as `DB_URL=…`.
    settings: BTreeMap<String, String>,
    /// True if it announces a change: `from now on`, `no longer`.
    is_change: bool,
    /// True if it changes something or is about the present: `now`.
    is_of_now: bool,
    is_negated: bool,
}

impl Statement {
    /// Reads a statement.
    pub fn from_text(text: &str) -> Self {
        statement_reader::read(text)
    }

    /// Returns true if it sets a variable or an option.
    pub fn has_settings(&self) -> bool {
        !self.settings.is_empty()
    }

    /// Returns true if this rule gives a variable of another statement the same value, and false if it gives it another
    /// one; `None` if it sets none of them. What it forbids is not set.
    pub fn agrees_on_settings(&self, other: &Self) -> Option<bool> {
        let is_set = |name: &str| {
            let word = statement_reader::stem_of(&name.to_lowercase());
            word.is_some_and(|word| self.affirmed.contains(&word))
        };
        let common = self.settings.iter().filter(|(name, _)| is_set(name));
        let mut agreed =
            common.filter_map(|(name, value)| Some(other.settings.get(name)? == value));
        let first = agreed.next()?;
        Some(agreed.fold(first, |all, one| all && one))
    }

    /// Returns what this statement does to one that was made earlier.
    pub fn effect_on(&self, earlier: &Self) -> Option<StatementEffect> {
        let dropped = self
            .dropped
            .iter()
            .filter_map(|dropped| self.effect_of_drop(dropped, earlier));
        // What the earlier one dropped is used again.
        let taken_up = earlier
            .dropped
            .iter()
            .filter_map(|dropped| earlier.effect_of_drop(dropped, self))
            .map(|_| StatementEffect::Contradicts);
        let effects = dropped
            .chain(taken_up)
            .chain(self.effect_of_settings(earlier))
            .chain(self.effect_of_opposite(earlier))
            .chain(self.effect_of_substitution(earlier));
        effects.max()
    }

    /// A thing that is dropped and that the earlier statement uses, for the same subject.
    fn effect_of_drop(&self, dropped: &DroppedThing, earlier: &Self) -> Option<StatementEffect> {
        let DroppedThing {
            thing,
            topic,
            is_ended,
        } = dropped;
        if !thing.is_subset(&earlier.affirmed) {
            return None;
        }
        // `not floats for money` is not about floats elsewhere, and Docker for unit tests is not Docker for all tests.
        let is_elsewhere = !topic.is_empty() && topic.is_disjoint(&earlier.all);
        let is_other_part = !topic.is_subset(&earlier.all) && !earlier.topic.is_subset(topic);
        if is_elsewhere || !topic.is_empty() && is_other_part {
            return None;
        }
        let mut subjects = topic.union(&self.affirmed);
        let has_subject = subjects.any(|word| earlier.all.contains(word) && !thing.contains(word));
        let is_used = thing.is_subset(&earlier.used);
        let is_limited = self.topic.is_disjoint(&earlier.all) && !self.topic.is_empty();
        if self.is_change && (*is_ended && has_subject || thing.len() > 1 || is_used && !is_limited)
            || self.is_of_now && has_subject && is_used
        {
            return Some(StatementEffect::Replaces);
        }
        (has_subject && is_used).then_some(StatementEffect::Contradicts)
    }

    /// Another value of one setting, for the same subject.
    fn effect_of_settings(&self, earlier: &Self) -> Option<StatementEffect> {
        let other_value = self.settings.iter().find(|(name, value)| {
            let known = earlier.settings.get(*name);
            known.is_some_and(|known| known != *value)
        });
        let (name, _) = other_value?;
        let name = name.to_lowercase();
        let has_subject = self
            .affirmed
            .iter()
            .any(|word| *word != name && earlier.affirmed.contains(word));
        match (has_subject, self.is_of_now) {
            (true, true) => Some(StatementEffect::Replaces),
            (true, false) => Some(StatementEffect::Contradicts),
            (false, _) => None,
        }
    }

    /// The same words with another one in one place: `in English from now on` instead of `in German`.
    fn effect_of_substitution(&self, earlier: &Self) -> Option<StatementEffect> {
        let common = self.affirmed.intersection(&earlier.affirmed).count();
        let is_substituted = self.is_of_now
            && common >= SUBSTITUTION_WORDS_MIN
            && self.affirmed.len() == common + 1
            && earlier.affirmed.len() == common + 1;
        is_substituted.then_some(StatementEffect::Replaces)
    }

    /// The same words with the opposite sign, in any language whose negations are known.
    fn effect_of_opposite(&self, earlier: &Self) -> Option<StatementEffect> {
        let is_opposite = self.is_negated != earlier.is_negated
            && self.all.len() >= OPPOSITE_WORDS_MIN
            && self.all == earlier.all;
        is_opposite.then_some(StatementEffect::Replaces)
    }
}

#[cfg(test)]
mod tests;
