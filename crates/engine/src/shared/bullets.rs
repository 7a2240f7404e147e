//! The bullets of a page, each with the headings above it, and what else the page says of itself.

use heirloom_model::text;
use pulldown_cmark::{Event, HeadingLevel, Options, Parser, Tag, TagEnd};

/// One bullet of a list that is in no other list, with what is nested in it.
#[derive(Debug, Default)]
pub(super) struct Bullet {
    /// The line on which it begins, from 1.
    pub(super) line: u64,
    /// The headings above it, the outermost first.
    pub(super) path: Vec<String>,
    words: String,
    /// Where the bold or code word that it begins with ends.
    name_end: Option<usize>,
}

impl Bullet {
    /// What it says, its name included.
    pub(super) fn whole(&self) -> &str {
        self.words.trim()
    }

    /// The name that it begins with, if it has one, and what it says.
    pub(super) fn named(self) -> (Option<String>, String) {
        let whole = self.words.trim().to_owned();
        let Some((name, rest)) = self
            .name_end
            .and_then(|end| self.words.split_at_checked(end))
        else {
            return (None, whole);
        };
        let said = rest.trim_start();
        let inside = name.trim_end().strip_suffix(':');
        let value = match inside {
            Some(_) => Some(said),
            None => said.strip_prefix(':'),
        };
        let value = value.map(str::trim).filter(|value| !value.is_empty());
        let name = inside.unwrap_or(name).trim().trim_matches('`').trim();
        match value {
            Some(value) if !name.is_empty() => (Some(name.to_owned()), value.to_owned()),
            Some(_) | None => (None, whole),
        }
    }
}

/// What a page says.
#[derive(Debug, Default)]
pub(super) struct Page {
    pub(super) bullets: Vec<Bullet>,
    /// The line of each heading, and the headings above it with itself.
    pub(super) headings: Vec<(u64, Vec<String>)>,
    /// The line of the first paragraph, table or code block outside of lists, and how many there are.
    pub(super) left_out: Option<(u64, u64)>,
    /// The front matter as it stands.
    pub(super) front: String,
    /// What `<!-- summary: … -->` says.
    pub(super) summary: Option<String>,
    /// The first heading.
    pub(super) title: Option<String>,
    /// The first paragraph outside of lists.
    pub(super) first_words: Option<String>,
}

struct Reader<'t> {
    source: &'t str,
    page: Page,
    headings: Vec<(HeadingLevel, String)>,
    heading: Option<String>,
    heading_line: u64,
    html: Option<String>,
    in_front: bool,
    bullet: Bullet,
    depth: usize,
    links: Vec<(String, usize)>,
    name_begun: bool,
    outside: Option<String>,
    /// Lines before `at`, so that lines are counted once.
    lines: u64,
    at: usize,
}

impl Page {
    /// Reads a page.
    pub(super) fn read(source: &str) -> Self {
        let source = source.strip_prefix('\u{feff}').unwrap_or(source);
        let options = Options::ENABLE_YAML_STYLE_METADATA_BLOCKS
            | Options::ENABLE_TASKLISTS
            | Options::ENABLE_TABLES;
        let mut reader = Reader {
            source,
            page: Self::default(),
            headings: Vec::new(),
            heading: None,
            heading_line: 0,
            html: None,
            in_front: false,
            bullet: Bullet::default(),
            depth: 0,
            links: Vec::new(),
            name_begun: false,
            outside: None,
            lines: 0,
            at: 0,
        };
        for (event, range) in Parser::new_ext(source, options).into_offset_iter() {
            reader.event(event, range.start);
        }
        reader.page
    }
}

