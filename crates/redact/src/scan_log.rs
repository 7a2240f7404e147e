//! Log of the scanned texts, for tests that count scans. Only with the feature `scan-log`.

use std::cell::RefCell;

thread_local! {
    /// Texts that this thread scanned; `None` while nothing is recorded.
    static SCANNED: RefCell<Option<Vec<String>>> = const { RefCell::new(None) };
}

/// Adds a text to the log of this thread.
pub(crate) fn add(text: &str) {
    SCANNED.with_borrow_mut(|log| {
        if let Some(log) = log {
            log.push(text.to_owned());
        }
    });
}

/// Runs `work`, and returns the texts that it scanned on this thread, in order.
pub fn record(work: impl FnOnce()) -> Vec<String> {
    SCANNED.set(Some(Vec::new()));
    work();
    SCANNED.take().unwrap_or_default()
}
