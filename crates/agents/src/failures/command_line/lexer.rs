//! Lexer of command lines: the state of quotes at each byte, and the here-documents between the lines.

/// Here-documents on one line that are recognised.
const DELIMITERS_MAX: usize = 8;

/// Kind of a lexeme.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LexemeKind {
    /// One byte of a word, a blank or an operator.
    Text(u8),
    /// A backslash before a line break, with both.
    Continuation,
    /// `<<` with the delimiter of a here-document.
    Delimiter,
    /// A line break with the here-documents after it.
    Documents,
}

/// Smallest part of a command line.
#[derive(Debug, Clone, Copy)]
pub(super) struct Lexeme {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) kind: LexemeKind,
    /// True inside of quotes and substitutions, and after a backslash.
    pub(super) is_open: bool,
    /// Quote around it.
    quote: Option<u8>,
    /// True after a backslash.
    is_escaped: bool,
}

/// Reader of the lexemes of a command line.
pub(super) struct Lexer<'c> {
    line: &'c str,
    at: usize,
    quotes: Quotes,
    /// Delimiters of here-documents whose bodies follow the current line.
    delimiters: Vec<&'c str>,
    /// Bodies of the here-documents that were read last.
    documents: Vec<&'c str>,
}

impl<'c> Lexer<'c> {
    pub(super) fn new(line: &'c str) -> Self {
        Self {
            line,
            at: 0,
            quotes: Quotes::default(),
            delimiters: Vec::new(),
            documents: Vec::new(),
        }
    }

    /// Reads the next lexeme.
    pub(super) fn read(&mut self) -> Option<Lexeme> {
        let bytes = self.line.as_bytes();
        let start = self.at;
        let byte = *bytes.get(start)?;
        let next = bytes.get(start + 1).copied();
        let before = self.quotes;
        let is_literal = before.quote == Some(b'\'') || before.is_escaped;
        self.quotes.step(byte);
        let kind = match (byte, next) {
            (b'\\', Some(b'\n')) if !is_literal => {
                self.quotes.is_escaped = false;
                self.at = start + 2;
                LexemeKind::Continuation
            }
            (b'<', Some(b'<')) if before.can_have_document() => self.read_delimiter(start + 2),
            (b'\n', _) if !is_literal && !self.delimiters.is_empty() => {
                self.read_documents(start + 1);
                LexemeKind::Documents
            }
            _ => {
                self.at = start + 1;
                LexemeKind::Text(byte)
            }
        };
        Some(Lexeme {
            start,
            end: self.at,
            kind,
            is_open: before.is_open(),
            quote: before.quote,
            is_escaped: before.is_escaped,
        })
    }

    /// Continues at an offset that is at least the end of the last lexeme.
    pub(super) fn skip_to(&mut self, at: usize) {
        self.at = at.max(self.at);
    }

    /// Returns true if a quote or a parenthesis is open after the last lexeme.
    pub(super) fn is_open(&self) -> bool {
        self.quotes.is_open()
    }

