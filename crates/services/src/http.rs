//! What every client has in one: checked addresses, keys that nobody sees, bounded waiting and reading.

use heirloom_model::{Fault, text};
use serde_json::Value;
use std::time::Duration;
use std::{fmt, io};
use ureq::http::{HeaderMap, StatusCode};
use ureq::{Agent, Error, Timeout};

/// A secret that is sent and never shown.
#[derive(Clone, PartialEq, Eq)]
pub struct Key(String);

impl Key {
    /// The key, without the spaces around it; none if nothing is left.
    pub fn new(secret: &str) -> Option<Self> {
        let secret = secret.trim();
        (!secret.is_empty()).then(|| Self(secret.to_owned()))
    }

    /// The secret, for a header and for nothing else.
    pub(crate) fn secret(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key(…)")
    }
}

/// What the messages of a client say about its settings.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Words {
    /// The section of its settings.
    pub(crate) section: &'static str,
    /// What stands behind the configured address: `/embeddings`.
    pub(crate) path: &'static str,
    /// Such addresses as may be configured.
    pub(crate) examples: &'static str,
    /// What happens if the service cannot be asked.
    pub(crate) otherwise: &'static str,
}

/// Where requests go.
#[derive(Debug)]
pub(crate) struct Endpoint {
    words: Words,
    address: String,
    host: String,
    key: Option<Key>,
}

/// Why one request brought nothing.
pub(crate) struct Refusal {
    pub(crate) fault: Fault,
    /// Whether asking again may help, and how long the service asks to wait, milliseconds.
    pub(crate) again: Option<Option<u64>>,
    /// Whether the service may have done the work all the same.
    pub(crate) may_be_billed: bool,
    /// Whether the service, or we, said no to the request itself.
    pub(crate) is_final: bool,
}

impl Endpoint {
    /// An endpoint; nothing is sent yet. Errors: `Usage` for an address that cannot be used, `Refused` for a key
    /// that would be sent unencrypted to another machine.
    pub(crate) fn new(url: &str, words: Words, key: Option<Key>) -> Result<Self, Fault> {
        let url = url.trim().trim_end_matches('/');
        let host = checked_host(url, words)?;
        let is_open = url.starts_with("http://");
        if is_open && key.is_some() && !is_this_machine(&host) {
            return Err(
                Fault::refused(format!("the key would be sent to {host} unencrypted"))
                    .hint("use an https:// address, or no key"),
            );
        }
        Ok(Self {
            address: format!("{url}{}", words.path),
            words,
            host,
            key,
        })
    }

    pub(crate) fn host(&self) -> &str {
        &self.host
    }

    pub(crate) fn key(&self) -> Option<&str> {
        self.key.as_ref().map(Key::secret)
    }

    /// The body of a good answer, of `bytes_max` bytes at most.
    pub(crate) fn post(
        &self,
        agent: &Agent,
        headers: &[(&str, &str)],
        body: &Value,
        bytes_max: u64,
    ) -> Result<Vec<u8>, Refusal> {
        let mut request = agent
            .post(&self.address)
            .header("content-type", "application/json");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let answered = request.send(body.to_string());
        let mut response = answered.map_err(|error| self.unreachable(&error))?;
        let (status, headers) = (response.status(), response.headers().clone());
        let body = response.body_mut().with_config().limit(bytes_max);
        let read = body.read_to_vec();
        if !status.is_success() {
            return Err(self.refused(status, &headers, &read.unwrap_or_default()));
        }
        read.map_err(|error| self.unreachable(&error))
    }

    /// A good answer that is of no use.
    pub(crate) fn unusable(&self, problem: &str) -> Refusal {
        Refusal {
            fault: self.fault(problem),
            again: None,
            may_be_billed: true,
            is_final: false,
        }
    }

    fn fault(&self, problem: &str) -> Fault {
        Fault::failed(self.without_key(&format!("{}: {problem}", self.address)))
    }

