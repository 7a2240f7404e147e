//! Whether a browser's request was sent on purpose: cookies come along with requests that other pages caused. And for
//! which project: another tab may have chosen another one since the form was shown.

use super::Access;
use crate::Problem;
use axum::extract::Request;
use axum::http::{Method, StatusCode, header};

/// The header that carries what a form carries in a hidden field.
const HEADER: &str = "x-csrf-token";

/// The project that a form was shown for; nothing for the served one.
#[derive(Debug, Clone)]
pub(crate) struct Meant(pub(crate) Option<String>);

/// What a form sends back: what only our pages know, and for which project it was shown. Nothing of it is escaped.
pub(crate) fn field(secret: &str, project: Option<&str>) -> String {
    let name = project.unwrap_or_default().bytes();
    let name: String = name.map(|byte| format!("{byte:02x}")).collect();
    format!("{secret}.{name}")
}

/// The project of a field; `None` if it is no name.
fn project(name: &str) -> Option<Meant> {
    let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
    let bytes: Option<Vec<u8>> = name.as_bytes().chunks(2).map(byte).collect();
    let name = String::from_utf8(bytes?).ok()?;
    Some(Meant(Some(name).filter(|name| !name.is_empty())))
}

/// Refuses what would change something, came with a cookie, and does not know what only our pages know. Otherwise the
/// project that its form was shown for, if it says so.
pub(super) fn check(access: &Access, request: &Request) -> Result<Option<Meant>, Problem> {
    let Some(wanted) = &access.csrf else {
        return Ok(None);
    };
    if [Method::GET, Method::HEAD, Method::OPTIONS].contains(request.method()) {
        return Ok(None);
    }
    let given = request.headers().get(HEADER);
    let given = given
        .and_then(|value| value.to_str().ok())
        .or_else(|| in_form(request));
    let hash = |text: &str| blake3::hash(text.as_bytes());
    let (secret, name) = given.map_or(("", None), |given| match given.split_once('.') {
        Some((secret, name)) => (secret, Some(name)),
        None => (given, None),
    });
    let meant = name.map(project);
    if hash(secret) == hash(wanted) && !matches!(meant, Some(None)) {
        return Ok(meant.flatten());
    }
    Err(Problem::new(
        StatusCode::FORBIDDEN,
        "this page is from an earlier login, or the request is not ours",
    )
    .hint("load the page again"))
}

/// The field `csrf` of a form.
fn in_form(request: &Request) -> Option<&str> {
    let sort = request.headers().get(header::CONTENT_TYPE)?.to_str().ok()?;
    if !sort.starts_with("application/x-www-form-urlencoded") {
        return None;
    }
    let body = request.extensions().get::<super::body::Whole>()?;
    let text = std::str::from_utf8(&body.0).ok()?;
    text.split('&').find_map(|pair| pair.strip_prefix("csrf="))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_form_says_for_which_project_it_was_shown() {
        for name in ["p", "host/owner/näme & more", "."] {
            let said = field("00ff", Some(name));
            let (secret, rest) = said.split_once('.').unwrap();
            assert_eq!(secret, "00ff");
            assert_eq!(project(rest).unwrap().0.as_deref(), Some(name));
        }
        assert!(project("").unwrap().0.is_none());
        for bad in ["0g", "ff", "é"] {
            assert!(project(bad).is_none(), "{bad}");
        }
    }
}
