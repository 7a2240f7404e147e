//! The body of a request, read whole before any route sees it: one limit and one time for all of them.

use crate::{App, Problem};
use axum::body::{Body, Bytes, HttpBody, to_bytes};
use axum::extract::Request;
use axum::http::{Method, StatusCode};
use heirloom_model::limits::{SERVER_BODY_BYTES_MAX, SERVER_BODY_S};
use std::time::Duration;
use tokio::time::timeout;

/// Bodies up to this many bytes wait for no room.
const SMALL_BYTES: usize = 64 << 10;

/// The bytes of the body, for whoever must look at them before the route does.
#[derive(Clone)]
pub(crate) struct Whole(pub(crate) Bytes);

/// The request with its whole body. Errors: 413 over the limit, 408 for one that takes too long, 400 for one that
/// breaks off.
pub(super) async fn whole(app: &App, request: &mut Request) -> Result<Request, Problem> {
    let taken = std::mem::take(request);
    let (mut parts, body) = taken.into_parts();
    let none = [Method::GET, Method::HEAD].contains(&parts.method) && body.is_end_stream();
    if none {
        return Ok(Request::from_parts(parts, body));
    }
    let announced = body.size_hint().exact();
    if announced.is_some_and(|bytes| bytes > SERVER_BODY_BYTES_MAX as u64) {
        return Err(too_large());
    }
    let announced = announced.and_then(|bytes| usize::try_from(bytes).ok());
    let announced = announced.unwrap_or(SERVER_BODY_BYTES_MAX);
    let time = Duration::from_secs(SERVER_BODY_S);
    let read = timeout(time, async {
        // Many large ones at once would be more than the machine has.
        let room = match announced > SMALL_BYTES {
            true => Some(app.room_for(announced).await),
            false => None,
        };
        (to_bytes(body, SERVER_BODY_BYTES_MAX).await, room)
    });
    let (bytes, room) = read.await.map_err(|_| {
        Problem::new(
            StatusCode::REQUEST_TIMEOUT,
            format!("the body did not arrive within {SERVER_BODY_S} seconds"),
        )
    })?;
    let bytes = bytes.map_err(|error| {
        let said = error.to_string();
        // The one error of its own that it has is the limit's.
        match said.contains("length limit") {
            true => too_large(),
            false => Problem::new(
                StatusCode::BAD_REQUEST,
                format!("the body broke off: {said}"),
            ),
        }
    })?;
    parts.extensions.insert(Whole(bytes.clone()));
    if let Some(room) = room {
        parts.extensions.insert(std::sync::Arc::new(room));
    }
    Ok(Request::from_parts(parts, Body::from(bytes)))
}

fn too_large() -> Problem {
    Problem::new(
        StatusCode::PAYLOAD_TOO_LARGE,
        format!("the body has more than {SERVER_BODY_BYTES_MAX} bytes"),
    )
    .hint("send it in parts")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::Options;
    use crate::memories::tests::Nobody;
    use heirloom_model::limits::SERVER_BODIES_BYTES_MAX;

    fn app() -> App {
        App::new(Box::new(Nobody::default()), Options::default())
    }

    #[tokio::test(start_paused = true)]
    async fn a_body_that_never_comes_is_given_up() {
        let began = tokio::time::Instant::now();
        let body = Body::from_stream(tokio_stream::pending::<Result<Bytes, std::io::Error>>());
        let mut request = Request::new(body);
        *request.method_mut() = Method::POST;
        let problem = whole(&app(), &mut request).await.unwrap_err();
        assert_eq!(problem.status, StatusCode::REQUEST_TIMEOUT);
        assert!(began.elapsed() >= Duration::from_secs(SERVER_BODY_S));
    }

    #[tokio::test(start_paused = true)]
    async fn large_bodies_wait_for_room() {
        let app = app();
        let all = app.room_for(SERVER_BODIES_BYTES_MAX).await.unwrap();
        let another = timeout(Duration::from_secs(1), app.room_for(1)).await;
        assert!(another.is_err(), "there is no room");
        drop(all);
        assert!(app.room_for(1).await.is_some());
    }
}
