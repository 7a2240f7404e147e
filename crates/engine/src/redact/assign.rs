//! From a telling name to its value: assignments, fields, options, and plain sentences.

use super::names::{self, Telling};
use super::scan::{Scan, mark_end};
use super::values::{self, Link, Value};

/// Longest name, bytes.
const NAME_MAX: usize = 64;

impl Scan<'_> {
    /// Looks at the name around `at`.
    pub(super) fn name(&mut self, at: usize) {
        if at < self.name_end {
            return;
        }
        let part = |b: &u8| b.is_ascii_alphanumeric() || b"_-.".contains(b);
        let before = &self.bytes[at.saturating_sub(NAME_MAX)..at];
        let back = before.iter().rev().take_while(|b| part(b)).count();
        let rest = &self.bytes[at..];
        let ahead = rest.iter().take(NAME_MAX).take_while(|b| part(b)).count();
        self.name_end = at + ahead;
        if back == NAME_MAX || ahead == NAME_MAX {
            return;
        }
        let whole = &self.bytes[at - back..at + ahead];
        let dashes = whole.iter().take_while(|&&b| b == b'-').count();
        let start = at - back + whole.iter().take_while(|b| b"-.".contains(b)).count();
        let tail = whole.iter().rev().take_while(|b| b"-.".contains(b)).count();
        let end = (at + ahead - tail).max(start);
        // Most names are followed by nothing that gives them a value: that is cheaper to see.
        let Some((link, value)) = self.link(start, end) else {
            return;
        };
        let (text, name) = (self.text, start..end);
        let Some(name) = text.get(name) else { return };
        if name.len() <= 3 && name.eq_ignore_ascii_case("key") {
            return;
        }
        if link == Link::Blank && dashes == 0 && !self.announced(name, value) {
            return;
        }
        let Some(telling) = names::telling(name) else {
            return;
        };
        let link = if link == Link::Blank && dashes > 0 {
            Link::Option
        } else {
            link
        };
        match telling {
            Telling::Authorization => self.authorization(link, value),
            Telling::Cookie | Telling::SetCookie => self.cookie(telling, link, start, value),
            Telling::Password | Telling::Secret | Telling::Token | Telling::Key => {
                let option = dashes > 0;
                self.value(telling, link, start..end, value, option);
            }
        }
    }

    /// Whether a blank behind this name may be followed by its value: seldom, and cheap to see.
    fn announced(&self, name: &str, at: usize) -> bool {
        let next = [self.byte(at), self.byte(at + 1)].map(|b| b.to_ascii_lowercase());
        matches!(&next, b"is" | b"wa" | b"ar" | b"-p")
            || next[0] == b'\''
            || name.starts_with(|c: char| c.is_ascii_uppercase())
            || name.eq_ignore_ascii_case("password")
            || name.eq_ignore_ascii_case("passwd")
    }

    /// What joins the name that ends at `end` to a value, and where that begins.
    fn link(&self, start: usize, end: usize) -> Option<(Link, usize)> {
        let mut at = end;
        while at < end + 4 && self.byte(at) == b'\\' {
            at += 1;
        }
        let closed = matches!(self.byte(at), b'"' | b'\'' | b'`');
        at += usize::from(closed);
        at += usize::from(self.byte(at) == b']');
        let blanks = self.skip_blanks(at) - at;
        let here = at + blanks;
        let behind = self.byte(here + 1);
        let found = match self.byte(here) {
            b'=' => {
                let more = self.bytes[here..]
                    .iter()
                    .take(3)
                    .take_while(|b| b"=>".contains(b))
                    .count();
                (Link::Equals, here + more)
            }
            b':' if behind == b':' => return None,
            b':' if behind == b'=' => (Link::Equals, here + 2),
            // Of a shell: what is used if there is none, or said then.
            b':' if behind == b'-' => (Link::Equals, here + 2),
            b':' if behind == b'?' || behind == b'+' => return None,
            b':' => (Link::Colon, here + 1),
            b'!' | b'?' if behind == b'=' => (Link::Equals, here + 2),
            b'?' if behind == b':' => (Link::Colon, here + 2),
            b'>' if blanks == 0 && start > 0 && self.bytes[start - 1] == b'<' => {
                (Link::Element, here + 1)
            }
            b'(' if blanks == 0 && matches!(behind, b'"' | b'\'') => (Link::Call, here + 1),
            _ if closed && self.says(here, b"value") => {
                let equals = self.skip_blanks(here + 5);
                if self.byte(equals) != b'=' {
                    return None;
                }
                (Link::Equals, equals + 1)
            }
            0 => return None,
            _ if blanks > 0 && !closed => (Link::Blank, here),
            _ => return None,
        };
        let tight = blanks == 0 && found.0 == Link::Equals;
        let value = if found.0 == Link::Element {
            found.1
        } else {
            self.skip_blanks(found.1)
        };
        let link = if tight && value == found.1 {
            Link::Tight
        } else {
            found.0
        };
        Some((link, value))
    }

    /// Looks at the value of a password, a secret, a token or a key.
    fn value(
        &mut self,
        telling: Telling,
        link: Link,
        name: std::ops::Range<usize>,
        at: usize,
        option: bool,
    ) {
        let place = self.place_of(&name, option);
        if link == Link::Blank {
            return self.after_blank(telling, name, at, &place);
        }
        if link == Link::Element {
            let end = self.line_end(at);
            let Some(n) = memchr::memchr(b'<', &self.bytes[at..end]) else {
                return;
            };
            return self.judge(telling, link, at..at + n, true, &place);
        }
        match self.quoted(at) {
            Some((range, template)) => {
                let braces = self.text.get(range.clone()).unwrap_or("");
                if template && braces.contains('{') {
                    return;
                }
                self.judge(telling, link, range, true, &place);
            }
            None => {
                let free = place.free && link == Link::Tight;
                let range = self.bare(at, free);
                self.judge(telling, link, range, false, &place);
            }
        }
    }

    fn judge(
        &mut self,
        telling: Telling,
        link: Link,
        range: std::ops::Range<usize>,
        quoted: bool,
        place: &Place,
    ) {
        let Some(said) = self.text.get(range.clone()) else {
            return;
        };
        let line_end = self.line_end(range.end);
        let rest = self.bytes.get(range.end..line_end).unwrap_or_default();
        let rest = rest.trim_ascii_start();
        let value = Value {
            said,
            quoted,
            link,
            upper: place.upper,
            header: place.header,
            option: place.option,
            whole_line: place.begins_line && rest.is_empty(),
            ends_line: rest.is_empty() || rest[0] == b'#',
            next: self.byte(range.end),
        };
        if values::is_secret(telling, &value) {
            self.push(range.start, range.end, telling.kind());
        }
    }

    /// A value behind a blank: options are judged as such; else only what certain words announce.
    fn after_blank(
        &mut self,
        telling: Telling,
        name: std::ops::Range<usize>,
        at: usize,
        place: &Place,
    ) {
        let said = self.text.get(name.clone()).unwrap_or("");
        if said.eq_ignore_ascii_case("sshpass") && self.says(at, b"-p") {
            let start = self.skip_blanks(at + 2);
            return self.value(telling, Link::Tight, name, start, true);
        }
        let before = &self.bytes[name.start.saturating_sub(200)..name.start];
        let before = before.rsplit(|&b| b == b'\n').next().unwrap_or(before);
        let mut words = before
            .split(u8::is_ascii_whitespace)
            .rev()
            .filter(|word| !word.is_empty());
        let (last, second) = (words.next().unwrap_or(b""), words.next().unwrap_or(b""));
        let setting = place.upper && [&b"ENV"[..], b"setx", b"-gx", b"-x"].contains(&last);
        if setting || second.eq_ignore_ascii_case(b"login") {
            return self.value(telling, Link::Tight, name, at, true);
        }
        if let Some((range, false)) = self.quoted(at)
            && self.byte(at) == b'\''
        {
            return self.judge(telling, Link::Blank, range, true, place);
        }
        let verb = [&b"is "[..], b"was ", b"are "]
            .iter()
            .find(|verb| self.says(at, verb))
            .map(|verb| verb.len());
        if let Some(length) = verb {
            let range = self.plain_word(self.skip_blanks(at + length));
            self.judge(telling, Link::Sentence, range, false, place);
        }
    }

    /// A string literal that begins at `at`: what stands in it, and whether it may be a template.
    pub(super) fn quoted(&mut self, at: usize) -> Option<(std::ops::Range<usize>, bool)> {
        let mut open = at;
        let mut template = false;
        while open < at + 2 && b"fFrRbBuU@$".contains(&self.byte(open)) {
            template |= b"fF$".contains(&self.byte(open));
            open += 1;
        }
        let escapes = usize::from(self.byte(open) == b'\\');
        let quote = self.byte(open + escapes);
        if !matches!(quote, b'"' | b'\'' | b'`') {
            return None;
        }
        let start = open + escapes + 1;
        let line_end = self.line_end(start);
        let mut end = start;
        loop {
            let rest = self.bytes.get(end..line_end).unwrap_or_default();
            // What is cut off before its closing quote goes to the end of the line.
            let Some(n) = memchr::memchr(quote, rest) else {
                return Some((start..line_end, template));
            };
            let slashes = rest[..n].iter().rev().take_while(|&&b| b == b'\\').count();
            end += n;
            if escapes == 1 && slashes > 0 {
                return Some((start..end - 1, template));
            }
            if slashes % 2 == 0 {
                return Some((start..end, template));
            }
            end += 1;
        }
    }

    /// A value without quotes. A `free` one goes to the next blank; others end at what separates values.
    fn bare(&mut self, at: usize, free: bool) -> std::ops::Range<usize> {
        let known = self.runs[usize::from(free)];
        let mut end = if (known.0..known.1).contains(&at) {
            known.1
        } else {
            // A mark is part of a value, whatever it is made of.
            let mut end = mark_end(self.bytes, at).unwrap_or(at);
            while let Some(&b) = self.bytes.get(end) {
                let next = self.byte(end + 1);
                let ends = b.is_ascii_whitespace()
                    || matches!(b, b'"' | b'\'' | b'`' | b'<' | b'>')
                    || (b == b'\\' && matches!(next, b'n' | b'r' | b't' | b'"' | b'\''))
                    || (!free && matches!(b, b';' | b'&' | b','));
                if ends {
                    break;
                }
                end += 1;
            }
            self.runs[usize::from(free)] = (at, end);
            end
        };
        let marked = mark_end(self.bytes, at).unwrap_or(at);
        let closing: &[u8] = if free { b"" } else { b")}].:" };
        while end > marked && closing.contains(&self.bytes[end - 1]) {
            end -= 1;
        }
        at..end
    }

    /// A word of a sentence, without what quotes it and what ends the sentence.
    fn plain_word(&self, at: usize) -> std::ops::Range<usize> {
        let quote = usize::from(matches!(self.byte(at), b'`' | b'"' | b'\''));
        let start = at + quote;
        let rest = self.bytes.get(start..).unwrap_or_default();
        let rest = rest.get(..NAME_MAX).unwrap_or(rest);
        let ends = |b: &u8| b.is_ascii_whitespace() || b"`\"'<>".contains(b);
        let mut length = rest.iter().take_while(|b| !ends(b)).count();
        while length > 0 && b".,;:)?".contains(&rest[length - 1]) {
            length -= 1;
        }
        start..start + length
    }

    fn place_of(&self, name: &std::ops::Range<usize>, option: bool) -> Place {
        let said = &self.bytes[name.clone()];
        let upper = said.iter().any(u8::is_ascii_uppercase)
            && !said.iter().any(u8::is_ascii_lowercase)
            && !said.contains(&b'.');
        let from = name.start.saturating_sub(NAME_MAX);
        let before = &self.bytes[from..name.start];
        let line = before.rsplit(|&b| b == b'\n').next().unwrap_or(before);
        let line = line.trim_ascii();
        let begins_line = line.is_empty() || [&b"export"[..], b"set", b"-"].contains(&line);
        Place {
            upper,
            header: said.contains(&b'-') && !option,
            option,
            begins_line,
            free: upper && begins_line,
        }
    }
}

/// What the surroundings of a name tell of it.
struct Place {
    /// Capitals only, as variables of the environment are.
    upper: bool,
    /// With hyphens, as headers are.
    header: bool,
    /// An option of a command.
    option: bool,
    /// First on its line, or exported there.
    begins_line: bool,
    /// A value that nothing but a blank ends.
    free: bool,
}
