//! Requests that come again: with an `Idempotency-Key` the same one gets the same answer, and does nothing.
//!
//! Answers are kept in memory, so many and no longer than the server runs. What was asked for under a key is finished
//! even if the client leaves: it will ask again.

use crate::access::Whole;
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

/// The header that names a request.
const KEY: &str = "idempotency-key";
/// Says that an answer was given before.
const AGAIN: &str = "idempotency-replayed";

/// An answer that was given.
struct Given {
    status: StatusCode,
    headers: HeaderMap,
    body: Bytes,
}

impl Given {
    fn again(&self) -> Response {
        let mut answer = Response::new(Body::from(self.body.clone()));
        *answer.status_mut() = self.status;
        *answer.headers_mut() = self.headers.clone();
        answer
    }
}

/// One key: what was asked under it, and the answer when there is one.
struct Entry {
    asked: Hash,
    given: OnceCell<Given>,
}

/// Who asked, and the key.
type Name = (Arc<str>, String);

/// The answers that are kept, oldest first.
#[derive(Default)]
pub(crate) struct Answers {
    kept: Mutex<Kept>,
}

#[derive(Default)]
struct Kept {
    entries: HashMap<Name, Arc<Entry>>,
    order: VecDeque<(Name, usize)>,
    bytes: usize,
}

impl Answers {
    fn entry(&self, name: &Name, asked: Hash) -> Arc<Entry> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(entry) = kept.entries.get(name) {
            return Arc::clone(entry);
        }
        let entry = Arc::new(Entry {
            asked,
            given: OnceCell::new(),
        });
        kept.entries.insert(name.clone(), Arc::clone(&entry));
        entry
    }

    /// Counts an answer, and forgets the oldest ones if there are too many.
    fn count(&self, name: Name, bytes: usize) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.order.push_back((name, bytes));
        kept.bytes += bytes;
        while kept.order.len() > IDEMPOTENCY_KEPT || kept.bytes > IDEMPOTENCY_BYTES_MAX {
            let Some((oldest, bytes)) = kept.order.pop_front() else {
                return;
            };
            kept.bytes -= bytes;
            kept.entries.remove(&oldest);
        }
    }

    /// A request without an answer to keep: the next one with its key is done.
    fn forget(&self, name: &Name) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.entries.remove(name);
    }
}

/// Answers a request that was answered before as it was then.
pub(crate) async fn once(State(app): State<App>, request: Request, next: Next) -> Response {
    let is_safe = [Method::GET, Method::HEAD, Method::OPTIONS].contains(request.method());
    let Some(key) = request.headers().get(KEY).filter(|_| !is_safe) else {
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
    let asked = asked(&request);
    let entry = app.answers().entry(&name, asked);
    if entry.asked != asked {
        return Problem::new(
            StatusCode::UNPROCESSABLE_ENTITY,
            "this `Idempotency-Key` was used for another request",
        )
        .hint("take a new key for each thing that is to be done once")
        .into_response();
    }
    // A task of its own: a client that leaves does not end it.
    let done = tokio::spawn(async move {
        let mut is_new = false;
        let answer = entry.given.get_or_try_init(|| async {
            is_new = true;
            answer(next.run(request).await).await
        });
        let answer = answer.await.map(Given::again);
        (answer, is_new, name)
    });
    let Ok((answer, is_new, name)) = done.await else {
        return Problem::new(StatusCode::INTERNAL_SERVER_ERROR, "the answer was given up")
            .into_response();
    };
    match answer {
        Ok(mut answer) if !is_new => {
            (answer.headers_mut()).insert(AGAIN, HeaderValue::from_static("true"));
            answer
        }
        Ok(answer) => {
            let bytes = http_body_bytes(&answer);
            app.answers().count(name, bytes);
            answer
        }
        Err(failed) => {
            app.answers().forget(&name);
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

fn http_body_bytes(answer: &Response) -> usize {
    let size = axum::body::HttpBody::size_hint(answer.body()).exact();
    // What an entry takes besides, roughly.
    usize::try_from(size.unwrap_or(0)).unwrap_or(0) + 500
}

/// What is asked: the method, the address and the body.
fn asked(request: &Request) -> Hash {
    let mut hasher = blake3::Hasher::new();
    hasher.update(request.method().as_str().as_bytes());
    hasher.update(b" ");
    hasher.update(request.uri().to_string().as_bytes());
    hasher.update(b"\n");
    if let Some(body) = request.extensions().get::<Whole>() {
        hasher.update(&body.0);
    }
    hasher.finalize()
}

/// An answer that may be given again. Errors: one that says that it may be otherwise next time.
async fn answer(response: Response) -> Result<Given, Box<Response>> {
    let passes = response.status().is_server_error();
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
    let given = Given {
        status,
        headers,
        body,
    };
    match passes {
        true => Err(Box::new(given.again())),
        false => Ok(given),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn so_many_answers_are_kept() {
        let answers = Answers::default();
        let holder: Arc<str> = Arc::from("token a");
        let name = |n: usize| (Arc::clone(&holder), n.to_string());
        let asked = blake3::hash(b"x");
        for n in 0..=IDEMPOTENCY_KEPT {
            answers.entry(&name(n), asked);
            answers.count(name(n), 1);
        }
        let is_kept = |n: usize| {
            let kept = answers.kept.lock().unwrap();
            kept.entries.contains_key(&name(n))
        };
        assert!(!is_kept(0));
        assert!(is_kept(1));
        assert!(is_kept(IDEMPOTENCY_KEPT));
        answers.entry(&name(0), asked);
        answers.count(name(0), IDEMPOTENCY_BYTES_MAX);
        assert!(is_kept(0), "as much as there may be");
        assert!(!is_kept(IDEMPOTENCY_KEPT));
        answers.count(name(1), 1);
        assert!(!is_kept(0), "one byte more");
    }
}
