//! Styles and scripts, embedded in the program.

use crate::App;
use axum::Router;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use std::sync::OnceLock;

const CSS: &str = "text/css; charset=utf-8";
const JS: &str = "text/javascript; charset=utf-8";
/// Name, type, content.
const FILES: [(&str, &str, &str); 5] = [
    ("/assets/app.css", CSS, include_str!("../../assets/app.css")),
    (
        "/assets/more.css",
        CSS,
        include_str!("../../assets/more.css"),
    ),
    ("/assets/htmx.js", JS, include_str!("../../assets/htmx.js")),
    ("/assets/app.js", JS, include_str!("../../assets/app.js")),
    (
        "/assets/icon.svg",
        "image/svg+xml",
        include_str!("../../assets/icon.svg"),
    ),
];

/// Returns the routes of styles and scripts.
pub(super) fn routes() -> Router<App> {
    FILES.into_iter().fold(Router::new(), |router, file| {
        let (path, sort, content) = file;
        router.route(
            path,
            get(move |headers: HeaderMap| async move { send_file(&headers, sort, content) }),
        )
    })
}

/// Returns a short hash of all assets, which versions their URLs.
pub(super) fn assets_hash() -> &'static str {
    static STAMP: OnceLock<String> = OnceLock::new();
    STAMP.get_or_init(|| {
        let mut hash = blake3::Hasher::new();
        for (_, _, content) in FILES {
            hash.update(content.as_bytes());
        }
        hash.finalize().to_hex().chars().take(10).collect()
    })
}

/// Sends a file, or 304 if the browser's ETag matches.
fn send_file(headers: &HeaderMap, sort: &'static str, content: &'static str) -> Response {
    let tag = format!("W/\"{}\"", assets_hash());
    let fixed = [
        (header::CONTENT_TYPE, sort),
        (header::CACHE_CONTROL, "private, max-age=86400"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    ];
    let known = headers.get(header::IF_NONE_MATCH);
    if known.is_some_and(|known| known.as_bytes() == tag.as_bytes()) {
        return (StatusCode::NOT_MODIFIED, [(header::ETAG, tag)]).into_response();
    }
    (fixed, [(header::ETAG, tag)], content).into_response()
}
