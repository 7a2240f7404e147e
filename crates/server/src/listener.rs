//! HTTP listener: binds the port first, and at shutdown finishes requests in flight.
//!
//! Each connection has its own timeouts, so a slow or half-closed client only occupies its own connection.

mod plain_http;
mod tls;
mod write_timeout;

pub use tls::Certificate;

use crate::App;
use axum::Router;
use heirloom_model::{Fault, limits};
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::sync::Semaphore;
use tokio_rustls::TlsAcceptor;
use write_timeout::WriteTimeout;

/// Bound TCP listener, with TLS if configured.
pub struct Listener {
    listener: TcpListener,
    address: SocketAddr,
    tls: Option<TlsAcceptor>,
}

impl Listener {
    /// Binds the port; 0 selects a free one.
    ///
    /// Errors: `Failed` if the port cannot be bound; `Refused` for a non-loopback address without a certificate.
    pub fn bind(host: &str, port: u16, certificate: Option<&Certificate>) -> Result<Self, Fault> {
        let tls = certificate.map(tls::tls_acceptor).transpose()?;
        let listener = TcpListener::bind((host, port)).map_err(|error| {
            Fault::failed(format!("cannot listen on {host}:{port}: {error}"))
                .hint("another server may use the port: give another --port, or 0 for a free one")
        })?;
        let address = listener.local_addr().map_err(|error| {
            Fault::failed(format!("the address of the port cannot be read: {error}"))
        })?;
        if tls.is_none() && !address.ip().is_loopback() {
            return Err(Fault::refused(format!(
                "{host} is reachable from other machines, and unencrypted traffic can be read"
            ))
            .hint("give --tls-cert FILE and --tls-key FILE, or listen on 127.0.0.1"));
        }
        Ok(Self {
            listener,
            address,
            tls,
        })
    }

    /// Returns the bound address.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns true if clients connect with TLS.
    pub fn is_secure(&self) -> bool {
        self.tls.is_some()
    }
}

/// Serves requests until `is_stopped` returns true, then finishes those in flight. With `app`, also runs its
/// background jobs.
pub fn serve(
    listening: Listener,
    app: Option<&App>,
    router: Router,
    is_stopped: impl Fn() -> bool + Send + 'static,
) -> Result<(), Fault> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .max_blocking_threads(limits::SERVER_CALLS_MAX)
        .enable_all()
        .build()
        .map_err(|error| Fault::failed(format!("server threads cannot be started: {error}")))?;
    let most = most_connections(heirloom_fs::raise_open_file_limit());
    let served = runtime.block_on(accept_until_stopped(
        listening, app, router, most, is_stopped,
    ));
    // Abandoned calls are not awaited: a write is atomic, so it is complete or absent.
    runtime.shutdown_timeout(Duration::from_millis(limits::SERVER_STOP_PAUSE_MS));
    served.map_err(|error| Fault::failed(format!("the server stopped: {error}")))
}

/// Returns the number of connections that are accepted: at most half of the files that the process may open, so that
/// the store can be opened while clients hold connections.
fn most_connections(open_files: Option<usize>) -> usize {
    let half = open_files.map_or(usize::MAX, |files| files / 2);
    half.clamp(1, limits::SERVER_CONNECTIONS_MAX)
}

