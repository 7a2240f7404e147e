//! Words of a text, without the punctuation around them.

/// Word of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct SplitWord<'t> {
    pub(super) text: &'t str,
    /// True for code, whose case is significant: in backticks, an option, a path, a qualified name.
    pub(super) is_code: bool,
}

impl<'t> SplitWord<'t> {
    fn new(text: &'t str) -> Self {
        Self {
            text,
            is_code: has_code_form(text),
        }
    }
}

/// Splits a text into words without surrounding punctuation.
pub(super) fn split_words(text: &str) -> Vec<SplitWord<'_>> {
    let mut found: Vec<SplitWord<'_>> = Vec::new();
    // An unpaired backtick encloses nothing.
    let has_spans = text.contains('`') && text.matches('`').count().is_multiple_of(2);
    let mut is_open = false;
    let mut chunks = text.split_whitespace().peekable();
    while let Some(chunk) = chunks.next() {
        // Fast path: most words are plain ASCII.
        if !is_open && chunk.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
            found.push(SplitWord {
                text: chunk,
                is_code: false,
            });
            continue;
        }
        if has_spans && (is_open || chunk.contains('`')) {
            let was_open = is_open;
            is_open ^= chunk.matches('`').count() % 2 == 1;
            let text = strip_code_marks(chunk, was_open, is_open);
            found.extend((!text.is_empty()).then_some(SplitWord {
                text,
                is_code: true,
            }));
            continue;
        }
        let continues = chunks.peek().is_some_and(|next| begins_small(next));
        let parts = split_chunk(chunk).into_iter();
        let words = parts.filter_map(|part| strip_punctuation(part, continues));
        found.extend(words.map(SplitWord::new));
    }
    let bullets = found.iter().take_while(|word| is_bullet(word)).count();
    if bullets < found.len() {
        found.drain(..bullets);
    }
    match found.iter().any(is_dash) {
        true => drop_dashes(&found),
        false => found,
    }
}

/// Returns true for the form of an option, a path, a qualified name or a call: `-V`, `src/a`, `a.b`, `f()`.
fn has_code_form(word: &str) -> bool {
    let is_mark = |c: char| c.is_ascii_punctuation() && !matches!(c, '-' | '\'' | '"' | '!' | '?');
    word.starts_with('-') || word.contains(is_mark)
}

/// Strips backticks, and the punctuation outside of them.
fn strip_code_marks(chunk: &str, was_open: bool, is_open: bool) -> &str {
    let mut word = chunk;
    if !was_open {
        let outside = word.find('`').unwrap_or(0);
        let has_word = word[..outside].contains(char::is_alphanumeric);
        word = if has_word { word } else { &word[outside..] };
    }
    if !is_open {
        let outside = word.rfind('`').map_or(word.len(), |at| at + 1);
        let has_word = word[outside..].contains(char::is_alphanumeric);
        word = if has_word { word } else { &word[..outside] };
    }
    word.trim_matches('`')
}

fn begins_small(chunk: &str) -> bool {
    chunk.starts_with(char::is_lowercase)
}

fn is_bullet(word: &SplitWord<'_>) -> bool {
    matches!(word.text, "-" | "–" | "*")
}

fn is_dash(word: &SplitWord<'_>) -> bool {
    matches!(word.text, "-" | "–")
}

/// Removes dashes between two words of letters, where they are punctuation.
fn drop_dashes<'t>(found: &[SplitWord<'t>]) -> Vec<SplitWord<'t>> {
    let is_letter = |c: char| c.is_alphabetic() || is_apostrophe(c);
    let letters =
        |word: Option<&SplitWord<'_>>| word.is_some_and(|word| word.text.chars().all(is_letter));
    let mut retained = Vec::with_capacity(found.len());
    for (i, word) in found.iter().enumerate() {
        if !(is_dash(word) && letters(retained.last()) && letters(found.get(i + 1))) {
            retained.push(*word);
        }
    }
    retained
}

/// Splits a chunk at punctuation: `tabs,not` is two words, `1,000` and `a.b` are one.
fn split_chunk(chunk: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let (mut start, mut before) = (0, ' ');
    let mut rest = chunk.char_indices().peekable();
    while let Some((at, c)) = rest.next() {
        let after = rest.peek().map_or(' ', |(_, next)| *next);
        let splits = matches!(c, ',' | ';' | '…' | '—') || is_wide_mark(c);
        if splits && before.is_alphabetic() && after.is_alphabetic() {
            parts.push(&chunk[start..at]);
            start = at + c.len_utf8();
        }
        before = c;
    }
    parts.push(&chunk[start..]);
    parts
}

