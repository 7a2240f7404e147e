//! Names of commands.

use heirloom_model::limits::COMMAND_NAME_BYTES_MAX;
use heirloom_model::text::excerpt;

/// Names that some systems reserve for devices, with any extension.
const RESERVED: [&str; 4] = ["con", "prn", "aux", "nul"];

/// Checks the name of a command: words of letters, digits, `-`, `_` and `.`, separated by colons.
///
/// Each word is a valid name of a file or folder on every system. Errors: a description of the problem.
pub fn check_name(name: &str) -> Result<(), String> {
    let shown = excerpt(name, 60);
    if name.len() > COMMAND_NAME_BYTES_MAX {
        let length = name.len();
        return Err(format!(
            "the name `{shown}` has {length} bytes; at most {COMMAND_NAME_BYTES_MAX} are allowed"
        ));
    }
    for word in name.split(':') {
        let wrong = if word.is_empty() {
            "has an empty part"
        } else if !word.chars().all(is_allowed_char) {
            "may have letters, digits, `-`, `_` and `.` only, and `:` between parts"
        } else if word.starts_with(['.', '-']) || word.ends_with('.') {
            "has a part that begins with `.` or `-`, or ends with `.`"
        } else if is_reserved(word) {
            "has a part that some systems reserve for a device"
        } else {
            continue;
        };
        return Err(format!("the name `{shown}` {wrong}"));
    }
    Ok(())
}

/// Returns the name of the command in a file: its folders, then its own name or that of the file without `.toml`. A
/// name with a colon is already complete.
pub fn command_name(folders: &[String], stem: &str, given: Option<&str>) -> String {
    let last = given.unwrap_or(stem);
    if last.contains(':') {
        return last.to_owned();
    }
    let words = folders.iter().map(String::as_str).chain([last]);
    words.collect::<Vec<_>>().join(":")
}

/// Returns true if two names differ at most in case, which some file systems ignore.
pub fn is_same_name(one: &str, other: &str) -> bool {
    one.to_lowercase() == other.to_lowercase()
}

fn is_allowed_char(c: char) -> bool {
    c.is_alphanumeric() || "-_.".contains(c)
}

fn is_reserved(word: &str) -> bool {
    let word = word.split('.').next().unwrap_or_default();
    let word = word.to_lowercase();
    let numbered = ["com", "lpt"]
        .iter()
        .find_map(|device| word.strip_prefix(device));
    let is_port = numbered.is_some_and(|rest| matches!(rest.as_bytes(), [b'1'..=b'9']));
    is_port || RESERVED.contains(&word.as_str())
}
