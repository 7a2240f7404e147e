//! The words of a text that carry what it says, for comparing texts.

/// Words that say nothing by themselves. Negations, limits and orders in time are not among them.
const EMPTY: [&str; 44] = [
    "a", "an", "and", "are", "as", "at", "be", "been", "being", "by", "can", "could", "did", "do",
    "does", "for", "from", "had", "has", "have", "he", "her", "his", "in", "is", "it", "its", "of",
    "on", "our", "she", "that", "the", "their", "there", "these", "they", "this", "those", "to",
    "was", "we", "were", "with",
];

/// The words in order: small letters, no punctuation around them, without those that say nothing.
///
/// What stands inside a word stays: `don't`, `a.b`, `x_y`, `src/a.rs`, `-1`, `c++`.
pub(super) fn words(text: &str) -> Vec<String> {
    let mut out = Vec::new();
    for word in
        text.split(|c: char| c.is_whitespace() || matches!(c, ',' | ';' | '(' | ')' | '"' | '`'))
    {
        let word = trimmed(word);
        if word.is_empty() {
            continue;
        }
        // Capitals inside a word are a part of an identifier; those at its beginning may begin a sentence.
        let word = if is_name(word) {
            word.to_owned()
        } else {
            word.to_lowercase()
        };
        if !EMPTY.contains(&word.as_str()) {
            out.push(word);
        }
    }
    out
}

/// Without the punctuation that ends or opens a clause.
fn trimmed(word: &str) -> &str {
    let word = word.trim_end_matches(['.', ':', '!', '?', '…', '\'', '’', ']', '}', '*']);
    let word = word.trim_start_matches(['\'', '‘', '[', '{', '*']);
    if word.chars().any(char::is_alphanumeric) {
        word
    } else {
        ""
    }
}

/// Whether the case of the word means something: `parseHeader`, `MAX_SIZE`, `src/Main.rs`.
fn is_name(word: &str) -> bool {
    let inside = word.chars().skip(1).any(char::is_uppercase);
    let shouted = !word.chars().any(char::is_lowercase);
    (inside && !shouted) || word.contains(['_', '/', '.', ':', '\\'])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_that_say_something() {
        for (text, expected) in [
            ("Use the tabs, not spaces.", "use tabs not spaces"),
            ("Don't open `src/a.rs:42`!", "don't open src/a.rs:42"),
            (
                "set X_Y to -1 (see parseHeader)",
                "set X_Y -1 see parseHeader",
            ),
            ("... -- !!", ""),
            ("", ""),
        ] {
            assert_eq!(words(text).join(" "), expected, "{text}");
        }
    }
}
