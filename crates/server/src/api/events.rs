//! `/api/events`: every change, as it happens.

use super::shape::{Asked, Where};
use crate::{Access, App, Problem, events};
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Sse;
use axum::response::sse::KeepAlive;
use heirloom_model::limits::SERVER_EVENTS_IDLE_S;
use std::time::Duration;

/// Server-sent events: one for each change, whichever process made it; `Last-Event-ID` goes on behind an event.
#[utoipa::path(get, path = "/events", tag = "server", params(Where), responses((status = 200, body = String, content_type = "text/event-stream")))]
pub(super) async fn follow(
    State(app): State<App>,
    access: Access,
    Asked(asked): Asked<Where>,
    headers: HeaderMap,
) -> Result<Sse<KeptAlive>, Problem> {
    let project = access.project(asked.project.as_deref())?;
    let last = headers.get("last-event-id");
    let last = last.and_then(|id| id.to_str().ok()).map(str::to_owned);
    let stream = events::stream(&app, project, last).await?;
    let pause = Duration::from_secs(SERVER_EVENTS_IDLE_S);
    Ok(Sse::new(stream).keep_alive(KeepAlive::new().interval(pause)))
}

/// A stream that says from time to time that it is there.
type KeptAlive = axum::response::sse::KeepAliveStream<events::Events>;
