//! Idempotency keys: a repeated request with the same `Idempotency-Key` gets the first answer and has no second
//! effect.
//!
//! Answers are kept in memory, limited in number and bytes. A request with a key runs to its end even if the client
//! disconnects, because the client will retry.

use crate::access::BodyBytes;
use crate::{Access, App, Problem};
use axum::body::{Body, Bytes, to_bytes};
use axum::extract::{Request, State};
use axum::http::response::Parts;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use blake3::Hash;
use heirloom_model::limits::{
    IDEMPOTENCY_BYTES_MAX, IDEMPOTENCY_KEPT, IDEMPOTENCY_KEY_BYTES_MAX, SERVER_BODY_BYTES_MAX,
};
use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::OnceCell;

/// Request header with the key.
const KEY_HEADER: &str = "idempotency-key";
/// Response header that marks a replayed answer.
const REPLAYED_HEADER: &str = "idempotency-replayed";

/// Stored response.
struct StoredResponse {
    status: StatusCode,
    headers: HeaderMap,
    body: Bytes,
}

impl StoredResponse {
    fn to_response(&self) -> Response {
        let mut answer = Response::new(Body::from(self.body.clone()));
        *answer.status_mut() = self.status;
        *answer.headers_mut() = self.headers.clone();
        answer
    }
}

/// Entry of one key: the hash of the request, and the response when it exists.
struct KeyEntry {
    request_hash: Hash,
    response: OnceCell<StoredResponse>,
}

/// Cache key: holder of the access, and idempotency key.
type EntryKey = (Arc<str>, String);

/// Cache of responses by idempotency key, oldest dropped first.
#[derive(Default)]
pub(crate) struct IdempotencyCache {
    state: Mutex<CacheState>,
}

#[derive(Default)]
struct CacheState {
    entries: HashMap<EntryKey, Arc<KeyEntry>>,
    order: VecDeque<(EntryKey, usize)>,
    bytes: usize,
}

impl IdempotencyCache {
    fn entry(&self, name: &EntryKey, hash: Hash) -> Arc<KeyEntry> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(entry) = state.entries.get(name) {
            return Arc::clone(entry);
        }
        let entry = Arc::new(KeyEntry {
            request_hash: hash,
            response: OnceCell::new(),
        });
        state.entries.insert(name.clone(), Arc::clone(&entry));
        entry
    }

    /// Counts a stored response and drops the oldest ones over the limits.
    fn evict_over_limits(&self, name: EntryKey, bytes: usize) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.order.push_back((name, bytes));
        state.bytes += bytes;
        while state.order.len() > IDEMPOTENCY_KEPT || state.bytes > IDEMPOTENCY_BYTES_MAX {
            let Some((oldest, bytes)) = state.order.pop_front() else {
                return;
            };
            state.bytes -= bytes;
            state.entries.remove(&oldest);
        }
    }

    /// Removes an entry without a stored response: the next request with its key runs.
    fn forget(&self, name: &EntryKey) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.entries.remove(name);
    }
}

