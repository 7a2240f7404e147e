//! MCP log messages, from the level that a client requested.
#![expect(
    deprecated,
    reason = "clients of the revisions before 2026-07-28 have no other log messages"
)]

use heirloom_model::text;
use rmcp::RoleServer;
use rmcp::model::{LoggingLevel, LoggingMessageNotificationParam, SetLevelRequestParams};
use rmcp::service::Peer;
use serde_json::json;
use std::sync::atomic::{AtomicU8, Ordering};

/// Minimum level of log messages for a client.
pub(super) struct LogThreshold(AtomicU8);

impl Default for LogThreshold {
    fn default() -> Self {
        Self(AtomicU8::new(rank(LoggingLevel::Warning)))
    }
}

impl LogThreshold {
    /// Sets the level that the client requested.
    pub(super) fn set(&self, request: &SetLevelRequestParams) {
        self.0.store(rank(request.level), Ordering::Relaxed);
    }

    /// Sends a warning to the client, if its level includes warnings.
    pub(super) async fn warn(&self, peer: &Peer<RoleServer>, message: &str) {
        let level = LoggingLevel::Warning;
        if rank(level) < self.0.load(Ordering::Relaxed) {
            return;
        }
        let note = LoggingMessageNotificationParam::new(
            level,
            json!(text::replace_control_chars(message)),
        );
        // A failed notification is ignored.
        drop(
            peer.notify_logging_message(note.with_logger("heirloom"))
                .await,
        );
    }
}

fn rank(level: LoggingLevel) -> u8 {
    match level {
        LoggingLevel::Debug => 0,
        LoggingLevel::Info => 1,
        LoggingLevel::Notice => 2,
        LoggingLevel::Warning => 3,
        LoggingLevel::Error => 4,
        LoggingLevel::Critical => 5,
        LoggingLevel::Alert => 6,
        LoggingLevel::Emergency => 7,
    }
}
