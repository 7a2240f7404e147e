//! Command lines in tests: one text instead of one literal for each argument.

/// Splits a command line at blanks; a word in `'…'` or `"…"` may contain blanks or be empty.
///
/// Only whole words are quoted, and there are no escapes, so that words are slices of the line.
///
/// # Panics
///
/// A quotation has no end, or the text after it does not begin with a blank.
///
/// ```
/// use heirloom_testkit::sh;
/// assert_eq!(sh("recall 'two words' --json"), ["recall", "two words", "--json"]);
/// ```
#[must_use]
#[track_caller]
pub fn sh(line: &str) -> Vec<&str> {
    let mut words = Vec::new();
    let mut rest = line.trim_start();
    while let Some(first) = rest.chars().next() {
        let (word, after) = match first {
            '\'' | '"' => rest[1..]
                .split_once(first)
                .unwrap_or_else(|| panic!("a quotation without an end: {rest}")),
            _ => rest.split_at(rest.find(char::is_whitespace).unwrap_or(rest.len())),
        };
        assert!(
            after.is_empty() || after.starts_with(char::is_whitespace),
            "only whole words are quoted: {rest}"
        );
        words.push(word);
        rest = after.trim_start();
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_split_at_blanks_outside_of_quotations() {
        for (line, words) in [
            ("", &[][..]),
            ("  list \n --json ", &["list", "--json"]),
            ("a 'b  c' \"it's\" ''", &["a", "b  c", "it's", ""]),
            ("a=b'c don't", &["a=b'c", "don't"]),
        ] {
            assert_eq!(sh(line), words, "{line}");
        }
    }

    #[test]
    #[should_panic(expected = "a quotation without an end")]
    fn unclosed_quotation_fails() {
        let _ = sh("a 'b c");
    }

    #[test]
    #[should_panic(expected = "only whole words are quoted")]
    fn partly_quoted_word_fails() {
        let _ = sh("'a'b");
    }
}
