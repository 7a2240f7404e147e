//! What a client is told beside its answers, from the level on that it wants.
#![expect(
    deprecated,
    reason = "clients of the revisions before 2026-07-28 have nothing else"
)]

use heirloom_model::text;
use rmcp::RoleServer;
use rmcp::model::{LoggingLevel, LoggingMessageNotificationParam, SetLevelRequestParams};
use rmcp::service::Peer;
use serde_json::json;
use std::sync::atomic::{AtomicU8, Ordering};

/// The least level of what a client wants to be told.
pub(super) struct Loudness(AtomicU8);

impl Default for Loudness {
    fn default() -> Self {
        Self(AtomicU8::new(rank(LoggingLevel::Warning)))
    }
}

impl Loudness {
    /// What the client said.
    pub(super) fn set(&self, request: &SetLevelRequestParams) {
        self.0.store(rank(request.level), Ordering::Relaxed);
    }

    /// Tells the client what somebody should know, if it wants to be told.
    pub(super) async fn warn(&self, peer: &Peer<RoleServer>, said: &str) {
        let level = LoggingLevel::Warning;
        if rank(level) < self.0.load(Ordering::Relaxed) {
            return;
        }
        let note = LoggingMessageNotificationParam::new(level, json!(text::printable(said)));
        // Nobody waits for it.
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
