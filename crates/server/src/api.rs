//! HTTP API: one file per noun. Its OpenAPI description is generated from the same code and served at
//! `/openapi.json`.

mod admin;
mod analytics;
mod artifacts;
mod conflicts;
mod context;
mod episodes;
mod errors;
mod events;
mod field_checks;
mod fixed_words;
mod groups;
mod json_body;
mod json_types;
mod knowledge;
mod memory_tool;
mod notes;
mod openapi;
mod pagination;
mod query_params;
mod recall;
mod recall_types;
mod records;
mod retention;
mod schema_layout;
mod scope_fields;
mod session_types;
mod sessions;
#[cfg(test)]
mod surface_tests;
mod tasks;
mod window;
mod working_memory;
mod workspace;

pub(crate) use json_types::{EventEntry, event_entries};

use crate::App;
use axum::Router;
use axum::body::Bytes;
use axum::http::header;
use axum::routing::get;
use serde_json::Value;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

/// Returns the API routes, and `/openapi.json` with their description.
pub(crate) fn routes(version: &'static str) -> Router<App> {
    let (router, document) = routes_with_description(version);
    // As bytes: anyone may read it, and each request copies what its handler holds.
    let document = Bytes::from(document.to_string());
    let json = [(header::CONTENT_TYPE, "application/json")];
    router.route(
        "/openapi.json",
        get(move || async move { (json, document) }),
    )
}

/// Builds the routes and their OpenAPI description.
fn routes_with_description(version: &'static str) -> (Router<App>, Value) {
    let memory = OpenApiRouter::new()
        .routes(routes!(knowledge::list, knowledge::add))
        .routes(routes!(knowledge::show, knowledge::remove))
        .routes(routes!(episodes::list, episodes::add))
        .routes(routes!(artifacts::list, artifacts::add))
        .routes(routes!(artifacts::verify))
        .routes(routes!(artifacts::remove))
        .routes(routes!(
            working_memory::show,
            working_memory::hold,
            working_memory::forget
        ))
        .routes(routes!(memory_tool::call));
    let others = shared_routes();
    // Aliases: the other nouns are also available under `/api/memory`.
    let (also, _) = others.clone().split_for_parts();
    let (router, mut document) = OpenApiRouter::new()
        .nest("/api/memory", memory)
        .nest("/api", others)
        .split_for_parts();
    openapi::add_common_parts(&mut document, version);
    let mut document = serde_json::to_value(&document).unwrap_or_default();
    schema_layout::simplify_schemas(&mut document);
    openapi::constrain_inputs(&mut document);
    fixed_words::add_enums(&mut document);
    openapi::add_warnings(&mut document);
    (router.nest("/api/memory", also), document)
}

fn shared_routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(recall::ask, recall::ask_long))
        .routes(routes!(recall::tried))
        .routes(routes!(context::make, context::make_long))
        .routes(routes!(context::receipts))
        .routes(routes!(context::receipt))
        .routes(routes!(context::difference))
        .routes(routes!(sessions::list))
        .routes(routes!(sessions::show))
        .routes(routes!(sessions::messages, sessions::add))
        .routes(routes!(sessions::summary))
        .routes(routes!(sessions::search))
        .routes(routes!(window::compact))
        .routes(routes!(window::expand))
        .routes(routes!(tasks::list))
        .routes(routes!(tasks::show, tasks::set))
        .routes(routes!(tasks::finish))
        .routes(routes!(tasks::step))
        .routes(routes!(errors::log_error))
        .routes(routes!(errors::resolve_error))
        .routes(routes!(notes::notes, notes::add_note))
        .routes(routes!(workspace::workspace, workspace::add_entry))
        .routes(routes!(groups::groups))
        .routes(routes!(groups::group, groups::note_for_group))
        .routes(routes!(records::list))
        .routes(routes!(records::show, records::remove))
        .routes(routes!(records::history_of))
        .routes(routes!(records::history))
        .routes(routes!(records::undo))
        .routes(routes!(records::mark))
        .routes(routes!(conflicts::list))
        .routes(routes!(conflicts::resolve))
        .routes(routes!(analytics::analytics))
        .routes(routes!(analytics::status))
        .routes(routes!(events::follow))
        .routes(routes!(admin::projects))
        .routes(routes!(admin::tokens, admin::create_token))
        .routes(routes!(admin::revoke_token))
        .routes(routes!(retention::prune))
        .routes(routes!(admin::purge))
}
