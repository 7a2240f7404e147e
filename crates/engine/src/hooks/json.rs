//! JSON with the places where everything stands, so that a text can be changed in one place and nowhere else.

use std::ops::Range;

/// What is wrong with a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mistake {
    /// The line, from 1.
    pub line: usize,
    /// What is wrong.
    pub message: String,
}

/// A value and where it stands.
#[derive(Debug, Clone)]
pub(super) struct Node {
    pub(super) at: Range<usize>,
    pub(super) part: Part,
}

/// What a value is.
#[derive(Debug, Clone)]
pub(super) enum Part {
    Object(Vec<(Name, Node)>),
    Array(Vec<Node>),
    Text(String),
    Other,
}

/// The name of a member.
#[derive(Debug, Clone)]
pub(super) struct Name {
    pub(super) text: String,
    start: usize,
}

/// Levels inside each other.
const DEPTH_MAX: usize = 100;

/// Reads a text; `comments` says whether `//` and `/* */` may stand in it.
pub(super) fn parse(text: &str, comments: bool) -> Result<Node, Mistake> {
    let mut reader = Reader {
        text,
        at: if text.starts_with('\u{feff}') { 3 } else { 0 },
        comments,
    };
    let root = reader.value(0)?;
    reader.blanks()?;
    if reader.at < text.len() {
        return Err(reader.wrong("something stands behind the end"));
    }
    Ok(root)
}

impl Node {
    /// The last member of this name, as every program reads it.
    pub(super) fn member(&self, name: &str) -> Option<&Self> {
        let Part::Object(members) = &self.part else {
            return None;
        };
        let found = members.iter().rev().find(|(known, _)| known.text == name);
        found.map(|(_, value)| value)
    }

    pub(super) fn items(&self) -> &[Self] {
        match &self.part {
            Part::Array(items) => items,
            Part::Object(_) | Part::Text(_) | Part::Other => &[],
        }
    }

    pub(super) fn text(&self) -> Option<&str> {
        match &self.part {
            Part::Text(text) => Some(text),
            Part::Object(_) | Part::Array(_) | Part::Other => None,
        }
    }

    pub(super) fn mistake(&self, text: &str, message: &str) -> Mistake {
        mistake(text, self.at.start, message)
    }

    /// Where its parts stand, members with their names.
    fn parts(&self) -> Vec<Range<usize>> {
        match &self.part {
            Part::Object(members) => members
                .iter()
                .map(|(name, value)| name.start..value.at.end)
                .collect(),
            Part::Array(items) => items.iter().map(|item| item.at.clone()).collect(),
            Part::Text(_) | Part::Other => Vec::new(),
        }
    }

    /// The text without the part `n`, and without the comma that it had. Comments around it stay.
    pub(super) fn without(&self, text: &str, n: usize) -> String {
        let parts = self.parts();
        let Some(own) = parts.get(n).cloned() else {
            return text.to_owned();
        };
        let before = n.checked_sub(1).and_then(|before| parts.get(before));
        match (before, parts.get(n + 1)) {
            (Some(before), _) => {
                let between = &text[before.end..own.start];
                let comma = comma_in(between);
                let (head, tail) = (&between[..comma], &between[comma + 1..]);
                let kept = if tail.trim().is_empty() {
                    ""
                } else {
                    tail.trim_end()
                };
                let end = line_end(&format!("{head}{kept}"), &text[own.end..]);
                format!(
                    "{}{head}{kept}{end}{}",
                    &text[..before.end],
                    &text[own.end..]
                )
            }
            (None, Some(next)) => {
                let between = &text[own.end..next.start];
                let comma = comma_in(between);
                let kept = between[..comma].trim_end();
                let tail = between[comma + 1..].trim_start();
                let (first, second) = (line_end(kept, tail), line_end(tail, &text[next.start..]));
                format!(
                    "{}{kept}{first}{tail}{second}{}",
                    &text[..own.start],
                    &text[next.start..]
                )
            }
            (None, None) => {
                let head = text[..own.start].trim_end();
                let tail = text[own.end..].trim_start();
                let end = line_end(text[self.at.start + 1..own.start].trim_end(), tail);
                format!("{head}{end}{tail}")
            }
        }
    }

