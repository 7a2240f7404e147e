//! Shell lines: the simple commands of a command line, with their words, operators and here-documents.
//!
//! The parser is linear and forgiving; it follows the syntax of POSIX shells as far as agents use it.

#[cfg(test)]
mod tests;

/// Greatest number of bytes of a command line that are read.
const LINE_BYTES_MAX: usize = 64 << 10;
/// Greatest number of simple commands.
const COMMANDS_MAX: usize = 48;
/// Greatest number of words of a simple command.
const WORDS_MAX: usize = 200;
/// Words of control structures.
const KEYWORDS: [&str; 12] = [
    "if", "then", "else", "elif", "fi", "for", "while", "until", "do", "done", "case", "esac",
];

/// Operator after a simple command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ShellOperator {
    /// `&&`
    And,
    /// `||`
    Or,
    /// `|`
    Pipe,
    /// `;`, a line break, or `&`
    Next,
    /// The end of the line.
    End,
}

/// A simple command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SimpleCommand {
    /// Words without quotes and redirections. A word with a here-document has its text in [`Self::here_document`].
    pub(crate) words: Vec<String>,
    /// Text of the here-document.
    pub(crate) here_document: Option<String>,
    /// Operator after the command.
    pub(crate) operator: ShellOperator,
}

impl SimpleCommand {
    /// Returns the word at an index, or an empty text.
    pub(crate) fn word(&self, index: usize) -> &str {
        self.words.get(index).map_or("", String::as_str)
    }

    /// Returns the value of an option such as `-m x`, `--message x` or `--message=x`, for each time it occurs.
    pub(crate) fn option_values<'c>(
        &'c self,
        names: &'c [&'c str],
    ) -> impl Iterator<Item = &'c str> {
        let pairs = self
            .words
            .iter()
            .zip(self.words.iter().skip(1).map(String::as_str).chain([""]));
        pairs.filter_map(move |(word, next)| {
            if names.contains(&word.as_str()) {
                return Some(next);
            }
            let (name, value) = word.split_once('=')?;
            names.contains(&name).then_some(value)
        })
    }
}

/// Returns the simple commands of a command line.
pub(crate) fn read_shell_line(line: &str) -> Vec<SimpleCommand> {
    let end = line.floor_char_boundary(LINE_BYTES_MAX);
    let mut reader = ShellReader::new(line.get(..end).unwrap_or_default());
    while reader.commands.len() < COMMANDS_MAX && reader.read_next() {}
    reader.end_command(ShellOperator::End);
    reader.commands
}

/// Reader of a command line.
struct ShellReader<'a> {
    rest: &'a str,
    commands: Vec<SimpleCommand>,
    words: Vec<String>,
    word: String,
    /// True if the current word exists, even if it is empty.
    has_word: bool,
    /// True if the next word is the target of a redirection.
    is_target: bool,
    quote: Option<char>,
    /// Terminator of the here-document that begins at the next line break.
    terminator: Option<String>,
    here_document: Option<String>,
}

impl<'a> ShellReader<'a> {
    fn new(line: &'a str) -> Self {
        Self {
            rest: line,
            commands: Vec::new(),
            words: Vec::new(),
            word: String::new(),
            has_word: false,
            is_target: false,
            quote: None,
            terminator: None,
            here_document: None,
        }
    }

    /// Reads the next character or operator; returns false at the end.
    fn read_next(&mut self) -> bool {
        let Some(c) = self.rest.chars().next() else {
            return false;
        };
        if let Some(open) = self.quote {
            self.read_quoted(c, open);
            return true;
        }
        match c {
            '\'' | '"' | '`' => {
                self.quote = Some(c);
                self.has_word = true;
                self.skip(1);
            }
            '\\' => self.read_escape(),
            '\n' => {
                self.skip(1);
                self.read_here_document();
                self.end_command(ShellOperator::Next);
            }
            ' ' | '\t' | '\r' => {
                self.end_word();
                self.skip(1);
            }
            '#' if !self.has_word => {
                let end = self.rest.find('\n').unwrap_or(self.rest.len());
                self.skip(end);
            }
            '(' | ')' if !self.has_word => self.skip(1),
            ')' => {
                self.end_word();
                self.skip(1);
            }
            '&' | '|' | ';' => self.read_operator(c),
            '<' | '>' => self.read_redirection(c),
            _ => self.push(c),
        }
        true
    }

    fn skip(&mut self, bytes: usize) {
        self.rest = self.rest.get(bytes..).unwrap_or_default();
    }

