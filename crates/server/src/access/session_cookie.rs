//! Session cookie of a login: name, attributes, and its value in a request.

use crate::app::ServerOptions;
use axum::http::{HeaderMap, header};

/// Returns the header value that sets the cookie.
pub(super) fn set_session(options: &ServerOptions, secret: &str) -> String {
    let name = cookie_name(options);
    let secure = if options.is_secure { "; Secure" } else { "" };
    format!("{name}={secret}; Path=/; HttpOnly; SameSite=Strict{secure}")
}

/// Returns the header value that deletes the cookie.
pub(super) fn delete_session(options: &ServerOptions) -> String {
    let name = cookie_name(options);
    format!("{name}=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0")
}

/// Returns the value of the cookie in a request.
pub(super) fn find_session<'a>(headers: &'a HeaderMap, options: &ServerOptions) -> Option<&'a str> {
    find_cookie(headers, &cookie_name(options))
}

/// Returns the cookie name with the port: browsers share cookies between ports, so two servers on one machine need
/// two names.
fn cookie_name(options: &ServerOptions) -> String {
    format!("heirloom-{}", options.port)
}

/// Returns the value of a cookie in a request.
pub(super) fn find_cookie<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    let all = headers.get_all(header::COOKIE).into_iter();
    let mut pairs = all
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(';'))
        .filter_map(|pair| pair.trim().split_once('='));
    pairs
        .find(|(found, _)| *found == name)
        .map(|(_, value)| value)
}
