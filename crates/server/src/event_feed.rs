//! Server-sent events: the changes of a project.
//!
//! While a project has followers, one task polls its store: soon after a write through this server, and four times a
//! second for writes of other processes; a database server notifies of these, and is polled less often. An event id contains the time and a hash of the event, so a client that
//! reconnects with `Last-Event-ID`, also to a restarted server, continues after that event.
//!
//! The first message of a stream has the name `ready`, an id and no data. The id is the position of the stream, so a
//! connection that is lost before its first event loses none. Programs that follow the standard take the id and report
//! no event, because a message without data is not one.

use crate::api::EventEntry;
use crate::{App, Problem};
use axum::http::StatusCode;
use axum::response::sse::Event as Sent;
use heirloom_engine::ChangeCursor;
use heirloom_model::{Timestamp, ToSpan, limits};
use std::any::Any;
use std::collections::HashMap;
use std::convert::Infallible;
use std::pin::Pin;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::sync::{Notify, broadcast};
use tokio_stream::wrappers::BroadcastStream;
use tokio_stream::{Stream, StreamExt};

/// Name of the first message of a stream.
const READY: &str = "ready";

/// Serialised event, shared by all followers.
#[derive(Debug)]
struct FeedEvent {
    id: String,
    action: String,
    json: String,
}

impl FeedEvent {
    fn of(happened: &EventEntry) -> Self {
        let json = serde_json::to_string(happened).unwrap_or_default();
        let hashed = serde_json::to_string(&happened.without_record()).unwrap_or_default();
        let micros = happened.at.parse::<Timestamp>().unwrap_or_default();
        let hash = blake3::hash(hashed.as_bytes()).to_hex();
        Self {
            id: format!("{}-{}", micros.as_microsecond(), &hash[..12]),
            action: happened.action.clone(),
            json,
        }
    }

    fn to_sse(&self) -> Result<Sent, Infallible> {
        Ok(Sent::default()
            .id(&self.id)
            .event(&self.action)
            .data(&self.json))
    }
}

/// Broadcast channels of the followed projects.
#[derive(Default)]
pub(crate) struct EventFeeds {
    feeds: Mutex<HashMap<Option<String>, broadcast::Sender<Arc<FeedEvent>>>>,
    written: Arc<Notify>,
    /// Receiver of the notifications of a database server; `None` without one.
    store_watcher: OnceLock<Option<Box<dyn Any + Send + Sync>>>,
}

impl EventFeeds {
    /// Wakes the polling tasks after a write through this server.
    pub(crate) fn wake_after_write(&self) {
        self.written.notify_waiters();
    }

    /// Wakes the polling tasks after writes of other machines, if the store is on a database server; returns true then.
    async fn watch_store(&self, app: &App) -> bool {
        if let Some(watcher) = self.store_watcher.get() {
            return watcher.is_some();
        }
        let written = Arc::clone(&self.written);
        let watcher = app.with_engine(None, move |engine| {
            let on_change = Box::new(move || written.notify_waiters());
            Ok(engine.maintenance().watch_changes(on_change))
        });
        let watcher = watcher.await.unwrap_or_default();
        self.store_watcher.get_or_init(|| watcher).is_some()
    }

    /// Closes all channels, which ends every stream.
    pub(crate) fn close_all(&self) {
        let mut feeds = self.feeds.lock().unwrap_or_else(PoisonError::into_inner);
        feeds.clear();
    }

    /// Subscribes to a project that has followers already.
    fn subscribe_to_followed(
        &self,
        project: &Option<String>,
    ) -> Option<broadcast::Receiver<Arc<FeedEvent>>> {
        let feeds = self.feeds.lock().unwrap_or_else(PoisonError::into_inner);
        feeds.get(project).map(broadcast::Sender::subscribe)
    }

    /// Subscribes to a project, and starts its polling task at `position` for the first follower. Errors: 503 if too
    /// many projects are followed.
    fn subscribe(
        &self,
        app: &App,
        project: &Option<String>,
        position: ChangeCursor,
    ) -> Result<broadcast::Receiver<Arc<FeedEvent>>, Problem> {
        let mut feeds = self.feeds.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(feed) = feeds.get(project) {
            return Ok(feed.subscribe());
        }
        if feeds.len() >= limits::OPEN_PROJECTS_MAX {
            return Err(Problem::new(
                StatusCode::SERVICE_UNAVAILABLE,
                format!(
                    "{} projects are already followed, which is the limit",
                    feeds.len()
                ),
            ));
        }
        let (feed, receiver) = broadcast::channel(limits::SERVER_EVENTS_KEPT);
        feeds.insert(project.clone(), feed);
        tokio::spawn(poll_changes(app.clone(), project.clone(), position));
        Ok(receiver)
    }

    /// Returns the channel of a project. Without followers the channel is removed.
    fn followed_channel(
        &self,
        project: &Option<String>,
    ) -> Option<broadcast::Sender<Arc<FeedEvent>>> {
        let mut feeds = self.feeds.lock().unwrap_or_else(PoisonError::into_inner);
        let feed = feeds.get(project)?;
        if feed.receiver_count() > 0 {
            return Some(feed.clone());
        }
        feeds.remove(project);
        None
    }
}

