//! Word wrap for texts of constant form.

/// Breaks a text between words into lines of at most `width` characters, each indented by `indent` blanks; a word that
/// is longer has a line of its own.
pub(crate) fn wrap_words(text: &str, width: usize, indent: usize) -> String {
    let blanks = " ".repeat(indent);
    let (mut lines, mut line) = (Vec::new(), String::new());
    for word in text.split_whitespace() {
        let is_full =
            !line.is_empty() && indent + line.chars().count() + 1 + word.chars().count() > width;
        if is_full {
            lines.push(format!("{blanks}{line}"));
            line.clear();
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    lines.push(format!("{blanks}{line}"));
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::wrap_words;

    #[test]
    fn wrap_words_breaks_between_words_and_indents() {
        assert_eq!(wrap_words("one two three", 9, 2), "  one two\n  three");
        assert_eq!(wrap_words("one two", 80, 0), "one two");
        assert_eq!(
            wrap_words("a incomprehensible b", 6, 1),
            " a\n incomprehensible\n b"
        );
        assert_eq!(wrap_words("", 6, 1), " ");
    }
}
