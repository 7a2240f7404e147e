//! Wait for a future on the present thread.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};
use tokio::runtime::Handle;

/// Waker of a thread that waits.
struct ThreadWaker(Thread);

impl Wake for ThreadWaker {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// Runs a future to its end, with the timers and sockets of `runtime`. Unlike [`Handle::block_on`] it may be called on a
/// thread of another runtime, such as a server's, which waits meanwhile.
pub(crate) fn wait<F: Future>(runtime: &Handle, future: F) -> F::Output {
    let _entered = runtime.enter();
    let waker = Waker::from(Arc::new(ThreadWaker(thread::current())));
    let mut context = Context::from_waker(&waker);
    let mut future = pin!(future);
    loop {
        match future.as_mut().poll(&mut context) {
            Poll::Ready(output) => return output,
            Poll::Pending => thread::park(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;
    use tokio::runtime::Builder;

    #[test]
    fn wait_works_inside_another_runtime() {
        let runtime = || {
            let mut builder = Builder::new_multi_thread();
            builder.worker_threads(1).enable_all().build().unwrap()
        };
        let (own, other) = (runtime(), runtime());
        let handle = own.handle().clone();
        let answer = other.block_on(async move {
            wait(&handle, async {
                tokio::time::sleep(Duration::from_millis(5)).await;
                7
            })
        });
        assert_eq!(answer, 7);
    }
}
