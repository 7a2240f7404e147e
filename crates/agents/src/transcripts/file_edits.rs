//! Construction of file edits with bounded texts.

use super::FileEdit;
use heirloom_model::limits::TRANSCRIPT_EDIT_CHARS_MAX;

impl FileEdit {
    /// Creates an edit whose content is not recorded.
    pub fn of_path(path: String) -> Self {
        Self {
            path,
            ..Self::default()
        }
    }

    /// Creates the edit that replaces `removed` by `added`. Equal first and last lines are left out.
    pub(crate) fn replacing(path: String, removed: &str, added: &str) -> Self {
        let mut edit = Self::of_path(path);
        edit.add_replacement(removed, added);
        edit
    }

    /// Adds another replacement in the same file, in lines of its own.
    pub(crate) fn add_replacement(&mut self, removed: &str, added: &str) {
        if has_private_key(removed) || has_private_key(added) {
            return;
        }
        let (removed, added) = without_common_lines(removed, added);
        add_lines(&mut self.removed, removed);
        add_lines(&mut self.added, added);
    }
}

/// Returns true for a text with a private key: without its first line, the rest is not recognised as a secret.
pub(super) fn has_private_key(text: &str) -> bool {
    memchr::memmem::find(text.as_bytes(), b"PRIVATE KEY-----").is_some()
}

/// Appends a text in lines of its own, up to the maximum length, which is measured in bytes: counting characters for
/// each line of a patch would read the text again and again.
pub(super) fn add_lines(text: &mut String, more: &str) {
    let more = more.trim_end_matches(['\n', '\r']);
    let left = TRANSCRIPT_EDIT_CHARS_MAX.saturating_sub(text.len() + 1);
    let more = clip_at_blank(more, left);
    if more.is_empty() {
        return;
    }
    if !text.is_empty() {
        text.push('\n');
    }
    text.push_str(more);
}

/// Returns the beginning of a text up to a blank: the text is redacted later, and a cut secret would not be recognised.
fn clip_at_blank(text: &str, bytes_max: usize) -> &str {
    if text.len() <= bytes_max {
        return text;
    }
    let first = &text[..text.floor_char_boundary(bytes_max)];
    let end = first.rfind(char::is_whitespace).unwrap_or(0);
    first[..end].trim_end()
}

/// Removes the lines with which both texts begin and end.
fn without_common_lines<'t>(mut one: &'t str, mut other: &'t str) -> (&'t str, &'t str) {
    while let (Some(first), Some(second)) = (first_line(one), first_line(other)) {
        if first != second {
            break;
        }
        (one, other) = (&one[first.len()..], &other[second.len()..]);
    }
    while let (Some(last), Some(second)) = (last_line(one), last_line(other)) {
        if last.trim_end() != second.trim_end() {
            break;
        }
        one = &one[..one.len() - last.len()];
        other = &other[..other.len() - second.len()];
    }
    (one, other)
}

/// Returns the first line with its line feed.
fn first_line(text: &str) -> Option<&str> {
    text.split_inclusive('\n').next()
}

/// Returns the last line with its line feed.
fn last_line(text: &str) -> Option<&str> {
    text.split_inclusive('\n').next_back()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replacing_leaves_out_common_lines() {
        for (removed, added, expected) in [
            ("a\nb\nc", "a\nx\nc", ("b", "x")),
            ("a\nc\n", "a\nb\nc\n", ("", "b")),
            ("same", "same", ("", "")),
            ("x = 1", "x = 2\n", ("x = 1", "x = 2")),
            ("", "new\nfile\n", ("", "new\nfile")),
            ("a\na", "a", ("a", "")),
        ] {
            let edit = FileEdit::replacing("f".to_owned(), removed, added);
            assert_eq!((&*edit.removed, &*edit.added), expected, "{removed:?}");
        }
    }

    #[test]
    fn edit_texts_are_bounded() {
        let long = "äb cd ".repeat(TRANSCRIPT_EDIT_CHARS_MAX);
        let mut edit = FileEdit::replacing("f".to_owned(), "", &long);
        let before = edit.clone();
        assert!(edit.added.ends_with("cd") || edit.added.ends_with("äb"));
        assert!(edit.added.len() + 20 > TRANSCRIPT_EDIT_CHARS_MAX);
        for _ in 0..3 {
            edit.add_replacement("", &long);
        }
        assert!(edit.added.len() <= TRANSCRIPT_EDIT_CHARS_MAX);
        assert!(edit.added.starts_with(&before.added));
        let unbroken = "x".repeat(TRANSCRIPT_EDIT_CHARS_MAX * 2);
        assert_eq!(FileEdit::replacing("f".to_owned(), "", &unbroken).added, "");
    }

    #[test]
    fn edit_of_private_key_has_no_content() {
        let key = |body: &str| {
            format!("-----BEGIN RSA PRIVATE KEY-----\n{body}\n-----END RSA PRIVATE KEY-----")
        };
        let edit = FileEdit::replacing("f".to_owned(), &key("MIIEow"), &key("MIIEpA"));
        assert_eq!(edit, FileEdit::of_path("f".to_owned()));
    }
}
