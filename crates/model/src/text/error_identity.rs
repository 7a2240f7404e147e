//! Identities of errors: texts without the numbers, addresses and temporary names that differ between two runs.

mod named_number;
mod piece;

use super::strip_ansi;
use named_number::NumberContext;
use piece::{Piece, next_piece};

/// Folders whose names change with each run.
const TEMPORARY_FOLDERS: [&str; 7] = [
    "/private/tmp/",
    "/private/var/folders/",
    "/var/folders/",
    "/var/tmp/",
    "/tmp/",
    "\\temp\\",
    "\\tmp\\",
];
/// Digits in a row from which they are a time or a counter even in a name: `log_1700000000`.
const COUNTER_DIGITS_MIN: usize = 8;
/// Names before a number that differ between two runs: `pid12`, `line7`.
const VARIABLE_NAMES: [&str; 6] = ["col", "line", "ln", "pid", "tid", "tmp"];

/// Returns the identity of an error.
///
/// Terminal colours are removed, case and spacing are folded. Times, durations, addresses, line numbers, counters,
/// process ids, hashes and temporary paths become `#`. A number stays if a word or a prefix next to it names it, as in
/// `test_1`, `E0502`, `HTTP 404`, `Python 3.8`, `takes 2 arguments` and `127.0.0.1:5432`, or if it names a test, as in
/// `test-1`, `test_add[2]` and `test 1`.
pub fn error_identity(text: &str) -> String {
    let plain = strip_ansi(text);
    let words: Vec<String> = plain.split_whitespace().map(mask_temporary_names).collect();
    let written = words.join(" ");
    let mut context = NumberContext::new(&written);
    let mut out = String::with_capacity(written.len());
    let mut at = 0;
    while let Some(piece) = next_piece(&written, at) {
        at = piece.end();
        match piece {
            Piece::Mark(range) => out.push_str(&written[range]),
            Piece::Name(range) => push_name(&mut out, &written[range].to_lowercase()),
            Piece::Number(range) if context.is_named(range.clone()) => {
                out.push_str(&written[range].to_lowercase());
            }
            Piece::Number(range) => push_masked_number(&mut out, &written[range]),
        }
    }
    let end = out.trim_end_matches(['.', '!', ',', ';', ':']).len();
    out.truncate(end);
    out
}

/// Returns the names of tests in an error, without the files that contain them; paths and line numbers are no names.
pub fn test_names(text: &str) -> Vec<String> {
    let plain = strip_ansi(text);
    let mut names = Vec::new();
    let mut before = String::new();
    for word in plain.split_whitespace() {
        let lower = word.to_lowercase();
        if is_number_of_test(&before, &lower) {
            names.push(lower.clone());
        } else if is_test_word(&lower) {
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

/// Masks the random parts of a path in a temporary folder, and UUIDs.
fn mask_temporary_names(word: &str) -> String {
    let lower = word.to_ascii_lowercase();
    let mut roots = TEMPORARY_FOLDERS.iter();
    let Some((at, root)) = roots.find_map(|root| Some((lower.find(root)?, root))) else {
        return mask_uuids(word);
    };
    let (head, path) = word.split_at(at + root.len());
    let mut out = head.to_owned();
    for part in path.split_inclusive(['/', '\\', ':']) {
        let name = part.trim_end_matches(['/', '\\', ':']);
        let is_random = name.contains(|c: char| c.is_ascii_digit())
            || name.trim_start_matches('.').starts_with("tmp")
            || root.ends_with("folders/") && name.len() <= 2;
        out.push_str(if is_random { "#" } else { name });
        out.push_str(&part[name.len()..]);
    }
    out
}

fn mask_uuids(word: &str) -> String {
    let is_part = |c: char| c.is_ascii_hexdigit() || c == '-';
    let mut out = String::with_capacity(word.len());
    let mut rest = word;
    while let Some(start) = rest.find(is_part) {
        let end = rest[start..]
            .find(|c| !is_part(c))
            .map_or(rest.len(), |end| start + end);
        let part = &rest[start..end];
        out.push_str(&rest[..start]);
        let is_uuid = part.contains('-') && uuid::Uuid::try_parse(part).is_ok();
        out.push_str(if is_uuid { "#" } else { part });
        rest = &rest[end..];
    }
    out.push_str(rest);
    out
}

/// Appends a name, without its digits if they are a counter, a time or a hash.
fn push_name(out: &mut String, name: &str) {
    let letters = name.trim_end_matches(|c: char| c.is_ascii_digit());
    if is_hash(name) {
        out.push('#');
        return;
    }
    let is_variable = letters.len() < name.len() && VARIABLE_NAMES.contains(&letters);
    let mut rest = name;
    while let Some(start) = rest.find(|c: char| c.is_ascii_digit()) {
        let tail = rest[start..].trim_start_matches(|c: char| c.is_ascii_digit());
        let digits = &rest[start..rest.len() - tail.len()];
        out.push_str(&rest[..start]);
        let is_masked = is_variable || digits.len() >= COUNTER_DIGITS_MIN;
        out.push_str(if is_masked { "#" } else { digits });
        rest = tail;
    }
    out.push_str(rest);
}

/// Appends a number as `#`, with its unit.
fn push_masked_number(out: &mut String, number: &str) {
    out.push('#');
    let unit = number.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
    if !unit.contains(|c: char| c.is_ascii_digit()) && !number.starts_with("0x") && !is_hash(number)
    {
        out.push_str(&unit.to_lowercase());
    }
}

/// Returns true for seven or more hexadecimal digits with letters and decimal digits among them, as in ids of commits.
fn is_hash(name: &str) -> bool {
    name.len() >= 7
        && name.bytes().all(|byte| byte.is_ascii_hexdigit())
        && name.bytes().any(|byte| byte.is_ascii_digit())
        && name.bytes().any(|byte| byte.is_ascii_alphabetic())
}
