//! Sentences of a turn that set a rule, and the record that becomes of them.

use super::turn_text::own_lines;
use super::weak_preference::quote_turn;
use crate::cues::{
    PersonRuleCues, RuleCategory, SentenceScore, ends_with_word, normalize, starts_with_word,
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
/// Number of bytes from which on a turn is a document, in which one cue must make the rule.
const DOCUMENT_BYTES: usize = 1500;
/// Number of characters from which on a sentence is long, so that cues in it may belong to different things.
const LONG_CHARS: usize = 160;
/// Addition to the threshold in a long sentence.
const LONG_THRESHOLD: f32 = 0.3;
/// Deduction for a question.
const QUESTION_WEIGHT: f32 = 2.0;
/// Weight of the contradiction in a sentence before, or of a rejected call.
const CORRECTION_WEIGHT: f32 = 0.4;
/// Smallest number of letters of a rule.
const LETTERS_MIN: usize = 6;
/// As [`LETTERS_MIN`], in Chinese and Japanese.
const CJK_LETTERS_MIN: usize = 4;

/// Rule found in a turn.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct FoundRule {
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
    score: SentenceScore,
    is_rule: bool,
    is_question: bool,
}

/// Returns the rules of a turn. `is_rejection` is true for the reason of a rejected call.
pub(super) fn find_rules(turn: &str, is_rejection: bool, cues: &PersonRuleCues) -> Vec<FoundRule> {
    let lines = own_lines(turn, &cues.turns);
    let is_document = lines.iter().map(String::len).sum::<usize>() > DOCUMENT_BYTES;
    let category_min = if is_document { cues.threshold } else { 0.0 };
    let mut contradicts = is_rejection;
    let mut rules = Vec::new();
    for line in &lines {
        let scored = score_line(line, category_min, &mut contradicts, cues);
        add_rules(&mut rules, line, &scored, cues);
    }
    if rules.len() > RULES_MAX {
        rules.sort_by(|one, other| other.worth.total_cmp(&one.worth));
        rules.truncate(RULES_MAX);
    }
    rules
}

/// Evaluates the sentences of a line. The category's cue of a rule has at least the weight `category_min`. `contradicts` is true after a sentence such as "No." or "Wrong!".
fn score_line<'a>(
    line: &'a str,
    category_min: f32,
    contradicts: &mut bool,
    cues: &PersonRuleCues,
) -> Vec<Scored<'a>> {
    let mut all = Vec::new();
    for text in sentences(line).take(SENTENCES_MAX) {
        if text.len() > SENTENCE_BYTES_MAX {
            *contradicts = false;
            continue;
        }
        let normal = normalize(&mask_quoted_and_code(text));
        let mut score = cues.score(&normal);
        if cues.lead_in_length(&normal) >= normal.len() {
            *contradicts |= score.is_correction;
            continue;
        }
        if *contradicts {
            score.total += CORRECTION_WEIGHT;
            score.is_correction = true;
            *contradicts = false;
        }
        let is_polite = || {
            let polite = &cues.turns.polite;
            polite.iter().any(|word| starts_with_word(&normal, word))
        };
        let is_question = is_question(text);
        if is_question && !is_polite() {
            score.total -= QUESTION_WEIGHT;
        }
        let is_long = normal.chars().nth(LONG_CHARS).is_some();
        let threshold = cues.threshold + if is_long { LONG_THRESHOLD } else { 0.0 };
        let is_rule = score.total >= threshold - 0.001
            && score
                .category
                .is_some_and(|(_, weight)| weight >= category_min)
            && has_content(&normal);
        all.push(Scored {
            text,
            normal,
            score,
            is_rule,
            is_question,
        });
    }
    all
}

/// Returns true if the sentence has enough letters.
fn has_content(normal: &str) -> bool {
    let letters = normal.chars().filter(|c| c.is_alphabetic()).count();
    let is_ascii = normal.is_ascii();
    letters >= LETTERS_MIN || (!is_ascii && letters >= CJK_LETTERS_MIN)
}

