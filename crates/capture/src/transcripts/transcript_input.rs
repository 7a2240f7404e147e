//! Input bytes of a transcript, compressed or not.

use flate2::bufread::MultiGzDecoder;
use heirloom_agents::transcripts::TranscriptLines;
use heirloom_fs::DecodedReader;
use heirloom_fs::project_fs::{DigestProblem, open_file};
use heirloom_model::text::EscapedPath;
use heirloom_model::{Fault, limits};
use std::cell::Cell;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

/// Read buffer in bytes.
const CHUNK_BYTES: usize = 256 << 10;

/// File that can be read repeatedly and from any offset.
pub(super) struct Source {
    path: PathBuf,
    size: u64,
    is_packed: bool,
    /// True if the file is a single JSON value instead of lines.
    is_value: bool,
    /// True if the text is decoded, so that offsets are those of the decoded text.
    is_converted: bool,
    /// True if the file exceeds the size limit.
    is_beyond: Cell<bool>,
}

impl Source {
    /// Opens the transcript at `path`. Links, pipes and devices are refused.
    pub(super) fn new(path: &Path) -> Result<Self, Fault> {
        let (_, size) = open_file(path).map_err(|problem| unreadable(path, &problem))?;
        if size > limits::TRANSCRIPT_BYTES_MAX {
            return Err(
                unreadable(path, &DigestProblem::TooLarge(size)).hint(format!(
                    "at most {} bytes of a conversation are read: split it at a line",
                    limits::TRANSCRIPT_BYTES_MAX
                )),
            );
        }
        let is_packed = path.extension().is_some_and(|end| end == "gz");
        let inner = match is_packed {
            true => path.with_extension(""),
            false => path.to_owned(),
        };
        let mut source = Self {
            path: path.to_owned(),
            size,
            is_packed,
            is_value: inner.extension().is_some_and(|end| end == "json"),
            is_converted: false,
            is_beyond: Cell::new(false),
        };
        let start = source.bytes(0)?;
        // A packed file that is cut in its first bytes has no text.
        source.is_converted = DecodedReader::new(start).is_converted().unwrap_or(false);
        Ok(source)
    }

    /// Returns its path.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns its size on disk in bytes.
    pub(super) fn size(&self) -> u64 {
        self.size
    }

    /// Returns true if new content is appended, so that reading can continue; a single value is rewritten.
    pub(super) fn is_appendable(&self) -> bool {
        !self.is_value
    }

    /// Returns the size of a file that may have grown; `None` for a packed one.
    pub(super) fn appended_size(&self) -> Option<u64> {
        (!self.is_packed && !self.is_converted).then(|| self.size())
    }

    /// Returns true if reading stopped at the limit of unpacked bytes.
    pub(super) fn is_beyond(&self) -> bool {
        self.is_beyond.get()
    }

    /// Returns the maximum number of unpacked bytes, which protects against decompression bombs.
    pub(super) fn max_bytes(&self) -> u64 {
        if !self.is_packed {
            return limits::TRANSCRIPT_BYTES_MAX;
        }
        let likely = self
            .size
            .saturating_mul(limits::TRANSCRIPT_PACKED_RATIO_MAX);
        (limits::TRANSCRIPT_VALUE_BYTES_MAX.saturating_add(likely))
            .min(limits::TRANSCRIPT_BYTES_MAX)
    }

    /// Passes the first lines to `on` until it returns false.
    pub(super) fn each_first_line(
        &self,
        on: &mut dyn FnMut(
            &heirloom_agents::transcripts::TranscriptLine<'_>,
        ) -> Result<bool, Fault>,
    ) -> Result<(), Fault> {
        // A line that is too long, such as one with an image, is skipped without being kept.
        let most = match self.is_value {
            true => self.max_bytes(),
            false => limits::TRANSCRIPT_FIRST_LINES_BYTES_MAX.min(self.max_bytes()),
        };
        self.each_line_within(0, most, on)?;
        self.is_beyond.set(false);
        Ok(())
    }

    /// Passes each line from offset `from` to `on` until it returns false.
    pub(super) fn each_line(
        &self,
        from: u64,
        on: &mut dyn FnMut(
            &heirloom_agents::transcripts::TranscriptLine<'_>,
        ) -> Result<bool, Fault>,
    ) -> Result<(), Fault> {
        self.each_line_within(from, self.max_bytes(), on)
    }

