//! Host and origin check against DNS rebinding, and CORS headers.
//!
//! A foreign page can point its own host name to this machine (DNS rebinding); its scripts then send requests as if
//! they were same-origin. So the `Host` header must name an allowed host.

use crate::Problem;
use axum::http::{HeaderMap, HeaderValue, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use std::net::IpAddr;

/// Host names and origins that a user allowed.
#[derive(Debug, Clone, Default)]
pub struct AllowedOrigins {
    /// Host that the server listens on.
    pub host: String,
    /// Additional host names of this machine.
    pub hosts: Vec<String>,
    /// Origins whose pages may send requests, as browsers write them: `https://example.org`.
    pub origins: Vec<String>,
}

impl AllowedOrigins {
    /// Checks `Host` and `Origin`. Returns the origin if it is a foreign, allowed one. Errors: 403 for a host or
    /// origin that is not allowed, 400 without exactly one host.
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
                "the request has no `Host` header, or several",
            ));
        };
        let named = uri.authority().map(|authority| authority.as_str());
        for name in [Some(host), named].into_iter().flatten() {
            if !self.is_allowed_host(name) {
                return Err(Problem::new(
                    StatusCode::FORBIDDEN,
                    "this server does not accept requests for this host name",
                )
                .hint("`heirloom serve --allow-host NAME` adds one"));
            }
        }
        let Some(origin) = headers.get(header::ORIGIN) else {
            return Ok(None);
        };
        let origin = origin.to_str().unwrap_or("");
        if is_same_origin(origin, host) {
            return Ok(None);
        }
        let allowed = self.origins.iter().find(|allowed| *allowed == origin);
        allowed.map(|origin| Some(origin.as_str())).ok_or_else(|| {
            Problem::new(
                StatusCode::FORBIDDEN,
                "pages of this origin may not send requests to this server",
            )
            .hint("`heirloom serve --allow-origin ORIGIN` allows one")
        })
    }

    fn is_allowed_host(&self, authority: &str) -> bool {
        let Some(name) = host_of(authority) else {
            return false;
        };
        if name.eq_ignore_ascii_case("localhost") || name.eq_ignore_ascii_case(&self.host) {
            return true;
        }
        if let Ok(address) = name.parse::<IpAddr>() {
            // An IP address cannot be rebound. A server on an unspecified address cannot know its own addresses.
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

/// Returns `name` of `name:port`, without the brackets of an IPv6 address.
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

/// Returns true if the origin has the host and port of the request.
fn is_same_origin(origin: &str, host: &str) -> bool {
    let of = ["http://", "https://"]
        .iter()
        .find_map(|scheme| origin.strip_prefix(scheme));
    of.is_some_and(|of| of.eq_ignore_ascii_case(host))
}

/// Answers a CORS preflight request.
pub(super) fn preflight(origin: Option<&str>) -> Response {
    let mut answer = with_cors(StatusCode::NO_CONTENT.into_response(), origin);
    for (name, value) in [
        (
            header::ACCESS_CONTROL_ALLOW_METHODS,
            "GET, POST, PUT, PATCH, DELETE",
        ),
        (
            header::ACCESS_CONTROL_ALLOW_HEADERS,
            "authorization, content-type, idempotency-key, if-match, if-none-match, last-event-id, prefer",
        ),
        (header::ACCESS_CONTROL_MAX_AGE, "600"),
    ] {
        answer
            .headers_mut()
            .insert(name, HeaderValue::from_static(value));
    }
    answer
}

/// Headers of answers that a page of an allowed origin can read.
const EXPOSED_HEADERS: &str = "date, etag, idempotency-replayed, location, retry-after";

/// Adds CORS headers for an allowed origin. Credentials are not allowed, so foreign pages never use cookies.
pub(super) fn with_cors(mut answer: Response, origin: Option<&str>) -> Response {
    if let Some(origin) = origin.and_then(|origin| HeaderValue::from_str(origin).ok()) {
        let headers = answer.headers_mut();
        headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin);
        headers.insert(header::VARY, HeaderValue::from_static("Origin"));
        headers.insert(
            header::ACCESS_CONTROL_EXPOSE_HEADERS,
            HeaderValue::from_static(EXPOSED_HEADERS),
        );
    }
    answer
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checked(host: &str, origin: Option<&str>) -> Result<Option<String>, u16> {
        let names = AllowedOrigins {
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
    fn pages_of_allowed_origins_can_read_the_headers_of_clients() {
        let answer = with_cors(StatusCode::OK.into_response(), Some("https://board.test"));
        let exposed = answer.headers().get(header::ACCESS_CONTROL_EXPOSE_HEADERS);
        let exposed: Vec<&str> = exposed.unwrap().to_str().unwrap().split(", ").collect();
        for name in [
            "date",
            "etag",
            "idempotency-replayed",
            "location",
            "retry-after",
        ] {
            assert!(exposed.contains(&name), "{name}");
        }
        let answer = with_cors(StatusCode::OK.into_response(), None);
        assert!(answer.headers().is_empty());
    }

    #[test]
    fn unknown_host_names_are_refused() {
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
