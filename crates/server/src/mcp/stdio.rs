//! MCP transport over standard input and output, one message per line.
//!
//! Each request gets an answer, whatever its bytes: a line that cannot be read is answered with an error and, as far as it
//! can be found, the id of its request.

mod line_reader;
mod message_reader;

use heirloom_model::limits;
use line_reader::{LineReader, MessageLine};
pub(super) use message_reader::lenient_body;
use message_reader::{ReadLine, read_line, too_long};
use rmcp::RoleServer;
use rmcp::model::{
    ClientJsonRpcMessage, ClientNotification, ClientRequest, JsonRpcMessage, RequestId,
    ServerJsonRpcMessage,
};
use rmcp::transport::Transport;
use serde_json::Value;
use std::collections::{HashSet, VecDeque};
use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};
use tokio::sync::Notify;

/// Line transport. After the end of input, pending requests are answered first.
pub(super) struct LineTransport<R, W> {
    lines: LineReader<R>,
    output: Arc<Output<W>>,
    pending: Arc<PendingRequests>,
    /// Messages of a batch that are not passed on yet.
    queued: VecDeque<ClientJsonRpcMessage>,
    has_begun: bool,
    has_ended: bool,
}

/// Ids of unanswered requests, and the number of answers of the transport itself that are not written.
#[derive(Default)]
struct PendingRequests {
    ids: Mutex<(HashSet<RequestId>, usize)>,
    answered: Notify,
}

impl PendingRequests {
    fn change(&self, change: impl FnOnce(&mut HashSet<RequestId>, &mut usize)) {
        let mut pending = self.ids.lock().unwrap_or_else(PoisonError::into_inner);
        let (ids, writes) = &mut *pending;
        change(ids, writes);
        if ids.is_empty() && *writes == 0 {
            self.answered.notify_one();
        }
    }

    fn begin(&self, id: RequestId) {
        self.change(|ids, _| {
            ids.insert(id);
        });
    }

    fn end(&self, id: &RequestId) {
        self.change(|ids, _| {
            ids.remove(id);
        });
    }

    fn is_empty(&self) -> bool {
        let pending = self.ids.lock().unwrap_or_else(PoisonError::into_inner);
        pending.0.is_empty() && pending.1 == 0
    }
}

/// Writer of answers, and the batches whose answers are collected.
struct Output<W> {
    writer: tokio::sync::Mutex<Option<W>>,
    batches: Mutex<Vec<Batch>>,
}

/// Requests of one line, which are answered together.
struct Batch {
    waiting: Vec<RequestId>,
    answers: Vec<Value>,
}

impl<W: AsyncWrite + Unpin> Output<W> {
    /// Writes a message as one line.
    async fn write(&self, message: &Value) -> io::Result<()> {
        let mut line = serde_json::to_vec(message)?;
        line.push(b'\n');
        let mut writer = self.writer.lock().await;
        let Some(writer) = writer.as_mut() else {
            return Err(io::ErrorKind::NotConnected.into());
        };
        writer.write_all(&line).await?;
        writer.flush().await
    }

    /// Returns the message to write for an answer: the answer, all answers of its batch, or nothing yet.
    fn collect(&self, id: Option<&RequestId>, answer: Option<Value>) -> Option<Value> {
        let mut batches = self.batches.lock().unwrap_or_else(PoisonError::into_inner);
        let place = batches.iter().enumerate().find_map(|(at, batch)| {
            let waits = batch.waiting.iter().position(|one| Some(one) == id)?;
            Some((at, waits))
        });
        let Some((at, waits)) = place else {
            return answer;
        };
        let batch = batches.get_mut(at)?;
        batch.waiting.swap_remove(waits);
        batch.answers.extend(answer);
        if !batch.waiting.is_empty() {
            return None;
        }
        let answers = batches.swap_remove(at).answers;
        (!answers.is_empty()).then_some(Value::Array(answers))
    }
}

