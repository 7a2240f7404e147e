//! Title of a session, made from its first request.

use super::request_text::without_politeness;
use crate::cues::OutcomeCues;
use crate::sentences::{capitalize, sentences};

/// Greatest number of characters of a title.
const TITLE_CHARS_MAX: usize = 80;
/// Smallest number of characters of a title that ends at a clause.
const CLAUSE_CHARS_MIN: usize = 20;

/// Returns the title for a request.
pub(super) fn make_title(request: &str, cues: &OutcomeCues) -> Option<String> {
    let first = sentences(request).find(|sentence| sentence.chars().count() > 3)?;
    let bare = without_politeness(first, cues).trim_end_matches(['.', ':', '?', '!', ',', ' ']);
    let title = capitalize(bare);
    if title.chars().count() <= TITLE_CHARS_MAX {
        return Some(title).filter(|title| !title.is_empty());
    }
    let end = title
        .char_indices()
        .nth(TITLE_CHARS_MAX)
        .map_or(title.len(), |(at, _)| at);
    let head = title.get(..end)?;
    let clause = [", ", "; ", " - ", " – ", " (", ": "]
        .iter()
        .filter_map(|mark| head.rfind(mark))
        .max();
    let word = head.rfind(' ');
    let at = clause
        .filter(|at| *at >= CLAUSE_CHARS_MIN)
        .or(word)
        .unwrap_or(end);
    Some(
        head.get(..at)?
            .trim_end_matches([',', ';', ':', ' ', '-', '('])
            .to_owned(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cues::Cues;

    #[test]
    fn make_title_shortens_first_sentence() {
        let cues = &Cues::get().outcome;
        for (request, title) in [
            ("Please add a page. It needs a chart.", "Add a page"),
            ("can you fix the login?", "Fix the login"),
            (
                "Write a service that imports orders from the old shop, validates them, and stores them in the database",
                "Write a service that imports orders from the old shop, validates them",
            ),
        ] {
            assert_eq!(
                make_title(request, cues).as_deref(),
                Some(title),
                "{request}"
            );
        }
        assert_eq!(make_title("", cues), None);
        assert!(make_title(&"é".repeat(500), cues).unwrap().chars().count() <= TITLE_CHARS_MAX);
    }
}