/// Polls a project while it has followers.
async fn poll_changes(app: App, project: Option<String>, mut position: ChangeCursor) {
    let mut stopping = app.stop_signal();
    let pause = Duration::from_millis(match app.feeds().watch_store(&app).await {
        true => limits::SERVER_EVENTS_PAUSE_NOTIFIED_MS,
        false => limits::SERVER_EVENTS_PAUSE_MS,
    });
    loop {
        // Debounce: several writes are read together.
        tokio::time::sleep(Duration::from_millis(limits::SERVER_STOP_PAUSE_MS)).await;
        let Some(feed) = app.feeds().followed_channel(&project) else {
            return;
        };
        let mut next_position = position.clone();
        let polled = app.with_engine(project.clone(), move |engine| {
            let changes = engine.records().changes(&mut next_position)?;
            Ok((crate::api::event_entries(engine, &changes)?, next_position))
        });
        // A busy store is polled again later; no event is lost.
        if let Ok((changes, seen)) = polled.await {
            position = seen;
            for event in changes {
                let feed_event = FeedEvent::of(&event);
                // Sending fails without followers; the next poll ends the task.
                drop(feed.send(Arc::new(feed_event)));
            }
        }
        drop(feed);
        tokio::select! {
            () = app.feeds().written.notified() => {}
            () = tokio::time::sleep(pause) => {}
            _ = stopping.changed() => return,
        }
    }
}

/// Opens the event stream of a project: its position, the events after `last`, and then all new ones.
pub(crate) async fn stream(
    app: &App,
    project: Option<String>,
    last: Option<String>,
) -> Result<Events, Problem> {
    let now = app
        .with_engine(project.clone(), |engine| Ok(engine.now()))
        .await?;
    let receiver = match app.feeds().subscribe_to_followed(&project) {
        Some(receiver) => receiver,
        None => {
            let position = present_position(app, project.clone()).await?;
            app.feeds().subscribe(app, &project, position)?
        }
    };
    let last = last.and_then(|last| event_time(&last).map(|from| (last, from)));
    let (ready_id, missed) = match last {
        None => (format!("{}-0", now.as_microsecond()), Vec::new()),
        Some((last, from)) => {
            let missed = missed_events(app, project, from, &last).await?;
            (last, missed)
        }
    };
    let missed_ids: Vec<String> = missed
        .iter()
        .map(|feed_event| feed_event.id.clone())
        .collect();
    let live =
        until_lagged(receiver).filter(move |feed_event| !missed_ids.contains(&feed_event.id));
    let events = tokio_stream::iter(missed).map(Arc::new).chain(live);
    let ready = tokio_stream::once(Ok(Sent::default().event(READY).id(ready_id)));
    let all = ready.chain(events.map(|feed_event| feed_event.to_sse()));
    Ok(Events(Box::pin(all)))
}

/// Returns a cursor that has seen all events up to now.
///
/// It overlaps with the past: an event of this moment that another process stores later is new to it.
async fn present_position(app: &App, project: Option<String>) -> Result<ChangeCursor, Problem> {
    let position = app.with_engine(project, |engine| {
        let mut position = ChangeCursor::overlapping(engine.now());
        engine.records().changes(&mut position)?;
        Ok(position)
    });
    position.await
}

/// Streams live events until the follower lags behind; it then reconnects with its last event id.
fn until_lagged(
    receiver: broadcast::Receiver<Arc<FeedEvent>>,
) -> impl Stream<Item = Arc<FeedEvent>> {
    BroadcastStream::new(receiver).map_while(Result::ok)
}

/// Returns the events after `last`, or all since its time if its id is unknown.
async fn missed_events(
    app: &App,
    project: Option<String>,
    from: Timestamp,
    last: &str,
) -> Result<Vec<FeedEvent>, Problem> {
    let changes = app.with_engine(project, move |engine| {
        let changes = engine.records().changes(&mut ChangeCursor::from(from))?;
        crate::api::event_entries(engine, &changes)
    });
    let mut events: Vec<FeedEvent> = changes.await?.iter().map(FeedEvent::of).collect();
    if let Some(at) = events.iter().position(|one| one.id == last) {
        events.drain(..=at);
    }
    Ok(events)
}

/// Returns the time in an event id, less one microsecond.
fn event_time(id: &str) -> Option<Timestamp> {
    let micros = id.split('-').next()?.parse().ok()?;
    let at = Timestamp::from_microsecond(micros).ok()?;
    at.checked_sub(1.microseconds()).ok()
}

/// Stream of server-sent events.
pub(crate) struct Events(Pin<Box<dyn Stream<Item = Result<Sent, Infallible>> + Send>>);

impl Stream for Events {
    type Item = Result<Sent, Infallible>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.0.as_mut().poll_next(context)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn lagging_follower_is_disconnected() {
        let feed_event = |n: usize| {
            Arc::new(FeedEvent {
                id: n.to_string(),
                action: "created".to_owned(),
                json: String::new(),
            })
        };
        for (sent, gets) in [
            (limits::SERVER_EVENTS_KEPT, limits::SERVER_EVENTS_KEPT),
            // The channel rounds its capacity up to a power of two.
            (2 * limits::SERVER_EVENTS_KEPT, 0),
        ] {
            let (feed, receiver) = broadcast::channel(limits::SERVER_EVENTS_KEPT);
            for n in 0..sent {
                feed.send(feed_event(n)).unwrap();
            }
            drop(feed);
            let got: Vec<_> = until_lagged(receiver).collect().await;
            assert_eq!(got.len(), gets, "{sent}");
        }
    }

    #[test]
    fn event_time_is_parsed_from_id() {
        let at: Timestamp = "2026-05-01T12:00:00.000007Z".parse().unwrap();
        let id = format!("{}-0123456789ab", at.as_microsecond());
        assert_eq!(event_time(&id), at.checked_sub(1.microseconds()).ok());
        for id in ["", "x", "9999999999999999999-a", "-"] {
            assert_eq!(event_time(id), None, "{id}");
        }
    }
}
