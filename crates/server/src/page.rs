//! Web page on which users see and correct memory.
//!
//! One file per page: it loads data through the engine, fills the view of a template, and renders it. Each route
//! answers the whole page, or only its main part for htmx requests. Every change also works as a plain form.

mod activity;
mod analytics;
mod command_palette;
mod cookies;
mod error_page;
mod file_editors;
mod filter_links;
mod form_fields;
mod inbox;
mod json_items;
mod knowledge;
mod layout;
mod learned_records;
mod marks;
mod overview;
mod pending_items;
mod projects;
mod recall;
mod receipt_links;
mod receipts;
mod record_label;
mod records;
mod request_context;
mod security_headers;
mod session_title;
mod sessions;
mod settings;
mod static_assets;
mod task_title;
mod tasks;
mod toast;
mod view;

pub(crate) use error_page::{PageError, unknown_path};
pub(crate) use request_context::RequestContext;
pub(crate) use request_context::chosen_theme;
pub(crate) use view::shell::{Shell, Toast};

use crate::App;
use askama::Template;
use axum::Router;
use axum::http::{StatusCode, header};
use axum::middleware::{from_fn_with_state, map_response};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use security_headers::add_security_headers;
use tower_http::compression::CompressionLayer;

/// Returns the routes of the page.
pub(crate) fn routes(app: &App) -> Router<App> {
    Router::new()
        .merge(overview::routes())
        .merge(knowledge::routes())
        .merge(records::routes())
        .merge(receipts::routes())
        .merge(tasks::routes())
        .merge(sessions::routes())
        .merge(inbox::routes())
        .merge(activity::routes())
        .merge(marks::routes())
        .merge(file_editors::routes())
        .merge(settings::routes())
        .merge(projects::routes())
        .route("/jump", get(command_palette::show))
        .route("/analytics", get(analytics::show))
        .route("/recall", get(recall::show))
        .layer(from_fn_with_state(app.clone(), projects::keep_form_project))
        .layer(map_response(add_security_headers))
        .merge(static_assets::routes())
        .layer(CompressionLayer::new())
}

/// Renders a template with status 200.
pub(crate) fn render(template: &impl Template) -> Result<Response, PageError> {
    render_with_status(StatusCode::OK, template)
}

/// Renders a template with a status.
pub(crate) fn render_with_status(
    status: StatusCode,
    template: &impl Template,
) -> Result<Response, PageError> {
    let body = template
        .render()
        .map_err(|error| PageError::failed(format!("the page cannot be written: {error}")))?;
    let sort = [(header::CONTENT_TYPE, "text/html; charset=utf-8")];
    Ok((status, sort, body).into_response())
}
