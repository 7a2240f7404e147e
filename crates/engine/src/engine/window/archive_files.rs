//! Window files: `overflow/` and `archive/` in the folder of the project's memory.

use flate2::Compression;
use flate2::read::MultiGzDecoder;
use flate2::write::GzEncoder;
use heirloom_fs::durable;
use heirloom_fs::project_fs::{DigestProblem, read_bounded};
use heirloom_model::text::EscapedPath;
use heirloom_model::{Fault, Timestamp, limits, text};
use serde::Deserialize;
use serde_json::json;
use serde_json::value::RawValue;
use std::collections::HashMap;
use std::io::{ErrorKind, Read, Write};
use std::path::{Path, PathBuf};

/// Prefix of the ids of dropped messages.
pub(super) const ARCHIVE_ID: &str = "arc-";
/// Suffix of compressed files.
const GZIP_SUFFIX: &str = ".gz";
/// Maximum characters of a tool's or agent's name in a file name.
const NAME_CHARS: usize = 40;
/// Length of an id without prefix.
const ID_LENGTH: usize = 16;

/// Folder of window files, with an index of its names.
pub(super) struct WindowFolder {
    folder: PathBuf,
    id_of: fn(&str) -> Option<&str>,
    /// File names by id; read at first use.
    names: Option<HashMap<String, Vec<String>>>,
}

impl WindowFolder {
    /// Opens the folder of full outputs.
    pub(super) fn overflow(memory: &Path) -> Result<Self, Fault> {
        Self::open(memory.join("overflow"), id_of_overflow)
    }

    /// Opens the folder of dropped messages.
    pub(super) fn archive(memory: &Path) -> Result<Self, Fault> {
        Self::open(memory.join("archive"), id_of_archive)
    }

    fn open(folder: PathBuf, id_of: fn(&str) -> Option<&str>) -> Result<Self, Fault> {
        match folder.symlink_metadata() {
            Ok(found) if !found.is_dir() => Err(Fault::refused(format!(
                "{} is not a folder; links are not followed",
                folder.to_escaped()
            ))
            .hint("remove it; it was not touched")),
            Ok(_) | Err(_) => Ok(Self {
                folder,
                id_of,
                names: None,
            }),
        }
    }

    fn names(&mut self) -> Result<&mut HashMap<String, Vec<String>>, Fault> {
        if self.names.is_none() {
            self.names = Some(self.read()?);
        }
        Ok(self.names.get_or_insert_default())
    }

    fn read(&self) -> Result<HashMap<String, Vec<String>>, Fault> {
        let mut names: HashMap<String, Vec<String>> = HashMap::new();
        let cannot = |error: std::io::Error| {
            Fault::failed(format!("cannot list {}: {error}", self.folder.to_escaped()))
        };
        let entries = match std::fs::read_dir(&self.folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(names),
            Err(error) => return Err(cannot(error)),
        };
        for entry in entries {
            let entry = entry.map_err(cannot)?;
            let name = entry.file_name();
            let is_file = entry.file_type().is_ok_and(|sort| sort.is_file());
            let id = name.to_str().filter(|_| is_file).and_then(self.id_of);
            if let (Some(id), Some(name)) = (id, name.to_str()) {
                names
                    .entry(id.to_owned())
                    .or_default()
                    .push(name.to_owned());
            }
        }
        Ok(names)
    }

    /// Returns true if a file with this id exists, under this name if one is given.
    pub(super) fn has(&mut self, id: &str, name: Option<&str>) -> Result<bool, Fault> {
        let Some(names) = self.names()?.get(id) else {
            return Ok(false);
        };
        Ok(name.is_none_or(|name| names.iter().any(|held| held == file_name(name))))
    }

    /// Returns the file with this id.
    pub(super) fn find(&mut self, id: &str) -> Result<Option<PathBuf>, Fault> {
        let first = self.names()?.get(id).and_then(|names| names.iter().min());
        Ok(first.cloned().map(|name| self.folder.join(name)))
    }

