//! Texts whose stored form is bounded.

/// Returns the beginning of a text that takes at most `bytes_max` bytes as a JSON string. Control characters become
/// blanks, so that no character takes more than twice its length.
pub(crate) fn bounded(text: &str, bytes_max: usize) -> String {
    let mut out = String::with_capacity(text.len().min(bytes_max));
    let mut used = 0;
    for c in text.chars() {
        let c = match c.is_control() {
            true => ' ',
            false => c,
        };
        used += c.len_utf8() + usize::from(matches!(c, '"' | '\\'));
        if used > bytes_max {
            break;
        }
        out.push(c);
    }
    out
}

/// As [`bounded`], with `…` at the end if something was left out.
pub(crate) fn bounded_excerpt(text: &str, bytes_max: usize) -> String {
    let mut out = bounded(text, bytes_max);
    if out.chars().count() < text.chars().take(bytes_max + 1).count() {
        out = bounded(text, bytes_max.saturating_sub('…'.len_utf8()));
        out.truncate(out.trim_end().len());
        out.push('…');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounded_counts_escapes_and_replaces_control_characters() {
        assert_eq!(bounded("a\0b\nc", 9), "a b c");
        assert_eq!(bounded("\"\"\"", 4), "\"\"");
        assert_eq!(bounded("äöü", 5), "äö");
        assert_eq!(bounded_excerpt("abcdef", 6), "abcdef");
        assert_eq!(bounded_excerpt("abc defgh", 7), "abc…");
        assert_eq!(bounded_excerpt("", 0), "");
    }
}
