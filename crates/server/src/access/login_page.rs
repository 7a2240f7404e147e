//! Browser login by a one-time link, and logout.

use super::{Access, session_cookie};
use crate::{App, Problem};
use axum::Router;
use axum::extract::{Query, State};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::response::{Html, IntoResponse, Redirect, Response};
use axum::routing::{get, post};
use serde::Deserialize;

/// Returns the routes `/login` and `/logout`.
pub(crate) fn routes() -> Router<App> {
    Router::new()
        .route("/login", get(log_in))
        .route("/logout", post(log_out))
}

#[derive(Deserialize)]
struct LoginQuery {
    once: Option<String>,
}

async fn log_in(
    State(app): State<App>,
    method: Method,
    headers: HeaderMap,
    Query(given): Query<LoginQuery>,
) -> Result<Response, Problem> {
    let Some(once) = given.once else {
        return Ok(login_page(&headers));
    };
    // Link previews send `HEAD`; they must not consume the one-time link.
    if method == Method::HEAD {
        return Ok(StatusCode::NO_CONTENT.into_response());
    }
    if !is_visit(&headers) {
        return Ok(leave_link_unused());
    }
    let shared = app.clone();
    let role = app
        .run_blocking(move || shared.token_cache()?.tokens().redeem_login(&once))
        .await?;
    let Some(role) = role else {
        return Ok(login_page(&headers));
    };
    let secret = app.browser_sessions().add(role)?;
    let cookie = session_cookie::set_session(app.options(), &secret);
    let mut answer = Redirect::to("/").into_response();
    let cookie = HeaderValue::from_str(&cookie)
        .map_err(|error| Problem::new(StatusCode::INTERNAL_SERVER_ERROR, error.to_string()))?;
    answer.headers_mut().insert(header::SET_COOKIE, cookie);
    // The link is in the browser's history; it must not reach another site's log through `Referer`.
    let hidden = HeaderValue::from_static("no-referrer");
    answer.headers_mut().insert(header::REFERRER_POLICY, hidden);
    Ok(answer)
}

/// Headers with which browsers and their extensions mark a request that no person made.
const PURPOSE_HEADERS: [&str; 4] = ["sec-purpose", "purpose", "x-purpose", "x-moz"];
/// Values of these headers; `Sec-Purpose` may have several, such as `prefetch;prerender`.
const SPECULATIVE_PURPOSES: [&str; 4] = ["prefetch", "prerender", "preview", "instant"];

/// Returns true if a person may have opened the address: it is neither loaded ahead of a visit nor a part of a page.
fn is_visit(headers: &HeaderMap) -> bool {
    let mut purposes = PURPOSE_HEADERS
        .iter()
        .flat_map(|name| headers.get_all(*name))
        .map(|value| String::from_utf8_lossy(value.as_bytes()).to_ascii_lowercase());
    let is_speculative = purposes.any(|purpose| {
        SPECULATIVE_PURPOSES
            .iter()
            .any(|known| purpose.contains(known))
    });
    // Programs without these headers, such as `curl`, are answered.
    let is_part_of_page = headers
        .get("sec-fetch-mode")
        .is_some_and(|mode| mode.as_bytes() != b"navigate");
    !is_speculative && !is_part_of_page
}

/// Returns an answer that a browser neither keeps nor shows when the person opens the address.
fn leave_link_unused() -> Response {
    Problem::new(
        StatusCode::SERVICE_UNAVAILABLE,
        "a login link is used by opening it, not by loading it ahead",
    )
    .header(header::CACHE_CONTROL, HeaderValue::from_static("no-store"))
    .into_response()
}

async fn log_out(State(app): State<App>, access: Access) -> Response {
    app.browser_sessions().remove(&access);
    let expired = session_cookie::delete_session(app.options());
    let mut answer = Redirect::to("/login").into_response();
    if let Ok(cookie) = HeaderValue::from_str(&expired) {
        answer.headers_mut().insert(header::SET_COOKIE, cookie);
    }
    answer
}

/// Returns true if a browser without a token requests HTML.
pub(super) fn is_browser_request(headers: &HeaderMap) -> bool {
    let accepted = headers
        .get(header::ACCEPT)
        .and_then(|value| value.to_str().ok());
    accepted.is_some_and(|accepted| accepted.contains("text/html"))
        && !headers.contains_key(header::AUTHORIZATION)
}

/// Policy of the login page: only the program's own styles.
const POLICY: &str = "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
/// Placeholder of the theme in the page.
const THEME: &str = "THEME";

/// Returns the page that explains how to log in, in the chosen theme, with status 401.
pub(super) fn login_page(headers: &HeaderMap) -> Response {
    let theme = match session_cookie::find_cookie(headers, "heirloom_theme") {
        Some("light") => " data-theme=\"light\"",
        Some("dark") => " data-theme=\"dark\"",
        Some(_) | None => "",
    };
    let page = include_str!("login.html").replacen(THEME, theme, 1);
    let policy = [(header::CONTENT_SECURITY_POLICY, POLICY)];
    (StatusCode::UNAUTHORIZED, policy, Html(page)).into_response()
}