/// Middleware: replays the stored response of a key, or runs the request and stores its response.
pub(crate) async fn replay_or_run(
    State(app): State<App>,
    request: Request,
    next: Next,
) -> Response {
    let is_safe = [Method::GET, Method::HEAD, Method::OPTIONS].contains(request.method());
    let Some(key) = request.headers().get(KEY_HEADER).filter(|_| !is_safe) else {
        return next.run(request).await;
    };
    let holder = request.extensions().get::<Access>();
    let (Ok(key), Some(access)) = (key.to_str(), holder) else {
        return bad_key().into_response();
    };
    if key.is_empty() || key.len() > IDEMPOTENCY_KEY_BYTES_MAX {
        return bad_key().into_response();
    }
    let name = (Arc::clone(&access.holder), key.to_owned());
    let hash = request_hash(&request);
    let entry = app.idempotent_responses().entry(&name, hash);
    if entry.request_hash != hash {
        return Problem::new(
            StatusCode::UNPROCESSABLE_ENTITY,
            "this `Idempotency-Key` was used for another request",
        )
        .hint("use a new key for each operation")
        .into_response();
    }
    // A separate task, so that a disconnecting client does not cancel it.
    let done = tokio::spawn(async move {
        let mut is_new = false;
        let answer = entry.response.get_or_try_init(|| async {
            is_new = true;
            store_response(next.run(request).await).await
        });
        let answer = answer.await.map(StoredResponse::to_response);
        (answer, is_new, name)
    });
    let Ok((answer, is_new, name)) = done.await else {
        return Problem::new(
            StatusCode::INTERNAL_SERVER_ERROR,
            "the request ended without an answer",
        )
        .into_response();
    };
    match answer {
        Ok(mut answer) if !is_new => {
            (answer.headers_mut()).insert(REPLAYED_HEADER, HeaderValue::from_static("true"));
            answer
        }
        Ok(answer) => {
            let bytes = entry_bytes(&answer);
            app.idempotent_responses().evict_over_limits(name, bytes);
            answer
        }
        Err(failed) => {
            app.idempotent_responses().forget(&name);
            *failed
        }
    }
}

fn bad_key() -> Problem {
    Problem::new(
        StatusCode::BAD_REQUEST,
        format!("an `Idempotency-Key` has 1 to {IDEMPOTENCY_KEY_BYTES_MAX} visible characters"),
    )
}

fn entry_bytes(answer: &Response) -> usize {
    let size = axum::body::HttpBody::size_hint(answer.body()).exact();
    // Approximate overhead of an entry, in bytes.
    usize::try_from(size.unwrap_or(0)).unwrap_or(0) + 500
}

/// Hashes method, address and body of a request.
fn request_hash(request: &Request) -> Hash {
    let mut hasher = blake3::Hasher::new();
    hasher.update(request.method().as_str().as_bytes());
    hasher.update(b" ");
    hasher.update(request.uri().to_string().as_bytes());
    hasher.update(b"\n");
    if let Some(body) = request.extensions().get::<BodyBytes>() {
        hasher.update(&body.0);
    }
    hasher.finalize()
}

/// Reads a response for storage. Errors: returns a server error unstored, because a retry may succeed.
async fn store_response(response: Response) -> Result<StoredResponse, Box<Response>> {
    let is_transient = response.status().is_server_error();
    let (parts, body) = response.into_parts();
    let body = match to_bytes(body, SERVER_BODY_BYTES_MAX).await {
        Ok(body) => body,
        Err(error) => {
            let problem = Problem::new(StatusCode::INTERNAL_SERVER_ERROR, error.to_string());
            return Err(Box::new(problem.into_response()));
        }
    };
    let Parts {
        status, headers, ..
    } = parts;
    let given = StoredResponse {
        status,
        headers,
        body,
    };
    match is_transient {
        true => Err(Box::new(given.to_response())),
        false => Ok(given),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn idempotency_cache_respects_limits() {
        let answers = IdempotencyCache::default();
        let holder: Arc<str> = Arc::from("token a");
        let name = |n: usize| (Arc::clone(&holder), n.to_string());
        let hash = blake3::hash(b"x");
        for n in 0..=IDEMPOTENCY_KEPT {
            answers.entry(&name(n), hash);
            answers.evict_over_limits(name(n), 1);
        }
        let is_kept = |n: usize| {
            let state = answers.state.lock().unwrap();
            state.entries.contains_key(&name(n))
        };
        assert!(!is_kept(0));
        assert!(is_kept(1));
        assert!(is_kept(IDEMPOTENCY_KEPT));
        answers.entry(&name(0), hash);
        answers.evict_over_limits(name(0), IDEMPOTENCY_BYTES_MAX);
        assert!(is_kept(0), "the size is at the limit");
        assert!(!is_kept(IDEMPOTENCY_KEPT));
        answers.evict_over_limits(name(1), 1);
        assert!(!is_kept(0), "one byte more");
    }
}
