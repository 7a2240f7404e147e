//! Whether a browser's request was sent on purpose: cookies come along with requests that other pages caused.

use super::Access;
use crate::Problem;
use axum::extract::Request;
use axum::http::{Method, StatusCode, header};

/// The header that carries what a form carries in a hidden field.
const HEADER: &str = "x-csrf-token";

/// Refuses what would change something, came with a cookie, and does not know what only our pages know.
pub(super) fn check(access: &Access, request: &Request) -> Result<(), Problem> {
    let Some(wanted) = &access.csrf else {
        return Ok(());
    };
    if [Method::GET, Method::HEAD, Method::OPTIONS].contains(request.method()) {
        return Ok(());
    }
    let given = request.headers().get(HEADER);
    let given = given
        .and_then(|value| value.to_str().ok())
        .or_else(|| in_form(request));
    let hash = |text: &str| blake3::hash(text.as_bytes());
    if given.is_some_and(|given| hash(given) == hash(wanted)) {
        return Ok(());
    }
    Err(Problem::new(
        StatusCode::FORBIDDEN,
        "this page is from an earlier login, or the request is not ours",
    )
    .hint("load the page again"))
}

/// The field `csrf` of a form; it is hexadecimal, so nothing of it is escaped.
fn in_form(request: &Request) -> Option<&str> {
    let sort = request.headers().get(header::CONTENT_TYPE)?.to_str().ok()?;
    if !sort.starts_with("application/x-www-form-urlencoded") {
        return None;
    }
    let body = request.extensions().get::<super::body::Whole>()?;
    let text = std::str::from_utf8(&body.0).ok()?;
    text.split('&').find_map(|pair| pair.strip_prefix("csrf="))
}
