//! MCP over streamable HTTP.

use super::McpSettings;
use super::client_session::ClientSession;
use super::compat::Compat;
use super::stdio::lenient_body;
use crate::{App, Problem};
use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::{Request, State};
use axum::http::{HeaderValue, Method, StatusCode, header};
use axum::middleware::{Next, from_fn, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use heirloom_model::limits;
use rmcp::ServerHandler;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Allowed origins: pages of this machine.
const ORIGINS: [&str; 6] = [
    "http://localhost:*",
    "http://127.0.0.1:*",
    "http://[::1]:*",
    "https://localhost:*",
    "https://127.0.0.1:*",
    "https://[::1]:*",
];

/// Serves MCP at `/mcp` for requests whose host is this machine or one of `hosts`.
///
/// Host and Origin are checked against DNS rebinding. Authentication is left to the caller of this function: a
/// [`super::Caller`] in the extensions of a request identifies the client.
pub fn router(app: &App, settings: McpSettings, hosts: &[String]) -> Router {
    let app = app.clone();
    match settings.as_server_memory {
        true => mount(hosts, move || {
            Compat(ClientSession::new(app.clone(), settings.clone(), false))
        }),
        false => mount(hosts, move || {
            ClientSession::new(app.clone(), settings.clone(), false)
        }),
    }
}

/// Mounts any MCP server as [`router`] does, with a new `server` for each session.
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
    let slots = SessionSlots {
        sessions: Arc::clone(&sessions),
        pending: Arc::default(),
    };
    let service = StreamableHttpService::new(move || Ok(server()), sessions, config);
    Router::new()
        .route_service("/mcp", service)
        .layer(from_fn(repair_body))
        .layer(from_fn_with_state(slots, limit_sessions))
}

/// Middleware: reads the bodies of requests as the line transport does.
async fn repair_body(request: Request, next: Next) -> Response {
    if request.method() != Method::POST {
        return next.run(request).await;
    }
    let (mut parts, body) = request.into_parts();
    let Ok(bytes) = to_bytes(body, limits::MCP_MESSAGE_BYTES_MAX).await else {
        let detail = format!(
            "the body has more than {} bytes",
            limits::MCP_MESSAGE_BYTES_MAX
        );
        return Problem::new(StatusCode::PAYLOAD_TOO_LARGE, detail).into_response();
    };
    let body = match lenient_body(&bytes) {
        Some(repaired) => {
            parts.headers.remove(header::CONTENT_LENGTH);
            Body::from(repaired)
        }
        None => Body::from(bytes),
    };
    next.run(Request::from_parts(parts, body)).await
}

/// Header with the session id.
const SESSION_HEADER: &str = "mcp-session-id";

/// Limiter for the number of sessions.
#[derive(Clone)]
struct SessionSlots {
    sessions: Arc<LocalSessionManager>,
    /// Requests in flight that may begin a session.
    pending: Arc<AtomicUsize>,
}

/// Guard for a request that may begin a session.
struct PendingSession<'a>(&'a AtomicUsize);

impl Drop for PendingSession<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}

/// Middleware: refuses new sessions at the limit. Idle sessions end on their own.
async fn limit_sessions(
    State(slots): State<SessionSlots>,
    request: Request,
    next: Next,
) -> Response {
    if request.headers().contains_key(SESSION_HEADER) {
        return next.run(request).await;
    }
    let before = slots.pending.fetch_add(1, Ordering::AcqRel);
    let pending = PendingSession(&slots.pending);
    let sessions = slots.sessions.sessions.read().await.len();
    if sessions + before >= limits::MCP_SESSIONS_MAX {
        let detail = format!("{} sessions are open already", limits::MCP_SESSIONS_MAX);
        return Problem::new(StatusCode::SERVICE_UNAVAILABLE, detail)
            .hint("end one with DELETE, or retry later")
            .header(
                header::RETRY_AFTER,
                HeaderValue::from(limits::MCP_RETRY_AFTER_S),
            )
            .into_response();
    }
    let answer = next.run(request).await;
    drop(pending);
    answer
}
