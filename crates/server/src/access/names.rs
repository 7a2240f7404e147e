//! Which names this server answers to, and which pages may ask it.
//!
//! A page elsewhere can have its own name point to this machine (DNS rebinding), and its scripts then ask here as if
//! they were ours. So a request must name a host that a person meant.

use crate::Problem;
use axum::http::{HeaderMap, HeaderValue, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use std::net::IpAddr;

/// Names and origins that a person allowed.
#[derive(Debug, Clone, Default)]
pub struct Names {
    /// The host that it listens on.
    pub host: String,
    /// Further names of this machine.
    pub hosts: Vec<String>,
    /// Origins of pages that may ask, as browsers write them: `https://example.org`.
    pub origins: Vec<String>,
}

impl Names {
    /// Refuses what is not meant for this server, or comes from a page that nobody allowed. The allowed origin, if
    /// the request comes from a page elsewhere.
    pub(super) fn check<'a>(
        &'a self,
        headers: &HeaderMap,
        uri: &Uri,
    ) -> Result<Option<&'a str>, Problem> {
        let mut hosts = headers.get_all(header::HOST).iter();
        let host = hosts.next().and_then(|host| host.to_str().ok());
        let Some(host) = host.filter(|_| hosts.next().is_none()) else {
            return Err(Problem::new(
                StatusCode::BAD_REQUEST,
                "the request names no host, or several",
            ));
        };
        let named = uri.authority().map(|authority| authority.as_str());
        for name in [Some(host), named].into_iter().flatten() {
            if !self.is_ours(name) {
                return Err(Problem::new(
                    StatusCode::FORBIDDEN,
                    "this server does not answer to the name that was asked for",
                )
                .hint("`heirloom serve --allow-host NAME` adds one"));
            }
        }
        let Some(origin) = headers.get(header::ORIGIN) else {
            return Ok(None);
        };
        let origin = origin.to_str().unwrap_or("");
        if same(origin, host) {
            return Ok(None);
        }
        let allowed = self.origins.iter().find(|allowed| *allowed == origin);
        allowed.map(|origin| Some(origin.as_str())).ok_or_else(|| {
            Problem::new(
                StatusCode::FORBIDDEN,
                "pages of other origins may not ask this server",
            )
            .hint("`heirloom serve --allow-origin ORIGIN` allows one")
        })
    }

    fn is_ours(&self, authority: &str) -> bool {
        let Some(name) = host_of(authority) else {
            return false;
        };
        if name.eq_ignore_ascii_case("localhost") || name.eq_ignore_ascii_case(&self.host) {
            return true;
        }
        if let Ok(address) = name.parse::<IpAddr>() {
            // An address cannot be rebound; one of a server that listens everywhere is not known beforehand.
            let is_everywhere = self
                .host
                .parse::<IpAddr>()
                .is_ok_and(|ip| ip.is_unspecified());
            return address.is_loopback() || is_everywhere;
        }
        self.hosts
            .iter()
            .any(|host| name.eq_ignore_ascii_case(host))
    }
}

/// `name` of `name:port`, without the brackets of an address.
fn host_of(authority: &str) -> Option<&str> {
    if let Some(rest) = authority.strip_prefix('[') {
        let (address, port) = rest.split_once(']')?;
        return is_port(port).then_some(address);
    }
    match authority.find(':') {
        Some(at) => is_port(&authority[at..]).then_some(&authority[..at]),
        None => Some(authority).filter(|name| !name.is_empty()),
    }
}

fn is_port(rest: &str) -> bool {
    let digits = rest.strip_prefix(':').unwrap_or("");
    rest.is_empty() || digits.parse::<u16>().is_ok()
}

/// Whether a page of `origin` came from the host that it asks.
fn same(origin: &str, host: &str) -> bool {
    let of = ["http://", "https://"]
        .iter()
        .find_map(|scheme| origin.strip_prefix(scheme));
    of.is_some_and(|of| of.eq_ignore_ascii_case(host))
}

/// What a browser asks before it lets a page of another origin ask.
pub(super) fn preflight(origin: Option<&str>) -> Response {
    let mut answer = with_cors(StatusCode::NO_CONTENT.into_response(), origin);
    for (name, value) in [
        (
            header::ACCESS_CONTROL_ALLOW_METHODS,
            "GET, POST, PUT, PATCH, DELETE",
        ),
        (
            header::ACCESS_CONTROL_ALLOW_HEADERS,
            "authorization, content-type, idempotency-key, if-match, if-none-match, last-event-id",
        ),
        (header::ACCESS_CONTROL_MAX_AGE, "600"),
    ] {
        answer
            .headers_mut()
            .insert(name, HeaderValue::from_static(value));
    }
    answer
}

/// The answer with the leave for a page of another origin to read it. Cookies are never theirs.
pub(super) fn with_cors(mut answer: Response, origin: Option<&str>) -> Response {
    if let Some(origin) = origin.and_then(|origin| HeaderValue::from_str(origin).ok()) {
        let headers = answer.headers_mut();
        headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin);
        headers.insert(header::VARY, HeaderValue::from_static("Origin"));
        headers.insert(
            header::ACCESS_CONTROL_EXPOSE_HEADERS,
            HeaderValue::from_static("etag, location"),
        );
    }
    answer
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checked(host: &str, origin: Option<&str>) -> Result<Option<String>, u16> {
        let names = Names {
            host: "10.1.2.3".to_owned(),
            hosts: vec!["memory.test".to_owned()],
            origins: vec!["https://board.test".to_owned()],
        };
        let mut headers = HeaderMap::new();
        headers.insert(header::HOST, HeaderValue::from_str(host).unwrap());
        if let Some(origin) = origin {
            headers.insert(header::ORIGIN, HeaderValue::from_str(origin).unwrap());
        }
        let answer = names.check(&headers, &Uri::from_static("/x"));
        answer
            .map(|origin| origin.map(str::to_owned))
            .map_err(|problem| problem.status.as_u16())
    }

    #[test]
    fn names_that_nobody_meant_are_refused() {
        for host in [
            "localhost",
            "LOCALHOST:7717",
            "127.0.0.1:80",
            "127.9.9.9",
            "[::1]:7717",
            "10.1.2.3:1",
            "memory.test",
        ] {
            assert_eq!(checked(host, None), Ok(None), "{host}");
        }
        for host in [
            "evil.test",
            "localhost.evil.test",
            "127.0.0.1.evil.test",
            "10.1.2.4",
            "localhost:port",
            "localhost:1:2",
            "[::1",
            "",
            "user@localhost",
        ] {
            assert_eq!(checked(host, None), Err(403), "{host}");
        }
    }

    #[test]
    fn pages_of_other_origins_are_refused() {
        let at = |origin| checked("localhost:7717", Some(origin));
        assert_eq!(at("http://localhost:7717"), Ok(None));
        assert_eq!(
            at("https://board.test"),
            Ok(Some("https://board.test".to_owned()))
        );
        for origin in [
            "null",
            "",
            "http://localhost:7718",
            "http://127.0.0.1:7717",
            "https://evil.test",
            "https://board.test.evil.test",
            "http://board.test",
        ] {
            assert_eq!(at(origin), Err(403), "{origin}");
        }
    }
}
