//! Bounded thread pool: the only way from the async surfaces to the engine.

mod compute_threads;

use compute_threads::ComputeThreads;
use heirloom_model::{Fault, limits};
use std::sync::Arc;
use tokio::sync::{Semaphore, oneshot};

/// Bounded pool of blocking calls; further calls wait in order.
#[derive(Clone)]
pub struct Pool {
    permits: Arc<Semaphore>,
    /// Threads for CPU-bound calls: more threads than processors would only compete for memory and caches.
    compute_threads: Arc<ComputeThreads>,
}

impl Default for Pool {
    fn default() -> Self {
        Self {
            permits: Arc::new(Semaphore::new(limits::SERVER_CALLS_MAX)),
            compute_threads: Arc::default(),
        }
    }
}

impl Pool {
    /// Runs `call` on a compute thread: for CPU-bound work and reads of a page that do not wait for locks.
    pub async fn compute<T: Send + 'static>(
        &self,
        call: impl FnOnce() -> Result<T, Fault> + Send + 'static,
    ) -> Result<T, Fault> {
        let (sender, receiver) = oneshot::channel();
        self.compute_threads.submit(Box::new(move || {
            // The receiver may be dropped.
            drop(sender.send(call()));
        }))?;
        receiver.await.unwrap_or_else(|_| Err(panicked_call()))
    }

    /// Runs `call` on a blocking thread. It runs to its end even if the caller is dropped.
    ///
    /// Errors: those of `call`; `Failed` if it panicked.
    pub async fn run<T: Send + 'static>(
        &self,
        call: impl FnOnce() -> Result<T, Fault> + Send + 'static,
    ) -> Result<T, Fault> {
        let place = Arc::clone(&self.permits).acquire_owned().await;
        let place = place.map_err(|_| Fault::failed("the server is shutting down"))?;
        let answer = tokio::task::spawn_blocking(move || {
            let answer = call();
            drop(place);
            answer
        });
        answer.await.unwrap_or_else(|_| Err(panicked_call()))
    }
}

/// Error for a call that panicked.
fn panicked_call() -> Fault {
    Fault::failed("internal error: the call panicked")
        .hint("the server's log has details; only acknowledged writes were stored")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::Duration;

    #[tokio::test(flavor = "multi_thread")]
    async fn compute_concurrency_is_bounded() {
        let pool = Pool::default();
        let (running, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let calls = (0..compute_threads::thread_count() * 4).map(|_| {
            let (pool, running, most) = (pool.clone(), Arc::clone(&running), Arc::clone(&most));
            tokio::spawn(async move {
                let call = move || {
                    most.fetch_max(running.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                    std::thread::sleep(Duration::from_millis(5));
                    running.fetch_sub(1, Ordering::SeqCst);
                    Ok(())
                };
                pool.compute(call).await
            })
        });
        for call in calls.collect::<Vec<_>>() {
            call.await.unwrap().unwrap();
        }
        assert!((2..=limits::SERVER_COMPUTE_CALLS_MAX).contains(&compute_threads::thread_count()));
        assert!(most.load(Ordering::SeqCst) <= compute_threads::thread_count());
    }

    #[tokio::test]
    async fn panic_is_an_error_and_threads_continue() {
        let pool = Pool::default();
        for _ in 0..limits::SERVER_COMPUTE_CALLS_MAX * 2 {
            let answer = pool.compute(|| -> Result<(), Fault> { panic!("on purpose") });
            assert!(answer.await.is_err());
            let answer = pool.run(|| -> Result<(), Fault> { panic!("on purpose") });
            assert!(answer.await.is_err());
        }
        assert_eq!(pool.compute(|| Ok(7)).await, Ok(7));
    }
}
