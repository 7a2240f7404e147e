//! Session pages: the list, one conversation with its window and its cost, and its transcript as a file.

mod cost;
mod detail;
mod session_list;
mod transcript_file;
mod turn_rows;
mod window_chart;

use crate::App;
use axum::Router;
use axum::routing::get;

/// Returns the routes.
pub(super) fn routes() -> Router<App> {
    Router::new()
        .route("/sessions", get(session_list::show))
        .route("/sessions/{id}", get(detail::show))
        .route(
            "/sessions/{id}/transcript.md",
            get(transcript_file::download),
        )
}
