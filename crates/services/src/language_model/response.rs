//! Parsing and validation of completion responses.

use heirloom_model::text;
use serde_json::Value;

/// A completion with text.
#[derive(Debug, PartialEq)]
pub(super) struct Completion {
    pub(super) text: String,
    pub(super) model: Option<String>,
    pub(super) input_tokens: Option<u64>,
    pub(super) cached_tokens: u64,
    pub(super) output_tokens: Option<u64>,
    pub(super) is_cut: bool,
}

/// Parses a response of Anthropic's Messages; errors describe the problem.
pub(super) fn parse_anthropic(bytes: &[u8]) -> Result<Completion, String> {
    let value = parse_object(bytes)?;
    let stop = value["stop_reason"].as_str().unwrap_or_default();
    if stop == "refusal" {
        return Err("the model refused to write it".to_owned());
    }
    let usage = &value["usage"];
    // `input_tokens` excludes tokens written to and read from the cache.
    let cached_tokens = token_count(usage, "cache_read_input_tokens").unwrap_or(0);
    let stored = token_count(usage, "cache_creation_input_tokens").unwrap_or(0);
    let fresh = token_count(usage, "input_tokens");
    Ok(Completion {
        text: non_empty_text(&value, &joined_text(&value["content"]))?,
        model: model_name(&value),
        input_tokens: fresh.map(|fresh| fresh.saturating_add(stored).saturating_add(cached_tokens)),
        cached_tokens,
        output_tokens: token_count(usage, "output_tokens"),
        is_cut: stop == "max_tokens" || stop == "model_context_window_exceeded",
    })
}

/// Parses a response of OpenAI's Chat Completions; errors describe the problem.
pub(super) fn parse_chat(bytes: &[u8]) -> Result<Completion, String> {
    let value = parse_object(bytes)?;
    let choice = &value["choices"][0];
    let (message, stop) = (&choice["message"], choice["finish_reason"].as_str());
    if message["refusal"].is_string() || stop == Some("content_filter") {
        return Err("the model refused to write it".to_owned());
    }
    let content = &message["content"];
    let reply_text = content
        .as_str()
        .map_or_else(|| joined_text(content), str::to_owned);
    let usage = &value["usage"];
    Ok(Completion {
        text: non_empty_text(&value, strip_thinking(&reply_text))?,
        model: model_name(&value),
        input_tokens: token_count(usage, "prompt_tokens"),
        cached_tokens: token_count(&usage["prompt_tokens_details"], "cached_tokens").unwrap_or(0),
        output_tokens: token_count(usage, "completion_tokens"),
        is_cut: stop == Some("length"),
    })
}

fn parse_object(bytes: &[u8]) -> Result<Value, String> {
    let value: Value = serde_json::from_slice(bytes)
        .map_err(|error| format!("the response is not JSON: {error}"))?;
    if value.is_object() {
        Ok(value)
    } else {
        Err("the response is not a JSON object".to_owned())
    }
}

/// Joins the text blocks; thinking and other blocks are ignored.
fn joined_text(content: &Value) -> String {
    let blocks = content.as_array().map_or(&[][..], Vec::as_slice);
    let texts = blocks.iter().filter(|block| block["type"] == "text");
    texts.filter_map(|block| block["text"].as_str()).collect()
}

/// Removes the thinking that some services leave at the beginning of the text.
fn strip_thinking(reply_text: &str) -> &str {
    let thoughts = reply_text.trim_start().strip_prefix("<think>");
    let rest = thoughts.and_then(|thoughts| thoughts.split_once("</think>"));
    rest.map_or(reply_text, |(_, reply_text)| reply_text)
}

fn non_empty_text(value: &Value, reply_text: &str) -> Result<String, String> {
    let reply_text = reply_text.trim();
    if !reply_text.is_empty() {
        return Ok(reply_text.to_owned());
    }
    // Some services report an error with status 200.
    let error = &value["error"];
    let message = error["message"].as_str().or_else(|| error.as_str());
    Err(match message {
        Some(message) => format!(
            "the response has no text but the message: {}",
            text::excerpt(message, 200)
        ),
        None => "the response has no text".to_owned(),
    })
}

