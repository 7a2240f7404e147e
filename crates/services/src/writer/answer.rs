//! What a service answers, checked before anything believes it.

use heirloom_model::text;
use serde_json::Value;

/// An answer with a text in it.
#[derive(Debug, PartialEq)]
pub(super) struct Answer {
    pub(super) text: String,
    pub(super) model: Option<String>,
    pub(super) input_tokens: Option<u64>,
    pub(super) cached_tokens: u64,
    pub(super) output_tokens: Option<u64>,
    pub(super) is_cut: bool,
}

/// Reads an answer of Anthropic's Messages. Errors say what is wrong with it.
pub(super) fn anthropic(bytes: &[u8]) -> Result<Answer, String> {
    let value = json(bytes)?;
    let stop = value["stop_reason"].as_str().unwrap_or_default();
    if stop == "refusal" {
        return Err("the model refused to write it".to_owned());
    }
    let usage = &value["usage"];
    // What went into the cache and came out of it is not in the first number.
    let cached_tokens = count(usage, "cache_read_input_tokens").unwrap_or(0);
    let stored = count(usage, "cache_creation_input_tokens").unwrap_or(0);
    let fresh = count(usage, "input_tokens");
    Ok(Answer {
        text: written(&value, &parts(&value["content"]))?,
        model: model(&value),
        input_tokens: fresh.map(|fresh| fresh.saturating_add(stored).saturating_add(cached_tokens)),
        cached_tokens,
        output_tokens: count(usage, "output_tokens"),
        is_cut: stop == "max_tokens" || stop == "model_context_window_exceeded",
    })
}

/// Reads an answer of OpenAI's Chat Completions. Errors say what is wrong with it.
pub(super) fn chat(bytes: &[u8]) -> Result<Answer, String> {
    let value = json(bytes)?;
    let choice = &value["choices"][0];
    let (message, stop) = (&choice["message"], choice["finish_reason"].as_str());
    if message["refusal"].is_string() || stop == Some("content_filter") {
        return Err("the model refused to write it".to_owned());
    }
    let content = &message["content"];
    let said = content
        .as_str()
        .map_or_else(|| parts(content), str::to_owned);
    let usage = &value["usage"];
    Ok(Answer {
        text: written(&value, without_thoughts(&said))?,
        model: model(&value),
        input_tokens: count(usage, "prompt_tokens"),
        cached_tokens: count(&usage["prompt_tokens_details"], "cached_tokens").unwrap_or(0),
        output_tokens: count(usage, "completion_tokens"),
        is_cut: stop == Some("length"),
    })
}

fn json(bytes: &[u8]) -> Result<Value, String> {
    let value: Value =
        serde_json::from_slice(bytes).map_err(|error| format!("the answer is no JSON: {error}"))?;
    if value.is_object() {
        Ok(value)
    } else {
        Err("the answer is no object".to_owned())
    }
}

/// The text of all blocks that are text; thoughts and whatever else there is are not ours.
fn parts(content: &Value) -> String {
    let blocks = content.as_array().map_or(&[][..], Vec::as_slice);
    let texts = blocks.iter().filter(|block| block["type"] == "text");
    texts.filter_map(|block| block["text"].as_str()).collect()
}

/// Some services leave what the model thought in front of what it says.
fn without_thoughts(said: &str) -> &str {
    let thoughts = said.trim_start().strip_prefix("<think>");
    let rest = thoughts.and_then(|thoughts| thoughts.split_once("</think>"));
    rest.map_or(said, |(_, said)| said)
}

fn written(value: &Value, said: &str) -> Result<String, String> {
    let said = said.trim();
    if !said.is_empty() {
        return Ok(said.to_owned());
    }
    // Some services answer 200 and mean an error.
    let error = &value["error"];
    let message = error["message"].as_str().or_else(|| error.as_str());
    Err(match message {
        Some(message) => format!("no text, but: {}", text::excerpt(message, 200)),
        None => "there is no text in the answer".to_owned(),
    })
}

