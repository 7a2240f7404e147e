//! Client for language models with Anthropic's Messages or OpenAI's Chat Completions.

mod response;

use crate::http_client::{self, Endpoint, ErrorContext, Key, RequestError};
use crate::retry_backoff;
use heirloom_model::language_model::WriteProblem;
use heirloom_model::{Fault, WriteError, WriteRequest, WriteResponse, Writer, limits};
use response::Completion;
use serde_json::{Value, json};
use std::time::Duration;
use ureq::Agent;

/// Version of Anthropic's protocol.
const ANTHROPIC_VERSION: &str = "2023-06-01";

const FALLBACK: &str = "the summary is made without a model";

/// Protocol of a language model service.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Protocol {
    /// `POST {url}/v1/messages`.
    Anthropic,
    /// `POST {url}/chat/completions`, also of services that are like OpenAI's.
    OpenAi,
}

impl Protocol {
    /// Returns the address of the protocol's vendor.
    pub fn default_url(self) -> &'static str {
        match self {
            Self::Anthropic => "https://api.anthropic.com",
            Self::OpenAi => "https://api.openai.com/v1",
        }
    }

    fn error_context(self) -> ErrorContext {
        let (path, examples) = match self {
            Self::Anthropic => ("/v1/messages", "https://api.anthropic.com"),
            Self::OpenAi => (
                "/chat/completions",
                "https://api.openai.com/v1 or http://localhost:11434/v1",
            ),
        };
        ErrorContext {
            section: "writer",
            path,
            examples,
            fallback: FALLBACK,
        }
    }
}

/// Configuration of a language model client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WriterClientConfig {
    /// Protocol of the service.
    pub protocol: Protocol,
    /// Base address before the protocol's path; empty means [`Protocol::default_url`].
    pub url: String,
    /// Name of the model.
    pub model: String,
    /// API key, if the service needs one.
    pub key: Option<Key>,
    /// Timeout of one attempt including the connection, milliseconds.
    pub timeout_ms: u64,
}

/// Client of a language model service.
#[derive(Debug)]
pub struct WriterClient {
    protocol: Protocol,
    endpoint: Endpoint,
    model: String,
    temperature: Option<f64>,
    agent: Agent,
}

impl WriterClient {
    /// Creates a client without sending anything. Errors: `Usage` for an invalid address or name, `Refused` for a key
    /// that would be sent unencrypted to another machine.
    pub fn new(config: WriterClientConfig) -> Result<Self, Fault> {
        let protocol = config.protocol;
        let url = match config.url.trim().trim_end_matches('/') {
            "" => protocol.default_url(),
            // Other programs' settings include the version.
            url if protocol == Protocol::Anthropic => url.strip_suffix("/v1").unwrap_or(url),
            url => url,
        };
        let endpoint = Endpoint::new(url, protocol.error_context(), config.key)?;
        let model = config.model.trim().to_owned();
        if model.is_empty() {
            return Err(
                Fault::usage("the writer has no model").hint("set `model` under `[writer]`")
            );
        }
        let agent = http_client::agent(config.timeout_ms, limits::WRITER_CONNECT_MS_MAX);
        Ok(Self {
            protocol,
            endpoint,
            model,
            temperature: None,
            agent,
        })
    }

    /// Sets the temperature of all requests; without one the service uses its default.
    #[must_use]
    pub fn with_temperature(self, temperature: Option<f64>) -> Self {
        Self {
            temperature,
            ..self
        }
    }

    fn body(&self, request: &WriteRequest) -> Value {
        let mut body = self.plain_body(request);
        if let Some(temperature) = self.temperature {
            body["temperature"] = json!(temperature);
        }
        body
    }

    fn plain_body(&self, request: &WriteRequest) -> Value {
        let user = json!({"role": "user", "content": request.marked_data()});
        match self.protocol {
            Protocol::Anthropic => json!({
                "model": self.model,
                "max_tokens": request.max_output_tokens,
                "system": request.system,
                "messages": [user],
            }),
            Protocol::OpenAi => {
                let mut body = json!({
                    "model": self.model,
                    "messages": [{"role": "system", "content": request.system}, user],
                });
                body[self.limit_name()] = json!(request.max_output_tokens);
                body
            }
        }
    }

    /// Returns the name of the output limit: OpenAI's newer models reject the old name, and most compatible services
    /// know only that.
    fn limit_name(&self) -> &'static str {
        match self.endpoint.host() {
            "api.openai.com" => "max_completion_tokens",
            _ => "max_tokens",
        }
    }

    fn request_completion(&self, body: &Value) -> Result<Completion, RequestError> {
        let key = self.endpoint.key().unwrap_or_default();
        let bearer = format!("Bearer {key}");
        let mut headers = match self.protocol {
            Protocol::Anthropic => vec![("x-api-key", key)],
            Protocol::OpenAi => vec![("authorization", bearer.as_str())],
        };
        if key.is_empty() {
            headers.clear();
        }
        if self.protocol == Protocol::Anthropic {
            headers.push(("anthropic-version", ANTHROPIC_VERSION));
        }
        let most = limits::WRITER_ANSWER_BYTES_MAX;
        let bytes = self.endpoint.post(&self.agent, &headers, body, most)?;
        let answer = match self.protocol {
            Protocol::Anthropic => response::parse_anthropic(&bytes),
            Protocol::OpenAi => response::parse_chat(&bytes),
        };
        answer.map_err(|problem| self.endpoint.invalid_response(&problem))
    }
}