async fn accept_until_stopped(
    listening: Listener,
    app: Option<&App>,
    router: Router,
    most: usize,
    is_stopped: impl Fn() -> bool,
) -> std::io::Result<()> {
    listening.listener.set_nonblocking(true)?;
    let listener = tokio::net::TcpListener::from_std(listening.listener)?;
    let chores = app.map(|app| tokio::spawn(crate::background_jobs::prune_daily(app.clone())));
    let mirror = app.map(|app| {
        tokio::spawn(crate::background_jobs::update_mirror_periodically(
            app.clone(),
        ))
    });
    let vectors = app.map(|app| {
        tokio::spawn(crate::background_jobs::embed_sentences_periodically(
            app.clone(),
        ))
    });
    let health = app.map(|app| {
        tokio::spawn(crate::background_jobs::check_health_periodically(
            app.clone(),
        ))
    });
    if let Some(app) = app {
        app.start_file_watcher();
    }
    let graceful = GracefulShutdown::new();
    let places = Arc::new(Semaphore::new(most));
    let stopped = wait_for_stop(is_stopped);
    tokio::pin!(stopped);
    loop {
        let place = Arc::clone(&places).acquire_owned();
        let accepted = async {
            let place = place.await;
            (listener.accept().await, place)
        };
        let (accepted, place) = tokio::select! {
            () = &mut stopped => break,
            accepted = accepted => accepted,
        };
        let Ok((stream, _)) = accepted else {
            // Too many open files, or a client that disconnected before it was accepted; the next accept may succeed.
            tokio::time::sleep(Duration::from_millis(limits::SERVER_STOP_PAUSE_MS)).await;
            continue;
        };
        let (router, tls) = (router.clone(), listening.tls.clone());
        let watcher = graceful.watcher();
        tokio::spawn(async move {
            accept_connection(stream, tls, router, watcher).await;
            drop(place);
        });
    }
    drop(listener);
    if let Some(app) = app {
        app.stop();
    }
    let time = Duration::from_secs(limits::SERVER_STOP_S);
    // Requests that are still unanswered are dropped.
    drop(tokio::time::timeout(time, graceful.shutdown()).await);
    for chore in [chores, mirror, vectors, health].into_iter().flatten() {
        chore.abort();
    }
    if let Some(app) = app {
        crate::background_jobs::update_mirror(app).await;
        crate::background_jobs::save_working_memories(app).await;
    }
    Ok(())
}

async fn accept_connection(
    stream: TcpStream,
    tls: Option<TlsAcceptor>,
    router: Router,
    watcher: hyper_util::server::graceful::Watcher,
) {
    // Nagle's algorithm would delay small answers.
    if stream.set_nodelay(true).is_err() {
        return;
    }
    let time = Duration::from_secs(limits::SERVER_HEAD_S);
    let is_plain = match tls {
        Some(_) => tokio::time::timeout(time, plain_http::is_plain(&stream)).await,
        None => Ok(false),
    };
    let mut stream = WriteTimeout::new(stream, Duration::from_secs(limits::SERVER_WRITE_S));
    let Some(tls) = tls else {
        return serve_connection(stream, router, watcher).await;
    };
    match is_plain {
        Ok(true) => return plain_http::refuse(&mut stream).await,
        Ok(false) => {}
        // The client sent nothing.
        Err(_) => return,
    }
    if let Ok(Ok(stream)) = tokio::time::timeout(time, tls.accept(stream)).await {
        serve_connection(stream, router, watcher).await;
    }
}

async fn serve_connection(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    router: Router,
    watcher: hyper_util::server::graceful::Watcher,
) {
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new())
        .header_read_timeout(Duration::from_secs(limits::SERVER_HEAD_S))
        .max_header_size(limits::SERVER_HEAD_BYTES_MAX)
        .half_close(false);
    let served = http.serve_connection(TokioIo::new(stream), TowerToHyperService::new(router));
    // A broken connection is the client's concern; the call behind it was completed or not, as usual.
    drop(watcher.watch(served).await);
}

