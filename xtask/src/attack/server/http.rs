//! HTTP client that sends whatever an attack needs.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

/// Time limit of an answer.
const PATIENCE: Duration = Duration::from_secs(20);

/// One request.
#[derive(Debug, Clone)]
pub(super) struct AttackRequest<'r> {
    pub(super) method: &'r str,
    pub(super) path: &'r str,
    pub(super) headers: Vec<(&'r str, &'r str)>,
    pub(super) body: &'r str,
}

impl<'r> AttackRequest<'r> {
    /// Creates a `GET` without headers.
    pub(super) fn get(path: &'r str) -> Self {
        Self {
            method: "GET",
            path,
            headers: Vec::new(),
            body: "",
        }
    }

    /// Creates a request with a body.
    pub(super) fn with_body(method: &'r str, path: &'r str, body: &'r str) -> Self {
        Self {
            method,
            path,
            headers: Vec::new(),
            body,
        }
    }

    /// Adds a header.
    pub(super) fn with(mut self, name: &'r str, value: &'r str) -> Self {
        self.headers.push((name, value));
        self
    }

    /// Returns the bytes of the request for a server.
    pub(super) fn to_text(&self, address: SocketAddr) -> String {
        let (method, path) = (self.method, self.path);
        let mut text = format!("{method} {path} HTTP/1.1\r\nhost: {address}\r\n");
        for (name, value) in &self.headers {
            text += &format!("{name}: {value}\r\n");
        }
        let length = self.body.len();
        text += &format!("content-length: {length}\r\nconnection: close\r\n\r\n");
        text + self.body
    }
}

/// Answer to a request.
#[derive(Debug)]
pub(super) struct Reply {
    pub(super) status: u16,
    pub(super) head: String,
    pub(super) body: String,
}

impl Reply {
    /// Returns the value of a header.
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        let mut lines = self.head.lines().filter_map(|line| line.split_once(": "));
        let found = lines.find(|(found, _)| found.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.trim())
    }
}

/// Connects with time limits.
pub(super) fn connect(address: SocketAddr) -> Result<TcpStream, String> {
    let stream = TcpStream::connect(address).map_err(|error| error.to_string())?;
    let limited = stream
        .set_read_timeout(Some(PATIENCE))
        .and_then(|()| stream.set_write_timeout(Some(PATIENCE)));
    limited.map_err(|error| error.to_string())?;
    Ok(stream)
}

/// Sends one request and reads its whole answer.
pub(super) fn send(address: SocketAddr, request: &AttackRequest<'_>) -> Result<Reply, String> {
    let mut stream = connect(address)?;
    // A server that refuses early closes before the body is written.
    drop(stream.write_all(request.to_text(address).as_bytes()));
    let mut bytes = Vec::new();
    let read = stream.read_to_end(&mut bytes);
    let text = String::from_utf8_lossy(&bytes);
    let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
    let status = head
        .split(' ')
        .nth(1)
        .and_then(|status| status.parse().ok());
    let failed = || format!("{} {}: {read:?}", request.method, request.path);
    Ok(Reply {
        status: status.ok_or_else(failed)?,
        head: head.to_owned(),
        body: body.to_owned(),
    })
}
