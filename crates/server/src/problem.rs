//! Errors as problem documents (RFC 9457).

use axum::Json;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use heirloom_model::{ErrorKind, Fault};
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
}

impl Problem {
    /// A problem without a hint.
    pub fn new(status: StatusCode, detail: impl Into<String>) -> Self {
        Self {
            status,
            detail: detail.into(),
            hint: None,
        }
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
        let status = match fault.kind {
            ErrorKind::Failed => StatusCode::INTERNAL_SERVER_ERROR,
            ErrorKind::Usage => StatusCode::BAD_REQUEST,
            ErrorKind::NotFound => StatusCode::NOT_FOUND,
            ErrorKind::Refused => StatusCode::FORBIDDEN,
            ErrorKind::Interrupted => StatusCode::SERVICE_UNAVAILABLE,
        };
        Self {
            status,
            detail: fault.message,
            hint: fault.hint,
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
        response
    }
}
