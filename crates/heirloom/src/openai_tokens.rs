//! Exact token counts for OpenAI models in reports of windows.

use heirloom_engine::CompactionResult;
#[cfg(feature = "exact-counts")]
use heirloom_window::Conversation;

/// Tokens of the structure around the texts of a message.
#[cfg(feature = "exact-counts")]
const MESSAGE_TOKENS: usize = 4;

/// Counts the input and output tokens for the report, if the model's vocabulary is known.
#[cfg(feature = "exact-counts")]
pub(crate) fn count_tokens(compacted: &mut CompactionResult, history: &str, model: Option<&str>) {
    let form = Some(compacted.form);
    let whole = Conversation::parse(history, form);
    let window = Conversation::parse(&compacted.json, form);
    let (Ok(whole), Ok(window)) = (whole, window) else {
        return;
    };
    let model = model.or(whole.model.as_deref()).unwrap_or_default();
    if has_o200k(model) {
        compacted.report.exact_tokens = Some((tokens(&whole), tokens(&window)));
    }
}

/// Without the vocabulary nothing is counted.
#[cfg(not(feature = "exact-counts"))]
pub(crate) fn count_tokens(
    _compacted: &mut CompactionResult,
    _history: &str,
    _model: Option<&str>,
) {
}

/// Returns true if the model uses the o200k vocabulary.
#[cfg(feature = "exact-counts")]
fn has_o200k(model: &str) -> bool {
    let name = model.rsplit('/').next().unwrap_or(model);
    let families = [
        "gpt-4o",
        "chatgpt-4o",
        "gpt-4.1",
        "gpt-4.5",
        "gpt-5",
        "gpt-oss",
        "o1",
        "o3",
        "o4",
        "codex-",
    ];
    families.iter().any(|family| name.starts_with(family))
}

#[cfg(feature = "exact-counts")]
fn tokens(conversation: &Conversation) -> usize {
    let encoder = tiktoken_rs::o200k_base_singleton();
    let texts = conversation.texts();
    let text_tokens: usize = texts.map(|text| encoder.encode_ordinary(text).len()).sum();
    text_tokens + conversation.len() * MESSAGE_TOKENS
}

#[cfg(all(test, feature = "exact-counts"))]
mod tests {
    use super::*;
    use heirloom_window::WireFormat;

    #[test]
    fn tokens_of_openai_models_are_counted() {
        for (model, known) in [
            ("gpt-5-codex", true),
            ("openai/o3-mini", true),
            ("gpt-4-turbo", false),
            ("claude-sonnet-4-5", false),
            ("", false),
        ] {
            assert_eq!(has_o200k(model), known, "{model}");
        }
        let history = r#"[{"role":"user","content":"hello world"},{"role":"assistant","content":"tiktoken is great!"}]"#;
        let read = Conversation::parse(history, Some(WireFormat::Openai)).unwrap();
        assert_eq!(tokens(&read), 2 + 6 + 2 * MESSAGE_TOKENS);
    }
}