async fn wait_for_stop(is_stopped: impl Fn() -> bool) {
    while !is_stopped() {
        tokio::time::sleep(Duration::from_millis(limits::SERVER_STOP_PAUSE_MS)).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicBool, Ordering};
    use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex};

    #[tokio::test(start_paused = true)]
    async fn silent_client_is_disconnected_after_timeout() {
        for sent in ["", "GET / HT"] {
            let began = tokio::time::Instant::now();
            let (ours, mut theirs) = duplex(1_000);
            let graceful = GracefulShutdown::new();
            let watcher = graceful.watcher();
            let speaking = tokio::spawn(serve_connection(ours, Router::new(), watcher));
            theirs.write_all(sent.as_bytes()).await.unwrap();
            let mut answer = Vec::new();
            theirs.read_to_end(&mut answer).await.unwrap();
            speaking.await.unwrap();
            assert!(began.elapsed() >= Duration::from_secs(limits::SERVER_HEAD_S));
        }
    }

    #[tokio::test(start_paused = true)]
    async fn client_that_sends_one_byte_per_second_is_disconnected_after_timeout() {
        let began = tokio::time::Instant::now();
        let (ours, mut theirs) = duplex(1_000);
        let graceful = GracefulShutdown::new();
        let watcher = graceful.watcher();
        let speaking = tokio::spawn(serve_connection(ours, Router::new(), watcher));
        theirs.write_all(b"GET / HTTP/1.1\r\nx: ").await.unwrap();
        while theirs.write_all(b"a").await.is_ok() {
            tokio::time::sleep(Duration::from_secs(1)).await;
        }
        speaking.await.unwrap();
        let most = Duration::from_secs(limits::SERVER_HEAD_S);
        assert!(began.elapsed() >= most);
        assert!(began.elapsed() < 2 * most);
    }

    #[test]
    fn connections_leave_open_files_for_the_store() {
        assert_eq!(most_connections(None), limits::SERVER_CONNECTIONS_MAX);
        assert_eq!(
            most_connections(Some(1 << 20)),
            limits::SERVER_CONNECTIONS_MAX
        );
        assert_eq!(most_connections(Some(1_024)), 512);
        assert_eq!(most_connections(Some(1)), 1);
    }

    #[tokio::test(start_paused = true)]
    async fn stop_is_checked_after_every_pause() {
        let began = tokio::time::Instant::now();
        let looks = std::sync::atomic::AtomicU64::new(0);
        wait_for_stop(|| looks.fetch_add(1, Ordering::SeqCst) == 3).await;
        let pause = Duration::from_millis(limits::SERVER_STOP_PAUSE_MS);
        assert!(began.elapsed() >= 3 * pause);
        assert!(began.elapsed() < 4 * pause);
    }

    /// Sends a GET request for `path`.
    async fn ask(client: &mut TcpStream, path: &str) {
        let request = format!("GET {path} HTTP/1.1\r\nhost: localhost\r\n\r\n");
        client.write_all(request.as_bytes()).await.unwrap();
    }

    async fn is_answered(client: &mut TcpStream) {
        let mut answer = vec![0; 1_000];
        let read = client.read(&mut answer).await.unwrap();
        assert!(answer[..read].starts_with(b"HTTP/1.1 404"));
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn connection_over_limit_waits_for_free_slot() {
        const MOST: usize = 3;
        let listening = Listener::bind("127.0.0.1", 0, None).unwrap();
        let address = listening.address();
        let late = Arc::new(AtomicBool::new(false));
        let seen = Arc::clone(&late);
        let router = Router::new().fallback(move |uri: axum::http::Uri| {
            let seen = Arc::clone(&seen);
            async move {
                seen.fetch_or(uri.path() == "/late", Ordering::SeqCst);
                axum::http::StatusCode::NOT_FOUND
            }
        });
        let serving = tokio::spawn(accept_until_stopped(listening, None, router, MOST, || {
            false
        }));
        let mut clients = Vec::new();
        for _ in 0..MOST {
            let mut client = TcpStream::connect(address).await.unwrap();
            ask(&mut client, "/").await;
            is_answered(&mut client).await;
            clients.push(client);
        }
        let mut another = TcpStream::connect(address).await.unwrap();
        ask(&mut another, "/late").await;
        for _ in 0..50 {
            ask(&mut clients[0], "/").await;
            is_answered(&mut clients[0]).await;
        }
        assert!(!late.load(Ordering::SeqCst), "it must wait for a free slot");
        clients.pop();
        is_answered(&mut another).await;
        assert!(late.load(Ordering::SeqCst));
        serving.abort();
    }
}
