//! File names of agent ids, and back.
//!
//! Characters that a file system rejects, or that have a special meaning, become `%XX`.

use heirloom_model::limits::OUTPUT_NAME_BYTES_MAX;
use heirloom_model::text;

/// Extension of output files.
const EXTENSION: &str = ".json";
/// Prefix of the names of long ids, which no encoded id has; then the beginning of the id and a hash.
const LONG_ID_PREFIX: &str = "%~";
/// Names that some systems reserve for devices, with any extension.
const DEVICES: [&str; 4] = ["con", "prn", "aux", "nul"];
/// The same, with a digit after them.
const NUMBERED_DEVICES: [&str; 2] = ["com", "lpt"];

/// Error of an id that is a path out of its folder.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the {what} `{name}` would lead out of its folder")]
pub struct InvalidOutputName {
    /// Kind of name: agent, plan, stage.
    pub what: String,
    /// Beginning of the name.
    pub name: String,
}

/// Returns the file name for an agent, which is unique.
///
/// [`agent_of_file_name`] is the inverse, unless the id is so long that the name has only its hash.
pub fn file_name(agent: &str) -> String {
    let name = encode(agent);
    if name.len() <= OUTPUT_NAME_BYTES_MAX {
        return format!("{name}{EXTENSION}");
    }
    let head: String = agent
        .chars()
        .filter(char::is_ascii_alphanumeric)
        .take(40)
        .collect();
    format!("{LONG_ID_PREFIX}{head}-{}{EXTENSION}", text::hash16(agent))
}

/// Returns the agent of a file name; `None` for a name of another file or with a hash.
pub fn agent_of_file_name(name: &str) -> Option<String> {
    let stem = name.strip_suffix(EXTENSION)?;
    let agent = decode(stem)?;
    (file_name(&agent) == name).then_some(agent)
}

/// Rejects a name that, as a path, leads out of a folder: absolute, or with a part `..`.
pub fn check_path_part(what: &str, name: &str) -> Result<(), InvalidOutputName> {
    let name = name.trim();
    let is_separator = |c: char| matches!(c, '/' | '\\');
    let leads = name.starts_with(is_separator)
        || name.split(is_separator).any(|part| part.trim() == "..")
        || matches!(name, "." | "~")
        || name.contains('\0');
    if leads {
        return Err(InvalidOutputName {
            what: what.to_owned(),
            name: text::excerpt(name, 60),
        });
    }
    Ok(())
}

fn encode(agent: &str) -> String {
    let device = is_device(agent);
    let last = agent.chars().count().saturating_sub(1);
    let mut out = String::new();
    for (at, c) in agent.chars().enumerate() {
        let is_edge = matches!(c, '.' | ' ') && (at == 0 || at == last);
        if is_unsafe(c) || is_edge || (device && at == 0) {
            let mut bytes = [0; 4];
            for byte in c.encode_utf8(&mut bytes).bytes() {
                out.push_str(&format!("%{byte:02X}"));
            }
        } else {
            out.push(c);
        }
    }
    if out.is_empty() { "%".to_owned() } else { out }
}

fn decode(stem: &str) -> Option<String> {
    if stem == "%" {
        return Some(String::new());
    }
    let mut bytes = Vec::with_capacity(stem.len());
    let mut rest = stem.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        if byte != b'%' {
            bytes.push(byte);
            rest = after;
            continue;
        }
        let digits = after.get(..2)?;
        let digits = std::str::from_utf8(digits).ok()?;
        bytes.push(u8::from_str_radix(digits, 16).ok()?);
        rest = &after[2..];
    }
    String::from_utf8(bytes).ok()
}

/// Returns true for characters that must be encoded: separators, wildcards, `%`, and invisible characters.
fn is_unsafe(c: char) -> bool {
    let reserved = matches!(
        c,
        '%' | '/' | '\\' | ':' | '*' | '?' | '"' | '<' | '>' | '|' | '\u{2028}' | '\u{2029}'
    );
    reserved || !text::is_safe_to_display(c)
}

