//! Local service with the embeddings protocol of OpenAI and fault injection.

use std::collections::VecDeque;
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use serde_json::{Value, json};

/// Injected fault of one request.
#[derive(Clone, Debug, PartialEq)]
pub enum EmbeddingFault {
    /// This status, with a body that repeats the request's `Authorization`.
    Status(u16),
    /// This status, with this `Retry-After`.
    RetryAfter(u16, String),
    /// This body, with status 200.
    Body(String),
    /// One vector fewer than texts.
    MissingVector,
    /// Vectors of this dimension.
    Dims(usize),
    /// Vectors of zeros.
    Zeros,
    /// A body of this length, bytes.
    Huge(usize),
    /// Half of a response, then a closed connection.
    Cut,
    /// No response.
    Hang,
    /// A delayed response.
    Late(Duration),
}

/// A recorded request.
#[derive(Clone, Debug, PartialEq)]
pub struct EmbeddingsRequest {
    /// `POST /v1/embeddings`.
    pub line: String,
    /// The `Authorization` header; empty if there was none.
    pub authorization: String,
    /// Requested model.
    pub model: String,
    /// The texts.
    pub texts: Vec<String>,
}

/// An embeddings service on loopback: a text's vector is the sum of a direction for each of its words.
///
/// Synonyms have the same direction, so that a test knows which texts are similar. Every model
/// has its own directions. The service stops on drop.
#[derive(Debug)]
pub struct EmbeddingService {
    address: SocketAddr,
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug)]
struct Shared {
    dims: usize,
    synonyms: Vec<Vec<String>>,
    troubles: Mutex<VecDeque<EmbeddingFault>>,
    every: Mutex<Option<EmbeddingFault>>,
    requests: Mutex<Vec<EmbeddingsRequest>>,
    stopped: AtomicBool,
}

impl EmbeddingService {
    /// Starts on a free port. Words in one group of `synonyms` have the same meaning.
    pub fn start(dims: usize, same: &[&[&str]]) -> io::Result<EmbeddingService> {
        let listener = TcpListener::bind(("127.0.0.1", 0))?;
        let address = listener.local_addr()?;
        let owned = |group: &&[&str]| group.iter().map(ToString::to_string).collect();
        let shared = Arc::new(Shared {
            dims,
            synonyms: same.iter().map(owned).collect(),
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

    /// Returns the base address before `/embeddings`.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// Injects faults into the next requests, in this order; later ones succeed.
    pub fn fail_next(&self, troubles: &[EmbeddingFault]) {
        lock(&self.shared.troubles).extend(troubles.iter().cloned());
    }

    /// Injects a fault into every request from now on.
    pub fn fail_every(&self, trouble: Option<EmbeddingFault>) {
        *lock(&self.shared.every) = trouble;
    }

    /// Returns every request so far, in order of arrival.
    #[must_use]
    pub fn requests(&self) -> Vec<EmbeddingsRequest> {
        lock(&self.shared.requests).clone()
    }
}

impl Drop for EmbeddingService {
    fn drop(&mut self) {
        self.shared.stopped.store(true, Ordering::SeqCst);
        // Wakes the thread that waits for a connection; if that fails, it ends with the process.
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
        // A disconnected client is a matter of its own test.
        std::thread::spawn(move || drop(serve_request(stream, &shared)));
    }
}

fn serve_request(mut stream: TcpStream, shared: &Shared) -> io::Result<()> {
    let Some(request) = read_request(&mut stream)? else {
        return Ok(());
    };
    lock(&shared.requests).push(request.clone());
    let trouble = lock(&shared.troubles).pop_front();
    let trouble = trouble.or_else(|| lock(&shared.every).clone());
    let good = |dims: usize| vectors_json(&request, dims, &shared.synonyms);
    let whole = |answer: &Value| answer.to_string();
    let (status, extra, body) = match trouble {
        None => (200, String::new(), whole(&good(shared.dims))),
        Some(EmbeddingFault::Late(pause)) => {
            std::thread::sleep(pause);
            (200, String::new(), whole(&good(shared.dims)))
        }
        Some(EmbeddingFault::Status(status)) => {
            let message = format!("refused, you sent {}", request.authorization);
            let body = json!({"error": {"message": message, "type": "any"}});
            (
                status,
                "Location: http://127.0.0.1:1/elsewhere\r\n".to_owned(),
                body.to_string(),
            )
        }
        Some(EmbeddingFault::RetryAfter(status, after)) => {
            (status, format!("Retry-After: {after}\r\n"), String::new())
        }
        Some(EmbeddingFault::Body(body)) => (200, String::new(), body),
        Some(EmbeddingFault::MissingVector) => {
            let mut answer = good(shared.dims);
            answer["data"].as_array_mut().map(Vec::pop);
            (200, String::new(), whole(&answer))
        }
        Some(EmbeddingFault::Dims(dims)) => (200, String::new(), whole(&good(dims))),
        Some(EmbeddingFault::Zeros) => {
            let mut answer = good(1);
            for item in answer["data"].as_array_mut().into_iter().flatten() {
                item["embedding"] = json!(vec![0; shared.dims]);
            }
            (200, String::new(), whole(&answer))
        }
        Some(EmbeddingFault::Huge(bytes)) => (200, String::new(), " ".repeat(bytes)),
        Some(EmbeddingFault::Cut) => {
            let body = whole(&good(shared.dims));
            let head = head(200, "", body.len());
            stream.write_all(head.as_bytes())?;
            return stream.write_all(&body.as_bytes()[..body.len() / 2]);
        }
        Some(EmbeddingFault::Hang) => {
            // Waits until the client closes the connection.
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

/// Reads the request; `None` for a connection without one.
fn read_request(stream: &mut TcpStream) -> io::Result<Option<EmbeddingsRequest>> {
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

fn vectors_json(request: &EmbeddingsRequest, dims: usize, same: &[Vec<String>]) -> Value {
    let item = |(index, text): (usize, &String)| json!({"object": "embedding", "index": index, "embedding": vector(&request.model, text, dims, same)});
    // Reversed order, which the protocol allows.
    let data: Vec<Value> = request.texts.iter().enumerate().rev().map(item).collect();
    json!({
        "object": "list",
        "data": data,
        "model": request.model,
        "usage": {"prompt_tokens": 1, "total_tokens": 1},
    })
}

/// Returns the sum of the directions of a text's words.
fn vector(model: &str, text: &str, dims: usize, same: &[Vec<String>]) -> Vec<f64> {
    // Never zero, whatever the text is.
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

/// Hashes with FNV-1a.
fn seed(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}