    /// The same for a member; the last of this name.
    pub(super) fn without_member(&self, text: &str, name: &str) -> String {
        let Part::Object(members) = &self.part else {
            return text.to_owned();
        };
        match members.iter().rposition(|(known, _)| known.text == name) {
            Some(place) => self.without(text, place),
            None => text.to_owned(),
        }
    }

    /// The text with one more part at the end of this object or list, which is `depth - 1` levels deep. Levels of the
    /// part are indented by tabs, which become `unit`.
    pub(super) fn with_last(&self, text: &str, unit: &str, depth: usize, part: &str) -> String {
        let part = part.replace('\t', unit);
        let indent = unit.repeat(depth);
        let part = part.replace('\n', &format!("\n{indent}"));
        let closing = unit.repeat(depth - 1);
        let Some(last) = self.parts().pop() else {
            let inside = &text[self.at.start + 1..self.at.end - 1];
            // Comments that stand there alone stay in front.
            let kept = inside.trim_end();
            return format!(
                "{}{kept}\n{indent}{part}\n{closing}{}",
                &text[..=self.at.start],
                &text[self.at.end - 1..]
            );
        };
        let rest = &text[last.end..self.at.end - 1];
        // What stands behind the last part on its line belongs to it.
        let (behind, line_ends) = match rest.find('\n') {
            Some(end) => (&rest[..end], true),
            None => (rest, false),
        };
        let end = if line_ends && !behind.contains("/*") {
            last.end + behind.trim_end_matches('\r').len()
        } else {
            last.end
        };
        let mut closes = &text[end..];
        let mut own_line = String::new();
        if !line_ends && !text[last.end..self.at.end - 1].contains("/*") {
            closes = &text[self.at.end - 1..];
            own_line = rest.to_owned();
        }
        format!(
            "{},{}\n{indent}{part}{own_line}{closes}",
            &text[..last.end],
            &text[last.end..end]
        )
    }
}

/// What has to stand between blanks and comments and what comes behind them, so that a comment to the end of its line
/// does not take it in.
fn line_end(blanks: &str, behind: &str) -> &'static str {
    let last = blanks.rsplit('\n').next();
    let is_open = last.is_some_and(|line| line.contains("//"));
    if is_open && !behind.starts_with(['\n', '\r']) {
        "\n"
    } else {
        ""
    }
}

fn mistake(text: &str, at: usize, message: &str) -> Mistake {
    let before = text.as_bytes().iter().take(at);
    Mistake {
        line: before.filter(|byte| **byte == b'\n').count() + 1,
        message: message.to_owned(),
    }
}

/// Where the comma stands between two parts; there is one.
fn comma_in(between: &str) -> usize {
    let mut reader = Reader {
        text: between,
        at: 0,
        comments: true,
    };
    // What stands there was read before.
    drop(reader.blanks());
    reader.at.min(between.len().saturating_sub(1))
}

struct Reader<'t> {
    text: &'t str,
    at: usize,
    comments: bool,
}

