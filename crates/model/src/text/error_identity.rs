//! Identities of errors: texts without the numbers and addresses that differ between two runs.

use super::strip_ansi;

/// Masks the addresses and numbers of an error, and folds its spacing.
///
/// Terminal colours are removed, runs of digits and hexadecimal addresses become `#`, case is folded.
pub fn mask_error_numbers(text: &str) -> String {
    mask_numbers(text, NumberMask::All)
}

/// Returns the identity of an error: as [`mask_error_numbers`], but digits that are part of a name, as in `test_1` and
/// `E0502`, or that name a test, as in `test-1`, `test_add[2]` and `test 1`, stay.
pub fn error_identity(text: &str) -> String {
    mask_numbers(text, NumberMask::OutsideOfNamesAndTests)
}

/// Returns the identity of an error as earlier versions derived it, which masked digits of a test's name after a hyphen
/// or a blank.
pub(crate) fn earlier_error_identity(text: &str) -> String {
    mask_numbers(text, NumberMask::OutsideOfNames)
}

/// Returns the names of tests in an error, without the files that contain them; paths and line numbers are no names.
pub fn test_names(text: &str) -> Vec<String> {
    let plain = strip_ansi(text);
    let mut names = Vec::new();
    let mut before = String::new();
    for word in plain.split_whitespace() {
        let mut masked = String::new();
        let lower = word.to_lowercase();
        push_masked_word(&mut masked, &lower, NumberMask::OutsideOfNamesAndTests);
        if is_number_of_test(&before, &lower) {
            names.push(lower.clone());
        } else if is_test_word(&masked) {
            let bare = word.trim_matches(|c: char| !c.is_alphanumeric() && c != ']');
            let last = bare.rsplit("::").next().unwrap_or(bare);
            let is_file = last.contains(['/', '.']);
            let is_camel =
                last.contains(char::is_lowercase) && last.chars().skip(1).any(char::is_uppercase);
            let is_noun = last.chars().all(char::is_alphabetic) && !is_camel;
            if is_test_word(&last.to_lowercase()) && !is_file && !is_noun {
                names.push(last.to_lowercase());
            }
        }
        before = lower;
    }
    names
}

/// Numbers that are masked in an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum NumberMask {
    All,
    OutsideOfNames,
    OutsideOfNamesAndTests,
}

fn mask_numbers(text: &str, mask: NumberMask) -> String {
    let lower = strip_ansi(text).to_lowercase();
    let mut out = String::with_capacity(lower.len());
    let mut before = "";
    for word in lower.split_whitespace() {
        if !out.is_empty() {
            out.push(' ');
        }
        let names_test = mask == NumberMask::OutsideOfNamesAndTests;
        if names_test && is_number_of_test(before, word) {
            out.push_str(word);
        } else {
            push_masked_word(&mut out, word, mask);
        }
        before = word;
    }
    out.trim_end_matches(['.', '!', ',', ';', ':']).to_owned()
}

/// Returns true for the number in `test 1` and `case #2`.
fn is_number_of_test(before: &str, word: &str) -> bool {
    const NOUNS: [&str; 5] = ["test", "case", "spec", "target", "scenario"];
    let number = word.trim_matches(|c: char| !c.is_alphanumeric());
    NOUNS.contains(&before)
        && !number.is_empty()
        && number.bytes().all(|byte| byte.is_ascii_digit())
}

/// Returns true for a word that names a test or a target, unless it is an absolute path, which may be temporary.
fn is_test_word(word: &str) -> bool {
    let bare = word.trim_start_matches(|c: char| !c.is_alphanumeric() && c != '/');
    !bare.starts_with('/')
        && ["test", "spec", "case", "target"]
            .iter()
            .any(|noun| word.contains(noun))
}

fn push_masked_word(out: &mut String, word: &str, mask: NumberMask) {
    let in_test = mask == NumberMask::OutsideOfNamesAndTests && is_test_word(word);
    let mut was_masked = false;
    let mut rest = word;
    while let Some(start) = rest.find(|c: char| c.is_ascii_digit()) {
        let before = &rest[..start];
        out.push_str(before);
        let is_name = before.ends_with(|c: char| c.is_alphabetic() || c == '_');
        // Line numbers, times and counts follow these marks; the rest of a decimal follows a masked number.
        let is_measure = before.ends_with([':', '(', '=']) || (was_masked && before == ".");
        let is_address = rest[start..].starts_with("0x");
        let stays = match mask {
            NumberMask::All => false,
            NumberMask::OutsideOfNames => is_name,
            NumberMask::OutsideOfNamesAndTests => {
                is_name || (in_test && !is_measure && !is_address)
            }
        };
        was_masked = !stays;
        if stays {
            let tail = rest[start..].trim_start_matches(|c: char| c.is_ascii_digit());
            out.push_str(&rest[start..rest.len() - tail.len()]);
            rest = tail;
            continue;
        }
        out.push('#');
        let hex = rest[start..].strip_prefix("0x");
        let tail = hex.unwrap_or(&rest[start..]);
        let is_part = |c: char| {
            if hex.is_some() {
                c.is_ascii_hexdigit()
            } else {
                c.is_ascii_digit()
            }
        };
        rest = tail.trim_start_matches(is_part);
    }
    out.push_str(rest);
}
