//! Streamable HTTP: the same sessions behind one address.

use super::Settings;
use super::compat::Compat;
use super::server::Server;
use crate::{App, Problem};
use axum::Router;
use axum::extract::{Request, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use heirloom_model::limits;
use rmcp::ServerHandler;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Pages that may talk to it: those of this machine.
const ORIGINS: [&str; 6] = [
    "http://localhost:*",
    "http://127.0.0.1:*",
    "http://[::1]:*",
    "https://localhost:*",
    "https://127.0.0.1:*",
    "https://[::1]:*",
];

/// MCP at `/mcp`, for requests that name this machine as their host, or one of `hosts`.
///
/// A page in a browser cannot reach it by a name of its own: Host and Origin are checked. Who may call is for whoever
/// mounts it: a [`super::Caller`] in a request's extensions says who it is.
pub fn router(app: &App, settings: Settings, hosts: &[String]) -> Router {
    let app = app.clone();
    match settings.as_server_memory {
        true => mount(hosts, move || {
            Compat(Server::new(app.clone(), settings.clone(), false))
        }),
        false => mount(hosts, move || {
            Server::new(app.clone(), settings.clone(), false)
        }),
    }
}

/// As [`router`], for whatever else speaks the protocol: a new `server` for each session.
pub fn mount<S: ServerHandler>(
    hosts: &[String],
    server: impl Fn() -> S + Send + Sync + 'static,
) -> Router {
    let mut config = StreamableHttpServerConfig::default()
        .with_allowed_origins(ORIGINS)
        .enforce_origin_validation();
    config.allowed_hosts.extend(hosts.iter().cloned());
    config.max_request_body_bytes = limits::MCP_MESSAGE_BYTES_MAX;
    let sessions = Arc::new(LocalSessionManager::default());
    let places = Places {
        sessions: Arc::clone(&sessions),
        coming: Arc::default(),
    };
    let service = StreamableHttpService::new(move || Ok(server()), sessions, config);
    Router::new()
        .route_service("/mcp", service)
        .layer(from_fn_with_state(places, in_a_place))
}

/// The header that names a session.
const SESSION: &str = "mcp-session-id";
/// Seconds after which who was refused may ask again.
const LATER_S: HeaderValue = HeaderValue::from_static("30");

/// The places of sessions.
#[derive(Clone)]
struct Places {
    sessions: Arc<LocalSessionManager>,
    /// Requests that may begin one.
    coming: Arc<AtomicUsize>,
}

/// One that may begin a session.
struct Coming<'a>(&'a AtomicUsize);

impl Drop for Coming<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}

/// Begins no session where all places are taken; one that nobody speaks in ends by itself.
async fn in_a_place(State(places): State<Places>, request: Request, next: Next) -> Response {
    if request.headers().contains_key(SESSION) {
        return next.run(request).await;
    }
    let before = places.coming.fetch_add(1, Ordering::AcqRel);
    let coming = Coming(&places.coming);
    let sessions = places.sessions.sessions.read().await.len();
    if sessions + before >= limits::MCP_SESSIONS_MAX {
        let said = format!("{} sessions are open already", limits::MCP_SESSIONS_MAX);
        return Problem::new(StatusCode::SERVICE_UNAVAILABLE, said)
            .hint("end one by DELETE, or come later")
            .header(header::RETRY_AFTER, LATER_S)
            .into_response();
    }
    let answer = next.run(request).await;
    drop(coming);
    answer
}
