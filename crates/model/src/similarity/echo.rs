//! Echoes: texts that only repeat the question. They are the most similar texts of a memory and answer nothing.

use crate::text::to_composed;
use std::collections::HashMap;

/// Share of the question's words from which a text of about its length repeats it.
const REPEATED_SHARE_MIN: f64 = 0.9;
/// Words from which a question is a prompt of its own: fewer words also occur together in an answer. `do the tests
/// need Redis` and `the tests do need Redis` have the same words.
const PROMPT_WORDS_MIN: usize = 10;
/// Length of a text in lengths of the question up to which its words are compared. A longer text has common words of
/// any question, and a text of its own.
const LENGTH_FACTOR_MAX: usize = 2;

/// A question that is compared with many texts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EchoedQuestion {
    /// Normal form of the question.
    folded: String,
    word_count: usize,
}

impl EchoedQuestion {
    /// Prepares a question.
    pub fn new(question: &str) -> Self {
        let folded = fold(question);
        Self {
            word_count: count_words(&folded),
            folded,
        }
    }

    /// Returns true if `text` only repeats the question, or the beginning of a prompt of which the question is a part.
    ///
    /// - Equal up to case, spacing and punctuation.
    /// - A prompt of at least ten words: a text of similar length with nine tenths of its words, a text
    ///   that contains it, such as the whole prompt whose beginning was the question, and a text that is a part of it.
    ///
    /// A text that quotes a long question and continues is an echo too, because what a prompt shows of it is the
    /// beginning.
    pub fn is_repeated_by(&self, text: &str) -> bool {
        if self.word_count == 0 {
            return false;
        }
        let text = fold(text);
        if text == self.folded {
            return true;
        }
        let count = count_words(&text);
        if count.min(self.word_count) < PROMPT_WORDS_MIN {
            return false;
        }
        contains_beginning(&text, &self.folded)
            || contains_beginning(&self.folded, &text)
            || self.shares_words(&text, count)
    }

    fn shares_words(&self, text: &str, count: usize) -> bool {
        if count > self.word_count.saturating_mul(LENGTH_FACTOR_MAX) {
            return false;
        }
        let mut counts: HashMap<&str, usize> = HashMap::new();
        for word in text.split(' ') {
            *counts.entry(word).or_default() += 1;
        }
        let shared = self.folded.split(' ').filter(|word| {
            let left = counts.get_mut(word).filter(|left| **left > 0);
            left.is_some_and(|left| {
                *left -= 1;
                true
            })
        });
        shared.count() as f64 >= REPEATED_SHARE_MIN * self.word_count as f64
    }
}

/// Returns true if `text` only repeats `question`; see [`EchoedQuestion::is_repeated_by`].
pub fn is_echo(question: &str, text: &str) -> bool {
    EchoedQuestion::new(question).is_repeated_by(text)
}

/// Returns true if `text` contains all words of `part` in a row. Its last word may be cut off.
fn contains_beginning(text: &str, part: &str) -> bool {
    let part = part.rsplit_once(' ').map_or(part, |(before, _)| before);
    part.len() <= text.len() && text.contains(part)
}

fn count_words(folded: &str) -> usize {
    folded.split(' ').filter(|word| !word.is_empty()).count()
}

/// Returns the words in lower case with one blank between them, without punctuation. A character of a script without
/// blanks between words is a word of its own.
fn fold(text: &str) -> String {
    let mut folded = String::with_capacity(text.len());
    let mut is_new = false;
    for c in to_composed(text).chars() {
        if !c.is_alphanumeric() {
            is_new = true;
            continue;
        }
        let is_alone = has_no_blanks(c);
        if (is_new || is_alone) && !folded.is_empty() && !folded.ends_with(' ') {
            folded.push(' ');
        }
        folded.extend(c.to_lowercase());
        is_new = is_alone;
    }
    folded
}

/// Returns true for a character of Chinese, Japanese, Thai, Lao, Khmer and Burmese.
fn has_no_blanks(c: char) -> bool {
    matches!(u32::from(c),
        0x0E00..=0x0EFF | 0x1000..=0x109F | 0x1780..=0x17FF | 0x3040..=0x30FF | 0x3400..=0x4DBF
        | 0x4E00..=0x9FFF | 0xF900..=0xFAFF | 0x20000..=0x3FFFF)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PROMPT: &str = "Please read the design of the billing service, find the place where invoices are rounded, \
        and make the rounding of the totals the same for all currencies; run the tests before you answer.";

    #[test]
    fn equal_text_is_an_echo_whatever_its_case_and_punctuation() {
        assert!(is_echo("Fix issue 42", "fix   issue #42."));
        assert!(is_echo("Почини тесты!", "почини тесты"));
        assert!(is_echo("テストを直して", "テストを直して。"));
        assert!(is_echo("修复登录测试", "修复 登录测试！"));
    }

    #[test]
    fn answer_with_the_words_of_a_short_question_is_no_echo() {
        for (question, text) in [
            ("do the tests need Redis?", "The tests do need Redis."),
            ("fix issue 42", "Fix issue 42 by a lock around the writer."),
            ("fix issue 42", "fix issue 43"),
            ("登录测试失败", "登录测试失败是因为时钟"),
            ("", "anything"),
            ("?!", "?!"),
            ("question", ""),
        ] {
            assert!(!is_echo(question, text), "{question}: {text}");
        }
    }

    #[test]
    fn long_prompt_is_repeated_by_most_of_its_words_and_by_its_parts() {
        let changed = PROMPT
            .replace("Please read", "Read")
            .replace("design", "plan");
        assert!(is_echo(PROMPT, &changed));
        let cut = &PROMPT[..PROMPT.len() / 2];
        assert!(is_echo(PROMPT, cut) && is_echo(cut, PROMPT), "{cut}");
        assert!(is_echo(
            PROMPT,
            &format!("Iteration 4 of 5.\n\n{PROMPT}\n\nGo on.")
        ));
        let chinese = "请阅读计费服务的设计文档，找到发票四舍五入的地方，并让所有货币的总额采用相同的舍入方式。";
        assert!(is_echo(chinese, &chinese.replace("请", "")));
        assert!(is_echo(&chinese[..60], chinese));
    }

    #[test]
    fn answer_to_a_long_prompt_is_no_echo() {
        for text in [
            "The rounding of the totals is in invoices/total.rs; all currencies use the same function now.",
            "Invoices are rounded in the billing service at two places, and the tests cover only euros.",
            "找到发票四舍五入的地方：invoices/total.rs，总额已经采用相同的舍入方式。",
        ] {
            assert!(!is_echo(PROMPT, text), "{text}");
        }
        // A report about other work has most of the common words of a question.
        let report = format!(
            "{} ",
            "and the a of in is where before you answer find make run "
        )
        .repeat(40);
        assert!(!is_echo(PROMPT, &report));
    }

    #[test]
    fn long_prompt_of_another_subject_is_no_echo() {
        let other = PROMPT
            .replace("billing", "search")
            .replace("invoices are rounded", "queries are logged")
            .replace("rounding of the totals", "format of the log");
        assert!(!is_echo(PROMPT, &other), "{other}");
    }
}
