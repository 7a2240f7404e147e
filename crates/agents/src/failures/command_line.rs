//! Shell command lines, split into simple commands and words. Quotes, substitutions, here-documents, comments and line
//! continuations are respected. The time is linear in the length of the line.

mod lexer;
#[cfg(test)]
mod tests;

use lexer::{Lexeme, LexemeKind, Lexer};

/// Operator between two simple commands.
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

/// Part of a command line: a command without operators.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CommandSlice<'c> {
    /// Operator that joins it to the command before.
    pub operator: Operator,
    /// Operator after it; `None` at the end of the line.
    pub next_operator: Option<Operator>,
    /// True if `&` follows.
    pub is_background: bool,
    /// The command, with its redirections.
    pub text: &'c str,
    /// Body of its last here-document, also of one inside of a quoted substitution.
    pub here_document: Option<&'c str>,
}

impl<'c> CommandSlice<'c> {
    /// Returns the commands in `(…)`, without redirections after it.
    pub fn subshell(&self) -> Option<&'c str> {
        let inner = self.text.strip_prefix('(')?;
        let mut lexer = Lexer::new(self.text);
        while let Some(lexeme) = lexer.read() {
            if lexeme.start > 0 && !lexeme.is_open {
                return self.text.get(1..lexeme.start - 1);
            }
        }
        Some(match lexer.is_open() {
            true => inner,
            false => inner.strip_suffix(')').unwrap_or(inner),
        })
    }
}

/// Splits a command line into its simple commands. Bodies of here-documents are left out, except inside of quotes.
pub fn split_commands(line: &str) -> Vec<CommandSlice<'_>> {
    let mut splitter = CommandSplitter {
        line,
        lexer: Lexer::new(line),
        start: 0,
        operator: Operator::Start,
        commands: Vec::new(),
        owners: Vec::new(),
        here_document: None,
    };
    splitter.run();
    splitter.commands
}

/// Splits a simple command into words at blanks outside of quotes. The words keep their quotes.
pub fn split_words(command: &str) -> Vec<&str> {
    let mut words = Vec::new();
    let mut start = None;
    let mut lexer = Lexer::new(command);
    while let Some(lexeme) = lexer.read() {
        let is_blank = !lexeme.is_open
            && match lexeme.kind {
                LexemeKind::Text(byte) => byte.is_ascii_whitespace(),
                LexemeKind::Documents => true,
                LexemeKind::Continuation | LexemeKind::Delimiter => false,
            };
        match (is_blank, start) {
            (true, Some(from)) => {
                words.extend(command.get(from..lexeme.start));
                start = None;
            }
            (false, None) if lexeme.kind != LexemeKind::Continuation => start = Some(lexeme.start),
            _ => {}
        }
    }
    words.extend(start.and_then(|from| command.get(from..)));
    for word in &mut words {
        *word = word.trim_end_matches("\\\n");
    }
    words
}

/// Removes the quotes and escapes of a word.
pub fn unquote(word: &str) -> String {
    plain_word(word, true)
}

/// Removes the quotes and escapes of a word, and the bodies of its here-documents unless `keeps_documents`.
pub(super) fn plain_word(word: &str, keeps_documents: bool) -> String {
    let mut out = String::with_capacity(word.len().min(WORD_BYTES_EXPECTED));
    let mut lexer = Lexer::new(word);
    // Text from here up to the next sign that is removed.
    let mut from = 0;
    while let Some(lexeme) = lexer.read() {
        let is_kept = match lexeme.kind {
            LexemeKind::Text(byte) => !lexer.is_removed(byte, &lexeme),
            LexemeKind::Continuation => false,
            LexemeKind::Delimiter | LexemeKind::Documents => keeps_documents,
        };
        if !is_kept {
            out.push_str(word.get(from..lexeme.start).unwrap_or_default());
            from = lexeme.end;
        }
    }
    out.push_str(word.get(from..).unwrap_or_default());
    out
}

