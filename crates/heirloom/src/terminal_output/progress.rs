//! Progress of commands that take longer than a second.

use indicatif::{ProgressBar, ProgressStyle};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

/// Time after which a command shows that it works.
const DELAY: Duration = Duration::from_secs(1);

/// Interval of the frames.
const FRAME: Duration = Duration::from_millis(100);

/// Spinner with the elapsed time on standard error, which appears after a second and disappears before other output.
/// Clones share the spinner.
#[derive(Debug, Clone, Default)]
pub(crate) struct Progress {
    running: Arc<Mutex<Option<Spinner>>>,
    counts: Arc<PartCounts>,
}

/// Parts that are done, and their total; without a total no count is shown.
#[derive(Debug, Default)]
struct PartCounts {
    done: AtomicU64,
    total: AtomicU64,
}

impl PartCounts {
    /// Returns the description with the counts.
    fn describe(&self, description: &str) -> String {
        let total = self.total.load(Ordering::Relaxed);
        match total {
            0 => description.to_owned(),
            // More than the total may be done if another process adds parts.
            total => {
                let done = self.done.load(Ordering::Relaxed).min(total);
                format!("{description}: {done} of {total}")
            }
        }
    }
}

#[derive(Debug)]
struct Spinner {
    stop: Sender<()>,
    thread: JoinHandle<()>,
}

impl Progress {
    /// Starts the spinner with this description, in place of the one before.
    pub(crate) fn begin(&self, description: &'static str) {
        self.end();
        self.set_total(0);
        let (stop, stopped) = channel();
        let counts = Arc::clone(&self.counts);
        let spin = move || spin(description, &counts, &stopped);
        let started = std::thread::Builder::new().spawn(spin);
        // Without the thread or the lock there is only no spinner.
        if let (Ok(thread), Ok(mut running)) = (started, self.running.lock()) {
            *running = Some(Spinner { stop, thread });
        }
    }

    /// Shows from now on the number of parts that are done, and this total; 0 shows no count.
    pub(crate) fn set_total(&self, total: u64) {
        self.counts.done.store(0, Ordering::Relaxed);
        self.counts.total.store(total, Ordering::Relaxed);
    }

    /// Shows from now on these counts.
    pub(crate) fn set_counts(&self, done: u64, total: u64) {
        self.counts.done.store(done, Ordering::Relaxed);
        self.counts.total.store(total, Ordering::Relaxed);
    }

    /// Counts one more part as done.
    pub(crate) fn count_part(&self) {
        self.counts.done.fetch_add(1, Ordering::Relaxed);
    }

    /// Removes the spinner from the screen.
    pub(crate) fn end(&self) {
        let running = self
            .running
            .lock()
            .ok()
            .and_then(|mut running| running.take());
        if let Some(Spinner { stop, thread }) = running {
            drop(stop);
            // A thread that panicked shows nothing either.
            let _ = thread.join();
        }
    }
}

/// Shows the spinner until the sender is dropped.
fn spin(description: &str, counts: &PartCounts, stopped: &Receiver<()>) {
    if stopped.recv_timeout(DELAY) != Err(RecvTimeoutError::Timeout) {
        return;
    }
    let bar = ProgressBar::new_spinner()
        .with_message(counts.describe(description))
        .with_elapsed(DELAY);
    // The template is a constant; if it were invalid, the default style would be used.
    if let Ok(style) = ProgressStyle::with_template("{spinner} {msg} {elapsed}") {
        bar.set_style(style);
    }
    while stopped.recv_timeout(FRAME) == Err(RecvTimeoutError::Timeout) {
        bar.set_message(counts.describe(description));
        bar.tick();
    }
    bar.finish_and_clear();
}

/// Describes the work of a command that may take longer than a second; `None` for those that show their own progress
/// or end at once.
pub(crate) fn describe_command(command: &str) -> Option<&'static str> {
    Some(match command {
        "analytics" => "counting",
        "backup" => "copying the store",
        "doctor" => "checking the memory",
        "export" => "exporting",
        "import" => "importing",
        "init" => "preparing the memory",
        "learn" => "reading the conversation",
        "prune" => "looking for old records",
        "purge" => "deleting",
        "recall" => "searching",
        "restore" => "restoring the copy",
        "review" => "comparing records",
        "transfer" => "copying the project",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_counts_parts_up_to_the_total() {
        let progress = Progress::default();
        let describe = || progress.counts.describe("exporting");
        progress.count_part();
        assert_eq!(describe(), "exporting");
        progress.set_total(2);
        assert_eq!(describe(), "exporting: 0 of 2");
        let shared = progress.clone();
        shared.count_part();
        assert_eq!(describe(), "exporting: 1 of 2");
        shared.count_part();
        shared.count_part();
        assert_eq!(describe(), "exporting: 2 of 2");
        shared.set_counts(3, 9);
        assert_eq!(describe(), "exporting: 3 of 9");
        progress.begin("importing");
        assert_eq!(describe(), "exporting");
        progress.end();
    }

    #[test]
    fn progress_ends_before_and_after_it_is_shown() {
        let progress = Progress::default();
        progress.end();
        progress.begin("testing");
        let shared = progress.clone();
        shared.end();
        assert!(progress.running.lock().unwrap().is_none());
        progress.begin("testing");
        progress.begin("testing again");
        assert!(progress.running.lock().unwrap().is_some());
        progress.end();
    }
}
