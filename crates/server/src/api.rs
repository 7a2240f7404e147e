//! The HTTP API: one file a noun. Its description is made of the same code and served at `/openapi.json`.

mod analytics;
mod artifacts;
mod conflicts;
mod context;
mod describe;
mod episodes;
mod events;
mod knowledge;
mod people;
mod recall;
mod records;
mod rooms;
mod sessions;
mod shape;
mod tasks;
mod tool;
mod wire;
mod working;

pub(crate) use wire::{Happened, happened};

use crate::App;
use axum::Router;
use axum::routing::get;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

/// The routes, and their description beside them.
pub(crate) fn routes(version: &'static str) -> Router<App> {
    let memory = OpenApiRouter::new()
        .routes(routes!(knowledge::list, knowledge::add))
        .routes(routes!(knowledge::show, knowledge::remove))
        .routes(routes!(episodes::list, episodes::add))
        .routes(routes!(artifacts::list, artifacts::add))
        .routes(routes!(artifacts::verify))
        .routes(routes!(artifacts::remove))
        .routes(routes!(working::show, working::hold, working::forget))
        .routes(routes!(tool::call));
    let others = others();
    // Whoever looks for them beside the three kinds finds them there too.
    let (also, _) = others.clone().split_for_parts();
    let (router, mut document) = OpenApiRouter::new()
        .nest("/api/memory", memory)
        .nest("/api", others)
        .split_for_parts();
    describe::complete(&mut document, version);
    let mut document = serde_json::to_value(&document).unwrap_or_default();
    describe::bounds(&mut document);
    router.nest("/api/memory", also).route(
        "/openapi.json",
        get(move || async move { axum::Json(document) }),
    )
}

fn others() -> OpenApiRouter<App> {
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
        .routes(routes!(sessions::compact))
        .routes(routes!(sessions::expand))
        .routes(routes!(tasks::list))
        .routes(routes!(tasks::show, tasks::set))
        .routes(routes!(tasks::finish))
        .routes(routes!(tasks::step))
        .routes(routes!(tasks::log_error))
        .routes(routes!(tasks::resolve_error))
        .routes(routes!(rooms::notes, rooms::add_note))
        .routes(routes!(rooms::workspace, rooms::add_entry))
        .routes(routes!(rooms::groups))
        .routes(routes!(rooms::group, rooms::note_for_group))
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
        .routes(routes!(people::projects))
        .routes(routes!(people::tokens, people::create_token))
        .routes(routes!(people::revoke_token))
        .routes(routes!(people::purge))
}
