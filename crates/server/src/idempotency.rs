//! Idempotency keys: a repeated request with the same `Idempotency-Key` gets the first answer and has no second
//! effect.
//!
//! Answers are kept in memory, limited in number and bytes. Requests that can be repeated without a second effect have
//! large answers (a compacted conversation); their answers have an own limit, so that they do not evict those of
//! writes, and are computed again if they are not kept. A request with a key runs to its end even if the client
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
    IDEMPOTENCY_ANSWER_BYTES_MAX, IDEMPOTENCY_BYTES_MAX, IDEMPOTENCY_KEPT,
    IDEMPOTENCY_KEY_BYTES_MAX, IDEMPOTENCY_REPEATABLE_BYTES_MAX, SERVER_BODY_BYTES_MAX,
};
use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::OnceCell;

/// Request header with the key.
const KEY_HEADER: &str = "idempotency-key";
/// Response header that marks a replayed answer.
const REPLAYED_HEADER: &str = "idempotency-replayed";

/// Last parts of the paths of repeatable requests: what they store is identified by its content.
const REPEATABLE: [&str; 3] = ["compact", "context", "recall"];
/// Approximate overhead of an entry, bytes.
const ENTRY_OVERHEAD: usize = 500;

/// Effect of a second run of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Repetition {
    /// None: the same answer again.
    Harmless,
    /// A second record, or a second change.
    Harmful,
}

impl Repetition {
    fn of(request: &Request) -> Self {
        let last = request.uri().path().rsplit('/').next();
        match last.is_some_and(|last| REPEATABLE.contains(&last)) {
            true => Self::Harmless,
            false => Self::Harmful,
        }
    }

    /// Returns the total size of the responses that are kept, bytes.
    fn bytes_max(self) -> usize {
        match self {
            Self::Harmless => IDEMPOTENCY_REPEATABLE_BYTES_MAX,
            Self::Harmful => IDEMPOTENCY_BYTES_MAX - IDEMPOTENCY_REPEATABLE_BYTES_MAX,
        }
    }
}

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
    writes: EvictionQueue,
    repeatable: EvictionQueue,
}

/// Stored responses with their sizes, oldest first.
#[derive(Default)]
struct EvictionQueue {
    order: VecDeque<(EntryKey, usize)>,
    bytes: usize,
}

impl EvictionQueue {
    /// Adds a response, and returns the oldest ones over the limits.
    fn push(&mut self, name: EntryKey, bytes: usize, bytes_max: usize) -> Vec<EntryKey> {
        self.order.push_back((name, bytes));
        self.bytes += bytes;
        let mut evicted = Vec::new();
        while self.order.len() > IDEMPOTENCY_KEPT || self.bytes > bytes_max {
            let Some((oldest, bytes)) = self.order.pop_front() else {
                break;
            };
            self.bytes -= bytes;
            evicted.push(oldest);
        }
        evicted
    }
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