#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "what Markdown has besides is text like any other"
)]
impl Reader<'_> {
    fn event(&mut self, event: Event<'_>, at: usize) {
        match event {
            Event::Start(tag) => self.start(&tag, at),
            Event::End(tag) => self.end(tag),
            Event::Text(words) => self.words(&words),
            Event::Code(code) => self.code(&code),
            Event::Html(html) => match &mut self.html {
                Some(block) => block.push_str(&html),
                None => self.inline_html(&html),
            },
            Event::InlineHtml(html) => self.inline_html(&html),
            Event::SoftBreak | Event::HardBreak => self.words(" "),
            Event::TaskListMarker(done) => self.words(if done { "[x] " } else { "[ ] " }),
            Event::InlineMath(words) | Event::DisplayMath(words) => self.words(&words),
            Event::FootnoteReference(_) | Event::Rule => {}
        }
    }

    fn start(&mut self, tag: &Tag<'_>, at: usize) {
        match tag {
            Tag::MetadataBlock(_) => self.in_front = true,
            Tag::Heading { .. } => {
                self.heading_line = self.line(at);
                self.heading = Some(String::new());
            }
            Tag::HtmlBlock => self.html = Some(String::new()),
            Tag::Item => self.item(at),
            Tag::Paragraph | Tag::CodeBlock(_) | Tag::Table(_) if self.depth == 0 => {
                self.leave_out(at);
            }
            Tag::Paragraph | Tag::CodeBlock(_) | Tag::Table(_) | Tag::TableRow => self.new_line(),
            Tag::TableCell => self.words(" "),
            Tag::Strong => self.name_begun = self.depth == 1 && self.bullet.words.is_empty(),
            Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. } => {
                let from = self.target().map_or(0, |target| target.len());
                self.links.push((dest_url.to_string(), from));
            }
            _ => {}
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::MetadataBlock(_) => self.in_front = false,
            TagEnd::Heading(level) => self.heading_ends(level),
            TagEnd::HtmlBlock => {
                if let Some(block) = self.html.take() {
                    self.comment(&block);
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
            TagEnd::Link | TagEnd::Image => self.link_ends(),
            _ => {}
        }
    }

    fn heading_ends(&mut self, level: HeadingLevel) {
        let words = self.heading.take().unwrap_or_default();
        let words = words.trim().to_owned();
        // A heading inside of a list names nothing that follows the list.
        if self.depth > 0 {
            self.new_line();
            self.bullet.words.push_str(&words);
            return;
        }
        if self.page.title.is_none() && !words.is_empty() {
            self.page.title = Some(words.clone());
        }
        self.headings.retain(|(above, _)| *above < level);
        self.headings.push((level, words));
        let path = self.path();
        self.page.headings.push((self.heading_line, path));
    }

    fn item(&mut self, at: usize) {
        if self.depth == 0 {
            self.bullet = Bullet {
                line: self.line(at),
                path: self.path(),
                ..Bullet::default()
            };
        } else {
            self.new_line();
            let indent = "  ".repeat(self.depth - 1);
            self.bullet.words.push_str(&format!("{indent}- "));
        }
        self.depth += 1;
    }

    /// The headings that are open here, the outermost first.
    fn path(&self) -> Vec<String> {
        let words = self.headings.iter().map(|(_, words)| words.clone());
        words.collect()
    }

    /// Begins a line of the bullet, unless one has just begun.
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

    fn leave_out(&mut self, at: usize) {
        let line = self.line(at);
        let (_, count) = self.page.left_out.get_or_insert((line, 0));
        *count += 1;
        self.outside = Some(String::new());
    }

    fn code(&mut self, code: &str) {
        let is_name = self.depth == 1 && self.bullet.words.is_empty() && self.heading.is_none();
        self.words(&format!("`{code}`"));
        if is_name {
            self.bullet.name_end = Some(self.bullet.words.len());
        }
    }

    /// What looks like a tag may be a type, such as `Vec<T>`; a comment is none.
    fn inline_html(&mut self, html: &str) {
        if html.starts_with("<!--") {
            self.comment(html);
        } else {
            self.words(html);
        }
    }

    fn comment(&mut self, html: &str) {
        for comment in html.split("<!--").skip(1) {
            let said = comment.split("-->").next().unwrap_or_default().trim();
            let Some((name, summary)) = said.split_once(':') else {
                continue;
            };
            if name.trim().eq_ignore_ascii_case("summary") && self.page.summary.is_none() {
                self.page.summary = Some(text::one_line(summary.trim()));
            }
        }
    }

    fn link_ends(&mut self) {
        let Some((url, from)) = self.links.pop() else {
            return;
        };
        if let Some(target) = self.target()
            && target.get(from..).is_some_and(|shown| shown != url)
            && !url.is_empty()
        {
            target.push_str(&format!(" ({url})"));
        }
    }

    fn words(&mut self, words: &str) {
        if let Some(target) = self.target() {
            target.push_str(words);
        }
    }

    /// Where words belong; nowhere between the blocks of a page.
    fn target(&mut self) -> Option<&mut String> {
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

    /// The line of a place, from 1; places are asked for in order.
    fn line(&mut self, at: usize) -> u64 {
        if let Some(between) = self.source.as_bytes().get(self.at..at) {
            self.lines += memchr::memchr_iter(b'\n', between).count() as u64;
            self.at = at;
        }
        self.lines + 1
    }
}