impl<R, W> LineTransport<R, W>
where
    R: AsyncRead + Send + Unpin,
    W: AsyncWrite + Send + Unpin + 'static,
{
    pub(super) fn new(read: R, write: W) -> Self {
        Self {
            lines: LineReader::new(read),
            output: Arc::new(Output {
                writer: tokio::sync::Mutex::new(Some(write)),
                batches: Mutex::default(),
            }),
            pending: Arc::default(),
            queued: VecDeque::new(),
            has_begun: false,
            has_ended: false,
        }
    }

    /// Records a request; returns true if the message is passed on.
    fn accept(&mut self, message: &ClientJsonRpcMessage) -> bool {
        match message {
            JsonRpcMessage::Request(request) => {
                if !matches!(request.request, ClientRequest::PingRequest(_)) {
                    self.has_begun = true;
                }
                self.pending.begin(request.id.clone());
                true
            }
            JsonRpcMessage::Notification(notification) => {
                if let ClientNotification::CancelledNotification(cancelled) =
                    &notification.notification
                    && let Some(id) = &cancelled.params.request_id
                {
                    self.pending.end(id);
                    let rest = self.output.collect(Some(id), None);
                    rest.into_iter().for_each(|answers| self.write(answers));
                }
                // Before initialisation only requests are meaningful; the library would end the session.
                self.has_begun
            }
            JsonRpcMessage::Response(_) | JsonRpcMessage::Error(_) => self.has_begun,
        }
    }

    /// Writes an answer of the transport itself, without waiting: the reader may be cancelled at any time.
    fn write(&self, message: Value) {
        let (output, pending) = (Arc::clone(&self.output), Arc::clone(&self.pending));
        pending.change(|_, writes| *writes += 1);
        tokio::spawn(async move {
            // A client that reads no more gets no answer.
            drop(output.write(&message).await);
            pending.change(|_, writes| *writes -= 1);
        });
    }

    /// Queues the messages of a line, and answers the rest.
    fn take_line(&mut self, line: ReadLine) {
        match line {
            ReadLine::Nothing => {}
            ReadLine::Message(message) => self.queued.push_back(*message),
            ReadLine::Problem(problem) => self.write(problem),
            ReadLine::Batch { messages, problems } => {
                let requests = messages.iter().filter_map(|message| match message {
                    JsonRpcMessage::Request(request) => Some(request.id.clone()),
                    JsonRpcMessage::Response(_)
                    | JsonRpcMessage::Notification(_)
                    | JsonRpcMessage::Error(_) => None,
                });
                let waiting: Vec<RequestId> = requests.collect();
                if waiting.is_empty() {
                    if !problems.is_empty() {
                        self.write(Value::Array(problems));
                    }
                } else {
                    let mut batches =
                        (self.output.batches.lock()).unwrap_or_else(PoisonError::into_inner);
                    batches.push(Batch {
                        waiting,
                        answers: problems,
                    });
                }
                self.queued.extend(messages);
            }
        }
    }
}

impl<R, W> Transport<RoleServer> for LineTransport<R, W>
where
    R: AsyncRead + Send + Unpin,
    W: AsyncWrite + Send + Unpin + 'static,
{
    type Error = io::Error;

    fn send(
        &mut self,
        item: ServerJsonRpcMessage,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        let id = match &item {
            JsonRpcMessage::Response(response) => Some(response.id.clone()),
            JsonRpcMessage::Error(error) => error.id.clone(),
            JsonRpcMessage::Request(_) | JsonRpcMessage::Notification(_) => None,
        };
        let (output, pending) = (Arc::clone(&self.output), Arc::clone(&self.pending));
        async move {
            let message = serde_json::to_value(&item)?;
            let message = match &id {
                Some(_) => output.collect(id.as_ref(), Some(message)),
                None => Some(message),
            };
            let sent = match message {
                Some(message) => output.write(&message).await,
                None => Ok(()),
            };
            if let Some(id) = id {
                pending.end(&id);
            }
            sent
        }
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        loop {
            while let Some(message) = self.queued.pop_front() {
                if self.accept(&message) {
                    return Some(message);
                }
            }
            if self.has_ended {
                break;
            }
            let line = match self.lines.next_line().await {
                Some(MessageLine::Whole(line)) => read_line(&line),
                Some(MessageLine::TooLong(start)) => ReadLine::Problem(too_long(&start)),
                None => {
                    self.has_ended = true;
                    continue;
                }
            };
            self.take_line(line);
        }
        let patience = Duration::from_millis(limits::MCP_STOP_WAIT_MS);
        let answered = async {
            while !self.pending.is_empty() {
                self.pending.answered.notified().await;
            }
        };
        // Later answers have no receiver.
        drop(tokio::time::timeout(patience, answered).await);
        None
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        let mut writer = self.output.writer.lock().await;
        match writer.take() {
            Some(mut writer) => writer.shutdown().await,
            None => Ok(()),
        }
    }
}
