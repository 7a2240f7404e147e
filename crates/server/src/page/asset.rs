//! Styles and scripts: a few files inside the program.

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

/// The addresses of styles and scripts.
pub(super) fn routes() -> Router<App> {
    FILES.into_iter().fold(Router::new(), |router, file| {
        let (path, sort, content) = file;
        router.route(
            path,
            get(move |headers: HeaderMap| async move { sent(&headers, sort, content) }),
        )
    })
}

/// A short name of what all of them say.
pub(super) fn stamp() -> &'static str {
    static STAMP: OnceLock<String> = OnceLock::new();
    STAMP.get_or_init(|| {
        let mut hash = blake3::Hasher::new();
        for (_, _, content) in FILES {
            hash.update(content.as_bytes());
        }
        hash.finalize().to_hex().chars().take(10).collect()
    })
}

/// A file; nothing but its tag where a browser has it.
fn sent(headers: &HeaderMap, sort: &'static str, content: &'static str) -> Response {
    let tag = format!("W/\"{}\"", stamp());
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
