//! Sentences of a turn that are lasting rules, and the record of each.

use super::turn_text::own_lines;
use crate::code_tokens::{TokenKind, code_tokens};
use crate::cues::{
    Cues, PersonRuleCues, RuleCategory, contains_phrase, ends_with_word, normalize,
    starts_with_word,
};
use crate::rule_model::{
    RuleFeatures, SentenceClasses, SentencePlace, has_content, is_change, is_complaint,
    is_preference, is_working, rule_probability, sentence_features,
};
use crate::sentences::{capitalize, is_question, mask_quoted_and_code, sentences};

/// Greatest number of characters of a rule.
pub(super) const RULE_CHARS: usize = 400;
/// Greatest number of bytes of a sentence; a longer one is no sentence.
const SENTENCE_BYTES_MAX: usize = 900;
/// Greatest number of sentences of a line.
const SENTENCES_MAX: usize = 100;
/// Greatest number of rules of a turn; the best ones stay.
const RULES_MAX: usize = 6;
/// Number of bytes from which on a turn is a document. Of 8 recorded plans, reviews and role texts none set a rule in a
/// person's own words.
const DOCUMENT_BYTES: usize = 1500;
/// Number of headings from which on a turn is a document.
const DOCUMENT_HEADINGS: usize = 2;
/// Smallest number of letters of a rule.
const LETTERS_MIN: usize = 6;
/// As [`LETTERS_MIN`], in Chinese and Japanese.
const CJK_LETTERS_MIN: usize = 4;
/// Smallest number of words of each of two rules in one sentence.
const PART_WORDS_MIN: usize = 4;
/// Greatest number of words of a sentence that ends the rule before it ("only for this run").
const END_WORDS_MAX: usize = 8;
/// Greatest number of words before a list of rules ("Two rules for this repo:").
const INTRODUCTION_WORDS_MAX: usize = 7;
/// Smallest number of words of a command after "this worked:".
const COMMAND_WORDS_MIN: usize = 2;
/// Deduction from the threshold for a part of what is a rule as a whole: one of two in a sentence, or a sentence that
/// limits the one before it ("However, we dont want that here").
const PART_DISCOUNT: f32 = 0.1;
/// Probability from which on a rule needs no sentence for its pronouns.
const CERTAIN: f32 = 0.7;

/// Rule found in a turn.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::sources) struct FoundRule {
    /// The rule in the person's words.
    pub(super) text: String,
    pub(super) category: RuleCategory,
    /// The person's reason.
    pub(super) reason: Option<String>,
    pub(super) worth: f32,
    /// The line of the turn.
    pub(super) line: String,
}

/// Sentence with its evaluation.
struct Scored<'a> {
    text: &'a str,
    normal: String,
    classes: SentenceClasses,
    features: RuleFeatures,
    probability: f32,
    is_question: bool,
    /// True if it, or the sentence before it, contradicts the agent.
    contradicts: bool,
}

/// Returns the rules of a turn; `place` says where the turn is.
pub(in crate::sources) fn find_rules(
    turn: &str,
    place: SentencePlace,
    cues: &PersonRuleCues,
) -> Vec<FoundRule> {
    let mut rules = Vec::new();
    for (line, scored) in score_turn(&own_lines(turn, &cues.turns), turn, place, cues) {
        add_rules(&mut rules, line, &scored, place, cues);
    }
    if rules.len() > RULES_MAX {
        rules.sort_by(|one, other| other.worth.total_cmp(&one.worth));
        rules.truncate(RULES_MAX);
    }
    rules
}

/// Sentence of a turn with its features, for the fit of the model.
#[derive(Debug, Clone)]
pub struct TurnSentence {
    /// The sentence.
    pub text: String,
    /// Values of [`RULE_FEATURES`](crate::RULE_FEATURES).
    pub features: RuleFeatures,
}

/// Returns the sentences of a turn that are the person's words, with the features by which they are judged.
pub fn turn_sentences(turn: &str, place: SentencePlace) -> Vec<TurnSentence> {
    let cues = &Cues::get().person_rules;
    let lines = own_lines(turn, &cues.turns);
    let scored = score_turn(&lines, turn, place, cues);
    let sentences = scored.into_iter().flat_map(|(_, scored)| scored);
    sentences
        .map(|scored| TurnSentence {
            text: scored.text.to_owned(),
            features: scored.features,
        })
        .collect()
}

