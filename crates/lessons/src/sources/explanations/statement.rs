//! Statements of causes and constraints in an agent's text.

use crate::bounded_text::bounded;
use crate::code_tokens::{TokenKind, code_tokens, contains_token, content_words, stem};
use crate::cues::Cues;
use crate::sentences::{is_question, plain_text, sentences};
use crate::statements::{finish_statement, without_lead_in};
use heirloom_model::text;
use serde::{Deserialize, Serialize};

/// Bytes of a statement.
const STATEMENT_BYTES_MAX: usize = 330;
/// Words of a statement.
const WORDS_MIN: usize = 5;
const WORDS_MAX: usize = 50;
/// Words of a statement with one code token: a shorter one leaves open what it is about.
const WORDS_OF_ONE_TOKEN_MIN: usize = 8;
/// Bytes of a remedy.
const REMEDY_BYTES_MAX: usize = 160;
/// Code tokens of a statement that are kept.
const TOKENS_MAX: usize = 5;
/// Bytes of a code token.
const TOKEN_BYTES_MAX: usize = 40;
/// Characters of a record.
const RECORD_CHARS_MAX: usize = 400;
/// Words that a remedy shares at least with the edit that confirms it.
const SHARED_WORDS_MIN: usize = 2;

/// A statement.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Statement {
    /// The sentence, finished.
    pub(super) text: String,
    /// Announced remedy.
    pub(super) remedy: Option<String>,
    /// Code tokens in lower case.
    pub(super) tokens: Vec<String>,
    /// Worth.
    pub(super) worth: f32,
    /// True for a claim of a cause.
    pub(super) is_cause: bool,
    /// True for an absence.
    pub(super) is_absence: bool,
}

/// Statements of a text.
#[derive(Debug, Default)]
pub(super) struct Statements {
    /// The statements.
    pub(super) statements: Vec<Statement>,
    /// True if the text withdraws an earlier statement.
    pub(super) withdraws: bool,
}

/// Reads the statements of a text.
pub(super) fn read_statements(said: &str, cues: &Cues) -> Statements {
    let data = &cues.explanations;
    let mut found = Statements::default();
    let head = said
        .get(..said.floor_char_boundary(data.text_bytes_max))
        .unwrap_or_default();
    let is_long = head.len() < said.len();
    let plain = plain_text(head);
    let mut can_have_remedy = false;
    for sentence in sentences(&plain) {
        let lower = sentence.to_lowercase();
        found.withdraws |= data.withdrawals.is_in(&lower);
        if is_long {
            continue;
        }
        if can_have_remedy
            && let Some(last) = found.statements.last_mut()
            && let Some(remedy) = remedy(sentence, cues)
        {
            last.remedy = Some(remedy);
        }
        let statement = judge(sentence, cues);
        can_have_remedy = statement.is_some();
        found.statements.extend(statement);
    }
    found
}

/// Returns the statement of a sentence, if it is one.
fn judge(sentence: &str, cues: &Cues) -> Option<Statement> {
    let data = &cues.explanations;
    let body = without_lead_in(sentence, &cues.failures.remarks.lead_ins);
    let lower = body.to_lowercase();
    let words = body.split_whitespace().count();
    let is_sentence = (WORDS_MIN..=WORDS_MAX).contains(&words)
        && body.len() <= STATEMENT_BYTES_MAX
        && !is_question(body)
        && !body.ends_with([':', ','])
        && !body.contains(" | ")
        && !is_description(body)
        && !names_line(&lower)
        && is_english(body)
        && !body.starts_with(['(', ')', '…', '-', '"', '|', '✓', '❌', '✅', '⚠']);
    if !is_sentence {
        return None;
    }
    let all = code_tokens(body);
    let tokens: Vec<String> = all
        .iter()
        .filter(|token| token.kind != TokenKind::Number && token.text.len() <= TOKEN_BYTES_MAX * 2)
        .map(|token| bounded(&token.text.to_lowercase(), TOKEN_BYTES_MAX))
        .take(TOKENS_MAX)
        .collect();
    let is_general = !tokens.is_empty()
        && (tokens.len() > 1 || words >= WORDS_OF_ONE_TOKEN_MIN)
        && !lower.contains(" i ")
        && !data.narration.begins(&lower)
        && !data.pronouns.begins(&lower)
        && !data.hedges.is_in(&lower)
        && !data.momentary.is_in(&lower);
    if !is_general {
        return None;
    }
    let cue = data
        .cue
        .iter()
        .find(|cue| cue.phrases.is_in(&outside_of_code(&lower)))?;
    let bonus = if tokens.len() > 1 {
        data.tokens_bonus
    } else {
        0.0
    };
    Some(Statement {
        text: bounded(&finish_statement(body), STATEMENT_BYTES_MAX),
        remedy: None,
        tokens,
        worth: (cue.worth + bonus).min(data.most),
        is_cause: cue.is_cause,
        is_absence: cue.is_absence,
    })
}

