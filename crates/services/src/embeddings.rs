//! Vectors from a service that speaks the embeddings protocol of OpenAI: `POST {url}/embeddings`.

mod answer;

use heirloom_model::{Embedder, Fault, Purpose, limits, text};
use serde_json::{Value, json};
use std::fmt;
use std::time::Duration;
use ureq::http::{HeaderMap, StatusCode};
use ureq::{Agent, Error};

/// A secret that is sent and never shown.
#[derive(Clone, PartialEq, Eq)]
pub struct Key(String);

impl Key {
    /// The key, without the spaces around it; none if nothing is left.
    pub fn new(secret: &str) -> Option<Self> {
        let secret = secret.trim();
        (!secret.is_empty()).then(|| Self(secret.to_owned()))
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key(…)")
    }
}

/// Where a service is, and how it is asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServiceConfig {
    /// What stands before `/embeddings`: `https://api.openai.com/v1`.
    pub url: String,
    /// The model's name.
    pub model: String,
    /// Numbers of a vector that are asked for; `None` leaves it to the model.
    pub dimensions: Option<usize>,
    /// The key, if the service wants one.
    pub key: Option<Key>,
    /// Milliseconds that a question waits.
    pub question_ms: u64,
}

/// A service that makes vectors.
#[derive(Debug)]
pub struct Service {
    config: ServiceConfig,
    address: String,
    name: String,
    questions: Agent,
    batches: Agent,
}

/// Why one request did not bring vectors.
struct Refusal {
    fault: Fault,
    /// Whether asking again may help, and how long the service asks to wait, milliseconds.
    again: Option<Option<u64>>,
}

impl Service {
    /// A client; nothing is sent yet. Errors: `Usage` for an address or a name that cannot be used, `Refused` for
    /// a key that would be sent unencrypted to another machine.
    pub fn new(config: ServiceConfig) -> Result<Self, Fault> {
        let url = config.url.trim().trim_end_matches('/');
        let host = checked_host(url)?;
        let is_open = url.starts_with("http://");
        if is_open && config.key.is_some() && !is_this_machine(&host) {
            return Err(
                Fault::refused(format!("the key would be sent to {host} unencrypted"))
                    .hint("use an https:// address, or no key"),
            );
        }
        if config.model.trim().is_empty() {
            return Err(Fault::usage("the embeddings service has no model")
                .hint("set `model` under `[embedder]`"));
        }
        Ok(Self {
            address: format!("{url}/embeddings"),
            name: Self::name_of(&config.model, config.dimensions),
            questions: agent(config.question_ms),
            batches: agent(limits::EMBEDDING_BATCH_TIMEOUT_MS),
            config,
        })
    }

    /// The name under which vectors of this model are kept.
    pub fn name_of(model: &str, dimensions: Option<usize>) -> String {
        let model = model.trim();
        match dimensions {
            Some(dimensions) => format!("{model}@{dimensions}"),
            None => model.to_owned(),
        }
    }

    fn ask(&self, agent: &Agent, texts: &[&str]) -> Result<Vec<Vec<f32>>, Refusal> {
        let mut body = json!({
            "model": self.config.model.trim(),
            "input": texts,
            "encoding_format": "float",
        });
        if let Some(dimensions) = self.config.dimensions {
            body["dimensions"] = json!(dimensions);
        }
        let mut request = agent
            .post(&self.address)
            .header("content-type", "application/json");
        if let Some(Key(key)) = &self.config.key {
            request = request.header("authorization", format!("Bearer {key}"));
        }
        let answered = request.send(body.to_string());
        let mut response = answered.map_err(|error| self.unreachable(&error))?;
        let (status, headers) = (response.status(), response.headers().clone());
        let most = limits::EMBEDDING_ANSWER_BYTES_MAX;
        let read = response.body_mut().with_config().limit(most).read_to_vec();
        if !status.is_success() {
            return Err(self.refused(status, &headers, &read.unwrap_or_default()));
        }
        let bytes = read.map_err(|error| self.unreachable(&error))?;
        answer::vectors(&bytes, texts.len(), self.config.dimensions).map_err(|problem| Refusal {
            fault: self.fault(&problem),
            again: None,
        })
    }

    fn fault(&self, problem: &str) -> Fault {
        Fault::failed(self.without_key(&format!("{}: {problem}", self.address)))
    }