    /// Counts a stored response and drops the oldest ones over the limits, of the same repetition only.
    fn evict_over_limits(&self, name: EntryKey, bytes: usize, repetition: Repetition) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let queue = match repetition {
            Repetition::Harmless => &mut state.repeatable,
            Repetition::Harmful => &mut state.writes,
        };
        for evicted in queue.push(name, bytes, repetition.bytes_max()) {
            state.entries.remove(&evicted);
        }
    }

    /// Keeps `response` instead of the one of an entry.
    fn replace(&self, name: &EntryKey, request_hash: Hash, response: StoredResponse) {
        let entry = KeyEntry {
            request_hash,
            response: OnceCell::new_with(Some(response)),
        };
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.entries.insert(name.clone(), Arc::new(entry));
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
    let repetition = Repetition::of(&request);
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
            let size = (answer.status(), body_bytes(&answer));
            keep_within_limits(app.idempotent_responses(), name, hash, repetition, size).await;
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

/// Counts the stored response of an entry. One that is too large is not kept: a repeatable request runs again, another
/// one gets a problem instead.
async fn keep_within_limits(
    cache: &IdempotencyCache,
    name: EntryKey,
    hash: Hash,
    repetition: Repetition,
    (status, bytes): (StatusCode, usize),
) {
    if bytes <= IDEMPOTENCY_ANSWER_BYTES_MAX {
        cache.evict_over_limits(name, bytes + ENTRY_OVERHEAD, repetition);
        return;
    }
    if repetition == Repetition::Harmless {
        cache.forget(&name);
        return;
    }
    let problem = Problem::new(
        StatusCode::CONFLICT,
        format!(
            "the request was carried out with status {}; its answer was too large to keep",
            status
        ),
    )
    .hint("read the result with another request");
    if let Ok(problem) = store_response(problem.into_response()).await {
        let bytes = problem.body.len() + ENTRY_OVERHEAD;
        cache.replace(&name, hash, problem);
        cache.evict_over_limits(name, bytes, repetition);
    }
}

/// Returns the size of the body of a stored response.
fn body_bytes(answer: &Response) -> usize {
    let size = axum::body::HttpBody::size_hint(answer.body()).exact();
    usize::try_from(size.unwrap_or(0)).unwrap_or(0)
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
    use Repetition::{Harmful, Harmless};

    fn name(n: usize) -> EntryKey {
        (Arc::from("token a"), n.to_string())
    }

    fn is_kept(answers: &IdempotencyCache, n: usize) -> bool {
        let state = answers.state.lock().unwrap();
        state.entries.contains_key(&name(n))
    }

    fn store(answers: &IdempotencyCache, n: usize, bytes: usize, repetition: Repetition) {
        answers.entry(&name(n), blake3::hash(b"x"));
        answers.evict_over_limits(name(n), bytes, repetition);
    }

    #[test]
    fn idempotency_cache_respects_limits() {
        let answers = IdempotencyCache::default();
        for n in 0..=IDEMPOTENCY_KEPT {
            store(&answers, n, 1, Harmful);
        }
        assert!(!is_kept(&answers, 0));
        assert!(is_kept(&answers, 1));
        assert!(is_kept(&answers, IDEMPOTENCY_KEPT));
        let bytes_max = IDEMPOTENCY_BYTES_MAX - IDEMPOTENCY_REPEATABLE_BYTES_MAX;
        store(&answers, 0, bytes_max, Harmful);
        assert!(is_kept(&answers, 0), "the size is at the limit");
        assert!(!is_kept(&answers, IDEMPOTENCY_KEPT));
        answers.evict_over_limits(name(1), 1, Harmful);
        assert!(!is_kept(&answers, 0), "one byte more");
    }

    #[test]
    fn responses_of_repeatable_requests_evict_only_each_other() {
        let answers = IdempotencyCache::default();
        store(&answers, 0, 1, Harmful);
        store(&answers, 1, IDEMPOTENCY_REPEATABLE_BYTES_MAX, Harmless);
        assert!(is_kept(&answers, 1), "the size is at the limit");
        store(&answers, 2, 1, Harmless);
        assert!(!is_kept(&answers, 1), "one byte more");
        for n in 3..100 {
            store(&answers, n, IDEMPOTENCY_REPEATABLE_BYTES_MAX, Harmless);
        }
        assert!(is_kept(&answers, 0));
    }

    #[tokio::test]
    async fn too_large_response_is_replaced_or_computed_again() {
        let answers = IdempotencyCache::default();
        let hash = blake3::hash(b"x");
        let rows = [
            (0, IDEMPOTENCY_ANSWER_BYTES_MAX, Harmful, Some(None)),
            (
                1,
                IDEMPOTENCY_ANSWER_BYTES_MAX + 1,
                Harmful,
                Some(Some(409)),
            ),
            (2, IDEMPOTENCY_ANSWER_BYTES_MAX, Harmless, Some(None)),
            (3, IDEMPOTENCY_ANSWER_BYTES_MAX + 1, Harmless, None),
        ];
        for (n, bytes, repetition, expected) in rows {
            answers.entry(&name(n), hash);
            let size = (StatusCode::OK, bytes);
            keep_within_limits(&answers, name(n), hash, repetition, size).await;
            let state = answers.state.lock().unwrap();
            let entry = state.entries.get(&name(n));
            let status = |entry: &Arc<KeyEntry>| {
                let response = entry.response.get();
                response.map(|response| response.status.as_u16())
            };
            assert_eq!(entry.map(status), expected, "{n}");
        }
    }

    #[test]
    fn repeatable_requests_are_known_by_their_path() {
        let of = |path: &str| {
            let request = Request::builder().uri(path).body(Body::empty());
            Repetition::of(&request.unwrap())
        };
        for path in [
            "/api/compact",
            "/api/memory/compact?project=p",
            "/api/recall",
        ] {
            assert_eq!(of(path), Harmless, "{path}");
        }
        for path in ["/api/memory/knowledge", "/api/compaction", "/api/notes"] {
            assert_eq!(of(path), Harmful, "{path}");
        }
    }
}
