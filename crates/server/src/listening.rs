//! The socket: bound before anything is promised, and closed after what is in flight was answered.
//!
//! Connections are served one by one with their own times, so that a client that is slow, or half gone, costs a
//! connection for a while and nobody else anything.

mod patient;
mod secure;

pub use secure::Certificate;

use crate::App;
use axum::Router;
use heirloom_model::{Fault, limits};
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use patient::Patient;
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::sync::Semaphore;
use tokio_rustls::TlsAcceptor;

/// A port that is held.
pub struct Listening {
    listener: TcpListener,
    address: SocketAddr,
    tls: Option<TlsAcceptor>,
}

impl Listening {
    /// Takes the port; 0 takes a free one.
    ///
    /// Errors: `Failed` if it is taken, or may not be; `Refused` for a host that others reach, without a certificate.
    pub fn bind(host: &str, port: u16, certificate: Option<&Certificate>) -> Result<Self, Fault> {
        let tls = certificate.map(secure::acceptor).transpose()?;
        let listener = TcpListener::bind((host, port)).map_err(|error| {
            Fault::failed(format!("cannot listen on {host}:{port}: {error}"))
                .hint("another server may run there: give another --port, or 0 for a free one")
        })?;
        let address = listener.local_addr().map_err(|error| {
            Fault::failed(format!("the port's own address cannot be read: {error}"))
        })?;
        if tls.is_none() && !address.ip().is_loopback() {
            return Err(Fault::refused(format!(
                "{host} is reached from other machines, and what they send would be read on the way"
            ))
            .hint("give --tls-cert FILE and --tls-key FILE, or listen on 127.0.0.1"));
        }
        Ok(Self {
            listener,
            address,
            tls,
        })
    }

    /// Where clients reach it.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Whether clients speak TLS with it.
    pub fn is_secure(&self) -> bool {
        self.tls.is_some()
    }
}

/// Answers until `is_stopped` says so, then what is in flight. With `app` also does the chores of its memory.
pub fn serve(
    listening: Listening,
    app: Option<&App>,
    router: Router,
    is_stopped: impl Fn() -> bool + Send + 'static,
) -> Result<(), Fault> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .max_blocking_threads(limits::SERVER_CALLS_AT_ONCE)
        .enable_all()
        .build()
        .map_err(|error| Fault::failed(format!("no threads to serve with: {error}")))?;
    let most = limits::SERVER_CONNECTIONS_MAX;
    let served = runtime.block_on(accept_until(listening, app, router, most, is_stopped));
    // Calls that nobody waits for any more are not waited for either: what they write is whole or not at all.
    runtime.shutdown_timeout(Duration::from_millis(limits::SERVER_STOP_PAUSE_MS));
    served.map_err(|error| Fault::failed(format!("the server ended: {error}")))
}

async fn accept_until(
    listening: Listening,
    app: Option<&App>,
    router: Router,
    most: usize,
    is_stopped: impl Fn() -> bool,
) -> std::io::Result<()> {
    listening.listener.set_nonblocking(true)?;
    let listener = tokio::net::TcpListener::from_std(listening.listener)?;
    let chores = app.map(|app| tokio::spawn(crate::chores::each_day(app.clone())));
    let graceful = GracefulShutdown::new();
    let places = Arc::new(Semaphore::new(most));
    let stopped = stopped(is_stopped);
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
            // Too many open files, or a client that left before it was taken: the next one may come through.
            tokio::time::sleep(Duration::from_millis(limits::SERVER_STOP_PAUSE_MS)).await;
            continue;
        };
        let (router, tls) = (router.clone(), listening.tls.clone());
        let watcher = graceful.watcher();
        tokio::spawn(async move {
            connection(stream, tls, router, watcher).await;
            drop(place);
        });
    }
    drop(listener);
    if let Some(app) = app {
        app.stop();
    }
    let time = Duration::from_secs(limits::SERVER_STOP_S);
    // Who has no answer by then gets none.
    drop(tokio::time::timeout(time, graceful.shutdown()).await);
    if let Some(chores) = chores {
        chores.abort();
    }
    if let Some(app) = app {
        crate::chores::keep_working(app).await;
    }
    Ok(())
}

async fn connection(
    stream: TcpStream,
    tls: Option<TlsAcceptor>,
    router: Router,
    watcher: hyper_util::server::graceful::Watcher,
) {
    // Small answers must not wait for more of them.
    if stream.set_nodelay(true).is_err() {
        return;
    }
    let stream = Patient::new(stream, Duration::from_secs(limits::SERVER_WRITE_S));
    let Some(tls) = tls else {
        return speak(stream, router, watcher).await;
    };
    let time = Duration::from_secs(limits::SERVER_HEAD_S);
    if let Ok(Ok(stream)) = tokio::time::timeout(time, tls.accept(stream)).await {
        speak(stream, router, watcher).await;
    }
}

async fn speak(
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
    // What ends a connection early is the client's business; what it asked for was done or not, as every call.
    drop(watcher.watch(served).await);
}

async fn stopped(is_stopped: impl Fn() -> bool) {
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
    async fn a_client_that_says_nothing_is_left() {
        for sent in ["", "GET / HT"] {
            let began = tokio::time::Instant::now();
            let (ours, mut theirs) = duplex(1_000);
            let graceful = GracefulShutdown::new();
            let watcher = graceful.watcher();
            let speaking = tokio::spawn(speak(ours, Router::new(), watcher));
            theirs.write_all(sent.as_bytes()).await.unwrap();
            let mut answer = Vec::new();
            theirs.read_to_end(&mut answer).await.unwrap();
            speaking.await.unwrap();
            assert!(began.elapsed() >= Duration::from_secs(limits::SERVER_HEAD_S));
        }
    }

    #[tokio::test(start_paused = true)]
    async fn the_end_is_looked_for_after_every_pause() {
        let began = tokio::time::Instant::now();
        let looks = std::sync::atomic::AtomicU64::new(0);
        stopped(|| looks.fetch_add(1, Ordering::SeqCst) == 3).await;
        let pause = Duration::from_millis(limits::SERVER_STOP_PAUSE_MS);
        assert!(began.elapsed() >= 3 * pause);
        assert!(began.elapsed() < 4 * pause);
    }

    /// Sends a request for `path`.
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
    async fn one_connection_too_many_waits_for_another_to_end() {
        const MOST: usize = 3;
        let listening = Listening::bind("127.0.0.1", 0, None).unwrap();
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
        let serving = tokio::spawn(accept_until(listening, None, router, MOST, || false));
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
        assert!(!late.load(Ordering::SeqCst), "there is no place for it");
        clients.pop();
        is_answered(&mut another).await;
        assert!(late.load(Ordering::SeqCst));
        serving.abort();
    }
}