/// Strips punctuation around a word; `None` if nothing significant is left. `continues` is true if the sentence goes on
/// behind it.
fn strip_punctuation(chunk: &str, continues: bool) -> Option<&str> {
    if !chunk.chars().any(char::is_alphanumeric) {
        return operator(chunk);
    }
    let mut word = chunk;
    loop {
        let first = word.strip_prefix(|_| is_leading_punctuation(word));
        word = first.unwrap_or(word);
        let is_marked = ends_with_significant_mark(word, continues);
        let last = word.strip_suffix(|_| !is_marked && is_trailing_punctuation(word));
        if first.is_none() && last.is_none() {
            return Some(word);
        }
        word = last.unwrap_or(word);
    }
}

/// Returns true if a word ends with a mark that belongs to a name, as in `user.save!` and in `call save! here`.
fn ends_with_significant_mark(word: &str, continues: bool) -> bool {
    let name = word.trim_end_matches(['!', '?']);
    let is_qualified = name.contains(['.', ':', '#', '_']) && !name.contains('/');
    let is_closed = name.ends_with(|c: char| !c.is_alphanumeric());
    name.len() < word.len() && !is_closed && (continues || is_qualified)
}

/// Returns a chunk without letters and digits if it is an operator and not punctuation: `==`, `[]`, `..`.
fn operator(chunk: &str) -> Option<&str> {
    if chunk == ".." {
        return Some(chunk);
    }
    let rest = chunk.trim_end_matches(ends_sentence);
    let mut chars = rest.chars();
    let (first, second) = (chars.next()?, chars.next());
    let says_nothing = is_quote(first) || is_bracket(first) || matches!(first, '—' | '•' | '·');
    (second.is_some() || !says_nothing).then_some(rest)
}

/// Returns true if the first character of a word is surrounding punctuation.
fn is_leading_punctuation(word: &str) -> bool {
    let mut chars = word.chars();
    let Some(first) = chars.next() else {
        return false;
    };
    let next = chars.next().unwrap_or(' ');
    match first {
        // `.env`, `../a` and `..9` keep their dots; an ellipsis is punctuation.
        '.' => word.starts_with("..."),
        '–' => !next.is_ascii_digit(),
        ',' | ';' | '?' | '¿' | '¡' | '…' | '—' | '•' | '·' => true,
        c => is_quote(c) || is_bracket(c) || is_wide_mark(c),
    }
}

/// Returns true if the last character of a word is surrounding punctuation, and not a bracket opened in the word.
fn is_trailing_punctuation(word: &str) -> bool {
    let Some(last) = word.chars().next_back() else {
        return false;
    };
    let opened_by = match last {
        ')' => Some('('),
        ']' => Some('['),
        '}' => Some('{'),
        _ => None,
    };
    match opened_by {
        Some(open) => word.matches(last).count() > word.matches(open).count(),
        None => {
            ends_sentence(last)
                || is_quote(last)
                || is_bracket(last)
                || is_wide_mark(last)
                || matches!(last, '—' | '–')
        }
    }
}

fn ends_sentence(c: char) -> bool {
    matches!(c, '.' | ',' | ';' | ':' | '!' | '?' | '…') || is_wide_mark(c)
}

fn is_quote(c: char) -> bool {
    is_apostrophe(c) || matches!(c, '"' | '`' | '“' | '”' | '„' | '‚' | '«' | '»' | '‹' | '›')
}

pub(super) fn is_apostrophe(c: char) -> bool {
    matches!(c, '\'' | '’' | '‘')
}

fn is_bracket(c: char) -> bool {
    matches!(c, '(' | ')' | '[' | ']' | '{' | '}')
        || matches!(c, '（' | '）' | '「' | '」' | '【' | '】')
}

/// Returns true for punctuation of scripts that do not separate words with blanks.
fn is_wide_mark(c: char) -> bool {
    matches!(
        c,
        '、' | '。' | '，' | '；' | '：' | '！' | '？' | '؟' | '،' | '।'
    )
}
