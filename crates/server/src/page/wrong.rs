//! What a person sees when something went wrong: what, and what to do next.

use crate::Problem;
use askama::Template;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use heirloom_model::Fault;

/// An error on its way to a person.
#[derive(Debug)]
pub(crate) struct Wrong(Problem);

impl Wrong {
    /// Something that is our own fault.
    pub(crate) fn failed(what: String) -> Self {
        Self(Problem::new(StatusCode::INTERNAL_SERVER_ERROR, what))
    }
}

impl From<Problem> for Wrong {
    fn from(problem: Problem) -> Self {
        Self(problem)
    }
}

impl From<Fault> for Wrong {
    fn from(fault: Fault) -> Self {
        Self(fault.into())
    }
}

#[derive(Template)]
#[template(path = "wrong.html")]
struct View {
    title: &'static str,
    what: String,
    hint: Option<String>,
}

impl IntoResponse for Wrong {
    fn into_response(self) -> Response {
        let title = match self.0.status {
            StatusCode::NOT_FOUND => "Not here",
            StatusCode::FORBIDDEN | StatusCode::UNAUTHORIZED => "Not allowed",
            StatusCode::BAD_REQUEST => "That cannot be done",
            _ => "Something went wrong",
        };
        let view = View {
            title,
            what: heirloom_model::text::printable(&self.0.detail),
            hint: self.0.hint.clone(),
        };
        let body = view.render().unwrap_or_else(|_| self.0.detail.clone());
        let sort = [(header::CONTENT_TYPE, "text/html; charset=utf-8")];
        (self.0.status, sort, body).into_response()
    }
}
