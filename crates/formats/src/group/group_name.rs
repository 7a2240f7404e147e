//! Names of groups, which are also names of folders.

use heirloom_model::record::check_name;
use heirloom_model::text;

/// Names that some systems reserve for devices, with any extension.
const DEVICES: [&str; 4] = ["con", "prn", "aux", "nul"];
/// The same, with a digit from 1 to 9 after them.
const PORTS: [&str; 2] = ["com", "lpt"];
/// Files next to the folders of groups.
const TAKEN: [&str; 1] = ["agent.md"];
/// Characters with a special meaning in the paths of some system.
const PATH_CHARS: &str = "/\\:*?\"<>|";

/// Checks the name of a group: it must be a valid folder name on every system.
///
/// Errors: a sentence that contains the name.
pub fn check_group_name(name: &str) -> Result<(), String> {
    check_name("group", name).map_err(|bad| bad.to_string())?;
    let problem = if name.chars().any(|c| PATH_CHARS.contains(c)) {
        "has a character that paths are made of"
    } else if name.starts_with('.') {
        "begins with a full stop"
    } else if name.ends_with('.') || name.trim() != name {
        "begins or ends with a blank, or ends with a full stop"
    } else if !name.chars().all(text::is_safe_to_display) {
        "has a character that cannot be seen"
    } else if is_reserved(name) {
        "is reserved"
    } else {
        return Ok(());
    };
    let name = text::excerpt(name, 60);
    Err(format!("the group `{name}` {problem}"))
}

fn is_reserved(name: &str) -> bool {
    let folded = name.to_lowercase();
    let stem = folded.split('.').next().unwrap_or_default().trim_end();
    let is_port = PORTS.iter().any(|port| {
        let number = stem.strip_prefix(port).unwrap_or_default();
        matches!(number.as_bytes(), [b'1'..=b'9'])
    });
    is_port || DEVICES.contains(&stem) || TAKEN.contains(&folded.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn check_group_name_accepts_portable_folder_names_only() {
        for name in ["main", "team-a", "Büro 2", "con1", "com", "com10", "a.b"] {
            assert_eq!(check_group_name(name), Ok(()), "{name}");
        }
        let long = "x".repeat(300);
        for name in [
            "",
            " ",
            ".",
            "..",
            "../x",
            "a/b",
            "a\\b",
            "C:",
            "a\nb",
            "a\0b",
            &long,
            ".git",
            "a.",
            " a",
            "a ",
            "con",
            "NUL",
            "nul.txt",
            "Com1",
            "lpt9.x",
            "AGENT.md",
            "a\u{202e}b",
        ] {
            let problem = check_group_name(name).unwrap_err();
            assert!(problem.contains("group"), "{name}: {problem}");
        }
    }
}
