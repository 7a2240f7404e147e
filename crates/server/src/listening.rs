//! The socket: bound before anything is promised, and closed after what is in flight was answered.

use axum::Router;
use heirloom_model::{Fault, limits};
use std::net::{SocketAddr, TcpListener};
use std::time::Duration;

/// A port that is held.
pub struct Listening {
    listener: TcpListener,
    address: SocketAddr,
}

impl Listening {
    /// Takes the port; 0 takes a free one. Errors: `Failed` if it is taken, or may not be.
    pub fn bind(host: &str, port: u16) -> Result<Self, Fault> {
        let listener = TcpListener::bind((host, port)).map_err(|error| {
            Fault::failed(format!("cannot listen on {host}:{port}: {error}"))
                .hint("another server may run there: give another --port, or 0 for a free one")
        })?;
        let address = listener.local_addr().map_err(|error| {
            Fault::failed(format!("the port's own address cannot be read: {error}"))
        })?;
        Ok(Self { listener, address })
    }

    /// Where clients reach it.
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

/// Answers until `is_stopped` says so, then what is in flight.
pub fn serve(
    listening: Listening,
    router: Router,
    is_stopped: impl Fn() -> bool + Send + 'static,
) -> Result<(), Fault> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .map_err(|error| Fault::failed(format!("no threads to serve with: {error}")))?;
    let served = runtime.block_on(async move {
        listening.listener.set_nonblocking(true)?;
        let listener = tokio::net::TcpListener::from_std(listening.listener)?;
        axum::serve(listener, router)
            .with_graceful_shutdown(stopped(is_stopped))
            .await
    });
    served.map_err(|error| Fault::failed(format!("the server ended: {error}")))
}

async fn stopped(is_stopped: impl Fn() -> bool) {
    while !is_stopped() {
        tokio::time::sleep(Duration::from_millis(limits::SERVER_STOP_PAUSE_MS)).await;
    }
}