/// Evaluates the sentences of a turn, by line; none of a document.
fn score_turn<'a>(
    lines: &'a [String],
    turn: &str,
    place: SentencePlace,
    cues: &PersonRuleCues,
) -> Vec<(&'a str, Vec<Scored<'a>>)> {
    if is_document(turn, lines) {
        return Vec::new();
    }
    let count: usize = (lines.iter())
        .map(|line| sentences(line).take(2).count())
        .sum();
    let place = SentencePlace {
        is_alone: count == 1,
        ..place
    };
    let mut contradicts = place.is_rejection;
    let mut score_one = |line: &'a String| {
        let scored = score_line(line, place, &mut contradicts, cues);
        (line.as_str(), scored)
    };
    lines.iter().map(&mut score_one).collect()
}

/// Returns true for a pasted plan, report or role text.
fn is_document(turn: &str, lines: &[String]) -> bool {
    let is_heading = |line: &&str| line.starts_with('#') && line.contains("# ");
    lines.iter().map(String::len).sum::<usize>() > DOCUMENT_BYTES
        || turn.lines().filter(is_heading).count() >= DOCUMENT_HEADINGS
}

/// Evaluates the sentences of a line. `contradicts` is true after a sentence such as "No." or "Wrong!".
fn score_line<'a>(
    line: &'a str,
    place: SentencePlace,
    contradicts: &mut bool,
    cues: &PersonRuleCues,
) -> Vec<Scored<'a>> {
    let mut all: Vec<Scored<'_>> = Vec::new();
    for text in sentences(line).take(SENTENCES_MAX) {
        if text.len() > SENTENCE_BYTES_MAX {
            *contradicts = false;
            continue;
        }
        let text = without_introduction(text, cues);
        let place = SentencePlace {
            follows_complaint: all.last().is_some_and(|last| is_complaint(&last.classes)),
            ..place
        };
        let mut scored = score(text, place, cues);
        *contradicts |= contradicts_agent(&scored.normal, cues);
        if cues.lead_in_length(&scored.normal) >= scored.normal.len() {
            continue;
        }
        scored.contradicts = std::mem::take(contradicts);
        all.push(scored);
    }
    all
}

/// Returns true if the sentence begins with a contradiction; a single word needs a mark after it ("no, use it" in contrast
/// to "no mocks").
fn contradicts_agent(normal: &str, cues: &PersonRuleCues) -> bool {
    let is_contradiction = |word: &&str| {
        let after = normal.get(word.len()..).unwrap_or_default().chars().next();
        starts_with_word(normal, word)
            && (word.contains(' ') || !after.is_some_and(|c| c == ' ' || c.is_alphanumeric()))
    };
    cues.turns.contradictions.iter().any(is_contradiction)
}

fn score<'s>(text: &'s str, place: SentencePlace, cues: &PersonRuleCues) -> Scored<'s> {
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
        probability: rule_probability(&features),
        features,
        text,
        normal,
        classes,
        is_question,
        contradicts: false,
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
fn without_introduction<'s>(text: &'s str, cues: &PersonRuleCues) -> &'s str {
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
    fn is_rule(&self, cues: &PersonRuleCues) -> bool {
        let threshold = match self.is_limit(cues) {
            true => cues.threshold - PART_DISCOUNT,
            false => cues.threshold,
        };
        self.is_rule_from(threshold, cues)
    }

    /// Returns true if the sentence is a rule by this threshold.
    fn is_rule_from(&self, threshold: f32, cues: &PersonRuleCues) -> bool {
        (self.probability >= threshold || self.shows_command())
            && has_content(&self.classes)
            && has_letters(&self.normal)
            && !self.is_for_now(cues)
    }

    /// Returns true if the sentence says that a command works ("this worked: MODE=test ./run.sh api").
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
    fn is_for_now(&self, cues: &PersonRuleCues) -> bool {
        let mut ends = cues.turns.ends.iter();
        ends.any(|phrase| match phrase.is_ascii() {
            true => contains_phrase(&self.normal, phrase),
            false => self.normal.contains(phrase),
        })
    }

    /// Returns true if the sentence limits the one before it ("However, …").
    fn is_limit(&self, cues: &PersonRuleCues) -> bool {
        let begins = |word: &&str| starts_with_word(&self.normal, word);
        !self.is_question && cues.turns.limits.iter().any(begins)
    }
}

/// Returns true if the sentence has enough letters.
fn has_letters(normal: &str) -> bool {
    let letters = normal.chars().filter(|c| c.is_alphabetic()).count();
    letters >= LETTERS_MIN || (!normal.is_ascii() && letters >= CJK_LETTERS_MIN)
}

