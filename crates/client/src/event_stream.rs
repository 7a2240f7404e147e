//! Changes of a project as they happen.

use crate::answers::Change;
use crate::errors::Error;
use crate::operations as op;
use crate::server_sent_events::{EventParser, ServerSentEvent};
use crate::transport::{Transport, is_transient};
use std::collections::VecDeque;
use std::io::Read;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, SyncSender};
use std::time::{Duration, Instant};
use std::{fmt, thread};

/// Silence after which a connection is replaced; the server sends a comment every 15 seconds.
const SILENCE: Duration = Duration::from_mins(1);

/// Time after which a connection is replaced, so that no thread waits without end for a server that is gone.
const CONNECTION: Duration = Duration::from_hours(6);

/// Number of ids by which repeated deliveries are recognized.
const RECENT_IDS: usize = 1_000;

/// Number of messages that a connection reads ahead.
const READ_AHEAD: usize = 64;

/// Change of memory, from the event stream.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Event {
    /// Position in the stream: [`Memory::events_after`](crate::Memory::events_after) resumes after it.
    pub id: String,
    /// created, replaced, conflict, confirmed, retired, restored, resolved, ….
    pub action: String,
    /// Time, actor and the ids of the records.
    pub change: Change,
}

/// Changes of a project by any process, without end: an iterator that waits for the next one.
///
/// After a broken connection the stream continues after its last event; without an event so far, with the changes from
/// then on. It yields an error, and ends, if the token is refused or the attempts of the retry policy fail.
///
/// ```no_run
/// # fn main() -> Result<(), heirloom_client::Error> {
/// # let memory = heirloom_client::Memory::new()?;
/// for event in memory.events() {
///     let event = event?;
///     println!("{} {:?} by {}", event.action, event.change.id, event.change.by);
/// }
/// # Ok(())
/// # }
/// ```
pub struct Events {
    transport: Transport,
    last_id: Option<String>,
    recent: VecDeque<String>,
    connection: Option<Connection>,
    /// Number of failed connections in a row.
    failures: u32,
    failing_since: Instant,
    /// No connection is opened before this time.
    pause_until: Option<Instant>,
    is_ended: bool,
}

struct Connection {
    messages: Receiver<StreamMessage>,
    /// Time of the last byte.
    heard_at: Instant,
}

/// Report of the thread that reads a connection. It ends when its receiver is gone.
enum StreamMessage {
    Opened,
    /// A comment, or a part of an event.
    Alive,
    Event(ServerSentEvent),
    Failed(Error),
}

/// Result of a wait for a message.
enum Received {
    Event(ServerSentEvent),
    Nothing,
    Failed(Error),
}

impl Events {
    pub(crate) fn new(transport: Transport, last_id: Option<String>) -> Self {
        Self {
            transport,
            last_id,
            recent: VecDeque::new(),
            connection: None,
            failures: 0,
            failing_since: Instant::now(),
            pause_until: None,
            is_ended: false,
        }
    }

    /// Returns the position in the stream, with which a later one resumes.
    #[must_use]
    pub fn last_event_id(&self) -> Option<&str> {
        self.last_id.as_deref()
    }

    /// Connects, so that no change after this call is missed. The iteration connects otherwise.
    ///
    /// # Errors
    /// The server cannot be reached, or refuses.
    pub fn connect(&mut self) -> Result<(), Error> {
        if self.connection.is_some() {
            return Ok(());
        }
        let mut connection = self.open();
        match connection.messages.recv() {
            Ok(StreamMessage::Failed(error)) => Err(error),
            Ok(StreamMessage::Opened | StreamMessage::Alive | StreamMessage::Event(_)) => {
                connection.heard_at = Instant::now();
                self.connection = Some(connection);
                Ok(())
            }
            Err(_) => Err(closed()),
        }
    }

    /// Waits for the next change, at most this time; `None` if there was none, or the stream ended.
    pub fn wait(&mut self, timeout: Duration) -> Option<Result<Event, Error>> {
        // A time that the clock cannot express is no limit.
        self.wait_until(Instant::now().checked_add(timeout))
    }

    fn wait_until(&mut self, deadline: Option<Instant>) -> Option<Result<Event, Error>> {
        while !self.is_ended {
            match self.receive(deadline) {
                Received::Event(sent) => {
                    if let Some(event) = self.accept(sent).transpose() {
                        return Some(event);
                    }
                }
                Received::Failed(error) => {
                    self.connection = None;
                    if !self.schedule_connection(&error) {
                        self.is_ended = true;
                        return Some(Err(error));
                    }
                }
                Received::Nothing if is_over(deadline) => return None,
                Received::Nothing => {}
            }
        }
        None
    }

