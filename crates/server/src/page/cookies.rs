//! Cookies of a request.

use crate::app::ServerOptions;
use crate::mcp::percent_decode;
use axum::http::{HeaderMap, header};

/// Returns the value of a cookie.
pub(crate) fn cookie<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    let all = headers.get_all(header::COOKIE).into_iter();
    let pairs = all.filter_map(|value| value.to_str().ok());
    let mut pairs = pairs.flat_map(|value| value.split(';'));
    pairs.find_map(|pair| {
        let (key, value) = pair.trim().split_once('=')?;
        (key == name).then_some(value)
    })
}

/// Returns the name of the project cookie, with the port: browsers share cookies between ports, so two servers on one
/// machine need two names.
pub(super) fn cookie_name(options: &ServerOptions) -> String {
    format!("heirloom_project-{}", options.port)
}

/// Returns the project of the cookie.
pub(super) fn chosen_project(headers: &HeaderMap, options: &ServerOptions) -> Option<String> {
    let name = percent_decode(cookie(headers, &cookie_name(options))?)?;
    String::from_utf8(name).ok()
}
