//! A sentence of a turn with its evaluation by the model of lasting rules.

use crate::code_tokens::{TokenKind, code_tokens};
use crate::cues::{PersonRuleCues, contains_phrase, ends_with_word, normalize, starts_with_word};
use crate::rule_model::{
    RuleFeatures, SentenceClasses, SentencePlace, has_content, is_demand, is_of_task, is_working,
    rule_probability, sentence_features,
};
use crate::sentences::{capitalize, is_question, mask_quoted_and_code};

/// Smallest number of letters of a rule.
const LETTERS_MIN: usize = 6;
/// As [`LETTERS_MIN`], in Chinese and Japanese.
const CJK_LETTERS_MIN: usize = 4;
/// Smallest number of words of a command after "this worked:".
const COMMAND_WORDS_MIN: usize = 2;
/// Greatest number of words before a list of rules ("Two rules for this repo:").
const INTRODUCTION_WORDS_MAX: usize = 7;
/// Probability from which on a question is a rule: "why do you need docker for the logs?" is not.
const QUESTION_THRESHOLD: f32 = 0.7;
/// First words of a description in which the thing is named.
const SURROUNDING_WORDS: usize = 12;
/// Smallest number of words of a clause behind it with another statement.
const CLAUSE_WORDS_MIN: usize = 3;
/// Probability of a rule from which on a sentence is a wish.
const WISH_PROBABILITY: f32 = 0.08;
/// Numbers of words of a wish.
const WISH_WORDS: std::ops::RangeInclusive<usize> = 3..=25;
/// Deduction from the threshold for a part of what is a rule as a whole: one of two in a sentence, or a sentence that
/// limits the one before it ("However, we dont want that here").
pub(super) const PART_DISCOUNT: f32 = 0.1;

/// Sentence with its evaluation.
pub(super) struct Scored<'a> {
    pub(super) text: &'a str,
    pub(super) normal: String,
    pub(super) classes: SentenceClasses,
    pub(super) features: RuleFeatures,
    pub(super) probability: f32,
    pub(super) is_question: bool,
    /// True if it, or the sentence before it, contradicts the agent.
    pub(super) contradicts: bool,
    /// True if a later sentence of the turn makes it untrue.
    pub(super) is_leaving: bool,
    /// True if another author than the person may have written it.
    pub(super) is_pasted: bool,
    /// True if it ends a habit and the next sentence names the new one.
    pub(super) is_changed: bool,
}

/// Returns true if the sentence begins with a contradiction; a single word needs a mark after it ("no, use it" in contrast
/// to "no mocks").
pub(super) fn contradicts_agent(normal: &str, cues: &PersonRuleCues) -> bool {
    let is_contradiction = |word: &&str| {
        let after = normal.get(word.len()..).unwrap_or_default().chars().next();
        starts_with_word(normal, word)
            && (word.contains(' ') || !after.is_some_and(|c| c == ' ' || c.is_alphanumeric()))
    };
    cues.turns.contradictions.iter().any(is_contradiction)
}

pub(super) fn score<'s>(text: &'s str, place: SentencePlace, cues: &PersonRuleCues) -> Scored<'s> {
    let masked = mask_quoted_and_code(text);
    let classes = SentenceClasses::read(&masked);
    let normal = normalize(&masked);
    let mut polite = cues.turns.polite.iter();
    let is_question = (is_question(text) || has_question_tag(&normal, cues))
        && !polite.any(|word| starts_with_word(&normal, word));
    let place = SentencePlace {
        is_question,
        ..place
    };
    let features = sentence_features(&classes, text, place);
    Scored {
        probability: rule_probability(&features, &classes),
        features,
        text,
        normal,
        classes,
        is_question,
        contradicts: false,
        is_leaving: false,
        is_pasted: false,
        is_changed: false,
    }
}

/// Returns true for a question without a question mark ("we only need the local file right").
fn has_question_tag(normal: &str, cues: &PersonRuleCues) -> bool {
    let end = normal.trim_end_matches(|c: char| !c.is_alphanumeric());
    let mut tags = cues.turns.question_tags.iter();
    tags.any(|tag| match tag.contains(' ') {
        true => contains_phrase(normal, tag),
        false => end.len() > tag.len() && ends_with_word(end, tag),
    })
}

/// Returns the sentence without an introduction such as "Two rules for this repo:".
pub(super) fn without_introduction<'s>(text: &'s str, cues: &PersonRuleCues) -> &'s str {
    let Some((head, rest)) = text.split_once([':', '：']) else {
        return text;
    };
    let head = normalize(head);
    let is_introduction = head.split(' ').count() <= INTRODUCTION_WORDS_MAX
        && rest.split_whitespace().count() >= 2
        && (cues.turns.introductions.iter()).any(|word| contains_phrase(&head, word));
    if is_introduction { rest.trim() } else { text }
}

