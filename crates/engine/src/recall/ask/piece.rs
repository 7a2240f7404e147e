//! The pieces of a question: words, phrases, filters.

/// A piece of a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Piece<'q> {
    /// A word, or what stood in backticks.
    Word(&'q str),
    /// What stood in double quotes.
    Phrase(&'q str),
    /// A filter: its name, its value, and both as they stand.
    Filter {
        name: &'q str,
        value: &'q str,
        whole: &'q str,
    },
}

/// Takes the next piece off `rest`.
pub(super) fn next_piece<'q>(rest: &mut &'q str) -> Option<Piece<'q>> {
    let text = rest.trim_start();
    let first = text.chars().next()?;
    if let Some((inside, after)) = quoted(text, first) {
        *rest = after;
        return Some(if first == '`' {
            Piece::Word(inside)
        } else {
            Piece::Phrase(inside)
        });
    }
    if let Some((name, behind)) = filter_name(text) {
        let quote = behind
            .chars()
            .next()
            .and_then(|c| quoted(behind, c).filter(|_| c != '`'));
        let (value, after) = match quote {
            Some((inside, after)) => (inside, after),
            None => behind.split_at(word_end(behind)),
        };
        let whole = &text[..text.len() - after.len()];
        *rest = after;
        return Some(Piece::Filter { name, value, whole });
    }
    let (word, after) = text.split_at(word_end(text));
    *rest = after;
    Some(Piece::Word(word))
}

/// Longest phrase that is taken for one, characters.
const PHRASE_CHARS: usize = 300;

fn word_end(text: &str) -> usize {
    text.find(char::is_whitespace).unwrap_or(text.len())
}

/// What stands in quotes at the beginning of `text`, and what follows; none if they do not close in front of
/// a space or punctuation, or hold nothing.
fn quoted(text: &str, first: char) -> Option<(&str, &str)> {
    let close = match first {
        '"' => '"',
        '\u{201c}' => '\u{201d}',
        '`' => '`',
        _ => return None,
    };
    let inside = &text[first.len_utf8()..];
    // A quote that never closes must not be looked for to the end of a long text, again and again.
    let near = inside.char_indices().take(PHRASE_CHARS);
    let end = near.into_iter().find(|(_, c)| *c == close)?.0;
    let after = &inside[end + close.len_utf8()..];
    let closes = after.chars().next().is_none_or(|c| !c.is_alphanumeric());
    let inside = &inside[..end];
    (closes && !inside.trim().is_empty()).then_some((inside, after))
}

/// The names that are filters.
const NAMES: [&str; 13] = [
    "kind", "task", "agent", "plan", "group", "session", "phase", "category", "source", "key",
    "before", "after", "on",
];

/// The name of the filter that `text` begins with, and what follows its colon.
fn filter_name(text: &str) -> Option<(&'static str, &str)> {
    let longest = NAMES.iter().map(|name| name.len()).max().unwrap_or(0);
    let colon = text.bytes().take(longest + 1).position(|b| b == b':')?;
    let (name, value) = (&text[..colon], &text[colon + 1..]);
    // `key: value` is prose, `on::off` and `source://x` are code.
    let is_value = !value.starts_with([':', '/']) && !value.starts_with(char::is_whitespace);
    let known = NAMES
        .iter()
        .find(|known| known.eq_ignore_ascii_case(name))?;
    (is_value && !value.is_empty()).then_some((known, value))
}