    /// Lists all files.
    pub(super) fn files(&self) -> Result<Vec<PathBuf>, Fault> {
        let names = self.read()?.into_values().flatten();
        Ok(names.map(|name| self.folder.join(name)).collect())
    }

    /// Writes a file atomically and durably.
    pub(super) fn write(&mut self, name: &str, bytes: &[u8]) -> Result<PathBuf, Fault> {
        if !self.folder.is_dir() {
            durable::create_dir_private(&self.folder)?;
        }
        let path = self.folder.join(name);
        durable::write_atomic(&path, bytes)?;
        if let Some(id) = (self.id_of)(name).map(str::to_owned) {
            self.names()?.entry(id).or_default().push(name.to_owned());
        }
        Ok(path)
    }
}

/// Header fields of an archive.
pub(super) struct ArchiveHeader<'a> {
    pub(super) id: &'a str,
    pub(super) agent: &'a str,
    pub(super) session: Option<&'a str>,
    pub(super) form: &'a str,
    pub(super) at: Timestamp,
}

/// Returns the file name of a path in a preview.
pub(super) fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// Returns the file name of an output without a preview.
pub(super) fn overflow_name(id: &str, tool: &str) -> String {
    format!("overflow_{id}_{}.txt", file_name_part(tool, "tool"))
}

/// Returns the file name of an archive: agent, time and id.
pub(super) fn archive_name(head: &ArchiveHeader<'_>, hex: &str) -> String {
    let stamp = head.at.strftime("%Y%m%dT%H%M%SZ");
    format!("{}_{stamp}_{hex}.json", file_name_part(head.agent, "agent"))
}

/// Compresses an archive with gzip, so that it is readable without this program; returns its new name and bytes.
pub(super) fn compress(name: &str, text: &str) -> Result<(String, Vec<u8>), Fault> {
    let mut out = GzEncoder::new(Vec::new(), Compression::default());
    let bytes = out.write_all(text.as_bytes()).and_then(|()| out.finish());
    let bytes = bytes.map_err(|error| Fault::failed(format!("cannot pack {name}: {error}")))?;
    Ok((format!("{name}{GZIP_SUFFIX}"), bytes))
}

/// Formats an archive as JSON with one message on each line, for human readers.
pub(super) fn archive_json(head: &ArchiveHeader<'_>, messages: &[String]) -> String {
    let header = json!({
        "id": head.id, "agent": head.agent, "session": head.session, "form": head.form,
        "archived_at": head.at.to_string(),
    });
    let header = header.to_string();
    let open = header.strip_suffix('}').unwrap_or(&header);
    format!("{open},\"messages\":[\n{}\n]}}\n", messages.join(",\n"))
}

/// Reads the text of a window file.
pub(super) fn read_text(path: &Path) -> Result<String, Fault> {
    let bytes = read_bounded(path, limits::WINDOW_ARCHIVE_BYTES_MAX).map_err(|problem| {
        let hint = match problem {
            DigestProblem::TooLarge(_) => "read the file itself",
            DigestProblem::Missing
            | DigestProblem::NotRegularFile
            | DigestProblem::Unreadable(_) => "window files are plain or gzip files: inspect it",
        };
        Fault::failed(format!("cannot read {}: {problem}", path.to_escaped())).hint(hint)
    })?;
    let bytes = match path
        .to_str()
        .is_some_and(|path| path.ends_with(GZIP_SUFFIX))
    {
        true => decompress(&bytes, path)?,
        false => bytes,
    };
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn decompress(bytes: &[u8], path: &Path) -> Result<Vec<u8>, Fault> {
    let most = limits::WINDOW_ARCHIVE_BYTES_MAX;
    let mut out = Vec::new();
    let read = MultiGzDecoder::new(bytes)
        .take(most + 1)
        .read_to_end(&mut out);
    let cannot = |why: &str| Fault::failed(format!("cannot unpack {}: {why}", path.to_escaped()));
    read.map_err(|error| cannot(&error.to_string()))?;
    if out.len() as u64 > most {
        return Err(cannot(&format!("it has more than {most} bytes")).hint("unpack it yourself"));
    }
    Ok(out)
}

/// Parses the messages of an archive.
pub(super) fn parse_messages(text: &str, path: &Path) -> Result<Vec<String>, Fault> {
    #[derive(Deserialize)]
    struct Archive<'a> {
        #[serde(borrow, rename = "messages")]
        messages: Vec<&'a RawValue>,
    }
    let archive: Archive<'_> = serde_json::from_str(text).map_err(|error| {
        Fault::failed(format!(
            "{} is not a valid archive: {error}",
            path.to_escaped()
        ))
        .hint("the file was changed by another program")
    })?;
    Ok(archive
        .messages
        .iter()
        .map(|one| one.get().to_owned())
        .collect())
}

