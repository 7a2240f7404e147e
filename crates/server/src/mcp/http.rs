//! Streamable HTTP: the same sessions behind one address.

use super::Settings;
use super::compat::Compat;
use super::server::Server;
use crate::App;
use axum::Router;
use heirloom_model::limits;
use rmcp::ServerHandler;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use std::sync::Arc;

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
    let service = StreamableHttpService::new(move || Ok(server()), sessions, config);
    Router::new().route_service("/mcp", service)
}
