//! `ETag` and `If-None-Match`: who has an answer already gets none.

use axum::body::{Body, HttpBody, to_bytes};
use axum::extract::Request;
use axum::http::{HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

/// Answers over this size get no tag of their own.
const TAGGED_BYTES_MAX: usize = 1 << 20;

/// Gives answers of `GET` their tags.
pub(crate) async fn tag(request: Request, next: Next) -> Response {
    if request.method() != Method::GET {
        return next.run(request).await;
    }
    let known = request.headers().get(header::IF_NONE_MATCH).cloned();
    let mut answer = next.run(request).await;
    if answer.status() != StatusCode::OK {
        return answer;
    }
    let sort = answer.headers().get(header::CONTENT_TYPE);
    let is_json = sort.is_some_and(|sort| sort.as_bytes().starts_with(b"application/json"));
    let size = answer.body().size_hint().exact();
    let is_small = size.is_some_and(|size| size <= TAGGED_BYTES_MAX as u64);
    if !answer.headers().contains_key(header::ETAG) && is_json && is_small {
        let (mut parts, body) = answer.into_parts();
        let body = to_bytes(body, TAGGED_BYTES_MAX).await.unwrap_or_default();
        let tag = format!("W/\"{}\"", &blake3::hash(&body).to_hex()[..32]);
        if let Ok(tag) = HeaderValue::from_str(&tag) {
            parts.headers.insert(header::ETAG, tag);
        }
        answer = Response::from_parts(parts, Body::from(body));
    }
    let tag = answer.headers().get(header::ETAG).cloned();
    match (known, tag) {
        (Some(known), Some(tag)) if is_known(&known, &tag) => {
            ([(header::ETAG, tag)], StatusCode::NOT_MODIFIED).into_response()
        }
        _ => answer,
    }
}

fn is_known(known: &HeaderValue, tag: &HeaderValue) -> bool {
    let strong = |tag: &str| tag.trim().trim_start_matches("W/").to_owned();
    let (Ok(known), Ok(tag)) = (known.to_str(), tag.to_str()) else {
        return false;
    };
    known
        .split(',')
        .any(|one| one.trim() == "*" || strong(one) == strong(tag))
}