    fn push(&mut self, c: char) {
        self.has_word = true;
        self.word.push(c);
        self.skip(c.len_utf8());
    }

    fn read_quoted(&mut self, c: char, open: char) {
        if c == open {
            self.quote = None;
            self.skip(1);
            return;
        }
        if c == '\\' && open != '\'' {
            self.read_escape();
            return;
        }
        let is_here = open == '"' && self.rest.starts_with("<<") && self.word.contains("$(");
        if is_here && self.read_terminator() {
            return;
        }
        self.push(c);
        if c == '\n' {
            self.read_here_document();
        }
    }

    fn read_escape(&mut self) {
        self.skip(1);
        match self.rest.chars().next() {
            Some('\n') => self.skip(1),
            Some(c) => {
                // Inside double quotes, a backslash before another character is part of the text.
                if self.quote == Some('"') && !matches!(c, '"' | '\\' | '$' | '`') {
                    self.word.push('\\');
                }
                self.push(c);
            }
            None => {}
        }
    }

    fn read_operator(&mut self, c: char) {
        let second = self.rest.chars().nth(1);
        let (operator, bytes) = match (c, second) {
            ('&', Some('&')) => (ShellOperator::And, 2),
            ('&', Some('>')) => {
                self.end_word();
                self.skip(1);
                return;
            }
            ('|', Some('|')) => (ShellOperator::Or, 2),
            ('|', Some('&')) => (ShellOperator::Pipe, 2),
            ('|', _) => (ShellOperator::Pipe, 1),
            (';', Some(';')) => (ShellOperator::Next, 2),
            _ => (ShellOperator::Next, 1),
        };
        self.skip(bytes);
        self.end_command(operator);
    }

    /// Reads `>`, `>>`, `2>&1`, `<`, `<<`, `<<<`, and process substitutions.
    fn read_redirection(&mut self, c: char) {
        if self.word.bytes().all(|b| b.is_ascii_digit()) {
            // The number of the stream.
            self.word.clear();
            self.has_word = false;
        }
        self.end_word();
        if self.rest.starts_with("<<") && !self.rest.starts_with("<<<") && self.read_terminator() {
            return;
        }
        let run = self.rest.len() - self.rest.trim_start_matches(c).len();
        self.skip(run);
        if self.rest.starts_with('(') {
            return;
        }
        if self.rest.starts_with(['&', '|']) {
            self.skip(1);
        }
        self.is_target = true;
    }

    /// Reads the terminator after `<<`.
    fn read_terminator(&mut self) -> bool {
        let after = self.rest.trim_start_matches('<');
        let after = after
            .strip_prefix('-')
            .unwrap_or(after)
            .trim_start_matches(' ');
        let quoted = after.trim_start_matches(['\'', '"', '\\']);
        let name_end = quoted
            .find(|c: char| !c.is_alphanumeric() && c != '_')
            .unwrap_or(quoted.len());
        let (name, left) = quoted.split_at(name_end);
        if name.is_empty() {
            return false;
        }
        self.terminator = Some(name.to_owned());
        self.rest = match quoted.len() < after.len() {
            true => left.trim_start_matches(['\'', '"']),
            false => left,
        };
        true
    }

    /// Reads the here-document that begins here, if one is open.
    fn read_here_document(&mut self) {
        let Some(terminator) = self.terminator.take() else {
            return;
        };
        let mut end = 0;
        for line in self.rest.split_inclusive('\n') {
            if line.trim() == terminator {
                let body = self.rest.get(..end).unwrap_or_default();
                self.here_document = Some(body.to_owned());
                // The line break after the terminator ends the command, or belongs to the quoted word.
                self.skip(end + line.trim_end_matches('\n').len());
                return;
            }
            end += line.len();
        }
        self.here_document = Some(self.rest.to_owned());
        self.rest = "";
    }

    fn end_word(&mut self) {
        if !std::mem::take(&mut self.has_word) {
            return;
        }
        let word = std::mem::take(&mut self.word);
        if std::mem::take(&mut self.is_target) || self.words.len() >= WORDS_MAX {
            return;
        }
        if self.words.is_empty() && KEYWORDS.contains(&word.as_str()) {
            return;
        }
        self.words.push(word);
    }

    fn end_command(&mut self, operator: ShellOperator) {
        self.end_word();
        self.is_target = false;
        let words = std::mem::take(&mut self.words);
        if words.is_empty() {
            return;
        }
        self.commands.push(SimpleCommand {
            words,
            here_document: self.here_document.take(),
            operator,
        });
    }
}
