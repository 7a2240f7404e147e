//! Files of what windows left out: `overflow/` and `archive/` in the folder of the project's memory.

use crate::places::{DigestProblem, whole_file};
use flate2::Compression;
use flate2::read::MultiGzDecoder;
use flate2::write::GzEncoder;
use heirloom_model::{Fault, Timestamp, limits, text};
use heirloom_store::durable;
use serde::Deserialize;
use serde_json::json;
use serde_json::value::RawValue;
use std::collections::HashMap;
use std::io::{ErrorKind, Read, Write};
use std::path::{Path, PathBuf};

/// How the ids of dropped messages begin.
pub(super) const ARCHIVE_ID: &str = "arc-";
/// How the names of packed files end.
const PACKED: &str = ".gz";
/// Characters of a tool's or an agent's name that a file's name says.
const NAME_CHARS: usize = 40;
/// The length of an id without what it begins with.
const ID_LENGTH: usize = 16;

/// One of the folders, and what is in it.
pub(super) struct Kept {
    folder: PathBuf,
    id_of: fn(&str) -> Option<&str>,
    /// The names by their ids; read when they are first asked for.
    names: Option<HashMap<String, Vec<String>>>,
}

impl Kept {
    /// Outputs, whole.
    pub(super) fn overflow(memory: &Path) -> Result<Self, Fault> {
        Self::of(memory.join("overflow"), id_of_overflow)
    }

    /// Dropped messages.
    pub(super) fn archive(memory: &Path) -> Result<Self, Fault> {
        Self::of(memory.join("archive"), id_of_archive)
    }

