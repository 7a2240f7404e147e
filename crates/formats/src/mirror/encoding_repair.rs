//! Repair of the encoding: replaces bytes for which a JSON parser would reject the whole file.

use super::MirrorDiagnostic;
use heirloom_model::text::counted;
use std::borrow::Cow;

/// Text with valid encoding. Lines and columns are those of the bytes, unless UTF-8 was replaced.
pub(super) struct Repaired<'b> {
    pub(super) text: Cow<'b, str>,
    pub(super) diagnostics: Vec<MirrorDiagnostic>,
}

/// Skips a byte order mark and replaces invalid UTF-8 and lone surrogates by `\u{fffd}`.
pub(super) fn repair(bytes: &[u8]) -> Repaired<'_> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let mut diagnostics = Vec::new();
    let mut report = |message: String| {
        let at = String::new();
        diagnostics.push(MirrorDiagnostic { at, message });
    };
    let mut text = match std::str::from_utf8(bytes) {
        Ok(text) => Cow::Borrowed(text),
        Err(error) => {
            let line = 1 + memchr::memchr_iter(b'\n', &bytes[..error.valid_up_to()]).count();
            report(format!("invalid UTF-8 from line {line} on was replaced"));
            Cow::Owned(String::from_utf8_lossy(bytes).into_owned())
        }
    };
    let lone = lone_surrogates(text.as_bytes());
    if !lone.is_empty() {
        report(format!(
            "{} replaced",
            counted(lone.len(), "lone surrogate was", "lone surrogates were")
        ));
        text = Cow::Owned(replace_surrogates(&text, &lone));
    }
    Repaired { text, diagnostics }
}

/// Returns the offsets of the digits of surrogate escapes without their other half.
fn lone_surrogates(json: &[u8]) -> Vec<usize> {
    let mut lone = Vec::new();
    let mut at = 0;
    while let Some(found) = memchr::memchr(b'\\', &json[at..]) {
        at += found;
        match surrogate(&json[at..]) {
            Some(0xd800..=0xdbff)
                if matches!(surrogate(&json[at + 6..]), Some(0xdc00..=0xdfff)) =>
            {
                at += 12;
            }
            Some(_) => {
                lone.push(at + 2);
                at += 6;
            }
            // The escaped character may be a backslash itself.
            None => at = json.len().min(at + 2),
        }
    }
    lone
}

/// Returns the surrogate whose escape begins here.
fn surrogate(json: &[u8]) -> Option<u16> {
    let digits = json.strip_prefix(b"\\u")?.get(..4)?;
    let is_hex = digits.iter().all(u8::is_ascii_hexdigit);
    let code = u16::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?;
    (is_hex && (0xd800..=0xdfff).contains(&code)).then_some(code)
}

/// Replaces the four digits at each offset by `fffd`.
fn replace_surrogates(text: &str, places: &[usize]) -> String {
    let mut out = String::with_capacity(text.len());
    let mut done = 0;
    for &place in places {
        out.push_str(&text[done..place]);
        out.push_str("fffd");
        done = place + 4;
    }
    out.push_str(&text[done..]);
    out
}