fn model(value: &Value) -> Option<String> {
    let model = text::excerpt(value["model"].as_str()?, 200);
    (!model.is_empty()).then_some(model)
}

fn count(usage: &Value, name: &str) -> Option<u64> {
    usage[name].as_u64()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_anthropic_counts() {
        let body = br#"{"content": [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": " a"},
            {"type": "new"}, {"type": "text", "text": "b "}], "model": "m-1", "stop_reason": "max_tokens",
            "usage": {"input_tokens": 5, "cache_creation_input_tokens": 20, "cache_read_input_tokens": 300,
            "output_tokens": 7}, "later": 1}"#;
        let answer = anthropic(body).unwrap();
        assert_eq!((answer.text.as_str(), answer.is_cut), ("ab", true));
        assert_eq!(answer.model.as_deref(), Some("m-1"));
        assert_eq!(
            (answer.input_tokens, answer.cached_tokens),
            (Some(325), 300)
        );
        assert_eq!(answer.output_tokens, Some(7));
    }

    #[test]
    fn what_chat_completions_count() {
        let body =
            br#"{"choices": [{"message": {"content": "<think>x</think>\n\nab", "refusal": null},
            "finish_reason": "stop"}], "usage": {"prompt_tokens": 50, "completion_tokens": 4,
            "prompt_tokens_details": {"cached_tokens": 32}}}"#;
        let answer = chat(body).unwrap();
        assert_eq!((answer.text.as_str(), answer.is_cut), ("ab", false));
        assert_eq!((answer.input_tokens, answer.cached_tokens), (Some(50), 32));
        let body = br#"{"choices": [{"message": {"content": [{"type": "text", "text": "c"}]},
            "finish_reason": "length"}], "usage": {"prompt_tokens": -1}}"#;
        let answer = chat(body).unwrap();
        assert_eq!((answer.text.as_str(), answer.is_cut), ("c", true));
        assert_eq!((answer.input_tokens, answer.output_tokens), (None, None));
    }

    #[test]
    fn every_wrong_answer_is_named() {
        type Read = fn(&[u8]) -> Result<Answer, String>;
        let rows: [(Read, &str, &str); 15] = [
            (anthropic, "", "no JSON"),
            (anthropic, "[]", "no object"),
            (anthropic, "{}", "no text"),
            (
                anthropic,
                r#"{"content": [], "stop_reason": "end_turn"}"#,
                "no text",
            ),
            (anthropic, r#"{"content": "a"}"#, "no text"),
            (
                anthropic,
                r#"{"content": [{"type": "text", "text": " \n"}]}"#,
                "no text",
            ),
            (
                anthropic,
                r#"{"content": [], "stop_reason": "refusal"}"#,
                "refused",
            ),
            (chat, "<html>", "no JSON"),
            (chat, r#"{"choices": []}"#, "no text"),
            (
                chat,
                r#"{"choices": [{"message": {"content": null}}]}"#,
                "no text",
            ),
            (
                chat,
                r#"{"choices": [{"message": {"content": "<think>x</think> "}}]}"#,
                "no text",
            ),
            (
                chat,
                r#"{"choices": [{"message": {"refusal": "no"}}]}"#,
                "refused",
            ),
            (
                chat,
                r#"{"choices": [{"message": {"content": "a"}, "finish_reason": "content_filter"}]}"#,
                "refused",
            ),
            (
                chat,
                r#"{"error": {"message": "no credits"}}"#,
                "no text, but: no credits",
            ),
            (
                chat,
                r#"{"error": "no such model"}"#,
                "no text, but: no such model",
            ),
        ];
        for (read, body, part) in rows {
            let problem = read(body.as_bytes()).unwrap_err();
            assert!(problem.contains(part), "{body}: {problem}");
        }
    }
}
