//! Unencrypted HTTP at a port that speaks TLS: a clear answer instead of a broken connection.

use tokio::io::{AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;

/// Answer to every such request.
const ANSWER: &[u8] = b"HTTP/1.1 400 Bad Request\r\n\
    content-type: application/problem+json\r\n\
    connection: close\r\n\
    content-length: 117\r\n\
    \r\n\
    {\"type\":\"about:blank\",\"title\":\"Bad Request\",\"status\":400,\"detail\":\"this port speaks TLS: use https in place of http\"}";

/// Returns true if the first byte of a connection is a letter, with which a method begins and no TLS record.
pub(super) async fn is_plain(stream: &TcpStream) -> bool {
    let mut first = [0];
    let read = stream.peek(&mut first).await;
    matches!(read, Ok(1)) && first[0].is_ascii_alphabetic()
}

/// Answers an unencrypted request. The client may have left, which needs no answer.
pub(super) async fn refuse(stream: &mut (impl AsyncWrite + Unpin)) {
    if stream.write_all(ANSWER).await.is_ok() {
        drop(stream.shutdown().await);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn answer_has_its_length() {
        let mut written = Vec::new();
        refuse(&mut written).await;
        let text = String::from_utf8(written).unwrap();
        let (head, body) = text.split_once("\r\n\r\n").unwrap();
        let length = format!("content-length: {}\r\n", body.len());
        assert!(format!("{head}\r\n").contains(&length), "{length}");
        serde_json::from_str::<serde_json::Value>(body).unwrap();
    }
}
