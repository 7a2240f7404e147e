//! The bytes of a transcript, packed or not.

use crate::places::{DigestProblem, open_file};
use crate::transcripts::Lines;
use flate2::bufread::MultiGzDecoder;
use heirloom_model::{Fault, limits};
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

/// Bytes that are read at a time.
const CHUNK_BYTES: usize = 256 << 10;

/// A file that is read from its beginning or from elsewhere, as often as needed.
pub(super) struct Source {
    path: PathBuf,
    size: u64,
    is_packed: bool,
    /// All of it is one value, whatever lines it has.
    is_value: bool,
}

impl Source {
    /// The transcript at `path`; a link, a pipe or a device is none.
    pub(super) fn new(path: &Path) -> Result<Self, Fault> {
        let (_, size) = open_file(path).map_err(|problem| unreadable(path, &problem))?;
        let is_packed = path.extension().is_some_and(|end| end == "gz");
        let inner = match is_packed {
            true => path.with_extension(""),
            false => path.to_owned(),
        };
        Ok(Self {
            path: path.to_owned(),
            size,
            is_packed,
            is_value: inner.extension().is_some_and(|end| end == "json"),
        })
    }

    /// Where it is.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Bytes on the disk.
    pub(super) fn size(&self) -> u64 {
        self.size
    }

    /// Whether what was read goes on where it ended: one value does not.
    pub(super) fn grows(&self) -> bool {
        !self.is_value
    }

    /// Hands each line from `from` on to `on`, until it says that it wants no more.
    pub(super) fn each_line(
        &self,
        from: u64,
        on: &mut dyn FnMut(&crate::transcripts::Line<'_>) -> Result<bool, Fault>,
    ) -> Result<(), Fault> {
        let mut bytes = self.bytes(from)?;
        if self.is_value {
            let mut whole = Vec::new();
            let most = limits::TRANSCRIPT_VALUE_BYTES_MAX;
            let read = bytes.take(most + 1).read_to_end(&mut whole);
            read.map_err(|error| self.cannot(&error))?;
            let is_whole = true;
            let bytes = (whole.len() as u64 <= most).then_some(whole.as_slice());
            let at = from;
            on(&crate::transcripts::Line {
                at,
                bytes,
                is_whole,
            })?;
            return Ok(());
        }
        let mut lines = Lines::new(&mut bytes, from);
        loop {
            match lines.next_line() {
                Ok(Some(line)) => {
                    if !on(&line)? {
                        return Ok(());
                    }
                }
                Ok(None) => return Ok(()),
                // A packed file that is cut off ends where it ends.
                Err(error) if self.is_packed && is_cut(&error) => return Ok(()),
                Err(error) => return Err(self.cannot(&error)),
            }
        }
    }

    fn bytes(&self, from: u64) -> Result<Box<dyn BufRead>, Fault> {
        let (mut file, _) = open_file(&self.path).map_err(|problem| self.problem(&problem))?;
        if !self.is_packed {
            let moved = file.seek(SeekFrom::Start(from));
            moved.map_err(|error| self.cannot(&error))?;
            return Ok(Box::new(BufReader::with_capacity(CHUNK_BYTES, file)));
        }
        let packed: MultiGzDecoder<BufReader<File>> = MultiGzDecoder::new(BufReader::new(file));
        let mut bytes = BufReader::with_capacity(CHUNK_BYTES, packed);
        let skipped = io::copy(&mut (&mut bytes).take(from), &mut io::sink());
        skipped.map_err(|error| self.cannot(&error))?;
        Ok(Box::new(bytes))
    }

    fn problem(&self, problem: &DigestProblem) -> Fault {
        unreadable(&self.path, problem)
    }

    fn cannot(&self, error: &io::Error) -> Fault {
        Fault::failed(format!("cannot read {}: {error}", self.path.display()))
    }
}

fn is_cut(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::UnexpectedEof | io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData
    )
}

fn unreadable(path: &Path, problem: &DigestProblem) -> Fault {
    let said = format!("{}: {problem}", path.display());
    match problem {
        DigestProblem::Missing => Fault::not_found(said).hint("check the path"),
        DigestProblem::NoFile | DigestProblem::TooLarge(_) => Fault::usage(said),
        DigestProblem::Unreadable(_) => Fault::failed(said),
    }
}
