//! Text that came from memory, on its way into a page.

use askama::filters::HtmlSafe;
use heirloom_model::text;
use std::fmt;

/// Markup that is safe as it is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Html(String);

impl Html {
    /// Markup of our own making, in which nothing foreign stands unescaped.
    pub(crate) fn made(markup: String) -> Self {
        Self(markup)
    }
}

impl fmt::Display for Html {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl HtmlSafe for Html {}

/// What memory says, escaped; control characters are shown, and what stands in backticks is code.
pub(crate) fn said(words: &str) -> Html {
    let words = text::printable(words);
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

/// The words of `new` beside those of `old`: what went is crossed out, what came is marked.
pub(crate) fn diff(old: &str, new: &str) -> Html {
    let (old, new) = (text::printable(old), text::printable(new));
    let a: Vec<&str> = old.split_whitespace().take(WORDS_MAX).collect();
    let b: Vec<&str> = new.split_whitespace().take(WORDS_MAX).collect();
    let lengths = common(&a, &b);
    let mut out = String::new();
    let (mut i, mut j) = (0, 0);
    while i < a.len() || j < b.len() {
        if i < a.len() && j < b.len() && a[i] == b[j] {
            let from = i;
            while i < a.len() && j < b.len() && a[i] == b[j] {
                (i, j) = (i + 1, j + 1);
            }
            escape(&a[from..i].join(" "), &mut out);
        } else if i < a.len() && (j == b.len() || lengths[i + 1][j] >= lengths[i][j + 1]) {
            let from = i;
            while i < a.len()
                && (j == b.len() || (a[i] != b[j] && lengths[i + 1][j] >= lengths[i][j + 1]))
            {
                i += 1;
            }
            tagged("del", &a[from..i], &mut out);
        } else {
            let from = j;
            while j < b.len()
                && (i == a.len() || (a[i] != b[j] && lengths[i + 1][j] < lengths[i][j + 1]))
            {
                j += 1;
            }
            tagged("ins", &b[from..j], &mut out);
        }
        out.push(' ');
    }
    Html(out.trim_end().to_owned())
}

/// Words of a text that are compared; what lies behind them is not shown.
const WORDS_MAX: usize = 400;

fn tagged(tag: &str, words: &[&str], out: &mut String) {
    out.push_str(&format!("<{tag}>"));
    escape(&words.join(" "), out);
    out.push_str(&format!("</{tag}>"));
}

/// The length of the longest common run of words behind each pair of places.
fn common(a: &[&str], b: &[&str]) -> Vec<Vec<u16>> {
    let mut lengths = vec![vec![0_u16; b.len() + 1]; a.len() + 1];
    for i in (0..a.len()).rev() {
        for j in (0..b.len()).rev() {
            lengths[i][j] = if a[i] == b[j] {
                lengths[i + 1][j + 1] + 1
            } else {
                lengths[i + 1][j].max(lengths[i][j + 1])
            };
        }
    }
    lengths
}

/// Escapes `words` into `out`.
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
    fn what_memory_says_is_no_markup() {
        assert_eq!(
            said("<script>alert(1)</script> & \"x\" 'y'").to_string(),
            "&lt;script&gt;alert(1)&lt;/script&gt; &amp; &quot;x&quot; &#39;y&#39;"
        );
        assert_eq!(
            said("run `just <db>` twice, `open").to_string(),
            "run <code>just &lt;db&gt;</code> twice, `open"
        );
        let escape = said("a \u{1b}[31mred\u{1b}[0m").to_string();
        assert!(!escape.contains('\u{1b}'), "{escape}");
        assert_eq!(said("``").to_string(), "``");
    }

    #[test]
    fn a_diff_says_what_went_and_what_came() {
        assert_eq!(
            diff("polls every 10 s now", "polls every 2 s").to_string(),
            "polls every <del>10</del> <ins>2</ins> s <del>now</del>"
        );
        assert_eq!(diff("same", "same").to_string(), "same");
        assert_eq!(diff("", "<b>").to_string(), "<ins>&lt;b&gt;</ins>");
    }
}
