//! Access of endless answers: a stream ends when the token of its reader is revoked, or when its browser logs out.
//!
//! The access is checked before each part that is sent, and periodically, so that a connection without events ends too.

use super::Access;
use crate::App;
use axum::body::{Body, BodyDataStream, Bytes};
use axum::http::header;
use axum::response::Response;
use futures_core::Stream;
use heirloom_model::limits::SERVER_EVENTS_ACCESS_S;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::time::{Interval, MissedTickBehavior, interval};

/// Makes an event stream end with the access of its reader; other answers stay as they are.
pub(super) fn end_with_access(app: &App, access: Access, answer: Response) -> Response {
    let kind = answer.headers().get(header::CONTENT_TYPE);
    let is_stream = kind.is_some_and(|kind| kind.as_bytes().starts_with(b"text/event-stream"));
    match is_stream {
        true => answer.map(|body| Body::from_stream(StreamOfReader::new(app, access, body))),
        false => answer,
    }
}

/// Check in progress; its result is true if the access is still valid.
type AccessCheck = Pin<Box<dyn Future<Output = bool> + Send>>;

/// Parts of an answer, each of which is passed on after a check of the access.
struct StreamOfReader {
    app: App,
    access: Access,
    body: BodyDataStream,
    timer: Interval,
    check: Option<AccessCheck>,
    /// Part that waits for the check.
    part: Option<Bytes>,
    is_ended: bool,
}

impl StreamOfReader {
    fn new(app: &App, access: Access, body: Body) -> Self {
        let mut timer = interval(Duration::from_secs(SERVER_EVENTS_ACCESS_S));
        timer.set_missed_tick_behavior(MissedTickBehavior::Delay);
        Self {
            app: app.clone(),
            access,
            body: body.into_data_stream(),
            timer,
            check: None,
            part: None,
            is_ended: false,
        }
    }

    fn begin_check(&mut self) {
        let (app, access) = (self.app.clone(), self.access.clone());
        self.check = Some(Box::pin(async move { is_valid(&app, &access).await }));
    }
}

impl Stream for StreamOfReader {
    type Item = Result<Bytes, axum::Error>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        loop {
            if self.is_ended {
                return Poll::Ready(None);
            }
            if let Some(check) = &mut self.check {
                self.is_ended = !ready!(check.as_mut().poll(context));
                self.check = None;
                if let Some(part) = self.part.take().filter(|_| !self.is_ended) {
                    return Poll::Ready(Some(Ok(part)));
                }
                continue;
            }
            match Pin::new(&mut self.body).poll_next(context) {
                Poll::Ready(Some(Ok(part))) => self.part = Some(part),
                Poll::Ready(end) => return Poll::Ready(end),
                Poll::Pending => {
                    ready!(self.timer.poll_tick(context));
                }
            }
            self.begin_check();
        }
    }
}

/// Returns true if a token is not revoked, and a login has neither ended nor expired. An unreadable list of tokens ends
/// the streams, as it refuses requests.
async fn is_valid(app: &App, access: &Access) -> bool {
    if access.csrf.is_some() {
        return app.browser_sessions().has(access);
    }
    if let Some(cache) = app.opened_token_cache()
        && cache.tokens().has_fresh_stamp()
    {
        return cache.has(access).unwrap_or(false);
    }
    let (shared, access) = (app.clone(), access.clone());
    let found = app.run_blocking(move || shared.token_cache()?.has(&access));
    found.await.unwrap_or(false)
}
