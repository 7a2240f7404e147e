//! HTML escaping of text from memory.

use askama::filters::HtmlSafe;
use heirloom_model::text;
use similar::{Algorithm, DiffTag, capture_diff_slices, group_diff_ops};
use std::fmt;

/// Safe HTML markup.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Html(String);

impl Html {
    /// Wraps markup in which all foreign text is escaped.
    pub(crate) fn from_markup(markup: String) -> Self {
        Self(markup)
    }

    /// Returns true for no markup.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl fmt::Display for Html {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl HtmlSafe for Html {}

/// Escapes text, makes control characters visible, and renders backticks as code.
pub(crate) fn render_text(words: &str) -> Html {
    let words = text::replace_control_chars(words);
    let mut out = String::with_capacity(words.len() + words.len() / 8);
    let mut rest = words.as_str();
    while let Some((before, behind)) = rest.split_once('`') {
        let Some((code, after)) = behind.split_once('`').filter(|(code, _)| !code.is_empty())
        else {
            break;
        };
        escape(before, &mut out);
        out.push_str("<code>");
        escape(code, &mut out);
        out.push_str("</code>");
        rest = after;
    }
    escape(rest, &mut out);
    Html(out)
}

/// Maximum number of compared words; later ones are not shown.
const WORDS_MAX: usize = 400;
/// Maximum number of compared lines; later ones are not shown.
const LINES_MAX: usize = 2_000;
/// Number of equal lines shown before and after a changed one.
const LINES_AROUND: usize = 2;

/// Splits a text into words at white space; code between backticks is part of one word.
pub(crate) fn split_words(text: &str) -> Vec<&str> {
    let mut words = Vec::new();
    let (mut start, mut in_code) = (None, false);
    for (at, c) in text.char_indices() {
        if c.is_whitespace() && !in_code {
            words.extend(start.take().and_then(|start| text.get(start..at)));
            continue;
        }
        start.get_or_insert(at);
        if c == '`' {
            let after = text.get(at + 1..).unwrap_or_default();
            in_code = !in_code && after.find('`').is_some_and(|end| end > 0);
        }
    }
    words.extend(start.and_then(|start| text.get(start..)));
    words
}

/// Renders a word diff of two texts: removed words are crossed out, added ones marked.
pub(crate) fn diff(old: &str, new: &str) -> Html {
    let (old, new) = (
        text::replace_control_chars(old),
        text::replace_control_chars(new),
    );
    let limited = |text| {
        let mut words = split_words(text);
        words.truncate(WORDS_MAX);
        words
    };
    let (old, new) = (limited(&old), limited(&new));
    let mut out = String::new();
    for op in capture_diff_slices(Algorithm::Myers, &old, &new) {
        let (tag, old_range, new_range) = op.as_tag_tuple();
        if tag == DiffTag::Equal {
            push_words(&old[old_range], &mut out);
            out.push(' ');
            continue;
        }
        push_element("del", &old[old_range], &mut out);
        push_element("ins", &new[new_range], &mut out);
    }
    Html(out.trim_end().to_owned())
}

/// Appends an element with words and a space; nothing if there are no words.
fn push_element(tag: &str, words: &[&str], out: &mut String) {
    if words.is_empty() {
        return;
    }
    out.push_str(&format!("<{tag}>"));
    push_words(words, out);
    out.push_str(&format!("</{tag}> "));
}

/// Appends rendered words, separated by spaces.
fn push_words(words: &[&str], out: &mut String) {
    let words: Vec<String> = words.iter().map(|word| render_text(word).0).collect();
    out.push_str(&words.join(" "));
}

/// Renders a line diff of two files: changed lines with a few equal ones around them.
pub(crate) fn line_diff(old: &str, new: &str) -> Html {
    let old: Vec<&str> = old.lines().take(LINES_MAX).collect();
    let new: Vec<&str> = new.lines().take(LINES_MAX).collect();
    let mut out = String::new();
    for group in group_diff_ops(
        capture_diff_slices(Algorithm::Myers, &old, &new),
        LINES_AROUND,
    ) {
        if !out.is_empty() {
            out.push_str("…\n");
        }
        for op in group {
            let (tag, old_range, new_range) = op.as_tag_tuple();
            if tag == DiffTag::Equal {
                push_lines(' ', "", &old[old_range], &mut out);
                continue;
            }
            push_lines('-', "del", &old[old_range], &mut out);
            push_lines('+', "ins", &new[new_range], &mut out);
        }
    }
    Html(out)
}

/// Appends lines with their sign, each in an element if `tag` is not empty.
fn push_lines(sign: char, tag: &str, lines: &[&str], out: &mut String) {
    for line in lines {
        if !tag.is_empty() {
            out.push_str(&format!("<{tag}>"));
        }
        out.push(sign);
        out.push(' ');
        escape(&text::replace_control_chars(line), out);
        if !tag.is_empty() {
            out.push_str(&format!("</{tag}>"));
        }
        out.push('\n');
    }
}

/// Appends HTML-escaped text to `out`.
pub(crate) fn escape(words: &str, out: &mut String) {
    for c in words.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c => out.push(c),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn render_text_escapes_markup() {
        assert_eq!(
            render_text("<script>alert(1)</script> & \"x\" 'y'").to_string(),
            "&lt;script&gt;alert(1)&lt;/script&gt; &amp; &quot;x&quot; &#39;y&#39;"
        );
        assert_eq!(
            render_text("run `just <db>` twice, `open").to_string(),
            "run <code>just &lt;db&gt;</code> twice, `open"
        );
        let escape = render_text("a \u{1b}[31mred\u{1b}[0m").to_string();
        assert!(!escape.contains('\u{1b}'), "{escape}");
        assert_eq!(render_text("``").to_string(), "``");
    }

    #[test]
    fn diff_marks_removed_and_added_words() {
        assert_eq!(
            diff("polls every 10 s now", "polls every 2 s").to_string(),
            "polls every <del>10</del> <ins>2</ins> s <del>now</del>"
        );
        assert_eq!(diff("same", "same").to_string(), "same");
        assert_eq!(diff("", "<b>").to_string(), "<ins>&lt;b&gt;</ins>");
        assert_eq!(
            diff("run `just db` first", "run `just <db>`; first").to_string(),
            "run <del><code>just db</code></del> <ins><code>just &lt;db&gt;</code>;</ins> first"
        );
    }

    #[test]
    fn words_keep_code_with_spaces_together() {
        assert_eq!(
            split_words("a `b c`, d `e f"),
            ["a", "`b c`,", "d", "`e", "f"]
        );
        assert_eq!(split_words("`` x"), ["``", "x"]);
    }

    #[test]
    fn line_diff_shows_changed_lines_with_their_surroundings() {
        let old = "1\n2\n3\n4\n5\n6\n";
        let new = "1\n2\n3\n4\n<5>\n6\n7\n";
        assert_eq!(
            line_diff(old, new).to_string(),
            "  3\n  4\n<del>- 5</del>\n<ins>+ &lt;5&gt;</ins>\n  6\n<ins>+ 7</ins>\n"
        );
        assert_eq!(line_diff(old, old).to_string(), "");
    }
}
