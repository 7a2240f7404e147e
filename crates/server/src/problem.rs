//! Errors as problem documents (RFC 9457).

use axum::Json;
use axum::body::to_bytes;
use axum::extract::Request;
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use heirloom_model::{ErrorKind, Fault, Trouble};
use serde_json::json;

/// An error on its way to a client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The status of the answer.
    pub status: StatusCode,
    /// What went wrong, and where.
    pub detail: String,
    /// What to do next, if there is something.
    pub hint: Option<String>,
    /// A header that the answer carries besides.
    header: Option<Box<(HeaderName, HeaderValue)>>,
}

/// What is read of a plain text that becomes a problem, bytes.
const PLAIN_BYTES_MAX: usize = 4_096;

impl Problem {
    /// A problem without a hint.
    pub fn new(status: StatusCode, detail: impl Into<String>) -> Self {
        Self {
            status,
            detail: detail.into(),
            hint: None,
            header: None,
        }
    }

    /// The same with a header in its answer.
    #[must_use]
    pub(crate) fn header(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.header = Some(Box::new((name, value)));
        self
    }

    /// The same with what to do next.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

impl From<Fault> for Problem {
    fn from(fault: Fault) -> Self {
        let status = match (fault.trouble, fault.kind) {
            (Some(Trouble::Full), _) => StatusCode::INSUFFICIENT_STORAGE,
            (Some(Trouble::Busy), _) => StatusCode::SERVICE_UNAVAILABLE,
            (Some(Trouble::Stale), _) => StatusCode::CONFLICT,
            (None, ErrorKind::Failed) => StatusCode::INTERNAL_SERVER_ERROR,
            (None, ErrorKind::Usage) => StatusCode::BAD_REQUEST,
            (None, ErrorKind::NotFound) => StatusCode::NOT_FOUND,
            (None, ErrorKind::Refused) => StatusCode::FORBIDDEN,
            (None, ErrorKind::Interrupted) => StatusCode::SERVICE_UNAVAILABLE,
        };
        Self {
            status,
            detail: fault.message,
            hint: fault.hint,
            header: None,
        }
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let mut body = json!({
            "type": "about:blank",
            "title": self.status.canonical_reason().unwrap_or("Error"),
            "status": self.status.as_u16(),
            "detail": self.detail,
        });
        if let Some(hint) = self.hint {
            body["hint"] = json!(hint);
        }
        let mut response = (self.status, Json(body)).into_response();
        response.headers_mut().insert(
            header::CONTENT_TYPE,
            HeaderValue::from_static("application/problem+json"),
        );
        if let Some((name, value)) = self.header.map(|header| *header) {
            response.headers_mut().insert(name, value);
        }
        response
    }
}

/// Makes a problem document of what the router itself says in plain text: bodies and queries that do not fit.
pub(crate) async fn documents(request: Request, next: Next) -> Response {
    // Clients of MCP have their own rules for what goes wrong.
    let is_ours = request.uri().path() != "/mcp";
    let answer = next.run(request).await;
    let status = answer.status();
    let sort = answer.headers().get(header::CONTENT_TYPE);
    let is_plain = sort.is_none_or(|sort| sort.as_bytes().starts_with(b"text/plain"));
    if !(status.is_client_error() || status.is_server_error()) || !is_plain || !is_ours {
        return answer;
    }
    let (parts, body) = answer.into_parts();
    let said = to_bytes(body, PLAIN_BYTES_MAX).await.unwrap_or_default();
    let said = String::from_utf8_lossy(&said);
    let said = match said.trim() {
        "" => status.canonical_reason().unwrap_or("Error"),
        said => said,
    };
    let mut document = Problem::new(status, said).into_response();
    if let Some(allow) = parts.headers.get(header::ALLOW) {
        document.headers_mut().insert(header::ALLOW, allow.clone());
    }
    document
}
