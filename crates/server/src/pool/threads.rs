//! Threads that compute: as many as there are processors, always the same ones, so that what one works with is
//! still in its cache when the next question comes.

use heirloom_model::{Fault, limits};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread;

type Job = Box<dyn FnOnce() + Send>;

/// They start with the first job, and end with what holds them.
#[derive(Default)]
pub(super) struct Threads {
    jobs: OnceLock<Sender<Job>>,
}

impl Threads {
    /// Has one of them do `job`, after those that came before. Errors: `Failed` if there is no thread.
    pub(super) fn give(&self, job: Job) -> Result<(), Fault> {
        let jobs = self.jobs.get_or_init(start);
        let given = jobs.send(job);
        given.map_err(|_| Fault::failed("no thread could be started to compute an answer"))
    }
}

/// How many there are.
pub(super) fn count() -> usize {
    let processors = thread::available_parallelism().map_or(1, usize::from);
    processors.clamp(2, limits::SERVER_COMPUTING_AT_ONCE)
}

fn start() -> Sender<Job> {
    let (jobs, waiting) = channel();
    let waiting = Arc::new(Mutex::new(waiting));
    for _ in 0..count() {
        let waiting = Arc::clone(&waiting);
        let started = thread::Builder::new()
            .name("compute".to_owned())
            .spawn(move || work(&waiting));
        // One is enough; without any, the first job finds nobody who waits for it.
        drop(started);
    }
    jobs
}

fn work(waiting: &Mutex<Receiver<Job>>) {
    let next = || {
        let waiting = waiting.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.recv()
    };
    while let Ok(job) = next() {
        // Whoever waits for the answer learns that there is none: the thread does the next job.
        drop(catch_unwind(AssertUnwindSafe(job)));
    }
}
