//! Test server, and a minimal HTTP client.

use crate::driver::{CallResult, ProjectFixture, send, wait, wait_until};
use serde_json::Value;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::{Child, Command};
use std::time::Duration;

/// Running server with its project.
pub(crate) struct Server {
    pub(crate) fixture: ProjectFixture,
    child: Option<Child>,
    pub(crate) address: SocketAddr,
    /// Token that the first start printed.
    pub(crate) token: String,
}

/// HTTP response.
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

    /// Checks the status; an error must have a problem document with the same status.
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
    /// Starts a server in a new project.
    pub(crate) fn start() -> Self {
        Self::start_in(ProjectFixture::plain(), &[])
    }

    /// Starts a server in this project.
    pub(crate) fn start_in(fixture: ProjectFixture, options: &[&str]) -> Self {
        let command = fixture.heirloom(&[&["serve", "--port", "0"], options].concat());
        Self::start_command(command, fixture)
    }

    /// Starts a server in this project with this command.
    pub(crate) fn start_command(mut command: Command, fixture: ProjectFixture) -> Self {
        let mut child = command.spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let first = lines.next().unwrap().unwrap();
        let address = first.rsplit("://").next().unwrap().parse().unwrap();
        let mut server = Self {
            fixture,
            child: Some(child),
            address,
            token: String::new(),
        };
        if !server.fixture.project.path().join("first-token").exists() {
            let line = lines.next().unwrap().unwrap();
            server.token = line.strip_prefix("token: ").unwrap().to_owned();
            server
                .fixture
                .project
                .write("first-token", &server.token)
                .unwrap();
        } else {
            server.token = server.fixture.project.read("first-token").unwrap();
        }
        server
    }

    /// Wraps a server that the caller started and ends.
    pub(crate) fn attach(address: SocketAddr, token: String) -> Self {
        Self {
            fixture: ProjectFixture::bare(),
            child: None,
            address,
            token,
        }
    }

    pub(crate) fn pid(&self) -> i64 {
        self.child.as_ref().map_or(0, |child| i64::from(child.id()))
    }

    /// Creates a token of this role and returns it.
    pub(crate) fn create_token(&self, role: &str, more: &[&str]) -> String {
        let args = [&["token", "create", "--role", role, "--json"], more].concat();
        let made = self.fixture.call(&args).expect(0).json();
        made["token"].as_str().unwrap().to_owned()
    }

    /// Creates a one-time login link and returns its path.
    pub(crate) fn login_link(&self) -> String {
        let args = ["ui", "--no-open", "--json"];
        let link = self.fixture.call(&args).expect(0).json();
        let link = link["link"].as_str().unwrap();
        let (_, path) = link.split_once(&self.address.to_string()).unwrap();
        path.to_owned()
    }

    /// Logs a browser in and returns the pair of its session cookie.
    pub(crate) fn log_in(&self) -> String {
        let answer = self
            .request("GET", &self.login_link(), &[], b"")
            .expect(303);
        let cookie = answer.header("set-cookie").unwrap();
        cookie.split(';').next().unwrap().to_owned()
    }

    /// Ends the server as Ctrl-C does.
    pub(crate) fn stop(mut self) -> (ProjectFixture, CallResult) {
        send("INT", self.pid());
        let result = wait(self.child.take().unwrap());
        let fixture = std::mem::replace(&mut self.fixture, ProjectFixture::bare());
        (fixture, result)
    }

    /// Kills the server.
    pub(crate) fn kill(mut self) -> ProjectFixture {
        send("KILL", self.pid());
        drop(wait(self.child.take().unwrap()));
        std::mem::replace(&mut self.fixture, ProjectFixture::bare())
    }

    pub(crate) fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.address).unwrap();
        stream
            .set_read_timeout(Some(Duration::from_secs(60)))
            .unwrap();
        stream
    }

    /// Sends these bytes and reads one answer.
    pub(crate) fn send_raw(&self, bytes: &[u8]) -> Answer {
        let mut stream = self.connect();
        // A server that refuses early may close before all is written.
        drop(stream.write_all(bytes));
        read_answer(&mut BufReader::new(stream)).unwrap()
    }

    /// Sends one request with these headers.
    pub(crate) fn request(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &[u8],
    ) -> Answer {
        self.send_raw(&self.request_bytes(method, path, headers, body))
    }

    /// Sends one request and returns all that comes on its connection, as text.
    pub(crate) fn request_to_end(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &[u8],
    ) -> String {
        let mut stream = self.connect();
        stream
            .write_all(&self.request_bytes(method, path, headers, body))
            .unwrap();
        let mut all = Vec::new();
        stream.read_to_end(&mut all).unwrap();
        String::from_utf8_lossy(&all).into_owned()
    }

    pub(crate) fn request_bytes(
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

    /// Sends `GET` with this token.
    pub(crate) fn get_as(&self, token: &str, path: &str) -> Answer {
        let bearer = format!("Bearer {token}");
        self.request("GET", path, &[("authorization", &bearer)], b"")
    }

    pub(crate) fn get(&self, path: &str) -> Answer {
        self.get_as(&self.token, path)
    }

    /// Sends JSON with this token.
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

    /// Returns the items of a list.
    #[track_caller]
    pub(crate) fn items(&self, path: &str) -> Vec<Value> {
        let list = self.get(path).expect(200).json();
        list["items"].as_array().unwrap().clone()
    }

    /// Waits until this number of other requests is in flight.
    #[track_caller]
    pub(crate) fn wait_for_in_flight(&self, count: usize) {
        // The request for the metrics is in flight itself.
        let line = format!("heirloom_requests_in_flight {}\n", count + 1);
        wait_until(&line, || {
            let metrics = self.get("/metrics").expect(200);
            String::from_utf8(metrics.body).unwrap().contains(&line)
        });
    }

    /// Fails unless the server answers.
    #[track_caller]
    pub(crate) fn assert_alive(&self) {
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

/// Reads one answer; `None` if the connection ends before it.
pub(crate) fn read_answer(stream: &mut impl BufRead) -> Option<Answer> {
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
