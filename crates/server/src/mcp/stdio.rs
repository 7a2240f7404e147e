//! Messages over standard input and output, one a line, whatever comes in between.

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

/// The lines of a client. What is no message is passed over; when the client has gone, what it asked is answered first.
pub(super) struct Lines<R: AsyncRead, W: AsyncWrite> {
    lines: AsyncRwTransport<RoleServer, R, W>,
    open: Arc<Open>,
    has_begun: bool,
    has_ended: bool,
}

/// Requests that were not answered yet.
#[derive(Default)]
struct Open {
    ids: Mutex<HashSet<RequestId>>,
    answered: Notify,
}

impl Open {
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

impl<R, W> Lines<R, W>
where
    R: AsyncRead + Send + Unpin,
    W: AsyncWrite + Send + Unpin + 'static,
{
    pub(super) fn new(read: R, write: W) -> Self {
        let lines = AsyncRwTransport::new_server(read, write);
        Self {
            lines: lines.with_max_line_length(limits::MCP_MESSAGE_BYTES_MAX),
            open: Arc::default(),
            has_begun: false,
            has_ended: false,
        }
    }

    /// Notes what is asked; whether the message is to be handed on.
    fn take(&mut self, message: &ClientJsonRpcMessage) -> bool {
        match message {
            JsonRpcMessage::Request(request) => {
                if !matches!(request.request, ClientRequest::PingRequest(_)) {
                    self.has_begun = true;
                }
                self.open.begin(request.id.clone());
                true
            }
            JsonRpcMessage::Notification(notification) => {
                if let ClientNotification::CancelledNotification(cancelled) =
                    &notification.notification
                    && let Some(id) = &cancelled.params.request_id
                {
                    self.open.end(id);
                }
                // Before there is a session nothing but requests means anything; the library would give up.
                self.has_begun
            }
            JsonRpcMessage::Response(_) | JsonRpcMessage::Error(_) => self.has_begun,
        }
    }
}

impl<R, W> Transport<RoleServer> for Lines<R, W>
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
        let open = Arc::clone(&self.open);
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
                    if self.take(&message) {
                        return Some(message);
                    }
                }
                None => self.has_ended = true,
            }
        }
        let patience = Duration::from_millis(limits::MCP_STOP_WAIT_MS);
        let answered = async {
            while !self.open.is_empty() {
                self.open.answered.notified().await;
            }
        };
        // Late answers are lost with whoever wanted them.
        drop(tokio::time::timeout(patience, answered).await);
        None
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.lines.close().await
    }
}
