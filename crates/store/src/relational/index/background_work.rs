//! Work of a search on a second thread.

use std::panic::resume_unwind;
use std::thread::{Builder, scope};

/// Runs `background` on another thread while `work` runs on this one, and returns the results of both. If the system
/// refuses a further thread, `background` runs on this one afterwards.
pub(super) fn run_both<A: Send, B>(
    background: impl Fn() -> A + Sync,
    work: impl FnOnce() -> B,
) -> (A, B) {
    run_both_on(Builder::new(), background, work)
}

fn run_both_on<A: Send, B>(
    builder: Builder,
    background: impl Fn() -> A + Sync,
    work: impl FnOnce() -> B,
) -> (A, B) {
    scope(|scope| {
        let thread = builder.spawn_scoped(scope, &background);
        let done = work();
        let other = match thread {
            Ok(thread) => thread.join().unwrap_or_else(|panic| resume_unwind(panic)),
            Err(_) => background(),
        };
        (other, done)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;
    use std::thread;

    #[test]
    fn both_run_at_the_same_time() {
        let ((sender, receiver), (answers, answer)) = (mpsc::sync_channel(0), mpsc::channel());
        let background = || {
            sender.send(1).unwrap();
            answers.send(2).unwrap();
            3
        };
        let done = run_both(background, || {
            receiver.recv().unwrap() + answer.recv().unwrap()
        });
        assert_eq!(done, (3, 3));
    }

    #[test]
    fn refused_thread_runs_on_this_one() {
        // No address space has a stack of this size.
        let builder = Builder::new().stack_size(1 << 47);
        let this = thread::current().id();
        let done = run_both_on(builder, || thread::current().id(), || 3);
        assert_eq!(done, (this, 3));
    }
}
