//! Fixed compute threads, about one per processor, so that their working data stays in the CPU cache.

use heirloom_model::{Fault, limits};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread;

type Job = Box<dyn FnOnce() + Send>;

/// Compute threads; they start with the first job and end when this is dropped.
#[derive(Default)]
pub(super) struct ComputeThreads {
    jobs: OnceLock<Sender<Job>>,
}

impl ComputeThreads {
    /// Queues a job. Errors: `Failed` if no thread could be started.
    pub(super) fn submit(&self, job: Job) -> Result<(), Fault> {
        let jobs = self.jobs.get_or_init(start_threads);
        let given = jobs.send(job);
        given.map_err(|_| Fault::failed("no thread could be started to compute an answer"))
    }
}

/// Returns the number of compute threads.
pub(super) fn thread_count() -> usize {
    let processors = thread::available_parallelism().map_or(1, usize::from);
    processors.clamp(2, limits::SERVER_COMPUTE_CALLS_MAX)
}

fn start_threads() -> Sender<Job> {
    let (jobs, waiting) = channel();
    let waiting = Arc::new(Mutex::new(waiting));
    for _ in 0..thread_count() {
        let waiting = Arc::clone(&waiting);
        let started = thread::Builder::new()
            .name("compute".to_owned())
            .spawn(move || run_jobs(&waiting));
        // One thread is enough; without any, sending the first job fails.
        drop(started);
    }
    jobs
}

fn run_jobs(waiting: &Mutex<Receiver<Job>>) {
    let next = || {
        let waiting = waiting.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.recv()
    };
    while let Ok(job) = next() {
        // The caller notices the dropped channel; the thread continues after a panic.
        drop(catch_unwind(AssertUnwindSafe(job)));
    }
}
