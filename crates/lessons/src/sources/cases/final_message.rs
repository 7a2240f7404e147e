//! Final messages: the sentences about the result.

use crate::cues::OutcomeCues;
use crate::outline::read_outline;
use crate::sentences::{capitalize, sentences};

/// Returns the sentences of a message about the result, the ones about open work last, within a number of characters.
pub(super) fn result_sentences(message: &str, cues: &OutcomeCues, chars_max: usize) -> String {
    let mut results: Vec<String> = Vec::new();
    let mut left: Vec<String> = Vec::new();
    for section in read_outline(message) {
        let heading = section.heading.to_lowercase();
        let is_left = cues.phrases.left.is_in(&heading);
        for item in &section.items {
            let full = item.full_text();
            let full = without_symbols(&full);
            if full.contains(" — ") && item.is_listed && item.title.is_none() && !is_left {
                // Rows of tables and descriptions of files are the work, not its result.
                continue;
            }
            for sentence in sentences(full) {
                let lower = sentence.to_lowercase();
                let is_open = is_left || cues.phrases.left.is_in(&lower);
                let is_announcement = sentence.ends_with(':')
                    || sentence.ends_with('?')
                    || (cues.phrases.openers.begins(&lower) && sentence.chars().count() < 60);
                let is_request =
                    lower.contains("let me know") || cues.phrases.narration.begins(&lower);
                let is_ongoing = cues.phrases.ongoing.is_in(&lower);
                if is_announcement
                    || is_request
                    || is_ongoing
                    || !(is_open || cues.phrases.status.is_in(&lower))
                {
                    continue;
                }
                let sentence = with_end(&capitalize(sentence));
                match is_open {
                    true => left.push(sentence),
                    false if !item.is_listed || is_test_result(&lower) => results.push(sentence),
                    false => {}
                }
            }
        }
    }
    let reserved: usize = left
        .first()
        .map_or(0, |first| first.chars().count() + 1)
        .min(chars_max / 2);
    let mut out = String::new();
    push_fitting(&mut out, &results, chars_max - reserved);
    push_fitting(&mut out, &left, chars_max);
    out
}

/// Returns true for a sentence about tests that passed or failed.
fn is_test_result(lower: &str) -> bool {
    lower.contains("test") && (lower.contains("pass") || lower.contains("fail"))
}

/// Returns a text without the symbols before it, such as check marks.
fn without_symbols(text: &str) -> &str {
    text.trim_start_matches(|c: char| {
        !c.is_alphanumeric()
            && !matches!(c, '`' | '"' | '(' | '/' | '@' | '.' | '<' | '#' | '$' | '-')
    })
}

fn push_fitting(out: &mut String, all: &[String], chars_max: usize) {
    for sentence in all {
        if out.chars().count() + sentence.chars().count() < chars_max
            && !out.contains(sentence.as_str())
        {
            if !out.is_empty() {
                out.push(' ');
            }
            out.push_str(sentence);
        }
    }
}

fn with_end(sentence: &str) -> String {
    match sentence.ends_with(['.', '!', '?']) {
        true => sentence.to_owned(),
        false => format!("{sentence}."),
    }
}

/// Returns true for a message that reports something: long, or with a list.
pub(super) fn is_report(message: &str, cues: &OutcomeCues) -> bool {
    let head = message.trim_start();
    let head = head
        .get(..head.floor_char_boundary(400))
        .unwrap_or_default()
        .to_lowercase();
    let is_narration = ["let me", "now ", "i'll", "i will", "next,", "first,"]
        .iter()
        .any(|start| head.starts_with(start));
    let is_long = message.len() >= 300;
    !is_narration
        && ((has_list(message) && message.len() >= 120)
            || is_long
            || (message.len() >= 60 && cues.phrases.status.count_in(&head) >= 3))
}

/// Returns true for a message with a list, a table, or several headings.
pub(super) fn has_list(message: &str) -> bool {
    let marks = ["- ", "* ", "| ", "# ", "## ", "### "];
    let is_marked = |line: &&str| marks.iter().any(|mark| line.trim_start().starts_with(mark));
    message.lines().filter(is_marked).take(2).count() == 2
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cues::Cues;

    #[test]
    fn result_sentences_keeps_results_and_open_work() {
        let message = "All done. Here's the summary:\n\n## Orders\n\nAll 3 tasks are completed and pushed.\n\n- `a.rs` — new parser\n\n**Tests:** 12 unit tests, all passing.\n\n**Filed:** `app-5` — the importer drops the date.\n";
        assert_eq!(
            result_sentences(message, &Cues::get().outcome, 300),
            "All 3 tasks are completed and pushed. Tests: 12 unit tests, all passing. Filed: `app-5` — the importer drops the date."
        );
    }

    #[test]
    fn is_report_needs_length_or_list() {
        let cues = &Cues::get().outcome;
        assert!(!is_report("Let me read the file.", cues));
        assert!(!is_report("Done.", cues));
        assert!(is_report(
            &format!("Summary\n- {}\n- {}", "a".repeat(80), "b".repeat(80)),
            cues
        ));
    }
}