fn model_name(value: &Value) -> Option<String> {
    let model = text::excerpt(value["model"].as_str()?, 200);
    (!model.is_empty()).then_some(model)
}

fn token_count(usage: &Value, name: &str) -> Option<u64> {
    usage[name].as_u64()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn anthropic_response_is_parsed() {
        let body = br#"{"content": [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": " a"},
            {"type": "new"}, {"type": "text", "text": "b "}], "model": "m-1", "stop_reason": "max_tokens",
            "usage": {"input_tokens": 5, "cache_creation_input_tokens": 20, "cache_read_input_tokens": 300,
            "output_tokens": 7}, "later": 1}"#;
        let answer = parse_anthropic(body).unwrap();
        assert_eq!((answer.text.as_str(), answer.is_cut), ("ab", true));
        assert_eq!(answer.model.as_deref(), Some("m-1"));
        assert_eq!(
            (answer.input_tokens, answer.cached_tokens),
            (Some(325), 300)
        );
        assert_eq!(answer.output_tokens, Some(7));
    }

    #[test]
    fn chat_response_is_parsed() {
        let body =
            br#"{"choices": [{"message": {"content": "<think>x</think>\n\nab", "refusal": null},
            "finish_reason": "stop"}], "usage": {"prompt_tokens": 50, "completion_tokens": 4,
            "prompt_tokens_details": {"cached_tokens": 32}}}"#;
        let answer = parse_chat(body).unwrap();
        assert_eq!((answer.text.as_str(), answer.is_cut), ("ab", false));
        assert_eq!((answer.input_tokens, answer.cached_tokens), (Some(50), 32));
        let body = br#"{"choices": [{"message": {"content": [{"type": "text", "text": "c"}]},
            "finish_reason": "length"}], "usage": {"prompt_tokens": -1}}"#;
        let answer = parse_chat(body).unwrap();
        assert_eq!((answer.text.as_str(), answer.is_cut), ("c", true));
        assert_eq!((answer.input_tokens, answer.output_tokens), (None, None));
    }

    #[test]
    fn invalid_response_error_names_problem() {
        type Read = fn(&[u8]) -> Result<Completion, String>;
        let rows: [(Read, &str, &str); 15] = [
            (parse_anthropic, "", "not JSON"),
            (parse_anthropic, "[]", "not a JSON object"),
            (parse_anthropic, "{}", "no text"),
            (
                parse_anthropic,
                r#"{"content": [], "stop_reason": "end_turn"}"#,
                "no text",
            ),
            (parse_anthropic, r#"{"content": "a"}"#, "no text"),
            (
                parse_anthropic,
                r#"{"content": [{"type": "text", "text": " \n"}]}"#,
                "no text",
            ),
            (
                parse_anthropic,
                r#"{"content": [], "stop_reason": "refusal"}"#,
                "refused",
            ),
            (parse_chat, "<html>", "not JSON"),
            (parse_chat, r#"{"choices": []}"#, "no text"),
            (
                parse_chat,
                r#"{"choices": [{"message": {"content": null}}]}"#,
                "no text",
            ),
            (
                parse_chat,
                r#"{"choices": [{"message": {"content": "<think>x</think> "}}]}"#,
                "no text",
            ),
            (
                parse_chat,
                r#"{"choices": [{"message": {"refusal": "no"}}]}"#,
                "refused",
            ),
            (
                parse_chat,
                r#"{"choices": [{"message": {"content": "a"}, "finish_reason": "content_filter"}]}"#,
                "refused",
            ),
            (
                parse_chat,
                r#"{"error": {"message": "no credits"}}"#,
                "no text but the message: no credits",
            ),
            (
                parse_chat,
                r#"{"error": "no such model"}"#,
                "no text but the message: no such model",
            ),
        ];
        for (read, body, part) in rows {
            let problem = read(body.as_bytes()).unwrap_err();
            assert!(problem.contains(part), "{body}: {problem}");
        }
    }
}
