//! Error signature: the words of an error without paths, numbers, addresses, colours, quotes and times.

use heirloom_model::text;

/// Returns the signature of an error, equal for the same error in another file, line, process or at another time. May
/// be empty.
pub fn signature(error: &str) -> String {
    let identity = text::error_identity(error);
    let mut words = Vec::new();
    for word in identity.split(is_separator) {
        let word = word.trim_matches(|c: char| !c.is_alphanumeric());
        if word.is_empty() || is_variable_part(word) {
            continue;
        }
        // Repeated words count once: the length of a stack trace is irrelevant.
        if words.last() != Some(&word) {
            words.push(word);
        }
    }
    words.join(" ")
}

/// Returns true if two errors have the same signature.
pub fn is_same_error(one: &str, other: &str) -> bool {
    let one = signature(one);
    !one.is_empty() && one == signature(other)
}

fn is_separator(c: char) -> bool {
    c.is_whitespace()
        || matches!(
            c,
            '"' | '\''
                | '`'
                | '‘'
                | '’'
                | '“'
                | '”'
                | '('
                | ')'
                | '['
                | ']'
                | '{'
                | '}'
                | '<'
                | '>'
                | ','
                | ';'
                | '='
                | '|'
                | '│'
                | '^'
        )
}

/// Returns true if a word is a path, a file, or what is left of a masked number: `#ms`, `#th`.
fn is_variable_part(word: &str) -> bool {
    let is_path = word.contains(['/', '\\']) && !word.contains("://");
    let is_file = is_file_name(word.split(':').next().unwrap_or(word)) && !word.contains("::");
    let is_number = word.contains('#') && word.chars().filter(|c| c.is_alphanumeric()).count() <= 3;
    is_path || is_file || is_number
}

/// Returns true for a file name: a stem, a dot, and a short extension that begins with a letter.
fn is_file_name(word: &str) -> bool {
    let Some((stem, ending)) = word.rsplit_once('.') else {
        return false;
    };
    let mut ending = ending.chars();
    let begins = ending.next().is_some_and(|c| c.is_ascii_lowercase());
    let rest = ending.clone().count();
    !stem.is_empty() && begins && rest <= 4 && ending.all(|c| c.is_ascii_alphanumeric())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_same_error_in_other_place() {
        for (one, other) in [
            (
                "cannot open src/a.rs: No such file",
                "Cannot open 'lib/b.rs': no such file",
            ),
            (
                "\u{1b}[31merror\u{1b}[0m[E0502]: cannot borrow `x` at src/main.rs:42:7",
                "error[E0502]: cannot borrow \"x\" at src/lib.rs:1:99",
            ),
            (
                "panic at 0x7ffe12ab after 42ms",
                "panic at 0xdeadbeef after 7ms",
            ),
            (
                "timeout after 30s at 2026-05-01T10:00:00Z",
                "timeout after 5s at 2026-06-02T11:00:01Z",
            ),
            (
                "main.py line 3: KeyError: 'user'",
                "other.py line 99: KeyError: user",
            ),
            (r"C:\src\a.rs: denied", r"D:\b.rs: denied"),
            ("commit 3f2a91c not found", "commit 99aa01b not found"),
        ] {
            assert!(
                is_same_error(one, other),
                "{} / {}",
                signature(one),
                signature(other)
            );
        }
    }

    #[test]
    fn is_same_error_false_for_other_errors() {
        for (one, other) in [
            ("cannot open a.rs", "cannot close a.rs"),
            ("error E0502: cannot borrow", "error E0499: cannot borrow"),
            ("KeyError: 'user'", "KeyError: 'name'"),
            ("std::fs failed", "std::env failed"),
            ("", ""),
            ("42", "42"),
            ("port 8080 is in use", "port 9090 is in use"),
            ("refused 127.0.0.1:5432", "refused 127.0.0.1:6379"),
            ("HTTP 404 from a.rs", "HTTP 500 from a.rs"),
            ("requires Python 3.8", "requires Python 3.12"),
            ("src/a.rs:1:2", "src/a.rs:1:2"),
        ] {
            assert!(
                !is_same_error(one, other),
                "{} / {}",
                signature(one),
                signature(other)
            );
        }
    }

    proptest::proptest! {
        #[test]
        fn signature_is_normalized(error in "([a-z]{1,4}|[0-9]{1,3}|\\PC|[/.:'\" \n]|\u{1b}\\[3[0-9]m){0,30}") {
            let once = signature(&error);
            assert!(!once.contains("  ") && once.trim() == once);
        }
    }
}
