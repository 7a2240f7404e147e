//! Address, token and project of a client.

use crate::errors::Error;
use crate::retry::RetryPolicy;
use std::fmt;
use std::net::IpAddr;
use std::time::Duration;
use ureq::tls::{Certificate, PemItem, parse_pem};

/// Address of a server that was started without options.
const DEFAULT_URL: &str = "http://127.0.0.1:7717";

/// Settings of a client that are not checked yet. The token is in no text of it.
#[derive(Clone, Default)]
pub(crate) struct SettingsInput {
    pub(crate) url: Option<String>,
    pub(crate) token: Option<String>,
    pub(crate) project: Option<String>,
    pub(crate) timeout: Option<Duration>,
    pub(crate) retry: Option<RetryPolicy>,
    pub(crate) root_certificates: Option<Vec<u8>>,
}

/// Checked settings of a client.
pub(crate) struct Settings {
    /// Address without a slash at its end.
    pub(crate) url: String,
    pub(crate) token: Option<String>,
    pub(crate) project: Option<String>,
    pub(crate) timeout: Duration,
    pub(crate) retry: RetryPolicy,
    /// Trusted instead of the public certificate authorities.
    pub(crate) root_certificates: Option<Vec<Certificate<'static>>>,
}

impl SettingsInput {
    /// Fills the rest from `HEIRLOOM_URL` and `HEIRLOOM_TOKEN`, and checks address and token.
    pub(crate) fn resolve(self) -> Result<Settings, Error> {
        self.resolve_with(variable)
    }

    fn resolve_with(self, variable: impl Fn(&str) -> Option<String>) -> Result<Settings, Error> {
        let url = self.url.or_else(|| variable("HEIRLOOM_URL"));
        let url = url.as_deref().unwrap_or(DEFAULT_URL);
        let url = url.trim().trim_end_matches('/').to_owned();
        check_url(&url)?;
        let token = self.token.or_else(|| variable("HEIRLOOM_TOKEN"));
        let token = token.map(|token| token.trim().to_owned());
        let token = token.filter(|token| !token.is_empty());
        if let Some(token) = &token
            && !token.bytes().all(|byte| byte.is_ascii_graphic())
        {
            return Err(invalid("the token contains characters that no token has"));
        }
        Ok(Settings {
            url,
            token,
            project: self.project,
            timeout: self.timeout.unwrap_or(Duration::from_secs(30)),
            retry: self.retry.unwrap_or_default(),
            root_certificates: self
                .root_certificates
                .as_deref()
                .map(read_certificates)
                .transpose()?,
        })
    }
}

impl Settings {
    /// Returns true if the server is on this machine. A proxy would get the token and could not reach it.
    pub(crate) fn is_local(&self) -> bool {
        let host = host(&self.url);
        let ip = host.parse::<IpAddr>();
        host.eq_ignore_ascii_case("localhost") || ip.is_ok_and(|ip| ip.is_loopback())
    }
}

impl fmt::Debug for Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Settings")
            .field("url", &self.url)
            .field("project", &self.project)
            .finish_non_exhaustive()
    }
}

/// Reads the certificates of a PEM file.
fn read_certificates(pem: &[u8]) -> Result<Vec<Certificate<'static>>, Error> {
    let certificates = parse_pem(pem).map(|item| match item {
        Ok(PemItem::Certificate(certificate)) => Ok(certificate),
        _ => Err(invalid("the root certificates are not certificates in PEM")),
    });
    let certificates = certificates.collect::<Result<Vec<_>, _>>()?;
    if certificates.is_empty() {
        return Err(invalid(
            "the root certificates contain no certificate in PEM",
        ));
    }
    Ok(certificates)
}