impl Reader<'_> {
    fn wrong(&self, message: &str) -> Mistake {
        mistake(self.text, self.at, message)
    }

    fn byte(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn rest(&self) -> &str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn blanks(&mut self) -> Result<(), Mistake> {
        loop {
            match self.byte() {
                Some(b' ' | b'\t' | b'\n' | b'\r') => self.at += 1,
                Some(b'/') if self.rest().starts_with("//") || self.rest().starts_with("/*") => {
                    if !self.comments {
                        return Err(self.wrong("a comment, which this program does not read"));
                    }
                    let (ends, takes) = if self.rest().starts_with("//") {
                        ("\n", 0)
                    } else {
                        ("*/", 2)
                    };
                    match self.rest().get(2..).and_then(|rest| rest.find(ends)) {
                        Some(end) => self.at += 2 + end + takes,
                        None if takes == 0 => self.at = self.text.len(),
                        None => return Err(self.wrong("a comment that does not end")),
                    }
                }
                Some(_) | None => return Ok(()),
            }
        }
    }

    fn value(&mut self, depth: usize) -> Result<Node, Mistake> {
        self.blanks()?;
        if depth > DEPTH_MAX {
            return Err(self.wrong("more levels inside each other than are read"));
        }
        let start = self.at;
        let part = match self.byte() {
            Some(b'{') => self.object(depth)?,
            Some(b'[') => self.array(depth)?,
            Some(b'"') => Part::Text(self.string()?),
            _ => self.word()?,
        };
        Ok(Node {
            at: start..self.at,
            part,
        })
    }

    fn object(&mut self, depth: usize) -> Result<Part, Mistake> {
        let mut members = Vec::new();
        self.at += 1;
        loop {
            self.blanks()?;
            match self.byte() {
                Some(b'}') if members.is_empty() => break,
                Some(b'"') => {}
                _ => return Err(self.wrong("the name of a member is missing, or `}`")),
            }
            let start = self.at;
            let text = self.string()?;
            self.blanks()?;
            if self.byte() != Some(b':') {
                return Err(self.wrong("`:` is missing"));
            }
            self.at += 1;
            let value = self.value(depth + 1)?;
            members.push((Name { text, start }, value));
            if self.ends(b'}')? {
                return Ok(Part::Object(members));
            }
        }
        self.at += 1;
        Ok(Part::Object(members))
    }

    fn array(&mut self, depth: usize) -> Result<Part, Mistake> {
        let mut items = Vec::new();
        self.at += 1;
        self.blanks()?;
        if self.byte() == Some(b']') {
            self.at += 1;
            return Ok(Part::Array(items));
        }
        loop {
            items.push(self.value(depth + 1)?);
            if self.ends(b']')? {
                return Ok(Part::Array(items));
            }
        }
    }

    /// Passes the closing bracket, or the comma before the next part.
    fn ends(&mut self, closes: u8) -> Result<bool, Mistake> {
        self.blanks()?;
        match self.byte() {
            Some(byte) if byte == closes => {
                self.at += 1;
                Ok(true)
            }
            Some(b',') => {
                self.at += 1;
                Ok(false)
            }
            _ => Err(self.wrong("`,` or a closing bracket is missing")),
        }
    }

    fn string(&mut self) -> Result<String, Mistake> {
        let start = self.at;
        let bytes = self.text.as_bytes();
        let mut end = start + 1;
        loop {
            match bytes.get(end) {
                Some(b'"') => break,
                Some(b'\\') => end += 2,
                Some(b'\n') | None => return Err(self.wrong("a text that does not end")),
                Some(_) => end += 1,
            }
        }
        let raw = self.text.get(start..=end).unwrap_or_default();
        let read = serde_json::from_str(raw);
        let text = read.map_err(|_| self.wrong("a text that is none"))?;
        self.at = end + 1;
        Ok(text)
    }

    /// A number, or one of the three words.
    fn word(&mut self) -> Result<Part, Mistake> {
        let is_of_word = |byte: &u8| byte.is_ascii_alphanumeric() || b"+-.".contains(byte);
        let bytes = self.text.as_bytes().get(self.at..).unwrap_or_default();
        let length = bytes.iter().take_while(|byte| is_of_word(byte)).count();
        let word = self.rest().get(..length).unwrap_or_default();
        let is_value = !word.is_empty() && serde_json::from_str::<serde_json::Value>(word).is_ok();
        if !is_value {
            return Err(self.wrong("a value is missing"));
        }
        self.at += length;
        Ok(Part::Other)
    }
}
