//! Readers and backups that run during the writes.

use crate::sandbox::{Sandbox, excerpt};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Results of one reader.
#[derive(Debug)]
pub(super) struct ReaderReport {
    /// The command.
    pub(super) what: &'static str,
    /// Duration of each call, including process start.
    pub(super) times: Vec<Duration>,
}

/// Repeats the call until `done`; a failed call ends the campaign.
pub(super) fn read_until(
    desk: &Sandbox,
    what: &'static str,
    done: &AtomicBool,
) -> Result<ReaderReport, String> {
    let mut times = Vec::new();
    while !done.load(Ordering::SeqCst) {
        let copy = desk.temp().join(format!("copy-{}.db", times.len()));
        let copy = copy.to_string_lossy();
        let args = match what {
            "backup" => vec![what, &*copy],
            "list" => vec![what, "--json"],
            _ => vec![what],
        };
        let started = Instant::now();
        let output = desk.call(&args)?;
        times.push(started.elapsed());
        if !output.status.success() || reports_lock(&output.stderr) {
            return Err(format!(
                "`heirloom {what}` among writers ended with {}: {}",
                output.status,
                excerpt(&output.stderr)
            ));
        }
    }
    Ok(ReaderReport { what, times })
}

/// True if an output reports a busy store, which must never happen.
pub(super) fn reports_lock(stderr: &[u8]) -> bool {
    let message = String::from_utf8_lossy(stderr).to_lowercase();
    message.contains("locked") || message.contains("busy")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn busy_store_message_is_detected() {
        assert!(reports_lock(b"heirloom: database is locked"));
        assert!(reports_lock(b"the store is Busy"));
        assert!(!reports_lock(b"project campaign"));
    }
}