/// Checks an address. Errors do not repeat it, because it may contain a password.
fn check_url(url: &str) -> Result<(), Error> {
    let rest = url
        .strip_prefix("http://")
        .or_else(|| url.strip_prefix("https://"));
    let authority = rest.and_then(|rest| rest.split(['/', '?', '#']).next());
    let authority = authority.unwrap_or_default();
    let has_host = !authority.is_empty() && !host(url).is_empty();
    if authority.contains('@') {
        return Err(invalid(
            "the url contains a user or a password; give the token as `token` instead",
        ));
    }
    if !has_host || url.contains(['?', '#']) || !url.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err(invalid(
            "the url needs a scheme and a host, and no query: http://127.0.0.1:7717",
        ));
    }
    Ok(())
}

/// Returns the host of an address, without the brackets of an IPv6 address; empty without one.
fn host(url: &str) -> &str {
    let rest = url.split_once("://").map_or("", |(_, rest)| rest);
    let authority = rest.split('/').next().unwrap_or_default();
    match authority.strip_prefix('[') {
        Some(v6) => v6.split(']').next().unwrap_or_default(),
        None => authority.split(':').next().unwrap_or_default(),
    }
}

fn invalid(text: &str) -> Error {
    Error::InvalidArgument(text.to_owned())
}

/// Reads a variable of the environment; an empty one is absent.
#[expect(
    clippy::disallowed_methods,
    reason = "a library of its own: a program that uses it has no config of Heirloom"
)]
pub(crate) fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resolve(url: &str, token: &str) -> Result<Settings, Error> {
        let input = SettingsInput {
            url: Some(url.to_owned()),
            token: Some(token.to_owned()),
            ..SettingsInput::default()
        };
        input.resolve_with(|_| None)
    }

    #[test]
    fn given_values_precede_the_environment() {
        let variable = |name: &str| match name {
            "HEIRLOOM_URL" => Some("http://example.com:1/".to_owned()),
            "HEIRLOOM_TOKEN" => Some(" hl_env\n".to_owned()),
            _ => None,
        };
        let settings = SettingsInput::default().resolve_with(variable).unwrap();
        assert_eq!(settings.url, "http://example.com:1");
        assert_eq!(settings.token.as_deref(), Some("hl_env"));
        assert!(!settings.is_local());
        let input = SettingsInput {
            url: Some("http://[::1]:9/base/".to_owned()),
            token: Some("hl_given".to_owned()),
            ..SettingsInput::default()
        };
        let settings = input.resolve_with(variable).unwrap();
        assert_eq!(settings.url, "http://[::1]:9/base");
        assert_eq!(settings.token.as_deref(), Some("hl_given"));
        assert!(settings.is_local());
        let settings = SettingsInput::default().resolve_with(|_| None).unwrap();
        assert_eq!((settings.url.as_str(), settings.token), (DEFAULT_URL, None));
    }

    #[test]
    fn invalid_address_or_token_is_refused_and_not_repeated() {
        for (url, token) in [
            ("127.0.0.1:7717", ""),
            ("ftp://host", ""),
            ("http://", ""),
            ("http://:80", ""),
            ("http://me:hunter2@host", ""),
            ("http://host/?key=hunter2", ""),
            ("http://ho st", ""),
            ("http://host", "hunter2\nx-role: admin"),
            ("http://host", "hunter2 é"),
        ] {
            let error = resolve(url, token).unwrap_err();
            assert!(matches!(error, Error::InvalidArgument(_)), "{error:?}");
            assert!(!error.to_string().contains("hunter2"), "{error}");
        }
    }

    #[test]
    fn text_without_a_certificate_is_refused() {
        for pem in [
            "",
            "root",
            "-----BEGIN CERTIFICATE-----\n!\n-----END CERTIFICATE-----\n",
        ] {
            let error = read_certificates(pem.as_bytes()).unwrap_err();
            assert!(matches!(error, Error::InvalidArgument(_)), "{error:?}");
        }
    }

    #[test]
    fn token_is_not_in_the_debug_text() {
        let settings = resolve("http://localhost:1", "hl_secret").unwrap();
        assert!(settings.is_local());
        assert!(!format!("{settings:?}").contains("hl_secret"));
    }
}
