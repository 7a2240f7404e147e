//! Decoding of text that another program or a person wrote: byte order marks, UTF-16, invalid UTF-8, NUL bytes, and the
//! slips of JSON writers. One step before every parser.

use std::borrow::Cow;

/// Byte order mark as a character.
const BYTE_ORDER_MARK: char = '\u{feff}';
/// Byte order mark in UTF-8.
const UTF8_MARK: [u8; 3] = [0xef, 0xbb, 0xbf];
/// Words that some writers of JSON use for numbers that JSON does not have.
const NO_NUMBERS: [&str; 4] = ["-Infinity", "Infinity", "-NaN", "NaN"];

/// Encoding of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextEncoding {
    /// UTF-8, and any encoding that looks like it.
    Utf8,
    /// UTF-16, the low byte first.
    Utf16Le,
    /// UTF-16, the high byte first.
    Utf16Be,
}

impl TextEncoding {
    /// Returns the encoding of a text by its first bytes, and the length of its byte order mark. Four bytes are enough.
    pub fn detect(start: &[u8]) -> (Self, usize) {
        if start.starts_with(&UTF8_MARK) {
            return (Self::Utf8, UTF8_MARK.len());
        }
        match *start {
            [0xff, 0xfe, ..] => (Self::Utf16Le, 2),
            [0xfe, 0xff, ..] => (Self::Utf16Be, 2),
            [first, 0, second, 0, ..] if is_text_start(first) && second != 0 => (Self::Utf16Le, 0),
            [0, first, 0, second, ..] if is_text_start(first) && second != 0 => (Self::Utf16Be, 0),
            _ => (Self::Utf8, 0),
        }
    }
}

/// Returns true for a byte with which a text begins that has no byte order mark.
fn is_text_start(byte: u8) -> bool {
    matches!(
        byte,
        b'{' | b'[' | b'"' | b'#' | b'-' | b' ' | b'\n' | b'\r' | b'\t'
    ) || byte.is_ascii_alphanumeric()
}

/// Decodes a whole text, without its byte order mark and NUL bytes. Invalid parts become `\u{fffd}`.
pub fn decode_text(bytes: &[u8]) -> Cow<'_, str> {
    let (encoding, mark) = TextEncoding::detect(bytes);
    let bytes = bytes.get(mark..).unwrap_or_default();
    let text = match encoding {
        TextEncoding::Utf8 => match std::str::from_utf8(bytes) {
            Ok(text) => Cow::Borrowed(text),
            Err(_) => String::from_utf8_lossy(bytes),
        },
        TextEncoding::Utf16Le | TextEncoding::Utf16Be => {
            let mut decoder = Utf16Decoder::new(encoding);
            let mut text = String::with_capacity(bytes.len());
            decoder.push(bytes, &mut text);
            decoder.finish(&mut text);
            Cow::Owned(text)
        }
    };
    without_filler(text)
}

/// Removes NUL bytes, which a crash leaves in a file, and the byte order marks of files that were joined.
fn without_filler(text: Cow<'_, str>) -> Cow<'_, str> {
    let has_filler = text.as_bytes().contains(&0) || text.starts_with(BYTE_ORDER_MARK);
    match has_filler {
        true => {
            let text = text.replace('\0', "");
            Cow::Owned(text.trim_start_matches(BYTE_ORDER_MARK).to_owned())
        }
        false => text,
    }
}

/// Decoder of UTF-16 that arrives in pieces cut anywhere.
#[derive(Debug)]
pub struct Utf16Decoder {
    encoding: TextEncoding,
    /// First byte of a code unit whose second one has not arrived.
    odd: Option<u8>,
    /// First half of a character beyond the first plane.
    high: Option<u16>,
}

impl Utf16Decoder {
    /// Creates a decoder behind the byte order mark.
    pub fn new(encoding: TextEncoding) -> Self {
        Self {
            encoding,
            odd: None,
            high: None,
        }
    }

    /// Decodes further bytes.
    pub fn push(&mut self, bytes: &[u8], out: &mut String) {
        for byte in bytes {
            let Some(first) = self.odd.take() else {
                self.odd = Some(*byte);
                continue;
            };
            let unit = match self.encoding {
                TextEncoding::Utf16Be => u16::from_be_bytes([first, *byte]),
                TextEncoding::Utf16Le | TextEncoding::Utf8 => u16::from_le_bytes([first, *byte]),
            };
            self.push_unit(unit, out);
        }
    }

    fn push_unit(&mut self, unit: u16, out: &mut String) {
        let high = self.high.take();
        if let (Some(high), 0xdc00..=0xdfff) = (high, unit) {
            out.extend(char::decode_utf16([high, unit]).map(|one| one.unwrap_or('\u{fffd}')));
            return;
        }
        if high.is_some() {
            out.push('\u{fffd}');
        }
        match unit {
            0xd800..=0xdbff => self.high = Some(unit),
            unit => out.push(char::from_u32(u32::from(unit)).unwrap_or('\u{fffd}')),
        }
    }

    /// Ends the text.
    pub fn finish(&mut self, out: &mut String) {
        if self.odd.take().is_some() | self.high.take().is_some() {
            out.push('\u{fffd}');
        }
    }
}

/// Repairs what makes JSON of some writers unreadable: halves of characters (`\ud83d`) become `\ufffd`, and numbers that
/// JSON does not have become `null`.
pub fn repair_json(json: &str) -> Cow<'_, str> {
    let has_half = json.contains("\\ud") || json.contains("\\uD");
    let has_no_number = NO_NUMBERS.iter().any(|word| json.contains(word));
    if !has_half && !has_no_number {
        return Cow::Borrowed(json);
    }
    let mut out = String::with_capacity(json.len());
    let mut is_string = false;
    let mut rest = json;
    while let Some(c) = rest.chars().next() {
        let length = match c {
            '\\' if is_string => {
                let (length, is_half) = read_escape(rest);
                if is_half {
                    out.push_str("\\ufffd");
                    rest = rest.get(length..).unwrap_or_default();
                    continue;
                }
                length
            }
            '"' => {
                is_string = !is_string;
                1
            }
            c if is_string => c.len_utf8(),
            c => match NO_NUMBERS.iter().find(|word| rest.starts_with(*word)) {
                Some(word) => {
                    out.push_str("null");
                    rest = rest.get(word.len()..).unwrap_or_default();
                    continue;
                }
                None => c.len_utf8(),
            },
        };
        out.push_str(rest.get(..length).unwrap_or_default());
        rest = rest.get(length..).unwrap_or_default();
    }
    Cow::Owned(out)
}

