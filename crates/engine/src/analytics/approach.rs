//! Equality of approaches.

/// Returns a key that is the same for equal approaches: without case, spacing and punctuation.
///
/// Significant characters stay: numbers with their point and sign, and signs such as `+`, `#` and `/`, as in `C++`,
/// `C#` and `src/a`.
pub fn approach_key(approach: &str) -> String {
    let folded = approach.to_lowercase();
    let all: Vec<char> = folded.chars().collect();
    let mut key = String::with_capacity(folded.len());
    let mut gap = false;
    for (at, &c) in all.iter().enumerate() {
        let before = at.checked_sub(1).and_then(|at| all.get(at)).copied();
        if is_gap(c, before, all.get(at + 1).copied()) {
            gap = !key.is_empty();
            continue;
        }
        if std::mem::take(&mut gap) {
            key.push(' ');
        }
        key.push(c);
    }
    if key.is_empty() {
        return approach.trim().to_owned();
    }
    key
}

/// Returns true if a character only separates words.
fn is_gap(c: char, before: Option<char>, after: Option<char>) -> bool {
    let digit = |c: Option<char>| c.is_some_and(|c| c.is_ascii_digit());
    match c {
        '.' | ',' => !(digit(before) && digit(after)),
        '-' => !digit(after) || before.is_some_and(|c| !c.is_whitespace()),
        '+' | '#' | '%' | '/' | '@' | '&' | '$' | '=' | '<' | '>' | '^' | '~' | '\\' => false,
        c => c.is_control() || c.is_whitespace() || is_punctuation(c),
    }
}

fn is_punctuation(c: char) -> bool {
    c.is_ascii_punctuation()
        || matches!(
            c,
            '…' | '–'
                | '—'
                | '‘'
                | '’'
                | '“'
                | '”'
                | '„'
                | '«'
                | '»'
                | '·'
                | '¿'
                | '¡'
                | '、'
                | '。'
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn approach_key_ignores_case_spacing_and_punctuation() {
        for (a, b) in [
            ("Mock the clock", " mock  the\tclock. "),
            ("mock the clock!", "\"Mock\" the, clock…"),
            ("re-run it", "re run it"),
            ("use `cargo test`", "use cargo test"),
            ("don’t wait", "don't wait"),
            ("Ärger — später", "ärger später"),
        ] {
            assert_eq!(approach_key(a), approach_key(b), "{a} {b}");
        }
    }

    #[test]
    fn approach_key_keeps_significant_characters() {
        for (a, b) in [
            ("use port 80", "use port 81"),
            ("wait 1.5 s", "wait 15 s"),
            ("wait 1.5 s", "wait 1 5 s"),
            ("shift by -1", "shift by 1"),
            ("write it in C++", "write it in C"),
            ("write it in C#", "write it in C"),
            ("do use it", "do not use it"),
            ("edit src/a", "edit srca"),
            ("!!!", "???!"),
        ] {
            assert_ne!(approach_key(a), approach_key(b), "{a} {b}");
        }
    }
}
