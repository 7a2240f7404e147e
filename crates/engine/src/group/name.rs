//! Names of groups, which are names of folders.

use heirloom_model::record::check_name;
use heirloom_model::text;

/// Names that mean a device on some systems, whatever comes behind a full stop.
const DEVICES: [&str; 4] = ["con", "prn", "aux", "nul"];
/// The same, with a digit from 1 to 9 behind them.
const PORTS: [&str; 2] = ["com", "lpt"];
/// Files beside the folders of groups.
const TAKEN: [&str; 1] = ["agent.md"];
/// Characters that some system gives a meaning in a path.
const PATH_CHARS: &str = "/\\:*?\"<>|";

/// Says why a group cannot be called so: the name must be one folder on every system.
///
/// Errors: a sentence that names the group.
pub fn check_group(name: &str) -> Result<(), String> {
    check_name("group", name).map_err(|bad| bad.to_string())?;
    let problem = if name.chars().any(|c| PATH_CHARS.contains(c)) {
        "has a character that paths are made of"
    } else if name.starts_with('.') {
        "begins with a full stop"
    } else if name.ends_with('.') || name.trim() != name {
        "begins or ends with a blank, or ends with a full stop"
    } else if !name.chars().all(text::is_harmless) {
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
    fn a_group_is_one_folder_on_every_system() {
        for name in ["main", "team-a", "Büro 2", "con1", "com", "com10", "a.b"] {
            assert_eq!(check_group(name), Ok(()), "{name}");
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
            let problem = check_group(name).unwrap_err();
            assert!(problem.contains("group"), "{name}: {problem}");
        }
    }
}
