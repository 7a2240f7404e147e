//! HTTP client shared by all services: address validation, secret keys, timeouts and size limits.

use crate::retry_backoff;
use heirloom_model::{Fault, text};
use serde_json::Value;
use std::time::Duration;
use std::{fmt, io};
use ureq::http::{HeaderMap, StatusCode};
use ureq::{Agent, Error, Timeout};

/// API key that is sent and never displayed.
#[derive(Clone, PartialEq, Eq)]
pub struct Key(String);

impl Key {
    /// Trims the key; `None` if nothing is left.
    pub fn new(secret: &str) -> Option<Self> {
        let secret = secret.trim();
        (!secret.is_empty()).then(|| Self(secret.to_owned()))
    }

    /// Returns the secret, only for use in a header.
    pub(crate) fn secret(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key(…)")
    }
}

/// Texts for the error messages of a client.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ErrorContext {
    /// Section of its settings.
    pub(crate) section: &'static str,
    /// Path appended to the configured address: `/embeddings`.
    pub(crate) path: &'static str,
    /// Example addresses.
    pub(crate) examples: &'static str,
    /// Consequence if the service is unavailable.
    pub(crate) fallback: &'static str,
}

/// Endpoint of a service.
#[derive(Debug)]
pub(crate) struct Endpoint {
    context: ErrorContext,
    address: String,
    host: String,
    key: Option<Key>,
}

/// Error of one request.
pub(crate) struct RequestError {
    pub(crate) fault: Fault,
    /// `Some` if a retry may help, with the `Retry-After` of the service, milliseconds.
    pub(crate) retry: Option<Option<u64>>,
    /// True if the service may have done the work and billed it.
    pub(crate) may_be_billed: bool,
    /// True if the request itself was rejected.
    pub(crate) is_final: bool,
}

impl Endpoint {
    /// Creates an endpoint without sending anything. Errors: `Usage` for an invalid address, `Refused` for a key that
    /// would be sent unencrypted to another machine.
    pub(crate) fn new(url: &str, words: ErrorContext, key: Option<Key>) -> Result<Self, Fault> {
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
            context: words,
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

    /// Sends a request and returns the body of a successful response, at most `bytes_max` bytes.
    pub(crate) fn post(
        &self,
        agent: &Agent,
        headers: &[(&str, &str)],
        body: &Value,
        bytes_max: u64,
    ) -> Result<Vec<u8>, RequestError> {
        let mut request = agent
            .post(&self.address)
            .header("content-type", "application/json");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let answered = request.send(body.to_string());
        let mut response = answered.map_err(|error| self.transport_error(&error))?;
        let (status, headers) = (response.status(), response.headers().clone());
        let body = response.body_mut().with_config().limit(bytes_max);
        let read = body.read_to_vec();
        if !status.is_success() {
            return Err(self.status_error(status, &headers, &read.unwrap_or_default()));
        }
        read.map_err(|error| self.transport_error(&error))
    }

    /// Creates the error for a successful but invalid response.
    pub(crate) fn invalid_response(&self, problem: &str) -> RequestError {
        RequestError {
            fault: self.fault(problem),
            retry: None,
            may_be_billed: true,
            is_final: false,
        }
    }

    fn fault(&self, problem: &str) -> Fault {
        Fault::failed(self.redact_key(&format!("{}: {problem}", self.address)))
    }

    /// Removes the key from a text, whatever the service returned.
    fn redact_key(&self, message_text: &str) -> String {
        match self.key() {
            Some(key) => message_text.replace(key, "[redacted]"),
            None => message_text.to_owned(),
        }
    }

    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "another crate's errors, of which there may be more"
    )]
    fn transport_error(&self, error: &Error) -> RequestError {
        let (problem, is_passing) = match error {
            Error::Timeout(_) => ("it did not answer in time".to_owned(), true),
            Error::HostNotFound => ("there is no such host".to_owned(), true),
            Error::ConnectionFailed => ("no connection".to_owned(), true),
            Error::BodyExceedsLimit(most) => {
                (format!("the answer has more than {most} bytes"), false)
            }
            Error::Io(error) => (format!("the connection broke: {error}"), true),
            Error::Protocol(error) => (
                format!("the response is not HTTP or is truncated: {error}"),
                true,
            ),
            other => (other.to_string(), false),
        };
        let may_be_billed = match error {
            Error::Timeout(Timeout::Resolve | Timeout::Connect) => false,
            Error::Io(error) => error.kind() != io::ErrorKind::ConnectionRefused,
            Error::Timeout(_) | Error::Protocol(_) | Error::BodyExceedsLimit(_) => true,
            _ => false,
        };
        let ErrorContext {
            section,
            fallback: otherwise,
            ..
        } = self.context;
        let fault = self.fault(&problem).hint(format!(
            "see that the service runs and that `{section}.url` names it; nothing is lost, {otherwise}"
        ));
        RequestError {
            fault,
            retry: is_passing.then_some(None),
            may_be_billed,
            is_final: false,
        }
    }

    pub(crate) fn status_error(
        &self,
        status: StatusCode,
        headers: &HeaderMap,
        body: &[u8],
    ) -> RequestError {
        let problem = format!("it answered {}{}", status.as_u16(), error_text(body));
        let fault = self.fault(&problem);
        let ErrorContext { section, path, .. } = self.context;
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
        let is_passing = retry_backoff::is_retryable(status);
        let wait = headers.get("retry-after");
        let wait = wait.and_then(|wait| wait.to_str().ok()?.trim().parse::<f64>().ok());
        let wait = wait.filter(|seconds| seconds.is_finite() && *seconds >= 0.0);
        RequestError {
            fault,
            retry: is_passing.then(|| wait.map(|seconds| (seconds * 1_000.0) as u64)),
            may_be_billed: false,
            is_final: !is_passing,
        }
    }
}

