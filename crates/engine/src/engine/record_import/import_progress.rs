//! Progress of imports: counts of entries for the receiver that the program set.

use crate::engine::Engine;
use std::sync::Arc;

/// Counts of an import that is running.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ImportProgress {
    /// Entries that were read and written so far, known ones included.
    pub done: u64,
    /// Entries that are known to come, with those that are done. It may grow while further parts are read.
    pub total: u64,
}

impl ImportProgress {
    /// Adds entries that are going to be written.
    pub(super) fn expect(&mut self, entries: usize) {
        self.total += u64::try_from(entries).unwrap_or(u64::MAX);
    }

    /// Adds entries that were written.
    pub(super) fn advance(&mut self, entries: usize) {
        self.done += u64::try_from(entries).unwrap_or(u64::MAX);
        self.total = self.total.max(self.done);
    }
}

/// Receiver of the progress of imports, called after each transaction.
#[derive(Clone)]
pub struct ImportProgressSink(Arc<dyn Fn(ImportProgress) + Send + Sync>);

impl ImportProgressSink {
    /// Creates a receiver from a function.
    pub fn new(receive: impl Fn(ImportProgress) + Send + Sync + 'static) -> Self {
        Self(Arc::new(receive))
    }

    /// Returns an engine whose imports report to this receiver.
    #[must_use]
    pub fn attach_to(self, mut engine: Engine) -> Engine {
        engine.import_progress = Some(self);
        engine
    }

    pub(super) fn report(&self, progress: ImportProgress) {
        (self.0)(progress);
    }
}
