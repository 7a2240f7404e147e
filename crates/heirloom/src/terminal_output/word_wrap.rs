//! Word wrap for texts of constant form, and for values after a label.

use unicode_width::UnicodeWidthStr;

/// Columns that a value after a label needs; in fewer ones the terminal wraps it.
const VALUE_WIDTH_MIN: usize = 20;

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

/// Breaks a text between words into lines of at most `width` columns. Words between backticks, such as a command to
/// copy, stay on one line. A text that fits is returned unchanged, and one for which there is no place is not broken.
pub(crate) fn wrap_value(text: &str, width: usize) -> Vec<String> {
    if text.width() <= width || width < VALUE_WIDTH_MIN {
        return vec![text.to_owned()];
    }
    let (mut lines, mut line) = (Vec::new(), String::new());
    let mut is_quoted = false;
    let mut unit = String::new();
    for word in text.split(' ') {
        if !unit.is_empty() {
            unit.push(' ');
        }
        unit.push_str(word);
        if word.matches('`').count() % 2 == 1 {
            is_quoted = !is_quoted;
        }
        if is_quoted {
            continue;
        }
        push_unit(&mut line, &mut lines, &std::mem::take(&mut unit), width);
    }
    // A backtick without its pair.
    for word in unit.split_whitespace() {
        push_unit(&mut line, &mut lines, word, width);
    }
    lines.push(line);
    lines
}

/// Appends words to the line, or begins a new line with them if they do not fit.
fn push_unit(line: &mut String, lines: &mut Vec<String>, unit: &str, width: usize) {
    if !line.is_empty() && line.width() + 1 + unit.width() > width {
        lines.push(std::mem::take(line));
    }
    if !line.is_empty() {
        line.push(' ');
    }
    line.push_str(unit);
}

#[cfg(test)]
mod tests {
    use super::{wrap_value, wrap_words};

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

    #[test]
    fn wrap_value_keeps_commands_and_texts_that_fit() {
        assert_eq!(wrap_value("one  two", 20), ["one  two"]);
        let text = "use the command `heirloom reembed --anew` now";
        let expected = ["use the command", "`heirloom reembed --anew`", "now"];
        assert_eq!(wrap_value(text, 24), expected);
        let expected = ["one ` two three four", "five"];
        assert_eq!(wrap_value("one ` two three four five", 20), expected);
        let wide = "今天 明天 今天 明天 今天";
        assert_eq!(wrap_value(wide, 20), ["今天 明天 今天 明天", "今天"]);
        let long = "a".repeat(30) + " b";
        assert_eq!(wrap_value(&long, 20), ["a".repeat(30).as_str(), "b"]);
        // No place.
        assert_eq!(wrap_value(&long, 19), [long]);
    }
}