    fn of(folder: PathBuf, id_of: fn(&str) -> Option<&str>) -> Result<Self, Fault> {
        match folder.symlink_metadata() {
            Ok(found) if !found.is_dir() => Err(Fault::refused(format!(
                "{} is no folder, and links are not followed",
                folder.display()
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
            Fault::failed(format!("cannot list {}: {error}", self.folder.display()))
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

    /// Whether it holds what has this id; under that name, if one is said.
    pub(super) fn has(&mut self, id: &str, name: Option<&str>) -> Result<bool, Fault> {
        let Some(names) = self.names()?.get(id) else {
            return Ok(false);
        };
        Ok(name.is_none_or(|name| names.iter().any(|held| held == file_name(name))))
    }

    /// The file of this id.
    pub(super) fn find(&mut self, id: &str) -> Result<Option<PathBuf>, Fault> {
        let first = self.names()?.get(id).and_then(|names| names.iter().min());
        Ok(first.cloned().map(|name| self.folder.join(name)))
    }

    /// All of its files.
    pub(super) fn files(&self) -> Result<Vec<PathBuf>, Fault> {
        let names = self.read()?.into_values().flatten();
        Ok(names.map(|name| self.folder.join(name)).collect())
    }

    /// Writes a file, whole or not at all; it is on the disk when this returns.
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

/// What stands at the head of an archive.
pub(super) struct Head<'a> {
    pub(super) id: &'a str,
    pub(super) agent: &'a str,
    pub(super) session: Option<&'a str>,
    pub(super) form: &'a str,
    pub(super) at: Timestamp,
}

/// The name of a path that a preview says.
pub(super) fn file_name(said: &str) -> &str {
    said.rsplit('/').next().unwrap_or(said)
}

/// The name of an output's file that no preview says.
pub(super) fn overflow_name(id: &str, tool: &str) -> String {
    format!("overflow_{id}_{}.txt", safe(tool, "tool"))
}

/// The name of an archive: whose, from when, and the id.
pub(super) fn archive_name(head: &Head<'_>, hex: &str) -> String {
    let stamp = head.at.strftime("%Y%m%dT%H%M%SZ");
    format!("{}_{stamp}_{hex}.json", safe(head.agent, "agent"))
}

/// What an archive is called when it is packed, and its bytes: whoever has gzip reads it without this program.
pub(super) fn packed(name: &str, text: &str) -> Result<(String, Vec<u8>), Fault> {
    let mut out = GzEncoder::new(Vec::new(), Compression::default());
    let bytes = out.write_all(text.as_bytes()).and_then(|()| out.finish());
    let bytes = bytes.map_err(|error| Fault::failed(format!("cannot pack {name}: {error}")))?;
    Ok((format!("{name}{PACKED}"), bytes))
}

/// An archive: a message a line, so that people can read it without this program.
pub(super) fn archive_json(head: &Head<'_>, messages: &[String]) -> String {
    let said = json!({
        "id": head.id, "agent": head.agent, "session": head.session, "form": head.form,
        "archived_at": head.at.to_string(),
    });
    let said = said.to_string();
    let open = said.strip_suffix('}').unwrap_or(&said);
    format!("{open},\"messages\":[\n{}\n]}}\n", messages.join(",\n"))
}

/// The text of a kept file.
pub(super) fn text_of(path: &Path) -> Result<String, Fault> {
    let bytes = whole_file(path, limits::WINDOW_KEPT_BYTES_MAX).map_err(|problem| {
        let hint = match problem {
            DigestProblem::TooLarge(_) => "read the file itself",
            DigestProblem::Missing | DigestProblem::NoFile | DigestProblem::Unreadable(_) => {
                "what is kept for windows is in plain files: look at it"
            }
        };
        Fault::failed(format!("cannot read {}: {problem}", path.display())).hint(hint)
    })?;
    let bytes = match path.to_str().is_some_and(|path| path.ends_with(PACKED)) {
        true => unpacked(&bytes, path)?,
        false => bytes,
    };
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn unpacked(bytes: &[u8], path: &Path) -> Result<Vec<u8>, Fault> {
    let most = limits::WINDOW_KEPT_BYTES_MAX;
    let mut out = Vec::new();
    let read = MultiGzDecoder::new(bytes)
        .take(most + 1)
        .read_to_end(&mut out);
    let cannot = |why: &str| Fault::failed(format!("cannot unpack {}: {why}", path.display()));
    read.map_err(|error| cannot(&error.to_string()))?;
    if out.len() as u64 > most {
        return Err(cannot(&format!("it has more than {most} bytes")).hint("unpack it yourself"));
    }
    Ok(out)
}

/// The messages in an archive.
pub(super) fn messages_in(said: &str, path: &Path) -> Result<Vec<String>, Fault> {
    #[derive(Deserialize)]
    struct Archive<'a> {
        #[serde(borrow)]
        messages: Vec<&'a RawValue>,
    }
    let archive: Archive<'_> = serde_json::from_str(said).map_err(|error| {
        Fault::failed(format!("{} is no archive: {error}", path.display()))
            .hint("somebody changed it")
    })?;
    Ok(archive
        .messages
        .iter()
        .map(|one| one.get().to_owned())
        .collect())
}

/// A name that stands in a file's name.
fn safe(name: &str, instead: &str) -> String {
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

/// `overflow_[TIME-]ID_TOOL.txt`.
fn id_of_overflow(name: &str) -> Option<&str> {
    let inner = name.strip_prefix("overflow_")?.strip_suffix(".txt")?;
    let (front, _) = inner.split_once('_')?;
    id(front.rsplit('-').next()?)
}

/// `AGENT_TIME_ID.json`, or the same packed.
fn id_of_archive(name: &str) -> Option<&str> {
    let name = name.strip_suffix(PACKED).unwrap_or(name);
    id(name.strip_suffix(".json")?.rsplit_once('_')?.1)
}

fn id(said: &str) -> Option<&str> {
    let hex = said.len() == ID_LENGTH && said.bytes().all(|byte| byte.is_ascii_hexdigit());
    hex.then_some(said)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_say_their_ids() {
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
        let head = Head {
            id: "arc-0123456789abcdef",
            agent: "../my agent",
            session: None,
            form: "openai",
            at: "2026-05-01T10:00:00Z".parse().unwrap(),
        };
        let name = archive_name(&head, "0123456789abcdef");
        assert_eq!(name, "___my_agent_20260501T100000Z_0123456789abcdef.json");
        assert_eq!(id_of_archive(&name), Some("0123456789abcdef"));
        let (name, bytes) = packed(&name, "[]").unwrap();
        assert_eq!(id_of_archive(&name), Some("0123456789abcdef"));
        assert_eq!(unpacked(&bytes, Path::new("x")).unwrap(), b"[]");
        assert!(unpacked(b"no", Path::new("x")).is_err());
        assert_eq!(
            overflow_name("0123456789abcdef", ""),
            "overflow_0123456789abcdef_tool.txt"
        );
        let messages = ["{\"b\": 1.0,\"a\":2}".to_owned(), "\"x\"".to_owned()];
        let said = archive_json(&head, &messages);
        assert_eq!(messages_in(&said, Path::new("x")).unwrap(), messages);
        let whole: serde_json::Value = serde_json::from_str(&said).unwrap();
        assert_eq!(whole["agent"], "../my agent");
    }
}
