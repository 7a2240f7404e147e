//! MCP transport over standard input and output, one message per line.

use heirloom_model::limits;
use rmcp::RoleServer;
use rmcp::model::{
    ClientJsonRpcMessage, ClientNotification, ClientRequest, JsonRpcMessage, RequestId,
    ServerJsonRpcMessage,
};
use rmcp::transport::Transport;
use rmcp::transport::async_rw::AsyncRwTransport;
use std::collections::HashSet;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::Notify;

/// Line transport. Invalid lines are ignored; after the end of input, pending requests are answered first.
pub(super) struct LineTransport<R: AsyncRead, W: AsyncWrite> {
    lines: AsyncRwTransport<RoleServer, R, W>,
    pending: Arc<PendingRequests>,
    has_begun: bool,
    has_ended: bool,
}

/// Ids of unanswered requests.
#[derive(Default)]
struct PendingRequests {
    ids: Mutex<HashSet<RequestId>>,
    answered: Notify,
}

impl PendingRequests {
    fn begin(&self, id: RequestId) {
        let mut ids = self.ids.lock().unwrap_or_else(PoisonError::into_inner);
        ids.insert(id);
    }

    fn end(&self, id: &RequestId) {
        let mut ids = self.ids.lock().unwrap_or_else(PoisonError::into_inner);
        ids.remove(id);
        if ids.is_empty() {
            self.answered.notify_one();
        }
    }

    fn is_empty(&self) -> bool {
        let ids = self.ids.lock().unwrap_or_else(PoisonError::into_inner);
        ids.is_empty()
    }
}

impl<R, W> LineTransport<R, W>
where
    R: AsyncRead + Send + Unpin,
    W: AsyncWrite + Send + Unpin + 'static,
{
    pub(super) fn new(read: R, write: W) -> Self {
        let lines = AsyncRwTransport::new_server(read, write);
        Self {
            lines: lines.with_max_line_length(limits::MCP_MESSAGE_BYTES_MAX),
            pending: Arc::default(),
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
                }
                // Before initialisation only requests are meaningful; the library would end the session.
                self.has_begun
            }
            JsonRpcMessage::Response(_) | JsonRpcMessage::Error(_) => self.has_begun,
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
        let answers = match &item {
            JsonRpcMessage::Response(response) => Some(response.id.clone()),
            JsonRpcMessage::Error(error) => error.id.clone(),
            JsonRpcMessage::Request(_) | JsonRpcMessage::Notification(_) => None,
        };
        let open = Arc::clone(&self.pending);
        let sent = self.lines.send(item);
        async move {
            let sent = sent.await;
            if let Some(id) = answers {
                open.end(&id);
            }
            sent
        }
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        while !self.has_ended {
            match self.lines.receive().await {
                Some(message) => {
                    if self.accept(&message) {
                        return Some(message);
                    }
                }
                None => self.has_ended = true,
            }
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
        self.lines.close().await
    }
}
