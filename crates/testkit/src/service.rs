//! The local model service.

mod body;

use std::io;
use std::net::{SocketAddr, TcpListener};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{DefaultBodyLimit, State};
use axum::http::{HeaderMap, HeaderValue, Method, Response, Uri};
use serde_json::{Value, json};
use tokio::sync::oneshot;

use crate::model_script::{Reply, SIDE_TEXT, Script, Turn};
use crate::request::{Api, RecordedRequest};

/// Maximum size of a request, bytes: agent programs send whole conversations.
const REQUEST_BYTES_MAX: usize = 64 * 1024 * 1024;

/// Time that `drop` waits for requests in flight.
const STOP_WAIT: Duration = Duration::from_millis(200);

/// A model on loopback that follows a [`Script`].
///
/// Speaks Anthropic Messages, OpenAI Chat Completions, OpenAI Responses and
/// Gemini `generateContent`, each whole or streamed as the request asks, and
/// answers the side requests that real agent programs make. Stops on drop.
#[derive(Debug)]
pub struct ModelService {
    address: SocketAddr,
    shared: Arc<Shared>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl ModelService {
    /// Starts the service on a free loopback port, on a thread of its own.
    ///
    /// When this returns, requests are accepted. The error is that of binding
    /// the port or starting the thread.
    pub fn start(script: impl Into<Script>) -> io::Result<ModelService> {
        let listener = TcpListener::bind(("127.0.0.1", 0))?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let shared = Arc::new(Shared {
            script: Mutex::new(script.into()),
            requests: Mutex::new(Vec::new()),
            started: Instant::now(),
        });
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        let (stop, stopped) = oneshot::channel();
        let state = Arc::clone(&shared);
        let thread = std::thread::Builder::new()
            .name("model-service".to_owned())
            .spawn(move || {
                runtime.block_on(serve(listener, state, stopped));
                runtime.shutdown_timeout(STOP_WAIT);
            })?;
        Ok(ModelService {
            address,
            shared,
            stop: Some(stop),
            thread: Some(thread),
        })
    }

    /// `http://127.0.0.1:PORT`, without a path: what Claude Code and Gemini
    /// CLI take. OpenAI clients want [`ModelService::openai_base_url`].
    #[must_use]
    pub fn base_url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Returns the base URL with `/v1`, which OpenAI clients expect.
    #[must_use]
    pub fn openai_base_url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// Returns every request so far, in order of arrival, side requests too.
    #[must_use]
    pub fn requests(&self) -> Vec<RecordedRequest> {
        lock(&self.shared.requests).clone()
    }

    /// Returns the requests that the script answered, in order of arrival.
    #[must_use]
    pub fn main_requests(&self) -> Vec<RecordedRequest> {
        let mut requests = self.requests();
        requests.retain(|request| request.is_main);
        requests
    }
}

impl Drop for ModelService {
    fn drop(&mut self) {
        if let Some(stop) = self.stop.take() {
            // An error means that the thread has ended already.
            let _ = stop.send(());
        }
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

#[derive(Debug)]
struct Shared {
    script: Mutex<Script>,
    requests: Mutex<Vec<RecordedRequest>>,
    started: Instant,
}

/// Locks a mutex even if it is poisoned: a panic in a script's function must fail only that test.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

async fn serve(listener: TcpListener, shared: Arc<Shared>, stopped: oneshot::Receiver<()>) {
    // Fails only without a runtime; the client then sees a refused connection.
    let Ok(listener) = tokio::net::TcpListener::from_std(listener) else {
        return;
    };
    let router = Router::new()
        .fallback(answer)
        .layer(DefaultBodyLimit::max(REQUEST_BYTES_MAX))
        .with_state(shared);
    // Not axum's graceful shutdown: that waits for idle keep-alive connections.
    tokio::select! {
        _ = axum::serve(listener, router) => {}
        _ = stopped => {}
    }
}

async fn answer(
    State(shared): State<Arc<Shared>>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Response<Body> {
    let body: Value = serde_json::from_slice(&body).unwrap_or(Value::Null);
    let path = uri
        .path_and_query()
        .map_or_else(|| uri.path(), |path| path.as_str());
    let text = |value: &HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
    let headers = headers.iter();
    let headers = headers.map(|(name, value)| (name.as_str().to_owned(), text(value)));
    let at = shared.started.elapsed();
    let request = RecordedRequest::new(method.as_str(), path, body, headers.collect(), at);
    let serial = {
        let mut requests = lock(&shared.requests);
        requests.push(request.clone());
        requests.len()
    };
    if request.api == Api::Other {
        return body::side_route(&request);
    }
    let reply = if request.is_main {
        lock(&shared.script).next(&request)
    } else {
        side_turn(&request).into()
    };
    if let Reply::Delayed(_, pause) = &reply {
        tokio::time::sleep(*pause).await;
    }
    body::render(&request, &reply, serial)
}

/// Returns the answer to a side request with the shape of a main one.
fn side_turn(request: &RecordedRequest) -> Turn {
    match request.api {
        // A superset of the fields of Gemini CLI's small schemas.
        Api::Gemini => Turn::text(
            json!({"reasoning": SIDE_TEXT, "next_speaker": "user", "confidence": 0}).to_string(),
        ),
        Api::AnthropicMessages if request.body["output_config"].get("format").is_some() => {
            Turn::text(json!({"title": SIDE_TEXT, "isNewTopic": false}).to_string())
        }
        Api::AnthropicMessages | Api::ChatCompletions | Api::Responses | Api::Other => {
            Turn::text(SIDE_TEXT)
        }
    }
}
