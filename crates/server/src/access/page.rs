//! Logging a browser in by a link that works once, and out.

use super::{Access, logins};
use crate::{App, Problem};
use axum::Router;
use axum::extract::{Query, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{Html, IntoResponse, Redirect, Response};
use axum::routing::{get, post};
use serde::Deserialize;

/// The addresses of logging in and out.
pub(crate) fn routes() -> Router<App> {
    Router::new()
        .route("/login", get(log_in))
        .route("/logout", post(log_out))
}

#[derive(Deserialize)]
struct Once {
    once: Option<String>,
}

async fn log_in(State(app): State<App>, Query(given): Query<Once>) -> Result<Response, Problem> {
    let Some(once) = given.once else {
        return Ok(how_to_log_in());
    };
    let taking = app.clone();
    let role = app
        .wait(move || taking.keys()?.tokens().take_login(&once))
        .await?;
    let Some(role) = role else {
        return Ok(how_to_log_in());
    };
    let secret = app.logins().add(role)?;
    let name = logins::cookie_name(app.options());
    let secure = if app.options().is_secure {
        "; Secure"
    } else {
        ""
    };
    let cookie = format!("{name}={secret}; Path=/; HttpOnly; SameSite=Strict{secure}");
    let mut answer = Redirect::to("/").into_response();
    let cookie = HeaderValue::from_str(&cookie)
        .map_err(|error| Problem::new(StatusCode::INTERNAL_SERVER_ERROR, error.to_string()))?;
    answer.headers_mut().insert(header::SET_COOKIE, cookie);
    // The link is in the browser's history, and must not be in anybody's log.
    let hidden = HeaderValue::from_static("no-referrer");
    answer.headers_mut().insert(header::REFERRER_POLICY, hidden);
    Ok(answer)
}

async fn log_out(State(app): State<App>, access: Access) -> Response {
    app.logins().remove(&access);
    let name = logins::cookie_name(app.options());
    let gone = format!("{name}=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0");
    let mut answer = Redirect::to("/login").into_response();
    if let Ok(cookie) = HeaderValue::from_str(&gone) {
        answer.headers_mut().insert(header::SET_COOKIE, cookie);
    }
    answer
}

/// Whether a person looks at the answer.
pub(super) fn is_wanted(headers: &HeaderMap) -> bool {
    let accepted = headers
        .get(header::ACCEPT)
        .and_then(|value| value.to_str().ok());
    accepted.is_some_and(|accepted| accepted.contains("text/html"))
        && !headers.contains_key(header::AUTHORIZATION)
}

/// What somebody sees who is not logged in.
pub(super) fn how_to_log_in() -> Response {
    let page = include_str!("login.html");
    (StatusCode::UNAUTHORIZED, Html(page)).into_response()
}