    /// Waits for a message, the end of a pause or the deadline.
    fn receive(&mut self, deadline: Option<Instant>) -> Received {
        let limit = |time: Duration| match deadline {
            Some(deadline) => time.min(deadline.saturating_duration_since(Instant::now())),
            None => time,
        };
        if self.connection.is_none() {
            if let Some(until) = self.pause_until {
                thread::sleep(limit(until.saturating_duration_since(Instant::now())));
                if Instant::now() < until {
                    return Received::Nothing;
                }
                self.pause_until = None;
            }
            self.connection = Some(self.open());
        }
        let Some(connection) = &mut self.connection else {
            return Received::Nothing;
        };
        let silence = SILENCE.saturating_sub(connection.heard_at.elapsed());
        let received = connection.messages.recv_timeout(limit(silence));
        match received {
            Ok(StreamMessage::Failed(error)) => return Received::Failed(error),
            Err(RecvTimeoutError::Disconnected) => return Received::Failed(closed()),
            Err(RecvTimeoutError::Timeout) => {
                if connection.heard_at.elapsed() >= SILENCE {
                    let text = "the event stream is silent".to_owned();
                    return Received::Failed(Error::Connection(text));
                }
                return Received::Nothing;
            }
            Ok(StreamMessage::Opened | StreamMessage::Alive | StreamMessage::Event(_)) => {
                connection.heard_at = Instant::now();
                self.failures = 0;
            }
        }
        match received {
            Ok(StreamMessage::Event(sent)) => Received::Event(sent),
            _ => Received::Nothing,
        }
    }

    /// Decodes an event; `None` if it was delivered before, because the server may send an event twice.
    fn accept(&mut self, sent: ServerSentEvent) -> Result<Option<Event>, Error> {
        if self.recent.contains(&sent.id) {
            return Ok(None);
        }
        self.recent.push_back(sent.id.clone());
        if self.recent.len() > RECENT_IDS {
            self.recent.pop_front();
        }
        self.last_id = Some(sent.id.clone());
        let change = serde_json::from_str(&sent.data)
            .map_err(|error| Error::InvalidResponse(format!("event {}: {error}", sent.id)))?;
        Ok(Some(Event {
            id: sent.id,
            action: sent.name,
            change,
        }))
    }

    /// Sets the pause before the next connection. Returns false if the attempts are used up.
    fn schedule_connection(&mut self, error: &Error) -> bool {
        if !is_transient(error) {
            return false;
        }
        if self.failures == 0 {
            self.failing_since = Instant::now();
        }
        self.failures += 1;
        let retry_after = error.api().and_then(|error| error.retry_after);
        let elapsed = self.failing_since.elapsed();
        let retry = &self.transport.settings().retry;
        let Some(pause) = retry.pause(self.failures, elapsed, retry_after) else {
            return false;
        };
        self.pause_until = Instant::now().checked_add(pause);
        true
    }

    /// Opens a connection in a thread: a read has no time limit of its own, so that a wait could not end.
    fn open(&self) -> Connection {
        let (sender, messages) = mpsc::sync_channel(READ_AHEAD);
        let (transport, last_id) = (self.transport.clone(), self.last_id.clone());
        thread::spawn(move || {
            let error = read_connection(&transport, last_id.as_deref(), &sender);
            // The receiver may be gone.
            drop(sender.send(StreamMessage::Failed(error)));
        });
        Connection {
            messages,
            heard_at: Instant::now(),
        }
    }
}

/// Reads a connection to its end, and returns the reason of the end.
fn read_connection(
    transport: &Transport,
    last_id: Option<&str>,
    sender: &SyncSender<StreamMessage>,
) -> Error {
    let mut headers = vec![("accept", "text/event-stream")];
    headers.extend(last_id.map(|id| ("last-event-id", id)));
    let response = match transport.open_stream(&op::FOLLOW_EVENTS, &headers, CONNECTION) {
        Ok(response) => response,
        Err(error) => return error,
    };
    if sender.send(StreamMessage::Opened).is_err() {
        return closed();
    }
    let mut reader = response
        .into_body()
        .into_with_config()
        .limit(u64::MAX)
        .reader();
    let mut parser = EventParser::default();
    let mut chunk = [0; 8 * 1024];
    loop {
        let length = match reader.read(&mut chunk) {
            Ok(0) => return closed(),
            Ok(length) => length,
            Err(error) => return Error::Connection(format!("the event stream broke: {error}")),
        };
        let events = parser.feed(chunk.get(..length).unwrap_or_default());
        let messages = events.into_iter().map(StreamMessage::Event);
        for message in messages.chain([StreamMessage::Alive]) {
            if sender.send(message).is_err() {
                return closed();
            }
        }
    }
}

fn is_over(deadline: Option<Instant>) -> bool {
    deadline.is_some_and(|deadline| Instant::now() >= deadline)
}

fn closed() -> Error {
    Error::Connection("the server closed the event stream".to_owned())
}

impl Iterator for Events {
    type Item = Result<Event, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        self.wait_until(None)
    }
}

impl fmt::Debug for Events {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Events")
            .field("last_event_id", &self.last_id)
            .finish_non_exhaustive()
    }
}
