//! Stored form of texts with NUL, which PostgreSQL cannot store.
//!
//! A character that Unicode reserves for internal use begins a sequence of two characters; all other texts are stored as
//! they are.

/// First character of a sequence.
const ESCAPE: char = '\u{10fffe}';
/// First byte of [`ESCAPE`] in UTF-8.
const ESCAPE_BYTE: u8 = 0xf4;
/// NUL in JSON.
const IN_JSON: &str = "\\u0000";

/// Returns the stored form of a text.
pub(crate) fn encode(text: String) -> String {
    let has_nul_in_json = text.starts_with('{') && text.contains(IN_JSON);
    if !has_nul_in_json && !text.contains(['\0', ESCAPE]) {
        return text;
    }
    let mut stored = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match c {
            '\0' => stored.extend([ESCAPE, '0']),
            ESCAPE => stored.extend([ESCAPE, '1']),
            other => stored.push(other),
        }
    }
    if has_nul_in_json && serde_json::from_str::<serde::de::IgnoredAny>(&text).is_ok() {
        return encode_json(&stored);
    }
    stored
}

fn encode_json(text: &str) -> String {
    let mut stored = String::with_capacity(text.len());
    for part in text.split_inclusive(IN_JSON) {
        // A backslash before the sequence is itself escaped if their number is odd. Every part begins after a digit.
        let is_nul =
            |begin: &&str| (begin.len() - begin.trim_end_matches('\\').len()).is_multiple_of(2);
        match part.strip_suffix(IN_JSON).filter(is_nul) {
            Some(begin) => {
                stored.push_str(begin);
                stored.extend([ESCAPE, '2']);
            }
            None => stored.push_str(part),
        }
    }
    stored
}

/// Returns the text of a stored form; `None` if they are the same.
pub(crate) fn decode(stored: &[u8]) -> Option<String> {
    if !stored.contains(&ESCAPE_BYTE) {
        return None;
    }
    let stored = std::str::from_utf8(stored).ok()?;
    if !stored.contains(ESCAPE) {
        return None;
    }
    let mut text = String::with_capacity(stored.len());
    let mut chars = stored.chars();
    while let Some(c) = chars.next() {
        if c != ESCAPE {
            text.push(c);
            continue;
        }
        match chars.next() {
            Some('0') => text.push('\0'),
            Some('2') => text.push_str(IN_JSON),
            _ => text.push(ESCAPE),
        }
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn round_trip(text: &str) -> (String, String) {
        let stored = encode(text.to_owned());
        let decoded = decode(stored.as_bytes()).unwrap_or_else(|| stored.clone());
        (stored, decoded)
    }

    #[test]
    fn nul_in_json_is_stored_without_its_escape() {
        let json = r#"{"a": "x\u0000", "b": "\\u0000\\\u0000"}"#;
        let (stored, decoded) = round_trip(json);
        assert_eq!(decoded, json);
        assert_eq!(stored.matches("u0000").count(), 1, "{stored}");
        let code = r"let nul = '\u0000';";
        assert_eq!(round_trip(code), (code.to_owned(), code.to_owned()));
    }

    proptest! {
        #[test]
        fn text_round_trips_without_nul(text in "[\0a0-2\u{10fffe}\\\\u{]{0,24}") {
            let (stored, decoded) = round_trip(&text);
            prop_assert!(!stored.contains('\0'));
            prop_assert_eq!(decoded, text);
        }
    }
}
