//! CSRF checks for cookie-authenticated requests: browsers add cookies to requests from other sites too, and a cookie is
//! sent to every port of a host, so another local server's page has the cookie as well. The token also contains the
//! project for which the form was rendered, because another tab may have switched the project since.

use super::Access;
use crate::Problem;
use axum::extract::Request;
use axum::http::{Method, StatusCode, header};

/// Header alternative to the hidden form field.
const CSRF_HEADER: &str = "x-csrf-token";

/// Project for which a form was rendered; `None` for the served project.
#[derive(Debug, Clone)]
pub(crate) struct FormProject(pub(crate) Option<String>);

/// Builds a form's CSRF token from the secret and the project in hex. It needs no HTML escaping.
pub(crate) fn form_token(secret: &str, project: Option<&str>) -> String {
    let name = project.unwrap_or_default().bytes();
    let name: String = name.map(|byte| format!("{byte:02x}")).collect();
    format!("{secret}.{name}")
}

/// Decodes the project of a CSRF token; `None` if it is not valid hex or UTF-8.
fn decode_project(name: &str) -> Option<FormProject> {
    let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
    let bytes: Option<Vec<u8>> = name.as_bytes().chunks(2).map(byte).collect();
    let name = String::from_utf8(bytes?).ok()?;
    Some(FormProject(Some(name).filter(|name| !name.is_empty())))
}

/// Checks the CSRF token of a request that may change data and was authenticated by cookie. Returns the project of
/// the form if the token contains one. Errors: 403.
pub(super) fn check(access: &Access, request: &Request) -> Result<Option<FormProject>, Problem> {
    let Some(expected) = &access.csrf else {
        return Ok(None);
    };
    if [Method::GET, Method::HEAD, Method::OPTIONS].contains(request.method()) {
        return Ok(None);
    }
    let given = request.headers().get(CSRF_HEADER);
    let given = given
        .and_then(|value| value.to_str().ok())
        .or_else(|| form_field(request));
    let hash = |text: &str| blake3::hash(text.as_bytes());
    let (secret, name) = given.map_or(("", None), |given| match given.split_once('.') {
        Some((secret, name)) => (secret, Some(name)),
        None => (given, None),
    });
    let form_project = name.map(decode_project);
    if hash(secret) == hash(expected) && !matches!(form_project, Some(None)) {
        return Ok(form_project.flatten());
    }
    Err(Problem::new(
        StatusCode::FORBIDDEN,
        "this page is from an earlier login, or its CSRF token is missing",
    )
    .hint("reload the page"))
}

/// Checks that a request with a session cookie was sent by the server's own page, as far as the browser says it. Errors:
/// 403 for a request of another page, except a link to a page that a person followed.
pub(super) fn check_sender(access: &Access, request: &Request) -> Result<(), Problem> {
    if access.csrf.is_none() {
        return Ok(());
    }
    let is = |name: &str, value: &str| {
        let given = request.headers().get(name);
        given.is_some_and(|given| given.as_bytes().eq_ignore_ascii_case(value.as_bytes()))
    };
    let is_foreign = is("sec-fetch-site", "cross-site") || is("sec-fetch-site", "same-site");
    let path = request.uri().path();
    // Some reads of the API write too: a context stores its receipt.
    let is_api = path.starts_with("/api/") || path == "/mcp";
    let is_followed_link = request.method().is_safe()
        && is("sec-fetch-mode", "navigate")
        && is("sec-fetch-dest", "document")
        && !is_api;
    if !is_foreign || is_followed_link {
        return Ok(());
    }
    Err(Problem::new(
        StatusCode::FORBIDDEN,
        "a page of another origin sent this request with the login of this one",
    )
    .hint("programs use a token: `heirloom token create --role R`"))
}

/// Returns the form field `csrf` of a URL-encoded body.
fn form_field(request: &Request) -> Option<&str> {
    let sort = request.headers().get(header::CONTENT_TYPE)?.to_str().ok()?;
    if !sort.starts_with("application/x-www-form-urlencoded") {
        return None;
    }
    let body = request
        .extensions()
        .get::<super::request_body::BodyBytes>()?;
    let text = std::str::from_utf8(&body.0).ok()?;
    text.split('&').find_map(|pair| pair.strip_prefix("csrf="))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn form_token_round_trips_project() {
        for name in ["p", "host/owner/näme & more", "."] {
            let token = form_token("00ff", Some(name));
            let (secret, rest) = token.split_once('.').unwrap();
            assert_eq!(secret, "00ff");
            assert_eq!(decode_project(rest).unwrap().0.as_deref(), Some(name));
        }
        assert!(decode_project("").unwrap().0.is_none());
        for bad in ["0g", "ff", "é"] {
            assert!(decode_project(bad).is_none(), "{bad}");
        }
    }
}