    /// Returns the bodies of the here-documents that were read last.
    pub(super) fn take_documents(&mut self) -> Vec<&'c str> {
        std::mem::take(&mut self.documents)
    }

    /// Returns true if the shell removes a byte of a word: a quote, or a backslash that escapes.
    pub(super) fn is_removed(&self, byte: u8, lexeme: &Lexeme) -> bool {
        if lexeme.is_escaped {
            return false;
        }
        let next = self.line.as_bytes().get(lexeme.end).copied();
        match (byte, lexeme.quote) {
            (b'"' | b'\'', None) => true,
            (b'"' | b'\'', Some(open)) => byte == open,
            (b'\\', None | Some(b'`')) => true,
            // Inside double quotes, a backslash before another character is part of the text.
            (b'\\', Some(b'"')) => matches!(next, None | Some(b'"' | b'\\' | b'$' | b'`')),
            _ => false,
        }
    }

    /// Reads the delimiter of a here-document, which begins at `at`.
    fn read_delimiter(&mut self, at: usize) -> LexemeKind {
        let rest = self.line.get(at..).unwrap_or_default();
        // `<<<` is a here-string.
        if rest.starts_with('<') {
            self.at = at + 1;
            return LexemeKind::Text(b'<');
        }
        let word = rest.trim_start_matches('-').trim_start_matches(' ');
        let skipped = rest.len() - word.len();
        let (name, length) = delimiter_name(word);
        self.at = at + skipped + length;
        // A number is the operand of a shift.
        let is_name = name.starts_with(|c: char| !c.is_ascii_digit());
        if !is_name || self.delimiters.len() >= DELIMITERS_MAX {
            return LexemeKind::Text(b'<');
        }
        self.delimiters.push(name);
        LexemeKind::Delimiter
    }

    /// Reads the bodies of here-documents that begin at `at`.
    fn read_documents(&mut self, at: usize) {
        self.at = at;
        self.documents.clear();
        for delimiter in std::mem::take(&mut self.delimiters) {
            let from = self.at;
            let mut until = from;
            while until < self.line.len() {
                let rest = self.line.get(until..).unwrap_or_default();
                let line = rest.split('\n').next().unwrap_or_default();
                self.at = (until + line.len() + 1).min(self.line.len());
                if line.trim() == delimiter {
                    break;
                }
                until = self.at;
            }
            let body = self.line.get(from..until).unwrap_or_default();
            self.documents.push(body);
        }
    }
}

/// Returns the name of a delimiter without its quotes, and the length that it has with them.
fn delimiter_name(word: &str) -> (&str, usize) {
    let quoted = |quote: char| {
        let inner = word.strip_prefix(quote)?;
        let line = inner.split('\n').next().unwrap_or_default();
        let end = line.find(quote)?;
        Some((line.get(..end)?, end + 2))
    };
    if let Some(found) = quoted('\'').or_else(|| quoted('"')) {
        return found;
    }
    let end = word
        .find(|c: char| c.is_whitespace() || matches!(c, ';' | '|' | '&' | ')' | '>' | '<'))
        .unwrap_or(word.len());
    let name = word.get(..end).unwrap_or_default();
    (name.trim_matches(['\'', '"', '\\']), end)
}

/// State of quotes and parentheses while a line is read.
#[derive(Debug, Clone, Copy, Default)]
struct Quotes {
    quote: Option<u8>,
    is_escaped: bool,
    /// Depth of `$(…)` and `(…)`.
    depth: usize,
    /// True if a substitution begins inside of the open double quotes.
    has_substitution: bool,
    /// The byte before.
    last: u8,
}

impl Quotes {
    fn is_open(self) -> bool {
        self.quote.is_some() || self.is_escaped || self.depth > 0
    }

    /// Returns true where `<<` begins a here-document. Inside of `"$(…)"` it may contain any quotes.
    fn can_have_document(self) -> bool {
        !self.is_escaped
            && match self.quote {
                None | Some(b'`') => true,
                Some(b'"') => self.has_substitution,
                Some(_) => false,
            }
    }

    fn step(&mut self, byte: u8) {
        let last = std::mem::replace(&mut self.last, byte);
        if std::mem::take(&mut self.is_escaped) {
            return;
        }
        match (byte, self.quote) {
            (b'\\', None | Some(b'"' | b'`')) => self.is_escaped = true,
            (b'"' | b'\'' | b'`', None) => {
                self.quote = Some(byte);
                self.has_substitution = false;
            }
            (byte, Some(open)) if byte == open => self.quote = None,
            (b'(', Some(b'"')) if last == b'$' => self.has_substitution = true,
            (b'`', Some(b'"')) => self.has_substitution = true,
            (b'(', None) => self.depth += 1,
            (b')', None) => self.depth = self.depth.saturating_sub(1),
            _ => {}
        }
    }
}
