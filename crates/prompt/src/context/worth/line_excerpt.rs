//! Excerpt of a long line: its beginning, with the sentence that matches the question.

use heirloom_model::text;
use std::collections::BTreeSet;

/// Characters up to which a line is only included whole.
const SHORT_CHARS: usize = 320;
/// Characters of the beginning in a short form.
const HEAD_CHARS: usize = 240;
/// Characters of the beginning if the matching sentence follows.
const HEAD_BEFORE_MATCH_CHARS: usize = 120;
/// Characters of the matching sentence.
const MATCH_CHARS: usize = 160;
/// Letters of the shortest word of a question that is looked for.
const WORD_LETTERS_MIN: usize = 4;

/// Words of a question.
#[derive(Debug, Default)]
pub(super) struct QuestionWords {
    words: BTreeSet<String>,
}

impl QuestionWords {
    /// Creates the words of a question.
    pub(super) fn of(question: Option<&str>) -> Self {
        let question = question.unwrap_or_default().to_lowercase();
        let words = question.split(|c: char| !c.is_alphanumeric());
        let words = words.filter(|word| text::chars(word) >= WORD_LETTERS_MIN);
        Self {
            words: words.map(str::to_owned).collect(),
        }
    }

    /// Returns the number of distinct words of the question in a text.
    fn count_in(&self, sentence: &str) -> usize {
        let lower = sentence.to_lowercase();
        let words = lower.split(|c: char| !c.is_alphanumeric());
        let found: BTreeSet<&str> = words.filter(|word| self.words.contains(*word)).collect();
        found.len()
    }

    /// Returns the short form of a line; `None` if the line is short already.
    pub(super) fn shorten_line(&self, line: &str) -> Option<String> {
        if text::chars(line) <= SHORT_CHARS {
            return None;
        }
        let head = clip_at_word(line, HEAD_CHARS);
        let rest = line.get(head.len()..).unwrap_or_default();
        let best = sentences(rest).map(|one| (one, self.count_in(one)));
        let best = best.fold(None, |best: Option<(&str, usize)>, one| match best {
            Some((_, most)) if most >= one.1 => best,
            _ => Some(one),
        });
        Some(match best {
            Some((sentence, count)) if count > self.count_in(head) => {
                let head = clip_at_word(line, HEAD_BEFORE_MATCH_CHARS);
                format!("{head} … {} …", clip_at_word(sentence.trim(), MATCH_CHARS))
            }
            Some(_) | None => format!("{head} …"),
        })
    }
}

/// Returns the beginning of a text with at most `chars_max` characters, without a part of a word if possible.
fn clip_at_word(line: &str, chars_max: usize) -> &str {
    let clipped = text::clip(line, chars_max);
    if clipped.len() == line.len() {
        return line;
    }
    match clipped.rfind(char::is_whitespace) {
        Some(end) if end > clipped.len() / 2 => clipped.get(..end).unwrap_or(clipped),
        Some(_) | None => clipped,
    }
}

fn sentences(text: &str) -> impl Iterator<Item = &str> {
    text.split_inclusive(". ")
        .filter(|one| !one.trim().is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_line_has_no_shorter_form() {
        let words = QuestionWords::of(Some("port"));
        assert_eq!(words.shorten_line(&"x".repeat(SHORT_CHARS)), None);
        assert!(words.shorten_line(&"x".repeat(SHORT_CHARS + 1)).is_some());
    }

    #[test]
    fn long_line_keeps_beginning_and_matching_sentence() {
        let filler = "Nothing of interest is written here at all. ".repeat(20);
        let line = format!(
            "The server moved. {filler}The firewall blocks uplink traffic on weekends. {filler}"
        );
        let words = QuestionWords::of(Some("why does the firewall block the uplink?"));
        let short = words.shorten_line(&line).unwrap();
        assert!(short.starts_with("The server moved."), "{short}");
        assert!(
            short.contains("The firewall blocks uplink traffic on weekends."),
            "{short}"
        );
        assert!(text::chars(&short) <= HEAD_BEFORE_MATCH_CHARS + MATCH_CHARS + 5);
        let other = QuestionWords::of(None).shorten_line(&line).unwrap();
        assert!(other.ends_with(" …") && text::chars(&other) <= HEAD_CHARS + 2);
    }
}