    /// Whatever a service says, the key is not in it.
    fn without_key(&self, said: &str) -> String {
        match self.key() {
            Some(key) => said.replace(key, "[redacted]"),
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
        let may_be_billed = match error {
            Error::Timeout(Timeout::Resolve | Timeout::Connect) => false,
            Error::Io(error) => error.kind() != io::ErrorKind::ConnectionRefused,
            Error::Timeout(_) | Error::Protocol(_) | Error::BodyExceedsLimit(_) => true,
            _ => false,
        };
        let Words {
            section, otherwise, ..
        } = self.words;
        let fault = self.fault(&problem).hint(format!(
            "see that the service runs and that `{section}.url` names it; nothing is lost, {otherwise}"
        ));
        Refusal {
            fault,
            again: is_passing.then_some(None),
            may_be_billed,
            is_final: false,
        }
    }

    pub(crate) fn refused(&self, status: StatusCode, headers: &HeaderMap, body: &[u8]) -> Refusal {
        let problem = format!("it answered {}{}", status.as_u16(), said(body));
        let fault = self.fault(&problem);
        let Words { section, path, .. } = self.words;
        let fault = match status.as_u16() {
            401 | 403 => fault.hint(format!(
                "see that the variable of `{section}.key_variable` holds a good key"
            )),
            404 | 405 => fault.hint(format!(
                "see `{section}.url` and `{section}.model`: is it POST URL{path}?"
            )),
            300..=399 => fault.hint(format!(
                "redirects are not followed: set `{section}.url` to the new address"
            )),
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
            may_be_billed: false,
            is_final: !is_passing,
        }
    }
}

/// What sends requests that may take so long, the connection included.
pub(crate) fn agent(timeout_ms: u64, connect_ms: u64) -> Agent {
    let config = Agent::config_builder()
        .timeout_global(Some(Duration::from_millis(timeout_ms)))
        .timeout_connect(Some(Duration::from_millis(connect_ms.min(timeout_ms))))
        .http_status_as_error(false)
        .max_redirects(0)
        .max_redirects_will_error(false)
        .proxy(None)
        .user_agent("heirloom")
        .build();
    config.into()
}

/// The host of an address. Errors say what is wrong without repeating it: it may hold a secret.
fn checked_host(url: &str, words: Words) -> Result<String, Fault> {
    let section = words.section;
    let bad = |problem: &str| {
        Fault::usage(format!("`{section}.url` {problem}"))
            .hint(format!("such as {}", words.examples))
    };
    let rest = url
        .strip_prefix("https://")
        .or_else(|| url.strip_prefix("http://"))
        .ok_or_else(|| bad("does not begin with https:// or http://"))?;
    let authority = rest.split(['/', '?', '#']).next().unwrap_or("");
    if authority.contains('@') {
        return Err(bad(&format!(
            "has a name or a password in it: name the variable that holds the key in `{section}.key_variable`"
        )));
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

    const WORDS: Words = Words {
        section: "embedder",
        path: "/embeddings",
        examples: "https://api.example.com/v1",
        otherwise: "all goes on",
    };

    fn endpoint(url: &str) -> Result<Endpoint, Fault> {
        Endpoint::new(url, WORDS, Key::new(" sk-secret "))
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
            let fault = endpoint(url).unwrap_err();
            assert!(fault.message.contains(part), "{url}: {fault}");
            assert!(!fault.message.contains("hunter2"), "{fault}");
        }
        for url in [
            "https://api.openai.com/v1/",
            "http://localhost:1/v1",
            "http://127.0.0.1:1",
            "http://[::1]:1/v1",
        ] {
            let endpoint = endpoint(url).unwrap();
            assert!(endpoint.address.ends_with("/embeddings"));
            assert!(!endpoint.address.contains("//embeddings"));
        }
    }

    #[test]
    fn nothing_shows_the_key() {
        let endpoint = endpoint("https://x/v1").unwrap();
        assert!(!format!("{endpoint:?}").contains("sk-secret"));
        let body = br#"{"error": {"message": "bad key: sk-secret"}}"#;
        let refusal = endpoint.refused(StatusCode::UNAUTHORIZED, &HeaderMap::new(), body);
        assert_eq!(
            refusal.fault.message,
            "https://x/v1/embeddings: it answered 401: bad key: [redacted]"
        );
        assert!(refusal.again.is_none() && refusal.is_final);
    }

    #[test]
    fn nothing_is_waited_for_without_end() {
        let agent = agent(50, 1_000);
        let timeouts = agent.config().timeouts();
        assert_eq!(timeouts.global, Some(Duration::from_millis(50)));
        assert_eq!(timeouts.connect, Some(Duration::from_millis(50)));
    }
}