    /// Passes each line from offset `from` to `on`, up to offset `most`.
    fn each_line_within(
        &self,
        from: u64,
        most: u64,
        on: &mut dyn FnMut(
            &heirloom_agents::transcripts::TranscriptLine<'_>,
        ) -> Result<bool, Fault>,
    ) -> Result<(), Fault> {
        let bytes = self.bytes(from)?;
        let left = most.saturating_sub(from);
        let mut bytes = Bounded { bytes, left };
        if self.is_value {
            let mut whole = Vec::new();
            let most = limits::TRANSCRIPT_VALUE_BYTES_MAX;
            let read = bytes.take(most + 1).read_to_end(&mut whole);
            match read {
                Err(error) if error.kind() == io::ErrorKind::FileTooLarge => {
                    self.is_beyond.set(true);
                    return Ok(());
                }
                read => read.map_err(|error| self.io_fault(&error))?,
            };
            let is_whole = true;
            let bytes = (whole.len() as u64 <= most).then_some(whole.as_slice());
            let at = from;
            on(&heirloom_agents::transcripts::TranscriptLine {
                at,
                bytes,
                is_whole,
            })?;
            return Ok(());
        }
        let mut lines = TranscriptLines::new(&mut bytes, from);
        loop {
            match lines.next_line() {
                Ok(Some(line)) => {
                    if !on(&line)? {
                        return Ok(());
                    }
                }
                Ok(None) => return Ok(()),
                Err(error) if error.kind() == io::ErrorKind::FileTooLarge => {
                    self.is_beyond.set(true);
                    return Ok(());
                }
                // A truncated compressed file ends at its last complete line.
                Err(error) if self.is_packed && is_cut(&error) => return Ok(()),
                Err(error) => return Err(self.io_fault(&error)),
            }
        }
    }

    fn bytes(&self, from: u64) -> Result<Box<dyn BufRead>, Fault> {
        let (mut file, _) = open_file(&self.path).map_err(|problem| self.open_fault(&problem))?;
        if self.is_converted {
            let mut text: Box<dyn BufRead> = match self.is_packed {
                true => Box::new(DecodedReader::new(BufReader::new(MultiGzDecoder::new(
                    BufReader::new(file),
                )))),
                false => Box::new(DecodedReader::new(BufReader::with_capacity(
                    CHUNK_BYTES,
                    file,
                ))),
            };
            let skipped = io::copy(&mut (&mut text).take(from), &mut io::sink());
            skipped.map_err(|error| self.io_fault(&error))?;
            return Ok(text);
        }
        if !self.is_packed {
            let moved = file.seek(SeekFrom::Start(from));
            moved.map_err(|error| self.io_fault(&error))?;
            return Ok(Box::new(BufReader::with_capacity(CHUNK_BYTES, file)));
        }
        let packed: MultiGzDecoder<BufReader<File>> = MultiGzDecoder::new(BufReader::new(file));
        let mut bytes = BufReader::with_capacity(CHUNK_BYTES, packed);
        let skipped = io::copy(&mut (&mut bytes).take(from), &mut io::sink());
        skipped.map_err(|error| self.io_fault(&error))?;
        Ok(Box::new(bytes))
    }

    fn open_fault(&self, problem: &DigestProblem) -> Fault {
        unreadable(&self.path, problem)
    }

    fn io_fault(&self, error: &io::Error) -> Fault {
        Fault::failed(format!("cannot read {}: {error}", self.path.to_escaped()))
    }
}

/// Reader with a byte limit; exceeding it is an error and not the end.
struct Bounded {
    bytes: Box<dyn BufRead>,
    left: u64,
}

impl Read for Bounded {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let chunk = self.fill_buf()?;
        let count = chunk.len().min(into.len());
        into[..count].copy_from_slice(&chunk[..count]);
        self.consume(count);
        Ok(count)
    }
}

impl BufRead for Bounded {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        let chunk = self.bytes.fill_buf()?;
        if self.left == 0 && !chunk.is_empty() {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        let most = usize::try_from(self.left).unwrap_or(usize::MAX);
        Ok(&chunk[..chunk.len().min(most)])
    }

