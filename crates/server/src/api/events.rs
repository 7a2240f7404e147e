//! `/api/events`: every change, as it happens.

use super::shape::{Asked, Where};
use crate::{Access, App, Problem, events};
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Sse;
use axum::response::sse::{Event, KeepAlive, KeepAliveStream};
use heirloom_model::limits::SERVER_EVENTS_IDLE_S;
use std::convert::Infallible;
use std::time::Duration;
use tokio_stream::Stream;

/// Server-sent events: one for each change, whichever process made it; `Last-Event-ID` goes on behind an event.
#[utoipa::path(get, path = "/events", tag = "server", params(Where), responses((status = 200, body = String, content_type = "text/event-stream")))]
pub(super) async fn follow(
    State(app): State<App>,
    access: Access,
    Asked(asked): Asked<Where>,
    headers: HeaderMap,
) -> Result<KeptAlive<events::Events>, Problem> {
    let project = access.project(asked.project.as_deref())?;
    let last = headers.get("last-event-id");
    let last = last.and_then(|id| id.to_str().ok()).map(str::to_owned);
    let stream = events::stream(&app, project, last).await?;
    Ok(kept_alive(stream))
}

/// A stream that says from time to time that it is there.
type KeptAlive<S> = Sse<KeepAliveStream<S>>;

fn kept_alive<S>(stream: S) -> KeptAlive<S>
where
    S: Stream<Item = Result<Event, Infallible>> + Send + 'static,
{
    let pause = Duration::from_secs(SERVER_EVENTS_IDLE_S);
    Sse::new(stream).keep_alive(KeepAlive::new().interval(pause))
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::response::IntoResponse;
    use tokio_stream::StreamExt;

    #[tokio::test(start_paused = true)]
    async fn an_idle_stream_says_that_it_is_there() {
        let began = tokio::time::Instant::now();
        let answer = kept_alive(tokio_stream::pending()).into_response();
        let mut body = answer.into_body().into_data_stream();
        let said = body.next().await.unwrap().unwrap();
        assert_eq!(&said[..], b":\n\n");
        assert!(began.elapsed() >= Duration::from_secs(SERVER_EVENTS_IDLE_S));
    }
}
