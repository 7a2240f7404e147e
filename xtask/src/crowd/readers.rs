//! Those who read, or copy, while others write.

use crate::desk::{Desk, excerpt};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// What one reader did.
#[derive(Debug)]
pub(super) struct Read {
    /// The command.
    pub(super) what: &'static str,
    /// How long each call took, whole process.
    pub(super) times: Vec<Duration>,
}

/// Asks again and again until `done`; a call that fails ends the campaign.
pub(super) fn read_until(
    desk: &Desk,
    what: &'static str,
    done: &AtomicBool,
) -> Result<Read, String> {
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
        if !output.status.success() || complains(&output.stderr) {
            return Err(format!(
                "`heirloom {what}` among writers ended with {}: {}",
                output.status,
                excerpt(&output.stderr)
            ));
        }
    }
    Ok(Read { what, times })
}

/// Whether a program says that the store is busy, which nobody may ever hear.
pub(super) fn complains(stderr: &[u8]) -> bool {
    let said = String::from_utf8_lossy(stderr).to_lowercase();
    said.contains("locked") || said.contains("busy")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_locked_store_is_heard() {
        assert!(complains(b"heirloom: database is locked"));
        assert!(complains(b"the store is Busy"));
        assert!(!complains(b"project campaign"));
    }
}
