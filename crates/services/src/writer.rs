//! A model that writes, behind Anthropic's Messages or OpenAI's Chat Completions.

mod answer;

use crate::http::{self, Endpoint, Key, Refusal, Words};
use answer::Answer;
use heirloom_model::writer::WriteProblem;
use heirloom_model::{Asked, Fault, WriteError, Writer, Written, limits};
use serde_json::{Value, json};
use std::time::Duration;
use ureq::Agent;

/// The version of Anthropic's protocol that is spoken.
const ANTHROPIC_VERSION: &str = "2023-06-01";

const OTHERWISE: &str = "the summary is made without a model";

/// What the service speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Protocol {
    /// `POST {url}/v1/messages`.
    Anthropic,
    /// `POST {url}/chat/completions`, also of services that are like OpenAI's.
    OpenAi,
}

impl Protocol {
    /// The address of whoever made the protocol.
    pub fn default_url(self) -> &'static str {
        match self {
            Self::Anthropic => "https://api.anthropic.com",
            Self::OpenAi => "https://api.openai.com/v1",
        }
    }

    fn words(self) -> Words {
        let (path, examples) = match self {
            Self::Anthropic => ("/v1/messages", "https://api.anthropic.com"),
            Self::OpenAi => (
                "/chat/completions",
                "https://api.openai.com/v1 or http://localhost:11434/v1",
            ),
        };
        Words {
            section: "writer",
            path,
            examples,
            otherwise: OTHERWISE,
        }
    }
}

/// Where a model is, and how it is asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServiceConfig {
    /// What the service speaks.
    pub protocol: Protocol,
    /// What stands before the protocol's path; empty means [`Protocol::default_url`].
    pub url: String,
    /// The model's name.
    pub model: String,
    /// The key, if the service wants one.
    pub key: Option<Key>,
    /// Milliseconds that one try may take, the connection included.
    pub timeout_ms: u64,
}

/// A service whose model writes.
#[derive(Debug)]
pub struct Service {
    protocol: Protocol,
    endpoint: Endpoint,
    model: String,
    agent: Agent,
}

impl Service {
    /// A client; nothing is sent yet. Errors: `Usage` for an address or a name that cannot be used, `Refused` for
    /// a key that would be sent unencrypted to another machine.
    pub fn new(config: ServiceConfig) -> Result<Self, Fault> {
        let protocol = config.protocol;
        let url = match config.url.trim().trim_end_matches('/') {
            "" => protocol.default_url(),
            // Others write it with the version.
            url if protocol == Protocol::Anthropic => url.strip_suffix("/v1").unwrap_or(url),
            url => url,
        };
        let endpoint = Endpoint::new(url, protocol.words(), config.key)?;
        let model = config.model.trim().to_owned();
        if model.is_empty() {
            return Err(
                Fault::usage("the writer has no model").hint("set `model` under `[writer]`")
            );
        }
        let agent = http::agent(config.timeout_ms, limits::WRITER_CONNECT_MS_MAX);
        Ok(Self {
            protocol,
            endpoint,
            model,
            agent,
        })
    }

    fn body(&self, asked: &Asked) -> Value {
        let user = json!({"role": "user", "content": asked.marked_data()});
        match self.protocol {
            Protocol::Anthropic => json!({
                "model": self.model,
                "max_tokens": asked.max_output_tokens,
                "system": asked.system,
                "messages": [user],
            }),
            Protocol::OpenAi => {
                let mut body = json!({
                    "model": self.model,
                    "messages": [{"role": "system", "content": asked.system}, user],
                });
                body[self.limit_name()] = json!(asked.max_output_tokens);
                body
            }
        }
    }

    /// OpenAI's newer models refuse the old name; most services that are like OpenAI's know no other.
    fn limit_name(&self) -> &'static str {
        match self.endpoint.host() {
            "api.openai.com" => "max_completion_tokens",
            _ => "max_tokens",
        }
    }

    fn ask(&self, body: &Value) -> Result<Answer, Refusal> {
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
            Protocol::Anthropic => answer::anthropic(&bytes),
            Protocol::OpenAi => answer::chat(&bytes),
        };
        answer.map_err(|problem| self.endpoint.unusable(&problem))
    }
}

