//! Category and key of headings.

use heirloom_model::kinds::{
    CATEGORY_CONVENTION, CATEGORY_DECISION, CATEGORY_FACT, CATEGORY_LEARNING,
};
use heirloom_model::text;

/// Maximum length of a category in characters; it fits a name in any alphabet.
const CATEGORY_CHARS: usize = 50;
/// Maximum length of a part of a key in characters.
const WORD_CHARS: usize = 80;
/// Maximum length of a key in characters; it fits the limit in any alphabet.
pub(super) const KEY_CHARS: usize = 250;

/// Returns the category of Heirloom that a heading names, if it does.
fn known_category(heading: &str) -> Option<&'static str> {
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

/// Returns the category of a rule below these headings: a category of Heirloom that the deepest heading names, else
/// `page`, the subject of the whole page, else the last heading, unless it is the title of the page; else convention.
pub(super) fn category_of_rule(path: &[String], has_title: bool, page: Option<&str>) -> String {
    let words: Vec<_> = path.iter().map(|heading| key_part(heading)).collect();
    if let Some(known) = words.iter().rev().find_map(|word| known_category(word)) {
        return known.to_owned();
    }
    let below_title = words.iter().skip(usize::from(has_title));
    let last = below_title.rev().find(|word| !word.is_empty());
    let named = page.or(last.map(String::as_str)).map(category);
    named.unwrap_or_else(|| CATEGORY_CONVENTION.to_owned())
}

/// Normalises a heading or a name as a part of a key.
pub(super) fn key_part(heading_text: &str) -> String {
    let line = text::normalize(&text::one_line(heading_text));
    text::clip(&line, WORD_CHARS).trim_end().to_owned()
}

/// Returns the category and the parts of the key of text below these headings, the outermost first.
pub(super) fn category_and_key(path: &[String]) -> (String, Vec<String>) {
    let words: Vec<_> = path.iter().map(|heading| key_part(heading)).collect();
    let words: Vec<_> = words.into_iter().filter(|word| !word.is_empty()).collect();
    if let Some(at) = words
        .iter()
        .rposition(|word| known_category(word).is_some())
    {
        let category = known_category(&words[at]).unwrap_or(CATEGORY_FACT);
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
