//! Parser of one visible line.

use super::markdown_marks::OpenMarks;
use super::signal_prefixes::{Family, SignalRules};
use super::visible_text::is_blank;
use heirloom_model::limits::SIGNAL_TEXT_BYTES_MAX;
use heirloom_model::signal::SignalVerb;
use heirloom_model::text;

/// A line that begins with a prefix.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ParsedLine {
    /// A signal.
    Signal(SignalVerb, String),
    /// An invalid signal, with the reason.
    Invalid(String),
}

/// Parses a line; `None` if it does not begin with a prefix.
pub(super) fn parse_line(rules: &SignalRules, line: &str) -> Option<ParsedLine> {
    let mut open = OpenMarks::default();
    let start = open.skip_line_marks(line);
    for prefix in rules.prefixes() {
        let Some(after) = start.strip_prefix(prefix.word.as_str()) else {
            continue;
        };
        let mut open = open.clone();
        if let Some(after) = open.strip_closing_prefix(after).strip_prefix(':') {
            let after = open.strip_closing_prefix(after);
            return Some(match prefix.family {
                Family::Memory => parse_memory_line(after, open),
                Family::Status => parse_status_line(after, open, &prefix.word),
            });
        }
    }
    None
}

fn parse_memory_line(after: &str, mut open: OpenMarks) -> ParsedLine {
    let start = open.skip_word_marks(after);
    let (word, rest) = take_word(start, &mut open);
    // Agents also write `KEY_FACT: text`.
    let rest = rest.strip_prefix(':').unwrap_or(rest);
    let rest = open.strip_closing_prefix(rest);
    if word.is_empty() && open.strip_closing_suffix(rest).is_empty() {
        return ParsedLine::Invalid(format!("no verb: expected one of {}", verb_list()));
    }
    let known = memory_verbs().find(|verb| verb.as_str() == word);
    let Some(verb) = known.filter(|_| rest.is_empty() || rest.starts_with(is_blank)) else {
        let shown = start.split(is_blank).next().unwrap_or_default();
        return ParsedLine::Invalid(unknown_verb(shown, word));
    };
    let text = normalize_text(open.strip_closing_suffix(rest));
    if text.is_empty() && !verb.is_text_optional() {
        return ParsedLine::Invalid(format!("`{}` needs a text after it", verb.as_str()));
    }
    check_size(verb, text)
}

fn parse_status_line(after: &str, mut open: OpenMarks, prefix: &str) -> ParsedLine {
    let (name, rest) = take_word(open.skip_word_marks(after), &mut open);
    let text = normalize_text(&format!("{name}{}", open.strip_closing_suffix(rest)));
    if text.is_empty() {
        return ParsedLine::Invalid(format!(
            "`{prefix}:` needs a status after it, such as COMPLETE"
        ));
    }
    check_size(SignalVerb::Status, text)
}

fn check_size(verb: SignalVerb, text: String) -> ParsedLine {
    if text.len() <= SIGNAL_TEXT_BYTES_MAX {
        return ParsedLine::Signal(verb, text);
    }
    ParsedLine::Invalid(format!(
        "the text of `{}` has {} bytes; the most is {SIGNAL_TEXT_BYTES_MAX}",
        verb.as_str(),
        text.len()
    ))
}

/// Returns the first word, and the rest without the marks that close open ones.
fn take_word<'a>(text: &'a str, open: &mut OpenMarks) -> (&'a str, &'a str) {
    let inside = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let rest = text.trim_start_matches(inside);
    let word = text[..text.len() - rest.len()].trim_end_matches('_');
    (word, open.strip_closing_prefix(&text[word.len()..]))
}

/// Returns the text without control characters, with single blanks, trimmed.
fn normalize_text(text: &str) -> String {
    let retained = text.chars().filter_map(|c| match c {
        c if c.is_whitespace() => Some(' '),
        c if c.is_control() => None,
        c => Some(c),
    });
    retained
        .collect::<String>()
        .trim_matches(is_blank)
        .to_owned()
}

/// Returns the verbs of a memory line; a status has its own prefix.
fn memory_verbs() -> impl Iterator<Item = SignalVerb> {
    SignalVerb::ALL
        .into_iter()
        .filter(|verb| *verb != SignalVerb::Status)
}

fn verb_list() -> String {
    let words: Vec<_> = memory_verbs().map(SignalVerb::as_str).collect();
    words.join(", ")
}

fn unknown_verb(shown: &str, word: &str) -> String {
    let shown = text::excerpt(shown, 60);
    let upper = word.to_ascii_uppercase();
    if upper == SignalVerb::Status.as_str() {
        return format!(
            "`{shown}` is not a verb: a status has a line of its own, `HEIRLOOM_STATUS: NAME`"
        );
    }
    let nearby = memory_verbs().min_by_key(|verb| distance(verb.as_str(), &upper));
    match nearby.filter(|verb| distance(verb.as_str(), &upper) <= verb.as_str().len() / 3) {
        Some(verb) => format!("`{shown}` is not a verb; did you mean `{}`?", verb.as_str()),
        None => format!("`{shown}` is not a verb: expected one of {}", verb_list()),
    }
}

/// Returns the edit distance (Levenshtein) between two words; the length of the second if it is long.
fn distance(left: &str, right: &str) -> usize {
    const WORD_BYTES_MAX: usize = 32;
    if right.len() > WORD_BYTES_MAX {
        return right.len();
    }
    strsim::levenshtein(left, right)
}
