//! ETag middleware: answers 304 Not Modified when the client's ETag matches.

use axum::body::{Body, HttpBody, to_bytes};
use axum::extract::Request;
use axum::http::{HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

/// Larger answers, in bytes, get no ETag.
const HASHED_BYTES_MAX: usize = 1 << 20;

/// Adds an ETag to small JSON answers of `GET`, and answers 304 to a matching `If-None-Match`.
pub(crate) async fn add_etag(request: Request, next: Next) -> Response {
    if request.method() != Method::GET {
        return next.run(request).await;
    }
    let client_tags = request.headers().get(header::IF_NONE_MATCH).cloned();
    let mut answer = next.run(request).await;
    if answer.status() != StatusCode::OK {
        return answer;
    }
    let sort = answer.headers().get(header::CONTENT_TYPE);
    let is_json = sort.is_some_and(|sort| sort.as_bytes().starts_with(b"application/json"));
    let size = answer.body().size_hint().exact();
    let is_small = size.is_some_and(|size| size <= HASHED_BYTES_MAX as u64);
    if !answer.headers().contains_key(header::ETAG) && is_json && is_small {
        let (mut parts, body) = answer.into_parts();
        let body = to_bytes(body, HASHED_BYTES_MAX).await.unwrap_or_default();
        let tag = format!("W/\"{}\"", &blake3::hash(&body).to_hex()[..32]);
        if let Ok(tag) = HeaderValue::from_str(&tag) {
            parts.headers.insert(header::ETAG, tag);
        }
        answer = Response::from_parts(parts, Body::from(body));
    }
    let tag = answer.headers().get(header::ETAG).cloned();
    match (client_tags, tag) {
        (Some(client_tags), Some(tag)) if has_match(&client_tags, &tag) => {
            ([(header::ETAG, tag)], StatusCode::NOT_MODIFIED).into_response()
        }
        _ => answer,
    }
}

fn has_match(client_tags: &HeaderValue, tag: &HeaderValue) -> bool {
    let strong = |tag: &str| tag.trim().trim_start_matches("W/").to_owned();
    let (Ok(client_tags), Ok(tag)) = (client_tags.to_str(), tag.to_str()) else {
        return false;
    };
    client_tags
        .split(',')
        .any(|one| one.trim() == "*" || strong(one) == strong(tag))
}
