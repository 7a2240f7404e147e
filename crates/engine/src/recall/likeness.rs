//! Whether two texts say the same.

use super::content;

/// Least share of the longer text's words that the shorter one has, for the two to be near-duplicates.
const SHARE_MIN: f64 = 0.75;

/// Words that turn, limit or order what a text says.
const TURNING: [&str; 29] = [
    "not",
    "no",
    "never",
    "none",
    "nobody",
    "nothing",
    "nor",
    "neither",
    "without",
    "except",
    "unless",
    "only",
    "before",
    "after",
    "until",
    "instead",
    "but",
    "always",
    "sometimes",
    "optional",
    "must",
    "may",
    "should",
    "cannot",
    "can't",
    "won't",
    "don't",
    "doesn't",
    "isn't",
];

/// The words of a text, ready to be compared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Said {
    words: Vec<String>,
}

impl Said {
    /// What `text` says.
    pub fn of(text: &str) -> Self {
        Self {
            words: content::words(text),
        }
    }

    /// Its words, in order.
    pub fn words(&self) -> &[String] {
        &self.words
    }

    /// Whether the two say the same in nearly the same words.
    ///
    /// Every word of the one stands in the other, in the same order, and what the other has more is little
    /// and carries no substance: no number, identifier, path or negation. So a word in the place of another
    /// always makes a difference, and so does their order.
    pub fn is_like(&self, other: &Self) -> bool {
        let (short, long) = if self.words.len() <= other.words.len() {
            (&self.words, &other.words)
        } else {
            (&other.words, &self.words)
        };
        #[expect(clippy::cast_precision_loss, reason = "counts of words")]
        let share = short.len() as f64 / (long.len() as f64).max(1.0);
        if short.is_empty() || share < SHARE_MIN {
            return false;
        }
        let mut wanted = short.iter().peekable();
        for word in long {
            if wanted.peek() == Some(&word) {
                wanted.next();
            } else if has_substance(word) {
                return false;
            }
        }
        wanted.peek().is_none()
    }

    /// The share of the words of both that both have, from 0 to 1, wherever they stand.
    pub fn overlap(&self, other: &Self) -> f64 {
        let set = |said: &Self| -> std::collections::BTreeSet<String> {
            said.words.iter().cloned().collect()
        };
        let (mine, theirs) = (set(self), set(other));
        let both = mine.intersection(&theirs).count();
        let any = mine.len() + theirs.len() - both;
        #[expect(clippy::cast_precision_loss, reason = "counts of words")]
        let share = both as f64 / any.max(1) as f64;
        share
    }

    /// The share of its own words that `other` has, from 0 to 1.
    pub fn share_in(&self, other: &Self) -> f64 {
        let theirs: std::collections::BTreeSet<&String> = other.words.iter().collect();
        let both = self
            .words
            .iter()
            .filter(|word| theirs.contains(word))
            .count();
        #[expect(clippy::cast_precision_loss, reason = "counts of words")]
        let share = both as f64 / self.words.len().max(1) as f64;
        share
    }
}

/// Whether two texts are near-duplicates: [`Said::is_like`].
pub fn alike(one: &str, other: &str) -> bool {
    Said::of(one).is_like(&Said::of(other))
}

/// Whether a word may not come or go without changing what a text says.
fn has_substance(word: &str) -> bool {
    let odd = |c: char| c.is_numeric() || c.is_uppercase() || !(c.is_alphanumeric() || c == '-');
    TURNING.contains(&word) || word.ends_with("n't") || word.chars().any(odd)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_duplicates() {
        for (one, other) in [
            ("Run the tests.", "run tests"),
            (
                "the tests need a running Redis",
                "The tests need Redis running",
            ),
            (
                "the tests need Redis to be there",
                "The tests really need Redis to be there!",
            ),
        ] {
            let expected = !one.contains("running");
            assert_eq!(alike(one, other), expected, "{one} / {other}");
            assert_eq!(alike(other, one), expected, "{other} / {one}");
        }
    }

    #[test]
    fn a_difference_in_substance_is_one() {
        for (one, other) in [
            (
                "the port of the server is 8080",
                "the port of the server is 8081",
            ),
            (
                "the port of the server is",
                "the port of the server is 8080",
            ),
            (
                "open the file src/a.rs first thing",
                "open the file src/b.rs first thing",
            ),
            (
                "call parseHeader at the very end",
                "call parseheader at the very end",
            ),
            (
                "use tabs not spaces here please",
                "use spaces not tabs here please",
            ),
            (
                "do commit the lock file every time",
                "do not commit the lock file every time",
            ),
            (
                "it works well on Linux today",
                "it doesn't work well on Linux today",
            ),
            (
                "deploy works with the new key",
                "deploy works only with the new key",
            ),
            (
                "set max_size in the config file",
                "set min_size in the config file",
            ),
            (
                "enable the cache of the server",
                "disable the cache of the server",
            ),
            ("alpha beta", "alpha"),
            ("", ""),
            ("…", "…"),
        ] {
            assert!(!alike(one, other), "{one} / {other}");
            assert!(!alike(other, one), "{other} / {one}");
        }
    }

    #[test]
    fn shares() {
        let (one, other) = (
            Said::of("alpha beta gamma"),
            Said::of("beta alpha delta epsilon"),
        );
        assert!((one.overlap(&other) - 0.4).abs() < 1e-9);
        assert!((one.share_in(&other) - 2.0 / 3.0).abs() < 1e-9);
        assert!(Said::of("").overlap(&Said::of("")).abs() < 1e-9);
    }

    proptest::proptest! {
        #[test]
        fn likeness_is_mutual(one in "([a-c] |not |1 |x_y ){0,6}", other in "([a-c] |not |1 |x_y ){0,6}") {
            assert_eq!(alike(&one, &other), alike(&other, &one));
            assert!(one.trim().is_empty() || Said::of(&one).words().is_empty() || alike(&one, &one));
        }

        #[test]
        fn any_text_can_be_compared(one in "\\PC{0,40}", other in "\\PC{0,40}") {
            let (one, other) = (Said::of(&one), Said::of(&other));
            assert_eq!(one.is_like(&other), other.is_like(&one));
            assert!((0.0..=1.0).contains(&one.overlap(&other)));
        }
    }
}
