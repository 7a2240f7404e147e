//! Markdown reader: the bullets of a page, each with the headings above it, and the metadata of the page.

use heirloom_model::text;
use pulldown_cmark::{Event, HeadingLevel, Options, Parser, Tag, TagEnd};

/// One bullet of a top-level list, with its nested content.
#[derive(Debug, Default)]
pub(super) struct PageBullet {
    /// Line of its start, from 1.
    pub(super) line: u64,
    /// Headings above it, the outermost first.
    pub(super) path: Vec<String>,
    words: String,
    /// End of the bold or code word at its start.
    name_end: Option<usize>,
}

impl PageBullet {
    /// Returns the text of the bullet, including its name.
    pub(super) fn full_text(&self) -> &str {
        self.words.trim()
    }

    /// Splits the bullet into the name at its start, if it has one, and the text.
    pub(super) fn split_name(self) -> (Option<String>, String) {
        let whole = self.words.trim().to_owned();
        let Some((name, rest)) = self
            .name_end
            .and_then(|end| self.words.split_at_checked(end))
        else {
            return (None, whole);
        };
        let content = rest.trim_start();
        let inside = name.trim_end().strip_suffix(':');
        let value = match inside {
            Some(_) => Some(content),
            None => content.strip_prefix(':'),
        };
        let value = value.map(str::trim).filter(|value| !value.is_empty());
        let name = inside.unwrap_or(name).trim().trim_matches('`').trim();
        match value {
            Some(value) if !name.is_empty() => (Some(name.to_owned()), value.to_owned()),
            Some(_) | None => (None, whole),
        }
    }
}

/// A parsed page.
#[derive(Debug, Default)]
pub(super) struct ParsedPage {
    pub(super) bullets: Vec<PageBullet>,
    /// Number of headings of the first level.
    pub(super) top_headings: usize,
    /// True if the first heading is of the first level.
    pub(super) begins_with_top_heading: bool,
    /// Line of the first skipped paragraph, table or code block outside of lists, and their number.
    pub(super) skipped: Option<(u64, u64)>,
    /// Front matter, unparsed.
    pub(super) front: String,
    /// Text of `<!-- summary: … -->`.
    pub(super) summary: Option<String>,
    /// First heading.
    pub(super) title: Option<String>,
    /// First paragraph outside of lists.
    pub(super) first_words: Option<String>,
}

struct PageReader<'t> {
    source: &'t str,
    page: ParsedPage,
    headings: Vec<(HeadingLevel, String)>,
    heading: Option<String>,
    html: Option<String>,
    in_front: bool,
    bullet: PageBullet,
    depth: usize,
    links: Vec<(String, usize)>,
    name_begun: bool,
    outside: Option<String>,
    /// Number of lines before `at`, so that lines are counted once.
    lines: u64,
    at: usize,
}

impl ParsedPage {
    /// Parses a page.
    pub(super) fn read(source: &str) -> Self {
        let source = source.strip_prefix('\u{feff}').unwrap_or(source);
        let options = Options::ENABLE_YAML_STYLE_METADATA_BLOCKS
            | Options::ENABLE_TASKLISTS
            | Options::ENABLE_TABLES;
        let mut reader = PageReader {
            source,
            page: Self::default(),
            headings: Vec::new(),
            heading: None,
            html: None,
            in_front: false,
            bullet: PageBullet::default(),
            depth: 0,
            links: Vec::new(),
            name_begun: false,
            outside: None,
            lines: 0,
            at: 0,
        };
        for (event, range) in Parser::new_ext(source, options).into_offset_iter() {
            reader.handle_event(event, range.start);
        }
        reader.page
    }

    /// Returns true if the outermost heading of the page is the title of the whole file, not of a part: `# Shop` above
    /// `## Build` and `## Style`.
    pub(super) fn has_title(&self) -> bool {
        self.begins_with_top_heading && self.top_headings == 1
    }
}

