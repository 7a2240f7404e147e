//! Choice of the project that a browser shows.

use super::cookies::{chosen_project, cookie_name};
use super::view::command_palette::PaletteItem;
use super::{PageError, RequestContext, record_label};
use crate::App;
use crate::access::FormProject;
use axum::Router;
use axum::extract::{Path, Request, State};
use axum::http::{HeaderValue, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::get;
use heirloom_engine::Engine;
use heirloom_fs::project_fs::display_name;
use heirloom_model::{Fault, Permission, ProjectName, text};

/// Maximum number of offered projects.
const OFFERED: usize = 7;

/// Returns the routes.
pub(super) fn routes() -> Router<App> {
    Router::new().route("/projects/{name}", get(switch_project))
}

/// Middleware: after a form, the browser stays in the project of the form, even if another tab switched the project.
pub(super) async fn keep_form_project(
    State(app): State<App>,
    request: Request,
    next: Next,
) -> Response {
    let form_project = request.extensions().get::<FormProject>().cloned();
    let form_project = form_project
        .filter(|form_project| form_project.0 != chosen_project(request.headers(), app.options()));
    let mut response = next.run(request).await;
    if let Some(FormProject(name)) = form_project
        && response.status().is_redirection()
    {
        set_project_cookie(&mut response, &app, name.as_deref().unwrap_or_default());
    }
    response
}

/// Sets the project cookie; an empty name deletes it.
fn set_project_cookie(response: &mut Response, app: &App, name: &str) {
    let end = if name.is_empty() { "; Max-Age=0" } else { "" };
    let cookie = format!(
        "{}={}; Path=/; SameSite=Strict; HttpOnly{end}",
        cookie_name(app.options()),
        record_label::percent_encode(name)
    );
    if let Ok(cookie) = HeaderValue::from_str(&cookie) {
        response.headers_mut().append(header::SET_COOKIE, cookie);
    }
}

/// Switches to a project until the browser is closed.
async fn switch_project(
    State(app): State<App>,
    context: RequestContext,
    Path(name): Path<String>,
) -> Result<Response, PageError> {
    context.resolve_project(Permission::Read)?;
    if let Some(access) = &context.access {
        access.resolve_project(Some(&name))?;
    }
    let requested = name.clone();
    app.with_engine(None, move |engine| {
        let is_served = engine.project().as_str() == requested;
        if is_served
            || engine
                .records()
                .projects()?
                .iter()
                .any(|one| one.as_str() == requested)
        {
            return Ok(());
        }
        let requested = text::excerpt(&text::replace_control_chars(&requested), 60);
        Err(Fault::not_found(format!(
            "this store has no project `{requested}`"
        )))
    })
    .await?;
    let mut response = Redirect::to("/").into_response();
    set_project_cookie(&mut response, &app, &name);
    Ok(response)
}

/// Lists other projects whose names contain these letters.
pub(super) fn palette_items(
    engine: &Engine,
    context: &RequestContext,
    letters: &str,
) -> Result<Vec<PaletteItem>, Fault> {
    if context
        .access
        .as_ref()
        .is_none_or(|access| access.project.is_some())
    {
        return Ok(Vec::new());
    }
    let all = engine.records().projects()?;
    let short = |name: &ProjectName| match name == engine.project() {
        true => engine.display_name(),
        false => display_name(name.as_str()),
    };
    let others = all
        .iter()
        .filter(|name| *name != engine.project() && name.as_str().to_lowercase().contains(letters));
    let jump = |name: &ProjectName| {
        let shown = short(name);
        let is_ambiguous = all
            .iter()
            .any(|other| other != name && short(other) == shown);
        let shown = if is_ambiguous { name.as_str() } else { &shown };
        PaletteItem {
            href: format!("/projects/{}", record_label::percent_encode(name.as_str())),
            icon: "workspace",
            words: text::replace_control_chars(shown),
            hint: "project".to_owned(),
        }
    };
    Ok(others.take(OFFERED).map(jump).collect())
}
