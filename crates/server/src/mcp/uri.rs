//! Parser of URIs: root folders of clients, and our resources.

use heirloom_model::limits;
use std::path::PathBuf;

/// Scheme of our resources.
const SCHEME: &str = "heirloom://";

/// Address of a resource.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ResourceAddress {
    /// Workspace file, by its relative path.
    Workspace(String),
    /// Context, by the id of its receipt.
    Context(String),
    /// Task, by its id.
    Task(String),
    /// Knowledge of one category.
    Knowledge(String),
}

impl ResourceAddress {
    /// Parses a URI; `None` if it is not one of our resources.
    pub fn parse(uri: &str) -> Option<Self> {
        if uri.len() > limits::MCP_URI_BYTES_MAX {
            return None;
        }
        let (kind, rest) = uri.strip_prefix(SCHEME)?.split_once('/')?;
        let name = String::from_utf8(percent_decode(rest)?).ok()?;
        if name.is_empty() || name.chars().any(char::is_control) {
            return None;
        }
        Some(match kind {
            "workspace" => Self::Workspace(name),
            "context" => Self::Context(name),
            "task" => Self::Task(name),
            "knowledge" => Self::Knowledge(name),
            _ => return None,
        })
    }

    /// Returns the URI.
    pub fn to_uri(&self) -> String {
        let (kind, name) = match self {
            Self::Workspace(name) => ("workspace", name),
            Self::Context(name) => ("context", name),
            Self::Task(name) => ("task", name),
            Self::Knowledge(name) => ("knowledge", name),
        };
        format!("{SCHEME}{kind}/{}", percent_encode(name))
    }
}

/// Returns the folder of a `file:` URI of this machine; `None` for any other URI.
pub fn folder_from_uri(uri: &str) -> Option<PathBuf> {
    if uri.len() > limits::MCP_URI_BYTES_MAX {
        return None;
    }
    let rest = uri.strip_prefix("file://")?;
    let path = rest.strip_prefix("localhost").unwrap_or(rest);
    if !path.starts_with('/') {
        return None;
    }
    let path = percent_decode(path)?;
    if path.contains(&0) {
        return None;
    }
    Some(path_from_bytes(path))
}

#[cfg(unix)]
fn path_from_bytes(path: Vec<u8>) -> PathBuf {
    use std::os::unix::ffi::OsStringExt;
    PathBuf::from(std::ffi::OsString::from_vec(path))
}

/// Removes the slash before a drive, as in `/C:/project`.
#[cfg(not(unix))]
fn path_from_bytes(path: Vec<u8>) -> PathBuf {
    let path = String::from_utf8(path)
        .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned());
    let drive = path.strip_prefix('/').filter(|rest| {
        let mut rest = rest.chars();
        rest.next().is_some_and(|c| c.is_ascii_alphabetic()) && rest.next() == Some(':')
    });
    PathBuf::from(drive.unwrap_or(&path))
}

/// Decodes percent encoding; `None` for an incomplete escape.
pub(crate) fn percent_decode(text: &str) -> Option<Vec<u8>> {
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

/// Percent-encodes a text; slashes stay.
fn percent_encode(text: &str) -> String {
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
    fn folders_are_parsed_from_file_uris_only() {
        let read = |uri: &str| folder_from_uri(uri).map(|path| path.display().to_string());
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
            assert_eq!(folder_from_uri(bad), None, "{bad}");
        }
        let long = format!("file:///{}", "x".repeat(limits::MCP_URI_BYTES_MAX));
        assert_eq!(folder_from_uri(&long), None);
        assert!(folder_from_uri(&long[..limits::MCP_URI_BYTES_MAX]).is_some());
    }

    #[test]
    fn resource_addresses_round_trip() {
        let named = |name: &str| {
            let name = || name.to_owned();
            [
                ResourceAddress::Workspace(name()),
                ResourceAddress::Context(name()),
                ResourceAddress::Task(name()),
                ResourceAddress::Knowledge(name()),
            ]
        };
        for name in ["MEMORY.md", "logs/2026-11-22.md", "a b?#%/ä", ".."] {
            for address in named(name) {
                assert_eq!(ResourceAddress::parse(&address.to_uri()), Some(address));
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
            assert_eq!(ResourceAddress::parse(bad), None, "{bad}");
        }
    }
}