/// Adds the rules of a line: runs of sentences that are rules, with the sentence to which they refer.
fn add_rules(rules: &mut Vec<FoundRule>, line: &str, scored: &[Scored<'_>], cues: &PersonRuleCues) {
    let mut index = 0;
    let mut requirement: Option<FoundRule> = None;
    while let Some(first) = scored.get(index) {
        let start = index;
        index += 1;
        if !first.is_rule {
            continue;
        }
        let is_weak = first.score.worth_max.is_some();
        let continues =
            |next: &Scored<'_>| next.is_rule && next.score.worth_max.is_some() == is_weak;
        while scored.get(index).is_some_and(continues) {
            index += 1;
        }
        let run = scored.get(start..index).unwrap_or_default();
        let previous = start.checked_sub(1).and_then(|at| scored.get(at));
        let previous = previous.filter(|sentence| !sentence.is_question);
        let refers = refers_back(&first.normal, cues);
        if refers && previous.is_none() && first.score.positive < cues.threshold * 1.5 {
            continue;
        }
        let previous = previous.filter(|_| refers);
        let reason = scored.get(index).filter(|next| is_reason(next, cues));
        let Some(rule) = compose(previous, run, reason, line, cues) else {
            continue;
        };
        // A further requirement for the same thing.
        if let Some(last) = requirement.as_mut().filter(|last: &&mut FoundRule| {
            last.category == rule.category
                && last.text.chars().count() + rule.text.chars().count() < RULE_CHARS
        }) {
            last.text.push(' ');
            last.text.push_str(&rule.text);
            continue;
        }
        match previous {
            Some(_) => rules.extend(requirement.replace(rule)),
            None => rules.push(rule),
        }
    }
    rules.extend(requirement);
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
        && sentence.text.len() <= RULE_CHARS / 2
        && sentence.score.total > -1.0
        && reasons
            .iter()
            .any(|word| sentence.normal.starts_with(*word))
}

/// Composes the rule of a run of sentences.
fn compose(
    previous: Option<&Scored<'_>>,
    run: &[Scored<'_>],
    reason: Option<&Scored<'_>>,
    line: &str,
    cues: &PersonRuleCues,
) -> Option<FoundRule> {
    let mut parts: Vec<&Scored<'_>> = previous.into_iter().chain(run).collect();
    let length = |parts: &[&Scored<'_>]| {
        let chars = parts.iter().map(|part| part.text.chars().count() + 2);
        chars.sum::<usize>()
    };
    if previous.is_some() && length(&parts) > RULE_CHARS {
        parts.remove(0);
    }
    while length(&parts) > RULE_CHARS {
        parts.pop()?;
    }
    let text = parts
        .iter()
        .map(|part| finish_sentence(part, cues))
        .collect::<Vec<_>>()
        .join(" ");
    let best = run
        .iter()
        .max_by(|one, other| one.score.total.total_cmp(&other.score.total))?;
    let is_correction = run.iter().any(|part| part.score.is_correction);
    let category = match best.score.category {
        _ if is_correction => RuleCategory::Correction,
        Some((category, _)) => category,
        None => RuleCategory::Convention,
    };
    let [base, growth, max] = cues.worth;
    let worth = (base + (best.score.total - cues.threshold) * growth).min(max);
    // An instruction of one session reads as an order of the next; as a quotation it reads as a preference.
    let text = match best.score.worth_max {
        Some(_) => format!("The user asked: {}", quote_turn(&text)),
        None => text,
    };
    (text.chars().count() <= RULE_CHARS).then(|| FoundRule {
        text,
        category,
        reason: reason.map(|reason| finish_sentence(reason, cues)),
        worth: best.score.worth_max.map_or(worth, |max| worth.min(max)),
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
