//! Sends requests over HTTP, with retries and idempotency keys.

use crate::errors::{ApiError, Error, ErrorKind};
use crate::operations::{Operation, RequestEffect, append_query, fill_path};
use crate::retry::new_idempotency_key;
use crate::settings::Settings;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};
use ureq::http::{Request, Response};
use ureq::tls::{RootCerts, TlsConfig};
use ureq::{Agent, Body};

/// Maximum length of an answer: more than a page of the longest records.
const ANSWER_BYTES: u64 = 512 * 1024 * 1024;

/// Connections of a client. A copy shares them.
#[derive(Clone)]
pub(crate) struct Transport {
    shared: Arc<Shared>,
    idempotency_key: Option<Arc<str>>,
}

struct Shared {
    agent: Agent,
    settings: Settings,
}

/// Request as it is sent in each attempt.
pub(crate) struct WireRequest {
    pub(crate) method: String,
    /// Path and query.
    pub(crate) path: String,
    pub(crate) body: Option<Vec<u8>>,
    pub(crate) effect: RequestEffect,
}

/// Failed attempt.
struct Failure {
    error: Error,
    is_transient: bool,
}

impl Transport {
    /// Creates the connection pool without connecting.
    pub(crate) fn new(settings: Settings) -> Self {
        let mut config = Agent::config_builder()
            .http_status_as_error(false)
            // A redirect would turn a write into a read, or carry the token to another host.
            .max_redirects(0)
            .max_redirects_will_error(false)
            .user_agent("heirloom-client-rust");
        if settings.is_local() {
            config = config.proxy(None);
        }
        if let Some(roots) = &settings.root_certificates {
            let roots = RootCerts::new_with_certs(roots);
            config = config.tls_config(TlsConfig::builder().root_certs(roots).build());
        }
        Self {
            shared: Arc::new(Shared {
                agent: config.build().into(),
                settings,
            }),
            idempotency_key: None,
        }
    }

    /// Returns a copy whose writes have this key.
    pub(crate) fn with_idempotency_key(&self, key: &str) -> Self {
        Self {
            shared: Arc::clone(&self.shared),
            idempotency_key: Some(key.into()),
        }
    }

    pub(crate) fn settings(&self) -> &Settings {
        &self.shared.settings
    }

    /// Calls an operation without a body.
    pub(crate) fn call<T: DeserializeOwned>(
        &self,
        operation: &Operation,
        id: Option<&str>,
        query: &[(&str, String)],
    ) -> Result<T, Error> {
        let mut path = operation_path(operation, id)?;
        append_query(&mut path, query);
        let is_given = query.iter().any(|(name, _)| *name == "project");
        if let Some(project) = self.settings().project.as_ref().filter(|_| !is_given) {
            append_query(&mut path, &[("project", project.clone())]);
        }
        self.call_path(operation, path, None)
    }

    /// Calls an operation with a body.
    pub(crate) fn call_with<T: DeserializeOwned>(
        &self,
        operation: &Operation,
        id: Option<&str>,
        body: &impl Serialize,
    ) -> Result<T, Error> {
        let path = operation_path(operation, id)?;
        let mut body = serde_json::to_value(body).map_err(unencodable)?;
        if let (Some(project), Value::Object(fields)) = (&self.settings().project, &mut body) {
            let project = || Value::from(project.as_str());
            fields.entry("project").or_insert_with(project);
        }
        self.call_path(operation, path, Some(body.to_string().into_bytes()))
    }

    fn call_path<T: DeserializeOwned>(
        &self,
        operation: &Operation,
        path: String,
        body: Option<Vec<u8>>,
    ) -> Result<T, Error> {
        let answer = self.send(&WireRequest {
            method: operation.method.to_owned(),
            path,
            body,
            effect: operation.effect,
        })?;
        serde_json::from_slice(&answer).map_err(|error| {
            let Operation { method, path, .. } = operation;
            Error::InvalidResponse(format!("{method} {path}: {error}"))
        })
    }

    /// Sends a request, again after a transient failure, and returns the body of its answer.
    pub(crate) fn send(&self, request: &WireRequest) -> Result<Vec<u8>, Error> {
        let settings = self.settings();
        // All attempts of a write have the same key and the same bytes.
        let key = match request.effect {
            RequestEffect::Read => None,
            RequestEffect::Write => Some(
                self.idempotency_key
                    .as_deref()
                    .map_or_else(new_idempotency_key, str::to_owned),
            ),
        };
        let started = Instant::now();
        let mut attempt = 1;
        loop {
            let timeout = settings.retry.remaining(started.elapsed());
            let timeout = timeout.min(settings.timeout);
            let failure = match self.attempt(request, key.as_deref(), timeout) {
                Ok(answer) => return Ok(answer),
                Err(failure) => failure,
            };
            let retry_after = failure.error.api().and_then(|error| error.retry_after);
            let elapsed = started.elapsed();
            match settings.retry.pause(attempt, elapsed, retry_after) {
                Some(pause) if failure.is_transient => thread::sleep(pause),
                _ => return Err(failure.error),
            }
            attempt += 1;
        }
    }

