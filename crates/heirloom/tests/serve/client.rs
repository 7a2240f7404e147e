//! A server of its own, and a client that speaks HTTP as plainly as can be.

use crate::driver::{Desk, Ran, send, until, wait};
use serde_json::Value;
use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::{Child, Command};
use std::time::Duration;

/// A server that runs, and its project.
pub(crate) struct Server {
    pub(crate) desk: Desk,
    child: Option<Child>,
    pub(crate) address: SocketAddr,
    /// The token that the first start told.
    pub(crate) token: String,
}

/// What a request got.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    head: String,
    pub(crate) body: Vec<u8>,
}

impl Answer {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body)
            .unwrap_or_else(|error| panic!("{error} in {}", String::from_utf8_lossy(&self.body)))
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let lines = self.head.lines().skip(1);
        let mut pairs = lines.filter_map(|line| line.split_once(": "));
        let found = pairs.find(|(found, _)| found.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value)
    }

    /// Fails unless it is this status, and if that is an error, a problem document that says so.
    #[track_caller]
    pub(crate) fn expect(self, status: u16) -> Self {
        let shown = String::from_utf8_lossy(&self.body);
        assert_eq!(self.status, status, "{shown}");
        if status >= 400 {
            assert_eq!(
                self.header("content-type"),
                Some("application/problem+json")
            );
            let problem = self.json();
            assert_eq!(problem["status"], status, "{problem}");
            assert_ne!(problem["detail"].as_str(), None, "{problem}");
        }
        self
    }
}

impl Server {
    /// A server in a new project.
    pub(crate) fn start() -> Self {
        Self::over(Desk::plain(), &[])
    }

    /// A server in this project.
    pub(crate) fn over(desk: Desk, options: &[&str]) -> Self {
        let command = desk.heirloom(&[&["serve", "--port", "0"], options].concat());
        Self::of(command, desk)
    }

    /// The server that this command starts, in this project.
    pub(crate) fn of(mut command: Command, desk: Desk) -> Self {
        let mut child = command.spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let first = lines.next().unwrap().unwrap();
        let address = first.rsplit("://").next().unwrap().parse().unwrap();
        let mut server = Self {
            desk,
            child: Some(child),
            address,
            token: String::new(),
        };
        if !server.desk.project.path().join("token-told").exists() {
            let told = lines.next().unwrap().unwrap();
            server.token = told.strip_prefix("token: ").unwrap().to_owned();
            server
                .desk
                .project
                .write("token-told", &server.token)
                .unwrap();
        } else {
            server.token = server.desk.project.read("token-told").unwrap();
        }
        server
    }

    /// A server that somebody else started and ends.
    pub(crate) fn borrowed(address: SocketAddr, token: String) -> Self {
        Self {
            desk: Desk::bare(),
            child: None,
            address,
            token,
        }
    }

    pub(crate) fn pid(&self) -> i64 {
        self.child.as_ref().map_or(0, |child| i64::from(child.id()))
    }

    /// A token of this role.
    pub(crate) fn token_of(&self, role: &str, more: &[&str]) -> String {
        let args = [&["token", "create", "--role", role, "--json"], more].concat();
        let made = self.desk.call(&args).expect(0).json();
        made["token"].as_str().unwrap().to_owned()
    }

    /// Ends it as Ctrl-C does.
    pub(crate) fn stop(mut self) -> (Desk, Ran) {
        send("INT", self.pid());
        let ran = wait(self.child.take().unwrap());
        let desk = std::mem::replace(&mut self.desk, Desk::bare());
        (desk, ran)
    }

    /// Kills it.
    pub(crate) fn kill(mut self) -> Desk {
        send("KILL", self.pid());
        drop(wait(self.child.take().unwrap()));
        std::mem::replace(&mut self.desk, Desk::bare())
    }

    pub(crate) fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.address).unwrap();
        stream
            .set_read_timeout(Some(Duration::from_secs(60)))
            .unwrap();
        stream
    }

    /// Sends these bytes, and reads one answer.
    pub(crate) fn raw(&self, bytes: &[u8]) -> Answer {
        let mut stream = self.connect();
        // A server that refuses early may close before all is written.
        drop(stream.write_all(bytes));
        read(&mut BufReader::new(stream)).unwrap()
    }

    /// One request with these headers.
    pub(crate) fn request(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &[u8],
    ) -> Answer {
        self.raw(&self.head(method, path, headers, body))
    }

    pub(crate) fn head(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &[u8],
    ) -> Vec<u8> {
        let mut head = format!("{method} {path} HTTP/1.1\r\n");
        if !headers.iter().any(|(name, _)| *name == "host") {
            head += &format!("host: {}\r\n", self.address);
        }
        for (name, value) in headers {
            head += &format!("{name}: {value}\r\n");
        }
        head += &format!(
            "content-length: {}\r\nconnection: close\r\n\r\n",
            body.len()
        );
        [head.as_bytes(), body].concat()
    }

    /// `GET` with this token.
    pub(crate) fn get_as(&self, token: &str, path: &str) -> Answer {
        let bearer = format!("Bearer {token}");
        self.request("GET", path, &[("authorization", &bearer)], b"")
    }

    pub(crate) fn get(&self, path: &str) -> Answer {
        self.get_as(&self.token, path)
    }

    /// JSON with this token.
    pub(crate) fn send_as(&self, token: &str, method: &str, path: &str, body: &Value) -> Answer {
        let bearer = format!("Bearer {token}");
        let headers = [
            ("authorization", bearer.as_str()),
            ("content-type", "application/json"),
        ];
        self.request(method, path, &headers, body.to_string().as_bytes())
    }

    pub(crate) fn post(&self, path: &str, body: &Value) -> Answer {
        self.send_as(&self.token, "POST", path, body)
    }

    /// The items of a list.
    #[track_caller]
    pub(crate) fn items(&self, path: &str) -> Vec<Value> {
        let list = self.get(path).expect(200).json();
        list["items"].as_array().unwrap().clone()
    }

    /// Waits until so many requests have begun and have no answer.
    #[track_caller]
    pub(crate) fn works_on(&self, count: usize) {
        // The one that asks is in flight itself.
        let line = format!("heirloom_requests_in_flight {}\n", count + 1);
        eventually(&line, || {
            let metrics = self.get("/metrics").expect(200);
            String::from_utf8(metrics.body).unwrap().contains(&line)
        });
    }

    /// Fails unless it still answers.
    #[track_caller]
    pub(crate) fn lives(&self) {
        self.request("GET", "/health", &[], b"").expect(200);
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Some(mut child) = self.child.take() {
            child.kill().unwrap();
            child.wait().unwrap();
        }
    }
}

/// One answer; `None` if the connection ends before one.
pub(crate) fn read(stream: &mut impl BufRead) -> Option<Answer> {
    let mut head = String::new();
    loop {
        let mut line = String::new();
        if stream.read_line(&mut line).ok()? == 0 {
            return None;
        }
        if line == "\r\n" {
            break;
        }
        head += &line.replace('\r', "");
    }
    let status = head.split(' ').nth(1)?.parse().ok()?;
    let mut answer = Answer {
        status,
        head,
        body: Vec::new(),
    };
    if let Some(length) = answer.header("content-length") {
        answer.body = vec![0; length.parse().ok()?];
        stream.read_exact(&mut answer.body).ok()?;
    }
    Some(answer)
}

/// Waits until `done` says yes.
#[track_caller]
pub(crate) fn eventually(what: &str, done: impl FnMut() -> bool) {
    until(what, done);
}
