//! Error page: cause, and next step.

use crate::Problem;
use askama::Template;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use heirloom_model::Fault;

/// Error response of a page.
#[derive(Debug)]
pub(crate) struct PageError(Problem);

impl PageError {
    /// Creates an internal error.
    pub(crate) fn failed(what: String) -> Self {
        Self(Problem::new(StatusCode::INTERNAL_SERVER_ERROR, what))
    }
}

impl From<Problem> for PageError {
    fn from(problem: Problem) -> Self {
        Self(problem)
    }
}

impl From<Fault> for PageError {
    fn from(fault: Fault) -> Self {
        Self(fault.into())
    }
}

#[derive(Template)]
#[template(path = "error_page.html")]
struct ErrorView {
    /// `light`, `dark`, or empty for the system's theme.
    theme: &'static str,
    title: &'static str,
    what: String,
    hint: Option<String>,
}

/// Answers a path that no route has, as a page in the chosen theme.
pub(crate) fn unknown_path(theme: &'static str) -> Response {
    let problem = Problem::new(StatusCode::NOT_FOUND, "No page has this address")
        .hint("The overview and the navigation lead to all pages.");
    PageError(problem).respond(theme)
}

impl IntoResponse for PageError {
    fn into_response(self) -> Response {
        self.respond("")
    }
}

impl PageError {
    fn respond(self, theme: &'static str) -> Response {
        let title = match self.0.status {
            StatusCode::NOT_FOUND => "Not found",
            StatusCode::FORBIDDEN | StatusCode::UNAUTHORIZED => "Not allowed",
            StatusCode::BAD_REQUEST => "That cannot be done",
            _ => "Something went wrong",
        };
        let view = ErrorView {
            theme,
            title,
            what: heirloom_model::text::replace_control_chars(&self.0.detail),
            hint: self.0.hint.clone(),
        };
        let body = view.render().unwrap_or_else(|_| self.0.detail.clone());
        let sort = [(header::CONTENT_TYPE, "text/html; charset=utf-8")];
        (self.0.status, sort, body).into_response()
    }
}
