//! Tokens of a query: words, phrases, filters.

/// A token of a query.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum QueryToken<'q> {
    /// A word, or text in backticks.
    Word(&'q str),
    /// Text in double quotes.
    Phrase(&'q str),
    /// A filter: its name, its value, and its source text.
    Filter {
        name: &'q str,
        value: &'q str,
        whole: &'q str,
    },
}

/// Removes the next token from `rest` and returns it.
pub(super) fn next_token<'q>(rest: &mut &'q str) -> Option<QueryToken<'q>> {
    let text = rest.trim_start();
    let first = text.chars().next()?;
    if let Some((inside, after)) = quoted(text, first) {
        *rest = after;
        return Some(if first == '`' {
            QueryToken::Word(inside)
        } else {
            QueryToken::Phrase(inside)
        });
    }
    if let Some((name, after_colon)) = filter_name(text) {
        let quote = after_colon
            .chars()
            .next()
            .and_then(|c| quoted(after_colon, c).filter(|_| c != '`'));
        let (value, after) = match quote {
            Some((inside, after)) => (inside, after),
            None => after_colon.split_at(word_end(after_colon)),
        };
        let whole = &text[..text.len() - after.len()];
        *rest = after;
        return Some(QueryToken::Filter { name, value, whole });
    }
    let (word, after) = text.split_at(word_end(text));
    *rest = after;
    Some(QueryToken::Word(word))
}

/// Maximum length of a phrase, characters.
const PHRASE_CHARS_MAX: usize = 300;

fn word_end(text: &str) -> usize {
    text.find(char::is_whitespace).unwrap_or(text.len())
}

/// Returns the quoted text at the beginning of `text`, and the rest; `None` if the quote is not closed before a space
/// or punctuation, or is empty.
fn quoted(text: &str, first: char) -> Option<(&str, &str)> {
    let close = match first {
        '"' => '"',
        '\u{201c}' => '\u{201d}',
        '`' => '`',
        _ => return None,
    };
    let inside = &text[first.len_utf8()..];
    // Bounds the search, so that unclosed quotes in a long text do not take quadratic time.
    let nearby = inside.char_indices().take(PHRASE_CHARS_MAX);
    let end = nearby.into_iter().find(|(_, c)| *c == close)?.0;
    let after = &inside[end + close.len_utf8()..];
    let closes = after.chars().next().is_none_or(|c| !c.is_alphanumeric());
    let inside = &inside[..end];
    (closes && !inside.trim().is_empty()).then_some((inside, after))
}

/// Names of filters.
const FILTER_NAMES: [&str; 13] = [
    "kind", "task", "agent", "plan", "group", "session", "phase", "category", "source", "key",
    "before", "after", "on",
];

/// Returns the filter name at the beginning of `text`, and the text after its colon.
fn filter_name(text: &str) -> Option<(&'static str, &str)> {
    let longest = FILTER_NAMES
        .iter()
        .map(|name| name.len())
        .max()
        .unwrap_or(0);
    let colon = text.bytes().take(longest + 1).position(|b| b == b':')?;
    let (name, value) = (&text[..colon], &text[colon + 1..]);
    // `key: value` is prose, `on::off` and `source://x` are code.
    let is_value = !value.starts_with([':', '/']) && !value.starts_with(char::is_whitespace);
    let known = FILTER_NAMES
        .iter()
        .find(|known| known.eq_ignore_ascii_case(name))?;
    (is_value && !value.is_empty()).then_some((known, value))
}