    fn attempt(
        &self,
        request: &WireRequest,
        key: Option<&str>,
        timeout: Duration,
    ) -> Result<Vec<u8>, Failure> {
        let mut head = self
            .head(&request.method, &request.path)
            .header("accept", "application/json");
        if let Some(key) = key {
            head = head.header("idempotency-key", key);
        }
        let agent = &self.shared.agent;
        let answered = match &request.body {
            Some(body) => head
                .header("content-type", "application/json")
                .body(body.as_slice())
                .map_err(ureq::Error::Http)
                .and_then(|request| {
                    let request = agent.configure_request(request);
                    agent.run(request.timeout_global(Some(timeout)).build())
                }),
            None => head
                .body(())
                .map_err(ureq::Error::Http)
                .and_then(|request| {
                    let request = agent.configure_request(request);
                    agent.run(request.timeout_global(Some(timeout)).build())
                }),
        };
        let failed =
            |error: ureq::Error| connection_failure(&request.method, &request.path, &error);
        let mut response = answered.map_err(failed)?;
        if !response.status().is_success() {
            return Err(read_refusal(&mut response));
        }
        let body = response.body_mut().with_config().limit(ANSWER_BYTES);
        body.read_to_vec().map_err(failed)
    }

    /// Opens an answer that is read in parts; the connection ends after `connection`.
    pub(crate) fn open_stream(
        &self,
        operation: &Operation,
        headers: &[(&str, &str)],
        connection: Duration,
    ) -> Result<Response<Body>, Error> {
        let mut path = operation.path.to_owned();
        if let Some(project) = &self.settings().project {
            append_query(&mut path, &[("project", project.clone())]);
        }
        let mut head = self.head(operation.method, &path);
        for (name, value) in headers {
            head = head.header(*name, *value);
        }
        let failed = |error: ureq::Error| connection_failure(operation.method, &path, &error).error;
        let request = head.body(()).map_err(ureq::Error::Http).map_err(failed)?;
        let agent = &self.shared.agent;
        let timeout = Some(self.settings().timeout);
        let request = agent
            .configure_request(request)
            .timeout_connect(timeout)
            .timeout_recv_response(timeout)
            .timeout_recv_body(Some(connection))
            .build();
        let mut response = agent.run(request).map_err(failed)?;
        if response.status().is_success() {
            return Ok(response);
        }
        Err(read_refusal(&mut response).error)
    }

    fn head(&self, method: &str, path: &str) -> ureq::http::request::Builder {
        let Settings { url, token, .. } = self.settings();
        let head = Request::builder()
            .method(method)
            .uri(format!("{url}{path}"));
        match token {
            Some(token) => head.header("authorization", format!("Bearer {token}")),
            None => head,
        }
    }
}

/// Returns true for an error after which the same request may succeed.
pub(crate) fn is_transient(error: &Error) -> bool {
    matches!(error, Error::Connection(_)) || error.kind() == Some(ErrorKind::ServerBusy)
}

fn operation_path(operation: &Operation, id: Option<&str>) -> Result<String, Error> {
    match id {
        Some(id) => fill_path(operation.path, id)
            .ok_or_else(|| Error::InvalidArgument(format!("`{id}` is not an id"))),
        None => Ok(operation.path.to_owned()),
    }
}

#[expect(
    clippy::needless_pass_by_value,
    reason = "the form that `map_err` takes"
)]
fn unencodable(error: serde_json::Error) -> Error {
    Error::InvalidArgument(format!("the arguments cannot be sent as JSON: {error}"))
}

fn read_refusal(response: &mut Response<Body>) -> Failure {
    let status = response.status();
    let headers = response.headers();
    let header = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    let retry_after = header("retry-after").map(str::to_owned);
    let location = header("location").map(|location| format!("redirected to {location}"));
    let mut body = response.body_mut().read_to_vec().unwrap_or_default();
    if let Some(location) = location.filter(|_| status.is_redirection()) {
        body = location.into_bytes();
    }
    let reason = status.canonical_reason().unwrap_or("Unexpected answer");
    let error = ApiError::read(status.as_u16(), reason, &body, retry_after.as_deref());
    let error = Error::Api(error);
    Failure {
        is_transient: is_transient(&error),
        error,
    }
}

/// Describes a request without an answer, without its query, which may be long.
#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "another crate's errors, of which there may be more"
)]
fn connection_failure(method: &str, path: &str, error: &ureq::Error) -> Failure {
    let (problem, is_transient) = match error {
        ureq::Error::Timeout(_) => ("no answer in time".to_owned(), true),
        ureq::Error::HostNotFound => ("there is no such host".to_owned(), true),
        ureq::Error::ConnectionFailed => ("no connection".to_owned(), true),
        ureq::Error::Io(error) => (error.to_string(), true),
        ureq::Error::Protocol(error) => (format!("the answer is not HTTP: {error}"), true),
        ureq::Error::Http(_) | ureq::Error::BadUri(_) => {
            let text = format!("`{method} {path}` is not a valid request");
            return Failure {
                error: Error::InvalidArgument(text),
                is_transient: false,
            };
        }
        other => (other.to_string(), false),
    };
    let path = path.split('?').next().unwrap_or(path);
    Failure {
        error: Error::Connection(format!(
            "{method} {path}: {problem}; `heirloom serve` starts the server"
        )),
        is_transient,
    }
}