    /// Whatever a service says, the key is not in it.
    fn without_key(&self, said: &str) -> String {
        match &self.config.key {
            Some(Key(key)) => said.replace(key.as_str(), "[redacted]"),
            None => said.to_owned(),
        }
    }

    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "another crate's errors, of which there may be more"
    )]
    fn unreachable(&self, error: &Error) -> Refusal {
        let (problem, is_passing) = match error {
            Error::Timeout(_) => ("it did not answer in time".to_owned(), true),
            Error::HostNotFound => ("there is no such host".to_owned(), true),
            Error::ConnectionFailed => ("no connection".to_owned(), true),
            Error::BodyExceedsLimit(most) => {
                (format!("the answer has more than {most} bytes"), false)
            }
            Error::Io(error) => (format!("the connection broke: {error}"), true),
            Error::Protocol(error) => (format!("the answer is no HTTP, or was cut: {error}"), true),
            other => (other.to_string(), false),
        };
        let fault = self.fault(&problem).hint(
            "see that the service runs and that `embedder.url` names it; nothing is lost, recall goes on \
             with the built-in vectors",
        );
        Refusal {
            fault,
            again: is_passing.then_some(None),
        }
    }

    fn refused(&self, status: StatusCode, headers: &HeaderMap, body: &[u8]) -> Refusal {
        let said = said(body);
        let problem = format!("it answered {}{said}", status.as_u16());
        let fault = self.fault(&problem);
        let fault = match status.as_u16() {
            401 | 403 => {
                fault.hint("see that the variable of `embedder.key_variable` holds a good key")
            }
            404 | 405 => {
                fault.hint("see `embedder.url` and `embedder.model`: is it POST URL/embeddings?")
            }
            300..=399 => {
                fault.hint("redirects are not followed: set `embedder.url` to the new address")
            }
            429 | 500..=599 => fault.hint("the service is busy or broken: try again later"),
            _ => fault,
        };
        let is_passing = matches!(status.as_u16(), 408 | 429 | 500..=599);
        let wait = headers.get("retry-after");
        let wait = wait.and_then(|wait| wait.to_str().ok()?.trim().parse::<f64>().ok());
        let wait = wait.filter(|seconds| seconds.is_finite() && *seconds >= 0.0);
        Refusal {
            fault,
            again: is_passing.then(|| wait.map(|seconds| (seconds * 1_000.0) as u64)),
        }
    }
}

impl Embedder for Service {
    fn model(&self) -> &str {
        &self.name
    }

    fn embed(&self, texts: &[&str], purpose: Purpose) -> Result<Vec<Vec<f32>>, Fault> {
        if texts.is_empty() {
            return Ok(Vec::new());
        }
        let (agent, tries) = match purpose {
            Purpose::Question => (&self.questions, 1),
            Purpose::Texts => (&self.batches, limits::EMBEDDING_TRIES_MAX),
        };
        let mut pause_ms = limits::EMBEDDING_PAUSE_MS;
        for _ in 1..tries {
            match self.ask(agent, texts) {
                Ok(vectors) => return Ok(vectors),
                Err(Refusal { fault, again: None }) => return Err(fault),
                Err(Refusal {
                    fault,
                    again: Some(wait_ms),
                }) => {
                    if wait_ms.is_some_and(|wait_ms| wait_ms > limits::EMBEDDING_PAUSE_MS_MAX) {
                        return Err(fault);
                    }
                    let wait_ms = wait_ms.unwrap_or(0).max(pause_ms);
                    std::thread::sleep(Duration::from_millis(wait_ms));
                    pause_ms *= 2;
                }
            }
        }
        self.ask(agent, texts).map_err(|refusal| refusal.fault)
    }
}

fn agent(timeout_ms: u64) -> Agent {
    let config = Agent::config_builder()
        .timeout_global(Some(Duration::from_millis(timeout_ms)))
        .http_status_as_error(false)
        .max_redirects(0)
        .max_redirects_will_error(false)
        .proxy(None)
        .user_agent("heirloom")
        .build();
    config.into()
}

