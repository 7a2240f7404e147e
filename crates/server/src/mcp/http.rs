//! MCP over streamable HTTP.

use super::client_session::ClientSession;
use super::compat::Compat;
use super::stdio::lenient_body;
use super::{Caller, McpSettings};
use crate::{App, Problem};
use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::middleware::{Next, from_fn, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use heirloom_model::limits;
use rmcp::ServerHandler;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

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
        holders: Arc::default(),
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

/// Limiter for the number of sessions, which also binds each of them to the caller that began it.
#[derive(Clone)]
struct SessionSlots {
    sessions: Arc<LocalSessionManager>,
    /// Requests in flight that may begin a session.
    pending: Arc<AtomicUsize>,
    /// Callers that began the sessions: their tokens or logins.
    holders: Arc<Mutex<HashMap<String, Option<String>>>>,
}

impl SessionSlots {
    /// Returns true if the caller of a request did not begin its session.
    fn is_of_another(&self, request: &Request, session: &str) -> bool {
        let holders = self.holders.lock().unwrap_or_else(PoisonError::into_inner);
        let began = holders.get(session);
        began.is_some_and(|began| *began != holder_of(request))
    }

    /// Records the caller of a session that began, and forgets those of ended sessions.
    async fn record_holder(&self, session: &str, holder: Option<String>) {
        let open = self.sessions.sessions.read().await;
        let mut holders = self.holders.lock().unwrap_or_else(PoisonError::into_inner);
        holders.retain(|known, _| open.contains_key(known.as_str()));
        holders.insert(session.to_owned(), holder);
    }
}

/// Returns the identity of an authenticated caller.
fn holder_of(request: &Request) -> Option<String> {
    let caller = request.extensions().get::<Caller>();
    caller.and_then(|caller| caller.holder.clone())
}

fn session_of(headers: &HeaderMap) -> Option<&str> {
    headers.get(SESSION_HEADER)?.to_str().ok()
}

/// Guard for a request that may begin a session.
struct PendingSession<'a>(&'a AtomicUsize);

impl Drop for PendingSession<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}

/// Middleware: refuses new sessions at the limit, and requests for the session of another caller. Idle sessions end on
/// their own.
async fn limit_sessions(
    State(slots): State<SessionSlots>,
    request: Request,
    next: Next,
) -> Response {
    if request.headers().contains_key(SESSION_HEADER) {
        let session = session_of(request.headers()).unwrap_or_default();
        if slots.is_of_another(&request, session) {
            return Problem::new(StatusCode::NOT_FOUND, "this caller has no such session")
                .hint("begin one with `initialize`")
                .into_response();
        }
        return next.run(request).await;
    }
    let holder = holder_of(&request);
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
    if let Some(session) = session_of(answer.headers()) {
        slots.record_holder(session, holder).await;
    }
    drop(pending);
    answer
}
