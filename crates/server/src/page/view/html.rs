//! HTML escaping of text from memory.

use askama::filters::HtmlSafe;
use heirloom_model::text;
use similar::{Algorithm, DiffTag, capture_diff_slices};
use std::fmt;

/// Safe HTML markup.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Html(String);

impl Html {
    /// Wraps markup in which all foreign text is escaped.
    pub(crate) fn from_markup(markup: String) -> Self {
        Self(markup)
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

/// Renders a word diff of two texts: removed words are crossed out, added ones marked.
pub(crate) fn diff(old: &str, new: &str) -> Html {
    let (old, new) = (
        text::replace_control_chars(old),
        text::replace_control_chars(new),
    );
    let old: Vec<&str> = old.split_whitespace().take(WORDS_MAX).collect();
    let new: Vec<&str> = new.split_whitespace().take(WORDS_MAX).collect();
    let mut out = String::new();
    for op in capture_diff_slices(Algorithm::Myers, &old, &new) {
        let (tag, old_range, new_range) = op.as_tag_tuple();
        if tag == DiffTag::Equal {
            escape(&old[old_range].join(" "), &mut out);
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
    escape(&words.join(" "), out);
    out.push_str(&format!("</{tag}> "));
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
    }
}
