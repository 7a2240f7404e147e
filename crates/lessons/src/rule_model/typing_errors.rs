//! Typing errors: a word that differs from a known one by one slip of the fingers.

/// Smallest number of letters of a known word whose misspelling is recognised.
const LETTERS_MIN: usize = 4;
/// Smallest number of letters of a known word with a wrong key; among shorter ones many are words (`tags`, `tabs`).
const KEY_LETTERS_MIN: usize = 5;
/// Smallest number of letters of the longer word if a letter is missing or doubled.
const LONG_LETTERS_MIN: usize = 6;
/// Rows of a keyboard; neighbouring keys differ by at most one row and one place.
const KEY_ROWS: [&[u8]; 3] = [b"qwertyuiop", b"asdfghjkl", b"zxcvbnm"];

/// Returns true if `typed` is the known word with one typing error: two letters swapped, a neighbouring key (`doez` for
/// `does`), or in longer words a letter too few or too many. The first letter is right, and so is the last one of a
/// longer or shorter word, which may be another form (`comment`, `comments`).
pub(super) fn is_misspelling(typed: &str, known: &str) -> bool {
    let (typed, known) = (typed.as_bytes(), known.as_bytes());
    if known.len() < LETTERS_MIN || typed.first() != known.first() {
        return false;
    }
    let start = typed.iter().zip(known).take_while(|(a, b)| a == b).count();
    let (typed_rest, known_rest) = (
        typed.get(start..).unwrap_or_default(),
        known.get(start..).unwrap_or_default(),
    );
    match (typed_rest, known_rest) {
        ([a, b, after @ ..], [c, d, expected @ ..]) if a == d && b == c && after == expected => {
            true
        }
        ([a, after @ ..], [b, expected @ ..]) if after == expected => {
            known.len() >= KEY_LETTERS_MIN && is_neighbour(*a, *b)
        }
        ([_, after @ ..], expected) | (expected, [_, after @ ..])
            if after == expected && !after.is_empty() =>
        {
            typed.len().max(known.len()) >= LONG_LETTERS_MIN
        }
        _ => false,
    }
}

/// Returns true for two letters whose keys are next to each other.
fn is_neighbour(a: u8, b: u8) -> bool {
    let place = |key: u8| {
        KEY_ROWS.iter().enumerate().find_map(|(row, keys)| {
            let column = keys.iter().position(|one| *one == key)?;
            Some((row, column))
        })
    };
    let (Some((row, column)), Some((other_row, other_column))) = (place(a), place(b)) else {
        return false;
    };
    row.abs_diff(other_row) <= 1 && column.abs_diff(other_column) <= 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn misspellings_are_one_slip_away() {
        for (typed, known) in [
            ("rememebr", "remember"),
            ("alwyas", "always"),
            ("nevet", "never"),
            ("insstead", "instead"),
        ] {
            assert!(is_misspelling(typed, known), "{typed}");
        }
        for (typed, known) in [
            ("must", "most"),
            ("just", "must"),
            ("very", "every"),
            ("step", "stop"),
            ("nit", "not"),
            ("pleas", "please"),
            ("comments", "comment"),
            ("ever", "never"),
            ("tags", "tabs"),
            ("", "never"),
        ] {
            assert!(!is_misspelling(typed, known), "{typed}");
        }
    }
}
