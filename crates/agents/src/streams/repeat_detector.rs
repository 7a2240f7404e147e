//! Detector of a final text that repeats what the model already said.

use heirloom_model::limits::FINAL_TEXT_BYTES_MAX;
use heirloom_model::text;

/// Last text of the model, to detect a final text that repeats it.
#[derive(Debug, Default)]
pub(crate) struct RepeatDetector {
    message: String,
    last: Option<String>,
    /// All texts of the message, joined, unless they exceed the length of a final text.
    whole: Option<String>,
}

impl RepeatDetector {
    /// Records a text of this message.
    pub(crate) fn record(&mut self, message: &str, content: &str) {
        let continues = !message.is_empty() && message == self.message && self.last.is_some();
        if !continues {
            message.clone_into(&mut self.message);
            self.whole = Some(String::new());
        }
        let whole = self
            .whole
            .take()
            .filter(|whole| whole.len() + content.len() < FINAL_TEXT_BYTES_MAX);
        self.whole = whole.map(|whole| format!("{whole}\n{content}"));
        self.last = Some(fingerprint(content));
    }

    /// Returns the text, unless it repeats the last text or the last message.
    pub(crate) fn without_repetition(&self, text: String) -> Option<String> {
        let marked = fingerprint(&text);
        let repeats = self.last.as_ref() == Some(&marked)
            || self.whole.as_deref().map(fingerprint).as_ref() == Some(&marked);
        (!repeats && !text.trim().is_empty()).then_some(text)
    }
}

fn fingerprint(content: &str) -> String {
    text::hash16(&text::normalize(content))
}
