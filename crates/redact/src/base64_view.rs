//! Secrets inside of base64: environment files, settings and scripts that were encoded as a whole.
//!
//! Only text is examined; keys and images are no text. A secret is not replaced alone, because the rest would have to
//! be encoded again: the whole base64 is.

use super::decoded_view::DecodedFinding;
use base64::Engine as _;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use std::ops::Range;

/// Minimum length of an encoded text: `PASSWORD=…` with eight characters has 24.
const LENGTH_MIN: usize = 24;
/// Number of characters that are decoded first, to see if it is text.
const HEAD: usize = 24;
/// Minimum length of the lines of a wrapped text.
const WRAPPED_MIN: usize = 56;

const DECODER: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new()
        .with_decode_allow_trailing_bits(true)
        .with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// Characters of base64 in both alphabets.
static IS_BASE64: [bool; 256] = {
    let mut known = [false; 256];
    let mut byte = 0;
    while byte < 256 {
        let b = byte as u8;
        known[byte] = b.is_ascii_alphanumeric() || b == b'+' || b == b'/' || b == b'-' || b == b'_';
        byte += 1;
    }
    known
};

/// Finds the encoded texts in which `scan` finds a secret; their kind is that of the first one.
pub(super) fn find<K>(
    text: &str,
    scan: &mut impl FnMut(&str) -> Option<K>,
) -> Vec<DecodedFinding<K>> {
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(first) = next_run(bytes, from) {
        from = first.end;
        if !is_text_head(&bytes[first.clone()]) {
            continue;
        }
        let (encoded, end) = join_lines(bytes, &first);
        from = end;
        if let Some(kind) = decode(encoded).and_then(|text| scan(&text)) {
            found.push(DecodedFinding {
                range: first.start..end,
                kind,
            });
        }
    }
    found
}

/// Returns the next run of base64 characters. Looks at few bytes: a run of this length contains one of them.
fn next_run(bytes: &[u8], from: usize) -> Option<Range<usize>> {
    let mut low = from;
    let mut at = from + LENGTH_MIN - 1;
    while let Some(&byte) = bytes.get(at) {
        if IS_BASE64[usize::from(byte)] {
            let before = bytes[low..at].iter().rev();
            let start = at - before.take_while(|b| IS_BASE64[usize::from(**b)]).count();
            let rest = bytes[at..].iter();
            let end = at + rest.take_while(|b| IS_BASE64[usize::from(**b)]).count();
            if end - start >= LENGTH_MIN {
                return Some(start..end);
            }
            low = end;
            at = end;
        } else {
            low = at + 1;
        }
        at += LENGTH_MIN;
    }
    None
}

/// Returns true if base64 begins like a text.
fn is_text_head(run: &[u8]) -> bool {
    // The first of four characters has the high bits of a byte. Those of text are rare among other data.
    let fits = |b: &u8| matches!(*b, b'A' | b'C' | b'D' | b'I'..=b'Z' | b'a'..=b'f');
    if !run.iter().step_by(4).take(HEAD / 4).all(fits) {
        return false;
    }
    let head = standard(run.get(..HEAD).unwrap_or(run));
    DECODER
        .decode(head)
        .is_ok_and(|head| is_text(&head) || is_wide_text(&head))
}

fn is_text(bytes: &[u8]) -> bool {
    let printable = |b: &&u8| matches!(**b, b' '..=b'~' | b'\n' | b'\r' | b'\t');
    let count = bytes.iter().filter(printable).count();
    !bytes.is_empty() && count * 10 >= bytes.len() * 9
}

/// Returns true for UTF-16 with ASCII characters, as commands of PowerShell are encoded.
fn is_wide_text(bytes: &[u8]) -> bool {
    let (low, high): (Vec<u8>, Vec<u8>) =
        bytes.chunks_exact(2).map(|pair| (pair[0], pair[1])).unzip();
    is_text(&low) && high.iter().all(|b| *b == 0)
}

/// Returns the characters of a run and of the lines that continue it, and their end.
fn join_lines(bytes: &[u8], first: &Range<usize>) -> (Vec<u8>, usize) {
    let mut encoded = standard(&bytes[first.clone()]);
    let mut end = first.end;
    let mut line = first.clone();
    while line.len() == first.len() && first.len() >= WRAPPED_MIN {
        let rest = bytes.get(end..).unwrap_or_default();
        let blanks = rest
            .iter()
            .take(32)
            .take_while(|b| b.is_ascii_whitespace())
            .count();
        if !rest[..blanks].contains(&b'\n') {
            break;
        }
        let start = end + blanks;
        let next = bytes[start..]
            .iter()
            .take_while(|b| IS_BASE64[usize::from(**b)])
            .count();
        if next == 0 || next > first.len() {
            break;
        }
        line = start..start + next;
        end = line.end;
        encoded.extend(standard(&bytes[line.clone()]));
    }
    let padding = bytes[end..]
        .iter()
        .take(2)
        .take_while(|b| **b == b'=')
        .count();
    (encoded, end + padding)
}

/// Returns base64 in the standard alphabet.
fn standard(run: &[u8]) -> Vec<u8> {
    let translated = run.iter().map(|byte| match byte {
        b'-' => b'+',
        b'_' => b'/',
        byte => *byte,
    });
    translated.collect()
}

/// Decodes base64 to text; `None` if that fails.
fn decode(mut encoded: Vec<u8>) -> Option<String> {
    // A single character of a group has no meaning, and ends the decoding with an error.
    if encoded.len() % 4 == 1 {
        encoded.pop();
    }
    let bytes = DECODER.decode(encoded).ok()?;
    if is_wide_text(&bytes) {
        let low: Vec<u8> = bytes.chunks_exact(2).map(|pair| pair[0]).collect();
        return String::from_utf8(low).ok();
    }
    is_text(&bytes).then(|| String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the encoded parts whose text contains `word`.
    fn places(text: &str, word: &str) -> Vec<String> {
        let found = find(text, &mut |view: &str| view.contains(word).then_some("x"));
        found
            .iter()
            .map(|one| text[one.range.clone()].to_owned())
            .collect()
    }

    #[test]
    fn encoded_text_is_found_as_a_whole() {
        let plain = "A=1\nNAME=the word in a file\nB=2, and more\n";
        let encoded = DECODER.encode(plain);
        for text in [
            encoded.clone(),
            format!("echo {encoded} | base64 -d"),
            format!("x: \"{encoded}\","),
            format!("{{\"a\":\"{encoded}\"}}"),
        ] {
            assert_eq!(
                places(&text, "the word"),
                std::slice::from_ref(&encoded),
                "{text}"
            );
        }
        assert!(places("a line without any encoded words in it", "the").is_empty());
        let wide: Vec<u8> = plain.bytes().flat_map(|b| [b, 0]).collect();
        assert_eq!(places(&DECODER.encode(wide), "the word").len(), 1);
    }

    #[test]
    fn wrapped_lines_are_joined() {
        let plain = "NAME=a value\n".repeat(20) + "LAST=the word\n";
        let encoded = DECODER.encode(plain);
        for width in [60, 64, 76] {
            for indent in ["", "    "] {
                let lines: Vec<_> = encoded.as_bytes().chunks(width).collect();
                let lines: Vec<_> = lines
                    .iter()
                    .map(|line| std::str::from_utf8(line).unwrap())
                    .collect();
                let text = lines.join(&format!("\n{indent}"));
                assert_eq!(places(&format!("x\n{text}\ny"), "the word"), [text]);
            }
        }
    }
}
