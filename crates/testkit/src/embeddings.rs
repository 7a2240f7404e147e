//! A local service that speaks the embeddings protocol of OpenAI, and goes wrong on purpose.

use std::collections::VecDeque;
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use serde_json::{Value, json};

/// What goes wrong with one request.
#[derive(Clone, Debug, PartialEq)]
pub enum Trouble {
    /// This status, with a body that repeats the request's `Authorization`.
    Status(u16),
    /// This status, with this `Retry-After`.
    RetryAfter(u16, String),
    /// This body, with status 200.
    Body(String),
    /// One vector less than there are texts.
    OneLess,
    /// Vectors of so many numbers.
    Dims(usize),
    /// Vectors of nothing but zeros.
    Zeros,
    /// A body of so many bytes.
    Huge(usize),
    /// Half of an answer, then the end.
    Cut,
    /// No answer.
    Hang,
    /// An answer that comes this much later.
    Late(Duration),
}

/// One request as it arrived.
#[derive(Clone, Debug, PartialEq)]
pub struct EmbeddingsRequest {
    /// `POST /v1/embeddings`.
    pub line: String,
    /// The `Authorization` header; empty if there was none.
    pub authorization: String,
    /// The model that was asked for.
    pub model: String,
    /// The texts.
    pub texts: Vec<String>,
}

/// An embeddings service on loopback: a text's vector is the sum of a direction for each of its words.
///
/// Words that were said to mean the same have the same direction, so that a test knows what is near. Every model
/// has directions of its own. Stops on drop.
#[derive(Debug)]
pub struct EmbeddingService {
    address: SocketAddr,
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug)]
struct Shared {
    dims: usize,
    same: Vec<Vec<String>>,
    troubles: Mutex<VecDeque<Trouble>>,
    every: Mutex<Option<Trouble>>,
    requests: Mutex<Vec<EmbeddingsRequest>>,
    stopped: AtomicBool,
}

impl EmbeddingService {
    /// Starts on a free port. `same` are groups of words that mean the same.
    pub fn start(dims: usize, same: &[&[&str]]) -> io::Result<EmbeddingService> {
        let listener = TcpListener::bind(("127.0.0.1", 0))?;
        let address = listener.local_addr()?;
        let owned = |group: &&[&str]| group.iter().map(ToString::to_string).collect();
        let shared = Arc::new(Shared {
            dims,
            same: same.iter().map(owned).collect(),
            troubles: Mutex::default(),
            every: Mutex::default(),
            requests: Mutex::default(),
            stopped: AtomicBool::new(false),
        });
        let state = Arc::clone(&shared);
        let thread = std::thread::Builder::new().name("embeddings".to_owned());
        let thread = thread.spawn(move || accept(&listener, &state))?;
        Ok(EmbeddingService {
            address,
            shared,
            thread: Some(thread),
        })
    }

    /// What stands before `/embeddings`.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// What happens to the next requests, in this order; those behind them are answered.
    pub fn next(&self, troubles: &[Trouble]) {
        lock(&self.shared.troubles).extend(troubles.iter().cloned());
    }

    /// What happens to every request from now on.
    pub fn every(&self, trouble: Option<Trouble>) {
        *lock(&self.shared.every) = trouble;
    }

    /// Every request so far, in order of arrival.
    #[must_use]
    pub fn requests(&self) -> Vec<EmbeddingsRequest> {
        lock(&self.shared.requests).clone()
    }
}