    fn consume(&mut self, count: usize) {
        self.left = self.left.saturating_sub(count as u64);
        self.bytes.consume(count);
    }
}

fn is_cut(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::UnexpectedEof | io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData
    )
}

fn unreadable(path: &Path, problem: &DigestProblem) -> Fault {
    let message = format!("{}: {problem}", path.to_escaped());
    match problem {
        DigestProblem::Missing => Fault::not_found(message).hint("check the path"),
        DigestProblem::NotRegularFile | DigestProblem::TooLarge(_) => Fault::usage(message),
        DigestProblem::Unreadable(_) => Fault::failed(message),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use heirloom_fs::durable;
    use std::io::Write;

    fn sparse(name: &str, size: u64) -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        durable::write_atomic(&path, b"{}\n").unwrap();
        let file = File::options().write(true).open(&path).unwrap();
        file.set_len(size).unwrap();
        (folder, path)
    }

    #[test]
    fn transcript_over_size_limit_is_refused_unread() {
        let most = limits::TRANSCRIPT_BYTES_MAX;
        let (_folder, path) = sparse("t.jsonl", most);
        assert_eq!(Source::new(&path).unwrap().max_bytes(), most);
        let (_folder, path) = sparse("t.jsonl", most + 1);
        let Err(fault) = Source::new(&path) else {
            panic!("it was accepted");
        };
        assert!(fault.message.contains("more than the limit"), "{fault}");
    }

    #[test]
    fn head_of_endless_line_is_read_up_to_limit() {
        let (_folder, path) = sparse("t.jsonl", limits::TRANSCRIPT_BYTES_MAX);
        let source = Source::new(&path).unwrap();
        let mut lines = Vec::new();
        source
            .each_first_line(&mut |line| {
                lines.push((line.at, line.bytes.map(<[u8]>::len)));
                Ok(true)
            })
            .unwrap();
        assert_eq!(lines, [(0, Some(2))]);
        assert!(!source.is_beyond());
    }

    #[test]
    fn header_is_searched_behind_lines_that_are_too_long() {
        let most = limits::TRANSCRIPT_FIRST_LINES_BYTES_MAX;
        for (size, found) in [(most - 4, true), (most, false)] {
            let (_folder, path) = sparse("t.jsonl", size);
            let mut file = File::options().append(true).open(&path).unwrap();
            file.write_all(b"\n{}\n").unwrap();
            let mut lines = Vec::new();
            let source = Source::new(&path).unwrap();
            source
                .each_first_line(&mut |line| {
                    lines.push(line.bytes.map(<[u8]>::len));
                    Ok(true)
                })
                .unwrap();
            assert_eq!(
                lines.last() == Some(&Some(2)) && lines.len() == 3,
                found,
                "{lines:?}"
            );
        }
    }

    #[test]
    fn compressed_transcript_is_read_up_to_unpacked_limit() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.jsonl.gz");
        let pack = |bytes: &[u8]| {
            let mut out = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
            out.write_all(bytes).unwrap();
            out.finish().unwrap()
        };
        let line = format!("{}\n", "x".repeat(1_023));
        let lines = pack(line.repeat(2_048).as_bytes());
        // The limit is the size of a single value plus a multiple of the compressed size.
        let free = limits::TRANSCRIPT_VALUE_BYTES_MAX;
        let times = free / (2 << 20) + 30;
        durable::write_atomic(&path, &lines.repeat(usize::try_from(times).unwrap())).unwrap();
        let source = Source::new(&path).unwrap();
        let most = free + source.size() * limits::TRANSCRIPT_PACKED_RATIO_MAX;
        assert_eq!(source.max_bytes(), most);
        let mut read = 0;
        source
            .each_line(0, &mut |line| {
                read = line.at + 1_024;
                Ok(true)
            })
            .unwrap();
        assert!(read <= most && source.is_beyond(), "{read} of {most}");
        assert!(read + 1_024 >= most, "{read} of {most}");
        // A smaller file is read to its end.
        durable::write_atomic(&path, &lines).unwrap();
        let source = Source::new(&path).unwrap();
        let mut count = 0;
        source
            .each_line(0, &mut |_| {
                count += 1;
                Ok(true)
            })
            .unwrap();
        assert_eq!((count, source.is_beyond()), (2_048, false));
    }
}
