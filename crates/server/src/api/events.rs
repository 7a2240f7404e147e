//! `/api/events`: stream of changes.

use super::query_params::{ProjectQuery, QueryParams};
use crate::{Access, App, Problem, event_feed};
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Sse;
use axum::response::sse::{Event, KeepAlive, KeepAliveStream};
use heirloom_model::limits::SERVER_EVENTS_IDLE_S;
use std::convert::Infallible;
use std::time::Duration;
use tokio_stream::Stream;

/// Streams server-sent events: one for each change, by any process. The first message, `ready`, has only an id, the position of the stream. `Last-Event-ID` resumes after that event or position.
#[utoipa::path(get, path = "/events", operation_id = "follow_events", tag = "events", params(ProjectQuery), responses((status = 200, body = String, content_type = "text/event-stream")))]
pub(super) async fn follow(
    State(app): State<App>,
    access: Access,
    QueryParams(params): QueryParams<ProjectQuery>,
    headers: HeaderMap,
) -> Result<KeepAliveSse<event_feed::Events>, Problem> {
    let project = access.resolve_project(params.project.as_deref())?;
    let last = headers.get("last-event-id");
    let last = last.and_then(|id| id.to_str().ok()).map(str::to_owned);
    let stream = event_feed::stream(&app, project, last).await?;
    Ok(with_keep_alive(stream))
}

/// Event stream with keep-alive comments.
type KeepAliveSse<S> = Sse<KeepAliveStream<S>>;

fn with_keep_alive<S>(stream: S) -> KeepAliveSse<S>
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
    async fn idle_stream_sends_keep_alive() {
        let began = tokio::time::Instant::now();
        let answer = with_keep_alive(tokio_stream::pending()).into_response();
        let mut body = answer.into_body().into_data_stream();
        let first = body.next().await.unwrap().unwrap();
        assert_eq!(&first[..], b":\n\n");
        assert!(began.elapsed() >= Duration::from_secs(SERVER_EVENTS_IDLE_S));
    }
}
