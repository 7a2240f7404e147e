//! Sentences: boundaries, questions, shortening to whole sentences, and the parts of a text that are its author's words.
//!
//! All functions take time linear in the text, for any text.

mod markdown;
#[cfg(test)]
mod tests;

pub(crate) use markdown::{mask_quoted_and_code, plain_text, without_blocks};

/// Words after whose full stop a sentence goes on, in lower case and without the full stop.
const ABBREVIATIONS: [&str; 42] = [
    "approx", "bspw", "bzgl", "bzw", "ca", "cf", "d.h", "dr", "e.g", "eg", "ej", "evtl", "ex",
    "excl", "exkl", "fig", "ggf", "i.e", "ie", "incl", "inkl", "max", "min", "mr", "mrs", "ms",
    "nr", "p.e", "p.ej", "p.ex", "resp", "s.o", "s.u", "sec", "sog", "st", "u.a", "v.a", "vgl",
    "vs", "z.b", "zzgl",
];
/// Words after whose full stop a sentence goes on if the next word begins with a small letter.
const FINAL_ABBREVIATIONS: [&str; 4] = ["al", "etc", "no", "usw"];
/// Characters that close a quotation or a bracket.
const CLOSERS: [char; 14] = [
    ')', ']', '}', '"', '\'', '`', '*', '”', '’', '»', '」', '』', '）', '】',
];
/// Greatest number of bytes of a word that is looked up as an abbreviation.
const WORD_BYTES_MAX: usize = 8;

/// Returns true if the character belongs to Chinese or Japanese text, in which words and sentences have no blanks
/// between them.
pub(crate) fn is_cjk(c: char) -> bool {
    matches!(c, '\u{3000}'..='\u{30ff}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{ff00}'..='\u{ffef}')
}

/// Returns the sentences of a text. A line break ends a sentence; code spans, URLs, file names and abbreviations do not.
pub(crate) fn sentences(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        loop {
            rest = rest.trim_start();
            if rest.is_empty() {
                return None;
            }
            let (sentence, after) = split_sentence(rest);
            rest = after;
            let sentence = sentence.trim_end();
            if sentence.chars().any(char::is_alphanumeric) {
                return Some(sentence);
            }
        }
    })
}

/// Splits a text after its first sentence.
fn split_sentence(text: &str) -> (&str, &str) {
    let mut chars = text.char_indices().peekable();
    let mut skip_until = 0;
    let mut has_open_tick = true;
    while let Some((at, c)) = chars.next() {
        if at < skip_until {
            continue;
        }
        let next = at + c.len_utf8();
        match c {
            '\n' => return text.split_at(at),
            '`' if has_open_tick => {
                let line = text.get(next..).unwrap_or_default();
                match line.find(['`', '\n']) {
                    Some(end) if line.as_bytes().get(end) == Some(&b'`') => {
                        skip_until = next + end + 1;
                    }
                    _ => has_open_tick = false,
                }
            }
            '。' | '！' | '？' | '．' => return text.split_at(end_of_closers(text, next)),
            '.' | '!' | '?' | '…' => {
                let is_run = matches!(chars.peek(), Some((_, '.' | '!' | '?' | '…')));
                let end = end_of_closers(text, next);
                if !is_run && is_boundary(text, at, c, end) {
                    return text.split_at(end);
                }
            }
            _ => {}
        }
    }
    (text, "")
}

/// Returns the offset after the closing quotation marks and brackets at `from`.
fn end_of_closers(text: &str, from: usize) -> usize {
    let tail = text.get(from..).unwrap_or_default();
    text.len() - tail.trim_start_matches(CLOSERS).len()
}

/// Returns true if the mark `c` at `at` ends a sentence; `end` is the offset after the mark and its closers.
fn is_boundary(text: &str, at: usize, c: char, end: usize) -> bool {
    let after = text.get(end..).unwrap_or_default();
    match after.chars().next() {
        None => return true,
        Some(next) if is_cjk(next) && c != '.' => return true,
        Some(next) if !next.is_whitespace() => return false,
        Some(_) => {}
    }
    let next = after.trim_start_matches([' ', '\t']).chars().next();
    let goes_on = next.is_some_and(char::is_lowercase);
    match c {
        '.' => {}
        '…' => return !goes_on,
        _ => return true,
    }
    let before = text.get(..at).unwrap_or_default();
    if before.ends_with('.') {
        return !goes_on;
    }
    let is_word = |c: char| c.is_alphanumeric() || c == '.';
    let start = before
        .char_indices()
        .rev()
        .take(WORD_BYTES_MAX + 1)
        .take_while(|(_, c)| is_word(*c))
        .last()
        .map_or(at, |(start, _)| start);
    let word = before.get(start..).unwrap_or_default();
    if word.len() > WORD_BYTES_MAX {
        return true;
    }
    let word = word.to_lowercase();
    let is_number = !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit());
    if is_number && before.len() == word.len() {
        // The number of a list item.
        return false;
    }
    if word.len() == 1 && !is_number {
        // A part of an abbreviation such as `z. B.` or `d. h.`; a single capital letter is one only after another part.
        let previous = before
            .get(..start)
            .and_then(|head| head.strip_suffix(". "))
            .map(|head| head.chars().next_back());
        return previous.is_none() && before.ends_with(char::is_uppercase);
    }
    let is_in = |list: &[&str]| list.contains(&word.as_str());
    let is_open = goes_on && is_in(&FINAL_ABBREVIATIONS);
    !is_open && !is_in(&ABBREVIATIONS)
}

/// Returns true if the sentence is a question, as far as its punctuation and final particles show it.
pub(crate) fn is_question(sentence: &str) -> bool {
    let body = sentence.trim().trim_end_matches(CLOSERS);
    if body.ends_with(['?', '？', '؟']) || body.starts_with('¿') {
        return true;
    }
    let body = body.trim_end_matches(['。', '.', '!', '！']);
    [
        "吗",
        "嗎",
        "呢",
        "ですか",
        "ますか",
        "でしょうか",
        "ませんか",
        "したか",
        "かな",
    ]
    .iter()
    .any(|end| body.ends_with(end))
}

/// Returns the first sentences of the text that have at most `chars_max` characters together, with one space between
/// them; an empty text if already the first one has more.
pub(crate) fn shorten_to_sentences(text: &str, chars_max: usize) -> String {
    let mut out = String::new();
    let mut used = 0;
    for sentence in sentences(text) {
        let gap = usize::from(!out.is_empty());
        let chars = sentence.chars().take(chars_max + 1).count();
        if used + gap + chars > chars_max {
            break;
        }
        if gap == 1 {
            out.push(' ');
        }
        out.push_str(sentence);
        used += gap + chars;
    }
    out
}

/// Returns the text with a capital first letter, unless its first word is code, a name with a digit or sign, or mixed.
pub(crate) fn capitalize(text: &str) -> String {
    let word = text.split([' ', ',', ':']).next().unwrap_or_default();
    let is_plain = word
        .chars()
        .all(|c| c.is_lowercase() || matches!(c, '\'' | '’'));
    let mut chars = text.chars();
    match chars.next() {
        Some(first) if is_plain => first.to_uppercase().chain(chars).collect(),
        _ => text.to_owned(),
    }
}
