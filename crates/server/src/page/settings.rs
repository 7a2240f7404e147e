//! Settings pages: values with their layers, tokens, agent programs, first steps, health checks, hook calls, and
//! preferences of the browser.

mod agent_programs;
mod change_toast;
pub(in crate::page) mod first_steps;
mod health_checks;
mod hook_calls;
mod preferences;
mod tokens;
mod value_form;
mod value_list;

use super::{PageError, RequestContext, Shell};
use crate::app::ServerOptions;
use crate::local_setup::LocalSetup;
use crate::{App, Problem};
use axum::Router;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::{get, post};
use heirloom_model::Permission;
use std::net::IpAddr;
use std::sync::Arc;

/// Returns the routes.
pub(super) fn routes() -> Router<App> {
    Router::new()
        .route("/settings", get(value_list::show))
        .route(
            "/settings/values/{key}",
            get(value_form::show).post(value_form::save),
        )
        .route("/settings/undo/{id}", post(value_form::undo))
        .route("/settings/tokens", get(tokens::show).post(tokens::create))
        .route("/settings/tokens/{id}/revoke", post(tokens::revoke))
        .route("/settings/agents", get(agent_programs::show))
        .route(
            "/settings/agents/{name}/{scope}",
            post(agent_programs::install),
        )
        .route(
            "/settings/agents/{name}/{scope}/remove",
            post(agent_programs::remove),
        )
        .route("/settings/start", get(first_steps::show))
        .route(
            "/settings/health",
            get(health_checks::show).post(health_checks::check_again),
        )
        .route("/settings/hooks", get(hook_calls::show))
        .route("/settings/theme", post(preferences::theme))
        .route("/settings/keys", post(preferences::keys))
}

/// Checks for an admin of the whole store. Errors: 401, 403.
fn require_admin(context: &RequestContext) -> Result<(), Problem> {
    context.resolve_project(Permission::Administer)?;
    match context
        .access
        .as_ref()
        .and_then(|access| access.project.as_ref())
    {
        None => Ok(()),
        Some(own) => Err(Problem::new(
            StatusCode::FORBIDDEN,
            format!("this token opens the project `{own}` only; settings apply to the whole store"),
        )),
    }
}

/// Returns true if a person on this machine uses the page: the server is reachable from here only, and a login link was
/// opened. Such a person could edit the files too. An admin elsewhere must not start programs or read files here.
fn is_on_this_machine(context: &RequestContext, options: &ServerOptions) -> bool {
    let host = options.origins.host.as_str();
    let is_loopback = host.eq_ignore_ascii_case("localhost")
        || host.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback());
    let is_login = (context.access.as_ref()).is_some_and(|access| access.csrf.is_some());
    is_loopback && options.origins.hosts.is_empty() && is_login
}

/// Returns the setup of the machine. Errors: 404 for a server without config files.
fn require_setup(app: &App) -> Result<Arc<dyn LocalSetup>, Problem> {
    app.options().setup.clone().ok_or_else(|| {
        Problem::new(StatusCode::NOT_FOUND, "this server has no config files")
            .hint("`heirloom serve` starts one with them")
    })
}

/// Redirects to a settings page after a change; `undo` is the id of the change, or empty.
fn redirect_to(path: &str, done: &str, undo: &str, anchor: &str) -> Response {
    Redirect::to(&format!("{path}?done={done}&undo={undo}#{anchor}")).into_response()
}

/// Loads the layout of a settings page.
async fn load_shell(
    app: &App,
    context: &RequestContext,
    title: &'static str,
) -> Result<Shell, PageError> {
    let project = context.resolve_project(Permission::Read)?;
    let of = context.clone();
    let shell = app.with_engine(project, move |engine| {
        Shell::load(engine, &of, "settings", title)
    });
    Ok(shell.await?)
}