#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "what Markdown has besides is text like any other"
)]
impl PageReader<'_> {
    fn handle_event(&mut self, event: Event<'_>, at: usize) {
        match event {
            Event::Start(tag) => self.handle_start(&tag, at),
            Event::End(tag) => self.handle_end(tag),
            Event::Text(words) => self.push_words(&words),
            Event::Code(code) => self.push_code(&code),
            Event::Html(html) => match &mut self.html {
                Some(block) => block.push_str(&html),
                None => self.push_inline_html(&html),
            },
            Event::InlineHtml(html) => self.push_inline_html(&html),
            Event::SoftBreak | Event::HardBreak => self.push_words(" "),
            Event::TaskListMarker(done) => self.push_words(if done { "[x] " } else { "[ ] " }),
            Event::InlineMath(words) | Event::DisplayMath(words) => self.push_words(&words),
            Event::FootnoteReference(_) | Event::Rule => {}
        }
    }

    fn handle_start(&mut self, tag: &Tag<'_>, at: usize) {
        match tag {
            Tag::MetadataBlock(_) => self.in_front = true,
            Tag::Heading { .. } => self.heading = Some(String::new()),
            Tag::HtmlBlock => self.html = Some(String::new()),
            Tag::Item => self.begin_item(at),
            Tag::Paragraph | Tag::CodeBlock(_) | Tag::Table(_) if self.depth == 0 => {
                self.skip_block(at);
            }
            Tag::Paragraph | Tag::CodeBlock(_) | Tag::Table(_) | Tag::TableRow => self.new_line(),
            Tag::TableCell => self.push_words(" "),
            Tag::Strong => self.name_begun = self.depth == 1 && self.bullet.words.is_empty(),
            Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. } => {
                let from = self.text_buffer().map_or(0, |target| target.len());
                self.links.push((dest_url.to_string(), from));
            }
            _ => {}
        }
    }

    fn handle_end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::MetadataBlock(_) => self.in_front = false,
            TagEnd::Heading(level) => self.end_heading(level),
            TagEnd::HtmlBlock => {
                if let Some(block) = self.html.take() {
                    self.read_comment(&block);
                }
            }
            TagEnd::Item => {
                self.depth = self.depth.saturating_sub(1);
                if self.depth == 0 {
                    let bullet = std::mem::take(&mut self.bullet);
                    if !bullet.words.trim().is_empty() {
                        self.page.bullets.push(bullet);
                    }
                }
            }
            TagEnd::Strong if self.name_begun => {
                self.name_begun = false;
                self.bullet.name_end = Some(self.bullet.words.len());
            }
            TagEnd::Paragraph if self.depth == 0 => {
                let words = self.outside.take().map(|words| words.trim().to_owned());
                let words = words.filter(|words| !words.is_empty());
                self.page.first_words = self.page.first_words.take().or(words);
            }
            TagEnd::Link | TagEnd::Image => self.end_link(),
            _ => {}
        }
    }

    fn end_heading(&mut self, level: HeadingLevel) {
        let words = self.heading.take().unwrap_or_default();
        let words = words.trim().to_owned();
        // A heading inside of a list does not apply to the text after the list.
        if self.depth > 0 {
            self.new_line();
            self.bullet.words.push_str(&words);
            return;
        }
        let is_top = level == HeadingLevel::H1;
        self.page.begins_with_top_heading |= is_top && self.headings.is_empty();
        self.page.top_headings += usize::from(is_top);
        if self.page.title.is_none() && !words.is_empty() {
            self.page.title = Some(words.clone());
        }
        self.headings.retain(|(above, _)| *above < level);
        self.headings.push((level, words));
    }

    fn begin_item(&mut self, at: usize) {
        if self.depth == 0 {
            self.bullet = PageBullet {
                line: self.line_number(at),
                path: self.heading_path(),
                ..PageBullet::default()
            };
        } else {
            self.new_line();
            let indent = "  ".repeat(self.depth - 1);
            self.bullet.words.push_str(&format!("{indent}- "));
        }
        self.depth += 1;
    }

    /// Returns the headings above the current position, the outermost first.
    fn heading_path(&self) -> Vec<String> {
        let words = self.headings.iter().map(|(_, words)| words.clone());
        words.collect()
    }

    /// Begins a new line of the bullet, unless the current one is empty.
    fn new_line(&mut self) {
        let words = &mut self.bullet.words;
        if !(words.is_empty()
            || words.ends_with("- ")
            || words.ends_with("] ")
            || words.ends_with('\n'))
        {
            words.push('\n');
        }
    }

    fn skip_block(&mut self, at: usize) {
        let line = self.line_number(at);
        let (_, count) = self.page.skipped.get_or_insert((line, 0));
        *count += 1;
        self.outside = Some(String::new());
    }

    fn push_code(&mut self, code: &str) {
        let is_name = self.depth == 1 && self.bullet.words.is_empty() && self.heading.is_none();
        self.push_words(&format!("`{code}`"));
        if is_name {
            self.bullet.name_end = Some(self.bullet.words.len());
        }
    }

    /// Text that looks like a tag may be a type, such as `Vec<T>`; comments are not text.
    fn push_inline_html(&mut self, html: &str) {
        if html.starts_with("<!--") {
            self.read_comment(html);
        } else {
            self.push_words(html);
        }
    }

    fn read_comment(&mut self, html: &str) {
        for comment in html.split("<!--").skip(1) {
            let content = comment.split("-->").next().unwrap_or_default().trim();
            let Some((name, summary)) = content.split_once(':') else {
                continue;
            };
            if name.trim().eq_ignore_ascii_case("summary") && self.page.summary.is_none() {
                self.page.summary = Some(text::one_line(summary.trim()));
            }
        }
    }

    fn end_link(&mut self) {
        let Some((url, from)) = self.links.pop() else {
            return;
        };
        if let Some(target) = self.text_buffer()
            && target.get(from..).is_some_and(|shown| shown != url)
            && !url.is_empty()
        {
            target.push_str(&format!(" ({url})"));
        }
    }

    fn push_words(&mut self, words: &str) {
        if let Some(target) = self.text_buffer() {
            target.push_str(words);
        }
    }

    /// Returns the buffer for text at the current position; `None` between blocks.
    fn text_buffer(&mut self) -> Option<&mut String> {
        if self.in_front {
            Some(&mut self.page.front)
        } else if self.html.is_some() {
            self.html.as_mut()
        } else if self.heading.is_some() {
            self.heading.as_mut()
        } else if self.depth > 0 {
            Some(&mut self.bullet.words)
        } else {
            self.outside.as_mut()
        }
    }

    /// Returns the line of an offset, from 1. Offsets must be ascending.
    fn line_number(&mut self, at: usize) -> u64 {
        if let Some(between) = self.source.as_bytes().get(self.at..at) {
            self.lines += memchr::memchr_iter(b'\n', between).count() as u64;
            self.at = at;
        }
        self.lines + 1
    }
}
