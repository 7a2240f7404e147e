//! The one way from an asynchronous surface to the engine.

mod threads;

use heirloom_model::{Fault, limits};
use std::sync::Arc;
use threads::Threads;
use tokio::sync::{Semaphore, oneshot};

/// Threads that may wait for a disk: a bounded number of calls at once, the others wait in order.
#[derive(Clone)]
pub struct Pool {
    places: Arc<Semaphore>,
    /// Calls that compute and read: more of them than processors only take memory and each other's caches.
    computing: Arc<Threads>,
}

impl Default for Pool {
    fn default() -> Self {
        Self {
            places: Arc::new(Semaphore::new(limits::SERVER_CALLS_AT_ONCE)),
            computing: Arc::default(),
        }
    }
}

impl Pool {
    /// As [`Pool::run`], for what computes longer than it waits, and for reads of a page, which wait for nobody.
    pub async fn compute<T: Send + 'static>(
        &self,
        call: impl FnOnce() -> Result<T, Fault> + Send + 'static,
    ) -> Result<T, Fault> {
        let (said, heard) = oneshot::channel();
        self.computing.give(Box::new(move || {
            // Whoever asked may be gone.
            drop(said.send(call()));
        }))?;
        heard.await.unwrap_or_else(|_| Err(given_up()))
    }

    /// Runs `call` where waiting is allowed. It runs to its end even if nobody waits for the answer any more.
    ///
    /// Errors: those of `call`; `Failed` if it panicked.
    pub async fn run<T: Send + 'static>(
        &self,
        call: impl FnOnce() -> Result<T, Fault> + Send + 'static,
    ) -> Result<T, Fault> {
        let place = Arc::clone(&self.places).acquire_owned().await;
        let place = place.map_err(|_| Fault::failed("the server is shutting down"))?;
        let answer = tokio::task::spawn_blocking(move || {
            let answer = call();
            drop(place);
            answer
        });
        answer.await.unwrap_or_else(|_| Err(given_up()))
    }
}

/// What is answered for a call that panicked.
fn given_up() -> Fault {
    Fault::failed("an answer was given up inside Heirloom")
        .hint("the server's log says more; the memory is untouched by what was not acknowledged")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::Duration;

    #[tokio::test(flavor = "multi_thread")]
    async fn so_many_compute_at_once() {
        let pool = Pool::default();
        let (now, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let calls = (0..threads::count() * 4).map(|_| {
            let (pool, now, most) = (pool.clone(), Arc::clone(&now), Arc::clone(&most));
            tokio::spawn(async move {
                let call = move || {
                    most.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                    std::thread::sleep(Duration::from_millis(5));
                    now.fetch_sub(1, Ordering::SeqCst);
                    Ok(())
                };
                pool.compute(call).await
            })
        });
        for call in calls.collect::<Vec<_>>() {
            call.await.unwrap().unwrap();
        }
        assert!((2..=limits::SERVER_COMPUTING_AT_ONCE).contains(&threads::count()));
        assert!(most.load(Ordering::SeqCst) <= threads::count());
    }

    #[tokio::test]
    async fn a_panic_is_an_answer_and_the_threads_go_on() {
        let pool = Pool::default();
        for _ in 0..limits::SERVER_COMPUTING_AT_ONCE * 2 {
            let answer = pool.compute(|| -> Result<(), Fault> { panic!("on purpose") });
            assert!(answer.await.is_err());
            let answer = pool.run(|| -> Result<(), Fault> { panic!("on purpose") });
            assert!(answer.await.is_err());
        }
        assert_eq!(pool.compute(|| Ok(7)).await, Ok(7));
    }
}
