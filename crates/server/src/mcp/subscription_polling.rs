//! Polling of subscribed resources, and the notification about a changed one.

use super::client_session::ClientSession;
use super::subscriptions;
use heirloom_model::limits;
use rmcp::RoleServer;
use rmcp::model::ResourceUpdatedNotificationParam;
use rmcp::service::RequestContext;
use std::time::Duration;

impl ClientSession {
    /// Polls subscribed resources until there are no subscriptions or the client disconnects.
    pub(super) fn poll_subscriptions(&self, context: RequestContext<RoleServer>) {
        let server = self.clone();
        tokio::spawn(async move {
            let pause = Duration::from_millis(limits::MCP_WATCH_PAUSE_MS);
            while !server.subscriptions().is_idle() && !context.peer.is_transport_closed() {
                tokio::time::sleep(pause).await;
                let pages = server
                    .run(&context, |engine| Ok(subscriptions::pages(engine)))
                    .await;
                for uri in server
                    .subscriptions()
                    .take_changed(&pages.unwrap_or_default())
                {
                    let note = ResourceUpdatedNotificationParam::new(uri);
                    drop(context.peer.notify_resource_updated(note).await);
                }
            }
        });
    }
}
