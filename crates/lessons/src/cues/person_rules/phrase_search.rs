//! Search of phrases in a sentence by a sorted table.

use super::word_match::{is_joined, is_word_char};
use std::ops::Range;

/// Phrase of a cue in the sorted table.
#[derive(Debug)]
pub(super) struct Phrase {
    /// Text in the form of [`normalize`](super::normalize).
    pub(super) text: &'static str,
    /// Index of its cue.
    pub(super) cue: usize,
    /// Index of the longest other phrase with which it begins.
    pub(super) beginning: Option<usize>,
}

/// Finds all phrases of the table that begin at the beginning of a word of a normalized sentence, and returns the cue
/// and the range of each, in order of their ends.
pub(super) fn find_phrases(table: &[Phrase], sentence: &str) -> Vec<(usize, Range<usize>)> {
    let mut found = Vec::new();
    let mut previous = ' ';
    for (start, c) in sentence.char_indices() {
        let is_inside = is_word_char(c) && is_joined(previous);
        previous = c;
        if is_inside || c == ' ' {
            continue;
        }
        let rest = sentence.get(start..).unwrap_or_default();
        // Each phrase with which the rest begins is a beginning of the last phrase that is not behind the rest.
        let behind = table.partition_point(|phrase| phrase.text <= rest);
        let mut next = behind.checked_sub(1);
        while let Some(phrase) = next.and_then(|index| table.get(index)) {
            if rest.starts_with(phrase.text) {
                found.push((phrase.cue, start..start + phrase.text.len()));
            }
            next = phrase.beginning;
        }
    }
    found.sort_by_key(|(cue, span)| (span.end, span.start, *cue));
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overlapping_phrases_are_found_at_beginnings_of_words() {
        let phrase = |text, cue, beginning| Phrase {
            text,
            cue,
            beginning,
        };
        let table = [
            phrase("run", 0, None),
            phrase("run", 1, Some(0)),
            phrase("run all", 2, Some(1)),
            phrase("run always", 3, Some(1)),
            phrase("tests", 4, None),
            phrase("今後", 5, None),
        ];
        let found = |text: &'static str| -> Vec<(usize, &str)> {
            let found = find_phrases(&table, text).into_iter();
            found.map(|(cue, span)| (cue, &text[span])).collect()
        };
        let all = [(0, "run"), (1, "run"), (2, "run all"), (4, "tests")];
        assert_eq!(found("run all tests"), all);
        assert_eq!(found("rerun retests"), []);
        assert_eq!(found("run alway"), [(0, "run"), (1, "run")]);
        assert_eq!(found("で今後"), [(5, "今後")]);
        assert_eq!(found(""), []);
    }
}
