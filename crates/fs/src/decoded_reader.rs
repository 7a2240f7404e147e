//! Reader of text in any encoding as UTF-8.

use heirloom_model::text_decoding::{TextEncoding, Utf16Decoder};
use std::io::{self, BufRead, Read};

/// Number of bytes by which the encoding is found.
const START_BYTES: usize = 4;

/// Reader that passes on a text as UTF-8: without a byte order mark, and decoded if it is UTF-16. Invalid UTF-8 is passed on
/// as it is, for the decoding of each line.
#[derive(Debug)]
pub struct DecodedReader<R> {
    from: R,
    /// Bytes at the start, and the number of those that were consumed.
    start: Vec<u8>,
    used: usize,
    has_started: bool,
    /// Decoder of UTF-16 with the text that it decoded.
    decoder: Option<Utf16Decoder>,
    decoded: String,
}

impl<R: BufRead> DecodedReader<R> {
    /// Creates a reader at the beginning of a text.
    pub fn new(from: R) -> Self {
        Self {
            from,
            start: Vec::new(),
            used: 0,
            has_started: false,
            decoder: None,
            decoded: String::new(),
        }
    }

    /// Returns true if the text is decoded, so that its offsets are not those of the file.
    pub fn is_converted(&mut self) -> io::Result<bool> {
        self.begin()?;
        Ok(self.decoder.is_some())
    }

    /// Reads the first bytes and finds the encoding.
    fn begin(&mut self) -> io::Result<()> {
        if self.has_started {
            return Ok(());
        }
        while self.start.len() < START_BYTES {
            let chunk = match self.from.fill_buf() {
                Ok(chunk) => chunk,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            // A short first line is complete: a program may wait for its answer.
            if chunk.is_empty() || self.start.contains(&b'\n') {
                break;
            }
            let wanted = START_BYTES - self.start.len();
            let taken = chunk.get(..wanted.min(chunk.len())).unwrap_or_default();
            self.start.extend_from_slice(taken);
            let count = taken.len();
            self.from.consume(count);
        }
        self.has_started = true;
        let (encoding, mark) = TextEncoding::detect(&self.start);
        self.used = mark;
        if encoding != TextEncoding::Utf8 {
            let mut decoder = Utf16Decoder::new(encoding);
            let rest = self.start.split_off(mark.min(self.start.len()));
            decoder.push(&rest, &mut self.decoded);
            self.decoder = Some(decoder);
            self.start.clear();
            self.used = 0;
        }
        Ok(())
    }
}

impl<R: Read> DecodedReader<io::BufReader<R>> {
    /// Returns bytes that arrived and were not consumed.
    pub fn buffer(&self) -> &[u8] {
        let own = match &self.decoder {
            Some(_) => self.decoded.as_bytes(),
            None => &self.start,
        };
        match own.get(self.used..) {
            Some(left) if !left.is_empty() => left,
            Some(_) | None => self.from.buffer(),
        }
    }
}

impl<R: BufRead> BufRead for DecodedReader<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.begin()?;
        let Some(decoder) = &mut self.decoder else {
            if self.used < self.start.len() {
                return Ok(self.start.get(self.used..).unwrap_or_default());
            }
            return self.from.fill_buf();
        };
        while self.used >= self.decoded.len() {
            self.decoded.clear();
            self.used = 0;
            let chunk = self.from.fill_buf()?;
            let count = chunk.len();
            if count == 0 {
                decoder.finish(&mut self.decoded);
                break;
            }
            decoder.push(chunk, &mut self.decoded);
            self.from.consume(count);
        }
        Ok(self.decoded.as_bytes().get(self.used..).unwrap_or_default())
    }

    fn consume(&mut self, count: usize) {
        let is_own = self.decoder.is_some() || self.used < self.start.len();
        match is_own {
            true => self.used += count,
            false => self.from.consume(count),
        }
    }
}

impl<R: BufRead> Read for DecodedReader<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let chunk = self.fill_buf()?;
        let count = chunk.len().min(into.len());
        if let (Some(into), Some(chunk)) = (into.get_mut(..count), chunk.get(..count)) {
            into.copy_from_slice(chunk);
        }
        self.consume(count);
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(bytes: &[u8], chunk: usize) -> Vec<u8> {
        let mut reader = DecodedReader::new(io::BufReader::with_capacity(chunk, bytes));
        let mut out = Vec::new();
        reader.read_to_end(&mut out).unwrap();
        out
    }

    #[test]
    fn text_in_every_encoding_is_read_in_any_pieces() {
        let text = "{\"a\":\"é🚀\"}\n{\"b\":1}\n";
        let utf16: Vec<u8> = "\u{feff}"
            .encode_utf16()
            .chain(text.encode_utf16())
            .flat_map(u16::to_le_bytes)
            .collect();
        let marked = format!("\u{feff}{text}");
        for chunk in [1, 2, 3, 5, 64] {
            for bytes in [text.as_bytes(), marked.as_bytes(), &utf16] {
                assert_eq!(read(bytes, chunk), text.as_bytes(), "{chunk}");
            }
            assert_eq!(read(b"", chunk), b"");
            assert_eq!(read(b"a", chunk), b"a");
            assert_eq!(read(b"caf\xe9", chunk), b"caf\xe9");
        }
    }

    #[test]
    fn conversion_is_told() {
        let is_converted = |bytes: &[u8]| DecodedReader::new(bytes).is_converted().unwrap();
        assert!(is_converted(b"\xff\xfea\0"));
        assert!(!is_converted(b"\xef\xbb\xbfa"));
        assert!(!is_converted(b"abcd"));
    }
}
