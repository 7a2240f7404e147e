//! Turns that are no answer by themselves: acknowledgements, narration, calls of tools and their output.

use super::recall_item::RecallItem;
use heirloom_model::{Message, Role};

/// Maximum number of words of a turn that is only an acknowledgement.
const ACKNOWLEDGEMENT_WORDS_MAX: usize = 5;

/// Returns true for items that are no answer by themselves: calls of tools and their output, acknowledgements such as
/// `Done.`, and what an agent says that it does next.
pub fn is_no_answer(item: &RecallItem) -> bool {
    match item {
        RecallItem::Record(_) => false,
        RecallItem::Turn { message, .. } => {
            matches!(message.role, Role::ToolCall | Role::ToolResult)
                || is_acknowledgement(message)
                || is_narration(message)
        }
    }
}

/// Returns true for a turn of a few words that only agree, refuse, thank or ask to go on.
fn is_acknowledgement(message: &Message) -> bool {
    let mut words = (message.text.split(|c: char| !c.is_alphanumeric()))
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase);
    let is_known = words
        .by_ref()
        .take(ACKNOWLEDGEMENT_WORDS_MAX)
        .all(|word| ACKNOWLEDGEMENTS.contains(&word.as_str()));
    is_known && words.next().is_none()
}

/// Maximum number of characters of a turn that is only narration: two sentences.
const NARRATION_CHARS_MAX: usize = 240;
/// Beginnings of narration, such as `Now run all the tests:`.
const NARRATION: [&str; 9] = [
    "let me ",
    "let's ",
    "now ",
    "next, ",
    "i'll ",
    "i will ",
    "i'm going to ",
    "first, let me ",
    "ok, let me ",
];

/// Returns true for a short turn of an agent that only announces its next step.
fn is_narration(message: &Message) -> bool {
    let text = message.text.trim_start();
    if message.role != Role::Assistant || text.chars().nth(NARRATION_CHARS_MAX).is_some() {
        return false;
    }
    let begins_with = |beginning: &&str| {
        let head = text.get(..beginning.len());
        head.is_some_and(|head| head.eq_ignore_ascii_case(beginning))
    };
    // `That failed. Let me …` reports something.
    NARRATION.iter().any(begins_with)
}

/// Words of acknowledgements.
const ACKNOWLEDGEMENTS: [&str; 78] = [
    "a",
    "again",
    "agreed",
    "ahead",
    "all",
    "and",
    "awesome",
    "cool",
    "continue",
    "correct",
    "do",
    "done",
    "exactly",
    "fine",
    "go",
    "good",
    "got",
    "great",
    "hello",
    "hi",
    "i",
    "is",
    "it",
    "job",
    "looks",
    "more",
    "nice",
    "no",
    "nope",
    "now",
    "ok",
    "okay",
    "on",
    "once",
    "perfect",
    "please",
    "proceed",
    "right",
    "same",
    "see",
    "stop",
    "sure",
    "thank",
    "thanks",
    "that",
    "the",
    "this",
    "try",
    "understood",
    "very",
    "wait",
    "well",
    "work",
    "works",
    "yeah",
    "yep",
    "yes",
    "you",
    "ja",
    "nein",
    "danke",
    "bitte",
    "weiter",
    "oui",
    "non",
    "merci",
    "si",
    "sí",
    "gracias",
    "vale",
    "sim",
    "obrigado",
    "да",
    "нет",
    "спасибо",
    "好",
    "好的",
    "はい",
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recall::rank::tests::{record, turn};

    #[test]
    fn acknowledgement_is_no_answer() {
        for text in [
            "Done.",
            "Again.",
            "ok thanks!",
            "Yes, please do it",
            "Looks good",
            "👍",
            "",
        ] {
            assert!(is_no_answer(&turn(text)), "{text}");
        }
        for text in [
            "port 8080",
            "use src/a.rs",
            "Run the tests again",
            "`make`",
            "parseUrl fails",
            "TLS is off",
        ] {
            assert!(!is_no_answer(&turn(text)), "{text}");
        }
        assert!(!is_no_answer(&RecallItem::Record(Box::new(record(
            "Done."
        )))));
        let mut call = turn("cargo build --release --locked");
        if let RecallItem::Turn { message, .. } = &mut call {
            message.role = Role::ToolCall;
        }
        assert!(is_no_answer(&call));
    }
}
