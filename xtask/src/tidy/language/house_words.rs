//! House words: words and metaphors of this project with a plain word of the field.

use std::collections::HashMap;
use std::sync::LazyLock;

/// A house word, and what to write instead.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct HouseWord {
    /// The phrase as the list has it.
    pub(super) phrase: &'static str,
    /// A suggestion.
    pub(super) instead: &'static str,
}

/// Every house word in lower case; `|` separates the forms of one word.
const PHRASES: [(&str, &str); 32] = [
    ("stand|stands", "`is`, `means`, or the exact verb"),
    ("lies", "`is`"),
    ("anew", "`again`, `from the start`"),
    ("so many|so much|so often", "the number or its name"),
    (
        "somebody|nobody|whoever",
        "the subject: a user, an agent, a caller",
    ),
    ("beside", "`next to`, `with`, `in addition to`"),
    (
        "is none|are none",
        "`does not exist`, `is missing`, `is not a …`",
    ),
    ("taken back|takes back|take back", "`undone`, `reverted`"),
    ("brings back|bring back", "`restores`"),
    ("text says|texts say|text said|text tells", "`contains`"),
    ("file says|files say|file said|file tells", "`contains`"),
    (
        "record says|records say|record said|record tells",
        "`contains`",
    ),
    ("store says|stores say|store said|store tells", "`returns`"),
    ("line says|lines say|line said|line tells", "`contains`"),
    ("field says|fields say|field said|field tells", "`contains`"),
    ("key says|keys say|key said|key tells", "`names`"),
    ("value says|values say|value said|value tells", "`means`"),
    ("name says|names say|name said|name tells", "`means`"),
    (
        "it says|it said|it tells|it told",
        "`it contains`, `it reports`",
    ),
    (
        "that says|that said|that tells|that told",
        "`with`, `that contains`",
    ),
    ("which says|which said|which tells|which told", "`with`"),
    ("is asked|are asked|was asked", "`is called`, `is queried`"),
    ("asked again|asks once", "`called again`, `queried once`"),
    ("manieth", "`nth`"),
    ("in one's place|of one's own", "the subject by its name"),
    ("is waited for", "`blocks`, `is awaited`"),
    ("put off", "`deferred`"),
    ("its like|the like of", "`similar …`"),
    ("room|rooms", "`module`; `space` in a budget"),
    ("house", "`project`, `architecture`"),
    ("door", "`redacting store`"),
    ("wall|walls", "`dependency rule`, `boundary`"),
];

/// Terms of the field that begin with a house word, by their first two words.
const EXEMPT: [(&str, &str); 5] = [
    ("wall", "clock"),
    ("wall", "time"),
    ("house", "style"),
    ("house", "word"),
    ("house", "words"),
];

/// The words of one phrase after its first, and the phrase.
type Rest = (Vec<&'static str>, HouseWord);

/// The phrases by their first word.
static BY_FIRST_WORD: LazyLock<HashMap<&str, Vec<Rest>>> = LazyLock::new(|| {
    let mut phrases: HashMap<&str, Vec<Rest>> = HashMap::new();
    for (forms, instead) in PHRASES {
        for phrase in forms.split('|') {
            let mut words = phrase.split(' ');
            let first = words.next().unwrap_or_default();
            let rest = (words.collect(), HouseWord { phrase, instead });
            phrases.entry(first).or_default().push(rest);
        }
    }
    phrases
});

/// Returns every house word of a line, in order.
pub(super) fn house_words(text: &str) -> Vec<HouseWord> {
    let words = text.split(|c: char| !c.is_alphanumeric() && c != '\'');
    let words: Vec<String> = words
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .collect();
    let mut found = Vec::new();
    for (at, word) in words.iter().enumerate() {
        let rest = words.get(at + 1..).unwrap_or_default();
        let next = rest.first().map_or("", String::as_str);
        if EXEMPT.contains(&(word.as_str(), next)) {
            continue;
        }
        let phrases = BY_FIRST_WORD.get(word.as_str()).into_iter().flatten();
        let here = phrases.filter(|(more, _)| more.iter().eq(rest.iter().take(more.len())));
        found.extend(here.map(|(_, word)| *word));
    }
    found
}

/// The number of words in a line.
pub(super) fn count(text: &str) -> usize {
    text.split_whitespace().count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn phrases(text: &str) -> Vec<&'static str> {
        house_words(text).iter().map(|word| word.phrase).collect()
    }

    #[test]
    fn house_words_are_found_as_whole_words() {
        for (text, expected) in [
            ("It stands beside the file.", vec!["stands", "beside"]),
            ("Standing besides understands", vec![]),
            ("Nobody; whoever", vec!["nobody", "whoever"]),
            ("a file says so, is asked.", vec!["file says", "is asked"]),
            ("The user says so", vec![]),
            ("beside beside", vec!["beside", "beside"]),
            ("measured by the wall clock and wall-clock time", vec![]),
            ("the wall, the clock", vec!["wall"]),
            ("", vec![]),
        ] {
            assert_eq!(phrases(text), expected, "{text}");
        }
    }

    #[test]
    fn every_house_word_is_found_by_its_own_phrase() {
        for (forms, instead) in PHRASES {
            for phrase in forms.split('|') {
                let found = house_words(phrase);
                assert!(found.iter().any(|word| word.phrase == phrase), "{phrase}");
                assert!(!instead.is_empty());
            }
        }
    }
}
