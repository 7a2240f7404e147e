//! Parser of server-sent events.

use std::mem;

/// Event as it was sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ServerSentEvent {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) data: String,
}

/// Splits a byte stream into events. Lines end with CR, LF or both, and with nothing else.
#[derive(Debug, Default)]
pub(crate) struct EventParser {
    line: Vec<u8>,
    /// The last byte was a CR, which a LF may complete.
    ends_with_cr: bool,
    id: String,
    name: String,
    data: Option<String>,
}

impl EventParser {
    /// Returns the events that this chunk completes.
    pub(crate) fn feed(&mut self, chunk: &[u8]) -> Vec<ServerSentEvent> {
        let mut found = Vec::new();
        for &byte in chunk {
            let completes_cr = mem::take(&mut self.ends_with_cr) && byte == b'\n';
            match byte {
                b'\n' if completes_cr => {}
                b'\n' | b'\r' => {
                    self.ends_with_cr = byte == b'\r';
                    let line = mem::take(&mut self.line);
                    found.extend(self.take_line(&String::from_utf8_lossy(&line)));
                }
                _ => self.line.push(byte),
            }
        }
        found
    }

    fn take_line(&mut self, line: &str) -> Option<ServerSentEvent> {
        if line.is_empty() {
            let name = mem::take(&mut self.name);
            let data = self.data.take()?;
            return Some(ServerSentEvent {
                id: self.id.clone(),
                name,
                data,
            });
        }
        let (name, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match name {
            "id" if !value.contains('\0') => value.clone_into(&mut self.id),
            "event" => value.clone_into(&mut self.name),
            "data" => match &mut self.data {
                Some(data) => {
                    data.push('\n');
                    data.push_str(value);
                }
                None => self.data = Some(value.to_owned()),
            },
            _ => {}
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STREAM: &str = ": keep-alive\r\n\r\nid: 1-a\r\nevent: created\r\ndata: {\"x\":\"é\u{2028}\"}\r\n\r\n\
        id:2-b\rdata: one\rdata:  two\r\rid: 3\n\ndata\n\nevent: lost\ndata: cut";

    #[test]
    fn events_are_equal_for_every_split_of_the_stream() {
        let event = |id: &str, name: &str, data: &str| ServerSentEvent {
            id: id.to_owned(),
            name: name.to_owned(),
            data: data.to_owned(),
        };
        let expected = [
            event("1-a", "created", "{\"x\":\"é\u{2028}\"}"),
            event("2-b", "", "one\n two"),
            event("3", "", ""),
        ];
        let bytes = STREAM.as_bytes();
        for size in 1..=bytes.len() {
            let mut parser = EventParser::default();
            let chunks = bytes.chunks(size);
            let found: Vec<ServerSentEvent> = chunks.flat_map(|chunk| parser.feed(chunk)).collect();
            assert_eq!(found, expected, "chunks of {size} bytes");
        }
    }
}