impl Drop for EmbeddingService {
    fn drop(&mut self) {
        self.shared.stopped.store(true, Ordering::SeqCst);
        // Wakes the thread that waits for a connection; one that cannot be woken ends with the process.
        let is_awake = TcpStream::connect(self.address).is_ok();
        if let Some(thread) = self.thread.take().filter(|_| is_awake) {
            let _ = thread.join();
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn accept(listener: &TcpListener, shared: &Arc<Shared>) {
    for stream in listener.incoming() {
        if shared.stopped.load(Ordering::SeqCst) {
            return;
        }
        let Ok(stream) = stream else { continue };
        let shared = Arc::clone(shared);
        // A client that went away is its own test's business.
        std::thread::spawn(move || drop(answer(stream, &shared)));
    }
}

fn answer(mut stream: TcpStream, shared: &Shared) -> io::Result<()> {
    let Some(request) = read(&mut stream)? else {
        return Ok(());
    };
    lock(&shared.requests).push(request.clone());
    let trouble = lock(&shared.troubles).pop_front();
    let trouble = trouble.or_else(|| lock(&shared.every).clone());
    let good = |dims: usize| vectors(&request, dims, &shared.same);
    let whole = |answer: &Value| answer.to_string();
    let (status, extra, body) = match trouble {
        None => (200, String::new(), whole(&good(shared.dims))),
        Some(Trouble::Late(pause)) => {
            std::thread::sleep(pause);
            (200, String::new(), whole(&good(shared.dims)))
        }
        Some(Trouble::Status(status)) => {
            let said = format!("refused, you sent {}", request.authorization);
            let body = json!({"error": {"message": said, "type": "any"}});
            (
                status,
                "Location: http://127.0.0.1:1/elsewhere\r\n".to_owned(),
                body.to_string(),
            )
        }
        Some(Trouble::RetryAfter(status, after)) => {
            (status, format!("Retry-After: {after}\r\n"), String::new())
        }
        Some(Trouble::Body(body)) => (200, String::new(), body),
        Some(Trouble::OneLess) => {
            let mut answer = good(shared.dims);
            answer["data"].as_array_mut().map(Vec::pop);
            (200, String::new(), whole(&answer))
        }
        Some(Trouble::Dims(dims)) => (200, String::new(), whole(&good(dims))),
        Some(Trouble::Zeros) => {
            let mut answer = good(1);
            for item in answer["data"].as_array_mut().into_iter().flatten() {
                item["embedding"] = json!(vec![0; shared.dims]);
            }
            (200, String::new(), whole(&answer))
        }
        Some(Trouble::Huge(bytes)) => (200, String::new(), " ".repeat(bytes)),
        Some(Trouble::Cut) => {
            let body = whole(&good(shared.dims));
            let head = head(200, "", body.len());
            stream.write_all(head.as_bytes())?;
            return stream.write_all(&body.as_bytes()[..body.len() / 2]);
        }
        Some(Trouble::Hang) => {
            // Until the client gives up: then there is nothing more to read.
            let mut rest = [0; 64];
            while stream.read(&mut rest)? > 0 {}
            return Ok(());
        }
    };
    stream.write_all(head(status, &extra, body.len()).as_bytes())?;
    stream.write_all(body.as_bytes())
}

fn head(status: u16, extra: &str, length: usize) -> String {
    format!(
        "HTTP/1.1 {status} Any\r\nContent-Type: application/json\r\nConnection: close\r\n{extra}\
         Content-Length: {length}\r\n\r\n"
    )
}

/// The request; none for a connection that says nothing.
fn read(stream: &mut TcpStream) -> io::Result<Option<EmbeddingsRequest>> {
    let mut bytes = Vec::new();
    let mut chunk = [0; 8_192];
    let end = loop {
        if let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
            break end;
        }
        let read = stream.read(&mut chunk)?;
        if read == 0 {
            return Ok(None);
        }
        bytes.extend_from_slice(&chunk[..read]);
    };
    let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
    let header = |wanted: &str| {
        let mut lines = head.lines().filter_map(|line| line.split_once(':'));
        let found = lines.find(|(name, _)| name.eq_ignore_ascii_case(wanted));
        found.map_or("", |(_, value)| value.trim())
    };
    let length: usize = header("content-length").parse().unwrap_or(0);
    let mut body = bytes.split_off(end + 4);
    while body.len() < length {
        let read = stream.read(&mut chunk)?;
        if read == 0 {
            return Ok(None);
        }
        body.extend_from_slice(&chunk[..read]);
    }
    let body: Value = serde_json::from_slice(&body).unwrap_or(Value::Null);
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let line = head.lines().next().unwrap_or_default();
    Ok(Some(EmbeddingsRequest {
        line: line.trim_end_matches(" HTTP/1.1").to_owned(),
        authorization: header("authorization").to_owned(),
        model: text(&body["model"]),
        texts: body["input"]
            .as_array()
            .map_or_else(Vec::new, |texts| texts.iter().map(text).collect()),
    }))
}

fn vectors(request: &EmbeddingsRequest, dims: usize, same: &[Vec<String>]) -> Value {
    let item = |(index, text): (usize, &String)| json!({"object": "embedding", "index": index, "embedding": vector(&request.model, text, dims, same)});
    // In another order than they were asked for, as the protocol allows.
    let data: Vec<Value> = request.texts.iter().enumerate().rev().map(item).collect();
    json!({
        "object": "list",
        "data": data,
        "model": request.model,
        "usage": {"prompt_tokens": 1, "total_tokens": 1},
    })
}

/// The sum of the directions of a text's words.
fn vector(model: &str, text: &str, dims: usize, same: &[Vec<String>]) -> Vec<f64> {
    // Not nothing, whatever the text is.
    let mut sum = vec![0.01; dims];
    for word in text.split(|c: char| !c.is_alphanumeric()) {
        let word = word.to_lowercase();
        let group = same.iter().find(|group| group.contains(&word));
        let meant = group.and_then(|group| group.first()).unwrap_or(&word);
        if meant.is_empty() {
            continue;
        }
        let mut state = seed(model) ^ seed(meant);
        for number in &mut sum {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            *number += f64::from((state >> 40) as u32) / f64::from(1 << 24) - 0.5;
        }
    }
    sum
}

/// FNV-1a.
fn seed(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}
