//! Phrases: lists of words and word groups that are searched at word boundaries.

use serde::Deserialize;

/// List of phrases in lower case. A phrase that begins or ends with `*` continues a word there.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(transparent)]
pub(crate) struct Phrases(Vec<String>);

impl Phrases {
    /// Returns true if a phrase occurs in the text, which is in lower case.
    pub(crate) fn is_in(&self, lower: &str) -> bool {
        self.0
            .iter()
            .any(|phrase| find_phrase(lower, phrase).is_some())
    }

    /// Returns the text after the longest phrase with which it begins; the text is in lower case.
    pub(crate) fn skip<'t>(&self, lower: &'t str) -> Option<&'t str> {
        let fits = self.0.iter().filter(|phrase| begins_with(lower, phrase));
        let length = fits
            .map(|phrase| phrase.trim_end_matches('*').len())
            .max()?;
        lower.get(length..)
    }

    /// Returns the number of different phrases in the text, which is in lower case.
    pub(crate) fn count_in(&self, lower: &str) -> usize {
        let found = self
            .0
            .iter()
            .filter(|phrase| find_phrase(lower, phrase).is_some());
        found.count()
    }

    /// Returns true if the text, which is in lower case, begins with a phrase.
    pub(crate) fn begins(&self, lower: &str) -> bool {
        self.0.iter().any(|phrase| begins_with(lower, phrase))
    }

    /// Returns true if the text, which is in lower case, is one of the phrases.
    pub(crate) fn contains(&self, lower: &str) -> bool {
        self.0.iter().any(|phrase| phrase == lower)
    }
}

fn begins_with(lower: &str, phrase: &str) -> bool {
    let open = phrase.strip_suffix('*');
    match lower.strip_prefix(open.unwrap_or(phrase)) {
        Some(after) => open.is_some() || !after.starts_with(is_word_char),
        None => false,
    }
}

/// Returns the offset of the first occurrence of a phrase at word boundaries.
fn find_phrase(lower: &str, phrase: &str) -> Option<usize> {
    let (phrase, starts_inside) = match phrase.strip_prefix('*') {
        Some(rest) => (rest, true),
        None => (phrase, false),
    };
    let word = phrase.strip_suffix('*').unwrap_or(phrase);
    if word.is_empty() {
        return None;
    }
    lower.match_indices(word).map(|(at, _)| at).find(|at| {
        let before = lower.get(..*at).and_then(|head| head.chars().next_back());
        let is_start =
            starts_inside || !word.starts_with(is_word_char) || !before.is_some_and(is_word_char);
        is_start && begins_with(lower.get(*at..).unwrap_or_default(), phrase)
    })
}

fn is_word_char(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

#[cfg(test)]
mod tests {
    use super::*;

    fn phrases(all: &[&str]) -> Phrases {
        Phrases(all.iter().map(|one| (*one).to_owned()).collect())
    }

    #[test]
    fn phrases_match_at_word_boundaries() {
        for (phrase, text, is_found) in [
            ("only", "use it only here", true),
            ("only", "commonly used", false),
            ("prefer*", "it prefers x", true),
            ("prefer", "it prefers x", false),
            ("*compat*", "backward-incompatible", true),
            ("do not", "we do not", true),
            ("->", "a -> b", true),
            ("", "a", false),
            ("*", "a", false),
            ("only", "commonly, only", true),
        ] {
            assert_eq!(
                phrases(&[phrase]).is_in(text),
                is_found,
                "{phrase} in {text}"
            );
        }
        assert_eq!(phrases(&["a", "b", "a"]).count_in("b"), 1);
        assert!(phrases(&["let me"]).begins("let me see"));
        assert!(!phrases(&["let me"]).begins("let mean"));
        assert!(phrases(&["x"]).contains("x") && !phrases(&["x"]).contains("xx"));
    }
}