/// Adds the rules of a line, each with the sentence to which it refers or that limits it.
fn add_rules(
    rules: &mut Vec<FoundRule>,
    line: &str,
    scored: &[Scored<'_>],
    place: SentencePlace,
    cues: &PersonRuleCues,
) {
    let mut index = 0;
    while let Some(sentence) = scored.get(index) {
        let previous = index.checked_sub(1).and_then(|at| scored.get(at));
        index += 1;
        let next = scored.get(index);
        let limit = next.filter(|next| next.is_limit(cues));
        let is_ended = next.is_some_and(|next| {
            next.is_for_now(cues) && next.normal.split(' ').count() <= END_WORDS_MAX
        });
        let is_rule = sentence.is_rule(cues) && !is_ended;
        let limits = sentence.is_limit(cues);
        let refers = limits || refers_back(&sentence.normal, cues);
        let previous = previous.filter(|previous| refers && !previous.is_question);
        let is_lost = refers && !limits && previous.is_none() && sentence.probability < CERTAIN;
        if !is_rule || is_lost {
            continue;
        }
        if let Some(limit) = limit {
            index += 1;
            if limit.is_for_now(cues) {
                continue;
            }
            rules.extend(compose(&[sentence, limit], scored.get(index), line, cues));
        } else if let Some(previous) = previous {
            rules.extend(compose(&[previous, sentence], next, line, cues));
        } else {
            let parts = split_rules(sentence, place, cues);
            let (last, others) = parts
                .split_last()
                .map_or((sentence, &[][..]), |(last, others)| (last, others));
            for part in others {
                rules.extend(compose(&[part], None, line, cues));
            }
            rules.extend(compose(&[last], next, line, cues));
        }
    }
}

/// Returns the rules in one sentence if both parts of it are rules: "use tabs everywhere, and never push to main".
fn split_rules<'a>(
    sentence: &Scored<'a>,
    place: SentencePlace,
    cues: &PersonRuleCues,
) -> Vec<Scored<'a>> {
    for mark in ["; ", ". ", ", and ", " and ", " und ", " et ", " y "] {
        let Some((head, tail)) = sentence.text.split_once(mark) else {
            continue;
        };
        let parts = [
            score(head.trim_end_matches(','), place, cues),
            score(tail, place, cues),
        ];
        let is_apart = |part: &Scored<'_>| {
            part.text.split_whitespace().count() >= PART_WORDS_MIN
                && part.is_rule_from(cues.threshold - PART_DISCOUNT, cues)
                && !refers_back(&part.normal, cues)
        };
        if parts.iter().all(is_apart) {
            return parts.into();
        }
    }
    Vec::new()
}

/// Returns true if the sentence names its subject in an earlier one.
fn refers_back(normal: &str, cues: &PersonRuleCues) -> bool {
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

/// Returns true if the sentence gives the reason of the rule before it.
fn is_reason(sentence: &Scored<'_>, cues: &PersonRuleCues) -> bool {
    let reasons = &cues.turns.reasons;
    !sentence.is_question
        && !sentence.is_rule(cues)
        && sentence.text.len() <= RULE_CHARS / 2
        && reasons
            .iter()
            .any(|word| sentence.normal.starts_with(*word))
}

/// Composes the rule of one sentence, or of two that belong together.
fn compose(
    parts: &[&Scored<'_>],
    next: Option<&Scored<'_>>,
    line: &str,
    cues: &PersonRuleCues,
) -> Option<FoundRule> {
    let text = (parts.iter())
        .map(|part| finish_sentence(part, cues))
        .collect::<Vec<_>>()
        .join(" ");
    if text.chars().count() > RULE_CHARS {
        return None;
    }
    let best = (parts.iter()).max_by(|one, other| one.probability.total_cmp(&other.probability))?;
    let category = match () {
        () if parts.iter().any(|part| part.contradicts) => RuleCategory::Correction,
        () if is_change(&best.classes) => RuleCategory::Decision,
        () if is_preference(&best.classes) => RuleCategory::Preference,
        () => RuleCategory::Convention,
    };
    let [base, growth] = cues.worth;
    let certainty = (best.probability - cues.threshold).max(0.0) / (1.0 - cues.threshold);
    Some(FoundRule {
        text,
        category,
        reason: next
            .filter(|next| is_reason(next, cues))
            .map(|reason| finish_sentence(reason, cues)),
        worth: base + certainty * growth,
        line: line.to_owned(),
    })
}

/// Returns the sentence without interjections, with a capital letter and a full stop.
fn finish_sentence(sentence: &Scored<'_>, cues: &PersonRuleCues) -> String {
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
