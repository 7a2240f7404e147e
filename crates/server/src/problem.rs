//! HTTP errors as problem documents (RFC 9457).

use axum::Json;
use axum::body::to_bytes;
use axum::extract::Request;
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use heirloom_model::{ErrorKind, Fault, TransientCause, limits};
use serde_json::json;

/// Error response.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// HTTP status.
    pub status: StatusCode,
    /// Cause and location.
    pub detail: String,
    /// Next step for the client, if one is known.
    pub hint: Option<String>,
    /// Additional response header.
    header: Option<Box<(HeaderName, HeaderValue)>>,
}

/// Maximum number of bytes read from a plain-text error.
const PLAIN_BYTES_MAX: usize = 4_096;

impl Problem {
    /// Creates a problem without a hint.
    pub fn new(status: StatusCode, detail: impl Into<String>) -> Self {
        Self {
            status,
            detail: detail.into(),
            hint: None,
            header: None,
        }
    }

    /// Adds a response header.
    #[must_use]
    pub(crate) fn header(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.header = Some(Box::new((name, value)));
        self
    }

    /// Adds a hint.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

impl From<Fault> for Problem {
    fn from(fault: Fault) -> Self {
        let status = match (fault.transient_cause, fault.kind) {
            (Some(TransientCause::DiskFull), _) => StatusCode::INSUFFICIENT_STORAGE,
            (Some(TransientCause::Busy | TransientCause::Unavailable), _) => {
                StatusCode::SERVICE_UNAVAILABLE
            }
            (Some(TransientCause::Stale), _) => StatusCode::CONFLICT,
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
        if self.status == StatusCode::SERVICE_UNAVAILABLE {
            response.headers_mut().insert(
                header::RETRY_AFTER,
                HeaderValue::from(limits::SERVER_RETRY_AFTER_S),
            );
        }
        if let Some((name, value)) = self.header.map(|header| *header) {
            response.headers_mut().insert(name, value);
        }
        response
    }
}

/// Middleware: converts plain-text errors of the router and extractors to problem documents.
pub(crate) async fn plain_errors_to_documents(request: Request, next: Next) -> Response {
    // MCP has its own error format.
    let is_ours = request.uri().path() != "/mcp";
    let answer = next.run(request).await;
    let status = answer.status();
    let sort = answer.headers().get(header::CONTENT_TYPE);
    let is_plain = sort.is_none_or(|sort| sort.as_bytes().starts_with(b"text/plain"));
    if !(status.is_client_error() || status.is_server_error()) || !is_plain || !is_ours {
        return answer;
    }
    let (parts, body) = answer.into_parts();
    let detail = to_bytes(body, PLAIN_BYTES_MAX).await.unwrap_or_default();
    let detail = String::from_utf8_lossy(&detail);
    let detail = match detail.trim() {
        "" => status.canonical_reason().unwrap_or("Error"),
        detail => detail,
    };
    let mut document = Problem::new(status, detail).into_response();
    if let Some(allow) = parts.headers.get(header::ALLOW) {
        document.headers_mut().insert(header::ALLOW, allow.clone());
    }
    document
}
