//! Doc comments that begin with a question word.
//!
//! The first sentence of a doc comment begins with a verb ("Returns", "Writes") for a function, and with a noun phrase
//! for a type or a module.

use super::prose::Line;

/// First words that ask instead of naming the subject.
const QUESTION_WORDS: [&str; 10] = [
    "What", "Whether", "How", "Who", "Whoever", "Whose", "Where", "When", "Which", "Why",
];

/// Returns the question word at the start of a doc comment.
pub(super) fn question_word(line: &Line) -> Option<&'static str> {
    if !line.opens_doc {
        return None;
    }
    let is_letter = |c: char| c.is_alphanumeric() || c == '_';
    let first = line.text.split(|c| !is_letter(c)).next()?;
    QUESTION_WORDS.into_iter().find(|word| *word == first)
}

#[cfg(test)]
mod tests {
    use super::super::prose::lines;
    use super::*;

    #[test]
    fn question_words_are_found_only_at_the_start_of_a_doc_comment() {
        for (text, expected) in [
            ("/// Whether it is open.", Some("Whether")),
            ("//! What a file holds.", Some("What")),
            ("/// How's that.", Some("How")),
            ("/// Returns what it holds.", None),
            ("// What this is for.", None),
            ("/// However it ends.", None),
            ("/// `What` as a name.", None),
        ] {
            let found = question_word(&lines("a.rs", text)[0]);
            assert_eq!(found, expected, "{text}");
        }
        let second = lines("a.rs", "/// Reads a file.\n/// What it holds is kept.");
        assert_eq!(question_word(&second[1]), None);
    }
}
