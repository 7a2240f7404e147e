//! TCP proxy between a store and PostgreSQL that cuts a connection at its next commit.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicU8, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

/// Time of a connection's cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Cut {
    /// No connection is cut.
    Never,
    /// The next commit is not forwarded.
    BeforeCommit,
    /// The next commit is forwarded, and its answer is not.
    AfterCommit,
}

/// Proxy on a port of its own.
pub(crate) struct CommitProxy {
    port: u16,
    cut: Arc<AtomicU8>,
    cuts: Arc<AtomicUsize>,
}

impl CommitProxy {
    /// Starts a proxy for the server at `server`.
    pub(crate) fn start(server: SocketAddr) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let cut = Arc::new(AtomicU8::new(Cut::Never as u8));
        let cuts = Arc::new(AtomicUsize::new(0));
        let (state, count) = (Arc::clone(&cut), Arc::clone(&cuts));
        thread::spawn(move || {
            for client in listener.incoming() {
                let Ok(client) = client else { return };
                forward(client, server, &state, &count);
            }
        });
        Self { port, cut, cuts }
    }

    /// Returns the port of the proxy.
    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    /// Cuts the connection of the next commit.
    pub(crate) fn cut_next(&self, cut: Cut) {
        self.cut.store(cut as u8, Ordering::SeqCst);
    }

    /// Returns the number of connections that were cut.
    pub(crate) fn cuts(&self) -> usize {
        self.cuts.load(Ordering::SeqCst)
    }
}

/// Forwards one connection in both directions.
fn forward(client: TcpStream, server: SocketAddr, cut: &Arc<AtomicU8>, cuts: &Arc<AtomicUsize>) {
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
    let (cut, cuts) = (Arc::clone(cut), Arc::clone(cuts));
    thread::spawn(move || {
        let (mut from, mut to) = (client, server);
        let mut bytes = [0; 65_536];
        while let Ok(count @ 1..) = from.read(&mut bytes) {
            let sent = &bytes[..count];
            let is_commit = sent.windows(7).any(|part| part == b"COMMIT\0");
            let due = cut.load(Ordering::SeqCst);
            if is_commit && due != Cut::Never as u8 {
                cut.store(Cut::Never as u8, Ordering::SeqCst);
                cuts.fetch_add(1, Ordering::SeqCst);
                // The answer is held back from here on.
                *is_muted.lock().unwrap() = true;
                if due == Cut::AfterCommit as u8 {
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
