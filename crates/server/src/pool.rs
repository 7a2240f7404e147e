//! The one way from an asynchronous surface to the engine.

use heirloom_model::{Fault, limits};
use std::sync::Arc;
use tokio::sync::Semaphore;

/// Threads that may wait for a disk: a bounded number of calls at once, the others wait in order.
#[derive(Clone)]
pub struct Pool {
    places: Arc<Semaphore>,
    /// Calls that compute: more of them than processors only take memory and each other's caches.
    computing: Arc<Semaphore>,
}

impl Default for Pool {
    fn default() -> Self {
        Self {
            places: Arc::new(Semaphore::new(limits::SERVER_CALLS_AT_ONCE)),
            computing: Arc::new(Semaphore::new(limits::SERVER_COMPUTING_AT_ONCE)),
        }
    }
}

impl Pool {
    /// As [`Pool::run`], for what computes longer than it waits.
    pub async fn compute<T: Send + 'static>(
        &self,
        call: impl FnOnce() -> Result<T, Fault> + Send + 'static,
    ) -> Result<T, Fault> {
        let place = Arc::clone(&self.computing).acquire_owned().await;
        let place = place.map_err(|_| Fault::failed("the server is shutting down"))?;
        self.run(move || {
            let answer = call();
            drop(place);
            answer
        })
        .await
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
        answer
            .await
            .unwrap_or_else(|_| Err(Fault::failed("an answer was given up inside Heirloom").hint("the server's log says more; the memory is untouched by what was not acknowledged")))
    }
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
        let calls = (0..limits::SERVER_COMPUTING_AT_ONCE * 4).map(|_| {
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
        assert!(most.load(Ordering::SeqCst) <= limits::SERVER_COMPUTING_AT_ONCE);
    }
}
