//! From an agent's id to the name of its file, and back.
//!
//! What a file system would not take, or take for something else, becomes `%XX`.

use heirloom_model::limits::OUTPUT_NAME_BYTES_MAX;
use heirloom_model::text;

/// What the name of a file ends with.
const ENDING: &str = ".json";
/// What no encoding of an id begins with: the beginning of an id that is too long, and a hash.
const CUT: &str = "%~";
/// Names that some systems keep for devices, whatever stands behind a dot.
const DEVICES: [&str; 4] = ["con", "prn", "aux", "nul"];
/// The same, with a digit behind them.
const NUMBERED_DEVICES: [&str; 2] = ["com", "lpt"];

/// An id that leads out of its folder.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the {what} `{name}` would lead out of its folder")]
pub struct BadOutputName {
    /// Which name: agent, plan, stage.
    pub what: String,
    /// Its beginning.
    pub name: String,
}

/// The name of the file for an agent; no two agents have the same.
///
/// [`agent_of`] leads back, unless the id is so long that only its hash is told.
pub fn file_name(agent: &str) -> String {
    let name = encoded(agent);
    if name.len() <= OUTPUT_NAME_BYTES_MAX {
        return format!("{name}{ENDING}");
    }
    let head: String = agent
        .chars()
        .filter(char::is_ascii_alphanumeric)
        .take(40)
        .collect();
    format!("{CUT}{head}-{}{ENDING}", text::hash16(agent))
}

/// The agent of a file of this name; `None` for a name that no agent's file has, or that only tells a hash.
pub fn agent_of(name: &str) -> Option<String> {
    let stem = name.strip_suffix(ENDING)?;
    let agent = decoded(stem)?;
    (file_name(&agent) == name).then_some(agent)
}

/// Refuses a name that, taken as a path, leads out of a folder: absolute, or with a part `..`.
pub fn check_part(what: &str, name: &str) -> Result<(), BadOutputName> {
    let name = name.trim();
    let is_separator = |c: char| matches!(c, '/' | '\\');
    let leads = name.starts_with(is_separator)
        || name.split(is_separator).any(|part| part.trim() == "..")
        || matches!(name, "." | "~")
        || name.contains('\0');
    if leads {
        return Err(BadOutputName {
            what: what.to_owned(),
            name: text::excerpt(name, 60),
        });
    }
    Ok(())
}

fn encoded(agent: &str) -> String {
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

fn decoded(stem: &str) -> Option<String> {
    if stem == "%" {
        return Some(String::new());
    }
    let mut bytes = Vec::with_capacity(stem.len());
    let mut rest = stem.as_bytes();
    while let Some((&byte, behind)) = rest.split_first() {
        if byte != b'%' {
            bytes.push(byte);
            rest = behind;
            continue;
        }
        let digits = behind.get(..2)?;
        let digits = std::str::from_utf8(digits).ok()?;
        bytes.push(u8::from_str_radix(digits, 16).ok()?);
        rest = &behind[2..];
    }
    String::from_utf8(bytes).ok()
}

/// What separates folders, steers something, or is the mark itself. Characters that hide others too.
fn is_unsafe(c: char) -> bool {
    let taken = matches!(
        c,
        '%' | '/' | '\\' | ':' | '*' | '?' | '"' | '<' | '>' | '|' | '\u{2028}' | '\u{2029}'
    );
    taken || !text::is_harmless(c)
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
    fn names_are_what_a_person_would_guess_where_they_can_be() {
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
            assert_eq!(agent_of(name).as_deref(), Some(agent));
        }
        for nobody in [
            "coder",
            "a%2.json",
            "%zz.json",
            "a%62.json",
            "%~x-0.json",
            ".json",
        ] {
            assert_eq!(agent_of(nobody), None, "{nobody}");
        }
    }

    #[test]
    fn a_long_id_has_a_short_name_of_its_own() {
        let fits = "x".repeat(OUTPUT_NAME_BYTES_MAX);
        assert_eq!(agent_of(&file_name(&fits)), Some(fits.clone()));
        let over = format!("{fits}x");
        let names = [file_name(&over), file_name(&format!("{over}y"))];
        assert_ne!(names[0], names[1]);
        for name in names {
            assert!(name.len() <= OUTPUT_NAME_BYTES_MAX, "{name}");
            assert_eq!(agent_of(&name), None);
        }
    }

    #[test]
    fn what_leads_out_of_a_folder_is_refused() {
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
            assert!(check_part("agent", bad).is_err(), "{bad:?}");
        }
        for good in ["a", "a/b", "..a", "a..b", "...", "REQ-001", "nul"] {
            assert_eq!(check_part("agent", good), Ok(()), "{good:?}");
        }
    }

    proptest! {
        #[test]
        fn every_id_has_a_name_that_stays_in_its_folder_and_leads_back(agent in ids()) {
            let name = file_name(&agent);
            prop_assert!(name.len() <= 255 && name.ends_with(ENDING));
            prop_assert!(!name.starts_with('.') && !name.contains(['/', '\\', ':', '\0', '\n']));
            prop_assert!(!is_device(&name));
            match agent_of(&name) {
                Some(back) => prop_assert_eq!(back, agent),
                None => prop_assert!(name.starts_with(CUT)),
            }
        }

        #[test]
        fn a_name_leads_to_nobody_or_back_to_itself(name in ".{0,80}") {
            if let Some(agent) = agent_of(&name) {
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
