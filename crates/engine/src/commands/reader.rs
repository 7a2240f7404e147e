//! From the text of a template to its parts, in one pass.

use super::template::{Part, Piece, Position, Problem, Quotes, Slot};
use heirloom_model::limits::{COMMAND_ARGS_MAX, COMMAND_PARTS_MAX, COMMAND_TEMPLATE_BYTES_MAX};

/// Reads a template; what is wrong with it is said, and read as text.
pub(super) fn read(text: &str) -> (Vec<Part>, Vec<Problem>) {
    let mut reader = Reader {
        text,
        seen: (0, Position { line: 1, column: 1 }),
        parts: Vec::new(),
        problems: Vec::new(),
    };
    if text.len() > COMMAND_TEMPLATE_BYTES_MAX {
        let length = text.len();
        let most = COMMAND_TEMPLATE_BYTES_MAX;
        reader.problem(
            0,
            format!("the template has {length} bytes; at most {most} are read"),
        );
    } else {
        reader.run();
    }
    (reader.parts, reader.problems)
}

struct Reader<'t> {
    text: &'t str,
    /// A place whose position is known, so that positions cost one pass.
    seen: (usize, Position),
    parts: Vec<Part>,
    problems: Vec<Problem>,
}

/// What stands at two opening braces.
enum Braces {
    /// A place for arguments, and its bytes.
    Slot(Slot, usize),
    /// What was meant for one.
    Wrong(String),
    /// Just braces.
    Plain,
}

/// What `!{` and `@{` begin.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Block {
    Shell,
    File,
}

impl Block {
    fn opener(self) -> &'static str {
        match self {
            Self::Shell => "!{",
            Self::File => "@{",
        }
    }
}

impl<'t> Reader<'t> {
    fn run(&mut self) {
        let mut at = 0;
        while let Some(rest) = self.rest(at) {
            if self.parts.len() >= COMMAND_PARTS_MAX {
                let most = COMMAND_PARTS_MAX;
                let said = format!("the template has more than {most} parts");
                return self.problem(at, said);
            }
            let plain = rest.find(['\\', '!', '@', '{']).unwrap_or(rest.len());
            if plain > 0 {
                self.literal(&rest[..plain]);
                at += plain;
            } else if rest.starts_with('\\') {
                at = self.backslashes(at, rest);
            } else if opens(rest) {
                let Some(next) = self.opener(at, rest) else {
                    return;
                };
                at = next;
            } else {
                self.literal(&rest[..1]);
                at += 1;
            }
        }
    }