/// Replaces characters that are unsafe in a file name.
fn file_name_part(name: &str, instead: &str) -> String {
    let safe: String = text::clip(name, NAME_CHARS)
        .chars()
        .map(|c| {
            if c.is_ascii_alphanumeric() || c == '-' {
                c
            } else {
                '_'
            }
        })
        .collect();
    if safe.is_empty() {
        instead.to_owned()
    } else {
        safe
    }
}

/// Parses the id of `overflow_[TIME-]ID_TOOL.txt`.
fn id_of_overflow(name: &str) -> Option<&str> {
    let inner = name.strip_prefix("overflow_")?.strip_suffix(".txt")?;
    let (front, _) = inner.split_once('_')?;
    parse_id(front.rsplit('-').next()?)
}

/// Parses the id of `AGENT_TIME_ID.json` or its compressed form.
fn id_of_archive(name: &str) -> Option<&str> {
    let name = name.strip_suffix(GZIP_SUFFIX).unwrap_or(name);
    parse_id(name.strip_suffix(".json")?.rsplit_once('_')?.1)
}

fn parse_id(text: &str) -> Option<&str> {
    let hex = text.len() == ID_LENGTH && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    hex.then_some(text)
}

#[cfg(test)]
mod stored_form_tests;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_names_and_archives_round_trip() {
        for (name, expected) in [
            (
                "overflow_0123456789abcdef_bash.txt",
                Some("0123456789abcdef"),
            ),
            (
                "overflow_20231114T221320-0123456789abcdef_a_b.txt",
                Some("0123456789abcdef"),
            ),
            ("overflow_0123456789abcdeg_bash.txt", None),
            (".overflow_0123456789abcdef_bash.txt.a1b2c3.tmp", None),
            ("notes.txt", None),
        ] {
            assert_eq!(id_of_overflow(name), expected, "{name}");
        }
        let head = ArchiveHeader {
            id: "arc-0123456789abcdef",
            agent: "../my agent",
            session: None,
            form: "openai",
            at: "2026-05-01T10:00:00Z".parse().unwrap(),
        };
        let name = archive_name(&head, "0123456789abcdef");
        assert_eq!(name, "___my_agent_20260501T100000Z_0123456789abcdef.json");
        assert_eq!(id_of_archive(&name), Some("0123456789abcdef"));
        let (name, bytes) = compress(&name, "[]").unwrap();
        assert_eq!(id_of_archive(&name), Some("0123456789abcdef"));
        assert_eq!(decompress(&bytes, Path::new("x")).unwrap(), b"[]");
        assert!(decompress(b"no", Path::new("x")).is_err());
        assert_eq!(
            overflow_name("0123456789abcdef", ""),
            "overflow_0123456789abcdef_tool.txt"
        );
        let messages = ["{\"b\": 1.0,\"a\":2}".to_owned(), "\"x\"".to_owned()];
        let json = archive_json(&head, &messages);
        assert_eq!(parse_messages(&json, Path::new("x")).unwrap(), messages);
        let whole: serde_json::Value = serde_json::from_str(&json).unwrap();
        assert_eq!(whole["agent"], "../my agent");
    }
}
