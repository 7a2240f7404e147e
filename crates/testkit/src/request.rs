//! Requests that the model service recorded.

use std::time::Duration;

use serde_json::Value;

/// The wire format of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Api {
    /// `POST …/v1/messages`.
    AnthropicMessages,
    /// `POST …/chat/completions`.
    ChatCompletions,
    /// `POST …/responses`.
    Responses,
    /// `POST …/models/M:generateContent` and `:streamGenerateContent`.
    Gemini,
    /// Anything else: model lists, token counts, telemetry.
    Other,
}

/// A recorded request.
#[derive(Clone, Debug, PartialEq)]
pub struct RecordedRequest {
    /// `GET`, `POST`, `HEAD`.
    pub method: String,
    /// Path and query.
    pub path: String,
    /// The wire format, from the path.
    pub api: Api,
    /// True if the script answered it (a side request gets a fixed answer).
    pub is_main: bool,
    /// The JSON body; `null` if it is missing or not JSON.
    pub body: Value,
    /// Headers with lower-case names.
    pub headers: Vec<(String, String)>,
    /// Time since the service started.
    pub at: Duration,
}

impl RecordedRequest {
    /// Builds the record and decides whether the request is a main one.
    pub(crate) fn new(
        method: &str,
        path: &str,
        body: Value,
        headers: Vec<(String, String)>,
        at: Duration,
    ) -> RecordedRequest {
        let api = api_of(method, path);
        RecordedRequest {
            method: method.to_owned(),
            path: path.to_owned(),
            api,
            is_main: is_main(api, &body),
            body,
            headers,
            at,
        }
    }

    /// Returns the value of a header by its lower-case name; empty if absent.
    #[must_use]
    pub fn header(&self, name: &str) -> &str {
        let found = self.headers.iter().find(|(header, _)| header == name);
        found.map_or("", |(_, value)| value)
    }

    /// Returns true if `text` occurs in any string of the body (not in keys).
    #[must_use]
    pub fn mentions(&self, text: &str) -> bool {
        any_string(&self.body, &mut |string| string.contains(text))
    }

    /// Returns true if the newest message is a tool result.
    #[must_use]
    pub fn ends_with_tool_result(&self) -> bool {
        match self.api {
            Api::AnthropicMessages => last_of(&self.body, "messages")
                .is_some_and(|message| has_part(&message["content"], is_type("tool_result"))),
            Api::ChatCompletions => {
                last_of(&self.body, "messages").is_some_and(|message| message["role"] == "tool")
            }
            // `function_call_output`, `custom_tool_call_output`, ….
            Api::Responses => last_of(&self.body, "input").is_some_and(|item| {
                item["type"]
                    .as_str()
                    .is_some_and(|kind| kind.ends_with("_output"))
            }),
            Api::Gemini => last_of(&self.body, "contents").is_some_and(|content| {
                has_part(&content["parts"], |part| {
                    part.get("functionResponse").is_some()
                })
            }),
            Api::Other => false,
        }
    }

    /// Returns the names of the offered tools in order; for one in a namespace `namespace/name`.
    #[must_use]
    pub fn tool_names(&self) -> Vec<String> {
        let tools = self.body["tools"].as_array().map_or(&[][..], Vec::as_slice);
        tools
            .iter()
            .flat_map(|tool| {
                let declared = tool["functionDeclarations"].as_array();
                let spaced = tool["tools"]
                    .as_array()
                    .filter(|_| tool["type"] == "namespace");
                let space = spaced.and(tool["name"].as_str());
                let inner = declared
                    .or(spaced)
                    .map_or(std::slice::from_ref(tool), Vec::as_slice);
                inner.iter().map(move |tool| (space, tool))
            })
            .filter_map(|(space, tool)| {
                let name = tool.get("name").or_else(|| tool["function"].get("name"))?;
                let name = name.as_str()?;
                Some(match space {
                    Some(space) => format!("{space}/{name}"),
                    None => name.to_owned(),
                })
            })
            .collect()
    }

    /// Returns the requested model; empty if none is given.
    #[must_use]
    pub fn model(&self) -> String {
        if let Some(model) = self.body["model"].as_str() {
            return model.to_owned();
        }
        let named = self
            .path
            .split_once("/models/")
            .map_or("", |(_, rest)| rest);
        named.split([':', '?', '/']).next().unwrap_or("").to_owned()
    }

    /// Returns true if the response should be a stream of server-sent events.
    #[must_use]
    pub fn wants_stream(&self) -> bool {
        self.body["stream"] == true || self.path.contains(":streamGenerateContent")
    }
}

fn api_of(method: &str, path: &str) -> Api {
    let path = path.split('?').next().unwrap_or("").trim_end_matches('/');
    if method != "POST" {
        Api::Other
    } else if path.ends_with("/messages") {
        Api::AnthropicMessages
    } else if path.ends_with("/chat/completions") {
        Api::ChatCompletions
    } else if path.ends_with("/responses") {
        Api::Responses
    } else if path.ends_with(":generateContent") || path.ends_with(":streamGenerateContent") {
        Api::Gemini
    } else {
        Api::Other
    }
}

/// Returns true for the user's turn. Programs also send side requests (titles, quota, commit messages, "who speaks
/// next"), which must not use up the script.
fn is_main(api: Api, body: &Value) -> bool {
    let offers_tools = body["tools"]
        .as_array()
        .is_some_and(|tools| !tools.is_empty());
    match api {
        // Claude Code's side requests use its small model or one token, without tools.
        Api::AnthropicMessages => {
            let small = body["model"]
                .as_str()
                .is_some_and(|model| model.contains("haiku"));
            let structured = body["output_config"].get("format").is_some();
            offers_tools || !(small || structured || body["max_tokens"] == 1)
        }
        // aider requests a commit message after each edit, opencode a title.
        Api::ChatCompletions => {
            let system = &body["messages"][0]["content"];
            offers_tools
                || !any_string(system, &mut |text| {
                    ["Git commit message", "You are a title generator"]
                        .iter()
                        .any(|mark| text.contains(mark))
                })
        }
        Api::Responses => true,
        // Gemini CLI's side requests have a JSON schema.
        Api::Gemini => body["generationConfig"]["responseMimeType"] != "application/json",
        Api::Other => false,
    }
}

fn last_of<'a>(body: &'a Value, key: &str) -> Option<&'a Value> {
    body[key].as_array()?.last()
}

fn has_part(parts: &Value, test: impl Fn(&Value) -> bool) -> bool {
    parts.as_array().is_some_and(|parts| parts.iter().any(test))
}

fn is_type(name: &str) -> impl Fn(&Value) -> bool {
    move |part| part["type"] == name
}

fn any_string(value: &Value, test: &mut impl FnMut(&str) -> bool) -> bool {
    match value {
        Value::String(text) => test(text),
        Value::Array(items) => items.iter().any(|item| any_string(item, test)),
        Value::Object(fields) => fields.values().any(|field| any_string(field, test)),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}
