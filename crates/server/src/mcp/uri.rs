//! Addresses: the folders of clients, and our own resources. Bytes in, values out.

use heirloom_model::limits;
use std::path::PathBuf;

/// What begins the address of everything of ours.
const SCHEME: &str = "heirloom://";

/// One of our resources.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Address {
    /// A file of the workspace, by its path in it.
    Workspace(String),
    /// A context that was given out, by its receipt's id.
    Context(String),
    /// A task, by its id.
    Task(String),
    /// What is known of one category.
    Knowledge(String),
}

impl Address {
    /// Reads an address; `None` if it is none of ours.
    pub fn read(uri: &str) -> Option<Self> {
        if uri.len() > limits::MCP_URI_BYTES_MAX {
            return None;
        }
        let (room, rest) = uri.strip_prefix(SCHEME)?.split_once('/')?;
        let name = String::from_utf8(decoded(rest)?).ok()?;
        if name.is_empty() || name.chars().any(char::is_control) {
            return None;
        }
        Some(match room {
            "workspace" => Self::Workspace(name),
            "context" => Self::Context(name),
            "task" => Self::Task(name),
            "knowledge" => Self::Knowledge(name),
            _ => return None,
        })
    }

    /// The address as text.
    pub fn write(&self) -> String {
        let (room, name) = match self {
            Self::Workspace(name) => ("workspace", name),
            Self::Context(name) => ("context", name),
            Self::Task(name) => ("task", name),
            Self::Knowledge(name) => ("knowledge", name),
        };
        format!("{SCHEME}{room}/{}", encoded(name))
    }
}

/// The folder of a `file:` address on this machine; `None` for any other address.
pub fn folder_of(uri: &str) -> Option<PathBuf> {
    if uri.len() > limits::MCP_URI_BYTES_MAX {
        return None;
    }
    let rest = uri.strip_prefix("file://")?;
    let path = rest.strip_prefix("localhost").unwrap_or(rest);
    if !path.starts_with('/') {
        return None;
    }
    let path = decoded(path)?;
    if path.contains(&0) {
        return None;
    }
    Some(path_of(path))
}

#[cfg(unix)]
fn path_of(path: Vec<u8>) -> PathBuf {
    use std::os::unix::ffi::OsStringExt;
    PathBuf::from(std::ffi::OsString::from_vec(path))
}

#[cfg(not(unix))]
fn path_of(path: Vec<u8>) -> PathBuf {
    PathBuf::from(String::from_utf8_lossy(&path).into_owned())
}

/// The bytes that a percent-encoded text stands for; `None` for half an escape.
pub(crate) fn decoded(text: &str) -> Option<Vec<u8>> {
    let mut bytes = text.bytes();
    let mut out = Vec::with_capacity(text.len());
    while let Some(byte) = bytes.next() {
        if byte != b'%' {
            out.push(byte);
            continue;
        }
        let high = char::from(bytes.next()?).to_digit(16)?;
        let low = char::from(bytes.next()?).to_digit(16)?;
        out.push(u8::try_from(high * 16 + low).ok()?);
    }
    Some(out)
}

/// A text with everything escaped that has a meaning in an address; slashes stay.
fn encoded(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
                out.push(char::from(byte));
            }
            _ => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_are_read_from_file_addresses_only() {
        let read = |uri: &str| folder_of(uri).map(|path| path.display().to_string());
        assert_eq!(read("file:///home/a%20b/c").as_deref(), Some("/home/a b/c"));
        assert_eq!(read("file://localhost/x").as_deref(), Some("/x"));
        assert_eq!(read("file:///%C3%A4").as_deref(), Some("/ä"));
        for bad in [
            "",
            "/x",
            "file://",
            "file://host/x",
            "http://x/y",
            "file:///%0",
            "file:///%zz",
            "file:///a%00b",
        ] {
            assert_eq!(folder_of(bad), None, "{bad}");
        }
        let long = format!("file:///{}", "x".repeat(limits::MCP_URI_BYTES_MAX));
        assert_eq!(folder_of(&long), None);
        assert!(folder_of(&long[..limits::MCP_URI_BYTES_MAX]).is_some());
    }

    #[test]
    fn addresses_come_back() {
        let named = |name: &str| {
            let name = || name.to_owned();
            [
                Address::Workspace(name()),
                Address::Context(name()),
                Address::Task(name()),
                Address::Knowledge(name()),
            ]
        };
        for name in ["MEMORY.md", "logs/2026-11-22.md", "a b?#%/ä", ".."] {
            for address in named(name) {
                assert_eq!(Address::read(&address.write()), Some(address));
            }
        }
        for bad in [
            "heirloom://",
            "heirloom://task/",
            "heirloom://x/y",
            "file:///x",
            "heirloom://task/%ff",
            "heirloom://task/%0a",
        ] {
            assert_eq!(Address::read(bad), None, "{bad}");
        }
    }
}
