//! TCP proxy between a store and PostgreSQL that cuts connections at their commits.
#![expect(clippy::unwrap_used, reason = "a helper of a test may fail it")]

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread;
use std::time::Duration;

/// Place at which a connection is cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Cut {
    /// No connection is cut.
    #[default]
    Never,
    /// The commit is not forwarded.
    BeforeCommit,
    /// The commit is forwarded, and its answer is not.
    AfterCommit,
}

/// Proxy on a port of its own.
pub(crate) struct CommitProxy {
    port: u16,
    state: Arc<ProxyState>,
}

#[derive(Default)]
struct ProxyState {
    /// Place and number of the cuts that are due.
    due: Mutex<(Cut, usize)>,
    cuts: AtomicUsize,
    /// True if nothing is forwarded.
    is_silent: AtomicBool,
    /// True if new connections are closed.
    is_closed: AtomicBool,
    /// True if new connections are closed after the next cut.
    closes_after_cut: AtomicBool,
}

impl CommitProxy {
    /// Starts a proxy for the server at `server`.
    pub(crate) fn start(server: SocketAddr) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let state = Arc::new(ProxyState::default());
        let shared = Arc::clone(&state);
        thread::spawn(move || {
            for client in listener.incoming() {
                let Ok(client) = client else { return };
                if !shared.is_closed.load(Ordering::SeqCst) {
                    forward(client, server, &shared);
                }
            }
        });
        Self { port, state }
    }

    /// Returns the port of the proxy.
    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    /// Cuts the connections of the next `count` commits.
    pub(crate) fn cut_commits(&self, cut: Cut, count: usize) {
        *self.state.due() = (cut, count);
    }

    /// Returns the number of connections that were cut.
    pub(crate) fn cuts(&self) -> usize {
        self.state.cuts.load(Ordering::SeqCst)
    }

    /// Stops to forward anything, or begins again for new connections.
    pub(crate) fn set_silent(&self, is_silent: bool) {
        self.state.is_silent.store(is_silent, Ordering::SeqCst);
    }

    /// Closes new connections after the next cut.
    pub(crate) fn close_after_cut(&self) {
        self.state.closes_after_cut.store(true, Ordering::SeqCst);
    }

    /// Forwards new connections.
    pub(crate) fn open(&self) {
        self.state.closes_after_cut.store(false, Ordering::SeqCst);
        self.state.is_closed.store(false, Ordering::SeqCst);
    }
}

impl ProxyState {
    fn due(&self) -> MutexGuard<'_, (Cut, usize)> {
        self.due.lock().unwrap()
    }

    /// Returns the cut of this commit.
    fn take_cut(&self) -> Cut {
        let mut due = self.due();
        if due.0 == Cut::Never || due.1 == 0 {
            return Cut::Never;
        }
        due.1 -= 1;
        self.cuts.fetch_add(1, Ordering::SeqCst);
        let closes = self.closes_after_cut.load(Ordering::SeqCst);
        self.is_closed.store(closes, Ordering::SeqCst);
        due.0
    }
}

/// Forwards one connection in both directions.
fn forward(client: TcpStream, server: SocketAddr, state: &Arc<ProxyState>) {
    let server = TcpStream::connect(server).unwrap();
    client.set_nodelay(true).unwrap();
    server.set_nodelay(true).unwrap();
    let is_muted = Arc::new(Mutex::new(false));
    let (mut from, mut to) = (server.try_clone().unwrap(), client.try_clone().unwrap());
    let muted = Arc::clone(&is_muted);
    thread::spawn(move || {
        let mut bytes = [0; 65_536];
        while let Ok(count @ 1..) = from.read(&mut bytes) {
            let is_muted = muted.lock().unwrap();
            if *is_muted || to.write_all(&bytes[..count]).is_err() {
                break;
            }
        }
        drop(to.shutdown(Shutdown::Both));
    });
    let state = Arc::clone(state);
    thread::spawn(move || {
        let (mut from, mut to) = (client, server);
        let mut bytes = [0; 65_536];
        while let Ok(count @ 1..) = from.read(&mut bytes) {
            if state.is_silent.load(Ordering::SeqCst) {
                continue;
            }
            let sent = &bytes[..count];
            let is_commit = sent.windows(7).any(|part| part == b"COMMIT\0");
            let cut = if is_commit {
                state.take_cut()
            } else {
                Cut::Never
            };
            if cut != Cut::Never {
                // The answer is held back from here on.
                *is_muted.lock().unwrap() = true;
                if cut == Cut::AfterCommit {
                    to.write_all(sent).unwrap();
                    thread::sleep(Duration::from_millis(50));
                }
                drop(from.shutdown(Shutdown::Both));
                break;
            }
            if to.write_all(sent).is_err() {
                break;
            }
        }
        drop(to.shutdown(Shutdown::Both));
    });
}
