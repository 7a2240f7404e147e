//! Template parser: splits the text of a template into parts, in one pass.

use super::template_part::{
    ArgumentSlot, BlockPiece, Position, Quotes, TemplatePart, TemplateProblem,
};
use heirloom_model::limits::{COMMAND_ARGS_MAX, COMMAND_PARTS_MAX, COMMAND_TEMPLATE_BYTES_MAX};

/// Parses a template. Invalid parts are reported, and kept as text.
pub(super) fn parse_template(text: &str) -> (Vec<TemplatePart>, Vec<TemplateProblem>) {
    let mut parser = TemplateParser {
        text,
        seen: (0, Position { line: 1, column: 1 }),
        parts: Vec::new(),
        problems: Vec::new(),
    };
    if text.len() > COMMAND_TEMPLATE_BYTES_MAX {
        let length = text.len();
        let most = COMMAND_TEMPLATE_BYTES_MAX;
        parser.report(
            0,
            format!("the template has {length} bytes; at most {most} are read"),
        );
    } else {
        parser.run();
    }
    (parser.parts, parser.problems)
}

struct TemplateParser<'t> {
    text: &'t str,
    /// A byte offset with its position, so that positions cost one pass.
    seen: (usize, Position),
    parts: Vec<TemplatePart>,
    problems: Vec<TemplateProblem>,
}

/// Meaning of two opening braces.
enum Braces {
    /// A placeholder for arguments, and its length in bytes.
    ArgumentSlot(ArgumentSlot, usize),
    /// An invalid placeholder, with the problem.
    Wrong(String),
    /// Literal braces.
    Plain,
}

/// Kind of block: `!{…}` or `@{…}`.
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

impl<'t> TemplateParser<'t> {
    fn run(&mut self) {
        let mut at = 0;
        while let Some(rest) = self.remaining(at) {
            if self.parts.len() >= COMMAND_PARTS_MAX {
                let most = COMMAND_PARTS_MAX;
                let text = format!("the template has more than {most} parts");
                return self.report(at, text);
            }
            let plain = rest.find(['\\', '!', '@', '{']).unwrap_or(rest.len());
            if plain > 0 {
                self.push_literal(&rest[..plain]);
                at += plain;
            } else if rest.starts_with('\\') {
                at = self.parse_backslashes(at, rest);
            } else if is_opener(rest) {
                let Some(next) = self.parse_opener(at, rest) else {
                    return;
                };
                at = next;
            } else {
                self.push_literal(&rest[..1]);
                at += 1;
            }
        }
    }