fn is_device(agent: &str) -> bool {
    let base = agent.split('.').next().unwrap_or_default();
    let base = base.trim_end().to_ascii_lowercase();
    let numbered = |device: &str| {
        let digit = base.strip_prefix(device);
        digit.is_some_and(|digit| digit.len() == 1 && digit.bytes().all(|b| b.is_ascii_digit()))
    };
    DEVICES.contains(&base.as_str()) || NUMBERED_DEVICES.into_iter().any(numbered)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn file_name_encodes_only_special_characters() {
        for (agent, name) in [
            ("coder", "coder.json"),
            ("agent-7_b.v2", "agent-7_b.v2.json"),
            ("Prüfer 😀", "Prüfer 😀.json"),
            ("..", "%2E%2E.json"),
            (".hidden", "%2Ehidden.json"),
            ("a/b", "a%2Fb.json"),
            ("a\\b", "a%5Cb.json"),
            ("a\nb", "a%0Ab.json"),
            ("a\0b", "a%00b.json"),
            ("NUL", "%4EUL.json"),
            ("con.txt", "%63on.txt.json"),
            ("com1", "%63om1.json"),
            ("com10", "com10.json"),
            ("100%", "100%25.json"),
            ("", "%.json"),
        ] {
            assert_eq!(file_name(agent), name);
            assert_eq!(agent_of_file_name(name).as_deref(), Some(agent));
        }
        for file_without_agent in [
            "coder",
            "a%2.json",
            "%zz.json",
            "a%62.json",
            "%~x-0.json",
            ".json",
        ] {
            assert_eq!(
                agent_of_file_name(file_without_agent),
                None,
                "{file_without_agent}"
            );
        }
    }

    #[test]
    fn file_name_of_long_id_is_short_and_unique() {
        let fits = "x".repeat(OUTPUT_NAME_BYTES_MAX);
        assert_eq!(agent_of_file_name(&file_name(&fits)), Some(fits.clone()));
        let over = format!("{fits}x");
        let names = [file_name(&over), file_name(&format!("{over}y"))];
        assert_ne!(names[0], names[1]);
        for name in names {
            assert!(name.len() <= OUTPUT_NAME_BYTES_MAX, "{name}");
            assert_eq!(agent_of_file_name(&name), None);
        }
    }

    #[test]
    fn check_path_part_rejects_paths_out_of_folder() {
        for bad in [
            "..",
            "../x",
            "a/../../b",
            "/etc/passwd",
            "\\x",
            "a\\..\\b",
            ".",
            "~",
            "a\0",
        ] {
            assert!(check_path_part("agent", bad).is_err(), "{bad:?}");
        }
        for good in ["a", "a/b", "..a", "a..b", "...", "REQ-001", "nul"] {
            assert_eq!(check_path_part("agent", good), Ok(()), "{good:?}");
        }
    }

    proptest! {
        #[test]
        fn file_name_of_any_id_is_safe_and_reversible(agent in ids()) {
            let name = file_name(&agent);
            prop_assert!(name.len() <= 255 && name.ends_with(EXTENSION));
            prop_assert!(!name.starts_with('.') && !name.contains(['/', '\\', ':', '\0', '\n']));
            prop_assert!(!is_device(&name));
            match agent_of_file_name(&name) {
                Some(back) => prop_assert_eq!(back, agent),
                None => prop_assert!(name.starts_with(LONG_ID_PREFIX)),
            }
        }

        #[test]
        fn agent_of_file_name_is_none_or_reversible(name in ".{0,80}") {
            if let Some(agent) = agent_of_file_name(&name) {
                prop_assert_eq!(file_name(&agent), name);
            }
        }
    }

    fn ids() -> impl Strategy<Value = String> {
        prop_oneof![
            any::<String>(),
            ".{250,320}",
            "(con|NUL|lpt[0-9]|\\.\\.|%|/|\\\\|\n|\0|😀|é| |a|\\.){0,12}",
        ]
    }
}
