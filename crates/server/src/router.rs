//! Router of the server: all routes, and the middleware that every request passes.

use crate::access;
use crate::api;
use crate::etag;
use crate::idempotency;
use crate::metrics;
use crate::page;
use crate::problem;
use crate::unknown_fields;
use crate::{App, Problem};
use axum::extract::{DefaultBodyLimit, State};
use axum::http::{HeaderMap, Method, StatusCode, Uri, header};
use axum::middleware::{from_fn, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Json, Router};
use serde_json::{Value, json};

/// Builds the router with all routes and middleware, and merges the routes of `mcp`.
pub fn router(app: App, mcp: Router) -> Router {
    let version = app.options().version;
    Router::new()
        .route("/health", get(health))
        .merge(page::routes(&app))
        .route("/metrics", get(metrics::show))
        .route("/api/health", get(health))
        .route("/api/metrics", get(metrics::show))
        .merge(access::login_routes())
        .merge(api::routes(version))
        .fallback(not_found)
        .method_not_allowed_fallback(method_not_allowed)
        .with_state(app.clone())
        // `access::guard` limits all bodies.
        .layer(DefaultBodyLimit::disable())
        .layer(from_fn(unknown_fields::add_warnings))
        .layer(from_fn(etag::add_etag))
        .layer(from_fn(problem::plain_errors_to_documents))
        .layer(from_fn_with_state(app.clone(), idempotency::replay_or_run))
        // MCP answers are streams: they get no ETag and are not replayed.
        .merge(mcp)
        .layer(from_fn_with_state(app, access::guard))
}

/// Health check. The answer contains no records, because it needs no authentication.
async fn health(State(app): State<App>) -> Result<Json<Value>, Problem> {
    let version = app.options().version;
    app.with_engine(None, |engine| engine.maintenance().describe_store())
        .await?;
    Ok(Json(json!({"status": "ok", "version": version})))
}

/// Answers an unknown path: a page for a browser, a problem document for programs.
async fn not_found(method: Method, uri: Uri, headers: HeaderMap) -> Response {
    let accepted = headers.get(header::ACCEPT);
    let is_browser = accepted
        .and_then(|value| value.to_str().ok())
        .is_some_and(|accepted| accepted.contains("text/html"));
    if is_browser && method == Method::GET && !uri.path().starts_with("/api/") {
        return page::unknown_path(page::chosen_theme(&headers));
    }
    Problem::new(StatusCode::NOT_FOUND, "no route has this path")
        .hint("/openapi.json lists the routes")
        .into_response()
}

async fn method_not_allowed() -> Problem {
    Problem::new(
        StatusCode::METHOD_NOT_ALLOWED,
        "this path does not support the method",
    )
    .hint("the header `allow` lists the supported methods")
}