    /// What is left of the text; `None` at its end.
    fn rest(&self, at: usize) -> Option<&'t str> {
        self.text.get(at..).filter(|rest| !rest.is_empty())
    }

    /// Backslashes: before an opener two are one, and one takes its meaning away.
    fn backslashes(&mut self, at: usize, rest: &'t str) -> usize {
        let number = rest.bytes().take_while(|byte| *byte == b'\\').count();
        let after = &rest[number..];
        if !opens(after) {
            self.literal(&rest[..number]);
            return at + number;
        }
        self.literal(&rest[..number / 2]);
        if number % 2 == 0 {
            return at + number;
        }
        self.literal(&after[..2]);
        at + number + 2
    }

    /// An opener with its meaning; the place behind what it opens, `None` if that has no end.
    fn opener(&mut self, at: usize, rest: &'t str) -> Option<usize> {
        if rest.starts_with("{{") {
            return Some(self.braces(at, rest));
        }
        let kind = if rest.starts_with('!') {
            Block::Shell
        } else {
            Block::File
        };
        let begins = self.position(at);
        let Some((pieces, end)) = self.block(at + 2, kind) else {
            let opener = kind.opener();
            let message = format!("`{opener}` is not closed: `}}` is missing");
            self.problem_at(begins, message);
            return None;
        };
        if is_blank(&pieces) {
            let message = match kind {
                Block::Shell => "`!{}` names no program",
                Block::File => "`@{}` names no file",
            };
            self.problem_at(begins, message.to_owned());
        }
        self.parts.push(match kind {
            Block::Shell => Part::Shell(pieces, begins),
            Block::File => Part::File(pieces, begins),
        });
        Some(end + 1)
    }

    fn braces(&mut self, at: usize, rest: &'t str) -> usize {
        match braces(rest) {
            Braces::Slot(slot, length) => {
                let begins = self.position(at);
                self.parts.push(Part::Slot(slot, begins));
                at + length
            }
            Braces::Wrong(message) => {
                self.problem(at, message);
                self.literal(&rest[..2]);
                at + 2
            }
            Braces::Plain => {
                self.literal(&rest[..1]);
                at + 1
            }
        }
    }

    /// What stands between braces from `at` on, and where the closing one is.
    fn block(&mut self, mut at: usize, kind: Block) -> Option<(Vec<Piece>, usize)> {
        let is_shell = kind == Block::Shell;
        let (mut depth, mut quotes) = (1_usize, Quotes::None);
        let mut pieces = Vec::new();
        loop {
            let rest = self.rest(at)?;
            let c = rest.chars().next()?;
            let mut step = c.len_utf8();
            if c == '\\'
                && let Braces::Slot(_, length) = braces(&rest[1..])
            {
                literal(&mut pieces, &rest[1..=length]);
                at += 1 + length;
                continue;
            }
            if c == '{' {
                match braces(rest) {
                    Braces::Slot(slot, length) => {
                        let begins = self.position(at);
                        pieces.push(Piece::Slot(slot, quotes, begins));
                        at += length;
                        continue;
                    }
                    Braces::Wrong(message) => self.problem(at, message),
                    Braces::Plain => {}
                }
            }
            match (c, quotes) {
                ('\\', Quotes::None | Quotes::Double) if is_shell => {
                    let next = rest[1..].chars().next();
                    step += next.map_or(0, char::len_utf8);
                }
                ('\'', Quotes::None) if is_shell => quotes = Quotes::Single,
                ('"', Quotes::None) if is_shell => quotes = Quotes::Double,
                ('\'', Quotes::Single) | ('"', Quotes::Double) => quotes = Quotes::None,
                ('{', Quotes::None) => depth += 1,
                ('}', Quotes::None) if depth == 1 => return Some((pieces, at)),
                ('}', Quotes::None) => depth -= 1,
                _ => {}
            }
            literal(&mut pieces, &rest[..step]);
            at += step;
        }
    }

    fn literal(&mut self, text: &str) {
        match self.parts.last_mut() {
            _ if text.is_empty() => {}
            Some(Part::Text(before)) => before.push_str(text),
            Some(_) | None => self.parts.push(Part::Text(text.to_owned())),
        }
    }

    fn problem(&mut self, at: usize, message: String) {
        let at = self.position(at);
        self.problem_at(at, message);
    }

    fn problem_at(&mut self, at: Position, message: String) {
        self.problems.push(Problem { at, message });
    }

    /// Where the byte `at` is; asked for in order.
    fn position(&mut self, at: usize) -> Position {
        let (from, mut position) = self.seen;
        let passed = self.text.get(from..at).unwrap_or_default();
        for c in passed.chars() {
            if c == '\n' {
                position.line += 1;
                position.column = 1;
            } else {
                position.column += 1;
            }
        }
        self.seen = (at.max(from), position);
        position
    }
}

/// Whether an opener stands there.
fn opens(rest: &str) -> bool {
    ["!{", "@{", "{{"].iter().any(|open| rest.starts_with(open))
}

fn literal(pieces: &mut Vec<Piece>, text: &str) {
    match pieces.last_mut() {
        Some(Piece::Text(before)) => before.push_str(text),
        Some(Piece::Slot(..)) | None => pieces.push(Piece::Text(text.to_owned())),
    }
}

fn is_blank(pieces: &[Piece]) -> bool {
    let blank = |piece: &Piece| matches!(piece, Piece::Text(text) if text.trim().is_empty());
    pieces.iter().all(blank)
}

/// What stands at `{{`, if that stands there. Only names that begin with `arg` are meant for us: templates may speak
/// of other braces.
fn braces(rest: &str) -> Braces {
    let Some(inner) = rest.strip_prefix("{{") else {
        return Braces::Plain;
    };
    let inner = inner.trim_start_matches([' ', '\t']);
    let end = inner.find(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    let (name, tail) = inner.split_at(end.unwrap_or(inner.len()));
    let Some(number) = name.strip_prefix("arg") else {
        return Braces::Plain;
    };
    let tail = tail.trim_start_matches([' ', '\t']);
    let closed = tail.strip_prefix("}}");
    let numbered = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    let shown = heirloom_model::text::excerpt(name, 40);
    match closed {
        None if numbered || name == "args" => {
            Braces::Wrong(format!("`{{{{{shown}` is not closed: `}}}}` is missing"))
        }
        None => Braces::Plain,
        Some(after) if name == "args" => Braces::Slot(Slot::All, rest.len() - after.len()),
        Some(after) if numbered => match number.parse() {
            Ok(n) if (1..=COMMAND_ARGS_MAX).contains(&n) => {
                Braces::Slot(Slot::Nth(n), rest.len() - after.len())
            }
            Ok(_) | Err(_) => Braces::Wrong(format!(
                "there is no `{{{{{shown}}}}}`: arguments are `{{{{arg1}}}}` to `{{{{arg{COMMAND_ARGS_MAX}}}}}`"
            )),
        },
        Some(_) => Braces::Wrong(format!(
            "there is no `{{{{{shown}}}}}`: write `{{{{args}}}}` or `{{{{arg1}}}}`, or a backslash before it"
        )),
    }
}
