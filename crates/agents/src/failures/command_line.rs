//! Shell command lines, split into simple commands. Quotes, here-documents and substitutions are respected.

/// Operator before a simple command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operator {
    /// None: the first command of the line.
    Start,
    /// `&&`.
    And,
    /// `||`.
    Or,
    /// `;`, `&` or a line break.
    Sequence,
    /// `|` or `|&`.
    Pipe,
}

/// A command without operators.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SimpleCommand<'c> {
    /// Operator that joins it to the command before.
    pub operator: Operator,
    /// The command, with its redirections.
    pub text: &'c str,
}

/// Splits a command line into its simple commands. Bodies of here-documents are left out.
pub fn split_commands(line: &str) -> Vec<SimpleCommand<'_>> {
    let mut scan = Scan {
        line,
        start: 0,
        operator: Operator::Start,
        commands: Vec::new(),
        delimiters: Vec::new(),
    };
    scan.run();
    scan.commands
}

/// Splits a simple command into words at blanks outside of quotes. The words keep their quotes.
pub fn split_words(command: &str) -> Vec<&str> {
    let mut words = Vec::new();
    let mut quotes = Quotes::default();
    let mut start = None;
    for (at, byte) in command.bytes().enumerate() {
        let is_blank = byte.is_ascii_whitespace() && !quotes.is_open();
        quotes.step(byte);
        match (is_blank, start) {
            (true, Some(from)) => {
                words.extend(command.get(from..at));
                start = None;
            }
            (false, None) => start = Some(at),
            (true, None) | (false, Some(_)) => {}
        }
    }
    words.extend(start.and_then(|from| command.get(from..)));
    words
}

/// Removes the quotes and escapes of a word.
pub fn unquote(word: &str) -> String {
    let mut out = String::with_capacity(word.len());
    let mut quote = None;
    let mut is_escaped = false;
    for c in word.chars() {
        match (c, quote) {
            _ if is_escaped => {
                is_escaped = false;
                out.push(c);
            }
            ('\\', None | Some('"')) => is_escaped = true,
            ('"' | '\'', None) => quote = Some(c),
            (c, Some(open)) if c == open => quote = None,
            _ => out.push(c),
        }
    }
    out
}

/// State of quotes and parentheses while a line is scanned.
#[derive(Debug, Clone, Copy, Default)]
struct Quotes {
    quote: Option<u8>,
    is_escaped: bool,
    /// Depth of `$(…)` and `(…)`.
    depth: usize,
}

impl Quotes {
    fn is_open(self) -> bool {
        self.quote.is_some() || self.is_escaped || self.depth > 0
    }

    fn step(&mut self, byte: u8) {
        if std::mem::take(&mut self.is_escaped) {
            return;
        }
        match (byte, self.quote) {
            (b'\\', None | Some(b'"')) => self.is_escaped = true,
            (b'"' | b'\'' | b'`', None) => self.quote = Some(byte),
            (byte, Some(open)) if byte == open => self.quote = None,
            (b'(', None) => self.depth += 1,
            (b')', None) => self.depth = self.depth.saturating_sub(1),
            _ => {}
        }
    }
}

/// Scan of a command line.
struct Scan<'c> {
    line: &'c str,
    /// Start of the current command.
    start: usize,
    operator: Operator,
    commands: Vec<SimpleCommand<'c>>,
    /// Delimiters of here-documents whose bodies follow the current line.
    delimiters: Vec<&'c str>,
}

