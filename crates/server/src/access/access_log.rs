//! Access log: one line for each request, with its method, path, status and duration.

use crate::App;
use axum::extract::Request;
use axum::http::StatusCode;
use heirloom_redact::Redactor;
use std::time::Duration;

/// Line of a request that is not answered yet.
pub(super) struct AccessLogEntry {
    log: fn(&str),
    request_line: String,
}

impl AccessLogEntry {
    /// Begins the line of a request; `None` without an access log.
    pub(super) fn begin(app: &App, request: &Request) -> Option<Self> {
        let log = app.options().log?;
        // The query string may contain a user's search text, so it is not logged.
        let path = Redactor::default()
            .redact(request.uri().path())
            .into_owned();
        let request_line = format!("{} {path}", request.method());
        Some(Self { log, request_line })
    }

    /// Writes the line.
    pub(super) fn write(self, status: StatusCode, elapsed: Duration) {
        let (request_line, status) = (self.request_line, status.as_u16());
        let millis = elapsed.as_secs_f64() * 1e3;
        (self.log)(&format!("{request_line} {status}, {millis:.1} ms"));
    }
}
