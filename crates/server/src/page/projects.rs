//! Which project of the store a browser is shown.

use super::look::cookie;
use super::view::jump::Jump;
use super::{Look, Wrong, told};
use crate::App;
use crate::access::Meant;
use crate::app::Options;
use crate::mcp::decoded;
use axum::Router;
use axum::extract::{Path, Request, State};
use axum::http::{HeaderMap, HeaderValue, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::get;
use heirloom_engine::Engine;
use heirloom_model::{Deed, Fault, text};

/// Projects that are offered.
const OFFERED: usize = 7;

/// Their addresses.
pub(super) fn routes() -> Router<App> {
    Router::new().route("/projects/{name}", get(choose))
}

/// The cookie that names the chosen one. Cookies know no ports: two servers on one machine need two names.
pub(super) fn cookie_name(options: &Options) -> String {
    format!("heirloom_project-{}", options.port)
}

/// The one that a browser has chosen.
pub(super) fn chosen(headers: &HeaderMap, options: &Options) -> Option<String> {
    let name = decoded(cookie(headers, &cookie_name(options))?)?;
    String::from_utf8(name).ok()
}

/// A browser that goes on from a form is shown the project that the form was for, whatever another tab has chosen.
pub(super) async fn follow(State(app): State<App>, request: Request, next: Next) -> Response {
    let meant = request.extensions().get::<Meant>().cloned();
    let meant = meant.filter(|meant| meant.0 != chosen(request.headers(), app.options()));
    let mut response = next.run(request).await;
    if let Some(Meant(name)) = meant
        && response.status().is_redirection()
    {
        remember(&mut response, &app, name.as_deref().unwrap_or_default());
    }
    response
}

/// Has the browser remember a choice; no name takes it back.
fn remember(response: &mut Response, app: &App, name: &str) {
    let end = if name.is_empty() { "; Max-Age=0" } else { "" };
    let cookie = format!(
        "{}={}; Path=/; SameSite=Strict; HttpOnly{end}",
        cookie_name(app.options()),
        told::encoded(name)
    );
    if let Ok(cookie) = HeaderValue::from_str(&cookie) {
        response.headers_mut().append(header::SET_COOKIE, cookie);
    }
}

/// Shows this project from now on, until the browser is closed.
async fn choose(
    State(app): State<App>,
    look: Look,
    Path(name): Path<String>,
) -> Result<Response, Wrong> {
    look.project(Deed::Read)?;
    if let Some(access) = &look.access {
        access.project(Some(&name))?;
    }
    let wanted = name.clone();
    app.ask(None, move |engine| {
        let is_served = engine.project().as_str() == wanted;
        if is_served || engine.projects()?.iter().any(|one| one.as_str() == wanted) {
            return Ok(());
        }
        let wanted = text::excerpt(&text::printable(&wanted), 60);
        Err(Fault::not_found(format!(
            "this store has no project `{wanted}`"
        )))
    })
    .await?;
    let mut response = Redirect::to("/").into_response();
    remember(&mut response, &app, &name);
    Ok(response)
}

/// The other projects whose names have these letters.
pub(super) fn jumps(engine: &Engine, look: &Look, letters: &str) -> Result<Vec<Jump>, Fault> {
    if look
        .access
        .as_ref()
        .is_none_or(|access| access.project.is_some())
    {
        return Ok(Vec::new());
    }
    let others = engine
        .projects()?
        .into_iter()
        .filter(|name| name != engine.project() && name.as_str().to_lowercase().contains(letters));
    let jump = |name: heirloom_model::ProjectName| Jump {
        href: format!("/projects/{}", told::encoded(name.as_str())),
        icon: "workspace",
        words: text::printable(name.as_str()),
        hint: "project".to_owned(),
    };
    Ok(others.take(OFFERED).map(jump).collect())
}