impl Scan<'_> {
    fn run(&mut self) {
        let bytes = self.line.as_bytes();
        let mut quotes = Quotes::default();
        let mut at = 0;
        while let Some(&byte) = bytes.get(at) {
            let next = bytes.get(at + 1).copied();
            let before = at.checked_sub(1).and_then(|at| bytes.get(at)).copied();
            let was_open = quotes.is_open();
            // A here-document inside of `"$(…)"` may contain any quotes.
            let is_literal = quotes.quote == Some(b'\'') || quotes.is_escaped;
            quotes.step(byte);
            at = match (byte, next) {
                (b'<', Some(b'<')) if !is_literal => self.read_delimiter(at + 2),
                (b'\n', _) if !is_literal && !self.delimiters.is_empty() => {
                    if !was_open {
                        self.cut(at, 1, Operator::Sequence);
                    }
                    self.skip_documents(at + 1, !was_open)
                }
                _ if was_open => at + 1,
                (b'&', Some(b'&')) => self.cut(at, 2, Operator::And),
                (b'|', Some(b'|')) => self.cut(at, 2, Operator::Or),
                // `>|` is a redirection.
                (b'|', _) if before == Some(b'>') => at + 1,
                (b'|', Some(b'&')) => self.cut(at, 2, Operator::Pipe),
                (b'|', _) => self.cut(at, 1, Operator::Pipe),
                (b';' | b'\n', _) => self.cut(at, 1, Operator::Sequence),
                // `2>&1` and `&>file` are redirections.
                (b'&', Some(b'>')) => at + 1,
                (b'&', _) if matches!(before, Some(b'>' | b'<')) => at + 1,
                (b'&', _) => self.cut(at, 1, Operator::Sequence),
                (b'#', _) if before.is_none_or(|byte| byte.is_ascii_whitespace()) => {
                    self.skip_comment(at)
                }
                _ => at + 1,
            };
        }
        self.cut(bytes.len(), 0, Operator::Sequence);
    }

    /// Ends the current command at `at`, and returns where the next one begins.
    fn cut(&mut self, at: usize, length: usize, operator: Operator) -> usize {
        let text = self.line.get(self.start..at).unwrap_or_default().trim();
        // A line break after an operator continues the line.
        if !text.is_empty() {
            self.commands.push(SimpleCommand {
                operator: self.operator,
                text,
            });
            self.operator = operator;
        }
        self.start = at + length;
        self.start
    }

    /// Ends the current command at a comment, and returns the position of the line's end.
    fn skip_comment(&mut self, at: usize) -> usize {
        self.cut(at, 0, Operator::Sequence);
        let rest = self.line.get(at..).unwrap_or_default();
        self.start = at + rest.find('\n').unwrap_or(rest.len());
        self.start
    }

    /// Reads the delimiter of a here-document, and returns the position after it.
    fn read_delimiter(&mut self, at: usize) -> usize {
        let rest = self.line.get(at..).unwrap_or_default();
        // `<<<` is a here-string.
        if rest.starts_with('<') {
            return at + 1;
        }
        let word = rest.trim_start_matches('-').trim_start_matches(' ');
        let skipped = rest.len() - word.len();
        let end = word
            .find(|c: char| c.is_whitespace() || matches!(c, ';' | '|' | '&' | ')' | '>' | '<'))
            .unwrap_or(word.len());
        let name = word.get(..end).unwrap_or_default();
        let name = name.trim_matches(['\'', '"']).trim_start_matches('\\');
        if !name.is_empty() && self.delimiters.len() < DELIMITERS_MAX {
            self.delimiters.push(name);
        }
        at + skipped + end
    }

    /// Skips the bodies of here-documents that begin at `at`, and returns the position after them. The next command
    /// begins there, unless the documents are part of a quoted word.
    fn skip_documents(&mut self, at: usize, begins_command: bool) -> usize {
        let mut at = at;
        for delimiter in std::mem::take(&mut self.delimiters) {
            loop {
                let rest = self.line.get(at..).unwrap_or_default();
                if rest.is_empty() {
                    break;
                }
                let line = rest.split('\n').next().unwrap_or_default();
                at = (at + line.len() + 1).min(self.line.len());
                if line.trim() == delimiter {
                    break;
                }
            }
        }
        if begins_command {
            self.start = at;
        }
        at
    }
}

/// Here-documents on one line that are recognised.
const DELIMITERS_MAX: usize = 8;

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(line: &str) -> Vec<&str> {
        split_commands(line).iter().map(|one| one.text).collect()
    }

    #[test]
    fn split_commands_respects_quotes_and_documents() {
        for (line, commands) in [
            ("", vec![]),
            ("make", vec!["make"]),
            (
                "cd a && make -j2 2>&1 | tail -5",
                vec!["cd a", "make -j2 2>&1", "tail -5"],
            ),
            ("a; b & c || d", vec!["a", "b", "c", "d"]),
            (
                "a 'x && y' \"z | w\" \\; b",
                vec!["a 'x && y' \"z | w\" \\; b"],
            ),
            (
                "git commit -m \"$(cat <<'E'\na; b\nE\n)\" && git push",
                vec!["git commit -m \"$(cat <<'E'\na; b\nE\n)\"", "git push"],
            ),
            (
                "cat > f <<'E'\nx; y\nE\nmake",
                vec!["cat > f <<'E'", "make"],
            ),
            ("cat <<E && make\nx\nE", vec!["cat <<E", "make"]),
            ("cat <<-E\nx\nnever closed; y", vec!["cat <<-E"]),
            ("grep x <<< \"a; b\"; y", vec!["grep x <<< \"a; b\"", "y"]),
            ("a &&\nb", vec!["a", "b"]),
            ("x &> f; y >| g", vec!["x &> f", "y >| g"]),
            ("(cd a && make) && b", vec!["(cd a && make)", "b"]),
            (
                "git commit -m \"$(cat <<E\nsay \"x; it's\nE\n)\" && y",
                vec!["git commit -m \"$(cat <<E\nsay \"x; it's\nE\n)\"", "y"],
            ),
            ("make # don't; x\ny", vec!["make", "y"]),
            ("é 'ü", vec!["é 'ü"]),
        ] {
            assert_eq!(texts(line), commands, "{line}");
        }
        let operators: Vec<Operator> = split_commands("a && b | c || d; e")
            .iter()
            .map(|one| one.operator)
            .collect();
        use Operator::{And, Or, Pipe, Sequence, Start};
        assert_eq!(operators, [Start, And, Pipe, Or, Sequence]);
        assert_eq!(split_commands("a &&\n b").last().unwrap().operator, And);
    }

    #[test]
    fn split_words_and_unquote() {
        assert_eq!(
            split_words("sed -n '1,5p' \"a b\" c\\ d  e"),
            ["sed", "-n", "'1,5p'", "\"a b\"", "c\\ d", "e"]
        );
        for (word, plain) in [
            ("'a (b)'", "a (b)"),
            ("a\\ b", "a b"),
            ("\"x'y\"", "x'y"),
            ("--a=\"b c\"", "--a=b c"),
        ] {
            assert_eq!(unquote(word), plain);
        }
    }
}
