//! From headings to a category and a key.

use heirloom_model::kinds::{
    CATEGORY_CONVENTION, CATEGORY_DECISION, CATEGORY_FACT, CATEGORY_LEARNING,
};
use heirloom_model::text;

/// Longest category, characters: it fits a name whatever alphabet it is in.
const CATEGORY_CHARS: usize = 50;
/// Longest part of a key, characters.
const WORD_CHARS: usize = 80;
/// Longest key, characters: it fits a key whatever alphabet it is in.
pub(super) const KEY_CHARS: usize = 250;

/// The category that a heading names, if it is one of Heirloom's.
fn known(heading: &str) -> Option<&'static str> {
    let word = heading.strip_prefix("key ").unwrap_or(heading);
    Some(match word {
        "fact" | "facts" => CATEGORY_FACT,
        "decision" | "decisions" => CATEGORY_DECISION,
        "convention" | "conventions" => CATEGORY_CONVENTION,
        "learning" | "learnings" => CATEGORY_LEARNING,
        "architecture" => "architecture",
        _ => return None,
    })
}

/// The category of what stands below these headings: one of Heirloom's that the deepest heading names, else `page`,
/// what the whole page is about, else the last heading.
pub(super) fn category_below(path: &[String], page: Option<&str>) -> String {
    let words: Vec<_> = path.iter().map(|heading| key_word(heading)).collect();
    if let Some(known) = words.iter().rev().find_map(|word| known(word)) {
        return known.to_owned();
    }
    let last = words.iter().rev().find(|word| !word.is_empty());
    let named = page.or(last.map(String::as_str)).map(category);
    named.unwrap_or_else(|| CATEGORY_FACT.to_owned())
}

/// A heading or a name as a part of a key.
pub(super) fn key_word(said: &str) -> String {
    let line = text::normal(&text::one_line(said));
    text::clip(&line, WORD_CHARS).trim_end().to_owned()
}

/// The category and the parts of the key of what stands below these headings, the outermost first.
pub(super) fn place(path: &[String]) -> (String, Vec<String>) {
    let words: Vec<_> = path.iter().map(|heading| key_word(heading)).collect();
    let words: Vec<_> = words.into_iter().filter(|word| !word.is_empty()).collect();
    if let Some(at) = words.iter().rposition(|word| known(word).is_some()) {
        let category = known(&words[at]).unwrap_or(CATEGORY_FACT);
        return (category.to_owned(), words[at + 1..].to_vec());
    }
    match words.as_slice() {
        [] => (CATEGORY_FACT.to_owned(), Vec::new()),
        [one] => (category(one), Vec::new()),
        [.., above, last] => (category(above), vec![last.clone()]),
    }
}

fn category(word: &str) -> String {
    text::clip(word, CATEGORY_CHARS).trim_end().to_owned()
}
