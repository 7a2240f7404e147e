//! Words of a query: which of them a text has, and a text with them marked.

use crate::page::view::{Html, escape, render_text};
use heirloom_model::text;
use heirloom_search::index::tokenizer::{self, QueryTerms, Term};
use std::collections::HashSet;

/// Maximum number of words that are shown.
const WORDS_MAX: usize = 24;
/// Maximum number of characters of a marked text.
const SHOWN_CHARS: usize = 420;

/// Words of a query without stop words, with the terms by which recall searches them.
#[derive(Debug, Default)]
pub(super) struct QueryWords {
    words: Vec<QueryWord>,
    terms: HashSet<Term>,
}

/// Word of a query.
#[derive(Debug)]
struct QueryWord {
    shown: String,
    terms: Vec<Term>,
}

impl QueryWords {
    /// Analyses the words of a query as recall does.
    pub(super) fn of(question: &str) -> Self {
        let terms: HashSet<Term> = QueryTerms::of(question).terms.into_iter().collect();
        let stems = tokenizer::stems(question);
        let mut words: Vec<QueryWord> = Vec::new();
        for (start, word) in words_in(question) {
            let inside = stems
                .iter()
                .filter(|stem| !stem.is_extra && (start..start + word.len()).contains(&stem.at));
            let own: Vec<Term> = inside
                .map(|stem| stem.term)
                .filter(|term| terms.contains(term))
                .collect();
            let is_known = words.iter().any(|known| known.terms == own);
            if !own.is_empty() && !is_known && words.len() < WORDS_MAX {
                words.push(QueryWord {
                    shown: text::replace_control_chars(&word.to_lowercase()),
                    terms: own,
                });
            }
        }
        Self { words, terms }
    }

    /// Returns the number of words.
    pub(super) fn len(&self) -> usize {
        self.words.len()
    }

    /// Returns the words for people.
    pub(super) fn shown(&self) -> Vec<&str> {
        self.words.iter().map(|word| word.shown.as_str()).collect()
    }

    /// Returns the words that a text or a key has.
    pub(super) fn found_in(&self, words: &str, key: &str) -> Vec<&str> {
        let stems = tokenizer::stems(words).into_iter();
        let own: HashSet<Term> = stems
            .chain(tokenizer::stems(key))
            .map(|stem| stem.term)
            .collect();
        let is_found = |word: &&QueryWord| word.terms.iter().any(|term| own.contains(term));
        let found = self.words.iter().filter(is_found);
        found.map(|word| word.shown.as_str()).collect()
    }

    /// Renders the beginning of a text; words whose stem is in the query are marked as a whole.
    pub(super) fn mark(&self, said_text: &str) -> Html {
        let shown = text::replace_control_chars(&text::excerpt(said_text, SHOWN_CHARS));
        if self.terms.is_empty() {
            return render_text(&shown);
        }
        let hits: Vec<usize> = tokenizer::stems(&shown)
            .into_iter()
            .filter(|stem| !stem.is_extra && self.terms.contains(&stem.term))
            .map(|stem| stem.at)
            .collect();
        let mut out = String::new();
        let mut done = 0;
        for (start, word) in words_in(&shown) {
            let end = start + word.len();
            push_plain(shown.get(done..start).unwrap_or_default(), &mut out);
            let is_hit = hits.iter().any(|at| (start..end).contains(at));
            if is_hit {
                out.push_str("<mark>");
            }
            escape(word, &mut out);
            if is_hit {
                out.push_str("</mark>");
            }
            done = end;
        }
        push_plain(shown.get(done..).unwrap_or_default(), &mut out);
        Html::from_markup(out)
    }
}

/// Appends the characters between two words; backticks are left out.
fn push_plain(between: &str, out: &mut String) {
    escape(&between.replace('`', ""), out);
}

/// Returns the runs of letters and digits in a text, with their positions.
fn words_in(words: &str) -> Vec<(usize, &str)> {
    let is_between = |c: char| !c.is_alphanumeric();
    let mut found = Vec::new();
    let mut at = 0;
    for piece in words.split_inclusive(is_between) {
        let word = piece.trim_end_matches(is_between);
        if !word.is_empty() {
            found.push((at, word));
        }
        at += piece.len();
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_a_query_have_no_stop_words() {
        let words = QueryWords::of("Why does the test-db fail, and which tests?");
        assert_eq!(words.shown(), ["test", "db", "fail"]);
        assert_eq!(QueryWords::of("the or").shown(), ["the", "or"]);
    }

    #[test]
    fn mark_marks_whole_words_and_escapes_markup() {
        let words = QueryWords::of("deliver data <b> the");
        let out = words
            .mark("It delivered the `database` <b>data</b>")
            .to_string();
        assert_eq!(
            out,
            "It <mark>delivered</mark> the database &lt;<mark>b</mark>&gt;<mark>data</mark>&lt;/<mark>b</mark>&gt;"
        );
        assert_eq!(QueryWords::of("").mark("a <i>").to_string(), "a &lt;i&gt;");
    }

    #[test]
    fn found_words_are_those_of_text_and_key() {
        let words = QueryWords::of("which port has the test database?");
        assert_eq!(
            words.found_in("Ports of databases", "a"),
            ["port", "database"]
        );
        assert_eq!(words.found_in("dataset", "test-db-port"), ["port", "test"]);
    }
}
