//! Renderer for Markdown previews. HTML in the source is shown as text, links and images as their text.

use crate::page::view::{Html, escape};
use heirloom_model::text;
use pulldown_cmark::{Event, Parser, Tag, TagEnd};

/// Maximum number of lines in a preview.
const LINES_MAX: usize = 2_000;

/// Renders Markdown as HTML, without comments.
pub(super) fn render(page: &str) -> Html {
    let lines: Vec<&str> = page.lines().take(LINES_MAX).collect();
    let source = lines.join("\n");
    let mut out = String::new();
    let mut in_comment = false;
    for event in Parser::new(&source) {
        match event {
            Event::Start(tag) => out.push_str(opening(&tag)),
            Event::End(tag) => out.push_str(closing(tag)),
            Event::Text(words) => push_text(&words, &mut out),
            Event::Code(words) => {
                out.push_str("<code>");
                push_text(&words, &mut out);
                out.push_str("</code>");
            }
            Event::Html(html) | Event::InlineHtml(html) => {
                in_comment |= html.trim_start().starts_with("<!--");
                if in_comment {
                    in_comment = !html.contains("-->");
                } else {
                    push_text(&html, &mut out);
                }
            }
            Event::SoftBreak => out.push(' '),
            Event::HardBreak => out.push_str("<br>"),
            Event::Rule => out.push_str("<hr>"),
            Event::InlineMath(_)
            | Event::DisplayMath(_)
            | Event::FootnoteReference(_)
            | Event::TaskListMarker(_) => {}
        }
    }
    Html::from_markup(out)
}

/// Appends escaped text; control characters other than line breaks become visible.
fn push_text(words: &str, out: &mut String) {
    for (n, line) in words.split('\n').enumerate() {
        if n > 0 {
            out.push('\n');
        }
        escape(&text::replace_control_chars(line), out);
    }
}

/// Returns the markup that opens an element; empty for those that are shown as their text.
#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "all other elements are shown as their text"
)]
fn opening(tag: &Tag<'_>) -> &'static str {
    match tag {
        Tag::Paragraph => "<p>",
        Tag::Heading { .. } => "<h3>",
        Tag::BlockQuote(_) => "<blockquote>",
        Tag::CodeBlock(_) => "<pre tabindex=\"0\">",
        Tag::List(None) => "<ul>",
        Tag::List(Some(_)) => "<ol>",
        Tag::Item => "<li>",
        Tag::Emphasis => "<em>",
        Tag::Strong => "<strong>",
        _ => "",
    }
}

/// Returns the markup that closes an element.
#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "all other elements are shown as their text"
)]
fn closing(tag: TagEnd) -> &'static str {
    match tag {
        TagEnd::Paragraph => "</p>",
        TagEnd::Heading(_) => "</h3>",
        TagEnd::BlockQuote(_) => "</blockquote>",
        TagEnd::CodeBlock => "</pre>",
        TagEnd::List(false) => "</ul>",
        TagEnd::List(true) => "</ol>",
        TagEnd::Item => "</li>",
        TagEnd::Emphasis => "</em>",
        TagEnd::Strong => "</strong>",
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn html_in_source_is_shown_as_text() {
        let page = "# A <b>\n<!-- no\nnot this\nthis -->\n- one `x`\n- two\n\ntext <script>\n```\n<i>\n```\n";
        assert_eq!(
            render(page).to_string(),
            "<h3>A &lt;b&gt;</h3><ul><li>one <code>x</code></li><li>two</li></ul><p>text &lt;script&gt;</p><pre tabindex=\"0\">&lt;i&gt;\n</pre>"
        );
        assert_eq!(
            render("```\nopen").to_string(),
            "<pre tabindex=\"0\">open</pre>"
        );
        let block =
            render("<div onclick=\"x\">\n[a](javascript:x) ![b](http://c)\n</div>").to_string();
        assert!(!block.contains("<div"), "{block}");
    }

    #[test]
    fn links_and_images_are_shown_as_text() {
        assert_eq!(
            render("[a](javascript:x) and ![b](http://c/d.png)").to_string(),
            "<p>a and b</p>"
        );
    }

    #[test]
    fn control_characters_become_visible() {
        let html = render("a \u{1b}[31mred\n\n    \u{1b}code\n").to_string();
        assert!(!html.contains('\u{1b}'), "{html}");
    }
}
