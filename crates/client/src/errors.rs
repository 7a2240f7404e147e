//! Errors of the client.

use serde::Deserialize;
use std::fmt;
use std::time::Duration;

/// Length of the text of an answer that is not a problem document.
const PLAIN_DETAIL_CHARS: usize = 500;

/// Error of a call.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Error {
    /// The server answered with an error.
    Api(ApiError),
    /// The server cannot be reached, or the connection broke before its answer.
    Connection(String),
    /// The answer does not match the API description: another server, or another version.
    InvalidResponse(String),
    /// The call was not sent: the address, the token or an argument cannot be used.
    InvalidArgument(String),
    /// `heirloom serve` did not start.
    ServerStart(String),
}

/// Problem document (RFC 9457) of the server.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ApiError {
    /// HTTP status.
    pub status: u16,
    /// Short name of the problem.
    pub title: String,
    /// Cause and location.
    pub detail: String,
    /// Next step.
    pub hint: Option<String>,
    /// Pause that the server asked for.
    pub retry_after: Option<Duration>,
}

/// Class of an error of the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The request is malformed or too large (400, 405, 413, 415, 422).
    InvalidRequest,
    /// The token is missing, unknown or revoked (401).
    Unauthorized,
    /// The role of the token does not permit this (403).
    Forbidden,
    /// No record has this id (404).
    NotFound,
    /// The record changed meanwhile (409, 412).
    Conflict,
    /// The server has no capacity (408, 429, 503), also after all retries.
    ServerBusy,
    /// The server failed (other 5xx), for example because its disk is full (507).
    ServerError,
    /// Any other status.
    Other,
}

impl ApiError {
    /// Returns the class of the status.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        match self.status {
            400 | 405 | 413 | 415 | 422 => ErrorKind::InvalidRequest,
            401 => ErrorKind::Unauthorized,
            403 => ErrorKind::Forbidden,
            404 => ErrorKind::NotFound,
            409 | 412 => ErrorKind::Conflict,
            408 | 429 | 503 => ErrorKind::ServerBusy,
            500.. => ErrorKind::ServerError,
            _ => ErrorKind::Other,
        }
    }

    /// Reads the error of an answer that is no success.
    pub(crate) fn read(status: u16, reason: &str, body: &[u8], retry_after: Option<&str>) -> Self {
        let document: ProblemDocument = serde_json::from_slice(body).unwrap_or_default();
        let plain = || {
            let text = String::from_utf8_lossy(body);
            let text: String = text.trim().chars().take(PLAIN_DETAIL_CHARS).collect();
            if text.is_empty() {
                "no details".to_owned()
            } else {
                text
            }
        };
        Self {
            status,
            title: document.title.unwrap_or_else(|| reason.to_owned()),
            detail: document.detail.unwrap_or_else(plain),
            hint: document.hint,
            retry_after: retry_after.and_then(read_seconds),
        }
    }
}

/// Fields of a problem document that are shown.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct ProblemDocument {
    title: Option<String>,
    detail: Option<String>,
    hint: Option<String>,
}

/// Reads the seconds of a `Retry-After`; the server does not use the other form, a date.
fn read_seconds(text: &str) -> Option<Duration> {
    let seconds: f64 = text.trim().parse().ok()?;
    Duration::try_from_secs_f64(seconds.max(0.0)).ok()
}

impl Error {
    /// Returns the error of the server, if it answered.
    #[must_use]
    pub fn api(&self) -> Option<&ApiError> {
        match self {
            Self::Api(error) => Some(error),
            Self::Connection(_)
            | Self::InvalidResponse(_)
            | Self::InvalidArgument(_)
            | Self::ServerStart(_) => None,
        }
    }

    /// Returns the class of the server's error, if it answered.
    #[must_use]
    pub fn kind(&self) -> Option<ErrorKind> {
        self.api().map(ApiError::kind)
    }

    /// Returns the status of the server's error, if it answered.
    #[must_use]
    pub fn status(&self) -> Option<u16> {
        self.api().map(|error| error.status)
    }

    /// Returns the next step that the server proposes.
    #[must_use]
    pub fn hint(&self) -> Option<&str> {
        self.api()?.hint.as_deref()
    }
}

impl fmt::Display for ApiError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}: {}", self.status, self.title, self.detail)?;
        match &self.hint {
            Some(hint) => write!(f, " ({hint})"),
            None => Ok(()),
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Api(error) => error.fmt(f),
            Self::Connection(text)
            | Self::InvalidResponse(text)
            | Self::InvalidArgument(text)
            | Self::ServerStart(text) => f.write_str(text),
        }
    }
}

impl std::error::Error for ApiError {}

impl std::error::Error for Error {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn problem_document_is_read_with_its_hint() {
        let body = br#"{"type":"about:blank","title":"Not Found","status":404,"detail":"no record x","hint":"see recall"}"#;
        let error = ApiError::read(404, "Not Found", body, None);
        assert_eq!(error.kind(), ErrorKind::NotFound);
        assert_eq!(error.to_string(), "404 Not Found: no record x (see recall)");
    }

    #[test]
    fn plain_answer_becomes_the_detail() {
        let error = ApiError::read(502, "Bad Gateway", b" <html>gone</html>\n", Some("1.5"));
        assert_eq!(error.kind(), ErrorKind::ServerError);
        assert_eq!(error.to_string(), "502 Bad Gateway: <html>gone</html>");
        assert_eq!(error.retry_after, Some(Duration::from_millis(1500)));
        assert_eq!(ApiError::read(503, "", b"", None).detail, "no details");
        let dated = ApiError::read(503, "", b"", Some("Fri, 27 Nov 2026 00:00:00 GMT"));
        assert_eq!(dated.retry_after, None);
    }
}
