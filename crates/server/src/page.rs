//! The page where people see what agents remember, and correct it.
//!
//! One file a page: it loads through the engine, fills the view of its template, and answers. Each address answers a
//! whole page, or only its main part to a script that asks for it; what changes something is a form first.

mod analytics;
mod asset;
mod fields;
mod files;
mod jump;
mod knowledge;
mod look;
mod overview;
mod projects;
mod recall;
mod receipts;
mod records;
mod review;
mod sessions;
mod settings;
mod shell;
mod tasks;
mod told;
mod view;
mod wrong;

pub(crate) use look::Look;
pub(crate) use shell::{Shell, Toast};
pub(crate) use wrong::Wrong;

use crate::App;
use askama::Template;
use axum::Router;
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::middleware::{from_fn_with_state, map_response};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use tower_http::compression::CompressionLayer;

/// What a page may load: its own files, and nothing that stands in it as text.
const POLICY: &str = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/// The addresses of the page.
pub(crate) fn routes(app: &App) -> Router<App> {
    Router::new()
        .route("/", get(overview::show))
        .merge(knowledge::routes())
        .merge(records::routes())
        .merge(receipts::routes())
        .merge(tasks::routes())
        .merge(sessions::routes())
        .merge(review::routes())
        .merge(files::routes())
        .merge(settings::routes())
        .merge(projects::routes())
        .route("/jump", get(jump::show))
        .route("/analytics", get(analytics::show))
        .route("/recall", get(recall::show))
        .layer(from_fn_with_state(app.clone(), projects::follow))
        .layer(map_response(guarded))
        .merge(asset::routes())
        .layer(CompressionLayer::new())
}

/// Says with every page what a browser must not do with it.
async fn guarded(mut response: Response) -> Response {
    let headers = response.headers_mut();
    let fixed = [
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "same-origin"),
        (header::CACHE_CONTROL, "no-store"),
        (header::VARY, "Cookie, HX-Request"),
        (
            HeaderName::from_static("cross-origin-opener-policy"),
            "same-origin",
        ),
        (
            HeaderName::from_static("cross-origin-resource-policy"),
            "same-origin",
        ),
    ];
    for (name, value) in fixed {
        headers.insert(name, HeaderValue::from_static(value));
    }
    response
}

/// A template as an answer.
pub(crate) fn html(template: &impl Template) -> Result<Response, Wrong> {
    answer(StatusCode::OK, template)
}

/// The same with another status.
pub(crate) fn answer(status: StatusCode, template: &impl Template) -> Result<Response, Wrong> {
    let body = template
        .render()
        .map_err(|error| Wrong::failed(format!("the page cannot be written: {error}")))?;
    let sort = [(header::CONTENT_TYPE, "text/html; charset=utf-8")];
    Ok((status, sort, body).into_response())
}
