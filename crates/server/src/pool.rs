//! The one way from an asynchronous surface to the engine.

use heirloom_model::{Fault, limits};
use std::sync::Arc;
use tokio::sync::Semaphore;

/// Threads that may wait for a disk: a bounded number of calls at once, the others wait in order.
#[derive(Clone)]
pub struct Pool {
    places: Arc<Semaphore>,
}

impl Default for Pool {
    fn default() -> Self {
        Self {
            places: Arc::new(Semaphore::new(limits::SERVER_CALLS_AT_ONCE)),
        }
    }
}

impl Pool {
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
