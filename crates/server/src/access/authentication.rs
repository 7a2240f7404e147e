//! Authentication: the access of a bearer token or a session cookie, and the paths that need none.

use super::Access;
use crate::{App, Problem};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};

/// Paths that need no authentication: their answers contain no records.
const PUBLIC_PATHS: [&str; 3] = ["/health", "/openapi.json", "/login"];
/// Path prefix of the page's styles and scripts, which need no authentication.
const PUBLIC_PREFIX: &str = "/assets/";

/// Returns true for a path that needs no authentication.
pub(super) fn is_public(path: &str) -> bool {
    PUBLIC_PATHS.contains(&path) || path.starts_with(PUBLIC_PREFIX)
}

/// Authenticates a request; `None` without credentials. Errors: 401 for unknown credentials.
pub(super) async fn authenticate(
    app: &App,
    headers: &HeaderMap,
) -> Result<Option<Access>, Problem> {
    if let Some(given) = headers.get(header::AUTHORIZATION) {
        let secret = given.to_str().ok().and_then(bearer_secret);
        let found = match secret {
            Some(secret) => find_access(app, secret).await?,
            None => None,
        };
        return match found {
            Some(access) => Ok(Some(access)),
            None => Err(unauthorized(headers)),
        };
    }
    Ok(app.browser_sessions().find(headers, app.options()))
}

/// Finds the access of a secret; on a blocking thread if that may wait for a database server.
async fn find_access(app: &App, secret: &str) -> Result<Option<Access>, Problem> {
    if let Some(cache) = app.opened_token_cache()
        && cache.tokens().has_fresh_stamp()
    {
        return Ok(cache.find_access(secret)?);
    }
    let (shared, secret) = (app.clone(), secret.to_owned());
    let found = app.run_blocking(move || shared.token_cache()?.find_access(&secret));
    found.await
}

fn bearer_secret(given: &str) -> Option<&str> {
    let (scheme, secret) = given.split_once(' ')?;
    let secret = secret.trim();
    (scheme.eq_ignore_ascii_case("bearer") && !secret.is_empty()).then_some(secret)
}

/// Returns the problem of a request without valid credentials.
pub(super) fn unauthorized(headers: &HeaderMap) -> Problem {
    let detail = match headers.contains_key(header::AUTHORIZATION) {
        true => "this token is unknown or revoked",
        false => "a token is needed: `Authorization: Bearer TOKEN`",
    };
    Problem::new(StatusCode::UNAUTHORIZED, detail)
        .hint("`heirloom token create --role R` creates one; `heirloom ui` opens the page")
        .header(
            header::WWW_AUTHENTICATE,
            HeaderValue::from_static("Bearer realm=\"heirloom\""),
        )
}