/// Returns true for the description of a file or name in a list, for a numbered finding, and for a sentence with
/// something left out.
fn is_description(sentence: &str) -> bool {
    let after_code = sentence
        .strip_prefix('`')
        .and_then(|rest| rest.split_once('`'))
        .map_or("", |(_, after)| after.trim_start());
    let is_listed = ["— ", "– ", "- ", ": ", "→ "]
        .iter()
        .any(|mark| after_code.starts_with(mark));
    let first = sentence.split_whitespace().next().unwrap_or_default();
    let label = first.trim_end_matches([':', '.', ')']);
    let is_label = label.len() <= 3 && label.ends_with(|c: char| c.is_ascii_digit());
    // As in "`test_cart.py` (12 tests) - totals".
    let is_counted = after_code.starts_with('(') && after_code.contains(") - ");
    is_listed || is_counted || is_label || sentence.contains('…')
}

/// Returns true for a sentence about a numbered line, which is another one after the next edit.
fn names_line(lower: &str) -> bool {
    let words: Vec<&str> = lower
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .collect();
    words.windows(2).any(|pair| {
        matches!(pair, ["line" | "lines", number] if number.starts_with(|c: char| c.is_ascii_digit()))
    })
}

/// Letters outside of ASCII up to which a sentence may be an English one.
const FOREIGN_LETTERS_MAX: usize = 2;

/// Returns true for a sentence in the language of the cue phrases, as far as its letters show it.
fn is_english(sentence: &str) -> bool {
    let foreign = sentence
        .chars()
        .filter(|c| !c.is_ascii() && c.is_alphabetic());
    foreign.take(FOREIGN_LETTERS_MAX + 1).count() <= FOREIGN_LETTERS_MAX
}

/// Returns a sentence with its code spans masked, so that no cue is found in code.
fn outside_of_code(lower: &str) -> String {
    let parts = lower.split('`').enumerate();
    let masked: Vec<&str> = parts
        .map(|(number, part)| if number % 2 == 1 { "_" } else { part })
        .collect();
    masked.join("`")
}

/// Returns the remedy that a sentence announces.
fn remedy(sentence: &str, cues: &Cues) -> Option<String> {
    let data = &cues.explanations;
    let lower = sentence.to_lowercase();
    let lead = data
        .remedies
        .iter()
        .find(|lead| lower.starts_with(lead.as_str()))?;
    let rest = sentence
        .get(lead.len()..)?
        .trim()
        .trim_end_matches(['.', '!', ':']);
    let first = rest.split_whitespace().next()?.to_lowercase();
    let is_short =
        (3..=24).contains(&rest.split_whitespace().count()) && rest.len() <= REMEDY_BYTES_MAX;
    let is_step = data.looking.contains(&first) || data.hedges.is_in(&lower);
    (is_short && !is_step).then(|| bounded(rest, REMEDY_BYTES_MAX))
}

impl Statement {
    /// Returns true if what was done agrees with the announced remedy: it has all its code tokens and shares words.
    pub(super) fn is_remedied_by(&self, done: &str) -> bool {
        let Some(remedy) = &self.remedy else {
            return false;
        };
        let tokens = code_tokens(remedy);
        let has_tokens = tokens.iter().all(|token| {
            token.kind == TokenKind::Name || contains_token(done, &token.text.to_lowercase())
        });
        let mut words = content_words(remedy);
        words.sort_unstable();
        words.dedup();
        let shared = words
            .iter()
            .filter(|word| done.contains(stem(word)))
            .count();
        has_tokens && (shared >= SHARED_WORDS_MIN || shared > 0 && shared == words.len())
    }

    /// Returns true if another statement has all code tokens of this one.
    pub(super) fn has_only_tokens_of(&self, other: &Self) -> bool {
        self.tokens.iter().all(|token| other.tokens.contains(token))
    }

    /// Returns the text of the record.
    pub(super) fn full_text(&self, has_remedy: bool) -> String {
        let Some(remedy) = self.remedy.as_ref().filter(|_| has_remedy) else {
            return self.text.clone();
        };
        let text = format!("{} Remedy: {remedy}.", self.text);
        match text::chars(&text) <= RECORD_CHARS_MAX {
            true => text,
            false => self.text.clone(),
        }
    }
}
