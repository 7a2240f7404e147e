//! Reading of request bodies before routing, with one size limit and one timeout for all routes.

use crate::{App, Problem};
use axum::body::{Body, Bytes, HttpBody, to_bytes};
use axum::extract::Request;
use axum::http::{Method, StatusCode};
use heirloom_model::limits::{SERVER_BODY_BYTES_MAX, SERVER_BODY_S};
use std::time::Duration;
use tokio::time::timeout;

/// Bodies up to this size, in bytes, are read without a reservation of body memory.
const UNRESERVED_BYTES_MAX: usize = 64 << 10;

/// Request body for middleware that needs it before the route does.
#[derive(Clone)]
pub(crate) struct BodyBytes(pub(crate) Bytes);

/// Reads the whole body. Errors: 413 over the limit, 408 after the timeout, 400 for an incomplete body.
pub(super) async fn read_body(app: &App, request: &mut Request) -> Result<Request, Problem> {
    let request = std::mem::take(request);
    let (mut parts, body) = request.into_parts();
    let has_no_body = [Method::GET, Method::HEAD].contains(&parts.method) && body.is_end_stream();
    if has_no_body {
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
        // Without a shared limit, many large concurrent bodies could exhaust memory.
        let reserved = match announced > UNRESERVED_BYTES_MAX {
            true => Some(app.reserve_body_bytes(announced).await),
            false => None,
        };
        (to_bytes(body, SERVER_BODY_BYTES_MAX).await, reserved)
    });
    let (bytes, reserved) = read.await.map_err(|_| {
        Problem::new(
            StatusCode::REQUEST_TIMEOUT,
            format!("the body did not arrive within {SERVER_BODY_S} seconds"),
        )
    })?;
    let bytes = bytes.map_err(|error| {
        let detail = error.to_string();
        // `to_bytes` itself fails only at the limit; other errors come from the connection.
        match detail.contains("length limit") {
            true => too_large(),
            false => Problem::new(
                StatusCode::BAD_REQUEST,
                format!("the body is incomplete: {detail}"),
            ),
        }
    })?;
    parts.extensions.insert(BodyBytes(bytes.clone()));
    if let Some(reserved) = reserved {
        parts.extensions.insert(std::sync::Arc::new(reserved));
    }
    Ok(Request::from_parts(parts, Body::from(bytes)))
}

fn too_large() -> Problem {
    Problem::new(
        StatusCode::PAYLOAD_TOO_LARGE,
        format!("the body has more than {SERVER_BODY_BYTES_MAX} bytes"),
    )
    .hint("split it into smaller requests")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::ServerOptions;
    use crate::engine_registry::tests::NoProject;
    use heirloom_model::limits::SERVER_BODIES_BYTES_MAX;

    fn app() -> App {
        App::new(Box::new(NoProject::default()), ServerOptions::default())
    }

    #[tokio::test(start_paused = true)]
    async fn missing_body_times_out() {
        let began = tokio::time::Instant::now();
        let body = Body::from_stream(tokio_stream::pending::<Result<Bytes, std::io::Error>>());
        let mut request = Request::new(body);
        *request.method_mut() = Method::POST;
        let problem = read_body(&app(), &mut request).await.unwrap_err();
        assert_eq!(problem.status, StatusCode::REQUEST_TIMEOUT);
        assert!(began.elapsed() >= Duration::from_secs(SERVER_BODY_S));
    }

    #[tokio::test(start_paused = true)]
    async fn body_of_one_byte_per_second_times_out() {
        let began = tokio::time::Instant::now();
        let ticks = tokio::time::interval(Duration::from_secs(1));
        let bytes = tokio_stream::wrappers::IntervalStream::new(ticks);
        let bytes = tokio_stream::StreamExt::map(bytes, |_| Ok::<_, std::io::Error>("x"));
        let mut request = Request::new(Body::from_stream(bytes));
        *request.method_mut() = Method::POST;
        let problem = read_body(&app(), &mut request).await.unwrap_err();
        assert_eq!(problem.status, StatusCode::REQUEST_TIMEOUT);
        assert!(began.elapsed() < Duration::from_secs(2 * SERVER_BODY_S));
    }

    #[tokio::test(start_paused = true)]
    async fn large_bodies_wait_for_body_memory() {
        let app = app();
        let all = app
            .reserve_body_bytes(SERVER_BODIES_BYTES_MAX)
            .await
            .unwrap();
        let another = timeout(Duration::from_secs(1), app.reserve_body_bytes(1)).await;
        assert!(another.is_err(), "body memory is exhausted");
        drop(all);
        assert!(app.reserve_body_bytes(1).await.is_some());
    }
}
