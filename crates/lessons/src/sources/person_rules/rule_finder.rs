//! Sentences of a turn that are lasting rules, and the record of each.

use super::habit_change::read_change;
use super::leaving_statements::mark_leaving;
use super::pasted_text::PastedText;
use super::scored_sentence::{
    PART_DISCOUNT, Scored, contradicts_agent, finish_sentence, lacks_subject, refers_back, score,
    without_introduction,
};
use super::turn_text::own_lines;
use crate::cues::{Cues, PersonRuleCues, RuleCategory};
use crate::rule_model::{
    RuleFeatures, SentenceClasses, SentencePlace, is_change, is_complaint, is_preference,
    is_prohibition, words_and_pairs,
};
use crate::sentences::sentences;

/// Greatest number of characters of a rule.
pub(super) const RULE_CHARS: usize = 400;
/// Greatest number of bytes of a sentence; a longer one is no sentence.
const SENTENCE_BYTES_MAX: usize = 900;
/// Greatest number of sentences of a line.
const SENTENCES_MAX: usize = 100;
/// Greatest number of rules of a turn; the best ones stay.
const RULES_MAX: usize = 6;
/// Number of bytes from which on a turn is a document: a plan, a review or a role text.
const DOCUMENT_BYTES: usize = 1500;
/// Number of headings from which on a turn is a document.
const DOCUMENT_HEADINGS: usize = 2;
/// Smallest number of words of each of two rules in one sentence.
const PART_WORDS_MIN: usize = 4;
/// Greatest number of words of a sentence that ends the rule before it ("only for this run").
const END_WORDS_MAX: usize = 8;
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
    /// True if another author than the person may have written it.
    pub(super) is_pasted: bool,
    /// The line of the turn.
    pub(super) line: String,
}

/// Returns the rules of a turn; `place` is the place of the turn.
pub(in crate::sources) fn find_rules(
    turn: &str,
    place: SentencePlace,
    cues: &PersonRuleCues,
) -> Vec<FoundRule> {
    let mut rules = Vec::new();
    let lines = own_lines(turn, &cues.turns);
    let mut scored_lines = score_turn(&lines, turn, place, cues);
    mark_leaving(&mut scored_lines, cues);
    mark_pasted(&mut scored_lines, turn, &lines, cues);
    for (line, scored) in scored_lines {
        add_rules(&mut rules, line, &scored, place, cues);
    }
    if rules.len() > RULES_MAX {
        rules.sort_by(|one, other| other.worth.total_cmp(&one.worth));
        rules.truncate(RULES_MAX);
    }
    rules
}

/// Returns the sentences of a turn that are wishes, each with true if it forbids something.
pub(super) fn find_wishes(
    turn: &str,
    place: SentencePlace,
    cues: &PersonRuleCues,
) -> Vec<(String, bool)> {
    let lines = own_lines(turn, &cues.turns);
    let mut scored = score_turn(&lines, turn, place, cues);
    mark_pasted(&mut scored, turn, &lines, cues);
    let sentences = scored.iter().flat_map(|(_, scored)| scored);
    sentences
        .filter(|scored| scored.is_wish(cues) && !scored.is_pasted)
        .map(|scored| {
            (
                finish_sentence(scored, cues),
                is_prohibition(&scored.classes),
            )
        })
        .collect()
}

/// Sentence of a turn with its features, for the fit of the model.
#[derive(Debug, Clone)]
pub struct TurnSentence {
    /// The sentence.
    pub text: String,
    /// Values of [`RULE_FEATURES`](crate::RULE_FEATURES).
    pub features: RuleFeatures,
    /// Its words and pairs of neighbouring words, each once.
    pub words: Vec<String>,
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
            words: words_and_pairs(&scored.classes).into_iter().collect(),
        })
        .collect()
}

/// Returns the sentences of a turn that are the person's words, also of a document.
pub(crate) fn own_sentences(turn: &str) -> Vec<String> {
    let lines = own_lines(turn, &Cues::get().person_rules.turns);
    let sentences = lines
        .iter()
        .flat_map(|line| sentences(line).take(SENTENCES_MAX));
    sentences.map(str::to_owned).collect()
}

/// Returns the category of a rule that was found without the model of rules.
pub(crate) fn rule_category(rule: &str) -> &'static str {
    let classes = score(rule, SentencePlace::default(), &Cues::get().person_rules).classes;
    statement_category(&classes).as_str()
}

fn statement_category(classes: &SentenceClasses) -> RuleCategory {
    match () {
        () if is_change(classes) => RuleCategory::Decision,
        () if is_preference(classes) => RuleCategory::Preference,
        () => RuleCategory::Convention,
    }
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

/// Marks the sentences that another author than the person may have written. Most turns have no rule, and are not read for
/// it.
fn mark_pasted(
    scored: &mut [(&str, Vec<Scored<'_>>)],
    turn: &str,
    lines: &[String],
    cues: &PersonRuleCues,
) {
    let counts = |one: &Scored<'_>| one.is_rule(cues) || one.is_wish(cues);
    if !scored.iter().any(|(_, line)| line.iter().any(counts)) {
        return;
    }
    let pasted = PastedText::of_turn(turn, lines, cues);
    for (index, (line, scored)) in scored.iter_mut().enumerate() {
        for one in scored {
            let offset = line.find(one.text).unwrap_or_default();
            one.is_pasted = pasted.contains(index, offset + one.text.len());
        }
    }
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
        read_change(all.last_mut(), &mut scored, place, cues);
        all.push(scored);
    }
    all
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
        let is_left = limits && previous.is_some_and(|previous| previous.is_leaving);
        if !is_rule || is_lost || is_left {
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
        let part = |text: &'a str| Scored {
            is_pasted: sentence.is_pasted,
            ..score(text, place, cues)
        };
        let parts = [part(head.trim_end_matches(',')), part(tail)];
        let is_apart = |part: &Scored<'_>| {
            part.text.split_whitespace().count() >= PART_WORDS_MIN
                && part.is_rule_from(cues.threshold - PART_DISCOUNT, cues)
                && !refers_back(&part.normal, cues)
                && !lacks_subject(&part.normal, cues)
                && is_closed(part.text)
        };
        if parts.iter().all(is_apart) {
            return parts.into();
        }
    }
    Vec::new()
}

/// Returns true if each parenthesis of a part has its counterpart. The second "and" of "recreate it in Python (use uv for
/// dependencies and running tools, you will need to install uv)" divides no sentence.
fn is_closed(part: &str) -> bool {
    part.matches('(').count() == part.matches(')').count()
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
    let category = match parts.iter().any(|part| part.contradicts) {
        true => RuleCategory::Correction,
        false => statement_category(&best.classes),
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
        is_pasted: parts.iter().any(|part| part.is_pasted),
        line: line.to_owned(),
    })
}
