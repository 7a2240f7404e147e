//! Every change of a project, to whoever follows it: server-sent events.
//!
//! One task a project looks at the store while somebody follows: soon after a write through this server, and every
//! quarter of a second for what other processes write. An event's id says when it was and what; so a client that comes
//! back with `Last-Event-ID`, to this server or to the next one, goes on behind it.

use crate::api::Happened;
use crate::{App, Problem};
use axum::http::StatusCode;
use axum::response::sse::Event as Sent;
use heirloom_engine::Followed;
use heirloom_model::{Timestamp, ToSpan, limits};
use std::collections::HashMap;
use std::convert::Infallible;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::sync::{Notify, broadcast};
use tokio_stream::wrappers::BroadcastStream;
use tokio_stream::{Stream, StreamExt};

/// An event as every follower gets it.
#[derive(Debug)]
struct Told {
    id: String,
    action: String,
    json: String,
}

impl Told {
    fn of(happened: &Happened) -> Self {
        let json = serde_json::to_string(happened).unwrap_or_default();
        let micros = happened.at.parse::<Timestamp>().unwrap_or_default();
        let hash = blake3::hash(json.as_bytes()).to_hex();
        Self {
            id: format!("{}-{}", micros.as_microsecond(), &hash[..12]),
            action: happened.action.clone(),
            json,
        }
    }

    fn sent(&self) -> Result<Sent, Infallible> {
        Ok(Sent::default()
            .id(&self.id)
            .event(&self.action)
            .data(&self.json))
    }
}

/// The projects that somebody follows.
#[derive(Default)]
pub(crate) struct Feeds {
    feeds: Mutex<HashMap<Option<String>, broadcast::Sender<Arc<Told>>>>,
    written: Notify,
}

impl Feeds {
    /// Something was written through this server.
    pub(crate) fn written(&self) {
        self.written.notify_waiters();
    }

    /// Ends every stream.
    pub(crate) fn end(&self) {
        let mut feeds = self.feeds.lock().unwrap_or_else(PoisonError::into_inner);
        feeds.clear();
    }

    /// Follows a project; its task is started if nobody followed it.
    fn follow(
        &self,
        app: &App,
        project: &Option<String>,
        from: Timestamp,
    ) -> Result<broadcast::Receiver<Arc<Told>>, Problem> {
        let mut feeds = self.feeds.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(feed) = feeds.get(project) {
            return Ok(feed.subscribe());
        }
        if feeds.len() >= limits::SERVED_PROJECTS_OPEN {
            return Err(Problem::new(
                StatusCode::SERVICE_UNAVAILABLE,
                format!("{} projects are followed already", feeds.len()),
            ));
        }
        let (feed, receiver) = broadcast::channel(limits::SERVER_EVENTS_KEPT);
        feeds.insert(project.clone(), feed);
        tokio::spawn(look(app.clone(), project.clone(), from));
        Ok(receiver)
    }

    /// The channel of a project; none if nobody follows it any more, and then it is forgotten.
    fn feed(&self, project: &Option<String>) -> Option<broadcast::Sender<Arc<Told>>> {
        let mut feeds = self.feeds.lock().unwrap_or_else(PoisonError::into_inner);
        let feed = feeds.get(project)?;
        if feed.receiver_count() > 0 {
            return Some(feed.clone());
        }
        feeds.remove(project);
        None
    }
}

/// Looks at a project as long as somebody follows it.
async fn look(app: App, project: Option<String>, from: Timestamp) {
    let mut followed = Followed::from(from);
    let mut stopping = app.stopping();
    let pause = Duration::from_millis(limits::SERVER_EVENTS_PAUSE_MS);
    loop {
        // Many writes at once are looked at once.
        tokio::time::sleep(Duration::from_millis(limits::SERVER_STOP_PAUSE_MS)).await;
        let Some(feed) = app.feeds().feed(&project) else {
            return;
        };
        let mut looking = followed.clone();
        let looked = app.ask(project.clone(), move |engine| {
            let changes = engine.changes(&mut looking)?;
            Ok((changes, looking))
        });
        // A store that is held, or a full disk, is looked at again later: nothing is lost.
        if let Ok((changes, seen)) = looked.await {
            followed = seen;
            for event in changes {
                let told = Told::of(&crate::api::happened(&event));
                // Nobody follows any more: the next look ends.
                drop(feed.send(Arc::new(told)));
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

/// A stream of a project's events; what came behind `last` first.
pub(crate) async fn stream(
    app: &App,
    project: Option<String>,
    last: Option<String>,
) -> Result<Events, Problem> {
    let now = app.ask(project.clone(), |engine| Ok(engine.now())).await?;
    let receiver = app.feeds().follow(app, &project, now)?;
    let missed = match last.as_deref().and_then(time_of) {
        None => Vec::new(),
        Some(from) => missed(app, project, from, last.as_deref()).await?,
    };
    let known: Vec<String> = missed.iter().map(|told| told.id.clone()).collect();
    let live = in_time(receiver).filter(move |told| !known.contains(&told.id));
    let all = tokio_stream::iter(missed).map(Arc::new).chain(live);
    Ok(Events(Box::pin(all.map(|told| told.sent()))))
}

/// What is told from now on. Who is too slow for it comes back with the last id that it got.
fn in_time(receiver: broadcast::Receiver<Arc<Told>>) -> impl Stream<Item = Arc<Told>> {
    BroadcastStream::new(receiver).map_while(Result::ok)
}

/// What happened behind the event `last`, or from its time on if nobody knows it.
async fn missed(
    app: &App,
    project: Option<String>,
    from: Timestamp,
    last: Option<&str>,
) -> Result<Vec<Told>, Problem> {
    let changes = app.ask(project, move |engine| {
        engine.changes(&mut Followed::from(from))
    });
    let mut told: Vec<Told> = (changes.await?.iter())
        .map(|event| Told::of(&crate::api::happened(event)))
        .collect();
    if let Some(at) = told.iter().position(|one| Some(one.id.as_str()) == last) {
        told.drain(..=at);
    }
    Ok(told)
}

/// When an event was, by its id.
fn time_of(id: &str) -> Option<Timestamp> {
    let micros = id.split('-').next()?.parse().ok()?;
    let at = Timestamp::from_microsecond(micros).ok()?;
    at.checked_sub(1.microseconds()).ok()
}

/// A stream of events.
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
    async fn who_is_too_far_behind_has_to_come_back() {
        let told = |n: usize| {
            Arc::new(Told {
                id: n.to_string(),
                action: "created".to_owned(),
                json: String::new(),
            })
        };
        for (sent, gets) in [
            (limits::SERVER_EVENTS_KEPT, limits::SERVER_EVENTS_KEPT),
            // The channel keeps a power of two.
            (2 * limits::SERVER_EVENTS_KEPT, 0),
        ] {
            let (feed, receiver) = broadcast::channel(limits::SERVER_EVENTS_KEPT);
            for n in 0..sent {
                feed.send(told(n)).unwrap();
            }
            drop(feed);
            let got: Vec<_> = in_time(receiver).collect().await;
            assert_eq!(got.len(), gets, "{sent}");
        }
    }

    #[test]
    fn an_id_says_when_it_was() {
        let at: Timestamp = "2026-05-01T12:00:00.000007Z".parse().unwrap();
        let id = format!("{}-0123456789ab", at.as_microsecond());
        assert_eq!(time_of(&id), at.checked_sub(1.microseconds()).ok());
        for id in ["", "x", "9999999999999999999-a", "-"] {
            assert_eq!(time_of(id), None, "{id}");
        }
    }
}
