//! Words about attempts: what the agent announced, why it was undone, and the changed lines.

use crate::cues::{AttemptCues, starts_with_word};
use crate::sentences::{is_question, plain_text, sentences, shorten_to_sentences};
use crate::statements::finish_statement;
use heirloom_model::text;

/// Bytes of a text that are read.
const TEXT_BYTES_MAX: usize = 6_000;
/// Sentences that are looked at.
const SENTENCES_MAX: usize = 40;
/// Words of a reason at least: "That did not work." names none.
const REASON_WORDS_MIN: usize = 5;
/// Words of an announcement at least.
const INTENT_WORDS_MIN: usize = 3;
/// Characters of an approach.
const APPROACH_CHARS_MAX: usize = 140;
/// Characters of a reason.
const REASON_CHARS_MAX: usize = 240;
/// Characters of the old and of the new line of a change.
const LINE_CHARS_MAX: usize = 90;
/// Characters of a prompt that only judges the work before it.
const PROMPT_CHARS_MAX: usize = 600;

/// Statements of an agent's text about attempts.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct AttemptMessage {
    /// Reason why something did not work.
    pub(super) reason: Option<String>,
    /// The next approach.
    pub(super) intent: Option<String>,
}

/// Reads a text of the agent.
pub(super) fn read_message(said: &str, cues: &AttemptCues) -> AttemptMessage {
    let head = said.get(..said.floor_char_boundary(TEXT_BYTES_MAX));
    let plain = plain_text(head.unwrap_or_default());
    let mut message = AttemptMessage::default();
    let mut before = "";
    for sentence in sentences(&plain).take(SENTENCES_MAX) {
        let lower = sentence.to_lowercase();
        let is_undo = cues.undoing.is_in(&lower);
        if cues.setbacks.is_in(&lower) && !is_question(sentence) {
            message.reason = with_cause(sentence, before);
        } else if is_undo && message.reason.is_none() {
            // "int() truncates half cents. Reverting that."
            message.reason = with_cause(before, "");
        } else if message.reason.as_deref() == Some(&*finish_statement(before))
            && cues.causes.begins(&lower)
        {
            // The cause follows: "That did not help. The value is cut before …"
            message.reason = with_cause(sentence, before);
        }
        let intent = without_intent(&lower, sentence, cues);
        if let Some(intent) = intent.filter(|_| !is_undo) {
            message.intent = Some(text::excerpt(intent, APPROACH_CHARS_MAX));
        }
        before = sentence;
    }
    message
}

/// Returns a sentence with the one before it if it is too short to name a reason.
fn with_cause(sentence: &str, before: &str) -> Option<String> {
    let joined = match (words(sentence) >= REASON_WORDS_MIN, before.is_empty()) {
        (true, _) | (false, true) => sentence.to_owned(),
        (false, false) => format!("{} {sentence}", finish_statement(before)),
    };
    let reason = shorten_to_sentences(&joined, REASON_CHARS_MAX);
    (words(&reason) >= REASON_WORDS_MIN).then(|| finish_statement(&reason))
}

fn words(text: &str) -> usize {
    text.split_whitespace().count()
}

/// Returns the approach that a sentence announces, without "Let me" and the like; no look at something and
/// no run.
fn without_intent<'s>(lower: &str, sentence: &'s str, cues: &AttemptCues) -> Option<&'s str> {
    let starts = cues.intents.iter();
    let begin = starts.filter(|begin| lower.starts_with(begin.as_str()));
    let begin = begin.max_by_key(|begin| begin.len())?;
    let rest = sentence.get(begin.len()..)?.trim();
    let rest = rest.trim_end_matches([':', '.', '!', '…']);
    let first = lower.get(begin.len()..)?.trim_start();
    let is_look = cues.looks.iter().any(|word| starts_with_word(first, word));
    (words(rest) >= INTENT_WORDS_MIN && !is_look).then_some(rest)
}

/// Returns the reason of a person who asks to take work back; `None` for another prompt.
pub(super) fn request_to_undo(prompt: &str, cues: &AttemptCues) -> Option<String> {
    if prompt.chars().nth(PROMPT_CHARS_MAX).is_some() {
        return None;
    }
    let lower = prompt.to_lowercase().replace('’', "'");
    let is_request = cues.requests_to_undo.is_in(&lower);
    let reason = shorten_to_sentences(prompt.trim(), REASON_CHARS_MAX);
    (is_request && words(&reason) >= REASON_WORDS_MIN).then_some(reason)
}

/// Returns the approach: the announcement; else the first clause of the reason, if it names what did not work (`Adding
/// 0.49 does not work because it is cut, I'll revert that`); else the change.
pub(super) fn approach_of(intent: &str, reason: &str, change: &str) -> String {
    let clause = || {
        let ends = [", i'll", ", so ", ", let me", "; ", ". "];
        let lower = reason.to_lowercase();
        let end = ends.iter().filter_map(|end| lower.find(end)).min();
        let clause = reason.get(..end.unwrap_or(reason.len()))?;
        let is_named = !["that ", "this ", "it "]
            .iter()
            .any(|word| lower.starts_with(word));
        is_named.then(|| clause.trim_end_matches('.').to_owned())
    };
    let named = Some(intent.to_owned()).filter(|intent| !intent.is_empty());
    let approach = named
        .or_else(clause)
        .filter(|text| !text.is_empty())
        .unwrap_or_else(|| change.to_owned());
    text::excerpt(&approach, APPROACH_CHARS_MAX)
}

/// Returns the first changed lines.
pub(super) fn change_text(removed: &str, added: &str) -> String {
    let lines = |text: &str, other: &str| {
        let mut lines = text.lines().map(str::trim);
        let new = lines.find(|line| {
            line.contains(char::is_alphanumeric) && !other.lines().any(|old| old.trim() == *line)
        });
        text::excerpt(new.unwrap_or_default(), LINE_CHARS_MAX).replace('`', "'")
    };
    match (lines(removed, added), lines(added, removed)) {
        (old, new) if old.is_empty() && new.is_empty() => String::new(),
        (old, new) if old.is_empty() => format!("added `{new}`"),
        (old, new) if new.is_empty() => format!("removed `{old}`"),
        (old, new) => format!("changed `{old}` to `{new}`"),
    }
}
