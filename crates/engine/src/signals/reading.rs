//! What one visible line says.

use super::marks::Open;
use super::rules::{Family, SignalRules};
use super::shown::is_blank;
use heirloom_model::limits::SIGNAL_TEXT_BYTES_MAX;
use heirloom_model::signal::Verb;
use heirloom_model::text;

/// A line that begins with a prefix.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Reading {
    /// A signal.
    Signal(Verb, String),
    /// No signal, with the reason.
    Bad(String),
}

/// Reads a line; nothing if it does not begin with a prefix.
pub(super) fn read(rules: &SignalRules, line: &str) -> Option<Reading> {
    let mut open = Open::default();
    let start = open.line_start(line);
    for prefix in rules.prefixes() {
        let Some(after) = start.strip_prefix(prefix.word.as_str()) else {
            continue;
        };
        let mut open = open.clone();
        if let Some(after) = open.close_front(after).strip_prefix(':') {
            let after = open.close_front(after);
            return Some(match prefix.family {
                Family::Memory => memory(after, open),
                Family::Status => status(after, open, &prefix.word),
            });
        }
    }
    None
}

fn memory(after: &str, mut open: Open) -> Reading {
    let start = open.word_start(after);
    let (word, rest) = take_word(start, &mut open);
    // Agents also write `KEY_FACT: text`.
    let rest = rest.strip_prefix(':').unwrap_or(rest);
    let rest = open.close_front(rest);
    if word.is_empty() && open.close_back(rest).is_empty() {
        return Reading::Bad(format!("no verb: expected one of {}", verb_list()));
    }
    let known = memory_verbs().find(|verb| verb.as_str() == word);
    let Some(verb) = known.filter(|_| rest.is_empty() || rest.starts_with(is_blank)) else {
        let shown = start.split(is_blank).next().unwrap_or_default();
        return Reading::Bad(unknown_verb(shown, word));
    };
    let text = clean(open.close_back(rest));
    if text.is_empty() && !verb.text_is_optional() {
        return Reading::Bad(format!("`{}` needs a text after it", verb.as_str()));
    }
    sized(verb, text)
}

fn status(after: &str, mut open: Open, prefix: &str) -> Reading {
    let (name, rest) = take_word(open.word_start(after), &mut open);
    let text = clean(&format!("{name}{}", open.close_back(rest)));
    if text.is_empty() {
        return Reading::Bad(format!(
            "`{prefix}:` needs a status after it, such as COMPLETE"
        ));
    }
    sized(Verb::Status, text)
}

fn sized(verb: Verb, text: String) -> Reading {
    if text.len() <= SIGNAL_TEXT_BYTES_MAX {
        return Reading::Signal(verb, text);
    }
    Reading::Bad(format!(
        "the text of `{}` has {} bytes; the most is {SIGNAL_TEXT_BYTES_MAX}",
        verb.as_str(),
        text.len()
    ))
}

/// The first word, and what follows it without the marks that close open ones.
fn take_word<'a>(text: &'a str, open: &mut Open) -> (&'a str, &'a str) {
    let inside = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let rest = text.trim_start_matches(inside);
    let word = text[..text.len() - rest.len()].trim_end_matches('_');
    (word, open.close_front(&text[word.len()..]))
}

/// The text without control characters, any white space as one blank, trimmed.
fn clean(text: &str) -> String {
    let kept = text.chars().filter_map(|c| match c {
        c if c.is_whitespace() => Some(' '),
        c if c.is_control() => None,
        c => Some(c),
    });
    kept.collect::<String>().trim_matches(is_blank).to_owned()
}

/// The verbs of a memory line: a status has a prefix of its own.
fn memory_verbs() -> impl Iterator<Item = Verb> {
    Verb::ALL.into_iter().filter(|verb| *verb != Verb::Status)
}

fn verb_list() -> String {
    let words: Vec<_> = memory_verbs().map(Verb::as_str).collect();
    words.join(", ")
}

fn unknown_verb(shown: &str, word: &str) -> String {
    let shown = text::excerpt(shown, 60);
    let upper = word.to_ascii_uppercase();
    if upper == Verb::Status.as_str() {
        return format!(
            "`{shown}` is not a verb: a status has a line of its own, `HEIRLOOM_STATUS: NAME`"
        );
    }
    let near = memory_verbs().min_by_key(|verb| distance(verb.as_str(), &upper));
    match near.filter(|verb| distance(verb.as_str(), &upper) <= verb.as_str().len() / 3) {
        Some(verb) => format!("`{shown}` is not a verb; did you mean `{}`?", verb.as_str()),
        None => format!("`{shown}` is not a verb: expected one of {}", verb_list()),
    }
}

/// Insertions, deletions and replacements between two words; far more than any match when one is long.
fn distance(left: &str, right: &str) -> usize {
    const WORD_BYTES_MAX: usize = 32;
    if right.len() > WORD_BYTES_MAX {
        return right.len();
    }
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (i, a) in left.bytes().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], i + 1);
        for (j, b) in right.bytes().enumerate() {
            let replaced = diagonal + usize::from(a != b);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[right.len()]
}
