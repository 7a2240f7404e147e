//! Markdown as far as notes use it: headings, lists, quotes, code. What it does not know stays as it was typed.

use crate::page::view::{Html, escape, said};
use heirloom_model::text;

/// Lines that a preview shows.
const LINES_MAX: usize = 2_000;

/// A text as a page shows it; comments are left out.
pub(super) fn shown(page: &str) -> Html {
    let mut out = String::new();
    let mut state = State::Text;
    let mut in_comment = false;
    for line in page.lines().take(LINES_MAX) {
        if state == State::Code {
            if line.trim_start().starts_with("```") {
                state = state.becomes(State::Text, &mut out);
            } else {
                escape(&text::printable(line), &mut out);
                out.push('\n');
            }
            continue;
        }
        let trimmed = line.trim();
        in_comment |= trimmed.starts_with("<!--");
        if in_comment {
            in_comment = !trimmed.contains("-->");
            continue;
        }
        let item = trimmed
            .strip_prefix("- ")
            .or_else(|| trimmed.strip_prefix("* "));
        if trimmed.starts_with("```") {
            state = state.becomes(State::Code, &mut out);
        } else if trimmed.is_empty() {
            state = state.becomes(State::Text, &mut out);
        } else if trimmed.starts_with('#') {
            state = state.becomes(State::Text, &mut out);
            let heading = trimmed.trim_start_matches('#').trim();
            out.push_str(&format!("<h3>{}</h3>", said(heading)));
        } else if let Some(item) = item {
            state = state.becomes(State::List, &mut out);
            out.push_str(&format!("<li>{}</li>", said(item)));
        } else {
            state = state.becomes(State::Paragraph, &mut out);
            out.push_str(&format!("{} ", said(trimmed)));
        }
    }
    state.becomes(State::Text, &mut out);
    Html::made(out)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Text,
    Paragraph,
    List,
    Code,
}

impl State {
    fn becomes(self, next: Self, out: &mut String) -> Self {
        if self != next {
            out.push_str(self.tags().1);
            out.push_str(next.tags().0);
        }
        next
    }

    fn tags(self) -> (&'static str, &'static str) {
        match self {
            Self::Text => ("", ""),
            Self::Paragraph => ("<p>", "</p>"),
            Self::List => ("<ul>", "</ul>"),
            Self::Code => ("<pre tabindex=\"0\">", "</pre>"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_are_shown_and_nothing_of_them_is_markup() {
        let page = "# A <b>\n<!-- no\nthis -->\n- one `x`\n- two\n\ntext <script>\n```\n<i>\n```\n";
        assert_eq!(
            shown(page).to_string(),
            "<h3>A &lt;b&gt;</h3><ul><li>one <code>x</code></li><li>two</li></ul><p>text &lt;script&gt; </p><pre tabindex=\"0\">&lt;i&gt;\n</pre>"
        );
        assert_eq!(
            shown("```\nopen").to_string(),
            "<pre tabindex=\"0\">open\n</pre>"
        );
    }
}