    /// Returns the text from `at` on; `None` at its end.
    fn remaining(&self, at: usize) -> Option<&'t str> {
        self.text.get(at..).filter(|rest| !rest.is_empty())
    }

    /// Parses backslashes before an opener: two are one literal backslash, a single one escapes the opener.
    fn parse_backslashes(&mut self, at: usize, rest: &'t str) -> usize {
        let number = rest.bytes().take_while(|byte| *byte == b'\\').count();
        let after = &rest[number..];
        if !is_opener(after) {
            self.push_literal(&rest[..number]);
            return at + number;
        }
        self.push_literal(&rest[..number / 2]);
        if number % 2 == 0 {
            return at + number;
        }
        self.push_literal(&after[..2]);
        at + number + 2
    }

    /// Parses an opener; returns the offset after the block, or `None` if it is not closed.
    fn parse_opener(&mut self, at: usize, rest: &'t str) -> Option<usize> {
        if rest.starts_with("{{") {
            return Some(self.parse_braces(at, rest));
        }
        let kind = if rest.starts_with('!') {
            Block::Shell
        } else {
            Block::File
        };
        let begins = self.position(at);
        let Some((pieces, end)) = self.parse_block(at + 2, kind) else {
            let opener = kind.opener();
            let message = format!("`{opener}` is not closed: `}}` is missing");
            self.report_at(begins, message);
            return None;
        };
        if is_blank(&pieces) {
            let message = match kind {
                Block::Shell => "`!{}` names no program",
                Block::File => "`@{}` names no file",
            };
            self.report_at(begins, message.to_owned());
        }
        self.parts.push(match kind {
            Block::Shell => TemplatePart::Shell(pieces, begins),
            Block::File => TemplatePart::File(pieces, begins),
        });
        Some(end + 1)
    }

    fn parse_braces(&mut self, at: usize, rest: &'t str) -> usize {
        match match_placeholder(rest) {
            Braces::ArgumentSlot(slot, length) => {
                let begins = self.position(at);
                self.parts.push(TemplatePart::ArgumentSlot(slot, begins));
                at + length
            }
            Braces::Wrong(message) => {
                self.report(at, message);
                self.push_literal(&rest[..2]);
                at + 2
            }
            Braces::Plain => {
                self.push_literal(&rest[..1]);
                at + 1
            }
        }
    }

    /// Parses the content of a block from `at` on; returns it with the offset of the closing brace.
    fn parse_block(&mut self, mut at: usize, kind: Block) -> Option<(Vec<BlockPiece>, usize)> {
        let is_shell = kind == Block::Shell;
        let (mut depth, mut quotes) = (1_usize, Quotes::None);
        let mut pieces = Vec::new();
        loop {
            let rest = self.remaining(at)?;
            let c = rest.chars().next()?;
            let mut step = c.len_utf8();
            if c == '\\'
                && let Braces::ArgumentSlot(_, length) = match_placeholder(&rest[1..])
            {
                append_literal(&mut pieces, &rest[1..=length]);
                at += 1 + length;
                continue;
            }
            if c == '{' {
                match match_placeholder(rest) {
                    Braces::ArgumentSlot(slot, length) => {
                        let begins = self.position(at);
                        pieces.push(BlockPiece::ArgumentSlot(slot, quotes, begins));
                        at += length;
                        continue;
                    }
                    Braces::Wrong(message) => self.report(at, message),
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
            append_literal(&mut pieces, &rest[..step]);
            at += step;
        }
    }

    fn push_literal(&mut self, text: &str) {
        match self.parts.last_mut() {
            _ if text.is_empty() => {}
            Some(TemplatePart::Text(before)) => before.push_str(text),
            Some(_) | None => self.parts.push(TemplatePart::Text(text.to_owned())),
        }
    }

    fn report(&mut self, at: usize, message: String) {
        let at = self.position(at);
        self.report_at(at, message);
    }

    fn report_at(&mut self, at: Position, message: String) {
        self.problems.push(TemplateProblem { at, message });
    }

    /// Returns the position of the byte `at`. Offsets must be ascending.
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

/// Returns true if the text begins with an opener.
fn is_opener(rest: &str) -> bool {
    ["!{", "@{", "{{"].iter().any(|open| rest.starts_with(open))
}

fn append_literal(pieces: &mut Vec<BlockPiece>, text: &str) {
    match pieces.last_mut() {
        Some(BlockPiece::Text(before)) => before.push_str(text),
        Some(BlockPiece::ArgumentSlot(..)) | None => pieces.push(BlockPiece::Text(text.to_owned())),
    }
}

fn is_blank(pieces: &[BlockPiece]) -> bool {
    let blank =
        |piece: &BlockPiece| matches!(piece, BlockPiece::Text(text) if text.trim().is_empty());
    pieces.iter().all(blank)
}

/// Parses `{{` at the start of a text. Only names that begin with `arg` are placeholders, because templates may
/// contain other braces.
fn match_placeholder(rest: &str) -> Braces {
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
        Some(after) if name == "args" => {
            Braces::ArgumentSlot(ArgumentSlot::All, rest.len() - after.len())
        }
        Some(after) if numbered => match number.parse() {
            Ok(n) if (1..=COMMAND_ARGS_MAX).contains(&n) => {
                Braces::ArgumentSlot(ArgumentSlot::Nth(n), rest.len() - after.len())
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
