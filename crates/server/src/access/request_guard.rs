//! Middleware that every request passes before it reaches a route.

use super::access_log::AccessLogEntry;
use super::authentication::{authenticate, is_public, unauthorized};
use super::{csrf, login_page, origins, request_body, stream_access};
use crate::{App, Problem};
use axum::extract::{Request, State};
use axum::http::Method;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

/// Middleware: checks host, origin, authentication, body and CSRF token, and records metrics and the access log.
pub(crate) async fn guard(State(app): State<App>, request: Request, next: Next) -> Response {
    let allowed = &app.options().origins;
    let origin = match allowed.check(request.headers(), request.uri()) {
        Ok(origin) => origin,
        Err(problem) => return problem.into_response(),
    };
    if origin.is_some() && request.method() == Method::OPTIONS {
        return origins::preflight(origin);
    }
    let in_flight = app.metrics().begin();
    let is_safe = request.method().is_safe();
    let log_entry = AccessLogEntry::begin(&app, &request);
    let answer = authorize_and_run(&app, request, next).await;
    let answer = answer.unwrap_or_else(Problem::into_response);
    let elapsed = in_flight.finish(answer.status());
    if let Some(log_entry) = log_entry {
        log_entry.write(answer.status(), elapsed);
    }
    if !is_safe && answer.status().is_success() {
        app.feeds().wake_after_write();
    }
    origins::with_cors(answer, origin)
}

async fn authorize_and_run(
    app: &App,
    mut request: Request,
    next: Next,
) -> Result<Response, Problem> {
    let path = request.uri().path();
    let is_public = is_public(path);
    let access = match authenticate(app, request.headers()).await {
        Ok(access) => access,
        Err(problem) if is_public => {
            drop(problem);
            None
        }
        Err(problem) => return Err(problem),
    };
    if access.is_none() && !is_public {
        if login_page::is_browser_request(request.headers()) {
            return Ok(login_page::login_page(request.headers()));
        }
        return Err(unauthorized(request.headers()));
    }
    if let Some(access) = &access {
        csrf::check_sender(access, &request)?;
    }
    // A caller without access must not hold the memory of bodies, and no public route has one.
    if access.is_some() {
        request = request_body::read_body(app, &mut request).await?;
    }
    let reader = access.clone();
    if let Some(access) = access {
        if let Some(form_project) = csrf::check(&access, &request)? {
            request.extensions_mut().insert(form_project);
        }
        request.extensions_mut().insert(access.mcp_caller());
        request.extensions_mut().insert(access);
    }
    let answer = next.run(request).await;
    Ok(match reader {
        Some(reader) => stream_access::end_with_access(app, reader, answer),
        None => answer,
    })
}