impl Writer for Service {
    fn model(&self) -> &str {
        &self.model
    }

    fn write(&self, asked: &Asked) -> Result<Written, WriteError> {
        let (bytes, most) = (asked.data.len(), limits::WRITER_DATA_BYTES_MAX);
        if bytes > most {
            let said = format!("{bytes} bytes are too much for one call; {most} are the most");
            return Err(WriteError {
                problem: WriteProblem::Refused,
                fault: Fault::refused(said).hint(OTHERWISE),
                lost_tries: 0,
            });
        }
        let body = self.body(asked);
        let (mut tries, mut lost_tries) = (1, 0);
        loop {
            let refusal = match self.ask(&body) {
                Ok(answer) => return Ok(written(answer, asked, &self.model, lost_tries)),
                Err(refusal) => refusal,
            };
            lost_tries += u32::from(refusal.may_be_billed);
            let wait_ms = pause_ms(&refusal).filter(|_| tries < limits::WRITER_TRIES_MAX);
            let Some(wait_ms) = wait_ms else {
                return Err(failed(refusal, lost_tries));
            };
            std::thread::sleep(Duration::from_millis(wait_ms));
            tries += 1;
        }
    }
}

/// How long to wait before asking again; none if that does not help, or would take too long.
fn pause_ms(refusal: &Refusal) -> Option<u64> {
    let asked_for = refusal.again?;
    let wait_ms = asked_for.unwrap_or(limits::WRITER_PAUSE_MS);
    (wait_ms <= limits::WRITER_PAUSE_MS_MAX).then_some(wait_ms)
}

fn failed(refusal: Refusal, lost_tries: u32) -> WriteError {
    let problem = match (refusal.again, refusal.is_final) {
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

/// What was written, counted by the service, or by the estimate where it does not count.
fn written(answer: Answer, asked: &Asked, model: &str, lost_tries: u32) -> Written {
    let estimate = asked.estimate();
    let said = u64::try_from(answer.text.len().div_ceil(2)).unwrap_or(u64::MAX);
    let input_tokens = answer.input_tokens.unwrap_or(estimate.input_tokens);
    Written {
        model: answer.model.unwrap_or_else(|| model.to_owned()),
        input_tokens,
        cached_tokens: answer.cached_tokens.min(input_tokens),
        output_tokens: answer.output_tokens.unwrap_or(said),
        is_cut: answer.is_cut,
        lost_tries,
        text: answer.text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn service(protocol: Protocol, url: &str) -> Result<Service, Fault> {
        Service::new(ServiceConfig {
            protocol,
            url: url.to_owned(),
            model: " m ".to_owned(),
            key: Key::new("sk-secret"),
            timeout_ms: 50,
        })
    }

    #[test]
    fn the_limit_has_the_name_that_the_service_knows() {
        let asked = Asked::summary("t", 7);
        for (url, name) in [
            ("", "max_completion_tokens"),
            ("https://API.openai.com/v1", "max_completion_tokens"),
            ("http://localhost:11434/v1", "max_tokens"),
        ] {
            let body = service(Protocol::OpenAi, url).unwrap().body(&asked);
            assert_eq!(body[name], 7, "{url}: {body}");
        }
    }

    #[test]
    fn a_connection_is_there_soon_or_never() {
        let config = ServiceConfig {
            protocol: Protocol::OpenAi,
            url: String::new(),
            model: "m".to_owned(),
            key: None,
            timeout_ms: 600_000,
        };
        let timeouts = Service::new(config).unwrap().agent.config().timeouts();
        let connect = Duration::from_millis(limits::WRITER_CONNECT_MS_MAX);
        assert_eq!(timeouts.connect, Some(connect));
        assert_eq!(timeouts.global, Some(Duration::from_mins(10)));
    }

    #[test]
    fn addresses_with_and_without_the_version() {
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