impl Writer for WriterClient {
    fn model(&self) -> &str {
        &self.model
    }

    fn write(&self, request: &WriteRequest) -> Result<WriteResponse, WriteError> {
        let (bytes, most) = (request.data.len(), limits::WRITER_DATA_BYTES_MAX);
        if bytes > most {
            let message = format!("{bytes} bytes are too many for one call; the maximum is {most}");
            return Err(WriteError {
                problem: WriteProblem::Refused,
                fault: Fault::refused(message).hint(FALLBACK),
                lost_tries: 0,
            });
        }
        let body = self.body(request);
        let (mut tries, mut lost_tries) = (1, 0);
        loop {
            let refusal = match self.request_completion(&body) {
                Ok(answer) => return Ok(write_response(answer, request, &self.model, lost_tries)),
                Err(refusal) => refusal,
            };
            lost_tries += u32::from(refusal.may_be_billed);
            let (backoff_ms, most_ms) = (limits::WRITER_PAUSE_MS, limits::WRITER_PAUSE_MS_MAX);
            let wait_ms = retry_backoff::wait_ms(refusal.retry, backoff_ms, most_ms)
                .filter(|_| tries < limits::WRITER_TRIES_MAX);
            let Some(wait_ms) = wait_ms else {
                return Err(write_error(refusal, lost_tries));
            };
            std::thread::sleep(Duration::from_millis(wait_ms));
            tries += 1;
        }
    }
}

fn write_error(refusal: RequestError, lost_tries: u32) -> WriteError {
    let problem = match (refusal.retry, refusal.is_final) {
        (Some(_), _) => WriteProblem::Unavailable,
        (None, true) => WriteProblem::Refused,
        (None, false) => WriteProblem::Unusable,
    };
    WriteError {
        problem,
        fault: refusal.fault,
        lost_tries,
    }
}

/// Converts a completion to a response; missing token counts are estimated.
fn write_response(
    answer: Completion,
    request: &WriteRequest,
    model: &str,
    lost_tries: u32,
) -> WriteResponse {
    let estimate = request.estimate();
    let estimated_output = u64::try_from(answer.text.len().div_ceil(2)).unwrap_or(u64::MAX);
    let input_tokens = answer.input_tokens.unwrap_or(estimate.input_tokens);
    WriteResponse {
        model: answer.model.unwrap_or_else(|| model.to_owned()),
        input_tokens,
        cached_tokens: answer.cached_tokens.min(input_tokens),
        output_tokens: answer.output_tokens.unwrap_or(estimated_output),
        is_cut: answer.is_cut,
        lost_tries,
        text: answer.text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn service(protocol: Protocol, url: &str) -> Result<WriterClient, Fault> {
        WriterClient::new(WriterClientConfig {
            protocol,
            url: url.to_owned(),
            model: " m ".to_owned(),
            key: Key::new("sk-secret"),
            timeout_ms: 50,
        })
    }

    #[test]
    fn output_limit_name_depends_on_host() {
        let request = WriteRequest::summary("t", 7);
        for (url, name) in [
            ("", "max_completion_tokens"),
            ("https://API.openai.com/v1", "max_completion_tokens"),
            ("http://localhost:11434/v1", "max_tokens"),
        ] {
            let body = service(Protocol::OpenAi, url).unwrap().body(&request);
            assert_eq!(body[name], 7, "{url}: {body}");
        }
    }

    #[test]
    fn temperature_is_sent_by_both_protocols_and_only_if_set() {
        let request = WriteRequest::summary("t", 7);
        for protocol in [Protocol::Anthropic, Protocol::OpenAi] {
            let plain = service(protocol, "").unwrap();
            assert!(plain.body(&request).get("temperature").is_none());
            let warm = plain.with_temperature(Some(0.5));
            assert_eq!(warm.body(&request)["temperature"], 0.5);
        }
    }

    #[test]
    fn connect_timeout_is_shorter_than_total() {
        let config = WriterClientConfig {
            protocol: Protocol::OpenAi,
            url: String::new(),
            model: "m".to_owned(),
            key: None,
            timeout_ms: 600_000,
        };
        let timeouts = WriterClient::new(config).unwrap().agent.config().timeouts();
        let connect = Duration::from_millis(limits::WRITER_CONNECT_MS_MAX);
        assert_eq!(timeouts.connect, Some(connect));
        assert_eq!(timeouts.global, Some(Duration::from_mins(10)));
    }

    #[test]
    fn version_suffix_of_address_is_optional() {
        for url in [
            "",
            "https://api.anthropic.com/",
            "https://api.anthropic.com/v1/",
        ] {
            let shown = format!("{:?}", service(Protocol::Anthropic, url).unwrap());
            assert!(
                shown.contains("\"https://api.anthropic.com/v1/messages\""),
                "{shown}"
            );
            assert!(!shown.contains("sk-secret"), "{shown}");
        }
        let fault = service(Protocol::OpenAi, "http://example.com/v1").unwrap_err();
        assert!(fault.message.contains("unencrypted"), "{fault}");
        let fault = service(Protocol::OpenAi, "ftp://x").unwrap_err();
        assert!(fault.message.contains("`writer.url`"), "{fault}");
    }
}