impl Scored<'_> {
    /// Returns true if the sentence alone is a rule.
    pub(super) fn is_rule(&self, cues: &PersonRuleCues) -> bool {
        let threshold = match () {
            () if self.is_question => QUESTION_THRESHOLD.max(cues.threshold),
            () if self.is_limit(cues) || self.is_changed => cues.threshold - PART_DISCOUNT,
            () => cues.threshold,
        };
        self.is_rule_from(threshold, cues)
    }

    /// Returns true if the sentence is a rule by this threshold.
    pub(super) fn is_rule_from(&self, threshold: f32, cues: &PersonRuleCues) -> bool {
        (self.probability >= threshold || self.shows_command())
            && has_content(&self.classes)
            && has_letters(&self.normal)
            && !self.is_leaving
            && !self.is_for_now(cues)
            && !self.describes_surroundings(cues)
    }

    /// Returns true if the sentence only says where the agent is, which it sees: "You are in a folder that has a Go
    /// project". With a demand in it, or in a clause behind it, it is more.
    fn describes_surroundings(&self, cues: &PersonRuleCues) -> bool {
        let start = cues.lead_in_length(&self.normal);
        let sentence = self.normal.get(start..).unwrap_or_default().trim_start();
        let mut begins = cues.turns.surroundings.iter();
        let Some(begin) = begins.find(|begin| starts_with_word(sentence, begin)) else {
            return false;
        };
        let rest = sentence.get(begin.len()..).unwrap_or_default();
        // A part of a path names no thing: "the environment is in /tmp/review-tool".
        let words = |text: &str| -> Vec<String> {
            let words = text.split_whitespace();
            words
                .map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()).to_owned())
                .filter(|word| !word.is_empty())
                .collect()
        };
        let named = words(begin)
            .into_iter()
            .chain(words(rest))
            .take(SURROUNDING_WORDS);
        let is_thing = |word: String| cues.turns.surrounding_things.contains(&word.as_str());
        let last_clause = rest
            .rsplit_once([',', ';', ':'])
            .map_or("", |(_, last)| last);
        named.into_iter().any(is_thing)
            && words(last_clause).len() < CLAUSE_WORDS_MIN
            && !is_demand(&self.classes)
    }

    /// Returns true if the sentence is no rule alone, but would be a preference if the person said it again and again.
    pub(super) fn is_wish(&self, cues: &PersonRuleCues) -> bool {
        !self.is_question
            && !self.is_rule(cues)
            && self.probability >= WISH_PROBABILITY
            && WISH_WORDS.contains(&self.text.split_whitespace().count())
            && !is_of_task(&self.classes)
            && has_content(&self.classes)
            && has_letters(&self.normal)
            && !self.is_leaving
            && !self.is_for_now(cues)
    }

    /// Returns true if the sentence names a command that works ("this worked: MODE=test ./run.sh api").
    fn shows_command(&self) -> bool {
        let command = self.text.split_once(": ").map(|(_, command)| command);
        is_working(&self.classes)
            && !self.is_question
            && command.is_some_and(|command| {
                command.split_whitespace().count() >= COMMAND_WORDS_MIN
                    && code_tokens(command)
                        .iter()
                        .any(|token| token.kind == TokenKind::Code)
            })
    }

    /// Returns true if the sentence is about this moment only.
    pub(super) fn is_for_now(&self, cues: &PersonRuleCues) -> bool {
        let mut ends = cues.turns.ends.iter();
        ends.any(|phrase| match phrase.is_ascii() {
            true => contains_phrase(&self.normal, phrase),
            false => self.normal.contains(phrase),
        })
    }

    /// Returns true if the sentence limits the one before it ("However, …").
    pub(super) fn is_limit(&self, cues: &PersonRuleCues) -> bool {
        let begins = |word: &&str| starts_with_word(&self.normal, word);
        !self.is_question && cues.turns.limits.iter().any(begins)
    }
}

/// Returns true if the sentence has enough letters.
fn has_letters(normal: &str) -> bool {
    let letters = normal.chars().filter(|c| c.is_alphabetic()).count();
    letters >= LETTERS_MIN || (!normal.is_ascii() && letters >= CJK_LETTERS_MIN)
}

/// Returns true if the text begins with a verb whose subject is before it ("are never wider than the page").
pub(super) fn lacks_subject(normal: &str, cues: &PersonRuleCues) -> bool {
    let mut verbs = cues.turns.verbs.iter();
    verbs.any(|verb| starts_with_word(normal, verb))
}

/// Returns true if the sentence names its subject in an earlier one.
pub(super) fn refers_back(normal: &str, cues: &PersonRuleCues) -> bool {
    let body = normal
        .get(cues.lead_in_length(normal)..)
        .unwrap_or_default();
    let end = body.trim_end_matches(|c: char| !c.is_alphanumeric());
    let words = &cues.turns;
    words
        .pronouns
        .iter()
        .any(|word| starts_with_word(body, word))
        || words
            .pronoun_ends
            .iter()
            .any(|word| ends_with_word(end, word))
}

/// Returns the sentence without interjections, with a capital letter and a full stop.
pub(super) fn finish_sentence(sentence: &Scored<'_>, cues: &PersonRuleCues) -> String {
    let skipped = cues.lead_in_length(&sentence.normal);
    let skipped = sentence.normal.get(..skipped).unwrap_or_default();
    let rest: String = sentence
        .text
        .chars()
        .skip(skipped.chars().count())
        .collect();
    let mut text = capitalize(rest.trim());
    let last = text.chars().next_back().unwrap_or('.');
    if crate::sentences::is_cjk(last) && last.is_alphanumeric() {
        text.push('。');
    } else if last.is_alphanumeric() || matches!(last, '`' | ')' | '"' | '\'' | '/' | '*') {
        text.push('.');
    }
    text
}