/// Creates an HTTP agent with these timeouts.
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

/// Validates an address and returns its host. Errors do not repeat the address, which may contain a secret.
fn checked_host(url: &str, words: ErrorContext) -> Result<String, Fault> {
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
        return Err(bad("is not a valid address"));
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

/// Returns the message in an error body, shortened; empty if it has no message.
fn error_text(body: &[u8]) -> String {
    let value: Option<Value> = serde_json::from_slice(body).ok();
    let message = value.as_ref().and_then(|value| {
        let error = value.get("error").unwrap_or(value);
        error.get("message").unwrap_or(error).as_str()
    });
    let message_text = match message {
        Some(message) => message.to_owned(),
        None => String::from_utf8_lossy(body).into_owned(),
    };
    match text::excerpt(&message_text, 200) {
        message_text if message_text.trim().is_empty() => String::new(),
        message_text => format!(": {message_text}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WORDS: ErrorContext = ErrorContext {
        section: "embedder",
        path: "/embeddings",
        examples: "https://api.example.com/v1",
        fallback: "all goes on",
    };

    fn endpoint(url: &str) -> Result<Endpoint, Fault> {
        Endpoint::new(url, WORDS, Key::new(" sk-secret "))
    }

    #[test]
    fn invalid_address_is_refused_and_not_repeated() {
        for (url, part) in [
            ("", "does not begin with"),
            ("ftp://x", "does not begin with"),
            ("https:///v1", "is not a valid address"),
            ("https://a b", "is not a valid address"),
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
    fn key_is_never_displayed() {
        let endpoint = endpoint("https://x/v1").unwrap();
        assert!(!format!("{endpoint:?}").contains("sk-secret"));
        let body = br#"{"error": {"message": "bad key: sk-secret"}}"#;
        let refusal = endpoint.status_error(StatusCode::UNAUTHORIZED, &HeaderMap::new(), body);
        assert_eq!(
            refusal.fault.message,
            "https://x/v1/embeddings: it answered 401: bad key: [redacted]"
        );
        assert!(refusal.retry.is_none() && refusal.is_final);
    }

    #[test]
    fn requests_have_timeouts() {
        let agent = agent(50, 1_000);
        let timeouts = agent.config().timeouts();
        assert_eq!(timeouts.global, Some(Duration::from_millis(50)));
        assert_eq!(timeouts.connect, Some(Duration::from_millis(50)));
    }
}