/// Returns the offset of the first redirection in a word with its quotes. A process substitution is an argument.
pub(super) fn redirection_at(word: &str) -> Option<usize> {
    let mut lexer = Lexer::new(word);
    while let Some(lexeme) = lexer.read() {
        let is_redirection = match lexeme.kind {
            LexemeKind::Text(b'<' | b'>') => word.as_bytes().get(lexeme.end) != Some(&b'('),
            LexemeKind::Delimiter => true,
            LexemeKind::Text(_) | LexemeKind::Continuation | LexemeKind::Documents => false,
        };
        if is_redirection && !lexeme.is_open {
            return Some(lexeme.start);
        }
    }
    None
}

/// Bytes that are reserved for a plain word.
const WORD_BYTES_EXPECTED: usize = 256;

/// Splitter of a command line.
struct CommandSplitter<'c> {
    line: &'c str,
    lexer: Lexer<'c>,
    /// Start of the current command.
    start: usize,
    operator: Operator,
    commands: Vec<CommandSlice<'c>>,
    /// Indices of the commands whose here-documents follow the current line.
    owners: Vec<usize>,
    /// Here-document of the current command.
    here_document: Option<&'c str>,
}

impl CommandSplitter<'_> {
    fn run(&mut self) {
        while let Some(lexeme) = self.lexer.read() {
            match lexeme.kind {
                LexemeKind::Delimiter => self.owners.push(self.commands.len()),
                LexemeKind::Documents => {
                    if !lexeme.is_open {
                        self.cut(lexeme.start, lexeme.end, Some(Operator::Sequence));
                    }
                    self.assign_documents();
                }
                LexemeKind::Text(byte) if !lexeme.is_open => self.read_operator(byte, &lexeme),
                LexemeKind::Text(_) | LexemeKind::Continuation => {}
            }
        }
        self.cut(self.line.len(), self.line.len(), None);
    }

    /// Ends the current command if a byte outside of quotes is an operator or begins a comment.
    fn read_operator(&mut self, byte: u8, lexeme: &Lexeme) {
        let at = lexeme.start;
        let bytes = self.line.as_bytes();
        let next = bytes.get(at + 1).copied();
        let before = at.checked_sub(1).and_then(|at| bytes.get(at)).copied();
        let (length, operator) = match (byte, next) {
            (b'&', Some(b'&')) => (2, Operator::And),
            (b'|', Some(b'|')) => (2, Operator::Or),
            // `>|` is a redirection.
            (b'|', _) if before == Some(b'>') => return,
            (b'|', Some(b'&')) => (2, Operator::Pipe),
            (b'|', _) => (1, Operator::Pipe),
            (b';' | b'\n', _) => (1, Operator::Sequence),
            // `2>&1` and `&>file` are redirections.
            (b'&', Some(b'>')) => return,
            (b'&', _) if matches!(before, Some(b'>' | b'<')) => return,
            (b'&', _) => (1, Operator::Sequence),
            (b'#', _) if before.is_none_or(|byte| byte.is_ascii_whitespace()) => {
                let rest = self.line.get(at..).unwrap_or_default();
                let end = at + rest.find('\n').unwrap_or(rest.len());
                self.cut(at, end, Some(Operator::Sequence));
                self.lexer.skip_to(end);
                return;
            }
            _ => return,
        };
        let count = self.commands.len();
        self.cut(at, at + length, Some(operator));
        self.lexer.skip_to(at + length);
        if byte == b'&'
            && length == 1
            && self.commands.len() > count
            && let Some(last) = self.commands.last_mut()
        {
            last.is_background = true;
        }
    }

    /// Ends the current command at `at`; the next one begins at `next`. `operator` is between them.
    fn cut(&mut self, at: usize, next: usize, operator: Option<Operator>) {
        let text = self.line.get(self.start..at).unwrap_or_default().trim();
        // A line break after an operator continues the line.
        if !text.is_empty() {
            self.commands.push(CommandSlice {
                operator: self.operator,
                next_operator: operator,
                is_background: false,
                text,
                here_document: self.here_document.take(),
            });
            self.operator = operator.unwrap_or(Operator::Sequence);
        }
        self.start = next;
    }

    /// Gives the here-documents that were read last to their commands.
    fn assign_documents(&mut self) {
        for (owner, body) in self.owners.drain(..).zip(self.lexer.take_documents()) {
            match self.commands.get_mut(owner) {
                Some(command) => command.here_document = Some(body),
                None => self.here_document = Some(body),
            }
        }
    }
}