/// Returns the length of the escape at the beginning of a text, and true if it is half of a character.
fn read_escape(text: &str) -> (usize, bool) {
    let next = |at: usize| text.get(at..).and_then(parse_unicode_escape);
    match (next(0), next(6)) {
        (Some(0xd800..=0xdbff), Some(0xdc00..=0xdfff)) => (12, false),
        (Some(0xd800..=0xdfff), _) => (6, true),
        (Some(_), _) => (6, false),
        (None, _) => (text.chars().take(2).map(char::len_utf8).sum(), false),
    }
}

/// Returns the code unit of the escape at the beginning of the text.
fn parse_unicode_escape(text: &str) -> Option<u16> {
    let digits = text.strip_prefix("\\u")?.get(..4)?;
    u16::from_str_radix(digits, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn utf16(text: &str, is_big: bool, has_mark: bool) -> Vec<u8> {
        let mark = has_mark.then_some(0xfeff);
        mark.into_iter()
            .chain(text.encode_utf16())
            .flat_map(|unit| match is_big {
                true => unit.to_be_bytes(),
                false => unit.to_le_bytes(),
            })
            .collect()
    }

    #[test]
    fn every_encoding_of_a_text_is_read() {
        let text = "{\"a\": \"é 🚀\"}";
        for is_big in [true, false] {
            for has_mark in [true, false] {
                assert_eq!(decode_text(&utf16(text, is_big, has_mark)), text);
            }
        }
        assert_eq!(decode_text(format!("\u{feff}{text}").as_bytes()), text);
        assert_eq!(decode_text(format!("\0\0{text}\0").as_bytes()), text);
        assert!(matches!(decode_text(text.as_bytes()), Cow::Borrowed(_)));
        assert_eq!(decode_text(b"caf\xe9"), "caf\u{fffd}");
        assert_eq!(decode_text(b""), "");
        assert_eq!(decode_text(&[0xff, 0xfe, 0x3d, 0xd8, b'a']), "\u{fffd}");
        assert_eq!(decode_text(&[0, 0, 0, 0]), "");
    }

    #[test]
    fn halves_of_characters_and_numbers_that_json_lacks_are_replaced() {
        for (json, repaired) in [
            (r#"{"a":"x \ud83d y"}"#, r#"{"a":"x \ufffd y"}"#),
            (r#"{"a":"\ud83d\ude80"}"#, r#"{"a":"\ud83d\ude80"}"#),
            (r#"{"a":"\ude80\ud83d"}"#, r#"{"a":"\ufffd\ufffd"}"#),
            (r#"{"a":"\\ud83d"}"#, r#"{"a":"\\ud83d"}"#),
            (
                r#"{"a":NaN,"b":-Infinity,"c":"NaN"}"#,
                r#"{"a":null,"b":null,"c":"NaN"}"#,
            ),
            (r#"{"a":1}"#, r#"{"a":1}"#),
            (r#"{"a":"\ud83d"#, r#"{"a":"\ufffd"#),
            ("\\", "\\"),
        ] {
            assert_eq!(repair_json(json), repaired, "{json}");
        }
    }

    proptest::proptest! {
        #[test]
        fn any_bytes_and_texts_are_read(bytes in proptest::collection::vec(proptest::num::u8::ANY, 0..60), json in "(\\\\u|d83d|\"|NaN|\\PC){0,20}") {
            let text = decode_text(&bytes);
            proptest::prop_assert!(!text.contains('\0'));
            let repaired = repair_json(&json).into_owned();
            proptest::prop_assert_eq!(repair_json(&repaired), repaired.as_str());
        }
    }
}
