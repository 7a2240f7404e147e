//! Forms of words that show what a sentence is about: paths, code spans, plurals and verbs.

use super::WordForm;
use std::ops::Range;

/// Greatest number of such words of a sentence.
const FORMS_MAX: usize = 16;
/// Greatest number of letters of a file name's extension.
const EXTENSION_MAX: usize = 5;
/// Pairs of words with a slash that are no paths.
const ALTERNATIVES: [&str; 14] = [
    "and/or",
    "async/await",
    "client/server",
    "either/or",
    "if/else",
    "i/o",
    "input/output",
    "on/off",
    "read/write",
    "s/he",
    "true/false",
    "try/catch",
    "try/except",
    "yes/no",
];

/// Returns the paths, code spans and plurals of a normalized sentence whose code is masked.
pub(super) fn word_forms(sentence: &str) -> impl Iterator<Item = (WordForm, Range<usize>)> {
    sentence
        .split([' ', ',', '(', ')', '"', '，', '、', '。'])
        .filter_map(move |word| {
            let form = form_of(word)?;
            let start = word.as_ptr().addr() - sentence.as_ptr().addr();
            Some((form, start..start + word.len()))
        })
        .take(FORMS_MAX)
}

fn form_of(word: &str) -> Option<WordForm> {
    if word.starts_with('`') && word.len() > 2 {
        return Some(WordForm::Code);
    }
    let word = word.trim_end_matches(['.', ':', ';', '!', '?']);
    let is_path = match word.split_once('/') {
        Some((head, tail)) => {
            word.len() > 2
                && !head.ends_with(':')
                && !tail.starts_with('/')
                && !ALTERNATIVES.contains(&word)
                && word.contains(|c: char| c.is_ascii_alphabetic())
        }
        None => has_extension(word) || word.starts_with("*."),
    };
    if is_path {
        return Some(WordForm::Path);
    }
    is_plural(word).then_some(WordForm::Plural)
}

/// Returns true for an English noun in the plural, as far as the last letters show it.
fn is_plural(word: &str) -> bool {
    word.len() > 3
        && word.ends_with('s')
        && !["ss", "us", "is", "'s"]
            .iter()
            .any(|end| word.ends_with(end))
        && word
            .bytes()
            .all(|byte| byte.is_ascii_lowercase() || byte == b'-')
}

/// Returns true if the text begins with a word that can be an English verb in its basic form.
pub(super) fn is_basic_form(text: &str) -> bool {
    let word = text.split([' ', ',', '.', ':', ';', '!']).next();
    let word = word.unwrap_or_default();
    let is_inflected = ["s", "ed", "ing"].iter().any(|end| word.ends_with(end))
        && !["ss", "eed", "ring", "bed"]
            .iter()
            .any(|end| word.ends_with(end));
    word.len() > 1
        && !is_inflected
        && word
            .bytes()
            .all(|byte| byte.is_ascii_lowercase() || byte == b'-')
}

/// Returns true for a name such as `types.ts` or `.env`.
fn has_extension(word: &str) -> bool {
    let Some((stem, extension)) = word.rsplit_once('.') else {
        return false;
    };
    (1..=EXTENSION_MAX).contains(&extension.len())
        && extension.bytes().all(|byte| byte.is_ascii_alphanumeric())
        && extension.bytes().any(|byte| byte.is_ascii_alphabetic())
        && (stem.is_empty() || stem.ends_with(|c: char| c.is_alphanumeric() || c == '*'))
        && !matches!(word, "e.g" | "i.e" | "z.b" | "d.h" | "p.ej" | "p.ex")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_and_code_spans_are_found() {
        let sentence = "put tests in spec/, not in a/b.ts or `\u{1a}\u{1a}`; see https://x.y/z and yes/no, e.g. now. *.rb or .env";
        let found: Vec<&str> = word_forms(sentence)
            .filter(|(form, _)| *form != WordForm::Plural)
            .filter_map(|(_, span)| sentence.get(span))
            .collect();
        assert_eq!(
            found,
            ["spec/", "a/b.ts", "`\u{1a}\u{1a}`;", "*.rb", ".env"]
        );
    }

    #[test]
    fn plurals_and_verbs_are_recognized() {
        for word in ["mocks", "one-liners"] {
            assert!(is_plural(word), "{word}");
        }
        for word in ["class", "this", "bus", "it's", "x1s"] {
            assert!(!is_plural(word), "{word}");
        }
        for text in ["use it", "auto-format all", "pass it", "embed it"] {
            assert!(is_basic_form(text), "{text}");
        }
        for text in ["returns null", "used", "getting", "8080"] {
            assert!(!is_basic_form(text), "{text}");
        }
    }
}
