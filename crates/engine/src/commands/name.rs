//! What commands may be called.

use heirloom_model::limits::COMMAND_NAME_BYTES_MAX;
use heirloom_model::text::excerpt;

/// Names that some systems keep for devices, whatever stands behind a dot.
const RESERVED: [&str; 4] = ["con", "prn", "aux", "nul"];

/// Checks a command's name: words of letters, digits, `-`, `_` and `.`, between colons.
///
/// Each word can be the name of a file or folder on every system. Errors: what is wrong, in words.
pub fn check_name(name: &str) -> Result<(), String> {
    let shown = excerpt(name, 60);
    if name.len() > COMMAND_NAME_BYTES_MAX {
        let length = name.len();
        return Err(format!(
            "the name `{shown}` has {length} bytes; at most {COMMAND_NAME_BYTES_MAX} are taken"
        ));
    }
    for word in name.split(':') {
        let wrong = if word.is_empty() {
            "has an empty part"
        } else if !word.chars().all(is_fit) {
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

/// The name of the command in a file, by the folders that it is in and its own name without `.toml`, or by the name
/// that it gives itself; one with a colon is whole.
pub fn name_of(folders: &[String], stem: &str, given: Option<&str>) -> String {
    let last = given.unwrap_or(stem);
    if last.contains(':') {
        return last.to_owned();
    }
    let words = folders.iter().map(String::as_str).chain([last]);
    words.collect::<Vec<_>>().join(":")
}

/// Whether two names are the same where upper and lower case are, as on some file systems.
pub fn same_name(one: &str, other: &str) -> bool {
    one.to_lowercase() == other.to_lowercase()
}

fn is_fit(c: char) -> bool {
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