/// The host of an address. Errors say what is wrong without repeating it: it may hold a secret.
fn checked_host(url: &str) -> Result<String, Fault> {
    let bad = |problem: &str| {
        Fault::usage(format!("`embedder.url` {problem}"))
            .hint("such as https://api.openai.com/v1 or http://localhost:11434/v1")
    };
    let rest = url
        .strip_prefix("https://")
        .or_else(|| url.strip_prefix("http://"))
        .ok_or_else(|| bad("does not begin with https:// or http://"))?;
    let authority = rest.split(['/', '?', '#']).next().unwrap_or("");
    if authority.contains('@') {
        return Err(bad(
            "has a name or a password in it: name the variable that holds the key in `embedder.key_variable`",
        ));
    }
    if rest.contains(['?', '#']) {
        return Err(bad("has a query or a fragment"));
    }
    if authority.is_empty() || !url.is_ascii() || url.contains(char::is_whitespace) {
        return Err(bad("is no address"));
    }
    // `[::1]:8080`
    let host = match authority.strip_prefix('[') {
        Some(v6) => v6.split(']').next().unwrap_or(""),
        None => authority.split(':').next().unwrap_or(""),
    };
    Ok(host.to_ascii_lowercase())
}

fn is_this_machine(host: &str) -> bool {
    let ip = host.parse::<std::net::IpAddr>();
    host == "localhost" || ip.is_ok_and(|ip| ip.is_loopback())
}

/// What an error's body says, shortened; empty if it says nothing.
fn said(body: &[u8]) -> String {
    let value: Option<Value> = serde_json::from_slice(body).ok();
    let message = value.as_ref().and_then(|value| {
        let error = value.get("error").unwrap_or(value);
        error.get("message").unwrap_or(error).as_str()
    });
    let said = match message {
        Some(message) => message.to_owned(),
        None => String::from_utf8_lossy(body).into_owned(),
    };
    match text::excerpt(&said, 200) {
        said if said.trim().is_empty() => String::new(),
        said => format!(": {said}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(url: &str) -> ServiceConfig {
        ServiceConfig {
            url: url.to_owned(),
            model: "m".to_owned(),
            dimensions: None,
            key: Key::new(" sk-secret "),
            question_ms: 50,
        }
    }

    #[test]
    fn addresses_that_cannot_be_used_are_refused_and_not_repeated() {
        for (url, part) in [
            ("", "does not begin with"),
            ("ftp://x", "does not begin with"),
            ("https:///v1", "is no address"),
            ("https://a b", "is no address"),
            ("https://me:hunter2@x/v1", "a name or a password"),
            ("https://x/v1?key=hunter2", "has a query"),
            ("http://example.com/v1", "unencrypted"),
            ("http://localhost.example.com/v1", "unencrypted"),
        ] {
            let fault = Service::new(config(url)).unwrap_err();
            assert!(fault.message.contains(part), "{url}: {fault}");
            assert!(!fault.message.contains("hunter2"), "{fault}");
        }
        for url in [
            "https://api.openai.com/v1/",
            "http://localhost:1/v1",
            "http://127.0.0.1:1",
            "http://[::1]:1/v1",
        ] {
            let service = Service::new(config(url)).unwrap();
            assert!(service.address.ends_with("/embeddings"));
            assert!(!service.address.contains("//embeddings"));
        }
    }

    #[test]
    fn nothing_shows_the_key() {
        let service = Service::new(config("https://x/v1")).unwrap();
        assert!(!format!("{service:?}").contains("sk-secret"));
        let body = br#"{"error": {"message": "bad key: sk-secret"}}"#;
        let refusal = service.refused(StatusCode::UNAUTHORIZED, &HeaderMap::new(), body);
        assert_eq!(
            refusal.fault.message,
            "https://x/v1/embeddings: it answered 401: bad key: [redacted]"
        );
        assert!(refusal.again.is_none());
    }

    #[test]
    fn nothing_is_waited_for_without_end() {
        let service = Service::new(config("https://x/v1")).unwrap();
        let limit = |agent: &Agent| agent.config().timeouts().global;
        let batch = Duration::from_millis(limits::EMBEDDING_BATCH_TIMEOUT_MS);
        assert_eq!(limit(&service.batches), Some(batch));
        assert_eq!(limit(&service.questions), Some(Duration::from_millis(50)));
    }

    #[test]
    fn dimensions_are_a_part_of_the_name() {
        assert_eq!(Service::name_of(" m ", None), "m");
        assert_eq!(Service::name_of("m", Some(3)), "m@3");
    }
}
